"""States of the text on the left, against asking the languages themselves."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.alphabet import Alphabet, Spelling
from llmask.frontends.regex.budget import Budget
from llmask.frontends.regex.equations import Equations
from llmask.frontends.regex.left_context import LeftContext
from llmask.regex.code_points import TEXT, CodePointSet
from llmask.regex.utf8 import utf8_char, utf8_literal

RAW = Spelling(utf8_char, utf8_literal, str.encode)
WORDS = ["".join(letters) for length in range(5) for letters in itertools.product("abé", repeat=length)]


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
    for word in WORDS:
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
            for word in WORDS:
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
