"""Reads tool calls back: what the grammar of a family writes, as names and values, piece by piece.

    outside -opening-> arguments -call_end-> outside
                                 in a section: -separator, opening-> arguments ... -end-> outside

Where arguments are elements, a value is JSON where the schema allows what the JSON is, besides the arguments before it,
and else a text; without a schema it is JSON wherever it can be read so.

In: a family, functions, text. Out: calls, and pieces of them. Cost: some us a call; a step looks at the text since the
last mark only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from llmask.errors import LlmaskError
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.instances import allowed_values, fulfils
from llmask.frontends.json_schema.meaning.object_layout import key_schemas
from llmask.frontends.json_schema.meaning.place import types_of
from llmask.frontends.json_schema.reading.inputs import schema_of
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.frontends.structural_tags.xml_parameters import STYLES
from llmask.frontends.tools import MARKS
from llmask.frontends.tools.requests import (
    FAMILIES,
    NAME,
    Family,
    Part,
    Pattern,
    check_model,
    check_reasoning,
    read_tools,
)

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.context import Context
    from llmask.frontends.json_schema.meaning.place import SchemaAt
    from llmask.regex.nodes import RegexNodes

LONGEST_OPENING = 512  # letters from a first mark to the arguments: a name has 128 at most
BLANKS = " \t\r\n"
HARMONY = Family("harmony_tag", "", "", marks=MARKS)
MOST_LETTERS = 2**24  # of a schema
MOST_DIGITS = 4000  # of an int; Python refuses more than 4,300
# the recipient of a message is before its channel or after it
CHANNEL = r"(?:<\|channel\|>commentary)?"
HARMONY_OPENING = (
    CHANNEL + r" to=functions\.(?P<name>[\w.\-]+)" + CHANNEL + r"(?: ?<\|constrain\|>json| json)?<\|message\|>"
)


class ToolCall(NamedTuple):
    """A call that was read: the function's name, and its arguments by name."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ToolCallDelta:
    """A piece of a call, as OpenAI's API streams them.

    index : of the call, from 0.
    name : of the function, in the first piece of a call; None in all others.
    arguments : a piece of the JSON text of the arguments.
    """

    index: int
    name: str | None
    arguments: str


class Reader:
    """Reads the text of a response; see `llmask.ToolCallReader`.

    Parameters
    ----------
    nodes : where patterns of schemas are compiled.
    """

    def __init__(self, model: str, tools: Any, reasoning: bool | str, nodes: Callable[[], RegexNodes]) -> None:
        check_model(model)
        check_reasoning(reasoning)
        self.calls: list[ToolCall] = []
        self.text = ""
        self.family = family = FAMILIES.get(model, HARMONY)
        self._schemas = {tool.name: tool.parameters for tool in read_tools(tools)} if tools else {}
        self._meanings: dict[str, Meaning] = {}
        self._nodes = nodes
        self._rest = ""
        self._name = ""
        self._values: dict[str, Any] = {}
        self._json = JsonEnd()
        if family is HARMONY:
            self._triggers: tuple[str, ...] = ("<|channel|>commentary to=", " to=functions.")
            self._opening = self._next = re.compile(HARMONY_OPENING)
        else:
            call = re.escape(family.call).replace(r"\{number\}", "[0-9]+")
            call = call.replace(r"\{name\}", f"(?P<name>{NAME.pattern})")
            call += "(?=[^A-Za-z0-9_.-])" if family.call.endswith("{name}") else ""
            first = str(family.begin[0]) if family.begin else family.call.partition("{name}")[0]
            self._triggers = (next((mark for mark in family.marks if first.startswith(mark)), first),)
            self._opening = re.compile("".join(map(_pattern, family.begin)) + call)
            self._next = re.compile(_pattern(family.separator) + call)
        self._thoughts = None if reasoning is False else family.thoughts
        self._may_think = reasoning == "optional"
        self._read: Callable[[], Iterable[ToolCallDelta] | None]
        self._read = self._outside if self._thoughts is None else self._thinking

    def feed(self, text: str) -> list[ToolCallDelta]:
        """Read more text; gives the pieces of calls in it.

        Raises
        ------
        LlmaskError : a call begins and does not go on as the family writes it.
        """
        self._rest += text
        found: list[ToolCallDelta] = []
        while (pieces := self._read()) is not None:
            found += pieces
        return found

    def close(self) -> None:
        """Say that there is no more text.

        Raises
        ------
        LlmaskError : it ends inside of a call.
        """
        if self._read in (self._outside, self._thinking):
            self._skip(len(self._rest))
        elif self._read != self._between or self._rest.strip(BLANKS):
            self._refuse("the text ends inside of a call")

    def _refuse(self, message: str) -> NoReturn:
        name = f' of "{self._name}"' if self._name else ""
        raise LlmaskError(
            message + name,
            f"call {len(self.calls)}",
            "give the text as the model wrote it, with its special tokens, up to its end",
        )

    # --- what may be read next; None where more text is needed

    def _thinking(self) -> Iterable[ToolCallDelta] | None:
        assert self._thoughts is not None
        if self._may_think and not self._rest.startswith(self._thoughts.begin):
            if self._thoughts.begin.startswith(self._rest):
                return None
            self._read = self._outside
            return ()
        end = self._rest.find(self._thoughts.end)
        if end < 0:
            return None
        self._skip(end + len(self._thoughts.end))
        self._read = self._outside
        return ()

    def _skip(self, n: int) -> None:
        self.text, self._rest = self.text + self._rest[:n], self._rest[n:]

    def _outside(self) -> Iterable[ToolCallDelta] | None:
        found = self._opening.search(self._rest)
        if found is not None:
            self._skip(found.start())
            return self._opened(found)
        kept = min(_first_of(self._rest, trigger) for trigger in self._triggers)
        self._skip(kept)
        if len(self._rest) > LONGEST_OPENING:  # what begins like a call and is no call
            self._skip(1)
            return ()
        return None

    def _between(self) -> Iterable[ToolCallDelta] | None:
        """Read what comes after a call of a section."""
        end = self.family.end
        if end and self._rest.startswith(end):
            self._rest = self._rest[len(end) :]
            self._read = self._outside
            return ()
        found = self._next.match(self._rest)
        if found is not None:
            return self._opened(found)
        if len(self._rest) > LONGEST_OPENING:
            self._refuse("what comes after a call is not another one")
        return None

    def _opened(self, found: re.Match[str]) -> Iterable[ToolCallDelta]:
        self._name, self._rest = found["name"], self._rest[found.end() - found.start() :]
        self._values, self._json = {}, JsonEnd()
        self._read = self._json_arguments if self.family.style == "json" else self._elements
        return (ToolCallDelta(len(self.calls), self._name, ""),)

    def _json_arguments(self) -> Iterable[ToolCallDelta] | None:
        end = self._json.end_of(self._rest)
        written = self._rest if end is None else self._rest[:end]
        if not written:
            return None
        self._rest = self._rest[len(written) :]
        self._json.text += written
        if end is not None:
            values = _json(self._json.text)
            if not isinstance(values, dict):
                self._refuse("the arguments are no object of JSON")
            self._values = values
            self._read = self._closing
        return (ToolCallDelta(len(self.calls), None, written),)

    def _closing(self) -> Iterable[ToolCallDelta] | None:
        end = self.family.call_end
        if not self._rest.startswith(end):
            if not end.startswith(self._rest):
                self._refuse("there is something else where the call has to end")
            return None
        self._rest = self._rest[len(end) :]
        self.calls.append(ToolCall(self._name, self._values))
        self._name = ""
        self._read = self._between if self.family.begin else self._outside
        return ()

    def _elements(self) -> Iterable[ToolCallDelta] | None:
        self._rest = self._rest.lstrip(BLANKS)
        if self._rest.startswith(self.family.call_end):
            self._read = self._closing
            return (ToolCallDelta(len(self.calls), None, "}" if self._values else "{}"),)
        if self._name not in self._meanings:
            self._meanings[self._name] = Meaning(self._schemas.get(self._name, True), self._nodes())
        found = _element(self._rest, self.family.style, self._meanings[self._name], self._values)
        if found is None and STYLES[self.family.style].end in self._rest:
            self._refuse("what is in the call is not an argument")
        if found is None or found.rest is None:
            return None
        written = f"{', ' if self._values else '{'}{found.json()}"
        self._values[found.name], self._rest = found.value, found.rest
        return (ToolCallDelta(len(self.calls), None, written),)


class JsonEnd:
    """Finds the end of an object that comes in pieces, which are kept."""

    def __init__(self) -> None:
        self.text = ""
        self._depth = 0
        self._in_string = self._is_escaped = False

    def end_of(self, text: str) -> int | None:
        """Where the object ends in the next piece, or that it does not."""
        for at, letter in enumerate(text):
            if self._in_string:
                self._in_string = self._is_escaped or letter != '"'
                self._is_escaped = not self._is_escaped and letter == "\\"
            elif letter == '"':
                self._in_string = True
            elif letter in "{[":
                self._depth += 1
            elif letter in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    return at + 1
        return None


def _pattern(part: Part) -> str:
    return f"(?:{part.text})" if isinstance(part, Pattern) else re.escape(part)


def _first_of(text: str, trigger: str) -> int:
    """Where a trigger begins in a text, or may have begun at its end."""
    found = text.find(trigger)
    if found >= 0:
        return found
    begun = range(max(len(text) - len(trigger) + 1, 0), len(text))
    return next((at for at in begun if trigger.startswith(text[at:])), len(text))


class Element(NamedTuple):
    """An argument, its text, and what follows its element: None where that has not ended yet."""

    name: str
    value: Any
    written: str
    is_text: bool
    rest: str | None

    def json(self) -> str:
        """The member of an object, as far as it goes."""
        begin = f"{json.dumps(self.name, ensure_ascii=False)}: "
        if not self.is_text:
            return begin + self.written
        text = self.written if self.rest is None else self.value
        return begin + json.dumps(text, ensure_ascii=False)[: -1 if self.rest is None else None]


def _element(text: str, style: str, meaning: Meaning, members: Mapping[str, Any]) -> Element | None:
    """The element that a text begins with, after those that were read."""
    found = _begin(style, meaning.names).match(text)
    if found is None:
        return None
    name, said = found["name"], found.groupdict().get("is_string")
    written, mark, rest = text[found.end() :].partition(STYLES[style].end)
    line = "\n" if STYLES[style].strips_line else ""
    if not mark:
        is_text = said == "true" or (said is None and meaning.may_be_text(name))
        return Element(name, None, written.removeprefix(line) if is_text else written.lstrip(BLANKS), is_text, None)
    value = _json(written)
    is_text = (
        said == "true" or isinstance(value, str) or (said is None and not meaning.allows({**members, name: value}))
    )
    if is_text:
        value = written if said == "true" else written.removeprefix(line).removesuffix(line)
    return Element(name, value, written.strip(BLANKS), is_text, rest)


@lru_cache
def _begin(style: str, names: tuple[str, ...]) -> re.Pattern[str]:
    """What an element begins with; names of the schema may hold what ends others."""
    name = "|".join([*map(re.escape, names), ".+?"])
    begin = re.escape(STYLES[style].begin).replace("\\\t", r"\s*")
    begin = begin.replace(r"\{is_string\}", "(?P<is_string>true|false)")
    return re.compile(begin.replace(r"\{name\}", f"(?P<name>{name})"), re.DOTALL)


def json_so_far(text: str, style: str, schema: Any, nodes: RegexNodes) -> str:
    """The arguments in elements as JSON, as far as a text goes."""
    meaning, members = Meaning(schema, nodes), dict[str, Any]()
    parts: list[str] = []
    rest: str | None = text
    while rest is not None and (found := _element(text := rest.lstrip(BLANKS), style, meaning, members)) is not None:
        rest, members[found.name] = found.rest, found.value
        parts.append(found.json() + ("" if rest is None else " "))  # after which no number goes on
    begin = STYLES[style].begin.partition("{name}")[0]
    return "{" + ", ".join(parts) + ("" if rest is None or begin.startswith(text[: len(begin)]) else "}")


# --- what a value is, by its schema


class Meaning:
    """What the schema of a function says of its arguments; nothing, where it cannot be compiled."""

    def __init__(self, schema: Any, nodes: RegexNodes) -> None:
        self.names = tuple(sorted(set(_names_in(schema)), key=len, reverse=True))
        self._context: Context | None = None
        with suppress(LlmaskError):
            self._context = Translation(nodes, schema_of(schema, MOST_LETTERS), SchemaOptions())

    def allows(self, members: Mapping[str, Any]) -> bool:
        """Whether an object of the schema may have these members, besides others."""
        return self._asks(lambda context, root: _allowed(context, root, members))

    def may_be_text(self, name: str) -> bool:
        """Whether an argument may be a string."""
        return self._asks(lambda context, root: _is_text(context, root, name))

    def _asks(self, question: Callable[[Context, list[SchemaAt]], bool]) -> bool:
        if self._context is None:
            return True
        self._context.begin()
        try:
            return question(self._context, [(self._context.schema, ROOT)])
        except (LlmaskError, RecursionError):
            return True


def _allowed(context: Context, schemas: list[SchemaAt], members: Mapping[str, Any]) -> bool:
    conjunction = conjunction_of(context, schemas)
    listed = [allowed_values(part) for part in conjunction.parts]
    if conjunction.false_at is not None or not all(
        values is None or any(isinstance(one, dict) and members.items() <= one.items() for one in values)
        for values in listed
    ):
        return False
    parts = [part for part in conjunction.parts if part[2].has_object]
    return all(fulfils(context, value, key_schemas(context, parts, name)) for name, value in members.items()) and all(
        any(_allowed(context, [one], members) for one in choice.schemas) for choice in conjunction.choices
    )


def _is_text(context: Context, schemas: list[SchemaAt], name: str) -> bool:
    conjunction = conjunction_of(context, schemas)
    inner = conjunction_of(context, key_schemas(context, conjunction.parts, name))
    return "string" in types_of(inner.parts) and all(
        any(_is_text(context, [one], name) for one in choice.schemas) for choice in conjunction.choices
    )


def _names_in(schema: Any) -> Iterator[str]:
    """Every name of a member that a schema speaks of, and others."""
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Mapping):
            yield from (name for name in here if isinstance(name, str))
            waiting += here.values()
        elif isinstance(here, list):
            yield from (name for name in here if isinstance(name, str))
            waiting += here


def _json(text: str) -> Any:
    """The value of a text that is JSON, else the text."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    def whole(digits: str) -> int | Decimal:
        return int(digits) if len(digits) < MOST_DIGITS else Decimal(digits)

    try:
        return json.loads(text, parse_constant=refuse, parse_int=whole)
    except (ValueError, RecursionError):
        return text
