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
    MAX_STATES,
    MAY,
    SYNTAX,
    Machine,
    comparison,
    divisibility,
    numerals_node,
    unlisted,
)


@pytest.mark.parametrize(("divisor", "n_states"), [(1000, 4), (7, 7), (12345, 2470), (10**308, 309), (70, 8)])
def test_remainders_that_lead_to_the_same_multiples_are_one_state(divisor: int, n_states: int) -> None:
    """The states before a dot; after it, one more reads zeros and one, of every machine, what is not wanted."""
    assert len(divisibility(Fraction(divisor), True).rows) == n_states + 2


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
        unlisted({str(number): 0 for number in range(10**6, 10**6 + MAX_STATES)})


def at_least(bound: str) -> Machine:
    return comparison(Decimal(bound), below=False, equal=True, above=True)


def at_most(bound: str) -> Machine:
    return comparison(Decimal(bound), below=True, equal=True, above=False)


def test_nothing_is_the_empty_node(judge: Any) -> None:
    machines = [
        SYNTAX[MAY],
        at_least("3.5"),
        at_most("3.75"),
        divisibility(Fraction(1, 10), True),
        unlisted({"3.5": 0, "3.6": 0, "3.7": 0}),
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
        [unlisted({"1": 0, "2": 0, "150": 0}), divisibility(Fraction(1), True)],
        [unlisted({str(number): 0 for number in range(100)}), divisibility(Fraction(1), True), at_most("120")],
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
