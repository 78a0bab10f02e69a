"""Tags and what ends them; texts are in tests/contract/structural_tag_specs.py, tokens in test_tokens.py."""

from __future__ import annotations

from typing import Any

import llmask

TEXT = {"type": "any_text"}


def test_the_same_content_is_one_rule(compiler: llmask.Compiler) -> None:
    tags: list[Any] = [{"begin": begin, "content": TEXT, "end": ">"} for begin in ("<a:", "<b:")]
    form = {"type": "triggered_tags", "triggers": ["<"], "tags": tags, "at_least_one": True}
    assert str(compiler.structural_tag({"format": form})).count("tag_0:") == 1


def test_formats_in_rules_end_with_the_tag_around_them(compiler: llmask.Compiler) -> None:
    rules = [["x", {"type": "sequence", "elements": [TEXT, {"type": "const_string", "value": "!"}]}]]
    tag = {"type": "tag", "begin": "<", "content": {"type": "dispatch", "rules": rules, "excludes": [">"]}, "end": ">"}
    grammar = compiler.structural_tag({"format": tag})
    assert grammar.accepts("<axb!>")
    assert not grammar.accepts("<axb>!>")


def test_several_ends_are_all_excluded(compiler: llmask.Compiler) -> None:
    grammar = compiler.structural_tag({"format": {"type": "tag", "begin": "", "content": TEXT, "end": ["A", "B", ""]}})
    assert grammar.accepts("xB")
    assert grammar.accepts("x")
    assert not grammar.accepts("xAyB")
