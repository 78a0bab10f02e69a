"""Terminals as lexemes: put together, lazy, both, negated, named alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import llmask
from llmask.errors import LimitExceeded

Accepts = Callable[..., bool]


@pytest.mark.parametrize(
    ("terminals", "matched", "refused"),
    [
        ('A: "ab"i', ["ab", "AB", "aB"], ["a"]),
        ('A: "straße"i', ["STRAßE"], ["strasse"]),
        ("A: /a.b/", ["axb", "aéb"], ["a\nb", "ab"]),
        ("A: /a.b/s", ["a\nb"], []),
        ("A: /a # comment\n b/x", ["ab"], ["a b"]),
        (r"A: /a\/b/", ["a/b"], []),
        ('A: "a".."c" ~ 2..3', ["ab", "cca"], ["a", "abcd"]),
        ('A: B{2} | [B] "x"\nB: "b"', ["bb", "x", "bx"], ["b"]),
        ("A: /[a-z]+/ & ~/if|else/", ["i", "iff", "elsewhere"], ["if", "else"]),
        ('A: "a" ~"b" "c"', ["ac", "axc"], ["abc"]),
        (r'A: "\"" /.*?/ /(?<!\\)(\\\\)*?/ "\""', ['""', r'"\""', r'"\\"', r'"a\\\"b"'], ['"', r'"\"', r'"a"b"']),
        ('A: "/*" /(.|\\n)*?/ "*/"', ["/**/", "/* * /*/", "/*\n*/"], ["/**/*/", "/*/"]),
        ('A: "//" /[^\\n]*/ | "/*" /(.|\\n)*?/ "*/"', ["//", "// a", "/**/"], ["/* */ */"]),
        ('A: "x" ("<" /.*?/ ">" | "-" /[a-z]*/)?', ["x", "x<a>", "x-abc"], ["x<a>>"]),
        (r"A: /a*?b/ | /c/", ["b", "aab", "c"], ["a", "bb"]),
        (
            r"A: (/\n/ | B)+" "\n" r'B: "/*" /(.|\n)*?/ "*/"',
            ["\n", "/**/", "\n/* * */\n/*\n*/"],
            ["", "/**/*/", "/**//*"],
        ),
        ('A: "x" ("h" | B)*\nB: /<.*?>/', ["x", "xh<a>h<b>", "x<<>"], ["x<a>>", "<a>"]),
        ("A: /(ab)?(c|(d.*?e){1,2})*/", ["ab", "abcdedec", "dxe"], ["abb", "dee", "cab"]),
        ('A: %regex {"substring_words": "foo bar. baz"} "!"', ["!", "foo!", "bar. !", " baz!"], ["ba!"]),
        ('A: B* "."\nB: "a" | "bc"', [".", "abca."], ["b."]),
    ],
)
def test_what_terminals_match(terminals: str, matched: list[str], refused: list[str], accepts: Accepts) -> None:
    grammar = f"start: A\n{terminals}\n"
    assert [text for text in matched if not accepts(grammar, text)] == []
    assert [text for text in refused if accepts(grammar, text)] == []


def test_a_string_in_a_rule_is_the_terminal_that_says_the_same(
    compiler: llmask.Compiler, following: Callable[..., str]
) -> None:
    """`"if"` has the priority of IF, which goes behind the pattern."""
    grammar = 'start: "if" "(" | NAME ";"\nIF.-1: "if"\nNAME: /[a-z]+/\n'
    assert following(grammar, "if") == ";abcdefghijklmnopqrstuvwxyz"
    assert following(grammar.replace(".-1", ""), "if") == "(abcdefghijklmnopqrstuvwxyz"


def test_a_terminal_that_may_be_empty_is_optional(accepts: Accepts) -> None:
    grammar = 'start: A "b"\nA: "a"*\n'
    assert [accepts(grammar, text) for text in ("b", "aab", "aa")] == [True, True, False]


def test_terminals_that_double_with_every_name_meet_a_limit(compiler: llmask.Compiler) -> None:
    """Forty lines took all memory."""
    for row in ("A{0} A{0}", 'A{0} | A{0} "x"', "~A{0} ~A{0}"):
        chain = "".join(f"A{n}: {row.format(n + 1)}\n" for n in range(40))
        with pytest.raises(LimitExceeded, match="written out"):
            compiler.lark(f'start: A0\n{chain}A40: "a"\n')


def test_what_is_negated_is_text(compiler: llmask.Compiler) -> None:
    """`~"a"` allowed bytes that begin no character."""
    grammar = compiler.lark('start: A\nA: ~"a"\n')
    for text, is_sentence in (("é", True), ("aa", True), ("", True), ("日\n😀", True), ("a", False)):
        matcher = grammar.matcher()
        matcher.accept_bytes(text.encode())
        assert matcher.is_accepting() == is_sentence
    for data in (b"\xff", b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"b\xf5"):
        with pytest.raises(llmask.TokenRejected):
            grammar.matcher().accept_bytes(data)


def test_a_rule_with_a_parameter_cannot_stand_in_a_terminal() -> None:
    compiler = llmask.Compiler(llmask.Tokenizer.from_bytes([b"</s>", b"a", b"x"], eos=0))
    with pytest.raises(llmask.GrammarError, match="a rule with a parameter cannot stand in a terminal"):
        compiler.lark('start: a::0\na::_: \nA: "x" a::set_bit(0)\n')
