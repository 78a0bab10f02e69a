"""Each machine against its rules as look-arounds: the same names, proved and not sampled."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats import idna_rules
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_machines import json_machine
from tests.reference import host_names

GROUPS = (host_names.order, host_names.joiners, host_names.contexts, host_names.direction, host_names.hyphens)


@pytest.mark.parametrize("number", range(len(GROUPS)), ids=[group.__name__ for group in GROUPS])
def test_a_machine_accepts_what_its_rules_say(judge: Any, number: int) -> None:
    """Within the alphabet, two nodes are equal when neither holds what the other does not."""
    nodes = judge.nodes
    alphabet = host_names.text_class(
        idna_rules.permitted().union(idna_rules.ASCII, idna_rules.DOTS).intersect(example_alphabet())
    )
    within = compile_pattern(nodes, f"^[{alphabet}]+$", "ecma", json_string=True)
    made = nodes.intersect([within, json_machine(nodes, idna_rules.machines()[number])])
    said = compile_pattern(nodes, f"^{''.join(GROUPS[number]())}[^]*$", "ecma", json_string=True)
    said = nodes.intersect([within, said])
    assert nodes.is_empty(nodes.intersect([made, nodes.complement(said)]))
    assert nodes.is_empty(nodes.intersect([said, nodes.complement(made)]))
    assert not nodes.is_empty(made)
