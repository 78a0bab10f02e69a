"""Machines over code points read every JSON spelling, in every style."""

from __future__ import annotations

import random
from typing import Any

import pytest

from llmask.frontends.regex.json_machines import json_machine
from llmask.frontends.regex.json_strings import StringStyle, json_char
from llmask.frontends.regex.machines import Machine, Rule, machine_of
from llmask.regex.code_points import TEXT, CodePointSet
from tests.reference.json_spellings import spell

PARTS = [CodePointSet.from_ranges(ranges) for ranges in (
    [(0, 0x2F), (0x5C, 0x5C), (0xE0, 0xEF)], [(0x30, 0x5B), (0x900, 0xD7FF)], [(0xE000, 0x103FF), (0x12345, 0x2FFFF)],
)]  # fmt: skip
STYLES = [StringStyle(), StringStyle(escapes='"\\nt'), StringStyle(escapes="")]


def one_of(members: CodePointSet) -> Machine:
    """The machine of one character of a set."""
    rule = Rule(0, lambda n, kinds: 1 if n == 0 and "in" in kinds else None, lambda n: n == 1)
    return machine_of([rule], {"in": members}, TEXT)


@pytest.mark.parametrize("style", STYLES, ids=["all", "some", "none"])
@pytest.mark.parametrize("members", PARTS, ids=range(3))
def test_one_character_of_a_set_is_the_node_of_its_spellings(judge_nodes: Any, style: Any, members: Any) -> None:
    nodes = judge_nodes.variant(style)
    made, said = json_machine(nodes, one_of(members)), json_char(nodes, members)
    assert nodes.is_empty(nodes.intersect([made, nodes.complement(said)]))
    assert nodes.is_empty(nodes.intersect([said, nodes.complement(made)]))


@pytest.fixture(scope="module")
def judge_nodes() -> Any:
    import llmask

    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b"], eos=0)
    return llmask.Compiler(tokenizer).json_schema(True)._loaded.store.nodes


def test_states_pass_through_characters_of_any_length(nodes: Any, rng: random.Random) -> None:
    """An even number of characters of the first set, with any others between."""
    rule = Rule(0, lambda n, kinds: (n + ("in" in kinds)) % 2, lambda n: n == 0)
    node = json_machine(nodes, machine_of([rule], {"in": PARTS[0]}, TEXT))
    for _ in range(300):
        text = "".join(rng.choices('/0a\\"é\u0905\uffff\U00010000\U0010ffff\n', k=rng.randrange(6)))
        expected = sum(ord(c) in PARTS[0] for c in text) % 2 == 0
        assert nodes.matches(node, spell(rng, text)) == expected, text


def test_a_machine_is_opened_once_a_store(nodes: Any) -> None:
    machine = one_of(PARTS[1])
    assert json_machine(nodes, machine) == json_machine(nodes, machine)
