"""The automaton of words: of all ways to cut a text, it accepts the one that the splitter makes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import llmask
from llmask.canonical import splitting
from llmask.canonical.splitting import SplitAutomaton
from llmask.encoders.pretokenize import make_splitter
from llmask.kernels.canonical.split import BREAKS, DEAD, FITS, INSIDE, START
from llmask.vocabulary.patterns import PATTERNS
from tools.training.train_bpe import split_words

MODELS = ["gpt-2", "llama3", "qwen2", "starcoder", "falcon", "deepseek-llm", "deepseek-coder", "deepseek-v3", "default"]


def read(automaton: SplitAutomaton, text: str, marks: list[int], row: int = START) -> int:
    """The row behind a text with a mark for each character."""
    for character, mark in zip(text, marks, strict=True):
        row = int(automaton.rows[row, automaton.class_of_code_point[ord(character)], mark])
        if row == DEAD:
            break
    return row


@pytest.mark.parametrize("name", [*MODELS, "o200k_base", "viking", "qwen35"])
def test_words_are_those_of_the_splitter(name: str, scaled: Any) -> None:
    """Every text of some characters, cut in every way: one of them is right."""
    patterns = PATTERNS[name]
    automaton = SplitAutomaton(make_splitter(patterns), [])
    n_open = 0
    for letters in ("a 1.", " \nx'", "1 \u00a0\u4e00"):
        for length in range(1, min(scaled(4), 7) + 1):
            for text in map("".join, itertools.product(letters, repeat=length)):
                words = split_words(patterns, text)
                starts = set(itertools.accumulate(map(len, words[:-1]), initial=0))
                for cut in itertools.product((BREAKS, INSIDE), repeat=length - 1):
                    row = read(automaton, text, [BREAKS, *cut])
                    is_right = {0, *(i + 1 for i, mark in enumerate(cut) if mark == BREAKS)} == starts
                    assert (row != DEAD and bool(automaton.may_end[row])) == is_right, (text, words, cut)
                row = read(automaton, text, [FITS] * length)
                assert row != DEAD
                assert automaton.may_end[row]
                n_open += not automaton.ends[row].all()
    assert n_open > 100


@pytest.mark.long
@pytest.mark.parametrize("name", MODELS)
def test_characters_that_end_the_word_leave_every_text_possible(name: str) -> None:
    patterns = PATTERNS[name]
    automaton = SplitAutomaton(make_splitter(patterns), [])
    n_ends = 0
    for text in map("".join, itertools.product("a 1\n'", repeat=3)):
        row = read(automaton, text, [FITS] * 3)
        for more in map("".join, itertools.product("a 1\n'", repeat=3)):
            if automaton.ends[row, ord(more[0])]:
                words = split_words(patterns, text + more)
                assert 3 in itertools.accumulate(map(len, words)), (text, more, words)
                n_ends += 1
    assert n_ends > 500


def test_a_row_has_a_text_that_goes_on_from_it() -> None:
    for name in MODELS:
        automaton = SplitAutomaton(make_splitter(PATTERNS[name]), [])
        alive = automaton.may_end.copy()
        while True:
            grown = alive | (alive[automaton.rows] & (automaton.rows != DEAD)).any(axis=(1, 2))
            if (grown == alive).all():
                break
            alive = grown
        assert alive[START:].all()
        assert not alive[DEAD]


def test_names_are_not_spelled() -> None:
    automaton = SplitAutomaton(make_splitter(PATTERNS["gpt-2"]), ["[PAD1]", "[PAD2]", "é"])
    assert read(automaton, "[PAD1", [FITS] * 5) != DEAD
    for text in ("[PAD1]", "x[PAD2]", "[P[PAD[PAD2]", "é", "[PAé"):
        assert read(automaton, text, [FITS] * len(text)) == DEAD
    for text in ("[PAD3]", "[PAD]", "[PAD 1]", "è", "PAD1]"):
        assert read(automaton, text, [FITS] * len(text)) != DEAD


def test_limits_and_names_that_cannot_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    splitter = make_splitter(PATTERNS["gpt-2"])
    with pytest.raises(llmask.VocabularyError, match="names of its user-defined tokens overlap"):
        SplitAutomaton(splitter, ["<a>", "a"])
    with pytest.raises(llmask.VocabularyError, match="have 300 different characters"):
        SplitAutomaton(splitter, [chr(0x4E00 + i) for i in range(300)])
    monkeypatch.setattr(splitting, "MOST_ROWS", 10)
    with pytest.raises(llmask.LimitExceeded, match="more than 10 rows"):
        SplitAutomaton(splitter, [])
