r"""EBNF: what texts mean, and whole messages. XGrammar itself is asked in tests/contract/test_xgrammar_grammars.py."""

from __future__ import annotations

import pytest

import llmask
from llmask.errors import LimitExceeded

MEANINGS = [
    # grammar, sentences, other texts
    (r'root ::= "\x41\u00e9\U0001F600\n\t\r\\\"\'\?\0\e\a\b\f\v"', ["Aé😀\n\t\r\\\"'?\0\x1b\a\b\f\v"], ["A"]),
    (r'root ::= "\x00000e9g"', ["ég"], ["\x0e9g"]),
    (r"root ::= [\^\$\.\*\+\?\(\)\[\]\{\}\|\/\-]+", ["^$.*+?()[]{}|/-"], ["\\", "a"]),
    ("root ::= [a-c]", ["a", "c"], ["d", "", "ab", "-"]),
    ("root ::= [--0]", ["-", ".", "/", "0"], ["1", ","]),
    ("root ::= [a-c-e]", ["b", "-", "e"], ["d"]),
    ("root ::= [^a]", ["b", "é", "\n", "\0"], ["a", "", "bb"]),
    ("root ::= [^]", ["b", "é"], [""]),
    ('root ::= "ab"* ("c" | "")', ["", "ab", "ababc"], ["a", "aba"]),
    ('root ::= "a"{2} "b"{ 1 , 2 } "c"{2,} "d"{0,-1}', ["aabcc", "aabbcccddd"], ["abcc", "aabbbcc", "aabc"]),
    ('root ::= ( ) "a"', ["a"], [""]),
    ('root ::=\n  a.b\n  | -c\na.b ::= "x"\n  "y"\n-c ::= "z"', ["xy", "z"], ["x"]),
    ('root ::= root "a" | "b"', ["b", "baa"], ["a", "ab"]),
    ('root ::= "a" # end\n# more\n  b ::= "c"', ["a"], ["c"]),
]


@pytest.mark.parametrize(("text", "sentences", "others"), MEANINGS)
def test_meaning(compiler: llmask.Compiler, text: str, sentences: list[str], others: list[str]) -> None:
    grammar = compiler.ebnf(text)
    assert [sentence for sentence in sentences if not grammar.accepts(sentence)] == []
    assert [other for other in others if grammar.accepts(other)] == []


def test_groups_nest_to_a_limit(compiler: llmask.Compiler) -> None:
    compiler.ebnf("root ::= " + "(" * 100 + '"a"' + ")" * 100)
    with pytest.raises(LimitExceeded, match="deeper than 100"):
        compiler.ebnf("root ::= " + "(" * 101 + '"a"' + ")" * 101)


def test_comments_are_read_once(compiler: llmask.Compiler) -> None:
    """`####` behind a name was taken for one comment, two, three, ... : 2^n ways to find that no `::=` follows."""
    grammar = compiler.ebnf("root ::= a " + "#" * 10_000 + '\na ::= "b"')
    assert grammar.accepts(b"b")
