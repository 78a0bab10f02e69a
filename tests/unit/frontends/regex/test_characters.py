"""Classes and escapes of Python's syntax for every code point, against `re`."""

from __future__ import annotations

import pytest

from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import Alternatives, Chars, Sequence, Tree
from tests.reference.every_code_point import members_by_re

CLASSES = [
    ("", r"\w"),
    ("", r"\W"),
    ("", r"\d"),
    ("", r"\S"),
    ("", "."),
    ("(?s)", "."),
    ("", "[^a]"),
    ("", r"[^\W\d_]"),
    ("", r"[\u0080-\U0001F600x]"),
    ("", r"[\N{GREEK SMALL LETTER ALPHA}-\N{GREEK SMALL LETTER OMEGA}]"),
    ("(?i)", "[à-þ]"),
    ("(?i)", "[^a-zſ]"),
    ("(?i)", r"\W"),
    ("(?i)", r"[\W]"),
    ("(?i)", r"[^\Wi]"),
    ("(?i)", "ι"),
    ("(?i)", r"[\U00010400-\U00010410]"),
    ("(?ai)", "[k-ſ]"),
    ("(?a)", r"[^\s\w]"),
]


@pytest.mark.parametrize(("flags", "pattern"), CLASSES)
def test_a_class_has_the_members_that_re_gives_it(flags: str, pattern: str) -> None:
    tree: Tree = PythonParser(flags + pattern).parse()
    while isinstance(tree, (Alternatives, Sequence)):
        (tree,) = tree.options if isinstance(tree, Alternatives) else tree.parts
    assert isinstance(tree, Chars)
    assert tree.members == members_by_re(pattern, flags)
