"""Values of the models of clients' own packages, and what they make of types."""

from __future__ import annotations

import pytest

import llmask

from .response_formats import SCHEMA

FUNCTION = {"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}
CALL = '{"name": "f", "parameters": {"a":0}}'


def test_models_of_openai(compiler: llmask.Compiler) -> None:
    responses = pytest.importorskip("openai.types.responses", reason="openai is not installed")
    form = {"type": "json_schema", "name": "n", "schema": SCHEMA}
    text = responses.ResponseTextConfig.model_validate({"format": form, "verbosity": "low"})
    assert compiler.response_format(text) is compiler.json_schema(SCHEMA)
    custom = {"type": "custom", "name": "n", "format": {"type": "grammar", "syntax": "regex", "definition": "a+"}}
    assert compiler.response_format(responses.CustomTool.model_validate(custom)) is compiler.regex("a+")
    tools = [responses.FunctionTool.model_validate(FUNCTION)]
    assert compiler.tools(tools, tool_choice="required").shortest() == CALL.encode()


def test_types_that_openai_sends(compiler: llmask.Compiler) -> None:
    completions = pytest.importorskip("openai.lib._parsing._completions", reason="openai is not installed")
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    event = pydantic.create_model("Event", name=(str, ...), size=(int | None, None))
    assert compiler.response_format(completions.type_to_response_format_param(event)).accepts(
        b'{"name": "a", "size": null}'
    )


def test_models_of_mcp(compiler: llmask.Compiler) -> None:
    types = pytest.importorskip("mcp_types", reason="mcp is not installed")
    listed = types.ListToolsResult.model_validate({"tools": [{"name": "f", "inputSchema": SCHEMA}]})
    for tools in (listed, listed.tools):
        assert compiler.tools(tools, tool_choice="required").shortest() == CALL.encode()
