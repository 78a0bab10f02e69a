"""Automata over the digits of a numeral, as comparison with a bound, divisibility, a list of numbers; their products.

Each machine reads a numeral without sign, digit by digit, and says of its value one thing: how it compares with a
bound, whether it is a multiple, whether it is listed. A state from which a machine can no longer say what is wanted
is HOPELESS, so that a product of machines explores no further. They leave leading zeros and misplaced dots to
`SYNTAX`, which is one of them. What is negated has other accepting states.

The remainder by a divisor m is not kept as it is: remainders r and r' are one state when the same digits lead from
both to a multiple. With 10^k >= m that asks for equal (-r 10^k) mod m, and for equal (-r 10^j) mod m below 10^j for
each j < k. So a divisor of 1000 has 4 states, 12345 has 2470 (B. Alexeev, "Minimal DFA for testing divisibility",
Journal of Computer and System Sciences 69, 2004).

The product is explored depth first, and states with equal rows become one once what follows them is known. That is
minimal where the only cycles are loops, so that equal sets of numbers get equal nodes: everywhere but with divisors.
Intersections and complements of nodes would do the same when a document is read; they would have to prove at every
digit that some numeral is left.

In: decimal digits, divisors; machines for numbers with and without minus sign. Out: rows of states; a node. Cost: about
a microsecond a state, ten for divisors, 5 in products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from llmask.errors import LimitExceeded
from llmask.regex.nodes import RegexNodes
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
    accepts  whether what was read so far is as wanted: 1 or 0, or one bit for each exponent that may follow
    """

    rows: list[Row]
    accepts: Sequence[int]


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


def comparison(bound: Decimal, below: int, equal: int, above: int) -> Machine:
    """Numerals by how their value compares with `bound`, which is not negative; what each way accepts is given.

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


def unlisted(listed: Mapping[str, int], others: int = 1) -> Machine:
    """Numerals of every value; what is accepted after one that is listed is given, after all others `others`.

    Listed ones have neither sign nor zeros at the end of a fraction.
    """
    number_of = {"": 0}
    free = 1  # the state of every other number
    rows: list[Row] = [[], [free] * N_SYMBOLS]
    accepts = [others, others]
    zeros: dict[int, int] = {}  # of listed numbers with zeros at their end
    for accepted in listed.values():
        if accepted not in zeros:
            zeros[accepted] = len(rows)
            rows.append([len(rows)] + [free] * 9 + [HOPELESS])
            accepts.append(accepted)
    for numeral in listed:
        for end in range(1, len(numeral) + 1):
            if numeral[:end] not in number_of:
                number_of[numeral[:end]] = len(accepts)
                accepts.append(others)
        if len(accepts) > MAX_STATES:
            raise too_large()
    rows += [[]] * (len(accepts) - len(rows))
    for prefix in sorted(number_of, key=len):  # a prefix comes before what goes on from it
        state = number_of[prefix]
        accepted = accepts[state] = listed.get(prefix, accepts[state])
        row = [number_of.get(prefix + digit, free) for digit in "0123456789."]
        stays = 0 if "." in prefix else DOT  # what leaves the value as it is
        if accepted != others and row[stays] == free:
            row[stays] = zeros[accepted]
        elif accepted != others:
            accepts[row[stays]] = accepted
        rows[state] = row
    return Machine(rows, accepts)


def too_large() -> LimitExceeded:
    """The error for an automaton of more than `MAX_STATES` states."""
    return LimitExceeded(
        f"the bounds and divisors of a number need an automaton of more than {MAX_STATES} states",
        None,
        "Use a smaller multipleOf, or bounds with fewer digits.",
    )


# --- products of machines

MINUS, OTHER = DOT + 1, DOT + 2
LOOP = -2  # in a row: the state itself
STATE_WORK = 10  # units to find the row of a state

States = tuple[int, ...]  # one of each machine


def numerals_node(nodes: RegexNodes, positive: list[Machine] | None, negative: list[Machine] | None) -> int:
    """Node of the numerals that all machines accept, those with a minus sign read by machines of their own.

    Parameters
    ----------
    positive, negative : machines; None when no such numeral is wanted.

    Raises
    ------
    LimitExceeded
        When the automaton would have too many states.
    """
    product = Product()

    def explore(machines: list[Machine]) -> tuple[int, ...]:
        return product.explore(machines, lambda accepted: (accepted != 0, ()), MAX_STATES)

    start = (HOPELESS,) * MINUS if positive is None else explore(positive)
    if negative is not None:
        row = start if negative == positive else explore(negative)
        start = (*start, product.number(False, row))
    else:
        start = (*start, HOPELESS)
    return product.node(nodes, start, CLASS_OF_BYTE)


class Product:
    """States by number; the states that a row leads to are numbered before it."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.accepts: list[bool] = []
        self._known: dict[tuple[bool, tuple[int, ...]], int] = {}
        self._n_stand_ins = 0

    def number(self, accepts: bool, row: tuple[int, ...]) -> int:
        """Number of a state; HOPELESS when nothing is accepted from it."""
        known = self._known.get((accepts, row))
        if known is None:
            if not accepts and max(row) < 0 and min(row) >= LOOP:
                return HOPELESS
            if LOOP in row:  # equal to what it leads to, if it were that
                for other in set(row):
                    if other >= 0 and self._known.get((accepts, _looped(row, other))) == other:
                        self._known[(accepts, row)] = other
                        return other
            known = self._known[(accepts, row)] = len(self.rows)
            if LOOP in row:
                self._known[(accepts, _looped(row, known))] = known
            self.rows.append(row)
            self.accepts.append(accepts)
        return known

    def explore(
        self, machines: list[Machine], end: Callable[[int], tuple[bool, tuple[int, ...]]], most: int
    ) -> tuple[int, ...]:
        """Add what follows the start of several machines and return the row of the start.

        Parameters
        ----------
        end : by what all machines accept, whether a state does, and what its row has after the columns of theirs.
        most : states that there may be.

        Raises
        ------
        LimitExceeded
            When there are more.
        """
        first = len(self.rows)
        start: States = (0,) * len(machines)
        followers: dict[States, list[States | None]] = {}
        number_of: dict[States | None, int] = {None: HOPELESS}
        stand_ins: dict[States, int] = {}  # for states on a cycle, which their own row leads to
        row: tuple[int, ...] = ()
        stack = [start]
        while stack:
            states = stack[-1]
            following = followers.get(states)
            if following is None:
                rows = [machine.rows[at] for machine, at in zip(machines, states, strict=True)]
                each = zip(*rows, strict=True)
                following = followers[states] = [None if HOPELESS in after else after for after in each]
                spend(STATE_WORK)
                if first + len(followers) > most:
                    raise too_large()
                stack += [after for after in reversed(dict.fromkeys(following)) if after and after not in followers]
                continue
            stack.pop()
            if states in number_of:
                continue
            numbers = []
            for after in following:
                if after is None or after in number_of:
                    numbers.append(number_of[after])
                else:
                    numbers.append(LOOP if after == states else self._stand_in(stand_ins, after))
            accepted = [machine.accepts[at] for machine, at in zip(machines, states, strict=True)]
            accepts, further = end(reduce(and_, accepted))
            row = (*numbers, *further)
            if stack:
                number_of[states] = self.number(accepts, row)
        if stand_ins:
            meant = {stand_in: number_of[states] for states, stand_in in stand_ins.items()}
            for at in range(first, len(self.rows)):
                self.rows[at] = tuple([meant.get(number, number) for number in self.rows[at]])
        return row

    def _stand_in(self, stand_ins: dict[States, int], states: States) -> int:
        known = stand_ins.get(states)
        if known is None:
            self._n_stand_ins += 1
            known = stand_ins[states] = LOOP - self._n_stand_ins
        return known

    def node(self, nodes: RegexNodes, start: tuple[int, ...], class_of_byte: npt.NDArray[Any]) -> int:
        """Node of the automaton that starts with the row `start`, by the column of each byte."""
        if max(start) < 0:
            return nodes.EMPTY
        n_states = len(self.rows)
        table = np.full((n_states + 1, int(class_of_byte.max()) + 1), HOPELESS, np.int32)
        table[:-1, : len(self.rows[0])] = self.rows
        table[-1, : len(start)] = start
        table = np.where(table == LOOP, np.arange(n_states + 1)[:, None], table)[::-1]
        # the start comes first, which was last
        table = np.where(table == HOPELESS, HOPELESS, n_states - table)
        return nodes.dfa(class_of_byte, table, np.array([False, *reversed(self.accepts)]))


def _looped(row: tuple[int, ...], state: int) -> tuple[int, ...]:
    return tuple([state if after == LOOP else after for after in row])


CLASS_OF_BYTE = np.full(256, OTHER, np.uint8)
CLASS_OF_BYTE[0x30:0x3A] = range(10)
CLASS_OF_BYTE[0x2E] = DOT
CLASS_OF_BYTE[0x2D] = MINUS
