"""Splitting into words: the compiled scanner against the package regex, Unicode classes, what cannot be run."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from llmask.encoders.pretokenize import Splitter, check_patterns
from llmask.vocabulary.patterns import PATTERNS
from tests.unit.encoders.test_categories import CHANGED
from tools.training.train_bpe import split_words

WHITE_SPACE = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


def matched(pattern: str, characters: list[str]) -> set[str]:
    """Characters that a pattern of one character matches: words are "x" alone, or "x" with one of them."""
    words = split_words((f"x{pattern}|x",), "x".join(["", *characters]))
    return {word[1] for word in words if len(word) == 2 and word[0] == "x"}


@pytest.mark.long
@pytest.mark.parametrize("category", ["L", "N", "P", "M", "S", "Z", "Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"])
def test_classes_are_those_of_unicodedata(category):
    # every character of the scripts in use, every 23rd of the others, the marks of plane 14
    code_points = (*range(0x3400), *range(0x3400, sys.maxunicode, 23), *range(0xE0000, 0xE0200))
    characters = (chr(c) for c in code_points if not 0xD800 <= c < 0xE000 and c not in CHANGED and c != ord("x"))
    everything = [character for character in characters if unicodedata.category(character) != "Cn"]  # newer ones
    expected = {c for c in everything if unicodedata.category(c).startswith(category)}
    for pattern in (rf"\p{{{category}}}", rf"[\p{{{category}}}]", rf"[^\P{{{category}}}]", rf"\P{{^{category}}}"):
        assert matched(pattern, everything) == expected, pattern


def test_white_space_is_unicode_white_space():
    everything = [chr(c) for c in range(0x11000) if not 0xD800 <= c < 0xE000 and c != ord("x")]
    spaces = {chr(c) for c in WHITE_SPACE}
    for pattern in (r"\s", r"[\s]", r"[^\S]"):
        assert matched(pattern, everything) == spaces, pattern


def test_patterns_are_applied_one_after_the_other():
    assert split_words((r"\p{N}", r"\p{L}+"), "ab1c-2") == ["ab", "1", "c", "-", "2"]
    assert split_words((), "as it is") == ["as it is"]
    assert split_words((r"x*",), "axxb") == ["a", "xx", "b"]


@pytest.mark.parametrize("pattern", [r"(", r"[a", r"a{2,1}", r"[b-a]", r"\p{Nonsense}", "(" * 60 + ")" * 59])
def test_what_cannot_be_run_is_said(pattern):
    assert not check_patterns((pattern,))
    with pytest.raises(ValueError, match=r"."):
        split_words((pattern,), "text")


@pytest.mark.parametrize(
    "pattern", [r"\p{Greek}+", r"a\b", r"(?<=a)b", r"(a)\1", r"(?>a+)b", r"a(?=bc)", r"\s++\n", "a{70}"]
)
def test_other_patterns_are_run_by_the_package_regex(pattern):
    regex = pytest.importorskip("regex", reason="the package regex is not installed")
    splitter = Splitter((pattern,))
    assert splitter.automaton is None
    text = "aab abc \u03b1\u03b2 aabb ccb \n" + "a" * 71
    expected, end = [], 0
    for match in regex.finditer(pattern, text):
        expected += [text[end : match.start()], match[0]]
        end = match.end()
    assert split_words((pattern,), text) == [word for word in [*expected, text[end:]] if word]


OTHERS = {
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
    r"\s*[\r\n]|\s+(?!\S)|\s",
    "cased": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'ll|'re)?|"
    r"\p{N}{1,3}|\s+",
    "lazy": r"a+?b|[a-z]*?x|\p{L}{2,4}?",
    "nested": r"(?:(?:ab?)+c)*d|(?:a|ab)(?:c|bcd)|\d{2}",
}
ALPHABET = [*"abcdeillmrstvx ABDLRSTV   \n\n\r\t01239.,!?/-$+<", "'", "'", "\u00a0", "\u3000", "\u00e9", "\u01c5"]
ALPHABET += ["\u02b0", "\u65e5", "\u0301", "\u00bd", "\U0001f600", "\u017f", "\u0416", "\u0436", "\u200d", "\uac00"]


BY_REGEX = ("tiny_aya", "cohere2moe", "superbpe", "jais-2", "afmoe")  # patterns that the package runs itself


@pytest.mark.parametrize("name", BY_REGEX)
def test_patterns_that_group_from_the_right_need_the_package_regex(name):
    pytest.importorskip("regex", reason="the package regex is not installed")
    assert Splitter(PATTERNS[name]).automaton is None
    digits = ["123", "456", "7"] if name == "jais-2" else ["1", "234", "567"]
    before = ["x "] if name == "superbpe" else ["x", " "]
    assert split_words(PATTERNS[name], "x 1234567") == before + digits


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in [*PATTERNS, *OTHERS] if name not in BY_REGEX])
def test_compiled_patterns_split_as_the_package_regex(name, scaled, rng):
    pytest.importorskip("regex", reason="the package regex is not installed")
    patterns = PATTERNS.get(name) or (OTHERS[name],)
    judge = Splitter((*patterns, r"\b\B"))  # the last never matches, and no automaton can run it
    assert Splitter(patterns).automaton is not None
    assert judge.automaton is None
    for _ in range(scaled(300)):
        text = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 16)))
        ends = judge.word_ends(text).tolist()
        words = split_words(patterns, text)
        assert [len("".join(words[: i + 1]).encode()) for i in range(len(words))] == ends, text


def test_long_runs_take_linear_time(rng):
    # every blank of the run could begin a match of "\s+$", and none does
    words = split_words(PATTERNS["deepseek-llm"], " " * 300_000 + "a")
    assert [len(word) for word in words] == [299_999, 2]
    text = "".join(rng.choice(" \n") for _ in range(300_000)) + "a"
    assert "".join(split_words(PATTERNS["deepseek-llm"], text)) == text


def test_escapes_of_both_dialects_mean_the_same():
    assert split_words((r"[\r\n\t]+|\.|\d|\[",), "a\r\n.5[") == ["a", "\r\n", ".", "5", "["]
