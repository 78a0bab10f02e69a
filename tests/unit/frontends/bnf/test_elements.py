"""What grammars are made of: names are checked, bounds are bounded, and lexemes match what they say."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends import places
from llmask.frontends.bnf.elements import MAX_COUNT, MAX_DEPTH, Reader
from llmask.frontends.bnf.gbnf import _Parser as Parser
from llmask.frontends.places import similar
from llmask.grammar.expressions import EMPTY, Lexeme, Reference
from llmask.regex.code_points import CodePointSet
from tests.reference.regex_nodes import RegexNodes


def reader_of(text: str) -> Reader:
    nodes: Any = RegexNodes()
    return Parser(nodes, text)


def parsed(text: str) -> Any:
    return reader_of(text).parse()[0]


def test_texts_and_classes_are_lexemes() -> None:
    reader = reader_of("")
    text, one = reader.string("é/"), reader.one_of(CodePointSet.of("a/"), "[a/]")
    assert isinstance(text, Lexeme)
    assert isinstance(one, Lexeme)
    assert reader.nodes.matches(text.node, "é/".encode())
    assert [reader.nodes.matches(one.node, data) for data in (b"a", b"/", b"b", b"aa")] == [True, True, False, False]
    assert (text.text, one.text) == ('"é/"', "/[a\\/]/")
    assert reader.string("") == EMPTY


def test_names_are_checked_in_the_end() -> None:
    with pytest.raises(GrammarError, match='rule "root" uses "a", which is not defined\n  at line 1, column 10'):
        parsed("root ::= a b")
    grammar = parsed('root ::= a\na ::= ""')
    assert dict(grammar.rules) == {"root": Reference("a"), "a": EMPTY}
    assert dict(grammar.places) == {"root": "line 1, column 1", "a": "line 2, column 1"}
    with pytest.raises(GrammarError, match='there is no rule "root"'):
        parsed('start ::= ""')


def test_bounds_and_depth_have_limits() -> None:
    assert parsed(f'root ::= "a"{{{MAX_COUNT}}}').rules["root"].low == MAX_COUNT
    for digits in (str(MAX_COUNT + 1), "9" * 5000):
        with pytest.raises(GrammarError, match="more than"):
            parsed(f'root ::= "a"{{{digits}}}')
    assert [parsed(f'root ::= "a"{bounds}').rules["root"].high for bounds in ("{2,}", "{2,2}")] == [None, 2]
    with pytest.raises(GrammarError, match="cannot be"):
        parsed('root ::= "a"{3,2}')
    parsed(f'root ::= {"(" * MAX_DEPTH}"a"{")" * MAX_DEPTH}')
    with pytest.raises(LimitExceeded, match="deeper than"):
        parsed(f'root ::= {"(" * (MAX_DEPTH + 1)}"a"{")" * (MAX_DEPTH + 1)}')


def test_places_have_a_line_a_column_and_a_caret() -> None:
    reader = reader_of("ab\r\n\tcé d\nlast")
    assert reader.place(0) == "line 1, column 1\n    ab\n    ^"
    assert reader.place(7) == "line 2, column 4\n    \tcé d\n    \t  ^"
    assert reader.place(14) == "line 3, column 5\n    last\n        ^"


@pytest.mark.parametrize("at", [0, 10, 49, 50, 51, 150, 250, 299])
def test_long_lines_are_cut_around_the_place(at: int) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(300))
    where, shown, caret = reader_of("x\n" + text).place(2 + at).split("\n")
    assert where == f"line 2, column {at + 1}"
    assert len(shown) == places.SHOWN + 4
    assert shown[caret.index("^")] == text[at]


def test_reading() -> None:
    reader = reader_of("ab12")
    assert reader.take_while(frozenset("ab")) == "ab"
    assert (reader.peek(), reader.peek(1), reader.peek(2), reader.here()) == ("1", "2", "", "'1'")
    assert reader.take_hex(2, 0) == 0x12
    assert reader.here() == "the end of the grammar"
    with pytest.raises(GrammarError, match="takes 4 hexadecimal digits"):
        reader.take_hex(4, 0)


def test_names_that_are_like_a_known_one() -> None:
    assert similar("item", ["items", "list"]) == 'define it, or did you mean "items"?'
    assert similar("item", ["list"]) == "define it"
