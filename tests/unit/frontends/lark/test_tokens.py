"""Grammars cut into tokens: kinds, ends of statements, JSON."""

from __future__ import annotations

import pytest

import llmask
from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.tokens import read_change, read_condition, tokens_of
from llmask.frontends.places import Source


def kinds(text: str) -> str:
    return " ".join(token.kind for token in tokens_of(Source(text)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        ("// only\n# comments\n\n", ""),
        ('a: "x"i', "RULE COLON STRING NEWLINE"),
        ('?a: "x"\n!b: C\n?!c: d', "RULE COLON STRING NEWLINE RULE COLON TERMINAL NEWLINE RULE COLON RULE NEWLINE"),
        ("a: b // c\n   | d", "RULE COLON RULE OR RULE NEWLINE"),
        ("a: (b\n c)\n", "RULE COLON OPEN RULE RULE CLOSE NEWLINE"),
        ("a: b \\\n  c", "RULE COLON RULE RULE NEWLINE"),
        ("a: b{2,3} c~4 d ~ 5..6 ~E", "RULE COLON RULE COUNTS RULE COUNTS RULE COUNTS NOT TERMINAL NEWLINE"),
        ("a{b}.2: /[a]x/i", "RULE OPEN_BRACE RULE CLOSE_BRACE DOT NUMBER COLON REGEXP NEWLINE"),
        ('A: "a".."z"? | /\\//', "TERMINAL COLON STRING DOTS STRING OPERATOR OR REGEXP NEWLINE"),
        ("a-b: a-> c", "RULE COLON RULE ARROW RULE NEWLINE"),
        ('a: %json {"b": "}"} c', "RULE COLON JSON RULE NEWLINE"),
        ('a: %lark { start: "b"\n c: d } e', "RULE COLON LARK RULE COLON STRING NEWLINE RULE COLON RULE NEWLINE "
         "CLOSE_BRACE RULE NEWLINE"),
        ("a: <|x|> <[1-3]> @b", "RULE COLON SPECIAL SPECIAL GRAMMAR NEWLINE"),
        ("%import .b.c", "IMPORT DOT RULE DOT RULE NEWLINE"),
        ("A: /a\n b/x", "TERMINAL COLON REGEXP NEWLINE"),
    ],
)  # fmt: skip
def test_kinds_of_tokens(text: str, found: str) -> None:
    assert kinds(text) == found


def test_tokens_know_where_they_stand_and_what_json_says() -> None:
    json = list(tokens_of(Source('a: %json\n {"b": [1]} "c"')))[2]
    assert (json.text, json.value) == ('{"b": [1]}', {"b": [1]})
    assert (json.spot.begin, json.spot.end) == (3, 20)


def test_parentheses_nest_to_a_limit() -> None:
    assert kinds("a: " + "(" * 50 + "b" + ")" * 50).count("OPEN") == 50
    with pytest.raises(LimitExceeded, match="nest deeper than 60"):
        kinds("a: " + "(" * 100 + "b" + ")" * 100)


def test_blanks_in_a_repetition_are_read_once() -> None:
    """Blanks before and behind a number that is not there were divided between the two in every way: n^2 steps."""
    with pytest.raises(GrammarError, match=r'this "{" is not closed'):
        kinds("a: b{1," + " " * 200_000)


def test_a_parameter_ends_where_its_function_does() -> None:
    source = Source('a::set_bit( 3 ) "x" %if and( bit_set(1),\tlt([0:5], 0x10)) | "y"')
    change, end = read_change(source, 3)
    assert (change.function, change.number, source.text[end:][:4]) == ("set_bit", 3, ' "x"')
    condition, end = read_condition(source, source.text.index("%if") + 3)
    assert [inner.function for inner in condition.inner] == ["bit_set", "lt"]
    assert source.text[end:] == ' | "y"'


def test_conditions_nest_up_to_a_limit() -> None:
    text = "not(" * 30 + "true" + ")" * 30
    assert read_condition(Source(text), 0)[0].holds(0)
    with pytest.raises(llmask.LimitExceeded):
        read_condition(Source("not(" * 100 + "true" + ")" * 100), 0)
