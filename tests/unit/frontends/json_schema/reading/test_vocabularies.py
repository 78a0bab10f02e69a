"""`$vocabulary`: meta-schemas that leave out keywords."""

from __future__ import annotations

from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from llmask.errors import GrammarError, UnsupportedSchema
from llmask.frontends.json_schema.reading.vocabularies import KEYWORDS_OF, URI_2019, URI_2020, left_out, without

TWENTY = "https://json-schema.org/draft/2020-12/schema"


def registry(*names: str) -> Any:
    meta_schema = {"$schema": TWENTY, "$vocabulary": {URI_2020 + name: True for name in ("core", "applicator", *names)}}
    return Registry().with_resource("urn:meta", DRAFT202012.create_resource(meta_schema))


def test_keywords_of_the_vocabularies_that_are_missing() -> None:
    new = {URI_2020 + name: True for name in ("core", "applicator")}
    assert left_out(new, "urn:m") == KEYWORDS_OF["validation"] | KEYWORDS_OF["unevaluated"]
    assert left_out({**new, URI_2020 + "validation": False, "urn:other": False}, "urn:m") == KEYWORDS_OF["unevaluated"]
    assert left_out({URI_2019 + "core": True, URI_2019 + "applicator": True}, "urn:m") == KEYWORDS_OF["validation"]
    only = left_out({URI_2020 + "validation": True}, "urn:m")
    assert {"properties", "not", "items", "unevaluatedItems", "dependencies"} <= only
    assert not only & {"$defs", "definitions", "minimum", "$ref", "format"}


@pytest.mark.parametrize(
    ("vocabulary", "error", "message"),
    [
        (3, GrammarError, "must be an object"),
        ({URI_2020 + "core": "yes"}, GrammarError, "must be an object"),
        ({"urn:other": True}, UnsupportedSchema, "requires the vocabulary urn:other"),
        ({URI_2020 + "other": True}, UnsupportedSchema, "requires the vocabulary"),
    ],
)
def test_what_is_refused(vocabulary: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        left_out(vocabulary, "urn:m")
    assert caught.value.where == "urn:m#/$vocabulary"  # type: ignore[attr-defined]


def test_only_keywords_are_taken_out() -> None:
    schema = {
        "type": "object",
        "properties": {"type": {"minimum": 3, "items": {"maximum": 3}}, "x": True},
        "allOf": [{"const": 3, "prefixItems": [{"enum": [{"type": 3}]}]}],
        "unknown": {"type": 3},
        "$defs": {"other": {"$id": "urn:x", "$schema": TWENTY, "minimum": 3}},
    }
    kept = without(schema, KEYWORDS_OF["validation"])
    assert kept == {
        "properties": {"type": {"items": {}}, "x": True},
        "allOf": [{"prefixItems": [{}]}],
        "unknown": {"type": 3},
        "$defs": {"other": {"$id": "urn:x", "$schema": TWENTY, "minimum": 3}},
    }
    assert "type" in schema
    assert without(True, KEYWORDS_OF["validation"]) is True


def test_a_schema_is_read_without_what_its_meta_schema_leaves_out(judge: Any) -> None:
    schema = {
        "$schema": "urn:meta",
        "properties": {"a": False, "b": {"minimum": 10}, "c": {"$ref": "#/properties/b"}},
    }
    for names, is_enforced in (((), False), (("validation",), True)):
        grammar = judge.grammar(schema, registry=registry(*names))
        assert judge.accepts(grammar, {"b": 20, "c": 20})
        assert not judge.accepts(grammar, {"a": 1})
        assert judge.accepts(grammar, {"b": 1}) is not is_enforced
        assert judge.accepts(grammar, {"c": 1}) is not is_enforced


def test_registered_documents_have_their_own_meta_schema(judge: Any) -> None:
    document = {"$schema": "urn:meta", "properties": {"b": {"minimum": 10}}}
    documents = registry().with_resource("urn:document", DRAFT202012.create_resource(document))
    grammar = judge.grammar({"$ref": "urn:document", "required": ["b"]}, registry=documents)
    assert judge.accepts(grammar, {"b": 1})
    assert not judge.accepts(grammar, {})


def test_an_embedded_document_with_vocabularies_of_its_own_is_refused(judge: Any) -> None:
    schema = {"$ref": "#/$defs/x", "$defs": {"x": {"$id": "urn:x", "$schema": "urn:meta"}}}
    with pytest.raises(UnsupportedSchema, match="leaves out vocabularies") as caught:
        judge.grammar(schema, registry=registry())
    assert caught.value.where == "#/$defs/x/$schema"
