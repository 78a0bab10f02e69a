"""Writes formats of structural tags: rows of texts, marks and other formats; and all of Harmony, the format of gpt-oss.

In Harmony a response is a row of messages, each with a channel. A call and a final message end the response. Source:
OpenAI cookbook, "OpenAI harmony response format"; openai/gpt-oss, chat_template.jinja.

    <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.add
    <|constrain|>json<|message|>{"a": 1}<|call|>

In: parts; functions and a choice. Out: formats, as documents. Cost: none to speak of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from llmask.frontends.tools.requests import Pattern, Tool

Format = dict[str, Any]
MARKS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>")
NEXT = "<|start|>assistant"
KINDS = ("<|constrain|>json", " <|constrain|>json", "")  # of the arguments, between header and message


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

    def __init__(self, vocabulary: Marks, marks: Iterable[str] = ()) -> None:
        self.vocabulary = vocabulary
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
    writing: Writing, tools: list[Tool], choice: str, reasoning: bool | str, arguments: Arguments
) -> dict[str, Any]:
    """The format of a response.

    Parameters
    ----------
    reasoning : True: it begins with an analysis. "optional" or False: it may hold analyses, or none. "open": the
        prompt ends inside of one.
    """
    writing = Writing(writing.vocabulary, MARKS)
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
    """A call, whose recipient stands in the channel or before it; models leave the mark of its type out."""
    recipient, channel = f" to=functions.{tool.name}", "<|channel|>commentary"
    headers = (channel + recipient, recipient + channel)
    begin = [writing.row([f"{header}{kind}<|message|>"]) for header in headers for kind in KINDS]
    form = arguments.form(tool, MARKS)
    return writing.row([writing.one_of(begin), form, *_last(writing, "<|call|>")])


def _last(writing: Writing, mark: str) -> list[str]:
    """The mark at the end of a response, where it is not an end of sequence."""
    return [] if writing.ends_sequence(mark) else [mark]
