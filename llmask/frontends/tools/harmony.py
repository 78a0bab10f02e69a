"""Harmony, the format of gpt-oss: a response is a row of messages, each with a channel.

    <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>commentary to=functions.add
    <|constrain|>json<|message|>{"a": 1}<|call|>

A call and a final message end the response. Source: OpenAI cookbook, "OpenAI harmony response format"; openai/gpt-oss,
chat_template.jinja.

In: functions and a choice. Out: a format of a structural tag. Cost: none to speak of.
"""

from __future__ import annotations

from typing import Any

from llmask.frontends.tools.requests import Tool
from llmask.frontends.tools.writing import Arguments, Writing

MARKS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>")
NEXT = "<|start|>assistant"
KINDS = ("<|constrain|>json", " <|constrain|>json", "")  # of the arguments, between header and message


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
