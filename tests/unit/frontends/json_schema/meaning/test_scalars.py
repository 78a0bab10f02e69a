"""The lexemes of scalar types."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.scalars import scalar_node
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation


@pytest.mark.parametrize(
    ("kind", "schema", "matched", "refused"),
    [
        ("boolean", {}, [b"true", b"false"], [b"null", b"0"]),
        ("boolean", {"not": {"const": True}}, [b"false"], [b"true"]),
        ("boolean", {"not": {"enum": [True, False, 1]}}, [], [b"true", b"false"]),
        ("null", {"not": {"enum": [0, ""]}}, [b"null"], [b"0"]),
        ("null", {"not": {"const": None}}, [], [b"null"]),
        ("string", {"maxLength": 1}, [b'"a"', b'""'], [b'"ab"']),
        ("integer", {}, [b"1", b"-0", b"1.0"], [b"1.5", b"1e1"]),
        ("number", {}, [b"1.5", b"1e1"], [b"01"]),
        ("number", {"minimum": 2}, [b"2", b"2.5"], [b"1.5", b"3e0"]),
    ],
)
def test_nodes(judge: Any, kind: str, schema: Any, matched: list[bytes], refused: list[bytes]) -> None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    parts = conjunction_of(translation, [(schema, ROOT)]).parts
    node = scalar_node(translation, kind, parts)
    assert [text for text in matched + refused if judge.nodes.matches(node, text)] == matched
    assert (node == judge.nodes.EMPTY) == (not matched)
