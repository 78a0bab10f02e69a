"""Tables of transitions, run in Python: the first alternative wins, and one character is looked ahead."""

from __future__ import annotations

import pytest

from llmask.encoders.pattern_automaton import (
    CHAR,
    LOOK,
    MATCH,
    SPLIT,
    Automaton,
    Program,
    UnknownPattern,
    compile_patterns,
    parse,
)


def match_end(automaton: Automaton, text: str) -> int:
    """What `llmask/kernels/encoders/pretokenize_scan.py` does."""
    width = automaton.n_classes + 1
    row, matched, position = width, 0, 0
    while row:
        number = automaton.n_classes
        if position < len(text):
            code_point = ord(text[position])
            block = int(automaton.class_index[code_point >> 8])
            number = int(automaton.class_blocks[block * 256 + code_point % 256])
        entry = int(automaton.transitions[0][row + number])
        matched = position if entry & 1 else matched
        row = entry >> 1
        position += 1
    return matched


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        (r"\s+(?!\S)|\s+", "  x", 1),
        (r"\s+(?!\S)|\s+", " x", 1),
        (r"\s+(?!\S)|\s+", "   ", 3),
        (r"\s+$", "  x", 0),
        (r"\s+$", "  ", 2),
        ("a|ab", "ab", 1),
        ("ab|a", "ab", 2),
        ("a*?b|a", "aac", 1),
        ("(?=[a-c])[^b]x|b", "bx", 1),
        ("(?:ab?)*c|a", "abac", 4),
        (r"\p{N}{1,3}+", "12345", 3),
        ("x*", "", 0),
    ],
)
def test_matches(pattern, text, end):
    assert match_end(compile_patterns((pattern,)), text) == end


def test_a_possessive_loop_that_would_give_back_is_refused():
    compile_patterns((r"\s++a",))
    with pytest.raises(UnknownPattern, match="possessive"):
        compile_patterns((r"\s++\n",))


def test_too_many_states_are_refused():
    with pytest.raises(UnknownPattern, match="too many states"):
        compile_patterns(("(?:a|b)*a" + "(?:a|b)" * 14,))


def test_a_pattern_that_takes_too_long_is_refused():
    with pytest.raises(UnknownPattern, match="too many"):
        compile_patterns(("(?:" + "|".join(f"[a-{last}]{{60}}" for last in "bcdefghijklmnopqrstuvwxyz") + ")*",))


def test_patterns_share_their_classes():
    automaton = compile_patterns((r"\p{N}", r"\p{L}+"))
    assert len(automaton.transitions) == 2
    assert automaton.n_classes == 3


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
