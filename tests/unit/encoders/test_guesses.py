"""Guesses where words end."""

from __future__ import annotations

import numpy as np
import pytest

import llmask
from llmask.encoders import guesses
from llmask.encoders.guesses import LaterWords, code_points_of, guess_graph, later_words
from llmask.encoders.pattern_automaton import compile_patterns
from llmask.encoders.pretokenize import Splitter
from llmask.vocabulary.patterns import PATTERNS
from tools.training.train_bpe import split_words


def test_a_look_ahead_keeps_two_guesses() -> None:
    """Of "abb" the first "a" may be a word of its own, or begin "abc": that is open behind "ab"."""
    automaton = compile_patterns((r"abc|[a-z]",))
    graph = guess_graph(automaton)
    classes = automaton.class_blocks[automaton.class_index[0] * 256 :]

    def reached(text: str) -> list[set[int]]:
        """The guesses behind each character."""
        found = [{0}]
        for character in text:
            found.append({to for guess in found[-1] for _, to in graph.edges[guess][classes[ord(character)]]})
        return found

    assert graph.may_end[0]
    assert [len(guesses) for guesses in reached("abc")] == [1, 1, 2, 1]
    assert [len(guesses) for guesses in reached("abb")] == [1, 1, 2, 1]
    assert [len(guesses) for guesses in reached("xx")] == [1, 1, 1]
    assert [sum(graph.may_end[guess] for guess in guesses) for guesses in reached("abb")] == [1, 1, 1, 1]


def test_every_guess_can_come_true() -> None:
    for name in ("gpt-2", "falcon", "deepseek-llm", "o200k_base"):
        graph = guess_graph(compile_patterns(PATTERNS[name]))
        alive = {number for number, may_end in enumerate(graph.may_end) if may_end}
        for _ in graph.edges:
            alive |= {
                number
                for number, lines in enumerate(graph.edges)
                if any(to in alive for line in lines for _, to in line)
            }
        assert alive == set(range(len(graph.edges)))
        assert len(graph.edges) < 40


def test_too_many_guesses_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "MOST_GUESSES", 20)
    with pytest.raises(llmask.LimitExceeded, match="leave more than 20 ways open"):
        guess_graph(compile_patterns(PATTERNS["gpt-2"]))


EVERY = np.ones(256, bool)
ASCII = bytes(range(128))


def ways(patterns: tuple[str, ...], word: str, first_bytes: np.ndarray = EVERY) -> set[tuple[str, ...]]:
    """The words that end before the last character of `word`, with each of the texts behind it."""
    rests = LaterWords(Splitter(patterns), ASCII).rests(word.encode(), b"", first_bytes)
    found = set()
    for rest in rests:
        words, n = [], 0
        for one in split_words(patterns, word + rest.decode()):
            n += len(one)
            if n > len(word):
                break
            words.append(one)
        found.add(tuple(words))
    return found


def test_blanks_before_a_word() -> None:
    words = {
        ("a", "  "),
        ("a", "  ", " "),
        ("a", "   "),
        ("a",),
    }  # before a letter, before a digit, at the end, before more
    assert ways((r" ?[a-z]+|\s+(?!\S)|\s+",), "a   ") == words


def test_a_first_pattern_that_looks_far_ahead() -> None:
    """The blanks before "aab" are one word, as that is cut out first; otherwise the last of them is one."""
    assert ways((r"aab", r"\s+(?!\S)|\s+"), "  a") == {(" ", " "), (" ", " ", "a"), ("  ",)}


def test_only_what_the_first_bytes_allow() -> None:
    only = np.zeros(256, bool)
    only[ord("x")] = True
    assert ways((r" ?[a-z]+|\s+(?!\S)|\s+",), "a   ", only) == {("a", "  ")}


def test_one_way() -> None:
    assert len(LaterWords(Splitter((r"[a-z]|[^a-z]",)), ASCII).rests(b"abc", b"", EVERY)) == 1


def test_the_last_word_may_end_or_go_on() -> None:
    """What is no match goes on until one begins; before "aa1" it ends, also if that begins behind the text."""
    assert ways((r"aa1",), " aa") == {(" ",), (" a",), (" aa",), ()}


def test_characters_that_are_not_complete() -> None:
    """Of U+3042 two bytes are there; the blank before it goes to its word."""
    made = LaterWords(Splitter((r" ?\p{L}+|\s+(?!\S)|\s+|[^\s\p{L}]",)), bytes(range(256)))
    text, cut_off = b"a  \xe3\x81", b"\xe3\x81"
    rests = made.rests(text, cut_off, EVERY)
    assert rests
    for rest in rests:
        (text + rest).decode()
    low, high = code_points_of(cut_off)
    assert low <= 0x3042 < high
    assert high - low == 64


def test_stray_bytes_have_no_ways() -> None:
    assert LaterWords(Splitter((r" ?[a-z]+|\s+(?!\S)|\s+",)), ASCII).rests(b"a \xff  ", b"", EVERY) == []


def test_too_many_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guesses, "MOST_GUESSES", 1)
    assert later_words(Splitter((r"x+|y+",)), ASCII) is None
