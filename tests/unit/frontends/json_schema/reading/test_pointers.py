"""JSON pointers of places."""

from __future__ import annotations

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.reading import pointers
from llmask.frontends.json_schema.reading.keywords import ANY_DRAFT, DRAFT_2020
from llmask.frontends.json_schema.reading.pointers import ROOT, Path, Resource, Scope, Scopes, keys_of, pointer


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


def resource(name: str, *dynamic: str) -> Resource:
    made = Resource({}, f"urn:{name}", DRAFT_2020, "", ROOT)
    made.dynamic |= set(dynamic)
    return made


def test_the_outermost_resource_is_bound() -> None:
    outer, inner = resource("outer", "a", "b"), resource("inner", "b", "c")
    scopes = Scopes(outer)
    assert scopes.root.number == 0
    entered = scopes.enter(scopes.root, inner)
    assert entered.bindings == {"a": outer, "b": outer, "c": inner}
    assert entered.resource is inner
    assert scopes.enter(entered, outer).bindings is entered.bindings


def test_equal_scopes_are_one() -> None:
    outer, first, second = resource("outer", "a"), resource("first", "a"), resource("second")
    scopes = Scopes(outer)
    by_first = scopes.enter(scopes.enter(scopes.root, first), second)
    assert by_first is scopes.enter(scopes.root, second)
    assert scopes.enter(by_first, outer) is scopes.root
    assert scopes.enter(by_first, second) is by_first


def test_the_order_of_the_way_counts_only_where_it_binds() -> None:
    root, x, y, end = resource("root"), resource("x", "a"), resource("y", "b"), resource("end")
    scopes = Scopes(root)
    x_first = scopes.enter(scopes.enter(scopes.enter(scopes.root, x), y), end)
    y_first = scopes.enter(scopes.enter(scopes.enter(scopes.root, y), x), end)
    assert x_first is y_first
    other = resource("other", "a")
    assert scopes.enter(scopes.enter(scopes.enter(scopes.root, other), x), end) is not scopes.enter(
        scopes.enter(scopes.root, x), end
    )


def test_a_scope_is_an_empty_path() -> None:
    scope = Scopes(resource("root")).root
    assert not scope
    assert scope == ()


def test_too_many_ways_meet_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each subset of n resources binds differently: 2**n scopes."""
    monkeypatch.setattr(pointers, "MAX_BINDINGS", 1000)
    scopes = Scopes(resource("root"))
    resources = [resource(str(at), str(at)) for at in range(12)]

    def enter_all(levels: int) -> None:
        level = {0: scopes.root}
        for _ in range(levels):
            entered = [scopes.enter(scope, each) for scope in level.values() for each in resources]
            level = {scope.number: scope for scope in entered}

    with pytest.raises(LimitExceeded, match="too many ways"):
        enter_all(len(resources))
