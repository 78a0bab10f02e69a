"""What a schema may be given as, and keys that tell schemas apart."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import sys
from decimal import Decimal
from typing import Any, Literal

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.json_schema.reading.inputs import _repeated, digest_of, key_of, schema_of

pydantic = pytest.importorskip("pydantic", minversion="2")
typing_extensions = pytest.importorskip("typing_extensions")
Annotated = typing_extensions.Annotated
MANY = 10**7


class Color(enum.Enum):
    RED = "red"
    TWO = 2


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = 9


@dataclasses.dataclass
class Point:
    x: int
    y: str = "a"


class Overridden(pydantic.BaseModel):
    @classmethod
    def model_json_schema(cls, **options: Any) -> dict[str, Any]:
        return {"const": "own"}


def greet(name: str, times: int = 1, *, loud: bool) -> str:
    return name * times


class Robot:
    def move(self, steps: int) -> None:
        """Take steps."""


TYPES: dict[str, tuple[Any, list[Any], list[Any]]] = {  # of others: type_cases.py
    "function": (
        greet,
        [{"name": "a", "loud": True}, {"name": "a", "times": 2, "loud": False}],
        [{"name": "a"}, {"name": "a", "loud": True, "more": 1}, {"name": 1, "loud": True}],
    ),
    "method": (Robot().move, [{"steps": 1}], [{}, {"steps": "1"}]),
    "partial": (functools.partial(greet, loud=True), [{"name": "a"}], [{"name": 1}]),
    "adapter": (pydantic.TypeAdapter(list[Point]), [[{"x": 1}]], [[{}]]),
    "own schema": (Overridden, ["own"], [{}]),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_and_functions(judge: Any, name: str) -> None:
    source, valid, invalid = TYPES[name]
    judge.agrees(schema_of(source, MANY), valid, invalid)


def only_positional(a: int, /) -> None:
    """Take a parameter without a name."""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Cat(kind="cat"), "the schema is a value of the model Cat\n  give the model itself, its class"),
        (
            only_positional,
            "the function only_positional has parameters without a name to give them by\n"
            "  leave out the slash and the star in its signature",
        ),
    ],
)
def test_what_has_no_schema(source: Any, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        schema_of(source, MANY)
    assert str(caught.value) == message


@pytest.mark.parametrize("source", [object(), Robot, json, "Unknown".join, {1, 2}])
def test_what_pydantic_does_not_know(source: Any) -> None:
    with pytest.raises(GrammarError) as caught:
        schema_of(source, MANY)
    assert caught.value.message.startswith(("pydantic describes no schema of the ", "the function "))


def test_texts_need_no_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert schema_of('{"type": "null"}', MANY) == {"type": "null"}


@pytest.mark.parametrize("make", [str, str.encode, lambda text: bytearray(text.encode()), lambda t: t.encode("utf-16")])
def test_text_is_read_as_json(make: Any) -> None:
    assert schema_of(make('{"const": ["é", 1, 1.5, null, true]}'), MANY) == {"const": ["é", 1, 1.5, None, True]}
    assert schema_of(make("true"), MANY) is True


@pytest.mark.parametrize("spelled", ["0.1", "1.0", "-2.50", "1e3", "1E-7", "5e-324", "0.0"])
def test_numbers_that_floats_spell_are_floats(spelled: str) -> None:
    value = schema_of(f'{{"minimum": {spelled}}}', MANY)["minimum"]
    assert type(value) is float
    assert Decimal(repr(value)) == Decimal(spelled)


@pytest.mark.parametrize("spelled", ["0.1000000000000000000001", "1e400", "-1e-400", "123456789012345678.5"])
def test_other_numbers_are_read_exactly(judge: Any, spelled: str) -> None:
    value = schema_of(f'{{"minimum": {spelled}}}', MANY)["minimum"]
    assert type(value) is Decimal
    assert value == Decimal(spelled)


def test_an_exact_bound_is_kept(judge: Any) -> None:
    grammar = judge.grammar(schema_of('{"type": "number", "minimum": 0.1000000000000000000001}', MANY))
    assert not grammar.accepts("0.1000000000000000000000")
    assert grammar.accepts("0.1000000000000000000001")


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ('{"a": 1,\n "a": 2}', 'the schema is not JSON: the key "a" is used twice in one object', "#"),
        ('{"x": [{}, {"a": {"b": NaN}}]}', "the schema is not JSON: NaN is no JSON number", "#/x/1/a/b"),
        ('{"p": {"k": NaN, "q": {"r": 1, "r": 1}}}', "the schema is not JSON: NaN is no JSON number", "#/p/k"),
        (
            '{"p": {"k": {"r": 1, "r": 1}, "k": 1}}',
            'the schema is not JSON: the key "k" is used twice in one object',
            "#/p",
        ),
        ('{"a": 1\n 2}', "the schema is not JSON: Expecting ',' delimiter", "line 2, column 2"),
    ],
)
def test_text_that_is_not_json_says_where(text: Any, message: str, where: str) -> None:
    with pytest.raises(GrammarError) as caught:
        schema_of(text, MANY)
    assert (caught.value.message, caught.value.where) == (message, where)


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (b'{"a": [None]}', "JSON has true, false and null; or give the dict itself"),
        ('{"a": 1,}', "take out the comma that nothing follows"),
        ('{"a": [1, ]}', "take out the comma that nothing follows"),
        ('{"a" 1}', "give a dict or JSON text"),
        ('{"a": }', "give a dict or JSON text"),
    ],
)
def test_text_that_is_not_json_has_a_remedy(text: Any, help: str) -> None:
    with pytest.raises(GrammarError) as caught:
        schema_of(text, MANY)
    assert caught.value.help == help


@pytest.mark.parametrize("text", ["[" * 200_000, '{"minimum": ' + "9" * 5000 + "}", '{"minimum": 1}'])
def test_text_has_limits(text: str) -> None:
    with pytest.raises(LimitExceeded):
        schema_of(text, 10 if len(text) < 100 else MANY)


def test_a_repeated_key_is_found_by_as_many_comparisons_as_there_are_keys() -> None:
    # every name was looked for among those before it: 9 s for one twice at the end of an object of 429 KB
    n_compared = 0

    class Name(str):
        def __eq__(self, other: object) -> bool:
            nonlocal n_compared
            n_compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    names = [Name(f"name {at}") for at in range(2000)]
    assert _repeated([(name, None) for name in [*names, Name("name 1999")]]) == "name 1999"
    assert n_compared <= 2 * len(names)


def test_the_key_that_stands_twice_is_named_at_the_end_of_a_large_object() -> None:
    members = ", ".join(f'"{at}": 1' for at in range(30_000))
    with pytest.raises(GrammarError) as caught:
        schema_of(f'{{"properties": {{{members}, "29999": 2}}}}', MANY)
    assert (caught.value.message, caught.value.where) == (
        'the schema is not JSON: the key "29999" is used twice in one object',
        "#/properties",
    )


def test_digests_differ_as_keys_do() -> None:
    digests = [digest_of(schema) for schema in DIFFERENT]
    assert len(set(digests)) == len(digests)
    assert digest_of({"a": "x" * 10_000}) == digest_of({"a": "x" * 10_000})
    assert len(digest_of({"a": "x" * 10_000})) == 16  # type: ignore[arg-type]
    assert digest_of({"a": object()}) != digest_of({"a": object()})


def test_values_are_left_to_the_compiler() -> None:
    for value in (None, [], (), 1, 1.5, Decimal(1)):
        assert schema_of(value, MANY) is value


DIFFERENT = [
    {},
    [],
    True,
    False,
    {"a": 1},
    {"a": 1.0},
    {"a": True},
    {"a": "1"},
    {"a": Decimal(1)},
    {"a": Decimal("1.0")},
    {"a": ...},
    {"a": None},
    {"a": "None"},
    {"a": 0.0},
    {"a": -0.0},
    {"a": (1,)},
    {"a": [1]},
    {1: {}},
    {"1": {}},
    {None: {}},
    {"null": {}},
    {True: {}},
    {"a": 1, "b": 2},
    {"b": 2, "a": 1},
    {"a": [Decimal(1), ...]},
    {"a": [..., Decimal(1)]},
    {"a": "é"},
    {"a": "\ud800"},
    {"a": 10**50},
    {"a": float("nan")},
]


def test_different_schemas_have_different_keys() -> None:
    keys = [key_of(schema) for schema in DIFFERENT]
    assert len(set(keys)) == len(keys)


def test_equal_schemas_share_their_key() -> None:
    for schema in DIFFERENT:
        copied = eval(repr(schema), {"Decimal": Decimal, "Ellipsis": ..., "nan": float("nan")})
        assert key_of(schema) == key_of(copied)
    name = "".join(["na", "me"])  # not the interned "name"
    shared: dict[str, Any] = {"type": "null"}
    one = {"name": [shared, shared], "other": "name"}
    assert key_of(one) == key_of({name: [{"type": "null"}, dict(shared)], "other": name})


@pytest.mark.long
def test_large_schemas_have_keys() -> None:
    def large() -> Any:
        shared = {"type": "null"}
        return {"properties": {f"{at}": {"anyOf": [shared, {"type": "string"}]} for at in range(30_000)}}

    assert key_of(large()) == key_of(large())
    other = large()
    other["properties"]["29999"]["anyOf"][1]["type"] = "null"
    assert key_of(large()) != key_of(other)


def test_what_cannot_be_compared_has_a_key_of_its_own() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"items": deep}
    cyclic: dict[str, Any] = {"type": "object"}
    cyclic["properties"] = {"a": cyclic, "b": [cyclic]}
    doubling: Any = {}
    for _ in range(60):
        doubling = {"anyOf": [doubling, doubling]}
    for schema in ({"a": object()}, {"a": Color.RED}, deep, cyclic, doubling, {"a": (Decimal(1),)}):
        assert key_of(schema) != key_of(schema)
    while deep:  # one level at a time: freeing all at once would recurse
        deep = deep.pop("items", None)
