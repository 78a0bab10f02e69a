"""Families: the calls that each takes, by choice; the data is in tests/contract/tool_calls.py."""

from __future__ import annotations

import itertools

import pytest

import llmask
from llmask.frontends.tools import MODELS
from llmask.frontends.tools.families import FAMILIES
from tests.contract.tool_calls import ARGUMENTS, CALLS, SEVERAL, TOOLS

from .templates import written

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
