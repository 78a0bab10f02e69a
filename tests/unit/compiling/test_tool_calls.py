"""Reading calls back, as callers do; whether it is right is tested in tests/unit/frontends/tools/test_reading.py."""

from __future__ import annotations

import pytest

import llmask
from llmask.compiling import tool_calls

BEGIN = '<tool_call>\n{"name": "f", "arguments": '


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        ("hermes", f'{BEGIN}{{"a": 1', 'the text ends inside of a call of "f"'),
        ("hermes", f'{BEGIN}{{"a": 1}}}} ', "there is something else where the call has to end"),
        ("hermes", f'{BEGIN}{{"a": NaN}}}}\n</tool_call>', "the arguments are no object of JSON"),
        ("hermes", BEGIN + '{"a":' * 100_000 + "1" + "}" * 100_000, "the arguments are no object of JSON"),
        ("qwen-3-coder", "<tool_call>\n<function=f>\n<x>y</parameter>", "what is in the call is not an argument"),
        ("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {}}, nothing', "the text ends inside of a call"),
    ],
)
def test_what_is_no_call_is_refused(model: str, text: str, message: str) -> None:
    with pytest.raises(llmask.LlmaskError) as error:
        llmask.tool_calls(text, model)
    assert error.value.message.startswith(message)
    assert error.value.where == "call 0" or model == "mistral"


def test_text_outside_of_calls_is_kept() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    for text, calls, outside in (
        ("a <tool_call> b", 0, "a <tool_call> b"),
        (f"a {call} b {call} c", 2, "a  b  c"),
        (f"<think>{call}</think>{call}", 1, f"<think>{call}</think>"),
        ("<tool_call>" + "x" * 1000 + call, 1, "<tool_call>" + "x" * 1000),
        ("", 0, ""),
    ):
        for size in (1, 3, 10_000):
            reader = llmask.ToolCallReader("qwen-3", reasoning="optional")
            for at in range(0, len(text), size):
                reader.feed(text[at : at + size])
            reader.close()
            assert (len(reader.calls), reader.text) == (calls, outside)


def test_values_are_what_their_schemas_allow() -> None:
    properties = {
        "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "b": {"enum": ["1", 2, None]},
        "c": {"$ref": "#/$defs/c"},
        "d": {"type": ["string", "integer"]},
        "e": {"type": "string"},
        "f": {"allOf": [{"type": "boolean"}]},
    }
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties, "$defs": {"c": {"type": "array"}}}}
    for name, text, value in (
        *(("a", "null", None), ("a", "1", "1"), ("b", "1", "1"), ("b", "2", 2), ("b", "null", None), ("c", "[1]", [1])),
        *(("d", "3", 3), ("d", "3.5", "3.5"), ("e", "3", "3"), ("e", "\nnull\n", "null"), ("f", "true", True)),
        *(("x", "true", True), ("x", "yes", "yes")),
    ):
        call = f"<tool_call>\n<function=f>\n<parameter={name}>{text}</parameter>\n</function>\n</tool_call>"
        (found,) = llmask.tool_calls(call, "qwen-3-coder", [tool])
        assert found.arguments == {name: value}
        assert type(found.arguments[name]) is type(value)


def test_what_is_compiled_for_reading_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of strangers are always new."""
    monkeypatch.setattr(tool_calls, "MOST_NODES", 600)
    kept = []
    for n in range(40):
        names = {f"^a{n}[a-z]{{9}}$": {"type": "string"}}
        tool = {"name": "f", "parameters": {"patternProperties": names, "additionalProperties": {"type": "integer"}}}
        text = f"<tool_call>f<arg_key>a{n}bcdefghij</arg_key><arg_value>5</arg_value></tool_call>"
        assert llmask.tool_calls(text, "glm-4.5", [tool]) == [("f", {f"a{n}bcdefghij": "5"})]
        assert tool_calls._nodes().n_nodes < 5000
        kept.append(tool_calls._nodes())
    assert len(set(map(id, kept))) > 1
