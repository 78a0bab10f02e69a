"""Places in a text: lines, columns, carets, and what stands there."""

from __future__ import annotations

import pytest

from llmask.errors import GrammarError
from llmask.frontends.bnf.scanner import SHOWN, Scanner
from llmask.frontends.places import similar


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
    assert len(shown) == SHOWN + 4
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
