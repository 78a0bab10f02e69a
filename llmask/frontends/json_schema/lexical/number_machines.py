"""Automata over the digits of a numeral: comparison with a bound, divisibility, a list of numbers.

Each machine reads a numeral without sign, digit by digit, and says of its value one thing: how it compares with a
bound, whether it is a multiple, whether it is listed. A state from which a machine can no longer say what is wanted
is HOPELESS, so that a product of machines explores no further. They leave leading zeros and misplaced dots to
`SYNTAX`, which is one of them. What is negated has other accepting states.

The remainder by a divisor m is not kept as it is: remainders r and r' are one state when the same digits lead from
both to a multiple. With 10^k >= m that asks for equal (-r 10^k) mod m, and for equal (-r 10^j) mod m below 10^j for
each j < k. So a divisor of 1000 has 4 states, 12345 has 2470 (B. Alexeev, "Minimal DFA for testing divisibility",
Journal of Computer and System Sciences 69, 2004).

In: decimal digits, divisors. Out: rows of states. Cost: about a microsecond a state, ten for divisors.
"""

from __future__ import annotations

from collections.abc import Collection
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from llmask.errors import LimitExceeded
from llmask.work import spend

MAX_STATES = 20_000  # of one automaton
MAX_DIGITS = 1200  # of a bound or divisor, before and after its dot: the largest double has 309
MAX_MODULUS_BITS = 4000  # that many digits

DOT = 10  # 0 to 9 are the digits
N_SYMBOLS = 11
HOPELESS = -1

MAY, NEVER, MUST = "may", "never", "must"  # whether a numeral has a fraction

Row = list[int]


class Machine(NamedTuple):
    """A deterministic automaton over digits and the dot; state 0 starts.

    rows     state after each of the digits 0 to 9 and the dot, or HOPELESS
    accepts  whether what was read so far is as wanted
    """

    rows: list[Row]
    accepts: list[bool]


def _syntax(fraction: str) -> Machine:
    """JSON numerals without sign and exponent: nothing read, "0", digits, digits and ".", some of a fraction."""
    begun = HOPELESS if fraction == NEVER else 3
    rows = [[1] + [2] * 9 + [-1], [-1] * 10 + [begun], [2] * 10 + [begun], [4] * 10 + [-1], [4] * 10 + [-1]]
    is_whole = fraction != MUST
    return Machine(rows, [False, is_whole, is_whole, False, True])


SYNTAX = {fraction: _syntax(fraction) for fraction in (MAY, NEVER, MUST)}
# nothing but zeros after the dot, if there is one; and the contrary
WHOLE = Machine([[0] * 10 + [1], [1] + [HOPELESS] * 10], [True, True])
NOT_WHOLE = Machine([[0] * 10 + [1], [1] + [2] * 9 + [HOPELESS], [2] * 11], [False, False, True])


def n_decimals_of(fraction: Fraction) -> int:
    """How many decimals a fraction has that has finitely many."""
    n = 0
    while 10**n % fraction.denominator:
        n += 1
    return n


def comparison(bound: Decimal, below: bool, equal: bool, above: bool) -> Machine:
    """Numerals whose value compares in one of the wanted ways with `bound`, which is not negative.

    Raises
    ------
    LimitExceeded
        When the bound has too many digits.
    """
    if abs(bound.adjusted()) > MAX_DIGITS or len(bound.as_tuple().digits) > MAX_DIGITS:
        raise LimitExceeded(f"a bound of a number has more than {MAX_DIGITS} digits", None, "Use a smaller bound.")
    whole, _, fraction = format(bound.copy_abs(), "f").partition(".")
    fraction = fraction.rstrip("0")
    # whole digits: after n of them, 3 n - 2, 3 n - 1, 3 n: less, equal, greater so far; no numeral begins with 0 0
    # then: settled below, settled above, equal after each number of digits of the fraction
    n_whole = len(whole)
    settled = 3 * n_whole + 1
    is_below, is_above = settled if below else HOPELESS, settled + 1 if above else HOPELESS
    spend(5 + 2 * n_whole)
    rows: list[Row] = []
    for at, digit in enumerate(map(int, whole)):
        less = 3 * at + 1
        greater = less + 2 if above or at + 1 < n_whole else HOPELESS
        if at:
            rows.append([less] * 10 + [is_below])
        rows.append([less] * digit + [less + 1] + [greater] * (9 - digit) + [is_below])
        if at:
            rows.append([greater] * 10 + [is_below])
    rows.append([is_above] * 10 + [is_below])
    rows.append([is_above] * 10 + [settled + 2])
    rows.append([is_above] * 10 + [is_above])
    rows.append([settled] * N_SYMBOLS)
    rows.append([settled + 1] * N_SYMBOLS)
    for at, digit in enumerate(map(int, fraction)):
        rows.append([is_below] * digit + [settled + 3 + at] + [is_above] * (9 - digit) + [HOPELESS])
    rows.append([len(rows)] + [is_above] * 9 + [HOPELESS])
    n_fraction = len(fraction)
    at_end = below if fraction else equal
    accepts = [below] * (3 * n_whole - 2) + [below, at_end, above, below, above] + [below] * n_fraction + [equal]
    return Machine(rows, accepts)


def divisibility(divisor: Fraction, is_wanted: bool) -> Machine:
    """Numerals whose value is, or is not, a multiple of `divisor`, which has finitely many decimals.

    Raises
    ------
    LimitExceeded
        When there are too many states.
    """
    if divisor == 1:
        return WHOLE if is_wanted else NOT_WHOLE
    n_decimals = 0
    while divisor.denominator != 1:
        divisor *= 10
        n_decimals += 1
        if n_decimals > MAX_DIGITS:
            raise LimitExceeded(f"multipleOf has more than {MAX_DIGITS} decimals", None, "Use a larger multipleOf.")
    modulus = divisor.numerator
    if modulus.bit_length() > MAX_MODULUS_BITS:
        raise LimitExceeded(f"multipleOf has more than {MAX_DIGITS} digits", None, "Use a smaller multipleOf.")
    core, n_zeros = modulus, 0  # a multiple of 10^n core is one of core with n zeros at its end
    while core % 10 == 0:
        core //= 10
        n_zeros += 1
    is_coprime = core % 2 != 0 and core % 5 != 0  # no two remainders are one
    powers = [10**n for n in range(max(n_decimals, len(str(core - 1))) + 1)]  # the last has as many digits as any rest

    def wanted_digits(rest: int) -> tuple[int, ...]:
        """What the next digits must be to make a multiple, for each number of them: all that tells remainders apart."""
        found = [0]
        if rest % core == 0:
            above = rest // core
            while found[0] < n_zeros and above % 10 == 0:
                above //= 10
                found[0] += 1
        if is_coprime:
            return found[0], rest % core
        digits = -rest * powers[n_decimals] % core
        for power in powers[n_decimals:]:
            found.append(digits if digits < power else -1)
            if digits == 0:  # then so for all that follow
                break
            digits = digits * 10 % core
        return tuple(found)

    never = HOPELESS if is_wanted else 1
    rows: list[Row] = [[], [1] * N_SYMBOLS]
    accepts = [False, True]
    # a state is a remainder before the dot, or how many decimals are left and what they must be, modulo the modulus
    number_of: dict[tuple[int, ...], int] = {wanted_digits(0): 0}
    kinds: dict[int, tuple[int, ...]] = {0: (0,)}
    waiting = [0]

    def number(key: tuple[int, ...], kind: tuple[int, ...]) -> int:
        known = number_of.get(key)
        if known is None:
            known = number_of[key] = len(rows)
            if known > MAX_STATES:
                raise too_large()
            rows.append([])
            accepts.append(False)
            kinds[known] = kind
            waiting.append(known)
        return known

    def decimals(n_left: int, digits: int) -> int:
        return number((-2, n_left, digits), (n_left, digits)) if digits < powers[n_left] else never

    for state in waiting:
        kind = kinds[state]
        if len(kind) == 1:
            rest = kind[0]
            followed = [(rest * 10 + digit) % modulus for digit in range(10)]
            row = [number(wanted_digits(after), (after,)) for after in followed]
            digits = -rest * powers[n_decimals] % modulus
            row.append(decimals(n_decimals, digits))
        else:
            n_left, digits = kind
            if n_left:
                power = powers[n_left - 1]
                row = [decimals(n_left - 1, (digits - digit * power) % modulus) for digit in range(10)]
            else:
                row = [state] + [never] * 9
            row.append(HOPELESS)
        rows[state] = row
        accepts[state] = (digits == 0) == is_wanted
    return Machine(rows, accepts)


def unlisted(numerals: Collection[str]) -> Machine:
    """Numerals whose value is none of those listed, which have neither sign nor zeros at the end of a fraction."""
    listed = set(numerals)
    number_of = {"": 0}
    # the state of every other number; a listed number with zeros at its end
    free, zeros = 1, 2
    rows: list[Row] = [[], [free] * N_SYMBOLS, [zeros] + [free] * 9 + [HOPELESS]]
    accepts = [True, True, False]
    for numeral in listed:
        for end in range(1, len(numeral) + 1):
            if numeral[:end] not in number_of:
                number_of[numeral[:end]] = len(accepts)
                accepts.append(True)
        if len(accepts) > MAX_STATES:
            raise too_large()
    rows += [[]] * (len(accepts) - len(rows))
    for prefix in sorted(number_of, key=len):  # a prefix comes before what goes on from it
        state = number_of[prefix]
        is_listed = prefix in listed or not accepts[state]
        accepts[state] = not is_listed
        row = [number_of.get(prefix + digit, free) for digit in "0123456789."]
        stays = 0 if "." in prefix else DOT  # what leaves the value as it is
        if is_listed and row[stays] == free:
            row[stays] = zeros
        elif is_listed:
            accepts[row[stays]] = False
        rows[state] = row
    return Machine(rows, accepts)


def too_large() -> LimitExceeded:
    """The error for an automaton of more than `MAX_STATES` states."""
    return LimitExceeded(
        f"the bounds and divisors of a number need an automaton of more than {MAX_STATES} states",
        None,
        "Use a smaller multipleOf, or bounds with fewer digits.",
    )
