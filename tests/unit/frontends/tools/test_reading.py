"""What is written is read back: by a reader of the tests, made from the templates, and by `llmask.tool_calls`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema
import numpy as np
import pytest

import llmask
from llmask.frontends.tools.families import MODELS

from .templates import ELEMENT_CALLS, MARKS, any_text, read, written

PROPERTIES: dict[str, Any] = {
    "title": {"type": "string", "maxLength": 12},
    "text": {"type": "string"},
    "code": {"type": "string", "pattern": "^[a-z]{2,4}$"},
    "color": {"enum": ["red", "blue", " x"]},
    "n": {"type": "number"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    "more": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}},
}
BEGIN = '<tool_call>\n{"name": "f", "arguments": '
TEXTS = {"title", "text", "code", "color"}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["text", "flag"], "additionalProperties": False}
TOOLS = [{"name": "mail_send", "parameters": SCHEMA}, {"name": "mail", "parameters": SCHEMA}]


def random_arguments(rng: random.Random, model: str) -> dict[str, Any]:
    """Arguments in a random order, the required ones among them."""
    values: dict[str, Any] = {
        "title": any_text(rng, model, 12),
        "text": any_text(rng, model, 99),
        "code": rng.choice(["ab", "xyz"]),
        "color": rng.choice(PROPERTIES["color"]["enum"]),
        "n": rng.choice([0, -1.5, 12]),
        "flag": rng.random() < 0.5,
        "tags": [any_text(rng, model, 99) for _ in range(rng.randint(0, 3))],
        "more": {"a": any_text(rng, model, 99)} if rng.random() < 0.5 else {},
    }
    names = [name for name in values if name in SCHEMA["required"] or rng.random() < 0.6]
    rng.shuffle(names)
    return {name: values[name] for name in names}


def holds_mark(model: str, arguments: Any) -> bool:
    text = json.dumps(arguments, ensure_ascii=False)
    return any(mark.strip() in text for mark in MARKS[model])


@pytest.mark.parametrize("model", MODELS)
def test_calls_are_read_back(
    compiler: llmask.Compiler, model: str, rng: random.Random, scaled: Callable[[float], int]
) -> None:
    grammar = compiler.tools(TOOLS, model, "required")
    n_read = 0
    for _ in range(scaled(150)):
        name, arguments = rng.choice(["mail", "mail_send"]), random_arguments(rng, model)
        text = written(model, name, arguments)
        if holds_mark(model, arguments):
            continue
        assert grammar.accepts(text), text
        assert read(model, text, TEXTS) == (name, arguments)
        assert llmask.tool_calls(text, model, TOOLS) == [(name, arguments)]
        reader, cut = llmask.ToolCallReader(model, TOOLS), rng.randint(0, len(text))
        deltas = [*reader.feed(text[:cut]), *reader.feed(text[cut:])]
        reader.close()
        assert reader.calls == [(name, arguments)]
        assert (deltas[0].index, deltas[0].name, deltas[0].arguments) == (0, name, "")
        assert json.loads("".join(delta.arguments for delta in deltas)) == arguments
        n_read += 1
    assert n_read > scaled(75)


def walked_text(grammar: Any, rng: random.Random, n_more: int = 80) -> str:
    """A random document: tokens that masks allow, within a budget, so that it ends."""
    matcher = grammar.matcher()
    mask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    budget = matcher.least_budget() + rng.randint(0, n_more)
    while not matcher.is_terminated():
        matcher.fill_bitmask(mask, budget=budget)
        allowed = np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little"))
        matcher.accept_token(int(rng.choice(allowed.tolist())))
        budget -= 1
    return bytes(matcher.text()).decode()


@pytest.mark.parametrize("model", MODELS)
def test_what_a_mask_allows_is_read_as_the_schema_allows_it(
    compiler: llmask.Compiler, model: str, rng: random.Random, scaled: Callable[[float], int]
) -> None:
    grammar = compiler.tools(TOOLS, model, "required", parallel=False)
    for _ in range(scaled(12)):
        text = walked_text(grammar, rng)
        name, arguments = read(model, text, TEXTS)
        jsonschema.validate(arguments, SCHEMA)
        assert llmask.tool_calls(text, model, TOOLS) == [(name, arguments)]


@pytest.mark.parametrize("model", MODELS)
def test_marks_in_arguments_are_refused_or_read_back(compiler: llmask.Compiler, model: str) -> None:
    """A call that ends inside of an argument is lost, or has arguments that somebody else wrote."""
    grammar = compiler.tools(TOOLS, model, "required")
    n_refused = 0
    for mark in MARKS[model]:
        for text in (mark, f"a{mark}b", f'\n{mark}"', f"{mark}{mark}"):
            for arguments in (
                {"text": text, "flag": True},
                {"text": "", "flag": True, "tags": ["x", text]},
                {"text": "", "flag": True, "more": {"a": text}},
                {"text": "", "flag": True, "more": {text: "a"}},
                {"title": text[:12], "text": "", "flag": True},
            ):
                call = written(model, "mail", arguments)
                if not grammar.accepts(call):
                    n_refused += 1
                    continue
                assert read(model, call, TEXTS) == ("mail", arguments), call
                assert llmask.tool_calls(call, model, TOOLS) == [("mail", arguments)]
                assert not holds_mark(model, arguments) or '"' in mark, call
        if model not in ELEMENT_CALLS and mark[0] in "<[":
            said = json.dumps(mark, ensure_ascii=False)
            other = f'"\\u{ord(mark[0]):04x}{said[2:]}'
            escaped = written(model, "mail", {"text": mark, "flag": True}).replace(said, other)
            assert grammar.accepts(escaped), escaped
            assert llmask.tool_calls(escaped, model) == [("mail", {"text": mark, "flag": True})]
    assert n_refused or model == "llama-3"


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        ("hermes", f'{BEGIN}{{"a": 1', 'the text ends inside of a call of "f"'),
        ("hermes", f'{BEGIN}{{"a": 1}}}} ', "something else stands where the call has to end"),
        ("hermes", f'{BEGIN}{{"a": NaN}}}}\n</tool_call>', "the arguments are no object of JSON"),
        ("hermes", BEGIN + '{"a":' * 100_000 + "1" + "}" * 100_000, "the arguments are no object of JSON"),
        ("qwen-3-coder", "<tool_call>\n<function=f>\n<x>y</parameter>", "what stands in the call is no argument"),
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
