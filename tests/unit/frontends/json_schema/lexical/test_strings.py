"""Nodes of strings and keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.json_schema.lexical.strings import (
    MAX_LITERAL,
    any_spelling,
    free_string,
    literals_of,
    other_strings,
    spelled_string,
)

TEXTS = ["", "a", "né", 'q"\\', "\x7f", "\n", "😀", "names"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_literal_has_one_spelling_and_a_name_all(judge: Any, text: str) -> None:
    nodes = judge.nodes
    literal, name = literals_of(nodes, [spelled_string(text, ())]), any_spelling(nodes, text)
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


LONG = "k" * (MAX_LITERAL + 1)
WITH_LONG: list[Any] = [
    {"type": "object", "properties": {LONG: {}}},
    {"type": "object", "required": [LONG]},
    {"type": "object", "dependentRequired": {LONG: ["a"]}},
    {"type": "object", "propertyNames": {"not": {"const": LONG}}},
    {"not": {"const": LONG}},
    {"type": "string", "not": {"enum": ["a", LONG]}},
    {"const": {LONG: 1}},
]


@pytest.mark.parametrize("schema", WITH_LONG)
def test_a_long_key_is_refused_before_its_letters_are_nodes(judge: Any, schema: Any) -> None:
    # two million nodes were made of a key of 4 MB before the limit of the store was met; 10 MB took 21 s
    before = judge.nodes.n_nodes
    with pytest.raises(LimitExceeded) as caught:
        judge.translate(schema)
    assert caught.value.message == (
        f"a key or a string of const or enum has {len(LONG)} characters, more than {MAX_LITERAL}"
    )
    assert judge.nodes.n_nodes - before < 1000


PAIR = "\ud83d\ude00"  # what a JSON reader never gives, and other languages take for one character
WITH_PAIR: list[Any] = [
    {"type": "object", "patternProperties": {PAIR: {}}},
    {"type": "object", "patternProperties": {f"[{PAIR}]": False}},
    {"type": "object", "dependentRequired": {PAIR: ["a"]}},
    {"type": "object", "dependentRequired": {"a": [PAIR]}},
    {"type": "object", "dependentSchemas": {PAIR: {"required": ["a"]}}},
    {"type": "object", "properties": {PAIR: {}}},
    {"type": "object", "not": {"required": [PAIR]}},
    {"type": "object", "propertyNames": {"not": {"const": PAIR}}},
    {"pattern": PAIR},
    {"not": {"type": "string", "pattern": PAIR}},
    {"not": {"enum": [PAIR]}},
    {"const": PAIR},
]


@pytest.mark.parametrize("schema", WITH_PAIR)
def test_two_surrogates_for_one_character_are_refused(judge: Any, schema: Any) -> None:
    with pytest.raises(GrammarError, match="surrogate") as caught:
        judge.translate(schema)
    assert caught.value.where is not None


def test_what_says_how_to_join_surrogates_joins_them(judge: Any) -> None:
    with pytest.raises(GrammarError) as caught:
        judge.translate({"type": "object", "patternProperties": {f"a{PAIR}": {}}})
    assert str(caught.value) == (
        '"patternProperties": two surrogates stand here for one character\n'
        "  at #/patternProperties, column 2 of the pattern a\\ud83d\\ude00\n"
        '  join them: text.encode("utf-16", "surrogatepass").decode("utf-16")'
    )
    assert PAIR.encode("utf-16", "surrogatepass").decode("utf-16") == "😀"


@pytest.mark.parametrize(
    ("escapes", "accepted", "refused"),
    [
        ("all", ['"é\\n"', '"\\u00e9\\u000A"', '"\\/"', '"\\u0001"'], ['"\n"']),
        (
            "minimal",
            ['"é\\n\\"\\\\"', '"\\u0001\\u007f/"'],
            ['"\\u00e9"', '"\\u000a"', '"\\/"', '"\\u000A"', '"\\u0022"'],
        ),
        ({"u"}, ['"\\u00e9\\u000A\\u0022"', '"\\uD83D\\ude00"'], ['"\\n"', '"\\""', '"\\\\"', '"\\/"']),
        ("n/", ['"\\n\\/\\""', '"\\u0001"', '"\\t"'], ['"\\u00e9"', '"\\u000a"']),
    ],
)
def test_escapes_of_free_strings_keys_and_patterns(
    judge: Any, escapes: Any, accepted: list[str], refused: list[str]
) -> None:
    schemas = [{"type": "string"}, {"type": "string", "pattern": "^[^x]+$", "maxLength": 4}, {"not-a-keyword": 1}]
    for schema in schemas:
        grammar = judge.grammar(schema, escapes=escapes)
        assert [text for text in accepted if not grammar.accepts(text)] == []
        assert [text for text in refused if grammar.accepts(text)] == []
    keys = judge.grammar({"type": "object", "properties": {"k": {"type": "null"}}}, escapes=escapes)
    assert [text for text in accepted if not keys.accepts(f"{{{text}:1}}")] == []
    assert [text for text in refused if keys.accepts(f"{{{text}:1}}")] == []


def test_escapes_leave_what_a_schema_means(judge: Any) -> None:
    # the key of one control character matches the pattern in each style, and the free key must not be a declared one
    schema = {
        "properties": {"\x01": {}, "a\n": {"type": "null"}},
        "patternProperties": {"^[\\x00-\\x1f]$": {"type": "integer"}},
    }
    for escapes in ("all", "minimal", "u", "n", "/"):
        grammar = judge.grammar(schema, escapes=escapes)
        assert grammar.accepts('{"\\u0001":1,"a\\n":null,"b":true}')
        for text in (
            '{"\\u0001":"x"}',
            '{"a\\n":1}',
            '{"a\\u000a":1}',
            '{"\\u0061\\n":1}',
            '{"\\u0002":true}',
            '{"\\b":0.5}',
        ):
            assert not grammar.accepts(text), (escapes, text)


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": ["é\n", 1.0, ["/", {"é\n": None}]]},
        {"anyOf": [{"const": "é\n"}, {"const": 1.0}, {"const": ["/", {"é\n": None}]}]},
        {"const": {"é\n": ["é\n"]}},
        {"type": "object", "properties": {"é\n": {"const": "é\n"}}, "additionalProperties": False},
    ],
)
def test_literals_in_one_spelling_or_any(judge: Any, schema: Any) -> None:

    one, every = judge.grammar(schema), judge.grammar(schema, literals="any")
    minimal = judge.grammar(schema, literals="any", escapes="minimal")
    spellings = ['"é\\n"', '"\\u00e9\\n"', '"é\\u000A"', '"\\u00E9\\u000a"']
    n_strings = 0
    for spelled in spellings:
        for text in (spelled, f'["/",{{{spelled}:null}}]', f"{{{spelled}:[{spelled}]}}", f"{{{spelled}:{spelled}}}"):
            is_document = every.accepts(text)
            n_strings += is_document
            assert one.accepts(text) == (is_document and spelled == spellings[0])
            assert minimal.accepts(text) == (is_document and spelled == spellings[0])
    assert n_strings in (4, 8)
    assert every.accepts("1") == one.accepts("1")
    assert not every.accepts('"e\\n"')


def test_long_lists_in_any_spelling(judge: Any) -> None:
    words = [f"word {number}é" for number in range(300)]
    grammar = judge.grammar({"enum": [*words, 7]}, literals="any")
    for text in ('"word 299é"', '"\\u0077ord 0\\u00e9"', "7"):
        assert grammar.accepts(text)
    for text in ('"word 300é"', '"\\u0077ord 0e"', '"7"', "8"):
        assert not grammar.accepts(text)
