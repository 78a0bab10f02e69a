"""Schemas of msgspec's Structs and attrs' classes, and what reads values of types."""

# ruff: noqa: UP007, UP045

from __future__ import annotations

import datetime as dt
import decimal
import functools
import uuid
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar, Union

import pytest

from llmask.errors import GrammarError
from llmask.frontends.json_schema.reading.described import described, reader_of

TOKENIZER = "default_tokenizer"  # of `compiler`

pydantic = pytest.importorskip("pydantic", minversion="2")
msgspec = pytest.importorskip("msgspec", reason="msgspec is not installed")
attrs = pytest.importorskip("attrs", reason="attrs is not installed")
T = TypeVar("T")


class Cat(msgspec.Struct, tag="cat", tag_field="type"):  # type: ignore[misc]
    lives: int


class Dog(msgspec.Struct, tag="dog", tag_field="type"):  # type: ignore[misc]
    name: Annotated[str, msgspec.Meta(pattern="^[a-z]+$", max_length=5, description="short")]


class Row(msgspec.Struct, array_like=True):  # type: ignore[misc]
    x: int
    y: str = "a"


class Tree(msgspec.Struct):  # type: ignore[misc]
    value: float
    kids: list[Tree] = []  # noqa: RUF012


class Box(msgspec.Struct, Generic[T]):  # type: ignore[misc]
    content: T


class Everything(msgspec.Struct, rename="camel"):  # type: ignore[misc]
    big_number: Annotated[int, msgspec.Meta(ge=3, multiple_of=2)]
    moment: dt.datetime
    day: dt.date
    clock: dt.time
    span: dt.timedelta
    price: decimal.Decimal
    number: uuid.UUID
    data: Annotated[bytes, msgspec.Meta(max_length=3)]
    kind: Literal["a", 1]
    pet: Cat | Dog
    row: Row
    names: dict[int, str]
    aware: Annotated[dt.datetime, msgspec.Meta(tz=True)]
    naive: Annotated[dt.datetime, msgspec.Meta(tz=False)]
    tree: Tree | None = None
    unset: int | msgspec.UnsetType = msgspec.UNSET


class Careful(msgspec.Struct):  # type: ignore[misc]
    x: int

    def __post_init__(self) -> None:
        """Look at it."""


@attrs.define
class Node:
    value: int
    _hidden: str = "a"
    when: dt.date = attrs.field(factory=dt.date.today)
    next: Node | None = None
    made: int = attrs.field(default=1, init=False)


@attrs.define
class Nodes:
    items: list[Node]
    by_name: dict[str, Node] = attrs.Factory(dict)


@attrs.define
class Judged:
    x: int = attrs.field(default=1, validator=attrs.validators.ge(3))


EVERYTHING = Everything(
    4, dt.datetime(2024, 2, 29, 1, 2, 3), dt.date(2024, 2, 29), dt.time(12), dt.timedelta(days=400, hours=3),
    decimal.Decimal("1.50"), uuid.UUID(int=5), b"ab", "a", Cat(9), Row(1), {1: "a", -5: "b"},
    dt.datetime(2024, 2, 29, tzinfo=dt.timezone.utc), dt.datetime(2024, 2, 29), Tree(1.5, [Tree(2.0)]),
)  # fmt: skip
VALUES: dict[Any, list[Any]] = {
    Everything: [EVERYTHING],
    Tree: [Tree(1.0), Tree(1e22, [Tree(-0.5)])],
    Row: [Row(1, "b")],
    Box[dt.date]: [Box(dt.date(2024, 2, 29))],
    Union[Cat, Dog]: [Cat(1), Dog("rex")],
    list[Cat]: [[], [Cat(2)]],
}


@pytest.mark.parametrize("source", VALUES)
def test_msgspec_reads_what_a_grammar_of_its_types_writes(compiler: Any, source: Any, costly: Any) -> None:
    grammar, read = compiler.json_schema(source), reader_of(source)
    assert grammar.warnings == []
    for seed in range(costly(60)):
        read(grammar.sample(seed, 4000).decode())
    read(grammar.shortest().decode())
    for value in VALUES[source]:
        text = msgspec.json.encode(value).decode()
        assert grammar.accepts(text), text
        assert read(text) == value


@pytest.mark.parametrize("source", [Node, Nodes, list[Node], Optional[Node], Annotated[Nodes, "a note"]])
def test_a_class_of_attrs_is_made_of_what_a_grammar_of_it_writes(compiler: Any, source: Any, costly: Any) -> None:
    grammar, read = compiler.json_schema(source), reader_of(source)
    assert grammar.warnings == []
    for seed in range(costly(60)):
        read(grammar.sample(seed, 4000).decode())


def test_values_are_of_the_class_down_to_the_last_one(compiler: Any) -> None:
    text = '{"items":[{"value":1,"hidden":"b","next":{"value":2}}],"by_name":{"a":{"value":3,"when":"2024-02-29"}}}'
    assert compiler.json_schema(Nodes).accepts(text)
    made = reader_of(Nodes)(text)
    assert made == Nodes([Node(1, "b", next=Node(2))], {"a": Node(3, when=dt.date(2024, 2, 29))})


def test_what_code_of_the_class_asks_is_a_warning(compiler: Any) -> None:
    asked = "is not enforced: it is asked when a value is read"
    assert compiler.json_schema(Judged).warnings == [f"the validator of Judged.x at # {asked}"]
    assert compiler.json_schema(Careful).warnings == [f"Careful.__post_init__ at # {asked}"]


@pytest.mark.parametrize("source", [Cat, Node])
def test_they_are_closed_unless_the_caller_says_otherwise(compiler: Any, source: Any) -> None:
    text = '{"type":"cat","lives":1,"more":2}' if source is Cat else '{"value":1,"more":2}'
    assert not compiler.json_schema(source).accepts(text)
    assert compiler.json_schema(source, closed=False).accepts(text)


def test_msgspec_takes_no_infinite_number(compiler: Any) -> None:
    assert not compiler.json_schema(Tree).accepts('{"value":1e999}')


def move(x: int) -> None:
    """Its parameters are what is written."""


def test_functions_are_read_as_plain_data() -> None:
    assert reader_of(move)('{"x": 1}') == {"x": 1}
    assert reader_of(functools.partial(move))('{"x": 1}') == {"x": 1}
    assert reader_of(pydantic.TypeAdapter(set[int]))("[1]") == {1}


def test_a_class_that_nobody_describes_is_refused() -> None:
    @attrs.define
    class Odd:
        x: "type(move)"  # type: ignore[valid-type]  # noqa: UP037

    with pytest.raises(GrammarError, match="pydantic describes no schema of the type"):
        described(Odd)
