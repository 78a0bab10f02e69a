"""What a response format asks for; whole messages about bad ones. What each allows is tested through `Compiler`."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.response_formats import TYPES, read_response_format
from llmask.limits import Limits
from tests.contract.response_formats import CASES, SCHEMA


@pytest.mark.parametrize("name", CASES)
def test_text_and_documents_are_read_alike(name: str) -> None:
    document = CASES[name].document
    wanted = read_response_format(document, Limits())
    assert read_response_format(json.dumps(document), Limits()) == wanted
    assert read_response_format(json.dumps(document).encode(), Limits()) == wanted


def test_the_place_of_what_is_compiled_is_known() -> None:
    places = {
        "chat": "#/json_schema/schema/x",
        "responses, whole": "#/format/schema/x",
        "object": "#/x",
        "object with a schema": "#/schema/x",
        "structural tag": "#/x",
    }
    for name, where in places.items():
        assert read_response_format(CASES[name].document, Limits()).place_of("#/x") == where
    wanted = read_response_format(CASES["custom of chat"].document, Limits())
    assert wanted.place_of("line 1, column 2") == "#/custom/format/grammar/definition, line 1, column 2"
    wanted = read_response_format(CASES["chat"].document, Limits())
    assert wanted.place_of(None) is None
    assert wanted.place_of("https://example.org/other#/x") == "https://example.org/other#/x"


def test_the_document_is_a_copy() -> None:
    document = {"type": "json_schema", "schema": {"enum": [1]}}
    wanted = read_response_format(document, Limits())
    document["schema"]["enum"].append(2)  # type: ignore[index]
    assert wanted.source == {"enum": [1]}


KNOWN = ", ".join(TYPES)
BAD: list[tuple[Any, str]] = [
    ({"type": None}, f"the response format has no type\n  at #\n  add one: {KNOWN}"),
    ({"format": {}}, f"the response format has no type\n  at #/format\n  add one: {KNOWN}"),
    ({"format": {"format": {"type": "text"}}}, f"the response format has no type\n  at #/format\n  add one: {KNOWN}"),
    ({"type": ["text"]}, "this is an array, where a string is needed\n  at #/type\n  write a string"),
    ([{"type": "text"}], 'a response format is an object, not an array\n  at #\n  write {"type": ...}'),
    (None, 'a response format is an object, not null\n  at #\n  write {"type": ...}'),
    ({"format": "json"}, 'a format is an object, not a string\n  at #/format\n  write {"type": ...}'),
    (
        {"type": "json_object", "json_schema": {"schema": SCHEMA}},
        'the response format "json_object" has no field "json_schema"\n  at #/json_schema\n'
        '  take it out; its fields are type, schema, or did you mean "schema"?',
    ),
    (
        {"type": "json_object", "schema": "integer"},
        'a schema is an object, not a string\n  at #/schema\n  write {"type": "object", ...}',
    ),
    (
        {"type": "text", "json_schema": {"schema": SCHEMA}},
        'the response format "text" has no field "json_schema"\n  at #/json_schema\n  take it out; its fields are type',
    ),
    (
        {"format": {"type": "text"}, "verbose": 1},
        'a response format without a type has no field "verbose"\n  at #/verbose\n'
        '  take it out; its fields are format, verbosity, or did you mean "verbosity"?',
    ),
    ({"type": "json_schema"}, 'a schema with its name needs the field "schema"\n  at #\n  add it'),
    (
        {"type": "json_schema", "json_schema": {"name": "n"}},
        'a schema with its name needs the field "schema"\n  at #/json_schema\n  add it',
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": SCHEMA}, "strict": True},
        'a response format with a schema has no field "strict"\n  at #/strict\n'
        "  take it out; its fields are type, json_schema",
    ),
    (
        {"type": "json_schema", "schema": SCHEMA, "name": 1},
        "this is a number, where a string is needed\n  at #/name\n  write a string",
    ),
    (
        {"type": "json_schema", "schema": "{}"},
        'a schema is an object, not a string\n  at #/schema\n  write {"type": "object", ...}',
    ),
    ({"type": "grammar", "syntax": "lark"}, 'a grammar needs the field "definition"\n  at #\n  add it'),
    (
        {"type": "grammar", "grammar": 'root ::= "a"'},
        'a grammar is an object, not a string\n  at #/grammar\n  write {"syntax": "lark", "definition": ...}',
    ),
    (
        {"type": "grammar", "syntax": "regex", "definition": "\ud800"},
        "the string holds a lone surrogate, which is no text\n  at #/definition\n  take it out",
    ),
    (
        {"type": "custom", "custom": {"name": "n"}, "format": {"type": "text"}},
        'a custom tool has no field "format"\n  at #/format\n  take it out; its fields are type, custom',
    ),
    (
        {"type": "custom", "name": "n", "input_schema": SCHEMA},
        'a custom tool has no field "input_schema"\n  at #/input_schema\n  take it out; its fields are '
        "type, name, description, format, defer_loading, allowed_callers, async",
    ),
    (
        '{"type": "text", "type": "text"}',
        'the response format is not JSON: the key "type" is used twice in one object\n  at #\n  keep one of them',
    ),
]


@pytest.mark.parametrize(("document", "message"), BAD)
def test_errors_say_where_and_how_to_mend(document: Any, message: str) -> None:
    with pytest.raises(GrammarError) as error:
        read_response_format(document, Limits())
    assert str(error.value) == message


class Model:
    """A class like that of a client's model."""


@pytest.mark.parametrize("given", [Model, int, list[int], int | None, Literal["a"]])
def test_types_are_for_json_schema(given: Any) -> None:
    with pytest.raises(GrammarError, match=r"not the type .*\n  Compiler.json_schema takes types"):
        read_response_format(given, Limits())


def test_hostile_documents_are_refused() -> None:
    own: dict[str, Any] = {"type": "custom"}
    own["custom"] = own["format"] = own
    deep = '{"format":' * 100_000
    for document in (own, {"format": own}, object(), 1.5, float("nan"), {1: 2}, {"type": "text", 1: 2}, b"\xff", ""):
        with pytest.raises(GrammarError):
            read_response_format(document, Limits())
    for text in (deep, " " * (Limits().max_schema_bytes + 1)):
        with pytest.raises(LimitExceeded, match="the response format"):
            read_response_format(text, Limits())
