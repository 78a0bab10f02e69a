r"""JSON texts of a value, as nobody's serialiser writes them: 1 as 10e-1, "a" as "\u0061", keys twice, white space.

In: a value, random numbers. Out: JSON text; `json.loads` gives the value back. Cost: 1 us a character.
"""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

from tests.generators.schemas import random_value

ODD_SHARE = 0.3  # of letters, numbers, members
BLANKS = ("", "", "", " ", "\n", "\t ")


def spelled(value: Any, rng: random.Random, repeats: bool = False) -> str:
    """Text of a value.

    Parameters
    ----------
    repeats : write some keys twice, the first time with another value; readers keep the last.
    """
    blank = rng.choice(BLANKS)
    if isinstance(value, dict):
        members = []
        for name, member in value.items():
            key = string(name, rng)
            if repeats and rng.random() < ODD_SHARE:
                members.append(f"{string(name, rng)}:{spelled(random_value(rng, 1), rng)}")
            members.append(f"{key}{rng.choice(BLANKS)}:{spelled(member, rng, repeats)}")
        return f"{blank}{{{','.join(members)}{blank}}}"
    if isinstance(value, list):
        return f"[{blank}{','.join(spelled(item, rng, repeats) for item in value)}{blank}]"
    if isinstance(value, str):
        return blank + string(value, rng)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return blank + number(value, rng)


def string(text: str, rng: random.Random) -> str:
    """A string with some letters escaped."""
    out = []
    for letter in text:
        plain = json.dumps(letter, ensure_ascii=False)[1:-1]
        if rng.random() < ODD_SHARE:
            units = letter.encode("utf-16-be")
            codes = [int.from_bytes(units[place : place + 2], "big") for place in range(0, len(units), 2)]
            plain = "".join(rng.choice((f"\\u{code:04x}", f"\\u{code:04X}")) for code in codes)
        out.append(plain)
    return '"' + "".join(out) + '"'


def number(value: float, rng: random.Random) -> str:
    """A number, sometimes with zeros at its end or an exponent."""
    plain = format(Decimal(repr(value)), "f")
    roll = rng.random()
    if roll > ODD_SHARE:
        return json.dumps(value)
    if roll < ODD_SHARE / 2:
        return plain + ("0" if "." in plain else rng.choice((".0", ".00")))
    power = rng.randint(-2, 2)
    shifted = format(Decimal(plain).scaleb(-power), "f")
    return f"{shifted}{rng.choice('eE')}{rng.choice(('', '+')) if power >= 0 else ''}{power}"
