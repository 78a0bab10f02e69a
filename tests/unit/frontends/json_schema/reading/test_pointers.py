"""JSON pointers of places."""

from __future__ import annotations

import pytest

from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT
from llmask.frontends.json_schema.reading.pointers import ROOT, Path, Resource, Scope, keys_of, pointer


@pytest.mark.parametrize(
    ("path", "keys", "expected"),
    [
        (ROOT, (), "#"),
        (ROOT, ("type",), "#/type"),
        (((ROOT, "allOf", 0), "properties", "a"), ("enum", 3), "#/allOf/0/properties/a/enum/3"),
        ((ROOT, "properties", "a/b~c"), (), "#/properties/a~1b~0c"),
        ((ROOT, "properties", ""), (), "#/properties/"),
    ],
)
def test_pointer(path: Path, keys: tuple[str | int, ...], expected: str) -> None:
    assert pointer(path, *keys) == expected


def test_a_place_in_another_document_shows_its_uri() -> None:
    scope = Scope()
    scope.resource = Resource({}, "urn:inner", ANY_DRAFT, "http://example.com/other.json", (ROOT, "$defs", "inner"))
    path = (scope, "properties", "a/b")
    assert pointer(path) == "http://example.com/other.json#/$defs/inner/properties/a~1b"
    assert pointer(path, "type") == "http://example.com/other.json#/$defs/inner/properties/a~1b/type"
    assert pointer(scope) == "http://example.com/other.json#/$defs/inner"
    keys, root = keys_of(path)
    assert keys == ["a/b", "properties"]
    assert root is scope
