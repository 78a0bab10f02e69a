"""Classes of characters and automata over them."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex.alphabet import DEAD, DERIVATIVES, ROWS, Alphabet, Budget, Kind, Spelling
from llmask.frontends.regex.json_strings import json_char, json_literal_any_spelling, spell_json
from llmask.regex.code_points import TEXT, CodePointSet, utf8_char, utf8_literal
from tests.reference.json_spellings import spell
from tests.reference.regex_nodes import RegexNodes

RAW = Spelling(utf8_char, utf8_literal, str.encode)
JSON = Spelling(json_char, json_literal_any_spelling, spell_json)
SETS = [CodePointSet.of("aé"), CodePointSet.of("a"), CodePointSet.of("a😀\n")]


def test_classes_are_the_parts_that_the_sets_cut(nodes: Any) -> None:
    classes = Alphabet(nodes, RAW, SETS, Budget()).classes
    assert classes[0].union(*classes[1:]) == TEXT
    assert sum(map(len, classes)) == len(TEXT)
    assert sorted(len(members) for members in classes)[:3] == [1, 1, 2]
    for members in SETS:
        assert all(one.intersect(members) in (one, CodePointSet(())) for one in classes)


@pytest.mark.parametrize("spelling", [RAW, JSON], ids=["raw", "json"])
@pytest.mark.parametrize("start", [0, 1])
def test_an_automaton_over_classes_reads_bytes(nodes: Any, spelling: Spelling, start: int, rng: random.Random) -> None:
    """State 1 after an odd number of "a"; "é" twice in a row is dead."""
    alphabet = Alphabet(nodes, spelling, [CodePointSet.of("a"), CodePointSet.of("é")], Budget())
    number = {text: next(i for i, c in enumerate(alphabet.classes) if ord(text) in c) for text in "aé-"}
    table = [[DEAD] * 3 for _ in range(4)]  # parity of "a", and 2 more where the last one was "é"
    for state in range(4):
        table[state][number["a"]] = 1 - state % 2
        table[state][number["é"]] = state + 2 if state < 2 else DEAD
        table[state][number["-"]] = state % 2
    node = alphabet.automaton(table, [False, True, False, True], start)
    for length in range(5):
        for word in map("".join, itertools.product("aé😀", repeat=length)):
            expected = (word.count("a") + start) % 2 == 1 and "éé" not in word
            data = word.encode() if spelling is RAW else spell(rng, word)
            assert nodes.matches(node, data) == expected, word


def test_an_automaton_is_minimal(nodes: Any) -> None:
    """Two states that say the same, and a class that nothing asks about."""
    one, two = (Alphabet(nodes, RAW, sets, Budget()) for sets in ([], [CodePointSet.of("é")]))
    assert one.automaton([[0]], [True]) == two.automaton([[1, 0], [0, 1]], [True, True])


@pytest.mark.long
def test_too_large_automata_meet_a_limit(nodes: Any) -> None:
    alphabet = Alphabet(nodes, RAW, [CodePointSet.of("a")], Budget())
    a = next(i for i, c in enumerate(alphabet.classes) if ord("a") in c)
    chain = [[DEAD, DEAD] for _ in range(1000)]
    for state in range(999):
        chain[state][a] = state + 1
    alphabet.automaton(chain, [state == 999 for state in range(1000)])
    alphabet.budget.spend(ROWS, ROWS.most - alphabet.budget.spent[ROWS])  # many others
    with pytest.raises(LimitExceeded) as caught:
        alphabet.automaton(chain, [state == 999 for state in range(1000)])
    assert caught.value.message == f"the pattern's look-arounds need automata of more than {ROWS.most} states"


def test_a_derivative_is_taken_once(nodes: Any) -> None:
    budget = Budget()
    alphabet = Alphabet(nodes, RAW, [CodePointSet.of("é")], budget)
    for _ in range(3):
        assert alphabet.derivative(nodes.literal("éa".encode()), 0) == nodes.literal(b"a")
    assert budget.spent[DERIVATIVES] == len("é".encode())


def test_too_many_classes_meet_a_limit() -> None:
    with pytest.raises(LimitExceeded) as caught:
        Alphabet(RegexNodes(), RAW, [CodePointSet((c, c + 1)) for c in range(300)], Budget())
    assert str(caught.value) == (
        "the pattern tells more than 250 classes of characters apart beside its look-arounds\n"
        "  Split the pattern, or move look-arounds out of repetitions."
    )


def test_a_kind_of_steps_is_spent_on_its_own() -> None:
    few, many = Kind(3, "more than {} few", "Less."), Kind(5, "more than {} many", "Fewer.")
    budget = Budget()
    budget.spend(few, 3)
    budget.spend(many, 5)
    with pytest.raises(LimitExceeded) as caught:
        budget.spend(few, 1)
    assert str(caught.value) == "more than 3 few\n  Less."
