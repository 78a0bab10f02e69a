"""llmask/grammar/attributes.py: what is said of rules, as it is written."""

from __future__ import annotations

from llmask.grammar.attributes import Attributes


def test_attributes_are_written_as_in_grammars() -> None:
    assert str(Attributes()) == ""
    assert str(Attributes(capture="x", temperature=0.5, max_tokens=3)) == '[capture="x", temperature=0.5, max_tokens=3]'
