"""The layout of objects: which keys have a name, how the others are divided."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning import object_layout
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of, is_false
from llmask.frontends.json_schema.meaning.object_layout import Layout, key_schemas, layout_of
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation


def laid_out(judge: Any, schema: Any) -> tuple[Translation, Layout]:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    return translation, layout_of(translation, conjunction_of(translation, [(schema, ROOT)]).parts)


def names(layout: Layout) -> dict[str, bool]:
    return {entry.name: entry.is_required for entry in layout.entries}


def test_names_come_in_the_order_of_the_text_and_required_ones_last(judge: Any) -> None:
    schema = {
        "required": ["z", "b"],
        "properties": {"c": True, "b": True},
        "allOf": [{"properties": {"a": True}, "required": ["y"]}],
    }
    _, layout = laid_out(judge, schema)
    assert list(names(layout).items()) == [("c", False), ("b", True), ("a", False), ("z", True), ("y", True)]


def test_too_many_cells_meet_a_limit(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_layout, "MAX_CELLS", 8)
    patterns = {f"{at}": {"minimum": at} for at in range(4)}
    with pytest.raises(LimitExceeded, match="more than 8 sets"):
        laid_out(judge, {"patternProperties": patterns})
    _, layout = laid_out(judge, {"patternProperties": {f"{at}": {"minimum": at} for at in range(3)}})
    assert len(layout.cells) == 8


def test_patterns_with_the_same_schema_are_one(judge: Any) -> None:
    patterns = {f"[a-z]{at}": {"type": "string"} for at in range(100)}
    _, layout = laid_out(judge, {"patternProperties": patterns, "additionalProperties": False})
    assert len(layout.cells) == 1
    schema = {"patternProperties": {"a": {"minimum": 2}, "^b": {"minimum": 2.0}, "c": {"maximum": 4}}}
    judge.agrees(schema, [{"a": 2, "b": 3}, {"ac": 3}, {"d": 0}], [{"a": 1}, {"xa": 0}, {"b": 1}, {"ac": 1}, {"bc": 5}])


def test_names_that_keys_must_be_are_looked_at_once_for_all_keys(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # the node of all names was made anew for each key: 60 KB took 8 s
    asked: list[Any] = []
    language = object_layout.name_language
    monkeypatch.setattr(object_layout, "name_language", lambda *given: asked.append(given) or language(*given))
    declared = [f"p{n}" for n in range(50)]
    schema = {"properties": dict.fromkeys(declared, True), "propertyNames": {"enum": declared[:25]}}
    translation, layout = laid_out(judge, schema)
    assert len(asked) <= 4
    refused = [entry.name for entry in layout.entries if is_false(entry.schemas)]
    assert refused in ([], declared[25:])
    parts = conjunction_of(translation, [(schema, ROOT)]).parts
    assert [is_false(key_schemas(translation, parts, name)) for name in declared] == [False] * 25 + [True] * 25
