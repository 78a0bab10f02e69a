"""Each machine against its rules as look-arounds: the same names, proved and not sampled."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

import llmask
from llmask.frontends.json_schema.formats import idna_rules
from llmask.frontends.regex import compile_pattern
from llmask.regex.code_points import CodePointSet
from tests.reference import host_names
from tests.reference.json_machine import json_machine

GROUPS = (host_names.order, host_names.joiners, host_names.contexts, host_names.direction, host_names.hyphens)
# all that the contextual rules tell apart; with every ideograph the proof takes ten seconds
FEW = CodePointSet.from_ranges([(0x2D, 0x7A), (0xB7, 0xB7), (0x370, 0x6FF), (0x3002, 0x3002), (0x30A1, 0x30FF)])


@pytest.fixture(scope="module")
def nodes() -> Any:
    limits = llmask.Limits(max_emptiness_steps=10**7)
    return (
        llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"b"], eos=0), limits=limits).json_schema(True).store.nodes
    )


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS, ids=[group.__name__ for group in GROUPS])
def test_a_machine_accepts_what_its_rules_say(nodes: Any, group: Callable[[], list[str]]) -> None:
    """Within the alphabet, two nodes are equal when neither holds what the other does not."""
    alphabet = idna_rules.permitted().union(idna_rules.ASCII, idna_rules.DOTS)
    if group is host_names.contexts:
        alphabet = alphabet.intersect(FEW)
    within = compile_pattern(nodes, f"^[{host_names.text_class(alphabet)}]+$", "ecma", json_string=True)
    made = nodes.intersect([within, json_machine(nodes, idna_rules.machine(group.__name__))])
    rules = compile_pattern(nodes, f"^{''.join(group())}[^]*$", "ecma", json_string=True)
    said = nodes.intersect([within, rules])
    assert nodes.is_empty(nodes.intersect([made, nodes.complement(said)]))
    assert nodes.is_empty(nodes.intersect([said, nodes.complement(made)]))
    assert not nodes.is_empty(made)


def test_only_the_first_machine_refuses_what_is_not_permitted(nodes: Any) -> None:
    refused = compile_pattern(nodes, "^[_!\u0378\u3164]$", "ecma", json_string=True)
    found = [nodes.intersect([refused, json_machine(nodes, machine)]) for machine in idna_rules.machines()]
    assert [nodes.is_empty(node) for node in found] == [True, False, False]


def test_groups_that_share_a_machine_agree_on_names() -> None:
    """Sets of the same name are one set, or joining would mix them up."""
    for names in idna_rules.JOINED:
        sets = [idna_rules.GROUPS[name]()[1] for name in names]
        for one, two in combinations(sets, 2):
            assert all(one[name].bounds == two[name].bounds for name in one.keys() & two.keys())


def test_joined_machines_refuse_what_one_of_them_does(nodes: Any) -> None:
    alphabet = idna_rules.permitted().union(idna_rules.ASCII, idna_rules.DOTS).intersect(FEW)
    within = compile_pattern(nodes, f"^[{host_names.text_class(alphabet)}]+$", "ecma", json_string=True)
    for names in idna_rules.JOINED:
        joined = nodes.intersect([within, json_machine(nodes, idna_rules.machine(*names))])
        apart = nodes.intersect([within, *(json_machine(nodes, idna_rules.machine(name)) for name in names)])
        assert nodes.is_empty(nodes.intersect([joined, nodes.complement(apart)]))
        assert nodes.is_empty(nodes.intersect([apart, nodes.complement(joined)]))
