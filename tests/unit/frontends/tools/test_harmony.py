"""Harmony as a format; what it derives is tested in test_writing.py."""

from __future__ import annotations

from llmask.frontends.tools.harmony import harmony_tag
from llmask.frontends.tools.requests import Tool
from llmask.frontends.tools.writing import Arguments, Marks, Writing


def test_the_last_mark_is_left_to_the_end_of_the_sequence() -> None:
    tools = [Tool("f", True, "#")]
    for ends in (True, False):
        writing = Writing(Marks(lambda name: False, lambda name, ends=ends: ends))  # type: ignore[misc]
        form = harmony_tag(writing, tools, "required", False, Arguments())
        assert ("{'type': 'const_string', 'value': '<|call|>'}" in str(form)) != ends
