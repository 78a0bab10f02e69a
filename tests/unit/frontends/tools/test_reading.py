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
from llmask.frontends.tools.requests import MODELS

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
    pattern = of_a({"type": "string", "pattern": "."})
    with_pattern = compiler.tools([{"name": "f", "parameters": pattern}], model, "required")
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
            assert with_pattern.accepts(written(model, "f", {"a": mark}).replace(said, other)), escaped
    assert n_refused or model == "llama-3"


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
OF_S: dict[str, Any] = {"type": "object", "properties": {"s": TEXT}}
KINDS = [
    {"type": "object", "properties": {"kind": {"const": name}, "s": one}} for name, one in (("a", NUMBER), ("b", TEXT))
]
MODEL = {"type": "object", "properties": {"id": NUMBER}, "required": ["id"]}
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}


def of_a(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


# a schema, arguments as they are written, and what they are
MEANT: list[tuple[Any, dict[str, str], dict[str, Any]]] = [
    ({"$ref": "#/$defs/x", "$defs": {"x": OF_S}}, {"s": "5"}, {"s": "5"}),
    ({"allOf": [OF_S]}, {"s": "5"}, {"s": "5"}),
    ({"anyOf": KINDS}, {"kind": "b", "s": "5"}, {"kind": "b", "s": "5"}),
    ({"anyOf": KINDS}, {"kind": "a", "s": "5"}, {"kind": "a", "s": 5}),
    ({"additionalProperties": TEXT}, {"s": "5"}, {"s": "5"}),
    ({"patternProperties": {"^s": TEXT}}, {"s": "5"}, {"s": "5"}),
    ({"const": {"s": "5"}}, {"s": "5"}, {"s": "5"}),
    ({"type": "object", "properties": {"s": {}}, "oneOf": [{"properties": {"s": TEXT}}]}, {"s": "5"}, {"s": "5"}),
    (
        {**DRAFT_7, **of_a({"$ref": "#/definitions/i", "type": "string"}), "definitions": {"i": NUMBER}},
        {"a": "5"},
        {"a": 5},
    ),
    (of_a({"$ref": "#s", "$defs": {"s": {"$anchor": "s", **TEXT}}}), {"a": "5"}, {"a": "5"}),
    (of_a({"anyOf": [TEXT, MODEL]}), {"a": '{"x": 1}'}, {"a": '{"x": 1}'}),
    (of_a({"anyOf": [TEXT, MODEL]}), {"a": '{"id": 1}'}, {"a": {"id": 1}}),
    (of_a({"anyOf": [TEXT, {"type": "array", "items": NUMBER}]}), {"a": '["x"]'}, {"a": '["x"]'}),
    (of_a({"anyOf": [{**TEXT, "pattern": "^[0-9]{3}$"}, {**NUMBER, "maximum": 10}]}), {"a": "500"}, {"a": "500"}),
    (of_a({"type": ["string", "integer"], "minimum": 10}), {"a": "5"}, {"a": "5"}),
    (of_a({"not": {"type": ["integer", "null", "number", "boolean", "array", "object"]}}), {"a": "5"}, {"a": "5"}),
    ({"type": "object", "required": ["c d"], "additionalProperties": True}, {"c d": "x"}, {"c d": "x"}),
    (of_a({"type": "array", "items": {}}), {"a": "[NaN]"}, {"a": "[NaN]"}),
]


@pytest.mark.parametrize(("schema", "written_as", "meant"), MEANT)
def test_values_are_meant_as_the_whole_schema_says(
    compiler: llmask.Compiler, schema: Any, written_as: dict[str, str], meant: dict[str, Any]
) -> None:
    tools = [{"name": "f", "parameters": schema}]
    elements = "".join(f"<arg_key>{name}</arg_key><arg_value>{text}</arg_value>" for name, text in written_as.items())
    text = f"<tool_call>f{elements}</tool_call>"
    assert compiler.tools(tools, "glm-4.5", "required").accepts(text) == ("NaN" not in text)
    assert llmask.tool_calls(text, "glm-4.5", tools) == [("f", meant)]


@pytest.mark.parametrize("model", ["hermes", "glm-4.5"])
@pytest.mark.parametrize(
    "schema",
    [
        {**of_a(TEXT), "required": ["a"], "enum": [{"a": 1}, {}]},
        {**of_a(TEXT), "const": {"a": 1}},
        {
            "type": "object",
            "additionalProperties": False,
            "if": {"patternProperties": {"b$": TEXT}},
            "then": {"required": ["b"]},
        },
        {"type": "string"},
        {"type": ["string", "null"]},
    ],
)
def test_arguments_that_nothing_fulfils_are_refused(compiler: llmask.Compiler, model: str, schema: Any) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        compiler.tools([{"name": "f", "parameters": schema}], model, "required")
    assert str(error.value.where).startswith("#/0/parameters")


@pytest.mark.parametrize("schema", [True, {}, {"properties": {"a": TEXT}}, {"type": ["object", "null"]}])
def test_arguments_are_an_object(compiler: llmask.Compiler, schema: Any) -> None:
    grammar = compiler.tools([{"name": "f", "parameters": schema}], "hermes", "required")
    assert [grammar.accepts(f"{BEGIN}{value}}}\n</tool_call>") for value in ("{}", "5", "null")] == [True, False, False]


@pytest.mark.parametrize("name", ["</parameter>\n</function>", "<tool_call>", "a</parameter>"])
def test_names_that_hold_a_mark_are_refused(compiler: llmask.Compiler, name: str) -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {name: TEXT}}}
    with pytest.raises(llmask.UnsupportedSchema, match="holds a mark of the call"):
        compiler.tools([tool], "qwen-3-coder")
    grammar = compiler.tools([tool], "hermes", "required")
    for key in (json.dumps(name), json.dumps(name).replace("<", "\\u003c")):
        is_taken = ("\\u" in key) == (name == "<tool_call>")  # a mark of this family is escaped, others are not
        assert grammar.accepts(f'{BEGIN}{{{key}: "x"}}}}\n</tool_call>') == is_taken


UNIQUE = {"type": "array", "uniqueItems": True}
LOOSE: list[tuple[Any, str]] = [
    (of_a(UNIQUE), " at #/properties/a"),
    ({**of_a({"$ref": "#/$defs/u"}), "$defs": {"u": UNIQUE}}, " at #/$defs/u"),
    (
        {**of_a({"$ref": "#/$defs/m"}), "$defs": {"m": {"$ref": "#/$defs/n"}, "n": of_a(UNIQUE)}},
        " at #/$defs/n/properties/a",
    ),
    ({"type": "object", "allOf": [{"properties": {"x": UNIQUE}}]}, " at #/allOf/0/properties/x"),
    ({"type": "object", "minProperties": 3}, ""),
    (of_a({"type": "string", "pattern": r"(a)\1"}), " at #/properties/a/pattern, column 4 of the pattern (a)\\1"),
]


@pytest.mark.parametrize("model", ["hermes", "qwen-3-coder"])
@pytest.mark.parametrize(("schema", "where"), LOOSE)
def test_one_argument_is_loosened(compiler: llmask.Compiler, model: str, schema: Any, where: str) -> None:
    tools = [{"name": "f", "parameters": schema}, {"name": "g", "parameters": of_a(NUMBER)}]
    with pytest.raises(llmask.GrammarError):
        compiler.tools(tools, model)
    with pytest.warns(llmask.GrammarWarning):
        grammar = compiler.tools(tools, model, "required", unsupported="ignore")
    (warning,) = grammar.warnings
    assert warning.startswith(f'tool "f"{where}: ')
    assert not grammar.accepts(written(model, "g", {"a": "x"}))
    assert grammar.accepts(written(model, "g", {"a": 3}))
