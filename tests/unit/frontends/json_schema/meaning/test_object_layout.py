"""The layout of objects: which keys have a name, how the others are divided."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning import object_layout
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of, is_false
from llmask.frontends.json_schema.meaning.object_layout import Layout, key_schemas, keys_node, layout_of
from llmask.frontends.json_schema.meaning.scalars import matches_pattern
from llmask.frontends.json_schema.meaning.synthetic import KeySet
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation


def laid_out(judge: Any, schema: Any) -> tuple[Translation, Layout]:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    return translation, layout_of(translation, conjunction_of(translation, [(schema, ROOT)]).parts)


def names(layout: Layout) -> dict[str, bool]:
    return {entry.name: entry.is_required for entry in layout.entries}


def cell_of(translation: Translation, layout: Layout, key: str) -> list[Any] | None:
    """What the value under a free key must fulfil; None where no cell has the key, which at most one may have."""
    found = [cell for cell in layout.cells if matches_pattern(translation, cell.keys, key)]
    assert len(found) <= 1
    return [schema for schema, _ in found[0].schemas] if found else None


def test_names_come_in_the_order_of_the_text_and_required_ones_last(judge: Any) -> None:
    schema = {
        "required": ["z", "b"],
        "properties": {"c": True, "b": True},
        "allOf": [{"properties": {"a": True}, "required": ["y"]}],
    }
    _, layout = laid_out(judge, schema)
    assert list(names(layout).items()) == [("c", False), ("b", True), ("a", False), ("z", True), ("y", True)]


def test_an_object_about_which_nothing_is_said_has_free_keys(judge: Any) -> None:
    translation, layout = laid_out(judge, {"minLength": 3})
    assert (layout.entries, layout.low, layout.high) == ([], 0, None)
    assert cell_of(translation, layout, "any key") == []


def test_a_forbidden_key_has_no_entry_and_no_cell(judge: Any) -> None:
    for beside in ({}, {"patternProperties": {"^x": True}}):
        translation, layout = laid_out(judge, {"properties": {"a": False, "b": True}, **beside})
        assert names(layout) == {"b": False}
        assert cell_of(translation, layout, "a") is None
        assert cell_of(translation, layout, "c") == []


def test_a_forbidden_key_that_is_required_stays(judge: Any) -> None:
    _, layout = laid_out(judge, {"properties": {"a": False}, "required": ["a"]})
    assert names(layout) == {"a": True}
    assert is_false(layout.entries[0].schemas)


def test_free_keys_are_divided_by_the_patterns_that_match(judge: Any) -> None:
    one, two, three = {"minimum": 1}, {"minimum": 2}, {"minimum": 3}
    schema = {
        "properties": {"ab": True},
        "patternProperties": {"^a": one, "b$": two},
        "additionalProperties": three,
    }
    translation, layout = laid_out(judge, schema)
    keys = {"a": [one], "b": [two], "a-b": [one, two], "c": [three], "": [three], "ab": None}
    assert {key: cell_of(translation, layout, key) for key in keys} == keys
    assert len(layout.cells) == 4
    assert [schema for schema, _ in layout.entries[0].schemas] == [True, one, two]


def test_additional_properties_see_the_names_of_their_own_schema_only(judge: Any) -> None:
    other, rest = {"minimum": 1}, {"minimum": 2}
    schema = {"properties": {"a": True}, "allOf": [{"properties": {"b": other}, "additionalProperties": rest}]}
    translation, layout = laid_out(judge, schema)
    found = {entry.name: [schema for schema, _ in entry.schemas] for entry in layout.entries}
    assert found == {"a": [True, rest], "b": [other]}
    assert cell_of(translation, layout, "c") == [rest]


def test_names_of_properties_bind_declared_keys_and_free_ones(judge: Any) -> None:
    schema = {"properties": {"a": True, "b": True}, "propertyNames": {"pattern": "^[ac]"}}
    translation, layout = laid_out(judge, schema)
    assert names(layout) == {"a": False}
    assert [cell_of(translation, layout, key) for key in ("b", "c", "a2", "d")] == [None, [], [], None]


def test_cells_without_keys_are_left_out(judge: Any) -> None:
    schema = {"patternProperties": {"^a": True, "^b": {}, "": {"minimum": 1}}, "additionalProperties": {"minimum": 2}}
    translation, layout = laid_out(judge, schema)
    assert len(layout.cells) == 3
    assert cell_of(translation, layout, "x") == [{"minimum": 1}]


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


def test_keys_of_a_set(judge: Any) -> None:
    translation = Translation(judge.nodes, True, SchemaOptions())
    for keys, inside, outside in (
        (KeySet(ROOT), ["", "a"], []),
        (KeySet(ROOT, ("a", "b")), ["c", "ab", ""], ["a", "b"]),
        (KeySet(ROOT, (), ("^a",)), ["b", ""], ["a", "ab"]),
        (KeySet(ROOT, ("b",), ("^a",), "b"), ["bb", "cb"], ["b", "ab", "c"]),
        (KeySet(ROOT, refused_by=({"maxLength": 1}, ROOT)), ["ab"], ["", "a", "é"]),
        (KeySet(ROOT, refused_by=({"type": "null"}, ROOT)), ["", "a"], []),
    ):
        node = keys_node(translation, keys)
        assert all(matches_pattern(translation, node, key) for key in inside), keys
        assert not any(matches_pattern(translation, node, key) for key in outside), keys


def test_a_key_is_described_by_all_that_is_said_of_it(judge: Any) -> None:
    schema = {
        "properties": {"a": {"minimum": 1}},
        "patternProperties": {"a": {"minimum": 2}},
        "allOf": [{"additionalProperties": {"minimum": 3}}, {"propertyNames": {"maxLength": 1}}],
    }
    translation = Translation(judge.nodes, schema, SchemaOptions())
    parts = conjunction_of(translation, [(schema, ROOT)]).parts

    def said(name: str) -> list[Any]:
        return [schema for schema, _ in key_schemas(translation, parts, name)]

    assert said("a") == [{"minimum": 1}, {"minimum": 2}, {"minimum": 3}]
    assert said("b") == [{"minimum": 3}]
    assert said("ba") == [{"minimum": 2}, {"minimum": 3}, False]


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
