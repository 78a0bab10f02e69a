"""Guesses where words end."""

from __future__ import annotations

import pytest

import llmask
from llmask.encoders import guesses
from llmask.encoders.guesses import guess_graph
from llmask.encoders.pattern_automaton import compile_patterns
from llmask.vocabulary.patterns import PATTERNS


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
