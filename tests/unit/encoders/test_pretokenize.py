"""Splitting into words: Unicode classes, several patterns, patterns that cannot be run."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from llmask.encoders.pretokenize import check_patterns, split_words, translate

WHITE_SPACE = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


@pytest.mark.parametrize("category", ["L", "N", "P", "M", "S", "Z", "Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"])
def test_classes_are_those_of_unicodedata(category):
    # every character of the scripts in use, every 23rd of the others, the marks of plane 14
    code_points = (*range(0x3400), *range(0x3400, sys.maxunicode, 23), *range(0xE0000, 0xE0200))
    everything = "".join(chr(c) for c in code_points if not 0xD800 <= c < 0xE000)
    expected = {c for c in everything if unicodedata.category(c).startswith(category)}
    assert set(re.findall(translate(rf"\p{{{category}}}"), everything)) == expected
    assert set(re.findall(translate(rf"[x\p{{{category}}}]"), everything)) == expected | {"x"}
    assert set(re.findall(translate(rf"\P{{{category}}}"), everything)) == set(everything) - expected


def test_white_space_is_unicode_white_space():
    everything = "".join(chr(c) for c in range(0x11000))
    spaces = {chr(c) for c in WHITE_SPACE}
    assert set(re.findall(translate(r"\s"), everything)) == spaces
    assert set(re.findall(translate(r"[\s]"), everything)) == spaces
    assert set(re.findall(translate(r"\S"), everything)) == set(everything) - spaces
    assert set(re.findall(translate(r"[\S]"), everything)) == set(everything) - spaces
    assert set(re.findall(translate(r"[^\s]"), everything)) == set(everything) - spaces


def test_patterns_are_applied_one_after_the_other():
    assert split_words((r"\p{N}", r"\p{L}+"), "ab1c-2") == ["ab", "1", "c", "-", "2"]
    assert split_words((), "as it is") == ["as it is"]
    assert split_words((r"x*",), "axxb") == ["a", "xx", "b"]


@pytest.mark.parametrize(
    "pattern", [r"\p{Han}", r"[\P{L}]", r"[a[b]]", r"[a&&b]", r"\h", r"\X", r"(", r"\1", r"[[:alpha:]]", r"\G"]
)
def test_what_cannot_be_run_is_said(pattern):
    assert not check_patterns((pattern,))
    with pytest.raises(ValueError, match=r"."):
        split_words((pattern,), "text")


def test_escapes_of_both_dialects_mean_the_same():
    assert split_words((r"[\r\n\t]+|\.|\d|\[",), "a\r\n.5[") == ["a", "\r\n", ".", "5", "["]
