"""Rules about characters as machines: minimal, and the same as a walk through the rules."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from llmask.frontends.regex.json_strings import StringStyle, json_char
from llmask.frontends.regex.machines import DEAD, Machine, merged
from llmask.regex.code_points import MAX_CODE_POINT, TEXT, CodePointSet
from tests.reference.json_machine import json_machine
from tests.reference.json_spellings import spell
from tests.reference.machines import REFUSED, Kinds, Rule, machine_of

SETS = {"a": CodePointSet.of("a"), "vowel": CodePointSet.of("aeé"), "digit": CodePointSet.from_ranges([(0x30, 0x39)])}
ALPHABET = CodePointSet.of("abeé7")


def no_two_a(was_a: bool, kinds: Kinds) -> bool | None:
    return REFUSED if was_a and "a" in kinds else "a" in kinds


def vowels(n: int, kinds: Kinds) -> int:
    return (n + ("vowel" in kinds)) % 2


RULES = [Rule(False, no_two_a), Rule(0, vowels, lambda n: n == 0)]


def accepts(machine: Machine, text: str) -> bool:
    state = 0
    for character in map(ord, text):
        found = [c for low, high, c in machine.pieces if low <= character <= high]
        state = int(machine.next_state[state, found[0]]) if found else DEAD
        if state == DEAD:
            return False
    return bool(machine.accepting[state])


def test_a_machine_is_all_rules_at_once() -> None:
    machine = machine_of(RULES, SETS, ALPHABET)
    for length in range(5):
        for text in map("".join, itertools.product("abeé7c", repeat=length)):
            expected = "c" not in text and "aa" not in text and sum(c in "aeé" for c in text) % 2 == 0
            assert accepts(machine, text) == expected, text


def test_a_machine_is_minimal() -> None:
    """Two rules that say the same need no more states than one, and classes that lead to the same are one."""
    once = machine_of(RULES, SETS, ALPHABET)
    twice = machine_of([*RULES, *RULES], SETS, ALPHABET)
    assert once.next_state.shape == twice.next_state.shape == (4, 3)


def test_what_is_outside_the_alphabet_may_be_taken_for_anything(rng: random.Random) -> None:
    machine = machine_of(RULES, SETS, ALPHABET, refuses_others=False)
    assert machine.pieces[0][0] == 0
    assert machine.pieces[-1][1] == MAX_CODE_POINT
    assert all(one[1] + 1 == two[0] for one, two in itertools.pairwise(machine.pieces))
    inside = machine_of(RULES, SETS, ALPHABET)
    for _ in range(200):
        text = "".join(rng.choices("abeé7", k=6))
        assert accepts(machine, text) == accepts(inside, text), text


def test_pieces_that_touch_and_mean_the_same_are_one() -> None:
    assert merged([(0, 1, 5), (2, 3, 5), (4, 4, 6), (6, 7, 6)]) == ((0, 3, 5), (4, 4, 6), (6, 7, 6))


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
