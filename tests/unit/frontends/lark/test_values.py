"""Strings, patterns and ranges: how they are written as patterns, and where errors stand."""

from __future__ import annotations

import pytest

from llmask.errors import GrammarError
from llmask.frontends.lark.tree import Pattern, Range, Text
from llmask.frontends.lark.values import escaped, pattern_value, range_value, text_value
from llmask.frontends.places import Source, Spot
from llmask.frontends.regex.tree import Chars, Sequence


def spot(text: str) -> Spot:
    return Spot(Source(text), 0, len(text))


def test_strings_and_ranges() -> None:
    value = text_value(Text(spot('"a.é"'), "a.é", False))
    assert isinstance(value.tree, Sequence)
    assert (value.regexp, value.is_string, escaped(value)) == ('"a.é"', True, "a\\.é")
    assert escaped(text_value(Text(spot('"a"i'), "a", True))) == "(?i:a)"
    assert isinstance(range_value(Range(spot('"a".."c"'), "a", "c")).tree, Chars)
    with pytest.raises(GrammarError, match="ends before it starts"):
        range_value(Range(spot('"c".."a"'), "c", "a"))


def test_patterns_with_flags() -> None:
    assert pattern_value(Pattern(spot("/a/si"), "a", "si")).regexp == "(?is:a)"
    assert pattern_value(Pattern(spot("/a/u"), "a", "u")).regexp == "a"
    with pytest.raises(GrammarError, match='flag "l"'):
        pattern_value(Pattern(spot("/a/l"), "a", "l"))


def test_errors_stand_where_the_pattern_is_wrong() -> None:
    with pytest.raises(GrammarError) as caught:
        pattern_value(Pattern(spot(r"/\/(/"), r"\/(", ""))
    assert "line 1, column 4" in str(caught.value)
