"""Ranges and divisors, against `Decimal` and `Fraction`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.numbers import NumberRange, exact_decimal, number_node, number_range

NUMERAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?\Z")
EDGES = ("0", "-0", "0.0", "-0.00", "00", "01", "1.", ".5", "-", "", "+1", "1e0", "--1", "1..2", "10", "9.99", "-10.5")


def random_numeral(rng: random.Random) -> str:
    whole = str(rng.choice((0, rng.randint(0, 12), rng.randint(0, 150), rng.randint(0, 3000))))
    fraction = "." + "".join(rng.choice("00159") for _ in range(rng.randint(1, 3))) if rng.random() < 0.5 else ""
    return rng.choice(("", "-")) + whole + fraction


def random_bound(rng: random.Random) -> Decimal | None:
    if rng.random() < 0.25:
        return None
    whole = Decimal(rng.choice((0, rng.randint(-12, 12), rng.randint(-150, 150), rng.randint(-3000, 3000))))
    return whole + Decimal(rng.choice((0, 0, rng.randint(0, 99)))) / 100


def random_range(rng: random.Random) -> NumberRange:
    divisors = (
        None,
        None,
        None,
        Fraction(2),
        Fraction(7),
        Fraction(1, 100),
        Fraction(5, 2),
        Fraction(1, 10),
        Fraction(12),
    )
    bounds = (random_bound(rng), rng.random() < 0.5, random_bound(rng), rng.random() < 0.5)
    return NumberRange(*bounds, rng.choice(divisors), rng.random() < 0.5)


def test_numerals_are_those_that_fulfil_the_range(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    nodes = judge.nodes
    for _ in range(scaled(150)):
        wanted = random_range(rng)
        if wanted.low is None and wanted.high is None and wanted.divisor is None:
            continue
        node = number_node(nodes, wanted)
        for text in (*EDGES, *(random_numeral(rng) for _ in range(60))):
            is_numeral = NUMERAL.match(text) is not None and not (wanted.is_integer and "." in text)
            expected = is_numeral and wanted.holds(Decimal(text))
            assert nodes.matches(node, text.encode()) == expected, (wanted, text)


@pytest.mark.parametrize(
    ("wanted", "is_empty"),
    [
        (NumberRange(Decimal(2), False, Decimal(1)), True),
        (NumberRange(Decimal(1), False, Decimal(1)), False),
        (NumberRange(Decimal(1), True, Decimal(1)), True),
        (NumberRange(Decimal("1.1"), False, Decimal("1.9"), is_integer=True), True),
        (NumberRange(Decimal("1.1"), False, Decimal("1.9")), False),
        (NumberRange(Decimal(8), False, Decimal(13), divisor=Fraction(7), is_integer=True), True),
        (NumberRange(Decimal(-1), True, Decimal(0), True, is_integer=True), True),
        (NumberRange(Decimal(0), False, Decimal(0)), False),
    ],
)
def test_a_range_without_numbers_is_the_empty_node(judge: Any, wanted: NumberRange, is_empty: bool) -> None:
    assert (number_node(judge.nodes, wanted) == judge.nodes.EMPTY) == is_empty


def test_bounds_are_decimal_and_not_binary() -> None:
    assert exact_decimal(0.1) == Decimal("0.1")
    assert exact_decimal(10**30) == Decimal(10**30)
    assert number_range([{"multipleOf": 0.01}], False).holds(19.99)
    assert not number_range([{"exclusiveMaximum": 0.3}], False).holds(0.3)


def test_huge_bounds_are_compared_digit_by_digit(judge: Any) -> None:
    node = number_node(judge.nodes, NumberRange(Decimal(10**30 + 1), False, Decimal(10**30 + 3), is_integer=True))
    accepted = [offset for offset in range(6) if judge.nodes.matches(node, str(10**30 + offset).encode())]
    assert accepted == [1, 2, 3]
    node = number_node(judge.nodes, NumberRange(Decimal(-(10**30) - 3), False, Decimal(-(10**30) - 1), is_integer=True))
    accepted = [offset for offset in range(6) if judge.nodes.matches(node, str(-(10**30) - offset).encode())]
    assert accepted == [1, 2, 3]


def test_the_closest_of_several_bounds_holds() -> None:
    schemas = [{"minimum": 1, "exclusiveMaximum": 9}, {"exclusiveMinimum": 1, "maximum": 9}, {"multipleOf": 4}]
    assert number_range([*schemas, {"multipleOf": 6}], True) == NumberRange(
        Decimal(1), True, Decimal(9), True, Fraction(12), True
    )


def test_an_automaton_that_is_too_large_meets_the_limit(judge: Any) -> None:
    wanted = NumberRange(divisor=Fraction(1_000_003), is_integer=True)
    with pytest.raises(LimitExceeded, match="more than 20000 states"):
        number_node(judge.nodes, wanted)


def test_numbers_with_bounds_have_no_exponent_and_zero_may_be_negative(judge: Any) -> None:
    assert judge.accepts_text(judge.grammar({"type": "number"}), "-1.5E+10")
    bounded = judge.grammar({"type": "number", "minimum": 0})
    assert judge.accepts_text(bounded, "-0.0")
    assert judge.accepts_text(bounded, "150.00")
    assert not judge.accepts_text(bounded, "1e2")
    assert not judge.accepts_text(judge.grammar({"type": "number", "exclusiveMinimum": 0}), "-0")
