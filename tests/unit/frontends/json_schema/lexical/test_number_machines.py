"""Each machine against the arithmetic that it stands for, on every numeral of a few digits."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical.number_machines import (
    HOPELESS,
    MAX_STATES,
    MAY,
    MUST,
    NEVER,
    SYNTAX,
    Machine,
    comparison,
    divisibility,
    unlisted,
)

SYMBOLS = "0123456789."
NUMERALS = [str(whole) for whole in range(300)]
NUMERALS += [f"{whole}.{part:0{n}}" for whole in (*range(12), 99, 100, 101) for n in (1, 2, 3) for part in range(10**n)]


def accepts(machine: Machine, numeral: str) -> bool:
    state = 0
    for letter in numeral:
        state = machine.rows[state][SYMBOLS.index(letter)]
        if state == HOPELESS:
            return False
    return machine.accepts[state]


@pytest.mark.parametrize("fraction", [MAY, NEVER, MUST])
def test_syntax_is_that_of_numerals(fraction: str) -> None:
    for numeral in NUMERALS:
        assert accepts(SYNTAX[fraction], numeral) == (fraction == MAY or ("." in numeral) == (fraction == MUST))
    for text in ("", "00", "01", ".", "1.", ".5", "1..2", "1.2.3", "00.1"):
        assert not accepts(SYNTAX[fraction], text)


@pytest.mark.long
@pytest.mark.parametrize(
    "bound", ["0", "0.05", "1", "7.5", "9.99", "10", "11.123", "100", "101.5", "250", "0.10", "3e1"]
)
@pytest.mark.parametrize("wanted", range(1, 8))
def test_comparisons_are_exact(bound: str, wanted: int) -> None:
    below, equal, above = wanted & 1 > 0, wanted & 2 > 0, wanted & 4 > 0
    machine = comparison(Decimal(bound), below, equal, above)
    for numeral in NUMERALS:
        value, limit = Decimal(numeral), Decimal(bound)
        assert accepts(machine, numeral) == (below if value < limit else equal if value == limit else above), numeral


@pytest.mark.long
@pytest.mark.parametrize("divisor", ["1", "2", "7", "8", "10", "12", "25", "100", "120", "1000", "64", "2.5", "0.3"])
@pytest.mark.parametrize("smaller", [1, 10, 1000])
def test_divisibility_is_exact(divisor: str, smaller: int) -> None:
    exact = Fraction(divisor) / smaller
    is_multiple, is_none = divisibility(exact, True), divisibility(exact, False)
    for numeral in NUMERALS:
        divides = (Fraction(numeral) / exact).denominator == 1
        assert accepts(is_multiple, numeral) == divides
        assert accepts(is_none, numeral) != divides


@pytest.mark.parametrize(("divisor", "n_states"), [(1000, 4), (7, 7), (12345, 2470), (10**308, 309), (70, 8)])
def test_remainders_that_lead_to_the_same_multiples_are_one_state(divisor: int, n_states: int) -> None:
    """The states before a dot; after it, one more reads zeros and one, of every machine, what is not wanted."""
    assert len(divisibility(Fraction(divisor), True).rows) == n_states + 2


def test_what_is_listed_is_left_out_in_every_writing() -> None:
    for listed in (["0"], ["1", "12", "12.5", "12.505", "0.5", "0.05"], ["10", "100", "1"], ["7.25"], ["99.001", "99"]):
        machine = unlisted(listed)
        values = {Decimal(text) for text in listed}
        for numeral in NUMERALS + [text + "0" for text in NUMERALS if "." in text]:
            assert accepts(machine, numeral) == (Decimal(numeral) not in values), (listed, numeral)


def test_machines_are_limited() -> None:
    with pytest.raises(LimitExceeded, match="more than 1200 digits"):
        comparison(Decimal("1e1201"), True, True, False)
    with pytest.raises(LimitExceeded, match=f"more than {MAX_STATES} states"):
        divisibility(Fraction(1_000_003), True)
    with pytest.raises(LimitExceeded, match="multipleOf has more than 1200 digits"):
        divisibility(Fraction(7**5000), True)
    with pytest.raises(LimitExceeded, match="multipleOf has more than 1200 decimals"):
        divisibility(Fraction(1, 10**1300), True)
    with pytest.raises(LimitExceeded, match=f"more than {MAX_STATES} states"):
        unlisted([str(number) for number in range(10**6, 10**6 + MAX_STATES)])
