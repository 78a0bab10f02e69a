r"""Calls of tools, as families of models write them, to structural tags.

    auto         free text, with calls in it
    required     calls, and nothing else
    none         text without calls

In Harmony, the format of gpt-oss, a response is a row of messages, each with a channel. A call and a final message end
the response. Source: OpenAI cookbook, "OpenAI harmony response format"; openai/gpt-oss, chat_template.jinja.

    <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.add
    <|constrain|>json<|message|>{"a": 1}<|call|>

In: functions, a family, a choice. Out: a structural tag, as a document. Cost: none to speak of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from llmask.errors import GrammarError, LlmaskError, UnsupportedSchema
from llmask.frontends.tools.requests import (
    FAMILIES,
    HARMONY,
    MODELS,
    REASONING,
    Family,
    Part,
    Pattern,
    Tool,
    check_model,
    check_reasoning,
    read_choice,
    read_tools,
)
from llmask.work import spend

__all__ = ["MODELS", "REASONING", "Arguments", "Marks", "Tool", "located", "read_tools", "tools_tag"]

Format = dict[str, Any]
MARKS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>")
NEXT = "<|start|>assistant"
KINDS = ("<|constrain|>json", " <|constrain|>json", "")  # of the arguments, between header and message
FREE_TOOLS = 300
TOOL_WORK = 2000  # units for each further function, besides what is counted of its schema
CHOICES = {"property_order": ("any", "declared"), "unsupported": ("error", "ignore")}


class Arguments(NamedTuple):
    """How arguments are written, whatever the family; see `llmask.Compiler.tools`."""

    property_order: str = "any"
    unsupported: str = "error"

    def form(self, tool: Tool, excluded: Iterable[str], style: str = "json") -> Format:
        """The format of the arguments of one function, which hold none of some strings."""
        return {
            "type": "json_schema",
            "name": tool.name,
            "json_schema": tool.parameters,
            "style": style,
            "any_order": self.property_order == "any",
            "excludes": list(dict.fromkeys(excluded)),
            "unsupported": self.unsupported,
            "exact_texts": True,
        }


class Marks(NamedTuple):
    """Whether a string is the name of a special token of a vocabulary, and of one that ends a sequence."""

    is_special: Callable[[str], bool]
    ends_sequence: Callable[[str], bool]


class Writing:
    """Knows which marks are special tokens.

    Parameters
    ----------
    marks : strings that may be special tokens.
    """

    def __init__(self, vocabulary: Marks, marks: Iterable[str]) -> None:
        self.marks = tuple(marks)
        self.is_special = vocabulary.is_special
        self.ends_sequence = vocabulary.ends_sequence
        special = sorted(filter(self.is_special, self.marks), key=len, reverse=True)
        self._cut = re.compile("|".join(map(re.escape, special))) if special else None

    def row(self, parts: Sequence[Any]) -> Format:
        """One part after the other: texts, in which special tokens are told apart, patterns, and formats."""
        found: list[Format] = []
        for part in parts:
            if isinstance(part, dict):
                found.append(part)
            elif isinstance(part, Pattern):
                found.append({"type": "regex", "pattern": part.text})
            else:
                found += self._text(part)
        return found[0] if len(found) == 1 else {"type": "sequence", "elements": found or [_const("")]}

    def _text(self, text: str) -> list[Format]:
        found: list[Format] = []
        at = 0
        for mark in self._cut.finditer(text) if self._cut is not None else ():
            found += [_const(text[at : mark.start()])] if at < mark.start() else []
            found.append({"type": "token", "token": mark[0]})
            at = mark.end()
        return [*found, *([_const(text[at:])] if at < len(text) else [])]

    def first_text(self, part: str) -> str:
        """What a part begins with: its mark, or the text up to one; nothing where that is a special token."""
        if self._cut is not None and (found := self._cut.search(part)) is not None:
            part = part[: found.start()]
        return next((mark for mark in self.marks if part.startswith(mark)), part)

    def text_without(self, excluded: Sequence[str]) -> Format:
        """Text in which some strings do not stand; special tokens never do."""
        words = [word for word in dict.fromkeys(excluded) if not self.is_special(word)]
        return {"type": "any_text", "excludes": words}

    def one_of(self, options: Sequence[Format]) -> Format:
        """One of some formats."""
        return options[0] if len(options) == 1 else {"type": "or", "elements": list(options)}

    def optional(self, form: Format) -> Format:
        """A format, or nothing."""
        return {"type": "optional", "content": form}

    def star(self, form: Format) -> Format:
        """A format any number of times."""
        return {"type": "star", "content": form}


def _const(text: str) -> Format:
    return {"type": "const_string", "value": text}


def harmony_tag(
    vocabulary: Marks, tools: list[Tool], choice: str, reasoning: bool | str, arguments: Arguments
) -> dict[str, Any]:
    """The format of a response.

    Parameters
    ----------
    reasoning : True: it begins with an analysis. "optional" or False: it may hold analyses, or none. "open": the
        prompt ends inside of one.
    """
    writing = Writing(vocabulary, MARKS)
    text = writing.text_without(MARKS)
    analysis = writing.row(["<|channel|>analysis<|message|>", text, "<|end|>", NEXT])
    preamble = writing.row(["<|channel|>commentary<|message|>", text, "<|end|>", NEXT])
    final = writing.row(["<|channel|>final<|message|>", text, *_last(writing, "<|return|>")])
    calls = [_call(writing, tool, arguments) for tool in tools]
    last = {"none": [final], "auto": [*calls, final], "required": calls}[choice]
    messages = [preamble] if reasoning is False else [analysis, preamble]
    row: list[Any] = [writing.star(writing.one_of(messages)), writing.one_of(last)]
    if reasoning is True:
        row.insert(0, analysis)
    elif reasoning == "open":
        row.insert(0, writing.row([text, "<|end|>", NEXT]))
    return writing.row(row)


def _call(writing: Writing, tool: Tool, arguments: Arguments) -> dict[str, Any]:
    """A call, whose recipient is in the channel or before it; models leave the mark of its type out."""
    recipient, channel = f" to=functions.{tool.name}", "<|channel|>commentary"
    headers = (channel + recipient, recipient + channel)
    begin = [writing.row([f"{header}{kind}<|message|>"]) for header in headers for kind in KINDS]
    form = arguments.form(tool, MARKS)
    return writing.row([writing.one_of(begin), form, *_last(writing, "<|call|>")])


def _last(writing: Writing, mark: str) -> list[str]:
    """The mark at the end of a response, where it is not an end of sequence."""
    return [] if writing.ends_sequence(mark) else [mark]


def tools_tag(
    listed: list[Tool],
    model: str,
    tool_choice: Any,
    parallel: bool,
    reasoning: bool | str,
    arguments: Arguments,
    marks: Marks,
) -> dict[str, Any]:
    """A structural tag of calls; see `llmask.Compiler.tools` for the arguments and errors.

    Parameters
    ----------
    listed : the functions, see `read_tools`.
    marks : of the vocabulary.
    """
    check_model(model)
    if type(parallel) is not bool:
        raise GrammarError(f"parallel is True or False, not {parallel!r}", help="leave it out")
    check_reasoning(reasoning)
    for name, value in arguments._asdict().items():
        if type(value) is not str or value not in CHOICES[name]:
            raise GrammarError(f"{name} is one of {CHOICES[name]}, not {value!r}", help="leave it out")
    choice, chosen = read_choice(tool_choice, listed)
    spend(TOOL_WORK * max(len(chosen) - FREE_TOOLS, 0))  # before any schema is read: too long a list is refused at once
    if model == HARMONY:
        form = harmony_tag(marks, chosen, choice, reasoning, arguments)
    else:
        calls = _Calls(FAMILIES[model], marks, parallel, arguments)
        form = calls.whole(chosen if choice != "none" else listed, choice)
        form = _with_thoughts(FAMILIES[model], model, marks, reasoning, form, choice)
    return {"type": "structural_tag", "format": form}


def located(error: LlmaskError, document: Any, tools: list[Tool], unsupported: str) -> LlmaskError:
    """The error of a structural tag as one of the list of functions; it names function and argument."""
    where, named = _place_of(error.where, document, tools)
    help = error.help
    if isinstance(error, UnsupportedSchema) and unsupported == "error" and "unsupported=" not in str(help):
        help = f'{help}, or pass unsupported="ignore"'
    return type(error)(error.message + named, where, help)


def _place_of(where: str | None, document: Any, tools: list[Tool]) -> tuple[str | None, str]:
    """Where a place in a structural tag is in the list of functions, and what is there; it may be in none of them."""
    if where is None or not where.startswith("#/"):
        return where, ""
    here: Any = document
    keys = where[2:].split("/")
    for at, key in enumerate(keys):
        found = next((tool for tool in tools if tool.parameters is here), None)
        if found is not None:
            name = keys[at + 1].replace("~1", "/").replace("~0", "~") if keys[at + 1 :] else ""
            named = f', parameter "{name}"' if keys[at : at + 1] == ["properties"] and name else ""
            return "/".join([found.where, *keys[at:]]), f' (tool "{found.name}"{named})'
        try:
            here = here[int(key)] if isinstance(here, list) else here[key.replace("~1", "/").replace("~0", "~")]
        except (KeyError, IndexError, TypeError, ValueError):
            return where, ""
    return next(((tool.where, f' (tool "{tool.name}")') for tool in tools if tool.parameters is here), (where, ""))


def _with_thoughts(
    family: Family, model: str, marks: Marks, reasoning: bool | str, form: dict[str, Any], choice: str
) -> dict[str, Any]:
    """A format with a section of reasoning before it."""
    if reasoning is False:
        return form
    if family.thoughts is None:
        raise GrammarError(f"models of the family {model} write no reasoning section", help="leave reasoning out")
    begin, end, after = family.thoughts
    writing = Writing(marks, (begin, end))
    first = [] if reasoning == "open" else [begin]
    # what comes right after it is part of the text that follows, where there may be any
    section = writing.row([*first, writing.text_without([end, begin]), end, *([after] if choice == "required" else [])])
    return writing.row([writing.optional(section) if reasoning == "optional" else section, form])


class _Calls:
    """The calls of one family."""

    def __init__(self, family: Family, marks: Marks, parallel: bool, arguments: Arguments) -> None:
        self.family = family
        self.arguments = arguments
        self.parallel = parallel
        self.writing = Writing(marks, family.marks)
        thoughts = family.thoughts
        self.excluded = [] if thoughts is None else [thoughts.begin, thoughts.end]

    def whole(self, tools: list[Tool], choice: str) -> dict[str, Any]:
        """The format of a response, reasoning aside."""
        writing, family = self.writing, self.family
        first = writing.first_text(str(family.begin[0]) if family.begin else family.call.partition("{name}")[0])
        if choice == "none":
            return writing.text_without([*([first] if first else []), *self.excluded])
        calls = self._section(self._some(tools))
        has_prefix = bool(family.prefix) and writing.is_special(family.prefix)
        if choice == "required":
            return writing.row([*([writing.optional(writing.row([family.prefix]))] if has_prefix else []), calls])
        text = writing.text_without(self.excluded)
        # without a section, what is between two calls is free text
        part = calls if family.begin else self._one(tools, first)
        if not first:  # the calls begin with a special token, which no text holds
            return writing.row(
                [text, writing.star(writing.row([part, text])) if self.parallel else writing.optional(part)]
            )
        form = {
            "type": "dispatch",
            "rules": [[first, self._section(self._some(tools), first) if family.begin else part]],
            "loop": self.parallel,
            "excludes": self.excluded,
        }
        if has_prefix:
            return writing.one_of([form, writing.row([family.prefix, calls])])
        return form

    def _section(self, calls: dict[str, Any], first: str = "") -> dict[str, Any]:
        """The section of calls, without what it begins with."""
        begin: list[Part] = list(self.family.begin)
        if first:
            assert isinstance(begin[0], str)
            begin[0] = begin[0].removeprefix(first)
        return self.writing.row([*begin, calls, self.family.end])

    def _some(self, tools: list[Tool]) -> dict[str, Any]:
        """One call, or several where that is allowed."""
        writing, one = self.writing, self._one(tools)
        return writing.row([one, writing.star(writing.row([self.family.separator, one]))]) if self.parallel else one

    def _one(self, tools: list[Tool], first: str = "") -> dict[str, Any]:
        """One call, without what it begins with."""
        return self.writing.one_of([self._call(tool, first) for tool in tools])

    def _call(self, tool: Tool, first: str) -> dict[str, Any]:
        family = self.family
        before, number, after = family.call.replace("{name}", tool.name).removeprefix(first).partition("{number}")
        arguments = self.arguments.form(tool, family.not_in_arguments, family.style)
        parts: list[Any] = [before, *([Pattern("[0-9]+"), after] if number else []), arguments, family.call_end]
        return self.writing.row(parts)
