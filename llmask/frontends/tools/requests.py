"""What a caller asks for: functions in OpenAI's form, and which of them the model may call.

    [{"type": "function", "function": {"name": "add", "parameters": {...}}}, {"name": "sub", "parameters": {...}}]

Source: OpenAI, API reference, Chat Completions, `tools` and `tool_choice`; the flat form is that of the Responses API.

In: lists and dicts. Out: `Tool`s, and a choice. Cost: none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from llmask.frontends.json_schema.reading.pointers import pointer
from llmask.frontends.places import similar
from llmask.frontends.structural_tags.places import Place

NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")  # what all families write without escapes
FIELDS = ("type", "function", "name", "description", "parameters", "strict")
CHOICES = ("auto", "required", "none")


class Tool(NamedTuple):
    """A function: its name, and the JSON schema of its arguments, with the place of it."""

    name: str
    parameters: Any
    where: str


def read_tools(document: Any) -> list[Tool]:
    """The functions in a list, each name once.

    Raises
    ------
    GrammarError : with the JSON pointer of the fault.
    """
    found: dict[str, Tool] = {}
    for place in Place(document, ()).some():
        tool = _read_tool(place)
        if tool.name in found:
            place.refuse(f'the name "{tool.name}" stands twice', "rename one of the functions")
        found[tool.name] = tool
    return list(found.values())


def _read_tool(place: Place) -> Tool:
    place.check_fields((), FIELDS, "a tool")
    if place.has("type") and place.value["type"] != "function":
        place.below("type").refuse("only functions can be written by a model here", 'write "function"')
    if place.has("function"):
        place.check_fields(("function",), ("type",), "a tool with a function")
        place = place.below("function")
        place.check_fields(("name",), FIELDS[3:], "a function")
    elif not place.has("name"):
        place.refuse("the tool has no name", 'write {"type": "function", "function": {"name": ..., "parameters": ...}}')
    name = place.below("name").text()
    if NAME.fullmatch(name) is None:
        place.below("name").refuse(
            f"{name!r} is no name of a function", "use up to 128 letters, digits, dots, dashes and underscores"
        )
    parameters = place.value["parameters"] if place.has("parameters") else {"type": "object"}
    if not isinstance(parameters, (Mapping, bool)):
        place.below("parameters").refuse("parameters are a JSON schema", 'write {"type": "object", ...}')
    return Tool(name, parameters, pointer(place.path, "parameters"))


def read_choice(document: Any, tools: list[Tool]) -> tuple[str, list[Tool]]:
    """How a model may choose, and among which functions.

    Raises
    ------
    GrammarError : there is no such choice, or no function of that name.
    """
    place = Place(document, ((), "tool_choice"))
    if isinstance(document, str):
        if document not in CHOICES:
            place.refuse(f'there is no choice "{document}"', similar(document, CHOICES, f"use {', '.join(CHOICES)}"))
        return document, tools
    place.check_fields((), ("type", "function", "name"), "a choice of a function")
    if place.has("function"):
        place = place.below("function")
    place.check_fields(("name",), ("type",), "a choice of a function")
    name = place.below("name").text()
    chosen = [tool for tool in tools if tool.name == name]
    if not chosen:
        place.below("name").refuse(
            f'there is no function "{name}"', similar(name, [tool.name for tool in tools], "choose one of the tools")
        )
    return "required", chosen
