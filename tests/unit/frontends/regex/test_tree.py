"""What the parsers build: interegular's frame with leaves of our own."""

from __future__ import annotations

from interegular import patterns

from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.tree import Alternatives, Boundary, Chars, Edge, Look, Repeated, Sequence
from llmask.regex.code_points import NO_TEXT, CodePointSet


def test_a_pattern_becomes_its_tree() -> None:
    a = Chars(CodePointSet.of("a"))
    expected = Alternatives(
        (
            Sequence((Edge(False), Repeated(a, 2, None), Look(Alternatives((Sequence((a,)),)), False, True))),
            Sequence((Edge(True, NO_TEXT, CodePointSet.of("\n")),)),
        )
    )
    assert PythonParser("^a{2,}(?!a)|$").parse() == expected


def test_the_frame_is_interegulars() -> None:
    assert (Alternatives, Sequence, Repeated) == (patterns.Pattern, patterns._Concatenation, patterns._Repeated)


def test_flags_are_resolved_while_parsing() -> None:
    tree = PythonParser(r"(?ai)k\b").parse()
    ((chars, boundary),) = (option.parts for option in tree.options)
    assert chars == Chars(CodePointSet.of("kK"))
    assert isinstance(boundary, Boundary)
    assert ord("é") not in boundary.words
