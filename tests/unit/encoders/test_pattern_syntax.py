"""What the parser of splitting patterns takes, and what it leaves to the package regex."""

from __future__ import annotations

import pytest

from llmask.encoders.pattern_syntax import CHAR, LOOK, MATCH, SPLIT, Program, UnknownPattern, parse


def codes(pattern: str) -> list[int]:
    return [instruction.code for instruction in Program(parse(pattern)).instructions]


def test_instructions_of_the_constructs():
    assert codes("ab") == [CHAR, CHAR, MATCH]
    assert codes("a|b") == [SPLIT, CHAR, SPLIT, CHAR, MATCH]
    assert codes("a?") == [SPLIT, CHAR, MATCH]
    assert codes("a*") == [SPLIT, CHAR, SPLIT, MATCH]
    assert codes("a{2,3}") == [CHAR, CHAR, SPLIT, CHAR, MATCH]
    assert codes(r"a(?!\S)$") == [CHAR, LOOK, LOOK, MATCH]


def test_lazy_loops_prefer_to_leave():
    greedy, lazy = (Program(parse(pattern)).instructions[0] for pattern in ("a?", "a??"))
    assert (greedy.first, greedy.second) == (1, 2)
    assert (lazy.first, lazy.second) == (2, 1)


def test_case_is_ignored_as_unicode_folds_it():
    (entry,) = Program(parse("(?i:s)")).sets
    assert sorted(low for low, _ in entry.ranges) == [ord("S"), ord("s"), 0x17F]


@pytest.mark.parametrize(
    "pattern",
    [
        "(", ")", "a)", "[", "[a", "[]", "a**", "*a", "a{", "a{1,2,3}", "a{99}", "a{3,1}", r"\b", r"\1", r"\p{Greek}",
        "(?<=a)", "(?<name>a)", "(?>a)", "(?=ab)", "[a&&b]", "[[:alpha:]]", "[z-a]", "^a", "(?i:é)",
        "(?:a|b)++", r"\xZZ", "(" * 60 + ")" * 60, "(?:" * 3 + "a{60}" + "){60}" * 3,
    ],
)  # fmt: skip
def test_other_constructs_are_refused(pattern):
    with pytest.raises(UnknownPattern):
        Program(parse(pattern))
