"""Numbers of `const` and `enum`: their numerals, against `Decimal`."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical.listed_numbers import listed_numbers_node, plain_numeral
from llmask.frontends.json_schema.lexical.number_machines import MUST, NEVER

PLAIN: list[tuple[Any, bytes]] = [
    (0, b"0"),
    (-0.0, b"0"),
    (Decimal("-0E+5"), b"0"),
    (7, b"7"),
    (1.0, b"1"),
    (-2.50, b"-2.5"),
    (1e-07, b"0.0000001"),
    (100.0, b"100"),
    (Decimal("1.500E+1"), b"15"),
    (Decimal("12E2"), b"1200"),
    (10**6000, b"1" + b"0" * 6000),
    (1e300, b"1" + b"0" * 300),
    (1e-300, b"0." + b"0" * 299 + b"1"),
    (Decimal("1E400"), b"1" + b"0" * 400),
    (-(2**63), b"-9223372036854775808"),
    (0.1, b"0.1"),
]


@pytest.mark.parametrize(("value", "numeral"), PLAIN, ids=[row[1][:20].decode() for row in PLAIN])
def test_plain_numerals_are_exact(value: Any, numeral: bytes) -> None:
    assert plain_numeral(value) == numeral


TOO_LONG = {"integer": 10**10_000, "exponent": Decimal("1e999999999"), "tiny": Decimal("-1e-999999999")}


@pytest.mark.parametrize("value", TOO_LONG.values(), ids=TOO_LONG)
def test_very_long_numbers_meet_the_limit(value: Any) -> None:
    with pytest.raises(LimitExceeded, match="more than 10000 digits"):
        plain_numeral(value)


@pytest.mark.parametrize(
    ("value", "numerals", "others"),
    [
        (1, ["1", "1.0", "1.000"], ["", "10", "1.", "1.01", "-1", "01", "1e0"]),
        (0, ["0", "-0", "0.0", "-0.00"], ["00", "-", ".0", "0.01"]),
        (-0.5, ["-0.5", "-0.500"], ["0.5", "-.5", "-0.51", "-0.05"]),
        (1e2, ["100", "100.0"], ["1", "1e2", "1000"]),
        (Decimal("1E400"), ["1" + "0" * 400, "1" + "0" * 400 + ".0"], ["1" + "0" * 401, "1E400"]),
    ],
)
def test_a_number_is_written_in_every_way_without_exponent(
    judge: Any, value: Any, numerals: list[str], others: list[str]
) -> None:
    node = listed_numbers_node(judge.nodes, [plain_numeral(value)])
    assert all(judge.nodes.matches(node, text.encode()) for text in numerals)
    assert not any(judge.nodes.matches(node, text.encode()) for text in others)


def test_the_way_of_writing_can_be_chosen(judge: Any) -> None:
    texts = (b"1", b"1.0", b"0.5", b"0.50", b"0", b"-0", b"-0.0")
    nodes = judge.nodes
    never, must = (listed_numbers_node(nodes, [b"1", b"0.5", b"0"], fraction) for fraction in (NEVER, MUST))
    assert [text for text in texts if nodes.matches(never, text)] == [b"1", b"0.5", b"0", b"-0"]
    assert [text for text in texts if nodes.matches(must, text)] == [b"1.0", b"0.5", b"0.50", b"-0.0"]


def test_lists_hold_the_numbers_listed(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    for n_values in (1, 2, 5, 40, 100, 500) * scaled(3):
        values = [Decimal(rng.randrange(-3000, 3000)).scaleb(rng.choice((0, 0, -1, -2))) for _ in range(n_values)]
        node = listed_numbers_node(judge.nodes, [plain_numeral(value) for value in values])
        listed = set(values)
        for near in (*rng.choices(values, k=50), *(Decimal(rng.randrange(-3000, 3000)) / 10 for _ in range(50))):
            text = format(near, "f")
            text += rng.choice(("", "0", "00") if "." in text else ("", ".0", ".00", "0"))
            assert judge.nodes.matches(node, text.encode()) == (Decimal(text) in listed), text
