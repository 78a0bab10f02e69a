"""What grammars are made of: names are checked, bounds are bounded, and lexemes match what they say."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends import places
from llmask.frontends.bnf.elements import MAX_COUNT, MAX_DEPTH, Elements, Scanner
from llmask.frontends.places import similar
from llmask.grammar.expressions import EMPTY, Lexeme, Reference
from llmask.regex.code_points import CodePointSet
from tests.reference.regex_nodes import RegexNodes


@pytest.fixture
def elements() -> Elements:
    nodes: Any = RegexNodes()
    return Elements(nodes, Scanner("root ::= a b"))


def test_texts_and_classes_are_lexemes(elements: Elements) -> None:
    text, one = elements.text("é/"), elements.one_of(CodePointSet.of("a/"), "[a/]")
    assert isinstance(text, Lexeme)
    assert isinstance(one, Lexeme)
    assert elements.nodes.matches(text.node, "é/".encode())
    assert [elements.nodes.matches(one.node, data) for data in (b"a", b"/", b"b", b"aa")] == [True, True, False, False]
    assert (text.text, one.text) == ('"é/"', "/[a\\/]/")
    assert elements.text("") == EMPTY


def test_names_are_checked_in_the_end(elements: Elements) -> None:
    assert elements.reference("a", 9, "root") == Reference("a")
    elements.define("root", Reference("a"), 0)
    with pytest.raises(GrammarError, match='rule "root" uses "a", which is not defined\n  at line 1, column 10'):
        elements.grammar("root")
    elements.define("a", EMPTY, 9)
    grammar = elements.grammar("root")
    assert dict(grammar.rules) == {"root": Reference("a"), "a": EMPTY}
    assert dict(grammar.places) == {"root": "line 1, column 1", "a": "line 1, column 10"}
    with pytest.raises(GrammarError, match='there is no rule "start"'):
        elements.grammar("start")


def test_bounds_and_depth_have_limits(elements: Elements) -> None:
    assert elements.count(str(MAX_COUNT), 0) == MAX_COUNT
    for digits in (str(MAX_COUNT + 1), "9" * 5000):
        with pytest.raises(GrammarError, match="more than"):
            elements.count(digits, 0)
    elements.check_bounds(2, None, 0)
    elements.check_bounds(2, 2, 0)
    with pytest.raises(GrammarError, match="cannot be"):
        elements.check_bounds(3, 2, 0)
    elements.check_depth(MAX_DEPTH - 1, 0)
    with pytest.raises(LimitExceeded, match="deeper than"):
        elements.check_depth(MAX_DEPTH, 0)


def test_places_have_a_line_a_column_and_a_caret() -> None:
    scanner = Scanner("ab\r\n\tcé d\nlast")
    assert scanner.place(0) == "line 1, column 1\n    ab\n    ^"
    assert scanner.place(7) == "line 2, column 4\n    \tcé d\n    \t  ^"
    assert scanner.place(14) == "line 3, column 5\n    last\n        ^"


@pytest.mark.parametrize("at", [0, 10, 49, 50, 51, 150, 250, 299])
def test_long_lines_are_cut_around_the_place(at: int) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(300))
    where, shown, caret = Scanner("x\n" + text).place(2 + at).split("\n")
    assert where == f"line 2, column {at + 1}"
    assert len(shown) == places.SHOWN + 4
    assert shown[caret.index("^")] == text[at]


def test_reading() -> None:
    scanner = Scanner("ab12")
    assert scanner.take_while(frozenset("ab")) == "ab"
    assert (scanner.peek(), scanner.peek(1), scanner.peek(2), scanner.here()) == ("1", "2", "", "'1'")
    assert scanner.take_hex(2, 0) == 0x12
    assert scanner.here() == "the end of the grammar"
    with pytest.raises(GrammarError, match="takes 4 hexadecimal digits"):
        scanner.take_hex(4, 0)


def test_names_that_are_like_a_known_one() -> None:
    assert similar("item", ["items", "list"]) == 'define it, or did you mean "items"?'
    assert similar("item", ["list"]) == "define it"
