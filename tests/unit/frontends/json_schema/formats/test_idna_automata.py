"""Each machine against its rules as look-arounds: the same names, proved and not sampled; machines as such."""

from __future__ import annotations

import itertools
import random
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.frontends.json_schema.formats import idna_automata
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.equations import DEAD
from llmask.regex.code_points import MAX_CODE_POINT, TEXT, CodePointSet
from tests.reference import host_names, idna_rules
from tests.reference.json_machine import json_machine
from tests.reference.json_spellings import spell
from tests.reference.machines import REFUSED, Kinds, Machine, Rule, machine_of

GROUPS = (host_names.order, host_names.joiners, host_names.contexts, host_names.direction, host_names.hyphens)
# all that the contextual rules tell apart; with every ideograph the proof takes ten seconds
FEW = CodePointSet.from_ranges([(0x2D, 0x7A), (0xB7, 0xB7), (0x370, 0x6FF), (0x3002, 0x3002), (0x30A1, 0x30FF)])


@pytest.fixture(scope="module")
def nodes() -> Any:
    limits = llmask.Limits(max_emptiness_steps=10**7)
    return (
        llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"b"], eos=0), limits=limits)
        .json_schema(True)
        ._loaded.store.nodes
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
        for one, two in itertools.combinations(sets, 2):
            assert all(one[name].bounds == two[name].bounds for name in one.keys() & two.keys())


def test_joined_machines_refuse_what_one_of_them_does(nodes: Any) -> None:
    alphabet = idna_rules.permitted().union(idna_rules.ASCII, idna_rules.DOTS).intersect(FEW)
    within = compile_pattern(nodes, f"^[{host_names.text_class(alphabet)}]+$", "ecma", json_string=True)
    for names in idna_rules.JOINED:
        joined = nodes.intersect([within, json_machine(nodes, idna_rules.machine(*names))])
        apart = nodes.intersect([within, *(json_machine(nodes, idna_rules.machine(name)) for name in names)])
        assert nodes.is_empty(nodes.intersect([joined, nodes.complement(apart)]))
        assert nodes.is_empty(nodes.intersect([apart, nodes.complement(joined)]))


idnadata = pytest.importorskip("idna.idnadata", reason="the package idna is absent")


def tabled(ranges: tuple[int, ...]) -> set[int]:
    """The code points of a table of the package: starts and ends packed in one number each."""
    return {c for packed in ranges for c in range(packed >> 32, packed & 0xFFFFFFFF)}


def assigned(members: set[int]) -> set[int]:
    return {c for c in members if unicodedata.category(chr(c)) != "Cn"}


def test_permitted_code_points_are_those_of_the_tables() -> None:
    classes = idnadata.codepoint_classes
    expected = set().union(*(tabled(classes[name]) for name in ("PVALID", "CONTEXTJ", "CONTEXTO")))
    expected = {c for c in assigned(expected) if c >= 0x80}
    found = set(idna_rules.permitted())
    assert found - expected == set()
    # letters whose case folding or normalization is younger than this Python's tables may differ
    assert len(expected - found) < 20


def test_letters_by_name_are_letters_of_the_script() -> None:
    for name, prefix in [
        ("Greek", "GREEK "),
        ("Hebrew", "HEBREW "),
        ("Hiragana", "HIRAGANA "),
        ("Katakana", "KATAKANA "),
    ]:
        members = set(idna_rules.letters_named(prefix))
        assert members
        assert members <= tabled(idnadata.scripts[name]), name
    assert assigned(set(idna_rules.IDEOGRAPHS) & set(idna_rules.permitted())) <= tabled(idnadata.scripts["Han"])


def test_letters_join_as_the_tables_say() -> None:
    both, right = idna_rules.joining()
    assert len(both) > 40
    assert len(right) > len(both) + 15
    assert set(both) <= tabled(idnadata.joining_types["D"])
    # U+06BA joins on both sides and has no form that shows it
    assert set(right) <= tabled(idnadata.joining_types["D"]) | tabled(idnadata.joining_types["R"])


def test_composing_marks_are_those_that_normalization_swallows() -> None:
    found = idna_rules.composing()
    assert found["\u09be"] == "\u09c7"
    for mark, starters in found.items():
        assert all(len(unicodedata.normalize("NFC", starter + mark)) == 1 for starter in starters)
    ascii_with_acute = "".join(c for c in found["\u0301"] if c.isascii())
    assert set("aeiouyAEIOUY") <= set(ascii_with_acute)
    assert "q" not in ascii_with_acute


def test_a_property_is_asked_of_permitted_code_points_only() -> None:
    viramas = idna_rules.where(unicodedata.combining, 9)
    assert 0x94D in viramas
    assert isinstance(viramas, CodePointSet)
    assert set(viramas) <= set(idna_rules.permitted())


@pytest.mark.long
def test_the_file_is_what_the_rules_make(tmp_path: Path) -> None:
    with np.load(idna_automata.FILE) as kept:
        version = str(kept["unicode"])
    if version != unicodedata.unidata_version:
        pytest.skip(f"the file is of Unicode {version}, not {unicodedata.unidata_version}")
    idna_rules.make(tmp_path / "made.npz")
    files = (tmp_path / "made.npz", idna_automata.FILE)
    made, kept = ([[one.tolist() for one in arrays] for arrays in idna_automata.automata(file)] for file in files)
    assert made == kept


# --- machines

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


def test_states_pass_through_characters_of_any_length(nodes: Any, rng: random.Random) -> None:
    """An even number of characters of a set, with any others between."""
    members = CodePointSet.from_ranges([(0, 0x2F), (0x5C, 0x5C), (0xE0, 0xEF)])
    rule = Rule(0, lambda n, kinds: (n + ("in" in kinds)) % 2, lambda n: n == 0)
    node = json_machine(nodes, machine_of([rule], {"in": members}, TEXT))
    for _ in range(300):
        text = "".join(rng.choices('/0a\\"é\u0905\uffff\U00010000\U0010ffff\n', k=rng.randrange(6)))
        expected = sum(ord(c) in members for c in text) % 2 == 0
        assert nodes.matches(node, spell(rng, text)) == expected, text
