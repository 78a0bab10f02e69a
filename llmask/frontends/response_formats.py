"""What clients send as the format of a response, read.

    {"type": "json_schema", "json_schema": {"name": ..., "schema": {...}}}          chat completions, `response_format`
    {"type": "json_schema", "name": ..., "schema": {...}}                           responses, `text.format`
    {"type": "json_object"}, {"type": "text"}                                       both
    {"type": "json_object", "schema": {...}}                                        llama.cpp's servers
    {"type": "custom", "name": ..., "format": {"type": "grammar",                   a custom tool, `tools`
                                               "syntax": "lark", "definition": "..."}}
    {"type": "structural_tag", "format": {...}}                                     XGrammar, vLLM, SGLang

Fields that are null are as good as absent: models of clients and servers write all that they have. `name`,
`description`, `strict`, `verbosity` and what says when a tool may be called are for the model and the server, and ask
nothing of a text. A schema with `"strict": true` says itself that its objects take no other keys.

Source: OpenAI, API reference, Chat Completions (`response_format`, `tools`) and Responses (`text`, `tools`).

In: a document. Out: what is to be compiled, by which method of `Compiler`. Cost: none to speak of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_origin

from llmask.errors import GrammarError
from llmask.frontends.documents import Place, document_of
from llmask.frontends.json_schema.reading.keywords import TYPE_NAMES
from llmask.frontends.json_schema.reading.pointers import ROOT, Path, pointer
from llmask.frontends.places import similar

if TYPE_CHECKING:
    from llmask.limits import Limits

TYPES = ("json_schema", "json_object", "text", "grammar", "custom", "structural_tag")
NAMES = ("name", "description")
OF_SERVERS = ("defer_loading", "allowed_callers", "async")  # when and by whom a custom tool may be called
SYNTAXES = ("lark", "regex")
ANY_TEXT = "(?s:.*)"
ANY_OBJECT = {"type": "object"}


class Wanted(NamedTuple):
    """What a response format asks for.

    method : of `Compiler`: "json_schema", "regex", "lark" or "structural_tag".
    source : what it compiles.
    path : of the source, in the document.
    """

    method: str
    source: Any
    path: Path

    def place_of(self, where: str | None) -> str | None:
        """Where a place in the source is in the document."""
        if where is None:
            return None
        if self.method in SYNTAXES:
            return f"{pointer(self.path)}, {where}"
        return pointer(self.path) + where[1:] if where.startswith("#") else where  # else in a document of a registry


def read_response_format(source: Any, limits: Limits) -> Wanted:
    """What a response format asks for.

    Parameters
    ----------
    source : a dict, JSON text, or a value of a pydantic model.

    Raises
    ------
    GrammarError : it is malformed, or has a field or type that is not known; with the JSON pointer.
    LimitExceeded : text is too long, or nests too deep.
    """
    if isinstance(source, type) or get_origin(source) is not None:
        named = source if get_origin(source) is not None else source.__qualname__
        raise GrammarError(
            f"a response format is a dict, not the type {named}",
            help="Compiler.json_schema takes types; an OpenAI client sends a model as a dict",
        )
    place = _object(Place(document_of(source, limits, "response format"), ROOT), "a response format")
    if "type" not in place.value and place.has("format"):  # `text` of the Responses API
        place.check_fields(("format",), ("verbosity",), "a response format without a type")
        _check_texts(place, ("verbosity",))
        place = _object(place.below("format"), "a format")
    kind = _type(place, TYPES)
    if kind == "json_schema":
        return _schema(place)
    if kind == "grammar":
        return _grammar(place)
    if kind == "custom":
        return _custom(place)
    if kind == "structural_tag":
        return Wanted("structural_tag", place.value, place.path)
    place.check_fields(("type",), ("schema",) if kind == "json_object" else (), f'the response format "{kind}"')
    if kind == "text":
        return Wanted("regex", ANY_TEXT, place.path)
    return _schema_in(place) if place.has("schema") else Wanted("json_schema", ANY_OBJECT, place.path)


def _object(place: Place, what: str, example: str = 'write {"type": ...}') -> Place:
    """An object without the fields that are null."""
    if not isinstance(place.value, Mapping):
        place.refuse(f"{what} is an object, not {place.kind()}", example)
    return Place({name: value for name, value in place.value.items() if value is not None}, place.path)


def _type(place: Place, known: Sequence[str]) -> str:
    if not place.has("type"):
        place.refuse("the response format has no type", f"add one: {', '.join(known)}")
    kind = place.below("type").text()
    if kind not in known:
        help = similar(kind, known, f"use {', '.join(known)}")
        if kind in TYPE_NAMES:
            help = 'a schema is written {"type": "json_schema", "json_schema": {"name": ..., "schema": {...}}}'
        place.below("type").refuse(f'there is no response format "{kind}" here', help)
    return kind


def _check_texts(place: Place, names: Sequence[str]) -> None:
    for name in names:
        if place.has(name):
            place.below(name).text()


def _inside(place: Place, name: str, outer: str, inner: str, example: str) -> tuple[Place, tuple[str, ...]]:
    """Where the fields of a format are, and "type" if it is one of them: chat completions have them a level below."""
    if not place.has(name):
        return place, ("type",)
    place.check_fields(("type", name), (), outer)
    return _object(place.below(name), inner, example), ()


def _schema(place: Place) -> Wanted:
    example = 'write {"name": ..., "schema": ...}'
    place, own = _inside(place, "json_schema", "a response format with a schema", "a schema with its name", example)
    if not place.has("schema") and any(word in place.value for word in ("properties", "$ref", *({"type"} - {*own}))):
        place.refuse("the schema is given without the object that holds it", 'write {"name": ..., "schema": {...}}')
    place.check_fields(("schema",), (*own, *NAMES, "strict"), "a schema with its name")
    _check_texts(place, NAMES)
    place.flag("strict")
    return _schema_in(place)


def _schema_in(place: Place) -> Wanted:
    schema = place.below("schema")
    if not isinstance(schema.value, (Mapping, bool)):
        schema.refuse(f"a schema is an object, not {schema.kind()}", 'write {"type": "object", ...}')
    return Wanted("json_schema", schema.value, schema.path)


def _custom(place: Place) -> Wanted:
    example = 'write {"name": ..., "format": ...}'
    place, own = _inside(place, "custom", "a custom tool", "a custom tool", example)
    place.check_fields((), (*own, *NAMES, "format", *OF_SERVERS), "a custom tool")
    _check_texts(place, NAMES)
    if not place.has("format"):
        return Wanted("regex", ANY_TEXT, place.path)
    form = _object(place.below("format"), "the format of a custom tool")
    if _type(form, ("text", "grammar")) == "grammar":
        return _grammar(form)
    form.check_fields(("type",), (), 'the format "text"')
    return Wanted("regex", ANY_TEXT, form.path)


def _grammar(place: Place) -> Wanted:
    example = 'write {"syntax": "lark", "definition": ...}'
    place, own = _inside(place, "grammar", "the format of a grammar", "a grammar", example)
    place.check_fields(("syntax", "definition"), own, "a grammar")
    syntax, definition = place.below("syntax"), place.below("definition")
    if syntax.text() not in SYNTAXES:
        help = similar(syntax.value, SYNTAXES, f"use {' or '.join(SYNTAXES)}")
        syntax.refuse(f'there is no syntax "{syntax.value}"', help)
    return Wanted(syntax.value, definition.text(), definition.path)
