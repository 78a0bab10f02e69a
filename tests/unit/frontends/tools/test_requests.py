"""Functions and choices, and whole messages about bad ones."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import llmask
from llmask.frontends.tools import MODELS
from llmask.frontends.tools.requests import EXAMPLES, FAMILIES, read_choice, read_tools
from tests.contract.tool_calls import ARGUMENTS, CALLS, SEVERAL, TOOLS
from tests.unit.frontends.tools.templates import written

ADD = {"name": "add", "parameters": {"type": "object"}}


def test_three_forms_of_a_function_are_read() -> None:
    tools = read_tools([ADD, {"type": "function", "function": {**ADD, "name": "b"}}, {"type": "function", "name": "c"}])
    assert [tool.name for tool in tools] == ["add", "b", "c"]
    assert tools[2].parameters == {"type": "object"}
    assert tools[1].where == "#/1/function/parameters"


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
MCP = {"name": "mcp", "title": "T", "description": "d", "inputSchema": SCHEMA, "outputSchema": {"type": "text"}}
ANTHROPIC = {"type": "custom", "name": "anthropic", "description": "d", "input_schema": SCHEMA, "strict": True}


def test_the_forms_of_mcp_and_anthropic_are_read_and_mixed_with_others() -> None:
    tools = read_tools([MCP, ADD, ANTHROPIC, {"type": "function", "function": {**ADD, "name": "b"}}])
    assert [(tool.name, tool.where) for tool in tools] == [
        ("mcp", "#/0/inputSchema"),
        ("add", "#/1/parameters"),
        ("anthropic", "#/2/input_schema"),
        ("b", "#/3/function/parameters"),
    ]
    assert tools[0].parameters == tools[2].parameters == SCHEMA


def test_the_result_of_tools_list_is_read() -> None:
    for rest in ({}, {"nextCursor": None}, {"nextCursor": "", "_meta": {}}):
        tools = read_tools({"tools": [MCP], **rest})
        assert [(tool.name, tool.where) for tool in tools] == [("mcp", "#/tools/0/inputSchema")]


def test_values_of_models_are_read() -> None:
    class Model:
        def __init__(self, document: Any) -> None:
            self.document = document

        def model_dump(self, by_alias: bool = False) -> Any:
            return self.document if by_alias else {}

    assert [tool.name for tool in read_tools([Model(MCP), ADD])] == ["mcp", "add"]
    assert [tool.name for tool in read_tools(Model({"tools": [MCP]}))] == ["mcp"]


def test_calls_of_all_forms_are_the_same(compiler: llmask.Compiler) -> None:
    for tool in (MCP, ANTHROPIC):
        renamed = {**tool, "name": "add"}
        grammar = compiler.tools([renamed], "hermes", "required")
        assert grammar is compiler.tools([{"name": "add", "parameters": SCHEMA}], "hermes", "required")
        assert grammar.accepts(b'<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>')


def test_choices() -> None:
    tools = read_tools([ADD, {"name": "b"}])
    assert read_choice("auto", tools) == ("auto", tools)
    for choice in ({"name": "b"}, {"type": "function", "name": "b"}, {"type": "function", "function": {"name": "b"}}):
        assert read_choice(choice, tools) == ("required", tools[1:])


BAD: list[tuple[dict[str, Any], str]] = [
    ({"tools": [{"nam": "a"}]}, f"the tool has no name\n  at #/0\n  {EXAMPLES}"),
    ({"tools": [{"type": "function"}]}, f"the tool has no name\n  at #/0\n  {EXAMPLES}"),
    ({"tools": ["add"]}, f"a tool is an object, not a string\n  at #/0\n  {EXAMPLES}"),
    ({"tools": [{"inputSchema": {}}]}, 'a tool of MCP needs the field "name"\n  at #/0\n  add it'),
    (
        {"tools": [{"name": "a", "inputSchema": {}, "parameters": {}}]},
        'a tool of MCP has no field "parameters"\n  at #/0/parameters\n  take it out; its fields are name, type, '
        "inputSchema, title, description, outputSchema, annotations, icons, execution, _meta",
    ),
    (
        {"tools": [{"name": "a", "input_schema": {}, "function": {}}]},
        'a tool with a function has no field "name"\n  at #/0/name\n  take it out; its fields are function, type',
    ),
    (
        {"tools": [{"name": "a", "inputSchema": None}]},
        'parameters are a JSON schema\n  at #/0/inputSchema\n  write {"type": "object", ...}',
    ),
    (
        {"tools": {"tools": [MCP], "nextCursor": "2"}},
        "the server has more tools than these\n  at #/nextCursor\n  give a list of the tools of all pages",
    ),
    ({"tools": {"tools": []}}, "the array is empty\n  at #/tools\n  give at least one element"),
    (
        {"tool_choice": "all"},
        'there is no choice "all"\n  at #/tool_choice\n  use auto, required, none, or {"name": ...} for one function',
    ),
    ({"tool_choice": "any"}, 'there is no choice "any"\n  at #/tool_choice\n  write "required"'),
    ({"model": "lama-3"}, None),
    ({"reasoning": "yes"}, "reasoning is one of (False, True, 'optional', 'open'), not 'yes'\n  leave it out"),
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


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "qwen-2.5"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3"),
        ("deepseek-ai/DeepSeek-V3.1", "deepseek-v3.1"),
        ("openai/gpt-oss-20b", "gpt-oss"),
    ],
)
def test_the_family_of_a_model_is_found_in_its_name(compiler: llmask.Compiler, model: str, family: str) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        compiler.tools([ADD], model=model)
    assert error.value.help is not None
    assert error.value.help.endswith(f', or did you mean "{family}"?')


def test_errors_of_schemas_name_the_function(compiler: llmask.Compiler) -> None:
    bad = {"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "text"}}}}
    with pytest.raises(llmask.GrammarError) as error:
        compiler.tools([ADD, bad])
    assert error.value.where == "#/1/parameters/properties/x/type"
    with pytest.raises(llmask.GrammarError) as error:
        compiler.tools({"tools": [MCP, {"name": "g", "inputSchema": bad["parameters"]}]})
    assert error.value.where == "#/tools/1/inputSchema/properties/x/type"


TEXT = "I look it up.\n"


def test_every_family_has_a_call_and_a_source() -> None:
    assert set(CALLS) == set(MODELS)
    assert all(family.source and "{name}" in family.call for family in FAMILIES.values())


@pytest.mark.parametrize("model", [model for model in MODELS if model != "gpt-oss"])
def test_calls_and_text_by_choice(compiler: llmask.Compiler, model: str) -> None:
    call = CALLS[model]
    taken = {}
    for choice in ("auto", "required", "none"):
        grammar = compiler.tools(TOOLS, model, choice)
        taken[choice] = [grammar.accepts(text) for text in ("", TEXT, call, TEXT + call, TEXT + call + TEXT + call)]
    assert taken == {
        "auto": [True] * 5,
        "required": [False, False, True, False, False],
        "none": [True, True] + [False] * 3,
    }


@pytest.mark.parametrize("model", MODELS)
def test_arguments_fulfil_the_schema_and_names_are_known(compiler: llmask.Compiler, model: str) -> None:
    grammar = compiler.tools(TOOLS, model, "required")
    assert grammar.accepts(CALLS[model])
    for one, other in (("days", "dogs"), ("weather", "wether"), ("2", "x"), ("city", "town")):
        assert one in CALLS[model]
        assert not grammar.accepts(CALLS[model].replace(one, other))


@pytest.mark.parametrize("model", MODELS)
def test_a_function_may_be_named(compiler: llmask.Compiler, model: str) -> None:
    assert compiler.tools(TOOLS, model, {"name": "weather"}).accepts(CALLS[model])
    assert not compiler.tools(TOOLS, model, {"type": "function", "function": {"name": "now"}}).accepts(CALLS[model])


@pytest.mark.parametrize("model", SEVERAL)
def test_there_may_be_several_calls_or_one(compiler: llmask.Compiler, model: str) -> None:
    several = (
        SEVERAL[model].format(CALLS[model]) if "{" not in CALLS[model] else SEVERAL[model].replace("{0}", CALLS[model])
    )
    for choice in ("required", "auto"):
        assert compiler.tools(TOOLS, model, choice).accepts(several)
        assert not compiler.tools(TOOLS, model, choice, parallel=False).accepts(several)
        assert compiler.tools(TOOLS, model, choice, parallel=False).accepts(CALLS[model])


@pytest.mark.parametrize("model", MODELS)
def test_long_lists_of_tools(compiler: llmask.Compiler, model: str) -> None:
    """A bounded text beside a flag was refused in four families, 36 such tools in all of them."""
    kinds = {"title": {"type": "string", "maxLength": 80}, "draft": {"type": "boolean"}, "n": {"type": "number"}}
    kinds |= {"text": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}
    kinds |= {"note": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}}
    kinds |= {"more": {"type": "object", "properties": {"a": {"type": "string"}}}}
    tools = [
        {"name": f"tool_{i}", "parameters": {"type": "object", "properties": {f"q{i}": {"type": "string"}, **kinds}}}
        for i in range(60)
    ]
    for choice in ("auto", "required"):
        assert compiler.tools([*TOOLS, *tools], model, choice).accepts(CALLS[model])


TWO_KINDS: tuple[tuple[dict[str, object], object], ...] = (
    ({"type": "string", "maxLength": 16}, "some text"),
    ({"type": "boolean"}, True),
    ({"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]}, None),
    ({"type": "array", "items": {"type": "string"}}, ["x"]),
    ({"enum": ["a", 1]}, "a"),
    ({"type": "string", "format": "date"}, "2024-02-29"),
)


@pytest.mark.parametrize("model", [model for model, family in FAMILIES.items() if family.style != "json"])
def test_arguments_of_two_kinds(compiler: llmask.Compiler, model: str) -> None:
    """104 of 128 combinations were refused: exact lexing looked at the texts of one argument beside the other."""
    tools, calls = [], []
    for one, other in itertools.combinations_with_replacement(TWO_KINDS, 2):
        schema = {"type": "object", "properties": {"a": one[0], "b": other[0]}, "required": ["b"]}
        tools.append({"name": f"f{len(tools)}", "parameters": schema})
        calls.append((tools[-1]["name"], {"b": other[1], "a": one[1]}))
    grammar = compiler.tools(tools, model, "required")
    for name, arguments in calls:
        text = written(model, str(name), arguments)
        assert grammar.accepts(text)
        assert llmask.tool_calls(text, model, tools) == [(name, arguments)]
        assert not grammar.accepts(written(model, str(name), {"a": arguments["a"]}))


def test_sections_hold_several_calls(compiler: llmask.Compiler) -> None:
    one = "<|tool_call_begin|>functions.now:{}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    text = f"<|tool_calls_section_begin|>{one.format(0)}{one.format(12)}<|tool_calls_section_end|>"
    assert compiler.tools(TOOLS, "kimi-k2", "required").accepts(text)
    assert not compiler.tools(TOOLS, "kimi-k2", "required", parallel=False).accepts(text)
    text = f'[TOOL_CALLS][{{"name": "weather", "arguments": {ARGUMENTS}}}, {{"name": "now", "arguments": {{}}}}]'
    assert compiler.tools(TOOLS, "mistral", "required").accepts(text)


def test_the_text_of_a_call_that_is_none_is_no_text(compiler: llmask.Compiler) -> None:
    grammar = compiler.tools(TOOLS, "hermes")
    assert grammar.accepts("a <tool_cal")
    assert not grammar.accepts("a <tool_call>")
    assert not grammar.accepts("a <tool_call>\n{}")
