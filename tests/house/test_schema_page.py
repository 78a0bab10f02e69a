"""The page on JSON Schema has every format that is enforced, and no other."""

from __future__ import annotations

import re

import pytest

import llmask
from llmask.frontends.json_schema.formats import FORMATS

from .test_readme import read

SECTION = read("docs/json_schema.md").partition("### Formats\n")[2].partition("\n### ")[0]
KNOWN, UNKNOWN = SECTION.partition("Any other name")[::2]


def test_the_page_lists_the_formats_that_are_enforced() -> None:
    assert sorted(set(re.findall(r"`([a-z0-9-]+)`", KNOWN))) == sorted(FORMATS)


@pytest.mark.long
@pytest.mark.parametrize("name", re.findall(r"`([a-z0-9]+)`", UNKNOWN.partition(": ")[2].partition(", a misspelt")[0]))
@pytest.mark.parametrize("unsupported", ["error", "ignore"])
def test_formats_that_are_not_known_ask_nothing_and_are_named(name: str, unsupported: str) -> None:
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    grammar = compiler.json_schema({"format": name}, unsupported=unsupported)
    assert grammar.accepts('"anything"')
    assert len(grammar.warnings) == 1
    assert f'the format "{name}" is unknown' in grammar.warnings[0]
    assert ("#", "format") in [entry[:2] for entry in grammar.ledger if entry[2].startswith("ignored")]
