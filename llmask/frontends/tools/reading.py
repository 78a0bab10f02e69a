"""Reads tool calls back: what the grammar of a family writes, as names and values, piece by piece.

    outside -opening-> arguments -call_end-> outside
                                 in a section: -separator, opening-> arguments ... -end-> outside

Where arguments are elements, a value is JSON where its schema allows what the JSON is, and else a text; without a
schema it is JSON wherever it can be read so.

In: a family, functions, text. Out: calls, and pieces of them. Cost: some us a call; a step looks at the text since the
last mark only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn

from llmask.errors import LlmaskError
from llmask.frontends.structural_tags.xml_parameters import NAME_OF_PATTERN, STYLES
from llmask.frontends.tools.families import FAMILIES, Family, Part, Pattern
from llmask.frontends.tools.harmony import MARKS
from llmask.frontends.tools.requests import NAME, check_model, check_reasoning, read_tools

LONGEST_OPENING = 512  # letters from a first mark to the arguments: a name has 128 at most
BLANKS = " \t\r\n"
HARMONY = Family("harmony.py", "", "", marks=MARKS)
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "null": (type(None),),
    "boolean": (bool,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
# the recipient of a message stands before its channel or behind it
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


class ToolCallReader:
    r"""Reads calls back from the text of a response, also while it is written.

    Parameters
    ----------
    model : a family, as `Compiler.tools` takes it.
    tools : the functions, as there. By their schemas the arguments of families that write elements get their types.
    reasoning : as there: what stands in a section of reasoning is no call.

    Attributes
    ----------
    calls : those that are complete, as (name, arguments).
    text : what stands outside of calls.

    Raises
    ------
    GrammarError : the family is not known, or a function is malformed.

    Examples
    --------
    >>> import llmask
    >>> reader = llmask.ToolCallReader("hermes")
    >>> deltas = reader.feed('<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>')
    >>> reader.calls
    [ToolCall(name='add', arguments={'a': 1})]
    """

    def __init__(self, model: str = "llama-3", tools: Any = (), reasoning: bool | str = False) -> None:
        check_model(model)
        check_reasoning(reasoning)
        self.calls: list[ToolCall] = []
        self.text = ""
        self.family = family = FAMILIES.get(model, HARMONY)
        self._schemas = {tool.name: tool.parameters for tool in read_tools(tools)} if tools else {}
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
        if len(self._rest) > LONGEST_OPENING:  # what begins like a call and is none
            self._skip(1)
            return ()
        return None

    def _between(self) -> Iterable[ToolCallDelta] | None:
        """Behind a call of a section."""
        end = self.family.end
        if end and self._rest.startswith(end):
            self._rest = self._rest[len(end) :]
            self._read = self._outside
            return ()
        found = self._next.match(self._rest)
        if found is not None:
            return self._opened(found)
        if len(self._rest) > LONGEST_OPENING:
            self._refuse("what stands behind a call is no other one")
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
                self._refuse("something else stands where the call has to end")
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
        found = _element(self._rest, self.family.style, self._schemas.get(self._name, True))
        if found is None and STYLES[self.family.style].end in self._rest:
            self._refuse("what stands in the call is no argument")
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


def tool_calls(text: str, model: str = "llama-3", tools: Any = (), reasoning: bool | str = False) -> list[ToolCall]:
    """The calls in the text of a response, with the values that the functions' schemas give them.

    Parameters
    ----------
    text : of the whole response, with the text of special tokens, as the model wrote it.
    model, tools, reasoning : as `ToolCallReader` takes them.

    Raises
    ------
    GrammarError : the family is not known, or a function is malformed.
    LlmaskError : a call begins and does not go on as the family writes it, or the text ends in it.

    Examples
    --------
    >>> import llmask
    >>> llmask.tool_calls('[TOOL_CALLS]add[ARGS]{"a": 1}', "mistral-v11")
    [ToolCall(name='add', arguments={'a': 1})]
    """
    reader = ToolCallReader(model, tools, reasoning)
    reader.feed(text)
    reader.close()
    return reader.calls


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
    """An argument, and what follows its element: None where that has not ended yet; the value is then its text."""

    name: str
    value: Any
    is_text: bool
    rest: str | None

    def json(self) -> str:
        """The member of an object, as far as it goes."""
        value = json.dumps(self.value, ensure_ascii=False)
        if self.rest is None:
            value = value[:-1] if self.is_text else self.value
        return f"{json.dumps(self.name, ensure_ascii=False)}: {value}"


def _element(text: str, style: str, schema: Any) -> Element | None:
    """The element that a text begins with."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    properties = properties if isinstance(properties, Mapping) else {}
    found = _begin(style, tuple(properties)).match(text)
    if found is None:
        return None
    written, mark, rest = text[found.end() :].partition(STYLES[style].end)
    said, own = found.groupdict().get("is_string"), properties.get(found["name"], True)
    line = "\n" if STYLES[style].strips_line else ""
    value, known = _json(written), dict[int, bool]()
    if not mark:
        is_text = said == "true" or (said is None and _allows(schema, own, "", known))
        return Element(found["name"], written.removeprefix(line) if is_text else written.lstrip(BLANKS), is_text, None)
    is_text = said == "true" or (said is None and (isinstance(value, str) or not _allows(schema, own, value, known)))
    return Element(found["name"], written.removeprefix(line).removesuffix(line) if is_text else value, is_text, rest)


@lru_cache
def _begin(style: str, names: tuple[str, ...]) -> re.Pattern[str]:
    """What an element begins with; names that are declared may hold what ends others."""
    name = "|".join([*map(re.escape, sorted(names, key=len, reverse=True)), NAME_OF_PATTERN])
    begin = re.escape(STYLES[style].begin).replace("\\\t", r"\s*")
    begin = begin.replace(r"\{is_string\}", "(?P<is_string>true|false)")
    return re.compile(begin.replace(r"\{name\}", f"(?P<name>{name})"))


def json_so_far(text: str, style: str, schema: Any) -> str:
    """The arguments in elements as JSON, as far as a text goes."""
    parts: list[str] = []
    rest: str | None = text
    while rest is not None and (found := _element(text := rest.lstrip(BLANKS), style, schema)) is not None:
        rest = found.rest
        parts.append(found.json() + ("" if rest is None else " "))  # behind which no number goes on
    begin = STYLES[style].begin.partition("{name}")[0]
    return "{" + ", ".join(parts) + ("" if rest is None or begin.startswith(text[: len(begin)]) else "}")


# --- what a value is, by its schema


def _json(text: str) -> Any:
    """The value of a text that is JSON, else the text."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(name)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError):  # NaN, or a number of thousands of digits
        return text


def _allows(root: Any, schema: Any, value: Any, known: dict[int, bool]) -> bool:
    """Whether a schema allows a value by its types, lists and alternatives; a string: whether it may allow one."""
    if not isinstance(schema, Mapping):
        return schema is not False
    if id(schema) not in known:
        known[id(schema)] = True  # what refers to itself asks for nothing more
        known[id(schema)] = _holds(root, schema, value, known)
    return known[id(schema)]


def _holds(root: Any, schema: Mapping[str, Any], value: Any, known: dict[int, bool]) -> bool:
    types = schema.get("type", [])
    if types and not any(_is_of(value, one) for one in ([types] if isinstance(types, str) else types)):
        return False
    listed = [schema["const"]] if "const" in schema else schema.get("enum", [value])
    if not any(_are_alike(one, value) for one in listed):
        return False
    together = [*schema.get("allOf", ()), *([_referred(root, schema["$ref"])] if "$ref" in schema else [])]
    ways = [schema[name] for name in ("anyOf", "oneOf") if schema.get(name)]
    return all(_allows(root, one, value, known) for one in together) and all(
        any(_allows(root, one, value, known) for one in options) for options in ways
    )


def _are_alike(one: Any, other: Any) -> bool:
    """Whether values are equal, or both strings."""
    return isinstance(one, bool) == isinstance(other, bool) and (one == other or type(one) is type(other) is str)


def _is_of(value: Any, kind: str) -> bool:
    if kind == "integer":
        return type(value) is int or (type(value) is float and value.is_integer())
    return type(value) in TYPES.get(kind, ())


def _referred(root: Any, reference: Any) -> Any:
    """The schema that a reference names in the same document; any value where it leads elsewhere."""
    here = root
    for part in str(reference).removeprefix("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        here = here.get(key, True) if isinstance(here, Mapping) else True
    return here if here is not root or reference == "#" else True
