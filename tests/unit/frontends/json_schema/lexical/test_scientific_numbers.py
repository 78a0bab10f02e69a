"""Numbers with an exponent beside what constrains them, against arithmetic on decimals."""

from __future__ import annotations

import json
import math
import random
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical.listed_numbers import plain_numeral
from llmask.frontends.json_schema.lexical.number_machines import MAY, MUST, NEVER
from llmask.frontends.json_schema.lexical.numbers import NumberRange, number_node
from llmask.frontends.json_schema.lexical.scientific_numbers import (
    MAX_FRACTION,
    Magnitudes,
    listed_with_exponent,
    scientific_node,
)
from llmask.work import metered

SCIENTIFIC = re.compile(r"-?[1-9](?:\.([0-9]+))?[eE](-0?[5-9]|-[1-9][0-9]+|\+?[1-9][0-9]+)")
DOUBLES = Decimal("5e-324"), Decimal("1.7976931348623157e308")


def is_written(text: str, wanted: NumberRange) -> bool:
    """Whether a number that fulfils `wanted` is written as this text, with an exponent."""
    found = SCIENTIFIC.fullmatch(text)
    if found is None or not DOUBLES[0] <= abs(Decimal(text)) <= DOUBLES[1]:
        return False
    if wanted.is_integer or wanted.fraction == NEVER:
        return False
    exponent = int(found[2])
    has_divisors = wanted.divisor is not None or wanted.not_divisors
    return (exponent < -4 or exponent > 15) and not (has_divisors and len(found[1] or "") > MAX_FRACTION)


def holds(text: str, wanted: NumberRange) -> bool:
    return is_written(text, wanted) and wanted.holds(Decimal(text))


def random_bound(rng: random.Random) -> Decimal:
    digits = str(rng.randrange(10 ** rng.randrange(5))) if rng.random() < 0.9 else str(rng.randrange(10**20))
    exponent = rng.choice((0, -5, -4, -6, 15, 16, 17, -324, -323, 308, rng.randrange(-330, 315)))
    return Decimal(f"{rng.choice(('', '', '-'))}{digits[0]}.{digits[1:]}e{exponent}")


def random_range(rng: random.Random) -> NumberRange:
    low, high = (random_bound(rng) if rng.random() < 0.6 else None for _ in range(2))
    if low is not None and high is not None and low > high and rng.random() < 0.9:
        low, high = high, low
    divisors = [Fraction(text) for text in ("1", "7", "100", "0.01", "2.5", "1e-8", "3e-6", "24", "1e17", "5e-323")]
    divisor = rng.choice(divisors) if rng.random() < 0.4 else None
    is_excluded = rng.random() < 0.4
    return NumberRange(
        low,
        rng.random() < 0.5,
        high,
        rng.random() < 0.5,
        None if is_excluded else divisor,
        rng.random() < 0.2,
        frozenset([divisor]) if is_excluded and divisor is not None else frozenset(),
        frozenset(random_bound(rng) for _ in range(rng.randrange(4))) if rng.random() < 0.3 else frozenset(),
        rng.choice((MAY, MAY, MAY, MUST, NEVER)),
    )


def near(wanted: NumberRange, rng: random.Random) -> str:
    """A text with an exponent, often of a bound or an excluded number, often a digit apart from it."""
    known = [value for value in (wanted.low, wanted.high, *wanted.excluded) if value]
    value = rng.choice(known) if known and rng.random() < 0.7 else random_bound(rng)
    digits, exponent = "".join(map(str, value.as_tuple().digits)).strip("0") or "1", value.adjusted()
    if rng.random() < 0.5:
        at = rng.randrange(len(digits))
        digits = digits[:at] + rng.choice("0123456789") + digits[at + 1 :]
    digits += rng.choice(("", "", "0", "00", "1", "9"))
    exponent += rng.choice((0, 0, 0, 1, -1))
    sign = "-" if rng.random() < (0.8 if value < 0 else 0.2) else ""
    exponents = [str(exponent), f"+{exponent}", f"{exponent:03}", f"{exponent:+03}"]
    fraction = "." + digits[1:] if digits[1:] else ""
    return f"{sign}{digits[0]}{fraction}{rng.choice('eE')}{rng.choice(exponents)}"


@pytest.mark.long
def test_numerals_with_an_exponent_are_those_that_fulfil_the_range(
    judge: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_held = 0
    for _ in range(scaled(150)):
        wanted = random_range(rng)
        if wanted == NumberRange():
            continue  # any exponent
        try:
            node = number_node(judge.nodes, wanted)
        except LimitExceeded:
            continue  # digits of bounds by remainders, without exponents
        for _ in range(60):
            text = near(wanted, rng)
            expected = holds(text, wanted)
            if expected and Decimal(repr(float(text))) != Decimal(text):
                continue  # no double: where few numbers are left they are listed, without its exponent
            assert judge.nodes.matches(node, text.encode()) == expected, (text, wanted)
            n_held += expected
    assert n_held > scaled(150) * 3


def random_float(rng: random.Random, bounds: list[float]) -> float:
    """Any float, or one near a bound, or one of few digits."""
    kind = rng.random()
    if kind < 0.3 and bounds:
        value = rng.choice(bounds)
        for _ in range(rng.randrange(3)):
            value = math.nextafter(value, rng.choice((math.inf, -math.inf)))
        return value if math.isfinite(value) else 0.0
    if kind < 0.6:
        return float(f"{rng.randrange(-999, 1000)}e{rng.randrange(-30, 30)}")
    value = struct.unpack("d", rng.randbytes(8))[0]
    return value if math.isfinite(value) else 1e308


def test_floats_as_python_writes_them_are_accepted_within_their_bounds_alone(
    judge: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    """Beside a bound `json.dumps(0.00001)`, which is 1e-05, was refused."""
    assert judge.grammar({"type": "number", "minimum": 0}).accepts(json.dumps(0.00001))
    n_exponents = 0
    for _ in range(scaled(60)):
        low, high = sorted((random_float(rng, []), random_float(rng, [])))
        bounds = [bound for bound in (low, high) if rng.random() < 0.7]
        is_open = rng.random() < 0.5, rng.random() < 0.5
        wanted = NumberRange(
            Decimal(repr(low)) if low in bounds else None,
            is_open[0],
            Decimal(repr(high)) if high in bounds else None,
            is_open[1],
            Fraction(1) if rng.random() < 0.2 else None,
        )
        node = number_node(judge.nodes, wanted)
        for _ in range(40):
            value = random_float(rng, bounds)
            text = json.dumps(value)
            assert judge.nodes.matches(node, text.encode()) == wanted.holds(value), (text, wanted)
            n_exponents += "e" in text
    assert n_exponents > scaled(60) * 10


EQUAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"low": Decimal("3e-9")}, {"low": Decimal("3.0e-9")}),
    ({"high": Decimal(2), "excluded": frozenset([Decimal("3e20")])}, {"high": Decimal(2)}),
    ({"low": Decimal("1e20"), "excluded": frozenset([Decimal("1e20")])}, {"low": Decimal("1e20"), "low_open": True}),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_sets_have_equal_nodes(judge: Any, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert number_node(judge.nodes, NumberRange(**one)) == number_node(judge.nodes, NumberRange(**other))


def of_positive(nodes: Any, low: str | None, high: str | None, divisor: str | None = None) -> int:
    magnitudes = Magnitudes(low and Decimal(low), False, high and Decimal(high), False)
    return scientific_node(nodes, magnitudes, None, divisor and Fraction(divisor), frozenset(), [])


def n_states(nodes: Any, node: int) -> int:
    found = [node]
    for here in found:
        found += [
            after for after in {nodes.derivative(here, byte) for byte in b"0123456789.+-eE"} if after not in found
        ]
    return len(found)


@pytest.mark.parametrize(
    ("low", "high", "divisor", "most"),
    [
        (None, "1", None, 40),
        ("1", None, None, 60),
        (None, None, None, 100),
        ("1.2345e-9", "9.876543e22", None, 160),
        (None, None, "1", 90),
        (None, None, "7", 400),
    ],
)
def test_automata_are_small(judge: Any, low: Any, high: Any, divisor: Any, most: int) -> None:
    """The digits of the bounds and those of exponents, not their product; beside divisors 17 digits for each rest."""
    assert n_states(judge.nodes, of_positive(judge.nodes, low, high, divisor)) <= most


def test_bounds_between_1e_4_and_1e16_share_automata(judge: Any) -> None:
    assert of_positive(judge.nodes, "0.5", "1e5") == judge.nodes.EMPTY
    assert len({of_positive(judge.nodes, low, None) for low in ("1", "0.0001", "123.456", "1e16", "99e14")}) == 1
    assert len({of_positive(judge.nodes, None, high) for high in ("1", "0.0001", "123.456", "99e14")}) == 1


def test_a_large_divisor_leaves_exponents_out(judge: Any) -> None:
    node = number_node(judge.nodes, NumberRange(divisor=Fraction(12345)))
    assert judge.nodes.matches(node, b"12345")
    assert not judge.nodes.matches(node, b"12345e+16")
    assert of_positive(judge.nodes, None, None, "12345") == judge.nodes.EMPTY


def test_a_divisor_of_very_many_decimals_has_multiples(judge: Any) -> None:
    """No number of zeros makes 1 a multiple of 3, which was taken for 633 of them."""
    node = of_positive(judge.nodes, None, None, "3e-400")
    assert [judge.nodes.matches(node, text) for text in (b"3e250", b"1e250")] == [True, False]


@pytest.mark.long
def test_work_that_is_spent_is_not_taken_for_a_large_divisor(judge: Any) -> None:
    """The limit was taken for that of states, and the store remembered that such numbers have no exponent."""
    wanted = NumberRange(divisor=Fraction(29))
    n_failed = 0
    for most in range(0, 100_000, 200):
        try:
            with metered(most, "max_compile_work"):
                node = number_node(judge.nodes, wanted)
            break
        except LimitExceeded:
            n_failed += 1
    assert n_failed > 20
    assert judge.nodes.matches(node, b"2.9e+16")


LISTED: list[tuple[float | Decimal | int, list[str], list[str]]] = [
    (1e-05, ["1e-05", "1e-5", "1.0E-05", "1.00e-5"], ["1e-005", "10e-06", "1e-04", "-1e-05", "1.e-05", "1.01e-05"]),
    (-2.5e16, ["-2.5e+16", "-2.50E16"], ["2.5e+16", "-25e+15", "-2.5e+017", "-2.51e+16"]),
    (10**16, ["1e+16"], ["1e+15", "0.1e+17"]),
    (5e-324, ["5e-324"], ["4e-324", "5e-323"]),
    (1.7976931348623157e308, ["1.7976931348623157e+308"], ["1.7976931348623158e+308"]),
    (1e15, [], ["1e+15", "1e15"]),
    (0.0001, [], ["1e-04", "1e-4"]),
    (0, [], ["0e+16", "0e-05"]),
    (12345678901234567, [], ["1.2345678901234567e+16"]),  # no double
    (Decimal("1e400"), [], ["1e+400"]),
]


@pytest.mark.parametrize(("value", "written", "others"), LISTED, ids=[str(row[0]) for row in LISTED])
def test_a_listed_number_that_is_a_double_has_its_exponent(
    judge: Any, value: Any, written: list[str], others: list[str]
) -> None:
    node = listed_with_exponent(judge.nodes, [b"1", plain_numeral(value), b"0.5"])
    assert [text for text in written if not judge.nodes.matches(node, text.encode())] == []
    assert [text for text in (*others, "1", "0.5") if judge.nodes.matches(node, text.encode())] == []
    assert (node == judge.nodes.EMPTY) == (written == [])


def test_exponents_are_written_beside_every_keyword(judge: Any) -> None:
    """The spelling of `json.dumps`, with the keywords that name numbers and in items that must differ."""
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}
    for schema, accepted, refused in (
        ({"multipleOf": 0.5}, "1e+16", "1e-05"),
        ({"multipleOf": 1e-06}, "1.5e-05", "1.5e-06"),
        ({"enum": [1e-05, 3]}, "1e-05", "1e-06"),
        ({"const": {"a": 1e22}}, '{"a": 1e+22}', '{"a": 1e+23}'),
        ({"type": "number", "not": {"enum": [1e-05, 1e16]}}, "1e-06", "1e-05"),
        ({"multipleOf": 1, "not": {"multipleOf": 4}}, "1.234567890123457e+16", "1e+16"),
        ({"multipleOf": 3}, "1.5e+16", "1e+16"),
        ({"type": "integer", "enum": [10**16, 3]}, "1e+16", "3e+16"),
        ({"type": "array", "items": {"multipleOf": 1}, "uniqueItems": True}, "[1e+16,1]", "[10000000000000000,1e+16]"),
        ({"type": "array", "items": {"minimum": 0}, "uniqueItems": True}, "[1e-05,1]", "[0.00001,1.0e-05]"),
        ({**draft_4, "type": "number", "minimum": 0}, "1e+16", "-1e+16"),
    ):
        grammar = judge.grammar(schema)
        assert grammar.accepts(accepted), (schema, accepted)
        assert not grammar.accepts(refused), (schema, refused)
        assert not judge.grammar(schema, numbers="plain").accepts("1e+16"), schema


INTEGERS: list[dict[str, Any]] = [
    {"type": "integer"},
    {"type": ["integer", "null"]},
    {"type": "integer", "minimum": 0},
    {"type": "integer", "minimum": 0, "maximum": 1e40},
    {"type": "integer", "multipleOf": 0.5},
    {"type": "integer", "multipleOf": 10**15, "minimum": 0, "maximum": 1e17},  # few, which are listed
    {"type": "integer", "not": {"multipleOf": 7}},
    {"type": "integer", "not": {"enum": [0, 3]}},
    {"allOf": [{"minimum": 1}, {"type": ["number", "null"]}, {"type": "integer"}]},
    {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 3}]},
]


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
def test_integers_have_no_exponent_whatever_stands_beside_them(judge: Any, draft: str) -> None:
    """A model that wrote 1.5 for an integer was led into 1.5e+16 or 1.5e+20, which pydantic refuses as an int."""
    schema_uri = f"http://json-schema.org/{draft}/schema"
    for schema in INTEGERS:
        for wanted, text in ((schema, "%s"), ({"type": "array", "items": schema, "uniqueItems": True}, "[%s]")):
            grammar = judge.grammar({"$schema": schema_uri, **wanted})
            assert grammar.accepts(text % "10000000000000000"), wanted
            assert grammar.accepts(text % "10000000000000000.00") == (draft != "draft-04"), wanted
            for number in ("1.5", "1e", "1E", "10000000000000000e"):
                begun = (text.partition("%s")[0] + number).encode()
                assert grammar.matcher().validate_tokens(list(begun)) < len(begun), (wanted, number)


def test_what_was_begun_can_be_ended(judge: Any) -> None:
    matcher = judge.grammar({"type": "number", "minimum": 1e-30, "maximum": 0.5}).matcher()
    matcher.accept_bytes(b"1.5e-3")
    assert not matcher.is_accepting()
    assert matcher.forced_bytes() == b"0"  # 1.5e-31 is too small
    integers = judge.grammar({"multipleOf": 1})
    matcher = integers.matcher()
    matcher.accept_bytes(b"1.2")
    assert matcher.validate_tokens(list(b"345678901234567e+")) == 17
    assert not integers.accepts("1.2")
    assert not integers.accepts("1.23456789012345678e+18")
