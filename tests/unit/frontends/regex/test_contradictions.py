"""Patterns that no text matches, and what is said of them."""

from __future__ import annotations

import pytest

from llmask.frontends.regex.contradictions import no_match_help


@pytest.mark.parametrize("pattern", [r"a\bb", r"\w\b\d", r"[a-z]\b[0-9]", r"x\\\\\\a\bb"])
def test_boundaries_between_letters_are_found(pattern: str) -> None:
    assert no_match_help(pattern).startswith(r"\b stands between two letters")


@pytest.mark.parametrize("pattern", ["a$b", "a^b", "(a)^b"])
def test_anchors_in_the_middle_are_found(pattern: str) -> None:
    assert no_match_help(pattern).startswith("^ and $ hold at the ends")


@pytest.mark.parametrize("pattern", [r"(?=b)a", r"a\B", "[^\\s\\S]", "(?!)", r"\^(?!)", r"\$(?!)", "", "[^a](?!)"])
def test_of_others_nothing_certain_is_said(pattern: str) -> None:
    assert no_match_help(pattern).startswith("look for a look-around")
