"""Smallest solutions of equations over languages."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.alphabet import Alphabet, Budget, Spelling
from llmask.frontends.regex.equations import Equations, LeftContext
from llmask.regex.code_points import TEXT, CodePointSet, utf8_char, utf8_literal

WORDS = ["".join(letters) for length in range(6) for letters in itertools.product("ab", repeat=length)]


@pytest.fixture
def alphabet(nodes: Any) -> Alphabet:
    spelling = Spelling(utf8_char, utf8_literal, str.encode)
    return Alphabet(nodes, spelling, [CodePointSet.of("a"), CodePointSet.of("b")], Budget())


def any_text(nodes: Any) -> int:
    return int(nodes.repeat(utf8_char(nodes, TEXT), 0, None))


def solved(nodes: Any, node: int) -> list[str]:
    return [word for word in WORDS if nodes.matches(node, word.encode())]


def test_a_loop_is_its_equation(nodes: Any, alphabet: Alphabet) -> None:
    """X = b | a X."""
    equations = Equations(nodes, any_text(nodes), Budget())
    x = equations.variable()
    equations.define(x, equations.union([nodes.literal(b"b"), equations.concat(nodes.literal(b"a"), x)]))
    assert solved(nodes, equations.solve(x, alphabet)) == ["b", "ab", "aab", "aaab", "aaaab"]


def test_an_intersection_holds_at_every_turn(nodes: Any, alphabet: Alphabet) -> None:
    """X = "" | not(bb ALL) & (a|b) X: no two b in a row."""
    equations = Equations(nodes, any_text(nodes), Budget())
    x = equations.variable()
    turn = equations.concat(nodes.byte_set(1 << 97 | 1 << 98), x)
    no_bb = nodes.complement(nodes.concat([nodes.literal(b"bb"), nodes.ALL]))
    equations.define(x, equations.union([nodes.EPSILON, equations.intersect(no_bb, turn)]))
    assert solved(nodes, equations.solve(x, alphabet)) == [word for word in WORDS if "bb" not in word]


def test_equations_may_name_each_other_before_any_character(nodes: Any, alphabet: Alphabet) -> None:
    """X = Y | a, Y = X | b Y, X = X: the smallest solution adds nothing of its own."""
    equations = Equations(nodes, any_text(nodes), Budget())
    x, y = equations.variable(), equations.variable()
    equations.define(x, equations.union([y, nodes.literal(b"a"), x]))
    equations.define(y, equations.union([x, equations.concat(nodes.literal(b"b"), y)]))
    assert solved(nodes, equations.solve(x, alphabet)) == ["a", "ba", "bba", "bbba", "bbbba"]
    empty = equations.variable()
    equations.define(empty, empty)
    assert nodes.is_empty(equations.solve(empty, alphabet))


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


@pytest.mark.long
@pytest.mark.parametrize("patterns", [[""], [".*a"], ["", ".*a"], [".*ab"], [".*a.b", "b.*"]])
def test_words_lead_from_a_state_to_the_goals(nodes: Any, patterns: list[str]) -> None:
    left = context(nodes, patterns)
    states = range(len(left.states))
    for start in states:
        for goal in states:
            node = left.words(start, frozenset({goal}))
            for word in WORDS_OF_THREE:
                assert nodes.matches(node, word.encode()) == (state_after(left, word, start) == goal)


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
