"""Recorded arrays and objects: two writings are one value exactly where JSON says so."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import llmask
from llmask.frontends.json_schema.meaning.instances import equality_key
from tests.reference.json_spellings import spell

ITEMS = {"type": "array", "uniqueItems": True, "items": {"type": ["object", "array"]}}
STRINGS = ["", "a", "é", 'a"', "\\", "\n", "1", "[1]"]
NUMBERS = ["0", "1", "-1", "10", "1.5", "0.05", "100000", "123e40"]
NUMBERS += ["1e-30", "-2.5e25", "1e21", "1e-21", "12345678901234567890"]


def written_number(rng: random.Random, number: str) -> str:
    """A number in one of its forms."""
    sign, digits, exponent = Decimal(number).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    more = rng.randint(0, 3)
    text, exponent = text + "0" * more, exponent - more
    shift = rng.choice([0, 0, 1, 2, len(text), -3])
    point = len(text) - shift
    if not 0 < point <= len(text):
        text, point = "0." + "0" * max(-point, 0) + text if point <= 0 else text + "0" * -shift, 0
    elif shift > 0:
        text = f"{text[:point]}.{text[point:]}"
    power = Decimal(number).copy_abs()
    power_now = Decimal(text)
    e = 0 if power == 0 else power.adjusted() - power_now.adjusted()
    assert power_now.scaleb(e) == power
    while text.startswith("0") and len(text) > 1 and text[1] != ".":
        text = text[1:]
    written = "-" * sign + text
    if e or rng.random() < 0.2:
        written += rng.choice("eE") + rng.choice(["+", ""] if e >= 0 else [""]) + str(e)
    return written if Decimal(written) == Decimal(number) else number


def some_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice(STRINGS)
    if kind <= 3:
        return Decimal(rng.choice(NUMBERS))
    if kind == 4:
        return [some_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    return {rng.choice("abé"): some_value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def changed(rng: random.Random, value: Any) -> Any:
    """The same value, or one that differs at one place."""
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return [*value[:at], changed(rng, value[at]), *value[at + 1 :]]
    if isinstance(value, dict) and value:
        name = rng.choice(sorted(value))
        return {**value, name: changed(rng, value[name])}
    return some_value(rng, 2) if rng.random() < 0.5 else value


def written(rng: random.Random, value: Any) -> str:
    """A document of a value in one of its writings; a key that is repeated has its last value."""
    blank = rng.choice(["", "", " ", "\n"])
    if isinstance(value, dict):
        members = [f"{written(rng, name)}{blank}:{blank}{written(rng, one)}" for name, one in value.items()]
        rng.shuffle(members)
        if value and rng.random() < 0.2:
            members.insert(0, f"{written(rng, rng.choice(sorted(value)))}:{written(rng, some_value(rng, 2))}")
        return "{" + f"{blank},{blank}".join(members) + "}"
    if isinstance(value, list):
        return "[" + f"{blank},{blank}".join(written(rng, one) for one in value) + "]"
    if isinstance(value, Decimal):
        return written_number(rng, str(value))
    if isinstance(value, str):
        return '"' + spell(rng, value).decode() + '"'
    return json.dumps(value)


def structure(rng: random.Random) -> Any:
    value = some_value(rng)
    while not isinstance(value, dict | list):
        value = some_value(rng)
    return value


def test_equal_values_are_refused_in_every_writing(
    compiler: llmask.Compiler, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    grammar = compiler.json_schema(ITEMS)
    n_equal = 0
    n = scaled(1500)
    for _ in range(n):
        first = structure(rng)
        other = changed(rng, first)
        if not isinstance(other, dict | list):
            other = structure(rng)
        text = f"[{written(rng, first)},{written(rng, other)}]"
        is_equal = equality_key(first, ()) == equality_key(other, ())
        n_equal += is_equal
        assert grammar.accepts(text) != is_equal, text
    assert n / 4 < n_equal < 3 * n / 4


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        ("[1e400]", "[10e399]", True),
        ("[1e99999999999999999999]", "[10e99999999999999999998]", False),  # such exponents are not looked into
        ("[0e99999999999999999999]", "[-0.0]", True),
        ("[-0]", "[0]", True),
        ("[true]", "[1]", False),
        ("[[]]", "[{}]", False),
        ('{"a":1,"a":2}', '{"a":2}', True),
        ('{"a":1,"a":2}', '{"a":1}', False),
        ('{"\\u0061":[]}', '{"a":[]}', True),
    ],
)
def test_limits_of_what_is_equal(compiler: llmask.Compiler, one: str, other: str, is_equal: bool) -> None:
    grammar = compiler.json_schema(ITEMS)
    matcher = grammar.matcher()
    matcher.accept_bytes(f"[{one},{other[:-1]}".encode())
    if is_equal:
        with pytest.raises(llmask.TokenRejected):
            matcher.accept_bytes(other[-1:].encode())
    else:
        matcher.accept_bytes(other[-1:].encode() + b"]")
        assert matcher.is_accepting()


def test_many_members(compiler: llmask.Compiler, rng: random.Random) -> None:
    grammar = compiler.json_schema(ITEMS)
    members = {f"k{at}": at for at in range(3000)}
    names = list(members)
    rng.shuffle(names)
    text = json.dumps([members, {name: members[name] for name in names}])
    matcher = grammar.matcher()
    matcher.accept_bytes(text[:-2].encode())
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_bytes(b"}")
    matcher.accept_bytes(b',"x":0}]')
    assert matcher.is_accepting()
