"""Properties as elements; more texts are in tests/contract/structural_tag_specs.py."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.errors import UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.structural_tags.xml_parameters import XmlParameters


def compiled(compiler: llmask.Compiler, schema: Any, style: str = "qwen_xml") -> Any:
    return compiler.structural_tag({"format": {"type": "json_schema", "json_schema": schema, "style": style}})


def elements(**values: str) -> str:
    return "".join(f"<parameter={name}>{value}</parameter>" for name, value in values.items())


A_STRING_OR_MORE = {"type": ["string", "integer"]}
VALUES: list[tuple[Any, list[str], list[str]]] = [
    ({"type": "string"}, ["", "a", " {<", "</parameter"], ["</parameter>"]),
    ({"type": "string", "format": "date"}, ["2024-02-29", "\n2024-02-29\n"], ["2023-02-29", "x"]),
    ({"type": "string", "minLength": 2}, ["ab", "é€", "abc"], ["a", ""]),
    ({"type": "string", "pattern": "^a", "maxLength": 2}, ["a", "ab"], ["b", "abc"]),
    ({"const": "a"}, ["a", "\na\n"], ["b", '"a"']),
    ({"enum": ["a", 1, None]}, ["a", "1", "null"], ["b", "2"]),
    ({"enum": ["", "a"], "type": "string"}, ["", "a"], ["b"]),
    ({"enum": ["a", 1], "type": "string"}, ["a"], ["1"]),
    ({"type": "integer", "minimum": 3}, ["3", " 4\n"], ["2", "x", "3.5"]),
    ({"type": "boolean"}, ["true"], ["True", ""]),
    (A_STRING_OR_MORE, ["1", "x"], []),
    ({"anyOf": [{"enum": ["auto"]}, {"type": "integer"}]}, ["auto", "12", "\n12\n"], ["aut", "x"]),
    ({"oneOf": [{"const": 1}, {"const": 2}]}, ["1", "2"], ["3"]),
    ({"$ref": "#/$defs/name"}, ["a", "b"], ["c"]),
    ({"type": "array", "items": {"$ref": "#/$defs/name"}}, ['["a", "b"]', "[]"], ['["c"]', "a"]),
    ({"type": "object", "properties": {"x": {"$ref": "#/$defs/name"}}}, ['{"x": "a"}', "{}"], ['{"x": "c"}']),
    ({}, ["", "a", "[1"], []),
    (True, ["a"], []),
]


@pytest.mark.parametrize("style", ["qwen_xml", "deepseek_xml"])
@pytest.mark.parametrize(("schema", "valid", "others"), VALUES)
def test_values(compiler: llmask.Compiler, schema: Any, valid: list[str], others: list[str], style: str) -> None:
    document = {
        "type": "object",
        "properties": {"v": schema},
        "required": ["v"],
        "$defs": {"name": {"enum": ["a", "b"]}},
    }
    grammar = compiled(compiler, document, style)
    if style == "qwen_xml":
        assert [value for value in valid if not grammar.accepts(elements(v=value))] == []
        assert [value for value in others if grammar.accepts(elements(v=value))] == []
        return
    end = "</｜DSML｜parameter>"
    for value in (value.replace("</parameter>", end) for value in others):
        begins = [f'<｜DSML｜parameter name="v" string="{said}">' for said in ("true", "false")]
        assert not any(grammar.accepts(begin + value + end) for begin in begins)


def test_properties_come_in_order_and_required_ones_always(compiler: llmask.Compiler) -> None:
    grammar = compiled(
        compiler,
        {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b", "c"], "title": "x",
         "additionalProperties": {"type": "boolean"}},
    )  # fmt: skip
    assert grammar.accepts(elements(a="x", b="1", c="true"))
    assert grammar.accepts("\n" + elements(b="1") + "\n" + elements(c="true", d="false", e="true") + "\n")
    for text in (
        elements(b="1", a="x", c="true"),
        elements(b="1"),
        elements(b="1", c="x"),
        elements(b="1", c="true", a="true"),
    ):
        assert not grammar.accepts(text)


def test_strings_say_so_where_the_style_wants_it(compiler: llmask.Compiler) -> None:
    grammar = compiled(compiler, {"properties": {"a": {"type": ["string", "integer"]}}}, "deepseek_v4_1_xml")
    said = '<｜DSML｜ parameter name="a" string="{}">{}</｜DSML｜ parameter>'
    assert grammar.accepts(said.format("true", "x"))
    assert grammar.accepts(said.format("false", "1"))
    assert not grammar.accepts(said.format("false", "x"))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": ["array", "object"]}, "parameters are the properties of an object\n  at #/format/json_schema\n"),
        ({"properties": {}, "minProperties": 1}, '"minProperties" is not enforced where properties are elements'),
        ({"properties": {"a": {"not": {}}}}, '"not" is not enforced for a value that may be a string\n  at '
         "#/format/json_schema/properties/a\n"),
        ({"properties": {"a": {"type": ["string", "null"], "maxLength": 3}}}, '"maxLength" is not enforced for'),
        ({"properties": {"a": {"type": "string", "format": "new"}}}, 'the format "new" is not enforced where'),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "the reference '#/$defs/b' leads nowhere"),
        ({"properties": {"a": {"$ref": "http://x"}}}, "the reference 'http://x' is not followed here"),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "the reference '#/properties/a' is not followed here"),
        ({"properties": {"a": 3}}, "a schema is an object or a boolean"),
        ({"properties": {"a": {"type": "string", "minLength": -1}}}, '"minLength" is a whole number that is not neg'),
    ],
)  # fmt: skip
def test_what_is_not_enforced_is_refused(compiler: llmask.Compiler, schema: Any, message: str) -> None:
    with pytest.raises(UnsupportedSchema) as error:
        compiled(compiler, schema)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": False}, "required": ["a"]},
        {"properties": {}, "required": ["a"], "additionalProperties": False},
        {"properties": {"a": {"type": "string", "minLength": 3, "maxLength": 2}}},
        {"properties": {"a": {"enum": []}}},
    ],
)
def test_what_nothing_fulfils_is_refused(compiler: llmask.Compiler, schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchema):
        compiled(compiler, schema)


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"properties": []}, "#/format/json_schema/properties"),
        ({"required": "a"}, "#/format/json_schema/required"),
        ({"required": ["\ud800"]}, "#/format/json_schema"),
        ({"properties": {"a": {"type": "text"}}}, "#/format/json_schema/properties/a/type"),
        ({"properties": {"a": {"anyOf": {}}}}, "#/format/json_schema/properties/a/anyOf"),
        ({"properties": {"a": {"pattern": 3}}}, "#/format/json_schema/properties/a/pattern"),
    ],
)
def test_malformed_schemas_are_refused(compiler: llmask.Compiler, schema: Any, where: str) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        compiled(compiler, schema)
    assert error.value.where == where


@pytest.mark.parametrize(
    ("schema", "valid", "others"),
    [
        ({"type": "string"}, ["", "a", '"a"', "a < b", " 1 "], ["</parameter>", "a<z>b"]),
        ({"type": "string", "enum": ["a", "bc"]}, ["a", "bc"], ['"a"', "b", " a"]),
        ({"type": "string", "maxLength": 2}, ["", "é3"], ["abc"]),
        ({"type": "integer"}, ["3", "-1"], ["", "a", "1.5", " 3"]),
        ({"type": ["string", "null"], "enum": ["a", None]}, ["a", "null"], ["b", '"a"']),
        (
            {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"const": 1}}},
            ["[]", "[1, 1]"],
            ["[2]", "1"],
        ),
    ],
)
def test_a_schema_of_no_object_is_one_value(
    compiler: llmask.Compiler, schema: Any, valid: list[str], others: list[str]
) -> None:
    """As XGrammar 0.2.7 takes it; SGLang writes the arguments of Kimi K3 so."""
    content = {"type": "json_schema", "json_schema": schema, "style": "qwen_xml"}
    grammar = compiler.structural_tag({"format": {"type": "tag", "begin": "<a>", "content": content, "end": "<z>"}})
    assert [text for text in valid if not grammar.accepts(f"<a>{text}<z>")] == []
    assert [text for text in others if grammar.accepts(f"<a>{text}<z>")] == []


def test_one_value_that_nothing_fulfils_is_refused(compiler: llmask.Compiler) -> None:
    content = {"type": "json_schema", "json_schema": {"type": "string", "enum": [1]}, "style": "qwen_xml"}
    with pytest.raises(llmask.UnsatisfiableSchema, match="#/format/json_schema"):
        compiler.structural_tag({"format": content})


def test_values_that_refer_to_values_are_counted(tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # two to the power of the names: 16 of them took 3 s, 24 minutes
    value, asked = XmlParameters._value, iter(range(60_000))

    def noted(*given: Any) -> Any:
        assert next(asked, None) is not None, "values are gone through without end"
        return value(*given)

    monkeypatch.setattr(XmlParameters, "_value", noted)
    twice = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(24)}
    schema = {
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/d0"}},
        "$defs": twice | {"d24": {"type": "integer"}},
    }
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_compile_work"):
        compiler.structural_tag(
            {"type": "structural_tag", "format": {"type": "qwen_xml_parameter", "json_schema": schema}}
        )
