"""Ranges, divisors and what is excluded, against arithmetic on integers, over every numeral of a few digits."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical.number_machines import MAY, MUST, NEVER
from llmask.frontends.json_schema.lexical.numbers import (
    NumberRange,
    exact_decimal,
    is_multiple,
    number_node,
    number_range,
)
from tests.conftest import EFFORT

SCALE = 10_000  # every number here is a whole number of these parts
EDGES = ("", "-", "00", "01", "-00", "1.", ".5", "+1", "1e0", "1E+2", "--1", "1..2", "1.-", "1-", "-.5", "1.2.3", "0x1")


ALPHABET = b"0123456789.-"


def every_numeral() -> list[str]:
    """Three digits, two before and two after a dot, one before and three after it; with both signs."""
    texts = [str(whole) for whole in range(1000)]
    for n_whole, n_fraction in ((100, 1), (100, 2), (10, 3)):
        texts += [f"{whole}.{part:0{n_fraction}}" for whole in range(n_whole) for part in range(10**n_fraction)]
    return [sign + text for sign in ("", "-") for text in texts]


NUMERALS = every_numeral()
PARTS = np.array([int(Decimal(text) * SCALE) for text in NUMERALS])
HAS_FRACTION = np.array(["." in text for text in NUMERALS])
END = len(ALPHABET)
LETTERS = np.array([[ALPHABET.find(byte) % (END + 1) for byte in text.ljust(6).encode()] for text in NUMERALS])


def accepted(nodes: Any, node: int) -> Any:
    """Whether `node` matches each of NUMERALS, read from the table of all its derivatives."""
    found = [node]
    number_of = {node: 0}
    table = []
    for here in found:
        row = [nodes.derivative(here, byte) for byte in ALPHABET]
        for after in row:
            if after not in number_of:
                number_of[after] = len(found)
                found.append(after)
        table.append([*(number_of[after] for after in row), number_of[here]])
    rows = np.array(table)
    states = np.zeros(len(NUMERALS), np.int64)
    for letters in LETTERS.T:
        states = rows[states, letters]
    return np.array([nodes.is_nullable(here) for here in found])[states]


def in_parts(value: Decimal | Fraction) -> int:
    parts = Fraction(value) * SCALE
    assert parts.denominator == 1
    return parts.numerator


def expected(wanted: NumberRange, parts: Any) -> Any:
    """Which numbers, in parts, fulfil all but the way of writing."""
    holds = np.ones(len(parts), bool)
    if wanted.low is not None:
        holds &= parts >= in_parts(wanted.low) + wanted.low_open
    if wanted.high is not None:
        holds &= parts <= in_parts(wanted.high) - wanted.high_open
    if wanted.divisor is not None:
        holds &= parts % in_parts(wanted.divisor) == 0
    if wanted.is_integer:
        holds &= parts % SCALE == 0
    for divisor in wanted.not_divisors:
        holds &= parts % in_parts(divisor) != 0
    return holds & ~np.isin(parts, [in_parts(value) for value in wanted.excluded])


whole_bounds = st.sampled_from([0, 1, -1, 9, 10, -10, 99, 100, 101]) | st.integers(-1200, 1200)
fractions_of_bounds = st.sampled_from([Decimal(0), Decimal("0.5"), Decimal("0.25"), Decimal("0.99"), Decimal("0.001")])
bounds = st.none() | st.builds(lambda whole, part: whole + part, whole_bounds.map(Decimal), fractions_of_bounds)
WHOLE_DIVISORS = (1, 2, 3, 5, 7, 8, 10, 12, 15, 25, 33, 64, 100, 120, 1000)
DIVISORS = ("2.5", "7.5", "0.1", "0.01", "0.001", "0.3", "0.25", "1.75", "0.07", "0.0004", "0.0007")
divisors = st.sampled_from([Fraction(divisor) for divisor in (*WHOLE_DIVISORS, *DIVISORS)])
listed = st.sampled_from([Decimal(text) for text in ("0", "1", "-1", "0.5", "0.25", "10", "-10.5", "100", "12.75")])
ranges = st.builds(
    NumberRange,
    bounds,
    st.booleans(),
    bounds,
    st.booleans(),
    st.none() | divisors,
    st.booleans(),
    st.frozensets(divisors, max_size=3),
    st.frozensets(listed, max_size=6),
    st.sampled_from([MAY, MAY, NEVER, MUST]),
    st.just(False),
)


@settings(max_examples=max(1, round(300 * EFFORT)), deadline=None, derandomize=True, database=None)
@given(wanted=ranges)
def test_numerals_are_those_that_fulfil_the_range(judge: Any, wanted: NumberRange) -> None:
    node = number_node(judge.nodes, wanted)
    holds = expected(wanted, PARTS)
    is_written = np.ones(len(NUMERALS), bool) if wanted.fraction == MAY else (wanted.fraction == MUST) == HAS_FRACTION
    differs = np.flatnonzero(accepted(judge.nodes, node) != (is_written & holds))
    assert not len(differs), [NUMERALS[at] for at in differs[:10]]
    assert not any(judge.nodes.matches(node, text.encode()) for text in EDGES)
    assert (node == judge.nodes.EMPTY) == judge.nodes.is_empty(node)
    for at in range(0, len(NUMERALS), 397):
        assert wanted.holds(Decimal(NUMERALS[at])) == wanted.holds(float(NUMERALS[at])) == holds[at]


@settings(max_examples=max(1, round(200 * EFFORT)), deadline=None, derandomize=True, database=None)
@given(wanted=ranges)
def test_a_range_without_numbers_is_the_empty_node(judge: Any, wanted: NumberRange) -> None:
    """With two bounds whose multiples are few, every number can be looked at."""
    low = Decimal(-20) if wanted.low is None else max(wanted.low, Decimal(-20))
    high = Decimal(20) if wanted.high is None else min(wanted.high, Decimal(20))
    divisor = Fraction("0.25") if wanted.divisor is None else wanted.divisor
    wanted = wanted._replace(low=low, high=high, divisor=divisor, fraction=MAY)
    step = in_parts(divisor)
    multiples = np.arange(in_parts(low) // step * step, in_parts(high) + 1, step)
    is_empty = not expected(wanted, multiples).any()
    assert (number_node(judge.nodes, wanted) == judge.nodes.EMPTY) == is_empty


EQUAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"low": Decimal("0.5"), "is_integer": True}, {"low": Decimal(0), "low_open": True, "is_integer": True}),
    ({"divisor": Fraction(1), "exponent": False}, {"is_integer": True}),
    (
        {"low": Decimal("1.1"), "high": Decimal("4.9"), "is_integer": True},
        {"low": Decimal(1), "low_open": True, "high": Decimal(5), "high_open": True, "divisor": Fraction(1)},
    ),
    ({"divisor": Fraction("0.5"), "is_integer": True}, {"divisor": Fraction("0.25"), "is_integer": True}),
    ({"low": Decimal("-0.0")}, {"low": Decimal(0)}),
    (
        {"low": Decimal(1), "high": Decimal(9), "is_integer": True, "excluded": frozenset([Decimal(9), Decimal(1)])},
        {"low": Decimal(2), "high": Decimal(8), "is_integer": True},
    ),
    ({"high": Decimal(2), "excluded": frozenset([Decimal(2)])}, {"high": Decimal(2), "high_open": True}),
    ({"high": Decimal(2), "excluded": frozenset([Decimal(5)])}, {"high": Decimal(2)}),
    (
        {"low": Decimal(1), "low_open": True, "high": Decimal(1)},
        {"divisor": Fraction(6), "not_divisors": frozenset([Fraction(3)])},
    ),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_sets_have_equal_nodes(judge: Any, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert number_node(judge.nodes, NumberRange(**one)) == number_node(judge.nodes, NumberRange(**other))


def test_bounds_are_decimal_and_not_binary() -> None:
    assert exact_decimal(0.1) == Decimal("0.1")
    assert exact_decimal(10**30) == Decimal(10**30)
    assert number_range([{"multipleOf": 0.01}], False).holds(19.99)
    assert not number_range([{"exclusiveMaximum": 0.3}], False).holds(0.3)
    assert not number_range([], False, excluded=[0.1]).holds(Decimal("0.10"))
    assert not number_range([], False, not_divisors=[0.1]).holds(0.3)


def test_huge_bounds_are_compared_digit_by_digit(judge: Any) -> None:
    node = number_node(judge.nodes, NumberRange(Decimal(10**30 + 1), False, Decimal(10**30 + 3), is_integer=True))
    accepted = [offset for offset in range(6) if judge.nodes.matches(node, str(10**30 + offset).encode())]
    assert accepted == [1, 2, 3]
    node = number_node(judge.nodes, NumberRange(Decimal(-(10**30) - 3), False, Decimal(-(10**30) - 1), is_integer=True))
    accepted = [offset for offset in range(6) if judge.nodes.matches(node, str(-(10**30) - offset).encode())]
    assert accepted == [1, 2, 3]


def test_the_closest_of_several_bounds_holds() -> None:
    schemas = [{"minimum": 1, "exclusiveMaximum": 9}, {"exclusiveMinimum": 1, "maximum": 9}, {"multipleOf": 4}]
    assert number_range([*schemas, {"multipleOf": 6}], True, not_divisors=[8.0], excluded=[3, 3.0]) == NumberRange(
        Decimal(1), True, Decimal(9), True, Fraction(12), True, frozenset([Fraction(8)]), frozenset([Decimal(3)])
    )


MULTIPLES: list[tuple[float | int | str, list[str], list[str]]] = [
    (0.01, ["0.01", "-19.99", "7", "123456789.120"], ["0.001", "1.111"]),
    (0.0001, ["0.0075", "12.3456"], ["0.00751"]),
    (1e-8, ["12391239123", "0.00000001", "1.234567890"], ["0.000000001"]),
    (0.3, ["0.3", "0.9", "3", "-1.2", "900000000000000000000.6"], ["0.1", "1", "0.31"]),
    (7, ["0", "-7", "7.00", "7000000000000000000000"], ["1", "7.7", "7000000000000000000001"]),
    (12345, ["12345", "0", "1234500", str(12345 * 10**40 + 12345)], ["1", "12346", str(12345 * 10**40 + 5)]),
    (1e308, ["0", "-0.0", "1" + "0" * 308, "37" + "0" * 308], ["1", "1" + "0" * 307, "1" + "0" * 307 + "1"]),
    ("1e-300", ["0." + "0" * 299 + "1", "5"], ["0." + "0" * 300 + "1"]),
    (2.125, ["2.125", "4.25", "17", "-6.375"], ["2", "1.0625"]),
]


@pytest.mark.parametrize(("divisor", "members", "others"), MULTIPLES, ids=[str(row[0]) for row in MULTIPLES])
def test_multiples_are_exact(judge: Any, divisor: Any, members: list[str], others: list[str]) -> None:
    wanted = number_range([{"multipleOf": Decimal(divisor) if isinstance(divisor, str) else divisor}], False)
    node = number_node(judge.nodes, wanted)
    contrary = number_node(judge.nodes, NumberRange(not_divisors=frozenset([wanted.divisor])))
    for text in (*members, *others):
        assert wanted.holds(Decimal(text)) == (text in members)
        assert judge.nodes.matches(node, text.encode()) == (text in members)
        assert judge.nodes.matches(contrary, text.encode()) != (text in members)


def test_a_few_multiples_of_a_large_number_are_listed(judge: Any) -> None:
    schema = {"multipleOf": 123456789, "minimum": -123456789, "exclusiveMaximum": 370370367}
    node = number_node(judge.nodes, number_range([schema], True, excluded=[0]))
    for text in (b"-123456789", b"123456789.00", b"246913578"):
        assert judge.nodes.matches(node, text)
    for text in (b"0", b"-0", b"370370367", b"123456788"):
        assert not judge.nodes.matches(node, text)
    assert number_node(judge.nodes, number_range([{**schema, "minimum": 1, "maximum": 9}], True)) == judge.nodes.EMPTY


def test_an_automaton_that_is_too_large_meets_the_limit(judge: Any) -> None:
    with pytest.raises(LimitExceeded, match="more than 20000 states"):
        number_node(judge.nodes, NumberRange(divisor=Fraction(1_000_003), is_integer=True))
    with pytest.raises(LimitExceeded, match="more than 20000 states\n  at #"):
        judge.translate({"type": "integer", "multipleOf": 0.123456789})


HUGE = {
    "integer": 10**6000,
    "decimals": Decimal("1e-6000"),
    "exponent": Decimal("1e999999999"),
    "tiny": Decimal("1e-999999999"),
}


@pytest.mark.parametrize("value", HUGE.values(), ids=HUGE)
def test_divisors_of_very_many_digits_meet_the_limit(value: Any) -> None:
    with pytest.raises(LimitExceeded, match="multipleOf has more than 1200 digits"):
        number_range([{"multipleOf": value}], False)
    with pytest.raises(LimitExceeded, match="multipleOf has more than 1200 digits"):
        number_range([], False, not_divisors=[value])


@pytest.mark.parametrize("sign", [1, -1])
def test_values_of_any_exponent_are_compared_at_once(sign: int) -> None:
    huge, tiny = Decimal("1e999999999").copy_sign(sign), Decimal("1e-999999999").copy_sign(sign)
    assert NumberRange(is_integer=True, divisor=Fraction(1, 100)).holds(huge)
    assert not NumberRange(divisor=Fraction(3)).holds(huge)
    assert NumberRange(not_divisors=frozenset([Fraction(1)])).holds(tiny)
    assert NumberRange(Decimal(-5), False, Decimal(5)).holds(tiny)
    assert not NumberRange(Decimal(-5), False, Decimal(5)).holds(huge)
    assert NumberRange(excluded=frozenset([tiny])).holds(huge)
    assert is_multiple(Decimal("1e400"), Fraction(2**400))
    assert not is_multiple(Decimal("1e400"), Fraction(2**401))
    assert is_multiple(Decimal("0e-999999999"), Fraction(7))


def test_many_numbers_can_be_excluded(judge: Any) -> None:
    excluded = [number for number in range(-5000, 5000) if number % 7]
    node = number_node(judge.nodes, number_range([{"minimum": -6000}], True, excluded=excluded))
    numbers = [number for number in range(-6100, 6000) if judge.nodes.matches(node, b"%d" % number)]
    assert numbers == [number for number in range(-6000, 6000) if number % 7 == 0 or not -5000 <= number < 5000]
    assert not judge.nodes.matches(node, b"1.0")
    bounds = {"minimum": 1, "maximum": 2000}
    assert number_node(judge.nodes, number_range([bounds], True, excluded=range(1, 2001))) == judge.nodes.EMPTY
    left = number_node(judge.nodes, number_range([bounds], True, excluded=range(2, 2001)))
    assert judge.nodes.matches(left, b"1.0")
    assert not judge.nodes.matches(left, b"2")


def test_numbers_with_a_constraint_have_no_small_exponent_and_zero_may_be_negative(judge: Any) -> None:
    assert judge.grammar({"type": "number"}).accepts("-1.5E+10")
    bounded = judge.grammar({"type": "number", "minimum": 0})
    assert bounded.accepts("-0.0")
    assert bounded.accepts("150.00")
    assert not bounded.accepts("1e2")
    assert not judge.grammar({"type": "number", "exclusiveMinimum": 0}).accepts("-0")


def test_the_way_of_writing_can_be_chosen(judge: Any) -> None:
    texts = (b"1", b"-0", b"1.0", b"1.5", b"1e2")
    for wanted, written in (
        (NumberRange(), texts),
        (NumberRange(exponent=False), texts[:4]),
        (NumberRange(is_integer=True), texts[:3]),
        (NumberRange(is_integer=True, exponent=False), texts[:3]),
        (NumberRange(is_integer=True, fraction=NEVER), texts[:2]),
        (NumberRange(fraction=NEVER), texts[:2]),
        (NumberRange(fraction=MUST), texts[2:4]),
        (NumberRange(is_integer=True, fraction=MUST), texts[2:3]),
    ):
        node = number_node(judge.nodes, wanted)
        assert tuple(text for text in texts if judge.nodes.matches(node, text)) == written, wanted


BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
SUITE_FILES = ("multipleOf", *BOUNDS, "optional/bignum", "optional/float-overflow")
NOT_COMPILED = ("float division = inf",)  # its divisor needs 123,456,789 states


@pytest.mark.parametrize("draft", ["draft7", "draft2020-12"])
@pytest.mark.parametrize("name", SUITE_FILES)
def test_the_official_suite_of_numbers(judge: Any, shared_dir: Path, draft: str, name: str) -> None:
    text = (shared_dir / "data" / "json-schema-test-suite" / draft / f"{name}.json").read_text(encoding="utf-8")
    for group in json.loads(text, parse_float=Decimal):
        if group["description"] in NOT_COMPILED:
            continue
        grammar = judge.grammar(group["schema"])
        for case in group["tests"]:
            value = case["data"]
            spelled = format(value, "f") if type(value) is Decimal else json.dumps(value)
            assert grammar.accepts(spelled) == case["valid"], (group["description"], case["description"])


def test_jsonschema_takes_1_0_for_an_integer_but_in_draft_4(judge: Any) -> None:
    """Why `fraction` exists: the writing of draft 4's integers is NEVER."""
    assert jsonschema.Draft6Validator({"type": "integer"}).is_valid(1.0)
    assert not jsonschema.Draft4Validator({"type": "integer"}).is_valid(1.0)
    judge.agrees({"type": "integer"}, [1, 1.0, -3], [1.5, "1"])
