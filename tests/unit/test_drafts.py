"""Schemas as their declared draft reads them (bench/drafts.py)."""

from __future__ import annotations

from bench.drafts import as_declared

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def test_what_stands_beside_a_reference_goes() -> None:
    schema = {
        "$schema": DRAFT_4,
        "properties": {"a": {"$ref": "#/definitions/a", "minimum": 3}},
        "definitions": {"a": {}},
    }
    assert as_declared(schema)["properties"] == {"a": {"$ref": "#/definitions/a"}}


def test_younger_keywords_go_and_properties_of_that_name_stay() -> None:
    schema = {"$schema": DRAFT_4, "const": 1, "properties": {"const": {"const": 2, "type": "integer"}}}
    assert as_declared(schema) == {"$schema": DRAFT_4, "properties": {"const": {"type": "integer"}}}


def test_schemas_of_no_or_a_new_draft_stay_as_they_are() -> None:
    for extra in ({}, {"$schema": "https://json-schema.org/draft/2020-12/schema"}):
        schema = {"$ref": "#/$defs/a", "const": 1, "$defs": {"a": {}}, **extra}
        assert as_declared(schema) is schema
