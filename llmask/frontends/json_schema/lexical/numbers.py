"""Numbers: from bounds, divisors and what is excluded to the automaton of every numeral that fulfils them.

A number without any constraint has JSON's full syntax. With one it is written without exponent, as the language with
all exponents is not regular, or with the exponents of `scientific_numbers.py`. An integer never has one: it would turn
`1.5` into the beginning of 1.5e+16, and readers of integers refuse such texts. A fraction may end in zeros, so `1.0` is
the integer 1, and `-0` is 0. All arithmetic is on decimal digits as written (`Decimal` of the shortest spelling of a
float), never in binary floating point. Where few multiples of a large divisor lie between two bounds, they are listed.

In: the numeric keywords of all schemas that hold at one place. Out: a node. Cost: 50 to 500 us for bounds, once for
each combination of them; the states that a divisor takes are limited (`number_machines.MAX_STATES`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import Any, NamedTuple

from llmask.errors import LimitExceeded
from llmask.regex.nodes import RegexNodes

from .listed_numbers import exact_decimal, listed_numbers_node, plain_numeral
from .number_machines import (
    MAX_DIGITS,
    MAY,
    NEVER,
    SYNTAX,
    Machine,
    comparison,
    divisibility,
    n_decimals_of,
    numerals_node,
    unlisted,
)
from .scientific_numbers import Magnitudes, listed_with_exponent, scientific_node

MAX_LISTED = 20_000  # multiples that are listed rather than counted
FEW_EXCLUDED = 8  # numbers that the automaton knows; more are taken away from it by a complement, told by their texts
MAX_EXCLUDED = 1000  # the same of numerals with an exponent: beyond, none is written

DIGITS = 0x3FF << 0x30


class NumberRange(NamedTuple):
    """What a number must fulfil, and how it is written.

    low, high            bounds, or None
    low_open, high_open  whether the bound itself is excluded
    divisor              the number is a multiple of it, or None
    is_integer           the number is a multiple of 1
    not_divisors         the number is a multiple of none of them
    excluded             the number differs from each of them
    fraction             whether a fraction is written: MAY, NEVER, MUST. With NEVER, 1.0 is no integer; MUST is what
                         is left of the numbers then
    exponent             whether it may have an exponent; integers, and with NEVER all, have none
    """

    low: Decimal | None = None
    low_open: bool = False
    high: Decimal | None = None
    high_open: bool = False
    divisor: Fraction | None = None
    is_integer: bool = False
    not_divisors: frozenset[Fraction] = frozenset()
    excluded: frozenset[Decimal] = frozenset()
    fraction: str = MAY
    exponent: bool = True

    def holds(self, value: Any) -> bool:
        """Whether a number, as JSON readers give it, fulfils all of it; how it is written is not asked."""
        exact = exact_decimal(value)
        above = self.low is None or exact > self.low or (exact == self.low and not self.low_open)
        below = self.high is None or exact < self.high or (exact == self.high and not self.high_open)
        return (
            above
            and below
            and (self.divisor is None or is_multiple(exact, self.divisor))
            and (not self.is_integer or is_multiple(exact, Fraction(1)))
            and not any(is_multiple(exact, divisor) for divisor in self.not_divisors)
            and exact not in self.excluded
        )


def is_multiple(value: Decimal, divisor: Fraction) -> bool:
    """Whether a number is a multiple of another, exactly, however large or small its exponent is."""
    _, digits, exponent = value.as_tuple()
    coefficient, n_zeros = int(Decimal((0, digits, 0))), int(exponent)
    if n_zeros >= 0:
        shift: int = pow(10, n_zeros, divisor.numerator)
        return coefficient * shift % divisor.numerator == 0
    if (
        -n_zeros > len(digits) + divisor.denominator.bit_length()
    ):  # the power below has more digits than what it divides
        return coefficient == 0
    power: int = 10**-n_zeros
    return coefficient * divisor.denominator % (divisor.numerator * power) == 0


def number_range(
    schemas: Sequence[dict[str, Any]],
    is_integer: bool,
    not_divisors: Iterable[Any] = (),
    excluded: Iterable[Any] = (),
    fraction: str = MAY,
    exponent: bool = True,
) -> NumberRange:
    """What the numeric keywords of all `schemas` demand together; the boolean form of exclusive bounds included.

    Parameters
    ----------
    schemas : those whose keywords hold.
    is_integer : whether the number is an integer.
    not_divisors, excluded : numbers that it is no multiple of, numbers that it is not, as JSON readers give them.
    fraction, exponent : how it is written; see `NumberRange`.
    """
    lows = _written_bounds(schemas, "minimum", "exclusiveMinimum")
    highs = _written_bounds(schemas, "maximum", "exclusiveMaximum")
    low, low_open = max(lows, default=(None, False))
    high, high_open = min(highs, key=lambda one: (one[0], not one[1]), default=(None, False))
    divisor = None
    for schema in schemas:
        if "multipleOf" in schema:
            one = _divisor(schema["multipleOf"])
            divisor = one if divisor is None else _common_multiple(divisor, one)
    return NumberRange(
        low,
        low_open,
        high,
        high_open,
        divisor,
        is_integer,
        frozenset(map(_divisor, not_divisors)),
        frozenset(map(exact_decimal, excluded)),
        fraction,
        exponent,
    )


def _written_bounds(schemas: Sequence[dict[str, Any]], bound: str, exclusive: str) -> list[tuple[Decimal, bool]]:
    """The bounds under two keywords, and whether each is itself left out; in draft 4 one is a boolean."""
    return [
        (exact_decimal(schema[keyword]), keyword == exclusive or schema.get(exclusive) is True)
        for keyword in (bound, exclusive)
        for schema in schemas
        if keyword in schema and type(schema[keyword]) is not bool
    ]


def _divisor(value: Any) -> Fraction:
    exact = exact_decimal(value)
    if max(abs(exact.adjusted()), -int(exact.as_tuple().exponent)) > MAX_DIGITS:
        raise LimitExceeded(f"multipleOf has more than {MAX_DIGITS} digits", None, "Use fewer digits.")
    return Fraction(exact)


def _common_multiple(one: Fraction, other: Fraction) -> Fraction:
    return Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))


def number_node(nodes: RegexNodes, wanted: NumberRange) -> int:
    """Node of every numeral that fulfils `wanted`; `nodes.EMPTY` when no numeral does.

    Raises
    ------
    LimitExceeded
        When the automaton would have too many states.
    """
    key = (__name__, wanted)
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _number_node(nodes, wanted)
        if found != nodes.EMPTY:
            nodes.name(found, _name(wanted))
    return int(found)


def _name(wanted: NumberRange) -> str:
    """What such numbers are called where rules are printed: INTEGER(>=1, <10), NUMBER(plain)."""
    low, low_open, high, high_open, divisor, is_integer, not_divisors, excluded, fraction, exponent = wanted
    said = [] if low is None else [f"{'>' if low_open else '>='}{low}"]
    said += [] if high is None else [f"{'<' if high_open else '<='}{high}"]
    said += [] if divisor is None else [f"multiple of {divisor}"]
    said += [f"no multiple of {other}" for other in sorted(not_divisors)]
    said += [f"{len(excluded)} left out"] if excluded else []
    said += {MAY: [], NEVER: ["no fraction"]}.get(fraction, ["with fraction"])
    said += [] if exponent or is_integer or fraction == NEVER else ["plain"]
    return ("INTEGER" if is_integer else "NUMBER") + (f"({', '.join(said)})" if said else "")


def _number_node(nodes: RegexNodes, wanted: NumberRange) -> int:
    if wanted == FREE:
        return _free_number(nodes)
    low, _, high, _, divisor, is_integer, not_divisors, excluded, fraction, exponent = wanted
    if is_integer or fraction == NEVER:
        exponent = False
        divisor = Fraction(1) if divisor is None else _common_multiple(divisor, Fraction(1))
    if divisor is not None and any((divisor / other).denominator == 1 for other in not_divisors):
        return nodes.EMPTY
    if excluded:
        others = wanted._replace(excluded=frozenset())
        excluded = frozenset([value for value in excluded if others.holds(value)])
        if len(excluded) > FEW_EXCLUDED:
            plain = number_node(nodes, others._replace(exponent=False))
            plain = nodes.without(plain, [listed_numbers_node(nodes, [plain_numeral(value) for value in excluded])])
            if exponent and len(excluded) <= MAX_EXCLUDED:
                plain = nodes.union([plain, _with_exponent(nodes, wanted, divisor, excluded)])
            return nodes.EMPTY if nodes.is_empty(plain) else plain
    if divisor is not None and low is not None and high is not None:
        modulus = divisor.numerator
        while modulus % 10 == 0:  # a state for each zero
            modulus //= 10
        multiples = multiples_between(divisor, low, high, min(modulus, MAX_LISTED))
        if multiples is not None:  # a machine that counts needs more states
            numerals = [plain_numeral(value) for value in multiples if wanted.holds(value)]
            if not numerals:
                return nodes.EMPTY
            plain = listed_numbers_node(nodes, numerals, fraction)
            return nodes.union([plain, listed_with_exponent(nodes, numerals)]) if exponent else plain
    plain = _plain_node(nodes, wanted, divisor, excluded)
    return nodes.union([plain, _with_exponent(nodes, wanted, divisor, excluded)]) if exponent else plain


def _with_exponent(
    nodes: RegexNodes, wanted: NumberRange, divisor: Fraction | None, excluded: frozenset[Decimal]
) -> int:
    """Node of the numerals with an exponent; see `_plain_node`."""
    magnitudes = _magnitudes(wanted, False), _magnitudes(wanted, True)
    return scientific_node(nodes, *magnitudes, divisor, wanted.not_divisors, excluded)


def _plain_node(nodes: RegexNodes, wanted: NumberRange, divisor: Fraction | None, excluded: frozenset[Decimal]) -> int:
    """Node of the numerals without exponent, `divisor` and `excluded` in place of what `wanted` has."""
    fraction = wanted.fraction
    positive, negative = _bounds(wanted, False), _bounds(wanted, True)
    machines = [SYNTAX[fraction]]
    if divisor is not None and (divisor != 1 or fraction != NEVER):
        machines.append(divisibility(divisor, True))
    machines += [divisibility(other, False) for other in sorted(wanted.not_divisors)]
    if positive is not None:
        positive = [*machines, *positive, *_unlisted([value for value in excluded if value >= 0])]
    if negative is not None:
        negative = [*machines, *negative, *_unlisted([value for value in excluded if value <= 0])]
    return numerals_node(nodes, positive, negative)


def _magnitudes(wanted: NumberRange, is_negative: bool) -> Magnitudes | None:
    """Bounds of the magnitude of numbers of a sign; None when none lies between them."""
    low, low_open, high, high_open = wanted[:4]
    if is_negative:
        # the minus operator would round to the precision of the context
        mirrored = None if high is None else high.copy_negate(), None if low is None else low.copy_negate()
        low, low_open, high, high_open = mirrored[0], high_open, mirrored[1], low_open
    if high is not None and (high < 0 or (high == 0 and high_open)):
        return None
    return Magnitudes(low, low_open, high, high_open)


def _bounds(wanted: NumberRange, is_negative: bool) -> list[Machine] | None:
    """Machines for the bounds of a magnitude; None when no number of that sign lies between them."""
    magnitudes = _magnitudes(wanted, is_negative)
    if magnitudes is None:
        return None
    low, low_open, high, high_open = magnitudes
    machines = []
    if low is not None and (low > 0 or (low == 0 and low_open)):
        machines.append(comparison(low, below=False, equal=not low_open, above=True))
    if high is not None:
        machines.append(comparison(high, below=True, equal=not high_open, above=False))
    return machines


def _unlisted(values: list[Decimal]) -> list[Machine]:
    return [unlisted({plain_numeral(value).lstrip(b"-").decode(): 0 for value in values})] if values else []


def multiples_between(divisor: Fraction, low: Decimal, high: Decimal, most: int) -> list[Decimal] | None:
    """The multiples of a number from `low` to `high`; None where there are more than `most`."""
    first, last = ceil(Fraction(low) / divisor), floor(Fraction(high) / divisor)
    if last - first >= most:
        return None
    n_decimals = n_decimals_of(divisor)
    unit = int(divisor * 10**n_decimals)
    digits = [factor * unit for factor in range(first, last + 1)]
    return [Decimal((value < 0, Decimal(value).as_tuple().digits, -n_decimals)) for value in digits]


def _free_number(nodes: RegexNodes) -> int:
    digit = nodes.byte_set(DIGITS)
    digits = nodes.repeat(digit, 1)
    sign = nodes.repeat(nodes.byte_set(1 << 0x2B | 1 << 0x2D), 0, 1)
    whole = nodes.concat([nodes.byte_set(DIGITS & ~(1 << 0x30)), nodes.repeat(digit, 0)])
    return nodes.concat(
        [
            nodes.repeat(nodes.literal(b"-"), 0, 1),
            nodes.union([nodes.literal(b"0"), whole]),
            nodes.repeat(nodes.concat([nodes.literal(b"."), digits]), 0, 1),
            nodes.repeat(nodes.concat([nodes.byte_set(1 << 0x45 | 1 << 0x65), sign, digits]), 0, 1),
        ]
    )


FREE = NumberRange()
