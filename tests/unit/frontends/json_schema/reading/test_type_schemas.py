"""Grammars of types: what they write the type reads, and what people and pydantic write of it they take."""

from __future__ import annotations

import datetime as dt
import decimal
import importlib.util
import math
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.json_schema.reading.inputs import schema_of

TOKENIZER = "default_tokenizer"  # of `compiler`

pydantic = pytest.importorskip("pydantic", minversion="2.12", reason="pydantic 2.12 is not installed")
pytest.importorskip("email_validator", reason="email-validator is not installed")
typing_extensions = pytest.importorskip("typing_extensions")
Annotated, Field = typing_extensions.Annotated, pydantic.Field


def _cases() -> Any:
    """The table of types, in a module of its own: pydantic looks there for the names of annotations."""
    path = Path(__file__).with_name("type_cases.py")
    spec = importlib.util.spec_from_file_location("type_cases", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["type_cases"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = _cases()
DUMPED_BY_HAND = (
    "aliases",
    "alias paths",
    "computed",
    "strict dataclass with a field of its own",
)  # their values stand as JSON
MADE_OF_TEXT = re.compile(r"url$|address|network|interface|ipv|email|postgres|redis|mongo|websocket")
LONG = re.compile(r"network|url|email|^json|^set of float")  # half a second each
UNDER = (pydantic.ValidationError, TypeError, ValueError)


def walked(judge: Any, source: Any, rng: random.Random, n: int) -> list[bytes]:
    """Documents byte by byte at random; those that did not end are left out."""
    grammar = judge.grammar(schema_of(source, 10**7), numbers="typed")
    return [text for text in (judge.walk(grammar, rng, 1000) for _ in range(n)) if text]


def refused(source: Any, texts: list[bytes]) -> list[tuple[bytes, str]]:
    """Texts that a type does not read."""
    adapter, found = pydantic.TypeAdapter(source), []
    for text in texts:
        try:
            value = adapter.validate_json(text)
            if getattr(source, "__name__", "") == "Iterable":
                list(value)
        except UNDER as error:
            found.append((text, str(error)))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if LONG.search(name) else []) for name in cases.CASES]
)
def test_a_type_reads_what_its_grammar_writes_and_its_grammar_takes_what_is_written_of_it(
    name: str, compiler: Any, judge: Any, rng: random.Random, costly: Any
) -> None:
    source, values = cases.CASES[name]
    grammar = compiler.json_schema(source)
    if name in cases.UNTOLD:
        assert len(grammar.warnings) == 1
        assert "is not enforced" in grammar.warnings[0]
    else:
        assert grammar.warnings == []
        texts = [grammar.sample(seed) for seed in range(costly(50))] + [grammar.shortest()]
        assert refused(source, texts + walked(judge, source, rng, costly(12))) == []
    adapter, written = pydantic.TypeAdapter(source), set(cases.READ.get(name, ()))
    for value in values:
        forms = [value]
        if isinstance(value, str) and MADE_OF_TEXT.search(name):  # as it comes, and as pydantic writes it
            forms.append(adapter.validate_python(value))
        for one in forms:
            is_text = name in DUMPED_BY_HAND
            written.add(one if is_text else adapter.dump_json(one, by_alias=True, warnings=False).decode())
    assert len(written) >= cases.FEW.get(name, 20)
    for text in written:
        assert grammar.accepts(text), text
        if name not in cases.UNTOLD:
            adapter.validate_json(text)


def test_there_are_many_types() -> None:
    assert len(cases.CASES) > 120


class Even(pydantic.BaseModel):
    number: int
    plain: str = ""

    @pydantic.field_validator("number")
    @classmethod
    def even(cls, value: int) -> int:
        return value


class Whole(pydantic.BaseModel):
    inner: Even

    @pydantic.model_validator(mode="after")
    def whole(self) -> Any:
        return self

    def model_post_init(self, _: Any) -> None:
        """Look at it."""


class Private(pydantic.BaseModel):
    x: int
    _y: int = pydantic.PrivateAttr(default=1)


def kind_of(value: Any) -> str:
    return "a"


A = Annotated[cases.Circle, pydantic.Tag("a")]
B = Annotated[cases.Square, pydantic.Tag("b")]
ASKED = "is not enforced: it is asked when a value is read"


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        (Even, ["the validator Even.even at #/properties/number"]),
        (
            Whole,
            [
                "the validator Whole.whole at #",
                "Whole.model_post_init at #/$defs/Whole",
                "the validator Even.even at #/$defs/Even/properties/number",
            ],
        ),
        (dict[str, pydantic.FutureDate], ["a day to come at #/additionalProperties"]),
        (Annotated[A | B, pydantic.Discriminator(kind_of)], ["the discriminator kind_of at #"]),
        (pydantic.Json[list[Even]], ["the validator Even.even at #"]),
        (Private, []),
    ],
)
def test_what_no_grammar_can_tell_is_a_warning_with_its_place(compiler: Any, source: Any, asked: list[str]) -> None:
    grammar = compiler.json_schema(source)
    assert sorted(grammar.warnings) == sorted(f"{one} {ASKED}" for one in asked)
    entries = [entry for entry in grammar.ledger if entry[1] == "x-unchecked"]
    ignored = [fate for _, _, fate in entries if fate.startswith("ignored")]
    assert ignored == ["ignored: it is asked when a value is read"] * len(asked)


@pytest.mark.parametrize("value", [1, "a", [1], {"a": 1}])
def test_the_keyword_of_what_is_not_checked_may_have_any_value(compiler: Any, value: Any) -> None:
    assert compiler.json_schema({"type": "null", "x-unchecked": value}).accepts("null")


@pytest.mark.parametrize(
    "source",
    [
        type[int],
        typing_extensions.Literal[b"x"],
        dict[tuple[int, int], int],
        dict[pydantic.conint(multiple_of=5), int],
        dict[None, int],
        Annotated[dict[float, int], Field(min_length=2)],
        pydantic.constr(pattern=r"^[\w--\d]+$"),
        pydantic.constr(pattern="^[[:alpha:]]$"),
        pydantic.constr(pattern="^[a-z&&[^b]]$"),
    ],
)
def test_types_without_a_form_in_json_are_refused(compiler: Any, source: Any) -> None:
    with pytest.raises(GrammarError, match="pydantic describes no schema"):
        compiler.json_schema(source)


@pytest.mark.parametrize(
    "source",
    [
        pydantic.Json[pydantic.constr(pattern="a.b")],
        pydantic.Json[pydantic.conint(multiple_of=5)],
        pydantic.Json[list[pydantic.Json]],
        pydantic.Json[Annotated[set[int], Field(min_length=2)]],
    ],
)
def test_json_in_a_string_that_no_pattern_holds_is_refused(compiler: Any, source: Any) -> None:
    with pytest.raises(GrammarError, match="no pattern holds JSON of that type within a string"):
        compiler.json_schema(source)


@pytest.mark.parametrize("kind", [decimal.Decimal, pydantic.HttpUrl, frozenset[int], pydantic.constr(to_lower=True)])
def test_a_set_of_two_whose_equal_values_differ_as_text_is_refused(compiler: Any, kind: Any) -> None:
    compiler.json_schema(Annotated[set[kind], Field(min_length=1)])
    with pytest.raises(GrammarError, match="two or more values are asked for"):
        compiler.json_schema(Annotated[set[kind], Field(min_length=2)])


@pytest.mark.parametrize(
    ("source", "taken", "refused"),
    [
        (Annotated[float, Field(gt=0.1)], ["0.2"], ["0.1", "0.1000000000000000000001"]),
        (pydantic.FiniteFloat, ["1e22"], ["1e999"]),
        (int, ["12345678901234567890123"], ["1.0", "1e5"]),
        (Annotated[decimal.Decimal, Field(gt=0)], ['"0.00001"', "0.5"], ['"0.0"', "0.00", '"-1"']),
        (pydantic.condecimal(max_digits=2, decimal_places=2), ['"0.12"'], ["0", '"0"', '"1.2"']),
        (dt.datetime, ['"2024-06-30T23:59:59Z"'], ['"2024-06-30T23:59:60Z"', '"0000-01-01T00:00:00"']),
        (pydantic.networks.EmailStr, ['"a@b.co"'], ['"a@b.local"', '"a@b"', '"a..b@c.de"', '"a@xn--a.de"']),
        (
            pydantic.networks.HttpUrl,
            ['"http://a/"'],
            ['"ftp://a"', '"http://"', '"http://1.2.3.256"', '"http://a:99999"'],
        ),
        (pydantic.Base64Bytes, ['"YQ=="'], ['"YQ"', '"YQ="', '"Y"']),
        (dict[int, int], ['{"-5":1}'], ['{"a":1}', '{"1.0":1}', '{"-0":1}']),
        (cases.Shape, ['{"kind":"circle","radius":1}'], ['{"radius":1}', '{"kind":"square","radius":1}']),
        (cases.Person, ['{"name":"a","age":1}'], ['{"name":"a","age":1,"x":2}']),
        (cases.Point, [], ['{"x":1,"y":1,"z":2}']),
        (cases.Movie, [], ['{"title":"a","x":1}']),
        (pydantic.constr(pattern=r"^\W$"), ['"-"'], ['"é"']),
    ],
)
def test_what_a_type_refuses_is_refused(compiler: Any, source: Any, taken: list[str], refused: list[str]) -> None:
    grammar, adapter = compiler.json_schema(source), pydantic.TypeAdapter(source)
    for text in taken:
        assert grammar.accepts(text), text
        adapter.validate_json(text)
    for text in refused:
        assert not grammar.accepts(text), text


def test_types_are_closed_unless_they_say_otherwise_or_the_caller_does(compiler: Any) -> None:
    text = '{"name":"a","age":1,"x":2}'
    assert not compiler.json_schema(cases.Person).accepts(text)
    assert not compiler.json_schema(cases.Person, closed=True).accepts(text)
    assert compiler.json_schema(cases.Person, closed=False).accepts(text)
    assert compiler.json_schema(cases.Person.model_json_schema()).accepts(text)
    assert not compiler.json_schema(cases.Person.model_json_schema(), closed=True).accepts(text)
    assert compiler.json_schema(cases.Open).accepts('{"x":1,"y":2}')
    assert compiler.json_schema(dict[str, int]).accepts('{"x":1,"y":2}')
    nested = '{"a":{"name":"a","age":1,"x":2}}'
    assert not compiler.json_schema(cases.People).accepts(nested)
    assert compiler.json_schema(cases.People, closed=False).accepts(nested)


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 3600, 3661.5, 86400, 90061, 365 * 86400, 400 * 86400 + 7325.25])
@pytest.mark.parametrize("keyword", ["ge", "gt", "le", "lt"])
def test_bounds_of_durations(compiler: Any, seconds: float, keyword: str, rng: random.Random) -> None:
    for sign in (1, -1):
        bound = dt.timedelta(seconds=sign * seconds)
        source = Annotated[dt.timedelta, Field(**{keyword: bound})]
        grammar, adapter = compiler.json_schema(source), pydantic.TypeAdapter(source)
        near = [bound + dt.timedelta(seconds=step) for step in (-86400, -60, -1, -0.25, 0, 0.25, 1, 60, 86400)]
        for value in near:
            text = pydantic.TypeAdapter(dt.timedelta).dump_json(value).decode()
            try:
                adapter.validate_json(text)
            except pydantic.ValidationError:
                assert not grammar.accepts(text), text
            else:
                assert grammar.accepts(text), text


@pytest.mark.parametrize("keyword", ["ge", "gt", "le", "lt"])
def test_bounds_of_decimals(compiler: Any, keyword: str, rng: random.Random, scaled: Any) -> None:
    for _ in range(scaled(10)):
        bound = decimal.Decimal(rng.randint(-(10**5), 10**5)).scaleb(-rng.randint(0, 5))
        source = Annotated[decimal.Decimal, Field(**{keyword: bound})]
        grammar, adapter = compiler.json_schema(source), pydantic.TypeAdapter(source)
        near = [bound + decimal.Decimal(step).scaleb(-k) for k in (-1, 0, 3, 6) for step in (-1, 0, 1)]
        for value in [*near, decimal.Decimal(0), -bound, bound * 10, bound / 10]:
            text = f'"{value:f}"'
            try:
                adapter.validate_json(text)
            except pydantic.ValidationError:
                assert not grammar.accepts(text), (bound, text)
            else:
                assert grammar.accepts(text), (bound, text)


def test_the_next_float_is_the_bound(compiler: Any) -> None:
    schema = schema_of(Annotated[float, Field(gt=1, lt=2)], 1000)
    assert schema == {"type": "number", "minimum": math.nextafter(1, 2), "maximum": math.nextafter(2, 1)}


def test_a_schema_that_the_type_writes_itself_is_taken(compiler: Any) -> None:
    given = Annotated[dt.date, pydantic.WithJsonSchema({"const": "today"})]
    assert schema_of(given, 1000) == {"const": "today"}
