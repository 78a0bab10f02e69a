"""Numbers: from bounds and divisors to the regular expression of every numeral that fulfils them.

A bounded numeral is read by a finite automaton, digit by digit: it carries how what was read compares with each bound
and the remainder by the divisor, so two bounds and `multipleOf` hold at once and exactly. All arithmetic is on
decimal digits as written (`Decimal` of the shortest spelling of a float), never in binary floating point. `-0` is 0.
Numerals with a bound are written without exponent, as the language with exponents is not regular; without bounds they
have JSON's full syntax.

In: the numeric keywords of all schemas that hold at one place. Out: a node. Cost: about 2 us a state and digit, once
for each combination of bounds; the remainder multiplies the states by the divisor, so it is limited.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmask.errors import LimitExceeded

if TYPE_CHECKING:
    from llmask.derivatives.nodes import RegexNodes

MAX_DIGITS = 1200  # of a bound: the largest double has 309
MAX_STATES = 20_000  # of one automaton: a divisor of 1,000 between two bounds of three digits needs about 4,000

DIGITS = 0x3FF << 0x30
MINUS, DOT = b"-", b"."
DOT_CLASS = 10  # classes 0 to 9 are the digits, 11 is every other byte
BELOW, EQUAL, ABOVE = -1, 0, 1


class NumberRange(NamedTuple):
    """What a number must fulfil.

    low, high            bounds, or None
    low_open, high_open  whether the bound itself is excluded
    divisor              the number is a multiple of it, or None
    is_integer           no fraction is written
    """

    low: Decimal | None = None
    low_open: bool = False
    high: Decimal | None = None
    high_open: bool = False
    divisor: Fraction | None = None
    is_integer: bool = False

    @property
    def is_void(self) -> bool:
        """Whether the bounds contradict each other."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def holds(self, value: Any) -> bool:
        """Whether a number, as JSON readers give it, fulfils all of it."""
        exact = exact_decimal(value)
        above = self.low is None or exact > self.low or (exact == self.low and not self.low_open)
        below = self.high is None or exact < self.high or (exact == self.high and not self.high_open)
        divides = self.divisor is None or (Fraction(exact) / self.divisor).denominator == 1
        return above and below and divides and (not self.is_integer or exact == exact.to_integral_value())


def exact_decimal(value: float | Decimal) -> Decimal:
    """The number as it was written: the shortest spelling of a float, the value itself otherwise."""
    return Decimal(repr(value)) if type(value) is float else Decimal(value)


def number_range(schemas: Iterable[dict[str, Any]], is_integer: bool) -> NumberRange:
    """What the numeric keywords of all `schemas` demand together; the boolean form of exclusive bounds included."""
    low = high = divisor = None
    low_open = high_open = False
    for schema in schemas:
        for keyword in ("minimum", "exclusiveMinimum"):
            if keyword in schema and type(schema[keyword]) is not bool:
                bound = exact_decimal(schema[keyword])
                is_open = keyword == "exclusiveMinimum" or schema.get("exclusiveMinimum") is True
                if low is None or bound > low or (bound == low and is_open):
                    low, low_open = bound, is_open
        for keyword in ("maximum", "exclusiveMaximum"):
            if keyword in schema and type(schema[keyword]) is not bool:
                bound = exact_decimal(schema[keyword])
                is_open = keyword == "exclusiveMaximum" or schema.get("exclusiveMaximum") is True
                if high is None or bound < high or (bound == high and is_open):
                    high, high_open = bound, is_open
        if "multipleOf" in schema:
            one = Fraction(exact_decimal(schema["multipleOf"]))
            divisor = one if divisor is None else _common_multiple(divisor, one)
    return NumberRange(low, low_open, high, high_open, divisor, is_integer)


def _common_multiple(one: Fraction, other: Fraction) -> Fraction:
    return Fraction(lcm(one.numerator, other.numerator), gcd(one.denominator, other.denominator))


def number_node(nodes: RegexNodes, wanted: NumberRange) -> int:
    """Node of every numeral that fulfils `wanted`; `nodes.EMPTY` when there is none.

    Raises
    ------
    LimitExceeded
        When the automaton would have too many states.
    """
    key = (__name__, wanted)
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _number_node(nodes, wanted)
    return int(found)


def _number_node(nodes: RegexNodes, wanted: NumberRange) -> int:
    low, low_open, high, high_open, divisor, is_integer = wanted
    if low is None and high is None and (divisor is None or (is_integer and divisor.numerator == 1)):
        return _free_number(nodes, is_integer)
    if wanted.is_void:
        return nodes.EMPTY
    positive = _magnitudes(nodes, wanted)
    negated = NumberRange(
        # `-high` would round to the precision of the context
        None if high is None else high.copy_negate(),
        high_open,
        None if low is None else low.copy_negate(),
        low_open,
        divisor,
        is_integer,
    )
    return nodes.union([positive, nodes.concat([nodes.literal(MINUS), _magnitudes(nodes, negated)])])


def _free_number(nodes: RegexNodes, is_integer: bool) -> int:
    digit = nodes.byte_set(DIGITS)
    nonzero = nodes.byte_set(DIGITS & ~(1 << 0x30))
    digits = nodes.repeat(digit, 1)
    minus = nodes.repeat(nodes.literal(MINUS), 0, 1)
    parts = [minus, nodes.union([nodes.literal(b"0"), nodes.concat([nonzero, nodes.repeat(digit, 0)])])]
    if not is_integer:
        sign = nodes.repeat(nodes.byte_set(1 << 0x2B | 1 << 0x2D), 0, 1)
        exponent = nodes.concat([nodes.byte_set(1 << 0x45 | 1 << 0x65), sign, digits])
        parts.append(nodes.repeat(nodes.concat([nodes.literal(DOT), digits]), 0, 1))
        parts.append(nodes.repeat(exponent, 0, 1))
    return nodes.concat(parts)


class _Bound:
    """One bound of a magnitude, as digits: how much of a numeral compares with it."""

    def __init__(self, value: Decimal) -> None:
        if abs(value.adjusted()) > MAX_DIGITS or len(value.as_tuple().digits) > MAX_DIGITS:
            raise LimitExceeded(f"a bound of a number has more than {MAX_DIGITS} digits", None, "Use a smaller bound.")
        whole, _, fraction = format(value.copy_abs(), "f").partition(".")  # the value may be -0
        self.whole = whole
        self.fraction = fraction.rstrip("0")

    def in_whole(self, compared: int, n_read: int, digit: int) -> int:
        """Comparison of the first digits after one more digit, the `n_read`-th (from 0), before the dot."""
        if n_read >= len(self.whole):
            return ABOVE
        return compared or _compare(digit, int(self.whole[n_read]))

    def at_dot(self, compared: int, n_read: int) -> int:
        return BELOW if n_read < len(self.whole) else compared

    def in_fraction(self, compared: int, n_read: int, digit: int) -> int:
        return compared or _compare(digit, int(self.fraction[n_read]) if n_read < len(self.fraction) else 0)

    def at_end(self, compared: int, n_fraction: int) -> int:
        return BELOW if compared == EQUAL and n_fraction < len(self.fraction) else compared


def _compare(one: int, other: int) -> int:
    return (one > other) - (one < other)


START, ZERO, WHOLE, DOTTED, FRACTION = range(
    5
)  # what was read: nothing, "0", digits, digits and ".", some of a fraction
State = tuple[int, int, int, int, int]  # that, digits read in this part, comparison with low, with high, remainder


class _Magnitude:
    """The automaton of the numerals without sign that fulfil a range; a state is described by a `State`."""

    def __init__(self, wanted: NumberRange) -> None:
        # every magnitude fulfils a lower bound of 0 or less
        is_free = wanted.low is None or wanted.low < 0 or (wanted.low == 0 and not wanted.low_open)
        self.low = None if is_free or wanted.low is None else _Bound(wanted.low)
        self.high = None if wanted.high is None else _Bound(wanted.high)
        self.low_open, self.high_open, self.is_integer = wanted.low_open, wanted.high_open, wanted.is_integer
        self.n_whole = max(len(bound.whole) for bound in (self.low, self.high) if bound) if self.low or self.high else 0
        self.n_fraction = max((len(bound.fraction) for bound in (self.low, self.high) if bound), default=0)
        self.modulus, self.n_decimals = 1, 0
        if wanted.divisor is not None:
            # the divisor is modulus / 10^n_decimals; integers cannot use the part of it that 10^n_decimals cancels
            self.n_decimals = _decimals(wanted.divisor)
            self.modulus = int(wanted.divisor * 10**self.n_decimals)
            if wanted.is_integer:
                self.modulus //= gcd(self.modulus, 10**self.n_decimals)
                self.n_decimals = 0
            self.n_fraction = max(self.n_fraction, self.n_decimals)
        self.has_divisor = wanted.divisor is not None

    def step(self, state: State, symbol: int) -> State | None:
        """State after a digit or the dot; None when no numeral goes on so."""
        part, n_read, low, high, rest = state
        if symbol == DOT_CLASS:
            if self.is_integer or part not in (ZERO, WHOLE):
                return None
            low = self.low.at_dot(low, n_read) if self.low else ABOVE
            high = self.high.at_dot(high, n_read) if self.high else BELOW
            return self._reduced(DOTTED, 0, low, high, rest)
        if part == ZERO:
            return None
        if part in (START, WHOLE):
            low = self.low.in_whole(low, n_read, symbol) if self.low else ABOVE
            high = self.high.in_whole(high, n_read, symbol) if self.high else BELOW
            part = ZERO if part == START and symbol == 0 else WHOLE
        else:
            if self.has_divisor and n_read >= self.n_decimals and symbol:
                return None
            low = self.low.in_fraction(low, n_read, symbol) if self.low else ABOVE
            high = self.high.in_fraction(high, n_read, symbol) if self.high else BELOW
            part = FRACTION
        if part != FRACTION or n_read < self.n_decimals:
            rest = (rest * 10 + symbol) % self.modulus
        return self._reduced(part, n_read + 1, low, high, rest)

    def _reduced(self, part: int, n_read: int, low: int, high: int, rest: int) -> State | None:
        """The same state for all that cannot be told apart by what follows; None when nothing good can follow."""
        if part in (DOTTED, FRACTION):
            if low == BELOW or high == ABOVE:
                return None
            is_open = low == EQUAL or high == EQUAL
            most = max(self.n_fraction if is_open else 0, self.n_decimals)
        else:
            if high == ABOVE and self.high and n_read >= len(self.high.whole):
                return None
            most = self.n_whole + 1
            if n_read > most:
                low, high = ABOVE, BELOW
        return part, min(n_read, most), low, high, rest

    def accepts(self, state: State) -> bool:
        part, n_read, low, high, rest = state
        if part in (START, DOTTED):
            return False
        n_fraction = n_read if part == FRACTION else 0
        if part != FRACTION:
            low = self.low.at_dot(low, n_read) if self.low else ABOVE
            high = self.high.at_dot(high, n_read) if self.high else BELOW
        low = self.low.at_end(low, n_fraction) if self.low else ABOVE
        high = self.high.at_end(high, n_fraction) if self.high else BELOW
        in_bounds = low >= self.low_open and high <= -self.high_open
        return in_bounds and rest * 10 ** max(self.n_decimals - n_fraction, 0) % self.modulus == 0


def _decimals(divisor: Fraction) -> int:
    """Decimal places of a divisor that was written in decimal digits."""
    n_decimals = 0
    while divisor.denominator != 1:
        divisor *= 10
        n_decimals += 1
    return n_decimals


def _magnitudes(nodes: RegexNodes, wanted: NumberRange) -> int:
    """Node of the numerals without sign that fulfil `wanted`."""
    if wanted.high is not None and (wanted.high < 0 or (wanted.high == 0 and wanted.high_open)):
        return nodes.EMPTY
    magnitude = _Magnitude(wanted)
    first: State = (START, 0, EQUAL if magnitude.low else ABOVE, EQUAL if magnitude.high else BELOW, 0)
    numbers = {first: 0}
    states = [first]
    rows: list[list[int]] = []
    for state in states:
        row = []
        for symbol in range(DOT_CLASS + 1):
            following = magnitude.step(state, symbol)
            if following is not None and following not in numbers:
                numbers[following] = len(states)
                states.append(following)
            row.append(-1 if following is None else numbers[following])
        rows.append([*row, -1])
        if len(states) > MAX_STATES:
            raise LimitExceeded(
                f"the bounds and multipleOf of a number need an automaton of more than {MAX_STATES} states",
                None,
                "Use a smaller multipleOf, or bounds with fewer digits.",
            )
    return automaton_node(nodes, rows, [magnitude.accepts(state) for state in states])


def automaton_node(nodes: RegexNodes, rows: list[list[int]], accepting: list[bool]) -> int:
    """Node of an automaton over digits and the dot, without the states from which nothing is accepted."""
    before: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for following in set(row) - {-1}:
            before[following].append(state)
    alive = {state for state, accepts in enumerate(accepting) if accepts}
    waiting = list(alive)
    while waiting:
        for state in before[waiting.pop()]:
            if state not in alive:
                alive.add(state)
                waiting.append(state)
    if 0 not in alive:
        return nodes.EMPTY
    class_of_byte = np.full(256, DOT_CLASS + 1, np.uint8)
    class_of_byte[0x30:0x3A] = range(10)
    class_of_byte[0x2E] = DOT_CLASS
    number = {state: at for at, state in enumerate(sorted(alive))}
    next_state = [[number.get(following, -1) for following in rows[state]] for state in number]
    return nodes.dfa(class_of_byte, np.array(next_state, np.int32), np.array([accepting[state] for state in number]))
