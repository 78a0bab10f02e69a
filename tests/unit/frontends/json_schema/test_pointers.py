"""JSON pointers of places."""

from __future__ import annotations

import pytest

from llmask.frontends.json_schema.pointers import ROOT, Path, pointer


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
