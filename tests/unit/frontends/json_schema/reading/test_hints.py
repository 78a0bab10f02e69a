"""What is said of a schema whose author hardly means it; nothing of others."""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.json_schema.ledger import DESCRIPTIONS, NAMES
from llmask.frontends.json_schema.reading import hints
from llmask.frontends.json_schema.reading.keywords import KEYWORDS
from tests.generators.schemas import random_schema

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
TABLE: list[tuple[str, Any, list[str]]] = [
    (
        "a misspelled keyword",
        {"propertys": {"a": {}}, "items": {"requird": ["a"]}},
        [
            '"propertys" at #/propertys is no keyword and asks nothing: did you mean "properties"?',
            '"requird" at #/items/requird is no keyword and asks nothing: did you mean "required"?',
        ],
    ),
    ("a name of a property", {"properties": {"requird": {}, "nullable": {}, "propertys": {}}}, []),
    ("data", {"enum": [{"requird": 1}], "default": {"nullable": True}, "examples": [{"propertys": 1}]}, []),
    ("what nothing refers to", {"$defs": {"a": {"requird": ["a"]}}}, []),
    ("beside a reference of draft 7", {"$schema": DRAFT_7, "$ref": "#/definitions/a", "requird": ["a"],
                                       "definitions": {"a": {"type": "null"}}}, []),
    (
        "nullable",
        {"properties": {"a": {"type": "string", "nullable": True}, "b": {"nullable": True}, "c": {"nullable": False}}},
        [
            '"nullable" at #/properties/a/nullable is no keyword of JSON Schema and adds nothing: did you mean "type": '
            '["string", "null"], or dialect="openapi-3.0"?',
            '"nullable" at #/properties/b/nullable is no keyword of JSON Schema and adds nothing: did you mean a type '
            '"null", or dialect="openapi-3.0"?',
        ],
    ),
    (
        "properties without their keyword",
        {"items": {"name": "str", "age": 3}, "additionalProperties": {"a": {}}},
        [
            f'no key at #/{key} is a keyword, so it allows any value: if these are names of properties, write '
            '{"properties": {...}}'
            for key in ("additionalProperties", "items")
        ],
    ),
    (
        "an if alone, beside what may be its then",
        {"if": {"type": "null"}, "than": {}, "anyOf": [{"if": {}, "a": 1, "b": 2, "x-c": 3}]},
        [
            '"if" at #/if asks nothing: there is no "then" or "else" beside it, and "than" is no keyword',
            '"if" at #/anyOf/0/if asks nothing: there is no "then" or "else" beside it, and "a", "b" are no keywords',
        ],
    ),
    ("an if alone", {"if": {"properties": {"a": {}}}, "unevaluatedProperties": False, "x-a": 1, "title": "a"}, []),
    (
        "an if whose then is misspelled, beside an else",
        {"if": {"type": "null"}, "else": {}, "than": {}},
        ['"if" at #/if has no "then" beside it: is it meant by "than"?'],
    ),
    (
        "a then whose if is misspelled",
        {"when": {"type": "null"}, "then": {}},
        ['"then" at #/then asks nothing: there is no "if" beside it, and "when" is no keyword'],
    ),
    ("an if that is not alone", {"if": {"type": "null"}, "else": {}, "errorMessage": {}}, []),
    (
        "a schema within what holds it",
        {"name": "n", "strict": True, "schema": {"type": "integer"}},
        ["no key at # is a keyword, so it allows any value: the schema is in #/schema"],
    ),
    (
        "a tool",
        {"name": "n", "parameters": {"type": "object"}},
        ["no key at # is a keyword, so it allows any value: the schema is in #/parameters"],
    ),
    ("nothing but annotations", {"items": {"markdownDescription": "a", "x": [3]}, "contains": {}}, []),
    ("annotations", {"title": "a", "x-requird": 1, "discriminator": {}, "markdownDescription": "", "type": "null"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "warnings"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_is_said(judge: Any, schema: Any, warnings: list[str]) -> None:
    assert judge.translate(schema).warnings == warnings


def test_a_schema_that_is_compiled_again_is_warned_of_again(judge: Any) -> None:
    for _ in range(2):
        assert len(judge.translate({"requird": ["a"]}).warnings) == 1


def test_a_hint_changes_no_fate_in_the_ledger(judge: Any) -> None:
    made = judge.translate({"pattern": "[[:alpha:]]", "requird": ["a"]})
    assert made.ledger == [("#", "pattern", "enforced"), ("#", "requird", "annotation: unknown keyword")]


OPENAPI: list[tuple[Any, list[str]]] = [
    ({"type": "string", "nullable": True}, []),
    ({"nullable": True}, ['"nullable" at #/nullable adds nothing where no "type" is beside it']),
    ({"nullable": False}, []),
]


@pytest.mark.parametrize(("schema", "warnings"), OPENAPI)
def test_what_is_said_of_nullable_in_its_own_dialect(judge: Any, schema: Any, warnings: list[str]) -> None:
    assert judge.translate(copy.deepcopy(schema), dialect="openapi-3.0").warnings == warnings


def test_random_schemas_are_not_warned_of(judge: Any, rng: Any, scaled: Any) -> None:
    for _ in range(scaled(30)):
        try:
            made = judge.translate(random_schema(rng), unsupported="ignore")
        except (GrammarError, LimitExceeded):
            continue
        assert [said for said in made.warnings if "did you mean" in said] == []


NEAR: list[tuple[str, Any, str]] = [
    ("propertys", {}, "properties"),
    ("requird", ["a"], "required"),
    ("required:", ["a"], "required"),
    ("additonalProperties", False, "additionalProperties"),
    ("additionalproperties", False, "additionalProperties"),
    ("additional_properties", False, "additionalProperties"),
    ("minLenght", 1, "minLength"),
    ("max_length", 1, "maxLength"),
    ("minimun", 1, "minimum"),
    ("uniqueitems", True, "uniqueItems"),
    ("patern", "a", "pattern"),
    ("item", {}, "items"),
    ("tpye", "null", "type"),
    ("types", ["null"], "type"),
    ("enums", [1], "enum"),
    ("one_of", [{}], "oneOf"),
    ("ref", "#", "$ref"),
    ("$reff", "#", "$ref"),
    ("nott", {}, "not"),
    ("iif", {}, "if"),
    ("dependant_required", {}, "dependentRequired"),
]
OTHERS: list[tuple[str, Any]] = [
    ("time", "null"),
    ("item", "a word"),
    ("name", "a"),
    ("options", ["a"]),
    ("_required", ["a"]),
    ("x-type", "null"),
    ("enumNames", ["a"]),
    ("markdownDescription", "a"),
    ("defs", {}),
    ("note", {}),
    ("of", {}),
    ("iff", "a word"),
    ("definition", {}),
    ("javaType", "a"),
    ("minimum" * 1000, 1),
    ("", 1),
]


@pytest.mark.parametrize(("name", "value", "keyword"), NEAR)
def test_a_keyword_is_meant(name: str, value: Any, keyword: str) -> None:
    assert hints.meant_by(name, value) == keyword


@pytest.mark.parametrize(("name", "value"), OTHERS)
def test_no_keyword_is_meant(name: str, value: Any) -> None:
    assert hints.meant_by(name, value) is None


@pytest.mark.parametrize("name", sorted({*hints.KNOWN, *NAMES, *DESCRIPTIONS}))
def test_known_annotations_are_no_mistakes(name: str) -> None:
    assert hints.near_keywords(name) == ()


def distance(one: str, other: str) -> int:
    """Optimal string alignment, from its recursive definition."""

    @cache
    def at(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        found = min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (one[i - 1] != other[j - 1]))
        if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
            found = min(found, at(i - 2, j - 2) + 1)
        return found

    return at(len(one), len(other))


def test_mistakes_are_counted_as_defined(rng: random.Random, scaled: Any) -> None:
    for _ in range(scaled(500)):
        one, other = ("".join(rng.choices("abc", k=rng.randrange(7))) for _ in range(2))
        assert hints.n_mistakes(one, other) == distance(one, other), (one, other)


def test_no_near_word_is_lost_before_it_is_compared(rng: random.Random, scaled: Any) -> None:
    # lengths and letters are compared first
    for _ in range(scaled(500)):
        key = rng.choice([key for key in hints.KEYS if len(key) >= 8])
        letters = list(key)
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(letters) - 1)
            change = rng.randrange(4)
            if change == 0:
                del letters[at]
            elif change == 1:
                letters.insert(at, rng.choice("abcxyz"))
            elif change == 2:
                letters[at] = rng.choice("abcxyz")
            else:
                letters[at : at + 2] = letters[at + 1], letters[at]
        name = "".join(letters)
        is_near = distance(name.lower().strip("$"), key.lower().strip("$")) <= 2 and name not in hints.KNOWN
        assert (key in hints.near_keywords(name)) == is_near, name


def test_keywords_are_near_themselves() -> None:
    assert {key for key in KEYWORDS if isinstance(key, str)} - set(hints.KEYS) == {"$defs", "definitions"}
    assert all(hints.near_keywords(key)[0] == key for key in hints.KEYS)


@pytest.mark.parametrize("keyword", [name for name in KEYWORDS if isinstance(name, str) and name != "const"])
@pytest.mark.parametrize("value", ["3", "true", "x", 3, -1, 2.5, True, None, [], [3], {}, {1: 2}, str, {"a": 1}])
def test_every_keyword_has_a_remedy_for_every_value(keyword: str, value: Any) -> None:
    assert hints.value_help(keyword, value)


@pytest.mark.parametrize(
    ("keyword", "value", "said"),
    [
        ("minimum", "5", "write it without quotes: 5"),
        ("minimum", "1e3", "write it without quotes: 1e3"),
        ("minimum", "five", "write a number, such as 3 or 0.5"),
        ("maxItems", "-5", "write a whole number from 0 on, such as 3"),
        ("maxItems", "nan", "write a whole number from 0 on, such as 3"),
        ("uniqueItems", "false", "write it without quotes: false"),
        ("uniqueItems", "no", "write true or false"),
        ("additionalProperties", "false", "write it without quotes: false"),
        ("items", "str", 'write {"type": "string"}'),
        ("items", None, 'write {} for any value, or {"type": "null"} for null'),
        ("not", [{}], 'give one of them, or {"anyOf": [...]} where any may hold'),
        ("required", True, 'name the property in the schema of the object: "required": ["name"]'),
        ("required", "name", 'write a list: ["name"]'),
        ("$ref", {}, 'write its keywords here, without "$ref"'),
        ("$ref", 3, "write a text, in quotes"),
        ("properties", {1: {}}, "write its names as texts, in quotes"),
        ("properties", ["a"], 'write each name with its schema: {"name": {"type": "string"}}'),
        ("type", "int", 'did you mean "integer"?'),
        ("type", int, 'did you mean "integer"?'),
        ("type", "function", "Compiler.tools reads documents of this type"),
        ("type", "json_schema", "Compiler.response_format reads documents of this type"),
    ],
)
def test_remedies(keyword: str, value: Any, said: str) -> None:
    assert hints.value_help(keyword, value) == said


@pytest.mark.parametrize("value", ["", "x" * 10_000, "1" * 10_000, "\ud800", "9" * 5000 + ".5", "١"])
def test_odd_texts_are_no_trouble(value: str) -> None:
    assert hints.value_help("minimum", value)
    assert hints.schema_help(value) == 'write an object such as {"type": "string"}, or true for any value'
