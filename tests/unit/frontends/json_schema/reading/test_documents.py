"""Documents: which schemas have URIs and names of their own, and where other documents come from."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT7, DRAFT202012

from llmask.errors import GrammarError, LimitExceeded, UnsupportedSchema
from llmask.frontends.json_schema.reading.documents import Documents, join
from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT, DRAFT_4, DRAFT_7, DRAFT_2019, DRAFT_2020
from llmask.frontends.json_schema.reading.pointers import pointer
from tests.unit.frontends.json_schema.small_worlds import DRAFTS as DIALECT


def opaque(uri: str, contents: Any) -> Registry:
    return Registry().with_resource(uri, Resource.opaque(contents))


def test_identifiers_are_relative_to_those_around_them() -> None:
    documents = Documents({
        "$id": "http://example.com/root.json",
        "$defs": {
            "a": {"$anchor": "foo"},
            "b": {
                "$id": "other.json",
                "$defs": {"x": {"$anchor": "bar"}, "y": {"$id": "t/inner.json", "$dynamicAnchor": "bar"}},
            },
            "c": {"$id": "urn:uuid:ee564b8a-7a87-4125-8c96-e9f123d6766f"},
        },
    })  # fmt: skip
    places = {uri: pointer(resource.at) for uri, resource in documents.of_uri.items() if uri}
    assert places == {
        "http://example.com/root.json": "#",
        "http://example.com/other.json": "#/$defs/b",
        "http://example.com/t/inner.json": "#/$defs/b/$defs/y",
        "urn:uuid:ee564b8a-7a87-4125-8c96-e9f123d6766f": "#/$defs/c",
    }
    assert set(documents.root.anchors) == {"foo"}
    assert set(documents.of_uri["http://example.com/other.json"].anchors) == {"bar"}
    assert documents.of_uri["http://example.com/t/inner.json"].dynamic == {"bar"}


@pytest.mark.parametrize("holder", [{"enum": [0]}, {"const": 0}, {"default": 0}, {"examples": [0]}, {"unknown": 0}])
def test_what_is_no_schema_has_no_identifier(holder: dict[str, Any]) -> None:
    inner = {"$id": "http://example.com/x", "$anchor": "name", "properties": {"a": {"$id": "http://example.com/y"}}}
    keyword = next(iter(holder))
    documents = Documents({"anyOf": [{keyword: [inner] if holder[keyword] else inner}]})
    assert set(documents.of_uri) == {""}
    assert not documents.root.anchors


def test_properties_may_have_the_names_of_keywords() -> None:
    names = {"$id": {"$id": "http://example.com/x"}, "enum": {"$anchor": "e"}, "$anchor": {"type": "string"}}
    documents = Documents({"properties": {**names, "properties": {"properties": {"$id": True}}}})
    assert "http://example.com/x" in documents.of_uri
    assert set(documents.root.anchors) == {"e"}


@pytest.mark.parametrize("draft", [4, 6, 7])
def test_early_drafts_name_places_by_fragments_and_hide_what_is_beside_a_reference(draft: int) -> None:
    key = "id" if draft == 4 else "$id"
    documents = Documents({
        "$schema": DIALECT[draft],
        key: "http://example.com/root.json",
        "definitions": {
            "a": {key: "#foo", "$anchor": "no"},
            "b": {key: "b.json", "definitions": {"c": {key: "#foo"}}},
            "hidden": {key: "hidden.json", "$ref": "#foo"},
        },
    })  # fmt: skip
    assert set(documents.root.anchors) == {"foo"}
    assert set(documents.of_uri) == {"", "http://example.com/root.json", "http://example.com/b.json"}
    assert pointer(documents.of_uri["http://example.com/b.json"].anchors["foo"][1]) == "#/definitions/c"


def test_later_drafts_read_what_is_beside_a_reference() -> None:
    for draft in (2019, 2020):
        documents = Documents({"$schema": DIALECT[draft], "items": {"$id": "urn:x", "$ref": "#a", "$anchor": "a"}})
        assert set(documents.of_uri["urn:x"].anchors) == {"a"}


def test_dynamic_anchors_belong_to_their_draft() -> None:
    both = {"$recursiveAnchor": True, "$dynamicAnchor": "d"}
    dynamic = {draft: Documents({"$schema": uri, **both}).root.dynamic for draft, uri in DIALECT.items()}
    assert dynamic == {4: set(), 6: set(), 7: set(), 2019: {""}, 2020: {"d"}}
    assert Documents(both).root.dynamic == {"", "d"}


def test_an_embedded_document_has_the_draft_that_it_declares() -> None:
    documents = Documents({
        "$schema": DIALECT[2020],
        "$defs": {
            "old": {"$schema": DIALECT[7], "$id": "urn:old", "items": {"$id": "urn:below"}},
            "same": {"$id": "urn:same"},
            "no document": {"$schema": DIALECT[4], "id": "urn:none"},
        },
    })  # fmt: skip
    drafts = {uri: resource.draft for uri, resource in documents.of_uri.items() if uri}
    assert drafts == {"urn:old": DRAFT_7, "urn:below": DRAFT_7, "urn:same": DRAFT_2020}
    assert documents.has_drafts


def test_a_registry_gives_documents_and_what_lies_in_them() -> None:
    contents = {"$id": "http://example.com/real.json", "$defs": {"a": {"$id": "deep/a.json", "$anchor": "n"}}}
    registry = Registry().with_resource("http://example.com/as/retrieved.json", DRAFT202012.create_resource(contents))
    documents = Documents({}, registry)
    assert documents.find("http://example.com/missing.json") is None
    found = documents.find("http://example.com/as/retrieved.json")
    assert found is not None
    assert (found.contents, found.uri) == (contents, "http://example.com/real.json")
    assert documents.find("http://example.com/real.json") is found
    inner = documents.find("http://example.com/deep/a.json")
    assert inner is not None
    assert inner.contents is found.contents["$defs"]["a"]
    assert inner.contents is not contents["$defs"]["a"]  # its owner may change it
    assert inner.document == "http://example.com/as/retrieved.json"


def test_an_inner_document_that_is_found_first_keeps_its_uri() -> None:
    contents = {"$id": "http://example.com/x/real.json", "$defs": {"a": {"$id": "deep/a.json", "$defs": {"b": {}}}}}
    registry = Registry().with_resource("http://example.com/other", DRAFT202012.create_resource(contents))
    documents = Documents({}, registry.crawl())
    inner = documents.find("http://example.com/x/deep/a.json")
    assert inner is not None
    assert inner.uri == "http://example.com/x/deep/a.json"
    outer = documents.find("http://example.com/other")
    assert outer is not None
    assert outer.has_inner
    assert documents.of_root[id(outer.contents["$defs"]["a"])] is inner


def test_the_same_document_is_one_resource() -> None:
    schema = {"$id": "http://example.com/self"}
    documents = Documents(schema, opaque("http://example.com/copy", schema))
    assert documents.find("http://example.com/copy") is documents.root


def test_drafts_of_registered_documents() -> None:
    registry = (
        Registry()
        .with_resource("urn:declared", DRAFT4.create_resource({"$schema": DIALECT[2019]}))
        .with_resource("urn:specified", DRAFT4.create_resource({"id": "urn:by-id"}))
        .with_resource("urn:opaque", Resource.opaque({}))
        .with_resource("urn:boolean", DRAFT202012.create_resource(True))
    )
    documents = Documents({"$schema": DIALECT[7]}, registry)
    found = [documents.find(uri) for uri in ("urn:declared", "urn:specified", "urn:opaque", "urn:boolean")]
    assert [resource and resource.draft for resource in found] == [DRAFT_2019, DRAFT_4, DRAFT_7, DRAFT_2020]
    assert documents.of_uri["urn:by-id"] is found[1]


def test_a_meta_schema_of_the_caller_says_the_draft() -> None:
    registry = opaque("urn:mine", {"$schema": "urn:base"}).with_resource(
        "urn:base", Resource.opaque({"$schema": DIALECT[7]})
    )
    assert Documents({"$schema": "urn:mine#"}, registry).draft == DRAFT_7
    assert Documents({"$schema": "urn:nobody"}, registry).draft == ANY_DRAFT
    assert Documents({"$schema": "urn:round"}, opaque("urn:round", {"$schema": "urn:round"})).draft == ANY_DRAFT


def test_a_registry_may_retrieve() -> None:
    asked = []

    def retrieve(uri: str) -> Resource[Any]:
        asked.append(uri)
        if uri == "urn:broken":
            raise OSError("no route")
        return DRAFT7.create_resource({"title": uri})

    documents = Documents({}, Registry(retrieve=retrieve))
    found = documents.find("urn:x")
    assert found is not None
    assert found.contents == {"title": "urn:x"}
    assert documents.find("urn:x") is found
    assert documents.find("urn:broken") is None
    assert asked == ["urn:x", "urn:broken"]


def test_a_registry_that_cannot_be_read_is_an_error() -> None:
    registry = Registry().with_resource("urn:x", DRAFT7.create_resource({"$id": 12}))
    with pytest.raises(GrammarError, match="the registry fails at urn:y"):
        Documents({}, registry).find("urn:y")


def test_a_registry_that_retrieves_no_resource_is_an_error() -> None:
    with pytest.raises(GrammarError, match=r"the registry has a dict at urn:y, where a referencing\.Resource belongs"):
        Documents({}, Registry(retrieve=lambda uri: {"type": "null"})).find("urn:y")  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("uri", [uri.rstrip("#") for uri in DIALECT.values()])
def test_published_meta_schemas_are_known(uri: str) -> None:
    for registry in (None, Registry()):
        found = Documents({}, registry).find(uri)
        assert found is not None
        assert found.uri == uri


def test_vocabularies_are_known() -> None:
    found = Documents({}).find("https://json-schema.org/draft/2020-12/meta/applicator")
    assert found is not None
    assert found.dynamic == {"meta"}


def test_without_the_package_a_meta_schema_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "jsonschema_specifications":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnsupportedSchema) as caught:
        Documents({}).find("http://json-schema.org/draft-07/schema")
    assert caught.value.help == "install it with: pip install 'llmask-engine[schema]'"


def test_many_identifiers_take_linear_time() -> None:
    n = 20_000
    documents = Documents({"$defs": {f"d{at}": {"$id": f"urn:d:{at}", "$anchor": "a"} for at in range(n)}})
    assert len(documents.of_uri) == n + 1
    deep: dict[str, Any] = {"$anchor": "bottom"}
    for _ in range(n):
        deep = {"items": deep}
    assert set(Documents(deep).root.anchors) == {"bottom"}


def test_identifiers_that_grow_meet_a_limit() -> None:
    deep: dict[str, Any] = {}
    for _ in range(20_000):
        deep = {"$id": "folder/", "items": deep}
    with pytest.raises(LimitExceeded, match="longer than 33554432 characters"):
        Documents(deep)


BASE = "http://a/b/c/d;p?q"
# RFC 3986, sections 5.4.1 and 5.4.2; what follows "#" is the second part
EXAMPLES = """
g:h g:h | g http://a/b/c/g | ./g http://a/b/c/g | g/ http://a/b/c/g/ | /g http://a/g | //g http://g
?y http://a/b/c/d;p?y | g?y http://a/b/c/g?y | #s http://a/b/c/d;p?q#s | g#s http://a/b/c/g#s
g?y#s http://a/b/c/g?y#s | ;x http://a/b/c/;x | g;x http://a/b/c/g;x | g;x?y#s http://a/b/c/g;x?y#s
. http://a/b/c/ | ./ http://a/b/c/ | .. http://a/b/ | ../ http://a/b/ | ../g http://a/b/g | ../.. http://a/
../../ http://a/ | ../../g http://a/g | ../../../g http://a/g | ../../../../g http://a/g | /./g http://a/g
/../g http://a/g | g. http://a/b/c/g. | .g http://a/b/c/.g | g.. http://a/b/c/g.. | ..g http://a/b/c/..g
./../g http://a/b/g | ./g/. http://a/b/c/g/ | g/./h http://a/b/c/g/h | g/../h http://a/b/c/h
g;x=1/./y http://a/b/c/g;x=1/y | g;x=1/../y http://a/b/c/y | g?y/./x http://a/b/c/g?y/./x
g?y/../x http://a/b/c/g?y/../x | g#s/./x http://a/b/c/g#s/./x | g#s/../x http://a/b/c/g#s/../x | http:g http:g
"""


@pytest.mark.parametrize(("reference", "expected"), [e.split() for e in EXAMPLES.replace("\n", "|").split("|") if e])
def test_the_examples_of_the_standard(reference: str, expected: str) -> None:
    uri, _, fragment = expected.partition("#")
    assert join(BASE, reference) == (uri, fragment)


def test_an_empty_reference_is_the_base() -> None:
    assert join(BASE, "") == (BASE, "")
    assert join("", "") == ("", "")


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("", "a/b.json#/c", ("a/b.json", "/c")),
        ("a/b.json", "c.json", ("a/c.json", "")),
        ("http://a", "b", ("http://a/b", "")),
        ("urn:uuid:1-2", "#x", ("urn:uuid:1-2", "x")),
        ("urn:example:weather?=op=map", "#/$defs/a", ("urn:example:weather?=op=map", "/$defs/a")),
        ("tag:a,2020:b", "urn:x:y", ("urn:x:y", "")),
        ("app://host/x/y.json", "../z.json", ("app://host/z.json", "")),
        ("http://[bad/x", "y z\n", ("http://[bad/y z\n", "")),
        ("file:///a/b", "c#d#e", ("file:///a/c", "d#e")),
    ],
)
def test_any_scheme_and_any_text(base: str, reference: str, expected: tuple[str, str]) -> None:
    assert join(base, reference) == expected


def test_long_references_take_linear_time() -> None:
    uri, _ = join("http://a/", "x/../" * 200_000 + "y")
    assert uri == "http://a/y"
