"""Registries: what was taken from one, described, and made again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT202012

from llmask.errors import GrammarError, LlmaskError
from llmask.frontends.json_schema.reading.documents import Documents
from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT, DRAFT_4
from llmask.frontends.json_schema.reading.registries import (
    Described,
    check_registry,
    described,
    registered_draft,
    registry_of,
)


def taken(registry: Any, *uris: str) -> list[Any]:
    documents = Documents({}, registry)
    for uri in uris:
        assert documents.find(uri) is not None
    return documents.taken


def test_what_is_no_registry_is_refused() -> None:
    check_registry(Registry())
    with pytest.raises(GrammarError, match=r"must be a referencing\.Registry, not dict"):
        check_registry({})


def test_only_what_was_asked_for_is_described() -> None:
    registry = Registry().with_resources([
        ("urn:old", DRAFT4.create_resource({"id": "urn:old", "type": "string"})),
        ("urn:opaque", Resource.opaque(True)),
        ("urn:never", DRAFT202012.create_resource({"type": "null"})),
    ])  # fmt: skip
    found = described(taken(registry, "urn:opaque", "urn:old", "urn:old"))
    assert found == [
        Described("urn:old", "DRAFT4", {"id": "urn:old", "type": "string"}, None, []),
        Described("urn:opaque", "", True, None, []),
    ]
    again = registry_of([Described(*json.loads(json.dumps(one))) for one in found])
    assert again.get_or_retrieve("urn:opaque").value == Resource.opaque(True)
    assert registered_draft(again.get_or_retrieve("urn:old").value) == DRAFT_4
    assert registered_draft(Resource.opaque({})) == ANY_DRAFT


def test_a_document_inside_of_another_stays_there() -> None:
    # references know a schema by its identity: as a copy it would be a second one
    inner = {"$id": "urn:inner", "type": "integer"}
    registry = DRAFT202012.create_resource({"$id": "urn:outer", "$defs": {"a/b": [inner], "x": inner}}) @ Registry()
    registry = registry.with_resource("urn:inner", DRAFT202012.create_resource(inner))
    found = described(taken(registry, "urn:inner", "urn:outer"))
    assert [(one.uri, one.inside, one.way) for one in found] == [
        ("urn:outer", None, []),
        ("urn:inner", 0, ["$defs", "x"]),
    ]
    again = registry_of(found)
    outer, within = (again.get_or_retrieve(uri).value.contents for uri in ("urn:outer", "urn:inner"))
    assert within is outer["$defs"]["x"]


def test_a_document_that_has_changed_is_refused() -> None:
    contents = {"type": "string"}
    found = taken(Registry().with_resource("urn:a", DRAFT202012.create_resource(contents)), "urn:a")
    assert found[0].is_unchanged()
    contents["type"] = "null"
    assert not found[0].is_unchanged()
    with pytest.raises(LlmaskError, match="the document urn:a of the registry has changed"):
        described(found)


@pytest.mark.parametrize(
    "wrong",
    [
        Described("urn:b", "DRAFT5", {}, None, []),
        Described("urn:b", "__name__", {}, None, []),
        Described("urn:b", "DRAFT7", None, 1, []),
        Described("urn:b", "DRAFT7", None, 0, ["missing"]),
        Described("urn:b", "DRAFT7", None, 0, [0, 0]),
    ],
)
def test_what_nobody_described_is_refused(wrong: Described) -> None:
    with pytest.raises(GrammarError, match=r"there is no (specification|document)"):
        registry_of([Described("urn:a", "DRAFT7", {"a": 1}, None, []), wrong])
