"""References: pointers, anchors, identifiers and recursion."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError

TREE = {
    "$id": "https://example.org/tree",
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
    "additionalProperties": False,
}


def test_a_schema_may_refer_to_itself(judge: Any) -> None:
    leaf = {"value": 1}
    judge.agrees(
        TREE,
        [leaf, {"value": 2, "children": [leaf, {"value": 3, "children": []}]}],
        [{}, {"value": 1, "children": [1]}],
    )


def test_pointers_are_unescaped(judge: Any) -> None:
    schema = {"$defs": {"a/b~c d%": {"type": "null"}}, "$ref": "#/$defs/a~1b~0c%20d%25"}
    judge.agrees(schema, [None], [1])


def test_pointers_lead_to_any_place(judge: Any) -> None:
    schema = {"properties": {"a": {"type": "null"}, "b": {"$ref": "#/properties/a"}}}
    judge.agrees(schema, [{"b": None}], [{"b": 1}])
    listed = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/anyOf/0"}}]}
    judge.agrees(listed, [None, [None, None]], [[[None]], 1])


def test_anchors_and_identifiers(judge: Any) -> None:
    schema = {
        "$id": "https://example.org/root.json",
        "$defs": {
            "one": {"$anchor": "here", "type": "integer"},
            "two": {"$id": "two.json", "type": "string", "$defs": {"deep": {"type": "null"}}},
            "three": {"$id": "folder/", "$defs": {"x": {"$id": "x.json", "type": "boolean"}}},
        },
        "type": "array",
        "prefixItems": [
            {"$ref": "#here"},
            {"$ref": "two.json"},
            {"$ref": "https://example.org/two.json#/$defs/deep"},
            {"$ref": "folder/x.json"},
        ],
    }
    judge.agrees(schema, [[1, "a", None, True]], [["a"], [1, 1], [1, "a", 1], [1, "a", None, 1]])


def test_a_pointer_inside_an_embedded_schema_starts_there(judge: Any) -> None:
    schema = {
        "$defs": {
            "x": {"type": "string"},
            "inner": {"$id": "inner", "$defs": {"x": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/x"}}},
        },
        "properties": {"i": {"$ref": "inner"}, "x": {"$ref": "#/$defs/x"}},
    }
    judge.agrees(schema, [{"i": {"a": 1}, "x": "s"}], [{"i": {"a": "s"}}, {"x": 1}])


def test_identifiers_of_draft_4(judge: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.org/a",
        "definitions": {"n": {"id": "#number", "type": "number"}},
        "properties": {"id": {"type": "string"}, "n": {"$ref": "#number"}},
    }
    judge.agrees(schema, [{"id": "x", "n": 1.5}], [{"n": "a"}, {"id": 1}])


def test_siblings_of_a_reference_hold_too(judge: Any) -> None:
    schema = {
        "$defs": {"s": {"type": "string", "minLength": 2}},
        "properties": {"a": {"$ref": "#/$defs/s", "maxLength": 3}},
    }
    judge.agrees(schema, [{"a": "ab"}, {"a": "abc"}], [{"a": "a"}, {"a": "abcd"}, {"a": 1}])


def test_mutual_recursion(judge: Any) -> None:
    schema = {
        "$defs": {
            "even": {"type": "object", "properties": {"odd": {"$ref": "#/$defs/odd"}}, "additionalProperties": False},
            "odd": {
                "type": "object",
                "properties": {"even": {"$ref": "#/$defs/even"}},
                "required": ["even"],
                "additionalProperties": False,
            },
        },
        "$ref": "#/$defs/even",
    }
    judge.agrees(schema, [{}, {"odd": {"even": {}}}], [{"odd": {}}, {"even": {}}])


def test_a_long_chain_of_references_is_followed(judge: Any) -> None:
    """Each was compared with all before it: 3.4 s for 20,000."""
    chain: dict[str, Any] = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(2000)}
    grammar = judge.grammar({"$ref": "#/$defs/d0", "$defs": {**chain, "d2000": {"type": "null"}}})
    assert judge.accepts(grammar, None)
    assert not judge.accepts(grammar, 1)
    with pytest.raises(GrammarError, match="refers to itself"):
        judge.grammar({"$ref": "#/$defs/d0", "$defs": {**chain, "d2000": {"$ref": "#/$defs/d7"}}})
