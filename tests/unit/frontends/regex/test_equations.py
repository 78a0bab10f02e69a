"""Smallest solutions of equations over languages."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.equations import (
    DEAD,
    DERIVATIVES,
    ROWS,
    Alphabet,
    Budget,
    Equations,
    Kind,
    LeftContext,
    Spelling,
)
from llmask.frontends.regex.json_strings import json_char, json_literal_any_spelling, spell_json
from llmask.regex.code_points import TEXT, CodePointSet
from llmask.regex.utf8 import utf8_char, utf8_literal
from tests.reference.json_spellings import spell
from tests.reference.regex_nodes import RegexNodes


@pytest.fixture
def alphabet(nodes: Any) -> Alphabet:
    spelling = Spelling(utf8_char, utf8_literal, str.encode)
    return Alphabet(nodes, spelling, [CodePointSet.of("a"), CodePointSet.of("b")], Budget())


def any_text(nodes: Any) -> int:
    return int(nodes.repeat(utf8_char(nodes, TEXT), 0, None))


def test_what_is_known_stays_a_node(nodes: Any) -> None:
    equations = Equations(nodes, any_text(nodes), Budget())
    a, b = nodes.literal(b"a"), nodes.literal(b"b")
    assert equations.concat(a, b) == nodes.concat([a, b])
    assert equations.union([a, b]) == nodes.union([a, b])
    assert equations.intersect(a, b) == nodes.intersect([a, b])


def test_what_follows_a_position_is_known_from_what_came(nodes: Any, alphabet: Alphabet) -> None:
    """A HERE & (ab | aa) ALL: behind "a" stands something that begins with "a" or "b"."""
    equations = Equations(nodes, any_text(nodes), Budget())
    ahead = nodes.concat([nodes.union([nodes.literal(b"ab"), nodes.literal(b"aa")]), nodes.ALL])
    tail = equations.intersect(ahead, equations.concat(nodes.literal(b"a"), equations.here()))
    assert equations.rests(tail) == nodes.EMPTY
    (a,) = (number for number, members in enumerate(alphabet.classes) if ord("a") in members)
    after = equations.derivative(tail, alphabet, a)
    assert equations.rests(after) == nodes.concat([nodes.byte_set(1 << 97 | 1 << 98), nodes.ALL])
    assert equations.rests(equations.derivative(after, alphabet, a)) == nodes.EMPTY


LOOP = "a repetition around an anchor, look-around or atomic group needs more than "


def test_all_text_absorbs_what_else_may_follow(nodes: Any) -> None:
    everything = any_text(nodes)
    equations = Equations(nodes, everything, Budget())
    x = equations.variable()
    assert equations.union([everything, x, nodes.literal(b"a")]) == everything


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(?:(?!a.{3000}b).)*", LOOP + "300 states"),
        ("(?:(?:(?=.*a.{9}b)|(?=.*c.{8}a)|(?=.*a.{7}c)).)*", LOOP + "15000 steps"),
        ("(?:(?:(?:^a){0,99}){0,99}){0,99}", "the pattern's anchors and look-arounds take more than 30000 steps"),
    ],
)
def test_hostile_loops_meet_a_limit(pattern: str, message: str) -> None:
    from tests.reference.regex_nodes import RegexNodes

    with pytest.raises(LimitExceeded) as caught:
        compile_pattern(RegexNodes(), pattern)
    assert caught.value.message == message
    assert caught.value.where == f"the pattern {pattern}"
    assert caught.value.help is not None


RAW = Spelling(utf8_char, utf8_literal, str.encode)
WORDS_OF_THREE = ["".join(letters) for length in range(5) for letters in itertools.product("abé", repeat=length)]


def context(nodes: Any, patterns: list[str]) -> LeftContext:
    languages = [compile_pattern(nodes, f"(?s:{pattern})") for pattern in patterns]
    alphabet = Alphabet(nodes, RAW, [CodePointSet.of("a"), CodePointSet.of("b")], Budget())
    return LeftContext(alphabet, languages, equations_of(nodes))


def equations_of(nodes: Any) -> Equations:
    return Equations(nodes, nodes.repeat(utf8_char(nodes, TEXT), 0, None), Budget())


def state_after(left: LeftContext, word: str, state: int = 0) -> int:
    for character in word:
        (state,) = left.split(CodePointSet.of(character), state)
    return state


@pytest.mark.parametrize("patterns", [[], [""], [".*a"], ["", ".*a", ".*[ab]"], [".*ab"], [".*a.b", "b.*"]])
def test_a_state_knows_which_languages_hold(nodes: Any, patterns: list[str]) -> None:
    left = context(nodes, patterns)
    for word in WORDS_OF_THREE:
        for number, pattern in enumerate(patterns):
            language = compile_pattern(nodes, f"(?s:{pattern})")
            assert (left.rests(number, state_after(left, word)) == nodes.ALL) == nodes.matches(language, word.encode())


def test_a_pattern_that_never_looks_left_has_one_state(nodes: Any) -> None:
    left = LeftContext(Alphabet(nodes, RAW, [], Budget()), [], equations_of(nodes))
    assert len(left.states) == 1
    assert left.forgets
    assert left.split(TEXT, 0) == {0: TEXT}


def test_the_last_character_alone_decides_for_word_boundaries(nodes: Any) -> None:
    assert context(nodes, [".*a"]).forgets
    assert not context(nodes, [".*ab"]).forgets


def test_too_long_a_memory_meets_a_limit(nodes: Any) -> None:
    with pytest.raises(LimitExceeded) as caught:
        compile_pattern(nodes, "(?<=a[ab]{12})c")
    assert str(caught.value) == (
        "the pattern's lookbehinds need more than 400 states\n"
        "  at the pattern (?<=a[ab]{12})c\n"
        "  Shorten their repetitions."
    )


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
