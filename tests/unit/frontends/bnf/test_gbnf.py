r"""GBNF: what texts mean, and whole messages. tests/contract/test_llama_cpp_grammars.py asks llama.cpp itself."""

from __future__ import annotations

import pytest

import llmask
from llmask.errors import GrammarError, LimitExceeded

MEANINGS = [
    # grammar, sentences, other texts
    (r'root ::= "\x41\u00e9\U0001F600\n\t\r\\\"\[\]\-"', ['Aé😀\n\t\r\\"[]-'], ["A"]),
    ("root ::= [a-c]", ["a", "c"], ["d", "", "ab", "-"]),
    ("root ::= [-a]", ["-", "a"], ["b"]),
    ("root ::= [a-]", ["-", "a"], ["b"]),
    (r"root ::= [\]^]", ["]", "^"], ["\\"]),
    ("root ::= [^a]", ["b", "é", "\n"], ["a", "", "bb", "\0"]),
    ("root ::= .", ["b", "é", "😀", "\n"], ["", "ab", "\0"]),
    (r"root ::= [\x00-\x20]", ["\x01", " "], ["\0", "!"]),
    ("root ::= [] [^] x\nx ::= [a]", ["a"], ["", "aa"]),
    ('root ::= "ab"*', ["", "ab", "abab"], ["a", "aba", "abb"]),
    ('root ::= "a"+ "b"?', ["a", "aab"], ["", "b", "abb"]),
    ('root ::= "a"{2} "b"{1,2} "c"{2,}', ["aabcc", "aabbccc"], ["abcc", "aabbbcc", "aabc"]),
    ('root ::= "a"{2}{2}?', ["", "aaaa"], ["aa"]),
    ('root ::= ("a" | "b" "c")*', ["", "abca"], ["b", "ac"]),
    ('root ::= ("a"\n  |\n # or\n "b"\n) "c"', ["ac", "bc"], ["a"]),
    ('root ::= "a" |\n  "b"', ["a", "b"], ["ab"]),
    ('root ::= | "a"', ["", "a"], ["aa"]),
    ('root ::=\n  "a"  # end\n\n# more\nb ::= "b"', ["a"], ["b"]),
    ('root ::= a-1 b_2\r\na-1 ::= "x"\rb_2 ::= "y"', ["xy"], ["x"]),
    ('root ::= "a\nb"', ["a\nb"], ["ab"]),
    ('root ::= root "a" | "b"', ["b", "baa"], ["a", "ab"]),
    ('root ::= () "a" ()*', ["a"], [""]),
    ('root ::= "a"{0} "b"', ["b"], ["ab"]),
    ('root ::= 1\n1 ::= "x"', ["x"], ["1"]),
    ('root ::= "a"{0,100000}', ["", "a" * 500], ["b"]),
]


@pytest.mark.parametrize(("text", "sentences", "others"), MEANINGS)
def test_meaning(compiler: llmask.Compiler, text: str, sentences: list[str], others: list[str]) -> None:
    grammar = compiler.gbnf(text)
    assert [sentence for sentence in sentences if not grammar.accepts(sentence)] == []
    assert [other for other in others if grammar.accepts(other)] == []


def test_the_last_definition_counts_with_a_warning(compiler: llmask.Compiler) -> None:
    grammar = compiler.gbnf('root ::= "a"\nroot ::= "b"')
    grammar.matcher().accept_bytes(b"b")
    assert grammar.warnings == [
        'rule "root" is defined at line 1, column 1 and again at line 2, column 1; the last counts'
    ]


def test_rules_that_nothing_needs_are_warned_of(compiler: llmask.Compiler) -> None:
    found = compiler.gbnf('root ::= "a" | more\nmore ::= "b" more\nother ::= "c"').warnings
    assert found == [
        'rule "more" (line 2, column 1) derives nothing and is left out',
        'rule "other" (line 3, column 1) is never used',
    ]


def test_groups_nest_to_a_limit(compiler: llmask.Compiler) -> None:
    compiler.gbnf("root ::= " + "(" * 100 + '"a"' + ")" * 100)
    compiler.gbnf("root ::= " + '("b" | "c" (' * 50 + '"a"' + ")? root)+" * 50)
    with pytest.raises(LimitExceeded, match="deeper than 100"):
        compiler.gbnf("root ::= " + "(" * 101 + '"a"' + ")" * 101)


def test_a_grammar_is_a_str(compiler: llmask.Compiler) -> None:
    with pytest.raises(GrammarError, match="a grammar is a str, not bytes"):
        compiler.gbnf(b'root ::= "a"')  # type: ignore[arg-type]


def test_the_same_text_is_the_same_grammar(compiler: llmask.Compiler) -> None:
    assert compiler.gbnf('root ::= "a"') is compiler.gbnf('root ::= "a"')
    assert compiler.gbnf('root ::= "a"') is not compiler.ebnf('root ::= "a"')
