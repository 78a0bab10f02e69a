"""Functions and choices, and whole messages about bad ones."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.frontends.tools.requests import read_choice, read_tools

ADD = {"name": "add", "parameters": {"type": "object"}}


def test_three_forms_of_a_function_are_read() -> None:
    tools = read_tools([ADD, {"type": "function", "function": {**ADD, "name": "b"}}, {"type": "function", "name": "c"}])
    assert [tool.name for tool in tools] == ["add", "b", "c"]
    assert tools[2].parameters == {"type": "object"}
    assert tools[1].where == "#/1/function/parameters"


def test_choices() -> None:
    tools = read_tools([ADD, {"name": "b"}])
    assert read_choice("auto", tools) == ("auto", tools)
    for choice in ({"name": "b"}, {"type": "function", "name": "b"}, {"type": "function", "function": {"name": "b"}}):
        assert read_choice(choice, tools) == ("required", tools[1:])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"tools": []}, "the array is empty\n  at #\n  give at least one element"),
    ({"tools": {}}, "this is an object, where an array is needed\n  at #\n  write [...]"),
    ({"tools": [{"type": "web"}]}, 'only functions can be written by a model here\n  at #/0/type\n  write "function"'),
    (
        {"tools": [{"nam": "a"}]},
        'a tool has no field "nam"\n  at #/0/nam\n  take it out; its fields are type, function, '
        'name, description, parameters, strict, or did you mean "name"?',
    ),
    (
        {"tools": [{"type": "function"}]},
        'the tool has no name\n  at #/0\n  write {"type": "function", "function": {"name": ..., "parameters": ...}}',
    ),
    (
        {"tools": [{"name": 'a"b'}]},
        "'a\"b' is no name of a function\n  at #/0/name\n  use up to 128 letters, digits, dots, dashes and underscores",
    ),
    ({"tools": [ADD, ADD]}, 'the name "add" stands twice\n  at #/1\n  rename one of the functions'),
    (
        {"tools": [{"name": "a", "parameters": []}]},
        'parameters are a JSON schema\n  at #/0/parameters\n  write {"type": "object", ...}',
    ),
    ({"tool_choice": "any"}, 'there is no choice "any"\n  at #/tool_choice\n  use auto, required, none'),
    (
        {"tool_choice": {"name": "ad"}},
        'there is no function "ad"\n  at #/tool_choice/name\n  choose one of the tools, or did you mean "add"?',
    ),
    ({"model": "lama-3"}, None),
    ({"parallel": 1}, "parallel is True or False, not 1\n  leave it out"),
    ({"reasoning": "yes"}, "reasoning is one of (False, True, 'optional', 'open'), not 'yes'\n  leave it out"),
    ({"reasoning": True}, "models of the family llama-3 write no reasoning section\n  leave reasoning out"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_errors_say_where_and_how_to_mend(compiler: llmask.Compiler, arguments: Any, message: str | None) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        compiler.tools(**{"tools": [ADD], **arguments})
    if message is None:
        assert str(error.value).startswith("no tool calls of 'lama-3' are known\n  use llama-3, hermes, ")
        assert str(error.value).endswith('did you mean "llama-3"?')
    else:
        assert str(error.value) == message


def test_errors_of_schemas_name_the_function(compiler: llmask.Compiler) -> None:
    bad = {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "text"}}}}
    with pytest.raises(llmask.GrammarError) as error:
        compiler.tools([ADD, bad])
    assert error.value.where == "#/1/parameters/properties/x/type"
