"""Properties as elements; more texts are in tests/contract/structural_tag_specs.py."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

import llmask
from llmask.errors import UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.structural_tags.xml_parameters import STYLES


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
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, '"$ref" names #/$defs/b, and nothing is there'),
        ({"properties": {"a": {"$ref": "http://x"}}}, '"$ref" names the document http://x, which is not part of'),
        ({"properties": {"a": {"$ref": "#/properties/a"}}}, "the schema refers to itself without describing anything"),
        ({"properties": {"a": 3}}, "a schema must be an object or a boolean, not 3\n  at #/format/json_schema/prop"),
        ({"properties": {"a": {"type": "string", "minLength": -1}}}, '"minLength" must be a non-negative integer'),
        (
            {"properties": {"a": {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "array", "maxItems": 1}]}}},
            "some strings and some arrays or objects cannot be told apart here\n  at #/format/json_schema/properties/a",
        ),
        (
            {"properties": {"a": {}}, "additionalProperties": True, "minProperties": 3},
            "keys that are not declared cannot be told apart where properties are elements\n  at #/format/json_schema",
        ),
        (
            {"properties": {"a": {"type": "array", "uniqueItems": True}}},
            "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar yet\n  at "
            "#/format/json_schema/properties/a\n",
        ),
    ],
)
def test_what_is_not_enforced_is_refused(compiler: llmask.Compiler, schema: Any, message: str) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        compiled(compiler, schema)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": False}, "required": ["a"]},
        {"properties": {}, "required": ["a"], "additionalProperties": False},
        {"properties": {"a": {"type": "string", "minLength": 3, "maxLength": 2}}},
        {"properties": {"a": {"enum": []}}},
        {"properties": {"a": {"not": {}}}},
        {"properties": {}, "minProperties": 1},
        {"properties": {"a": {}}, "required": ["a"], "not": {"required": ["a"]}},
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


def test_values_that_refer_to_values_are_read_once_or_counted(tiny_tokenizer: Any) -> None:
    # two to the power of the names: 16 of them took 3 s, 24 minutes
    def made(last: Any) -> Any:
        twice = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(24)}
        schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": twice | {"d24": last}}
        compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
        return compiler.structural_tag({"format": {"type": "qwen_xml_parameter", "json_schema": schema}})

    assert made({"type": "integer"}).accepts(elements(p="3"))
    assert made({}).accepts(elements(p="[y"))
    with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_compile_work"):
        made({"type": "string", "maxLength": 1})


BLANK = r"[ \n\r\t]{0,64}"
INTEGER = "-?(?:0|[1-9][0-9]*)"
# schema, what its text is between the marks (END: the second one), and texts, valid and not
KINDS: list[tuple[Any, str, tuple[str, ...]]] = [
    ({"type": "string"}, "(?:(?!END)[^])*", ("", "a", "</par", "<<", "null", "\n 7", "</parameter", "</arg_value")),
    (
        {"type": "string", "maxLength": 3},
        f"{BLANK}(?:(?!END)[^]){{0,3}}{BLANK}",
        ("", "abc", "abcd", " a ", "</p", "<"),
    ),
    ({"type": "boolean"}, f"{BLANK}(?:true|false){BLANK}", ("true", " false\n", "tru", "")),
    ({"type": "integer"}, f"{BLANK}{INTEGER}{BLANK}", ("0", "-12", " 7", "07", "1.5", "-")),
    ({"enum": ["red", "r"]}, f"{BLANK}(?:red|r){BLANK}", ("red", "r", "re", " red ", "reds")),
    ({"enum": ["null", 1, None]}, f"{BLANK}(?:null|1){BLANK}", ("null", "1", "nul", "12", " 1 ")),
    (
        {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]},
        f"{BLANK}(?:(?:(?!END)[^]){{2,}}|null){BLANK}",
        ("null", "nul", "n", "", "  ", " x", "</"),
    ),
    (
        {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "integer"}]},
        f"{BLANK}(?:(?:(?!END)[^])?|{INTEGER}){BLANK}",
        ("5", "-", "-5", "55", "x", "xx", "", "5<"),
    ),
    (
        {"type": "array", "items": {"type": "boolean"}},
        rf"{BLANK}\[{BLANK}(?:(?:true|false){BLANK}(?:,{BLANK}(?:true|false){BLANK})*)?\]{BLANK}",
        ("[]", "[true]", "[true, false]", "[ ]", "[true,]", "["),
    ),
]
NAMES = ("a", "ab", "b", "a_b", "x")


@pytest.mark.parametrize("style", ["qwen_xml", "glm_xml", "minimax_xml"])
def test_texts_are_those_of_a_plain_pattern(
    compiler: llmask.Compiler, style: str, rng: random.Random, scaled: Callable[[float], int]
) -> None:
    """Longest match loses nothing and adds nothing: a pattern that backtracks judges the same texts."""
    begin, end = STYLES[style].begin, STYLES[style].end
    n_valid = n_invalid = 0
    for _ in range(scaled(40)):
        names = rng.sample(NAMES, rng.randint(1, 4))
        kinds = {name: rng.choice(KINDS) for name in names}
        required = [name for name in names if rng.random() < 0.5]
        is_open = rng.random() < 0.3
        schema = {"type": "object", "properties": {name: kinds[name][0] for name in names}, "required": required}
        schema["additionalProperties"] = {"type": "boolean"} if is_open else False

        def element(name: str, value: str) -> str:
            opened = re.escape(begin).replace(r"\{name\}", name).replace("\\\t", BLANK)
            return opened + value.replace("END", re.escape(end)).replace("[^]", r"[\s\S]") + re.escape(end) + BLANK

        parts = [f"(?:{element(name, kinds[name][1])}){'' if name in required else '?'}" for name in names]
        if is_open:
            declared = "|".join(names)
            other = rf"(?!(?:{declared})(?![a-zA-Z0-9_]))[a-zA-Z_][a-zA-Z0-9_]*"
            parts.append(f"(?:{element(other, KINDS[2][1])})*")
        pattern = re.compile(BLANK + "".join(parts))
        grammar = compiled(compiler, schema, style)
        for _ in range(60):
            text = rng.choice(("", "\n"))
            for name in [*names, *(["other"] if is_open else [])]:
                if rng.random() < (0.95 if name in required else 0.6):
                    value = rng.choice(kinds[name][2] if name in kinds else ("true", "x"))
                    opened = begin.replace("{name}", name).replace("\t", rng.choice(("", "\n")))
                    text += opened + value + end + rng.choice(("", "\n", " \n "))
            is_valid = pattern.fullmatch(text) is not None
            assert grammar.accepts(text) == is_valid, (schema, text)
            n_valid += is_valid
            n_invalid += not is_valid
    assert min(n_valid, n_invalid) > scaled(40)


def test_listed_texts_hold_no_mark(compiler: llmask.Compiler) -> None:
    """Whoever reads `</parameter>x</parameter>` takes it for "", which is listed or not."""
    schema = {
        "properties": {"a": {"enum": ["", "</parameter>x", "y"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    grammar = compiled(compiler, schema)
    assert [grammar.accepts(elements(a=value)) for value in ("", "y", "</parameter>x")] == [True, True, False]
    with pytest.raises(UnsatisfiableSchema, match="no value fulfils"):
        compiled(compiler, {**schema, "properties": {"a": {"const": "</parameter>"}}})


def test_a_name_that_another_one_is_the_beginning_of_is_refused(compiler: llmask.Compiler) -> None:
    """`<parameter=a>` would end where `<parameter=a>b>` goes on."""
    both = {"properties": {"a": {"type": "string"}, "a>b": {"type": "string"}}, "additionalProperties": False}
    with pytest.raises(UnsupportedSchema) as error:
        compiled(compiler, both)
    assert str(error.value) == (
        "the name 'a>b' begins like another one that ends\n  at #/format/json_schema/properties\n  take '>' out of it"
    )
    alone = compiled(compiler, {**both, "properties": {"a>b": {"type": "string"}}})
    assert alone.accepts("<parameter=a>b>x</parameter>")
    with pytest.raises(UnsupportedSchema, match="begins like another one"):
        compiled(compiler, {"properties": {"a>b": {"type": "string"}}, "additionalProperties": True})


A, B, C = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
ABC = {"type": "object", "properties": {"a": A, "b": B, "c": C}, "additionalProperties": False}
# keywords of the object, which were refused
OF_OBJECTS: list[dict[str, Any]] = [
    {**ABC, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {**ABC, "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
    {**ABC, "allOf": [{"required": ["c"]}, {"properties": {"b": {"minimum": 2}}}]},
    {**ABC, "if": {"properties": {"c": {"const": True}}, "required": ["c"]}, "then": {"required": ["a"]}},
    {**ABC, "if": {"required": ["a"]}, "then": {"properties": {"a": {"maxLength": 1}}}, "else": {"required": ["b"]}},
    {**ABC, "minProperties": 2},
    {**ABC, "maxProperties": 1},
    {**ABC, "dependentRequired": {"a": ["b"]}},
    {**ABC, "dependentSchemas": {"b": {"properties": {"c": {"const": False}}}}},
    {**ABC, "not": {"required": ["a", "b"]}},
    {"type": "object", "properties": {"a": A}, "patternProperties": {"^b": B}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"enum": ["a", "b"]}, "properties": {"b": B}, "additionalProperties": A},
    {"type": "object", "allOf": [{"properties": {"a": A}}, {"properties": {"b": B}}], "unevaluatedProperties": False},
    {"type": "object", "enum": [{"a": "x", "b": 1}, {"c": True}]},
]


@pytest.mark.parametrize("schema", OF_OBJECTS)
def test_keywords_of_the_object_hold(compiler: llmask.Compiler, schema: Any) -> None:
    """Every set of members in every order, beside the judge; each value is of one type only."""
    judge = jsonschema.Draft202012Validator(schema)
    order = list(schema.get("properties", {})) or ["a", "b", "c"]
    for is_any_order in (False, True):
        form = {"type": "json_schema", "json_schema": schema, "style": "qwen_xml", "any_order": is_any_order}
        grammar = compiler.structural_tag({"format": {**form, "exact_texts": True}})
        n_valid = 0
        values = {"a": ("x", "xy"), "b": (1, 3), "c": (True, False), "bb": (2,)}
        for size in range(len(values) + 1):
            for names in itertools.permutations(values, size):
                for chosen in itertools.product(*[values[name] for name in names]):
                    document = dict(zip(names, chosen, strict=True))
                    text = elements(
                        **{
                            name: value if isinstance(value, str) else json.dumps(value)
                            for name, value in document.items()
                        }
                    )
                    is_valid = judge.is_valid(document)
                    places = [order.index(name) if name in order else 9 for name in names]
                    if not is_any_order and places != sorted(places):
                        assert not grammar.accepts(text) or "allOf" in schema or "propertyNames" in schema
                    else:
                        assert grammar.accepts(text) == is_valid, (schema, text)
                        n_valid += is_valid
        assert n_valid


def test_names_of_patterns_and_free_ones(compiler: llmask.Compiler) -> None:
    free = compiled(compiler, {"type": "object", "additionalProperties": {"type": "integer"}})
    assert [free.accepts(f"<parameter={name}>1</parameter>") for name in ("a_1", "x-y", "a b")] == [True, False, False]
    found = compiled(compiler, {"patternProperties": {"^x-": {"type": "integer"}}, "additionalProperties": False})
    assert [found.accepts(f"<parameter={name}>1</parameter>") for name in ("x-y", "y", "x-a>b")] == [True, False, False]


def test_elements_come_in_any_order_and_hold_no_excluded_string(compiler: llmask.Compiler) -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "array"}}, "required": ["a"]}
    form = {"type": "json_schema", "json_schema": schema, "style": "glm_xml", "excludes": ["<x>"], "any_order": True}
    grammar = compiler.structural_tag({"format": form})
    element = "<arg_key>{}</arg_key><arg_value>{}</arg_value>".format
    assert grammar.accepts(element("b", "[]") + element("a", "y"))
    assert not grammar.accepts(element("b", "[]"))
    assert not grammar.accepts(element("a", "y") + element("a", "y"))
    assert not grammar.accepts(element("a", "y<x>"))
    assert not grammar.accepts(element("a", "y") + element("b", '["<x>"]'))
