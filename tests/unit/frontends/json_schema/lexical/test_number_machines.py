"""Each machine against the arithmetic that it stands for, on every numeral of a few digits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.lexical import number_machines
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
    numerals_node,
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


def at_least(bound: str) -> Machine:
    return comparison(Decimal(bound), below=False, equal=True, above=True)


def at_most(bound: str) -> Machine:
    return comparison(Decimal(bound), below=True, equal=True, above=False)


@pytest.mark.parametrize(
    ("positive", "negative", "members", "others"),
    [
        ([], None, ["0", "7.25"], ["-1", "-0", "00"]),
        (None, [], ["-0", "-7.25"], ["1", "-"]),
        ([at_least("2"), at_most("30")], [at_most("0")], ["2", "30.0", "-0", "-0.00"], ["1.9", "30.01", "0", "-1"]),
        ([divisibility(Fraction(6), True), divisibility(Fraction(4), False)], None, ["6", "18.0"], ["12", "0", "2"]),
        ([unlisted(["3"]), at_most("3")], [unlisted(["3"])], ["2.9", "-4"], ["3", "-3.0", "3.01"]),
    ],
)
def test_what_all_machines_accept_is_accepted(
    judge: Any, positive: Any, negative: Any, members: list[str], others: list[str]
) -> None:
    syntax = [SYNTAX[MAY]]
    both = [None if machines is None else syntax + machines for machines in (positive, negative)]
    node = numerals_node(judge.nodes, *both)
    assert all(judge.nodes.matches(node, text.encode()) for text in members)
    assert not any(judge.nodes.matches(node, text.encode()) for text in ("", ".", "1.", *others))


def test_nothing_is_the_empty_node(judge: Any) -> None:
    machines = [
        SYNTAX[MAY],
        at_least("3.5"),
        at_most("3.75"),
        divisibility(Fraction(1, 10), True),
        unlisted(["3.5", "3.6", "3.7"]),
    ]
    assert numerals_node(judge.nodes, machines, None) == judge.nodes.EMPTY
    assert numerals_node(judge.nodes, None, machines) == judge.nodes.EMPTY
    assert numerals_node(judge.nodes, machines, machines) == judge.nodes.EMPTY
    assert numerals_node(judge.nodes, None, None) == judge.nodes.EMPTY


def states_of(nodes: Any, node: int) -> Iterator[tuple[int, list[int]]]:
    """Every state that a node's automaton can reach, with what follows it."""
    found = [node]
    for here in found:
        row = [nodes.derivative(here, byte) for byte in b"0123456789.-"]
        found += [after for after in dict.fromkeys(row) if after not in found]
        yield here, row


def n_distinct(nodes: Any, node: int) -> int:
    """States of the minimal automaton, by refinement of those that accept and those that do not."""
    rows = dict(states_of(nodes, node))
    block = {state: int(nodes.is_nullable(state)) for state in rows}
    while True:
        keys: dict[Any, int] = {}
        finer = {
            state: keys.setdefault((block[state], *(block[after] for after in row)), len(keys))
            for state, row in rows.items()
        }
        if len(set(finer.values())) == len(set(block.values())):
            return len(keys)
        block = finer


@pytest.mark.parametrize(
    "machines",
    [
        [at_least("0")],
        [at_least("17"), at_most("65535")],
        [comparison(Decimal(0), below=False, equal=False, above=True)],
        [at_least("1.25"), at_most("9.5"), divisibility(Fraction(1, 100), True)],
        [divisibility(Fraction(1), False)],
        [divisibility(Fraction(1000), True), at_most("999999")],
        [divisibility(Fraction(7), True)],
        [divisibility(Fraction(24), True)],
        [unlisted(["1", "2", "150"]), divisibility(Fraction(1), True)],
        [unlisted([str(number) for number in range(100)]), divisibility(Fraction(1), True), at_most("120")],
    ],
)
def test_no_two_states_are_equal(judge: Any, machines: list[Machine]) -> None:
    both = [SYNTAX[MAY], *machines]
    for negative in (None, both, [*both, at_most("3")]):
        node = numerals_node(judge.nodes, both, negative)
        assert len(list(states_of(judge.nodes, node))) == n_distinct(judge.nodes, node) > 1


def test_a_product_is_limited(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_machines, "MAX_STATES", 500)
    machines = [SYNTAX[MAY], divisibility(Fraction(31), True), divisibility(Fraction(37), False)]
    with pytest.raises(LimitExceeded, match="need an automaton of more than"):
        numerals_node(judge.nodes, machines, None)
