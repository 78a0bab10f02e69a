"""Numbers with an exponent beside what constrains them: from 1e16 on and below 1e-4, where serialisers write one.

    numeral    mantissa, e or E, exponent; with a minus sign where the number is negative
    mantissa   a digit from 1 to 9, and a fraction or none: 1, 1.5, 1.50
    exponent   -324 to -5 or +16 to +308, the plus sign and the zero of -05 written or not

Every float of Python, JavaScript or Rust is written so, or without exponent. With the mantissa normalised, magnitudes
compare as pairs (exponent, mantissa). So a machine reads the mantissa, and its state says which exponents may follow:

    at least 2.5e20    after 2, 2.4:  from 21 on       after 2.5, 3:  from 20 on
    multiple of 100    after 1.23:    from 16 on       after 1.2345678901234567 (as 12345678901234567):  from 18 on

As exponents are bounded on both sides and not 0, most bounds ask for no more than their sign: `minimum` 0 and 1e-3 have
one automaton. Beside divisors a mantissa has at most 17 digits, as many as a double needs, and 17 states for each of
their remainders; where that is more than MAX_SCIENTIFIC, numbers have no exponent.

In: bounds and divisors of magnitudes. Out: a node. Cost: 0.5 to 3 ms, once for each combination that differs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import inf
from typing import NamedTuple

import numpy as np

from llmask.errors import LimitExceeded
from llmask.regex.nodes import RegexNodes
from llmask.regex.word_lists import literals_node
from llmask.work import spend

from .listed_numbers import listed_numbers_node
from .number_machines import (
    DOT,
    HOPELESS,
    STATE_WORK,
    Machine,
    Product,
    Row,
    comparison,
    divisibility,
    n_decimals_of,
    unlisted,
)

LEAST, MOST = Decimal("5e-324"), Decimal("1.7976931348623157e308")  # the doubles above 0
SMALL, LARGE = range(-324, -4), range(16, 309)
EXPONENTS = (*SMALL, *LARGE)  # machines accept sets of them, the first one as the lowest bit
EVERY = (1 << len(EXPONENTS)) - 1
ABOVE_SMALL, LEAST_LARGE = Decimal("1e-4"), Decimal("1e16")
MAX_FRACTION = 16  # digits of a mantissa beside divisors
MAX_SCIENTIFIC = 1000  # states
WHOLE_LARGE = 17  # digits of 1e16
SMALL_ZEROS = 5  # decimals of a divisor whose multiples may be below 1e-4
SMALL_NUMERALS = (b"0.0000", b"-0.0000")

SYMBOLS = "0123456789.-+e"
N_SYMBOLS = len(SYMBOLS)


class Magnitudes(NamedTuple):
    """Bounds of a magnitude, or None; and whether a bound itself is excluded."""

    low: Decimal | None
    low_open: bool
    high: Decimal | None
    high_open: bool


Words = dict[tuple[str, ...], int]  # states by the texts that are accepted from them
SYNTAX = Machine([[-1] + [1] * 9 + [-1], [-1] * 10 + [2], [3] * 10 + [-1], [3] * 10 + [-1]], [0, EVERY, 0, EVERY])


def scientific_node(
    nodes: RegexNodes,
    positive: Magnitudes | None,
    negative: Magnitudes | None,
    divisor: Fraction | None,
    not_divisors: frozenset[Fraction],
    excluded: Iterable[Decimal],
) -> int:
    """Node of the numerals with an exponent that fulfil all of it; `nodes.EMPTY` when no numeral does.

    Parameters
    ----------
    positive, negative : bounds of the magnitudes; None when no such number is wanted.
    divisor, not_divisors, excluded : as in `numbers.NumberRange`; those excluded fulfil the rest.

    Examples
    --------
    >>> node = scientific_node(nodes, Magnitudes(None, False, Decimal("2e-5"), False), None, None, frozenset(), [])
    >>> [nodes.matches(node, text) for text in (b"2e-05", b"1.5E-7", b"2.1e-05", b"1e-04", b"0.00001")]
    [True, True, False, False, False]
    """
    members = []
    for magnitudes, is_negative in ((positive, False), (negative, True)):
        if magnitudes is None:
            continue
        pairs = frozenset(_parts(value) for value in excluded if (value < 0) == is_negative and value)
        node = _of_one_sign(nodes, magnitudes, divisor, not_divisors, pairs)
        members.append(nodes.concat([nodes.literal(b"-"), node]) if is_negative else node)
    return nodes.union(members)


def _of_one_sign(
    nodes: RegexNodes,
    magnitudes: Magnitudes,
    divisor: Fraction | None,
    not_divisors: frozenset[Fraction],
    excluded: frozenset[tuple[str, int]],
) -> int:
    low, low_open, high, high_open = magnitudes
    if low is None or low < LEAST:
        low, low_open = LEAST, False
    if high is None or high > MOST:
        high, high_open = MOST, False
    multiple = None if divisor is None else _as_decimal(divisor)
    if multiple is not None and multiple > low:  # none but 0 is smaller
        low, low_open = multiple, False
    if ABOVE_SMALL <= low < LEAST_LARGE:
        low, low_open = LEAST_LARGE, False
    if ABOVE_SMALL <= high < LEAST_LARGE:
        high, high_open = ABOVE_SMALL, True
    if low > high:
        return nodes.EMPTY
    excluded = frozenset(pair for pair in excluded if pair[1] in EXPONENTS)
    key = (__name__, low, low_open, high, high_open, divisor, not_divisors, excluded)
    found = nodes.memo.get(key)
    if found is None:
        (least_mantissa, least), (most_mantissa, most) = _parts(low), _parts(high)
        at_least = [_from(least + more) for more in (1, low_open, 0)]
        at_most = [EVERY & ~_from(most + more) for more in (1, not high_open, 0)]
        machines = [SYNTAX, comparison(Decimal(least_mantissa), *at_least)]
        machines.append(comparison(Decimal(most_mantissa), *at_most))
        if excluded:
            left: dict[str, int] = {}
            for mantissa, exponent in excluded:
                left[mantissa] = left.get(mantissa, EVERY) & ~(_from(exponent) & ~_from(exponent + 1))
            machines.append(unlisted(left, EVERY))
        product = Product()
        try:
            if divisor is not None:
                machines.append(_divisibility(divisor, True))
            machines += [_divisibility(other, False) for other in sorted(not_divisors)]
            start = _explore(product, machines)
        except LimitExceeded:
            spend(0)  # where all work is spent nothing else can be tried
            found = nodes.EMPTY
        else:
            found = product.node(nodes, start, CLASS_OF_BYTE)
        nodes.memo[key] = found
    return int(found)


def _as_decimal(divisor: Fraction) -> Decimal:
    """A fraction with finitely many decimals."""
    n_decimals = n_decimals_of(divisor)
    return Decimal((0, Decimal(int(divisor * 10**n_decimals)).as_tuple().digits, -n_decimals))


def _parts(value: Decimal) -> tuple[str, int]:
    """Mantissa of the magnitude of a number that is not 0, without zeros at its end, and the exponent."""
    digits = "".join(map(str, value.as_tuple().digits)).strip("0")
    return digits[0] + ("." + digits[1:] if digits[1:] else ""), value.adjusted()


def _from(exponent: float) -> int:
    """The exponents from one on."""
    n_below = bisect_left(EXPONENTS, exponent)
    return EVERY >> n_below << n_below


# --- automata


def _divisibility(divisor: Fraction, is_wanted: bool) -> Machine:
    """Mantissas of at most 17 digits, and the exponents with which they are, or are not, multiples of `divisor`.

    With digits D, the last f in the fraction, and a divisor p / 10^n the number D 10^(x - f) is a multiple exactly
    when p divides D 10^(x - f + n): from some exponent x on, as many as D needs zeros at its end. Zeros at the end of
    D change nothing; where x - f + n may be negative, that is remembered.
    """
    n_decimals = n_decimals_of(divisor)
    divisor *= 10**n_decimals
    core = divisor.numerator
    while core % 2 == 0 or core % 5 == 0:
        core //= 2 if core % 2 == 0 else 5
    if core > MAX_SCIENTIFIC:  # as many remainders as that are told apart
        raise _too_many()
    remainders = divisibility(divisor, True)
    spend(STATE_WORK * len(remainders.rows))
    zeros_of: dict[int, float] = {}

    def n_zeros(state: int) -> float:
        """How many zeros at the end of what was read make a multiple."""
        found = zeros_of.get(state)
        if found is None:
            here, n = state, 0
            while not remainders.accepts[here] and n < divisor.numerator.bit_length():
                here, n = remainders.rows[here][0], n + 1
            found = zeros_of[state] = n if remainders.accepts[here] else inf
        return found

    # a state is that of the remainder, the number of digits of the fraction, the exponents that make a multiple
    number_of = {(0, -1, 0): 0}
    rows: list[Row] = []
    accepts: list[int] = []
    for state, n_fraction, multiples in (waiting := [(0, -1, 0)]):
        spend(STATE_WORK)
        row = []
        for digit, after in enumerate(remainders.rows[state][:DOT]):
            following = multiples
            if digit or n_decimals < SMALL_ZEROS:
                following = _from(n_fraction + 1 - n_decimals + n_zeros(after))
            key = after, n_fraction + 1, following
            if key[1] > MAX_FRACTION:
                row.append(HOPELESS)
                continue
            if key not in number_of:
                number_of[key] = len(number_of)
                waiting.append(key)
                if len(waiting) > MAX_SCIENTIFIC:
                    raise _too_many()
            row.append(number_of[key])
        rows.append([*row, number_of[state, n_fraction, multiples]])
        accepts.append(multiples if is_wanted else EVERY & ~multiples)
    return Machine(rows, accepts)


def _too_many() -> LimitExceeded:
    return LimitExceeded("a divisor has too many remainders", None, "Use a smaller multipleOf.")


def _explore(product: Product, machines: list[Machine]) -> tuple[int, ...]:
    """Row of the start."""
    known: dict[int, int] = {}
    words: Words = {}

    def end(exponents: int) -> tuple[bool, tuple[int, ...]]:
        if exponents not in known:
            known[exponents] = _add_exponents(product, exponents, words)
        return False, (HOPELESS, HOPELESS, known[exponents])

    return product.explore(machines, end, MAX_SCIENTIFIC)


def _add_exponents(product: Product, exponents: int, words: Words) -> int:
    """State after the letter."""
    found = [exponent for n, exponent in enumerate(EXPONENTS) if exponents >> n & 1]
    row = [HOPELESS] * N_SYMBOLS
    for part in (SMALL, LARGE):
        inside = [exponent for exponent in found if exponent in part]
        digits = tuple(str(abs(at)) for at in inside) + tuple(f"0{-at}" for at in inside if -10 < at < 0)
        spend(len(digits))
        state = _add_words(product, digits, words)
        if part is SMALL:
            row[SYMBOLS.index("-")] = state
        elif state != HOPELESS:
            row[SYMBOLS.index("+")] = state
            row[:DOT] = product.rows[state][:DOT]
    return product.number(False, tuple(row))


def _add_words(product: Product, texts: tuple[str, ...], words: Words) -> int:
    """State from which some texts of digits are accepted."""
    found = words.get(texts)
    if found is None:
        row = [HOPELESS] * N_SYMBOLS
        for symbol in dict.fromkeys(text[0] for text in texts if text):
            followed = tuple([text[1:] for text in texts if text[:1] == symbol])
            row[int(symbol)] = _add_words(product, followed, words)
        found = words[texts] = product.number("" in texts, tuple(row))
    return found


# --- listed numbers


def listed_with_exponent(nodes: RegexNodes, numerals: Sequence[bytes]) -> int:
    """Node of the numerals with an exponent of listed numbers, `nodes.EMPTY` where no double among them has one.

    Parameters
    ----------
    numerals : as `listed_numbers.plain_numeral` writes them.
    """
    mantissas: dict[int, list[bytes]] = {}
    for numeral in numerals:
        if len(numeral) < WHOLE_LARGE and not numeral.startswith(SMALL_NUMERALS):
            continue
        spend(5)
        value = Decimal(numeral.decode())
        exponent = value.adjusted()
        if (exponent in SMALL or exponent in LARGE) and Decimal(repr(float(value))) == value:
            mantissa, _ = _parts(value)
            mantissas.setdefault(exponent, []).append(b"-" * (value < 0) + mantissa.encode())
    members = []
    for exponent, found in mantissas.items():
        size = abs(exponent)
        signed = (f"-{size}", f"-{size:02}") if exponent < 0 else (f"+{size}", f"{size}")
        endings = [letter + text.encode() for letter in (b"e", b"E") for text in dict.fromkeys(signed)]
        members.append(nodes.concat([listed_numbers_node(nodes, found), literals_node(nodes, endings)]))
    return nodes.union(members) if members else nodes.EMPTY


CLASS_OF_BYTE = np.full(256, N_SYMBOLS, np.uint8)
for at, symbol in enumerate(SYMBOLS):
    CLASS_OF_BYTE[ord(symbol)] = CLASS_OF_BYTE[ord(symbol.upper())] = at
