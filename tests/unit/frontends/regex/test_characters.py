"""Classes and escapes of Python's syntax for every code point, against `re`."""

from __future__ import annotations

import re

import pytest

from llmask.derivatives.code_points import TEXT, CodePointSet
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.tree import Chars

CLASSES = [
    r"\w",
    r"\W",
    r"\d",
    r"\S",
    ".",
    "(?s:.)",
    "[^a]",
    r"[^\W\d_]",
    r"[\u0080-\U0001F600x]",
    r"(?i)[à-þ]",
    r"(?i)[^a-zſ]",
    r"(?i)\W",
    r"(?i)[\W]",
    "(?i)ι",
    "(?ai)[k-ſ]",
    r"(?a)[^\s\w]",
    r"[\N{GREEK SMALL LETTER ALPHA}-\N{GREEK SMALL LETTER OMEGA}]",
]


@pytest.mark.parametrize("pattern", CLASSES)
def test_a_class_has_the_members_that_re_gives_it(pattern: str) -> None:
    tree = PythonParser(pattern).parse()
    while not isinstance(tree, Chars):
        (tree,) = tree.options if hasattr(tree, "options") else tree.parts
    text = "".join(map(chr, TEXT))
    assert tree.members == CodePointSet.of("".join(re.findall(pattern, text)))
