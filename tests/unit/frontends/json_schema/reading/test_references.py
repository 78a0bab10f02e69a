"""References: pointers, anchors, identifiers and recursion."""

from __future__ import annotations

import time
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from llmask.errors import GrammarError, UnsupportedSchema
from llmask.frontends.json_schema.reading.keywords import DRAFT_4, DRAFT_7, DRAFT_2020
from llmask.frontends.json_schema.reading.pointers import ROOT, Path, pointer
from llmask.frontends.json_schema.reading.references import References


def test_a_long_chain_of_references_is_followed(judge: Any) -> None:
    """Each was compared with all before it: 3.4 s for 20,000."""
    chain: dict[str, Any] = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}"} for at in range(2000)}
    grammar = judge.grammar({"$ref": "#/$defs/d0", "$defs": {**chain, "d2000": {"type": "null"}}})
    assert judge.accepts(grammar, None)
    assert not judge.accepts(grammar, 1)
    with pytest.raises(GrammarError, match="refers to itself"):
        judge.grammar({"$ref": "#/$defs/d0", "$defs": {**chain, "d2000": {"$ref": "#/$defs/d7"}}})


# --- identifiers, documents and drafts

OLD = "http://json-schema.org/draft-04/schema#"
SEVEN = "http://json-schema.org/draft-07/schema#"
NINETEEN = "https://json-schema.org/draft/2019-09/schema"
TWENTY = "https://json-schema.org/draft/2020-12/schema"


def registry_of(**documents: Any) -> Registry:
    return Registry().with_contents(
        [(f"http://example.com/{name}", contents) for name, contents in documents.items()],
        default_specification=DRAFT202012,
    )


def target(schema: Any, reference: str, path: Path = ROOT, registry: Any = None) -> tuple[Any, str]:
    found, at = References(schema, registry).resolve(reference, path)
    return found, pointer(at)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("#/properties/a~1b", 1),
        ("#/properties/c~0d", 2),
        ("#/properties/e%25f", 3),
        ("#/properties/%67", 4),
        ("#/properties/", 5),
        ("#/properties/h%22", 6),
        ("#%2Fproperties%2Fg", 4),
        ("#/unknown/0/x", 7),
        ("#/allOf/1", 8),
        ("#/properties/%C3%A9", 9),
        ("#/properties/~01", 10),
        ("#", 0),
        ("", 0),
    ],
)
def test_pointers(reference: str, expected: int) -> None:
    names = {"a/b": 1, "c~d": 2, "e%f": 3, "g": 4, "": 5, 'h"': 6, "é": 9, "~1": 10}
    schema = {
        "title": 0,
        "properties": {name: {"title": number} for name, number in names.items()},
        "unknown": [{"x": {"title": 7}}],
        "allOf": [True, {"title": 8}],
    }
    found, where = target(schema, reference)
    assert found["title"] == expected
    assert target(schema, where)[0] is found  # the place is spelled as a reference to it


def test_a_reference_into_what_is_no_json() -> None:
    # documents of a registry are looked at where they are referred to only
    with pytest.raises(GrammarError, match="nothing is there"):
        References({1: {}, None: {}}).resolve("#/a", ROOT)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("#/allOf/2", "nothing is there"),
        ("#/allOf/00", "nothing is there"),
        ("#/allOf/-", "nothing is there"),
        ("#/allOf/٠", "nothing is there"),
        ("#/allOf/99999999999999999999", "nothing is there"),
        ("#/title/0", "nothing is there"),
        ("#/title", "no schema"),
        ("#/allOf", "no schema"),
        ("#/%FF", "no UTF-8"),
        ("#name", "nothing is there"),
        ("#\ud800", "nothing is there"),
        ("x.json", "not part of the schema"),
        ("//x", "not part of the schema"),
        ("http://[", "not part of the schema"),
    ],
)
@pytest.mark.parametrize("root", [{}, {"$id": "http://example.com/s", "items": {"$id": "other"}}])
def test_references_to_nothing(reference: str, message: str, root: dict[str, Any]) -> None:
    references = References({**root, "allOf": [True, {}], "title": "text"})
    for _ in range(2):  # the second time the schema has been searched
        with pytest.raises(GrammarError, match=message) as caught:
            references.resolve(reference, (ROOT, "properties", "a"))
        assert caught.value.where == "#/properties/a/$ref"
        with pytest.raises(GrammarError):
            references.resolve("#nothing", ROOT)


def test_a_reference_may_name_a_boolean() -> None:
    assert target({"$defs": {"no": False}}, "#/$defs/no") == (False, "#/$defs/no")
    assert target({"$id": "urn:x", "$defs": {"no": False}}, "urn:x#/$defs/no") == (False, "#/$defs/no")


def test_pointers_cross_into_embedded_documents() -> None:
    """The same `#/$defs/x` means another schema inside the embedded document, however that is reached."""
    inner = {"$id": "http://example.com/inner", "$defs": {"x": {"title": "inner"}}, "items": {"$ref": "#/$defs/x"}}
    schema = {
        "$defs": {"x": {"title": "outer"}, "inner": inner},
        "unknown": {"y": {"$id": "urn:y", "$defs": {"x": {}}}},
    }
    references = References(schema)
    assert references.resolve("#/$defs/x", ROOT)[0]["title"] == "outer"
    items, at = references.resolve("#/$defs/inner/items", ROOT)
    assert references.resolve(items["$ref"], at)[0]["title"] == "inner"
    assert references.resolve("#/$defs/x", (ROOT, "$defs", "inner"))[0]["title"] == "inner"
    found, at = References(schema).resolve("http://example.com/inner#/items", ROOT)
    assert found is items
    assert pointer(at) == "#/$defs/inner/items"
    # under a keyword that no draft knows an identifier counts once something refers there
    hidden, at = references.resolve("#/unknown/y", ROOT)
    assert references.resolve("#/$defs/x", at)[0] is hidden["$defs"]["x"]
    with pytest.raises(UnsupportedSchema):
        References(schema).resolve("urn:y", ROOT)


def test_places_of_the_translation_do_not_confuse() -> None:
    references = References({"$defs": {"x": {"title": "x"}}})
    assert references.resolve("#/$defs/x", (ROOT, "made up", 3))[0]["title"] == "x"


def test_registered_documents(judge: Any) -> None:
    registry = registry_of(
        **{
            "a.json": {"$defs": {"x": {"type": "integer"}, "y": {"$ref": "folder/b.json#name"}}},
            "folder/b.json": {"$defs": {"z": {"$anchor": "name", "items": {"$ref": "#/$defs/s"}}, "s": {"const": "s"}}},
        }
    )
    schema = {"$id": "http://example.com/root", "$ref": "a.json#/$defs/y"}
    grammar = judge.grammar(schema, registry=registry)
    assert judge.accepts(grammar, ["s", "s"])
    assert not judge.accepts(grammar, ["t"])
    wrong = registry_of(**{"a.json": {"$defs": {"x": {"type": 3}}}})
    with pytest.raises(GrammarError) as caught:
        judge.grammar({"$ref": "http://example.com/a.json#/$defs/x"}, registry=wrong)
    assert caught.value.where == "http://example.com/a.json#/$defs/x/type"
    with pytest.raises(GrammarError, match=r"must be a referencing\.Registry, not dict"):
        judge.grammar({}, registry={})


def test_an_error_in_another_document_shows_where() -> None:
    references = References({}, registry_of(**{"a.json": {"items": {}}}))
    _, at = references.resolve("http://example.com/a.json#/items", ROOT)
    with pytest.raises(UnsupportedSchema) as caught:
        references.resolve("b.json", at)
    assert (
        caught.value.message == '"$ref" names the document http://example.com/b.json, which is not part of the schema'
    )
    assert caught.value.where == "http://example.com/a.json#/items/$ref"
    assert caught.value.help is not None
    assert caught.value.help.startswith("Register it with registry=")


def test_drafts_are_those_of_the_document(judge: Any) -> None:
    old = {"$schema": OLD, "id": "http://example.com/old", "maximum": 3, "exclusiveMaximum": True}
    new = {"$schema": TWENTY, "prefixItems": [{"$ref": "http://example.com/old"}, {"$ref": "#/$defs/seven"}]}
    new["$defs"] = {"seven": {"$id": "urn:7", "$schema": SEVEN, "items": [{"type": "null"}], "additionalItems": False}}
    registry = Registry().with_resource("http://example.com/old", Resource.from_contents(old))
    references = References(new, registry)
    assert references.draft_at(new, ROOT) == DRAFT_2020
    for reference, draft in (("http://example.com/old", DRAFT_4), ("#/$defs/seven", DRAFT_7)):
        assert references.draft_at(*references.resolve(reference, ROOT)) == draft
    lexical = References({"$schema": TWENTY, "items": {"$id": "urn:7", "$schema": SEVEN, "not": {}}})
    embedded = lexical.root["items"]
    assert lexical.draft_at(embedded, (ROOT, "items")) == DRAFT_7
    assert lexical.draft_at(embedded["not"], ((ROOT, "items"), "not")) == DRAFT_7
    # draft 7 reads nothing beside a reference
    items = {"$ref": "#/definitions/n", "minimum": 5}
    seven = {"$id": "urn:7", "$schema": SEVEN, "definitions": {"n": {"type": "integer"}}, "items": items}
    grammar = judge.grammar({"$schema": TWENTY, "properties": {"a": seven}})
    assert judge.accepts(grammar, {"a": [3]})
    seven["$schema"] = TWENTY
    assert not judge.accepts(judge.grammar({"$schema": TWENTY, "properties": {"a": seven}}), {"a": [3]})


# --- dynamic references

LIST = {
    "$id": "http://example.com/list",
    "$defs": {"item": {"$dynamicAnchor": "item", "title": "any"}},
    "items": {"$dynamicRef": "#item"},
}
NUMBERS = {
    "$id": "http://example.com/numbers",
    "$defs": {"item": {"$dynamicAnchor": "item", "type": "number"}, "list": LIST},
    "$ref": "list",
}
BOTH = {
    "$schema": TWENTY,
    "$id": "http://example.com/root",
    "$defs": {"numbers": NUMBERS},
    "properties": {"numbers": {"$ref": "numbers"}, "any": {"$ref": "list"}},
}


def test_places_with_other_bindings_are_other_places() -> None:
    references = References(BOTH)
    _, any_list = references.resolve("list", (ROOT, "properties", "any"))
    numbers, at = references.resolve("numbers", (ROOT, "properties", "numbers"))
    number_list = references.resolve(numbers["$ref"], at)
    assert references.is_scoped
    assert number_list[0] is LIST
    assert references.identity(LIST, any_list) != references.identity(*number_list)
    again = references.resolve("http://example.com/list#", at)
    assert references.identity(*again) == references.identity(*number_list)
    assert pointer(number_list[1]) == pointer(any_list) == "#/$defs/numbers/$defs/list"
    assert references.resolve_dynamic("#item", (any_list, "items"))[0]["title"] == "any"
    assert references.resolve_dynamic("#item", (number_list[1], "items"))[0]["type"] == "number"


def test_going_down_enters_as_well() -> None:
    schema = {
        "$schema": TWENTY,
        "$id": "http://example.com/root",
        "$dynamicAnchor": "node",
        "title": "outer",
        "properties": {"a": {"$id": "a", "$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}},
    }
    path = ((ROOT, "properties", "a"), "items")
    assert References(schema).resolve_dynamic("#node", path)[0]["title"] == "outer"
    assert References(schema).resolve("#node", path)[0]["$id"] == "a"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [("#plain", "plain"), ("#/$defs/list/$defs/own", "own"), ("list#own", "root's"), ("list#plain", "list's")],
)
def test_only_a_dynamic_anchor_makes_a_reference_dynamic(reference: str, expected: str) -> None:
    inner = {"own": {"$dynamicAnchor": "own", "title": "own"}, "plain": {"$anchor": "plain", "title": "list's"}}
    schema = {
        "$id": "http://example.com/root",
        "$defs": {
            "list": {"$id": "list", "$defs": inner},
            "own": {"$dynamicAnchor": "own", "title": "root's"},
            "plain": {"$anchor": "plain", "title": "plain"},
        },
    }
    assert References(schema).resolve_dynamic(reference, ROOT)[0]["title"] == expected


def test_a_dynamic_anchor_that_nothing_outside_binds_is_its_own() -> None:
    schema = {"$defs": {"x": {"$id": "urn:x", "$defs": {"y": {"$dynamicAnchor": "y", "title": "found"}}}}}
    assert References(schema).resolve_dynamic("urn:x#y", ROOT)[0]["title"] == "found"


def tree(**root: Any) -> dict[str, Any]:
    inner = {"$id": "tree", "$recursiveAnchor": True, "properties": {"child": {"$recursiveRef": "#"}}}
    return {"$schema": NINETEEN, "$id": "http://example.com/root", "$defs": {"tree": inner}, "$ref": "tree", **root}


def test_recursive_references_lead_to_the_outermost_root_that_is_marked(judge: Any) -> None:
    path = (ROOT, "properties", "child")
    strict = tree(**{"$recursiveAnchor": True, "required": ["name"]})
    references = References(strict)
    _, at = references.resolve("tree", ROOT)
    assert references.resolve_recursive("#", (at, *path[1:]))[0] is strict
    unmarked = References(tree())
    _, at = unmarked.resolve("tree", ROOT)
    assert unmarked.resolve_recursive("#", (at, *path[1:]))[0] is unmarked.root["$defs"]["tree"]
    assert unmarked.resolve_recursive("#", path)[0] is unmarked.root
    with pytest.raises(GrammarError, match='"\\$recursiveRef" must be "#"'):
        unmarked.resolve_recursive("#/properties", ROOT)
    judge.agrees(strict, [], [{"name": 1, "child": {}}])
    judge.agrees(tree(required=["name"]), [{"child": {}, "name": 1}], [])


def test_an_unmarked_resource_between_does_not_end_the_search() -> None:
    """2019-09, section 8.2.4.2.1: the outermost in the dynamic scope, not the last of an unbroken line."""
    schema = tree(**{"$recursiveAnchor": True, "title": "outer", "$ref": "between"})
    schema["$defs"]["between"] = {"$id": "between", "$ref": "tree"}
    references = References(schema)
    between, at = references.resolve("between", ROOT)
    _, at = references.resolve(between["$ref"], at)
    assert references.resolve_recursive("#", at)[0] is schema


def test_one_python_object_in_two_documents_is_two_places() -> None:
    shared = {"$ref": "#/$defs/x"}
    inner = {"$id": "urn:inner", "$defs": {"x": {"title": "inner"}}, "items": shared}
    schema = {"$defs": {"x": {"title": "outer"}, "inner": inner}, "items": shared}
    references = References(schema)
    _, at = references.resolve("urn:inner#/items", ROOT)
    assert references.resolve("#/$defs/x", at)[0]["title"] == "inner"
    assert references.identity(shared, at) != references.identity(shared, (ROOT, "items"))


def test_one_python_object_below_and_outside_an_embedded_document() -> None:
    """Nothing refers to the embedded document, so it was noticed too late and `b` was taken for `a`."""
    shared = {"properties": {"z": {"$ref": "#/$defs/y"}}}
    inner = {"$id": "urn:inner", "$defs": {"y": {"type": "null"}}, "properties": {"b": shared}}
    schema = {"$defs": {"y": {"type": "integer"}}, "properties": {"a": shared, "inner": inner}}
    references = References(schema)
    assert references.identity(shared, (ROOT, "properties", "a")) == id(shared)
    path = ((ROOT, "properties", "inner"), "properties", "b")
    references.draft_at(inner, path[0])
    assert references.identity(shared, path) not in (id(shared), references.identity(shared, (ROOT, "properties", "a")))


# --- hostile input


@pytest.mark.parametrize("reference", [3, None, [], {"$ref": "#"}, True])
def test_a_reference_that_is_no_text(judge: Any, reference: Any) -> None:
    with pytest.raises(GrammarError, match='"\\$ref" must be a string'):
        judge.grammar({"properties": {"a": {"$ref": reference}}})


@pytest.mark.parametrize("root", [{}, {"$id": "http://example.com/s"}])
def test_rings_of_references(judge: Any, root: dict[str, Any]) -> None:
    schema = {**root, "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    with pytest.raises(GrammarError, match="refers to itself"):
        judge.grammar(schema)


@pytest.mark.slow
def test_a_hundred_thousand_definitions() -> None:
    n = 100_000
    definitions: dict[str, Any] = {f"d{at}": {"$ref": f"#/$defs/d{at + 1}", "$anchor": f"a{at}"} for at in range(n)}
    schema = {"$id": "http://example.com/s", "$defs": {**definitions, f"d{n}": True}}
    for prefix in ("#/$defs/d", "#a"):
        references = References(schema)
        start = time.perf_counter()
        for at in range(n):
            references.resolve(f"{prefix}{at}", (ROOT, "$defs", f"d{at}"))
        assert time.perf_counter() - start < 30


def test_long_names_and_deep_places() -> None:
    name = "x" * 1_000_000
    schema: dict[str, Any] = {"$defs": {name: {"$anchor": name, "title": "long"}}}
    assert References(schema).resolve("#" + name, ROOT)[0]["title"] == "long"
    assert References(schema).resolve("#/$defs/" + name, ROOT)[0]["title"] == "long"
    depth = 20_000
    deep: dict[str, Any] = {"title": "deep", "$anchor": "bottom"}
    for _ in range(depth):
        deep = {"items": deep}
    references = References(deep)
    found, at = references.resolve("#" + "/items" * depth, ROOT)
    assert found["title"] == "deep"
    assert references.resolve("#bottom", at)[0] is found
    assert len(pointer(at)) == 1 + len("/items") * depth
