"""Nodes of strings and keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.json_schema.strings import any_spelling, free_string, literal_string, other_strings

TEXTS = ["", "a", "né", 'q"\\', "\x7f", "\n", "😀", "names"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_literal_has_one_spelling_and_a_name_all(judge: Any, text: str) -> None:
    nodes = judge.nodes
    literal, name = literal_string(nodes, text, ()), any_spelling(nodes, text)
    ascii_only, raw = (
        json.dumps(text).encode(),
        json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").encode(),
    )
    assert nodes.matches(literal, raw)
    assert nodes.matches(literal, ascii_only) == (ascii_only == raw)
    assert nodes.matches(name, raw)
    assert nodes.matches(name, ascii_only)
    assert not nodes.matches(name, b'"x"')


def test_other_strings_exclude_names_in_every_spelling(judge: Any) -> None:
    nodes = judge.nodes
    others = other_strings(nodes, ["a", "né"])
    for spelled in (b'"a"', b'"\\u0061"', '"né"'.encode(), b'"n\\u00E9"', b'"\\u006e\\u00e9"'):
        assert nodes.matches(free_string(nodes), spelled)
        assert not nodes.matches(others, spelled)
    for spelled in (b'"b"', b'""', b'"aa"', b'"n"', b'"\\u0062"', b'"A"'):
        assert nodes.matches(others, spelled)


def test_raw_controls_and_lone_surrogates_are_no_strings(judge: Any) -> None:
    nodes = judge.nodes
    for spelled in (b'"\n"', b'"\x7f"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b'"', b"a"):
        assert not nodes.matches(free_string(nodes), spelled)


def test_a_lone_surrogate_in_a_name_is_refused(judge: Any) -> None:
    with pytest.raises(GrammarError, match="lone surrogate"):
        judge.translate({"properties": {"a\ud800": {}}})


def test_named_formats_of_the_caller_go_first(judge: Any) -> None:
    schema = {"type": "array", "items": {"type": "string", "format": "date"}}
    grammar = judge.grammar(schema, formats={"date": "^[0-9]{4}$"})
    assert judge.accepts(grammar, ["2024"])
    assert not judge.accepts(grammar, ["2024-01-01"])
    assert judge.accepts(judge.grammar(schema, format="annotate"), ["whenever"])
    assert judge.accepts(judge.grammar(schema), ["2024-01-01"])
    annotated = judge.grammar(schema, format="annotate", formats={"date": "^[0-9]{4}$"})
    assert not judge.accepts(annotated, ["whenever"])


def test_free_strings_take_every_escape_and_patterns_see_the_text(judge: Any) -> None:
    grammar = judge.grammar({"type": "string", "pattern": "^é?/$", "maxLength": 2})
    for text in ('"é/"', '"\\u00e9\\/"', '"\\u00E9\\u002f"', '"/"'):
        assert judge.accepts_text(grammar, text)
    assert not judge.accepts_text(grammar, '"\\ud800"')
    surrogates = judge.grammar({"type": "string", "maxLength": 1, "minLength": 1})
    assert judge.accepts_text(surrogates, '"\\ud83d\\ude00"')
    assert not judge.accepts_text(surrogates, '"\\ud83d"')
