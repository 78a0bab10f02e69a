"""Places as errors show them."""

from __future__ import annotations

from itertools import count

import pytest

from llmask.errors import GrammarError
from llmask.frontends.places import Source, Spot, nearest, similar


def test_a_place_is_line_column_and_carets() -> None:
    spot = Spot(Source("one\ntwo three\n", "file.lark"), 8, 13)
    assert spot.short() == "file.lark, line 2, column 5"
    assert spot.shown() == "file.lark, line 2, column 5\n    two three\n        ^^^^^"


def test_the_end_of_a_text_has_a_place() -> None:
    assert Spot(Source("ab"), 2, 2).shown() == "line 1, column 3\n    ab\n      ^"
    assert Spot.nowhere().shown() == "line 1, column 1\n    \n    ^"


def test_long_lines_are_cut_and_tabs_kept() -> None:
    text = "\t" + "a" * 500 + "X" + "b" * 500
    shown = Spot(Source(text), 501, 502).shown().split("\n")
    assert shown[1].strip() == "a" * 50 + "X" + "b" * 49
    assert shown[1].index("X") == shown[2].index("^")
    assert Spot(Source("\tx"), 1, 2).shown().endswith("    \tx\n    \t^")


def test_refusing_raises_with_the_place() -> None:
    with pytest.raises(GrammarError) as caught:
        Spot(Source("abc"), 1, 2).refuse("b is wrong", "write c")
    assert str(caught.value) == "b is wrong\n  at line 1, column 2\n    abc\n     ^\n  write c"


def test_similar_names_are_suggested() -> None:
    assert similar("itme", ["item", "other"]) == 'define it, or did you mean "item"?'
    assert similar("x", ["item"], "look it up") == "look it up"


def test_a_similar_name_is_looked_for_among_few_long_ones() -> None:
    assert nearest("a" * 90 + "x", ["b" * 90, "a" * 90]) == "a" * 90
    assert nearest("a" * 900, ["a" * 899] * 300) is None  # comparing two of these takes a million steps
    assert nearest("itme", (f"item{n}" for n in count())) is not None
