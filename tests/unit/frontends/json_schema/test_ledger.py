"""The ledger names every keyword and what became of it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.ledger import OPEN, ledger_of
from llmask.frontends.json_schema.reading.options import LedgerEntry, SchemaOptions
from llmask.frontends.json_schema.reading.references import References
from llmask.limits import Limits
from tests.generators.schemas import keywords_of, random_schema

NUMBERS = "enforced: numbers have an exponent only from 1e16 on and below 1e-4"
ORDER = "enforced: properties are written in this order"
UNUSED = "annotation: nothing refers to it"
UNKNOWN = "annotation: unknown keyword"
NAMES = "annotation: it names the schema or its language"


def listed(schema: Any, options: SchemaOptions | None = None) -> list[LedgerEntry]:
    """The ledger of a schema of which everything is enforced."""
    return ledger_of(schema, (), {}, References(schema), options or SchemaOptions())


def test_every_keyword_appears_with_its_fate(judge: Any) -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "t",
        "type": "object",
        "properties": {
            "a": {"type": "string", "format": "color", "x-note": 1, "minLenght": 2, "pattern": "^a"},
            "b": {"$ref": "#/$defs/used", "description": "d"},
            "c": {"minimum": 0, "multipleOf": 0.5, "minContains": 2, "then": {"type": "null"}},
            "d": {"type": "integer"},
            "e": {"type": "array", "items": {"const": "x"}, "additionalItems": {"type": "null"}},
            "f": {"$ref": "#/x-place/0"},
            "g": {"allOf": [{"minLength": 1}, True], "anyOf": [{"maxLength": 2}]},
            "h": {"patternProperties": {"^x": {"enum": [True, None]}}, "propertyNames": {"maxLength": 3}},
        },
        "required": ["a", "z"],
        "additionalProperties": {"enum": [{"type": 3, "items": {}}, 2.5]},
        "$defs": {"used": {"type": "null"}, "unused": {"not": {"title": "t"}, "properties": {"a": {"type": "null"}}}},
        "x-place": [{"maxLength": 3}],
    }
    assert judge.translate(schema).ledger == [
        ("#", "$schema", NAMES),
        ("#", "title", "annotation"),
        ("#", "type", "enforced"),
        ("#", "properties", ORDER),
        ("#", "required", "enforced: names without a schema beside it come after the declared ones"),
        ("#", "additionalProperties", "enforced: keys without a name of their own may be repeated"),
        ("#", "$defs", "enforced"),
        ("#", "x-place", UNKNOWN),
        ("#/properties/a", "type", "enforced"),
        ("#/properties/a", "format", 'ignored: the format "color" is unknown, so it is an annotation'),
        ("#/properties/a", "x-note", UNKNOWN),
        ("#/properties/a", "minLenght", UNKNOWN),
        ("#/properties/a", "pattern", "enforced"),
        ("#/properties/b", "$ref", "enforced"),
        ("#/properties/b", "description", "annotation"),
        ("#/properties/c", "minimum", NUMBERS),
        ("#/properties/c", "multipleOf", NUMBERS),
        ("#/properties/c", "minContains", 'annotation: there is no "contains" beside it'),
        ("#/properties/c", "then", 'annotation: there is no "if" beside it'),
        ("#/properties/c/then", "type", 'annotation: it is within "then", which means nothing there'),
        ("#/properties/d", "type", "enforced: integers are written without exponent"),
        ("#/properties/e", "type", "enforced"),
        ("#/properties/e", "items", "enforced"),
        ("#/properties/e", "additionalItems", "ignored: the declared draft does not know it, so it is an annotation"),
        ("#/properties/e/items", "const", "enforced: strings are spelled as json.dumps(ensure_ascii=False) does"),
        (
            "#/properties/e/additionalItems",
            "type",
            'annotation: it is within "additionalItems", which means nothing there',
        ),
        ("#/properties/f", "$ref", "enforced"),
        ("#/properties/g", "allOf", "enforced"),
        ("#/properties/g", "anyOf", "enforced"),
        ("#/properties/g/allOf/0", "minLength", "enforced"),
        ("#/properties/g/anyOf/0", "maxLength", "enforced"),
        ("#/properties/h", "patternProperties", "enforced: keys without a name of their own may be repeated"),
        ("#/properties/h", "propertyNames", "enforced"),
        ("#/properties/h/patternProperties/^x", "enum", "enforced"),
        ("#/properties/h/propertyNames", "maxLength", "enforced"),
        (
            "#/additionalProperties",
            "enum",
            "enforced: strings are spelled as json.dumps(ensure_ascii=False) does; keys of objects are written in this "
            "order; numbers have an exponent only from 1e16 on and below 1e-4",
        ),
        ("#/$defs/used", "type", "enforced"),
        ("#/$defs/unused", "not", UNUSED),
        ("#/$defs/unused", "properties", UNUSED),
        ("#/$defs/unused/not", "title", "annotation"),
        ("#/$defs/unused/properties/a", "type", UNUSED),
        ("#/x-place/0", "maxLength", "enforced"),
    ]


def test_the_exponents_that_are_written_are_named() -> None:
    """Integers have none, but where they are listed; a keyword beside "type" says it for both."""
    plain, exponents = "numbers are written without exponent", NUMBERS.removeprefix("enforced: ")
    for schema, form, expected in (
        ({"type": "integer"}, "json", ["integers are written without exponent"]),
        ({"type": ["integer", "null"], "minimum": 1}, "json", ["", plain]),
        ({"type": "integer", "multipleOf": 2}, "plain", ["", plain]),
        ({"type": "integer", "enum": [1]}, "json", ["", exponents]),
        ({"type": "integer", "const": 1, "minimum": 0}, "json", ["", exponents, exponents]),
        ({"type": "integer", "const": 1}, "plain", ["", plain]),
        ({"type": ["integer", "number"], "minimum": 1}, "json", ["", exponents]),
        ({"multipleOf": 2}, "json", [exponents]),
        ({"minimum": 1}, "plain", [plain]),
    ):
        ledger = listed(schema, SchemaOptions(numbers=form))
        assert [fate.partition(": ")[2] for _, _, fate in ledger] == expected, schema


APPLIED: dict[str, Any] = {
    "not": {"minLength": 1},
    "if": {"minLength": 1},
    "then": {"minLength": 1},
    "else": {"minLength": 1},
    "contains": {"minLength": 1},
    "dependentSchemas": {"a": {"minLength": 1}},
    "dependentRequired": {"a": ["b"]},
    "dependencies": {"a": {"minLength": 1}, "b": ["c"]},
    "unevaluatedProperties": {"minLength": 1},
    "unevaluatedItems": {"minLength": 1},
    "propertyNames": {"minLength": 1},
    "items": {"minLength": 1},
    "prefixItems": [{"minLength": 1}],
    "additionalProperties": {"minLength": 1},
    "oneOf": [{"minLength": 1}],
}


def test_all_keywords_that_apply_schemas_are_walked() -> None:
    for keyword, value in APPLIED.items():
        schema = {"if": {}, **APPLIED} if keyword in ("then", "else") else {keyword: value}
        ledger = listed(schema)
        found = [entry for entry in ledger if entry[0].startswith(f"#/{keyword}") and entry[1] == "minLength"]
        assert [fate for _, _, fate in found] == ([] if keyword == "dependentRequired" else ["enforced"]), keyword
        assert [entry[2].partition(":")[0] for entry in ledger if entry[:2] == ("#", keyword)] == ["enforced"]


def test_an_if_alone_asks_nothing() -> None:
    alone = listed({"if": {}, "unevaluatedItems": False})
    assert alone[0][2].startswith('enforced: it tells "unevaluated..." what is evaluated, and asks nothing')
    for partner in ("then", "else"):
        assert listed({"if": {}, partner: {}})[0] == ("#", "if", "enforced")


def test_what_lies_in_a_keyword_that_is_not_enforced_is_not_either() -> None:
    schema = {
        "not": {"type": "null", "$ref": "#/$defs/a", "title": "t"},
        "if": {"type": "null"},
        "then": {"items": {"minItems": 2}},
        "oneOf": [{"$ref": "#/$defs/b"}],
        "contains": {"type": "null"},
        "maxContains": 3,
        "$defs": {"a": {"type": "null"}, "b": {"type": "null"}},
    }
    refused = {
        f"#/{keyword}": f'"{keyword}" at #/{keyword} is not enforced: why'
        for keyword in ("not", "if", "oneOf", "contains")
    }
    within = "ignored: it is within {}, which is not enforced".format
    references: Any = Pointers(schema)
    assert ledger_of(schema, (), refused, references, SchemaOptions()) == [
        ("#", "not", "ignored: why"),
        ("#", "if", "ignored: why"),
        ("#", "then", "ignored: why"),
        ("#", "oneOf", "ignored: why"),
        ("#", "contains", "ignored: why"),
        ("#", "maxContains", "ignored: why"),
        ("#", "$defs", "enforced"),
        ("#/not", "type", within('"not"')),
        ("#/not", "$ref", within('"not"')),
        ("#/not", "title", "annotation"),
        ("#/if", "type", within('"if"')),
        ("#/then", "items", within('"then"')),
        ("#/then/items", "minItems", within('"then"')),
        ("#/oneOf/0", "$ref", "enforced"),
        ("#/contains", "type", within('"contains"')),
        ("#/$defs/a", "type", UNUSED),
        ("#/$defs/b", "type", "enforced"),
    ]


class Pointers:
    """References by pointers of two keys."""

    def __init__(self, root: Any) -> None:
        self.root = root

    def resolve(self, reference: str, path: Any) -> Any:
        _, one, other = reference.split("/")
        return self.root[one][other], ((), one, other)

    def draft_at(self, schema: Any, path: Any) -> int:
        return 0


def test_dynamic_anchors_reach_all_of_their_name() -> None:
    schema = {
        "$dynamicRef": "#node",
        "$defs": {
            "a": {"$dynamicAnchor": "node", "type": "null"},
            "b": {"x": [{"$dynamicAnchor": "node", "minimum": 1}]},
            "c": {"$dynamicAnchor": "other", "type": "null"},
        },
    }
    ledger = listed(schema)
    assert ("#/$defs/a", "$dynamicAnchor", NAMES) in ledger
    assert ("#/$defs/a", "type", "enforced") in ledger
    assert ("#/$defs/b/x/0", "minimum", NUMBERS) in ledger
    assert ("#/$defs/c", "type", UNUSED) in ledger
    recursive = {"properties": {"a": {"$recursiveRef": "#"}}, "$defs": {"d": {"$recursiveAnchor": True, "minItems": 1}}}
    assert ("#/$defs/d", "minItems", "enforced") in listed(recursive)


def test_the_form_depends_on_the_options(judge: Any) -> None:
    schema = {"properties": {"a": {"const": "x"}, "b": {}}, "required": ["c"]}
    any_spelling = dict(entry[1:] for entry in judge.translate(schema, literals="any").ledger)
    assert any_spelling["const"] == "enforced"
    options = SchemaOptions(property_order="any")
    fates = [fate for _, _, fate in listed(schema, options)]
    assert fates[:2] == [f"enforced: {OPEN}", "enforced"]


def test_formats_as_annotations_are_no_enforcement(judge: Any) -> None:
    schema = {"type": "string", "format": "date"}
    assert judge.translate(schema).ledger[1] == ("#", "format", "enforced")
    annotated = ("#", "format", "annotation: the format is not asserted")
    assert judge.translate(schema, format="annotate").ledger[1] == annotated
    assert judge.translate(schema, format="annotate", formats={"date": "^x"}).ledger[1] == ("#", "format", "enforced")


def test_what_an_old_draft_puts_beside_a_reference_is_an_annotation(judge: Any) -> None:
    schema: dict[str, Any] = {"$schema": "http://json-schema.org/draft-07/schema#"}
    schema["items"] = {"$ref": "#/definitions/a", "minItems": 1}
    schema["definitions"] = {"a": {"type": "array"}}
    ledger = judge.translate(schema).ledger
    assert ("#/items", "$ref", "enforced") in ledger
    assert ("#/items", "minItems", 'annotation: the draft ignores what is beside "$ref"') in ledger
    assert ("#/definitions/a", "type", "enforced") in ledger


def test_keywords_of_other_drafts(judge: Any) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "x",
        "const": 1,
        "minContains": 1,
        "items": [],
    }
    other = "ignored: the declared draft does not know it, so it is an annotation"
    assert judge.translate(schema).ledger[1:4] == [
        ("#", "id", NAMES),
        ("#", "const", other),
        ("#", "minContains", other),
    ]


def test_each_document_is_listed_once_and_by_its_own_draft(judge: Any) -> None:
    schema = {
        "$id": "https://example.org/root",
        "allOf": [{"$ref": "inner#/$defs/deep"}, {"$ref": "inner"}],
        "$defs": {
            "inner": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$id": "https://example.org/inner",
                "type": ["string", "null"],
                "properties": {"a": {"$ref": "#", "title": "t", "type": "null"}},
                "$defs": {"deep": {"minLength": 1}},
            }
        },
    }
    ledger = judge.translate(schema).ledger
    assert len(set(ledger)) == len(ledger)
    assert ("#/$defs/inner/$defs/deep", "minLength", "enforced") in ledger
    beside = 'annotation: the draft ignores what is beside "$ref"'
    assert ("#/$defs/inner/properties/a", "type", beside) in ledger


def test_what_a_meta_schema_leaves_out_is_an_annotation(judge: Any) -> None:
    core, applicator = (f"https://json-schema.org/draft/2020-12/vocab/{name}" for name in ("core", "applicator"))
    meta_schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$vocabulary": {core: True, applicator: True},
    }
    registry = Registry().with_resource("urn:meta", DRAFT202012.create_resource(meta_schema))
    schema = {"$schema": "urn:meta", "title": "t", "minimum": 3, "properties": {"a": {"type": "null", "not": False}}}
    left_out = "annotation: the meta-schema leaves its vocabulary out"
    assert judge.translate(schema, registry=registry).ledger == [
        ("#", "$schema", NAMES),
        ("#", "title", "annotation"),
        ("#", "minimum", left_out),
        ("#", "properties", f"enforced: {OPEN}"),
        ("#/properties/a", "type", left_out),
        ("#/properties/a", "not", "enforced"),
    ]


def test_other_documents_are_listed_by_their_uri(judge: Any) -> None:
    other = {"$defs": {"a": {"type": "null"}, "b": {"minimum": 1}}, "allOf": [{"$ref": "#/$defs/b"}]}
    registry = Registry().with_resource("urn:other", DRAFT202012.create_resource(other))
    schema = {"properties": {"a": {"$ref": "urn:other#/$defs/a"}}}
    assert judge.translate(schema, registry=registry).ledger == [
        ("#", "properties", f"enforced: {OPEN}"),
        ("#/properties/a", "$ref", "enforced"),
        ("urn:other#/$defs/a", "type", "enforced"),
    ]


def test_no_keyword_of_random_schemas_is_left_out(judge: Any, rng: random.Random, scaled: Any) -> None:
    n_keywords = 0
    for _ in range(scaled(40)):
        schema = random_schema(rng)
        counted = Counter(keyword for _, keyword, _ in listed(schema))
        written = keywords_of(schema)
        assert {keyword: counted[keyword] for keyword in written} == dict(written), schema
        n_keywords += len(written)
    assert n_keywords > 100


def test_booleans_and_recursion_end(judge: Any) -> None:
    assert judge.translate(True).ledger == []
    schema = {"properties": {"a": {"$ref": "#"}}, "anyOf": [True, {"$ref": "#/properties/a"}]}
    assert [keyword for _, keyword, _ in judge.translate(schema).ledger] == ["properties", "anyOf", "$ref", "$ref"]


def test_a_schema_that_unfolds_without_end_meets_a_limit() -> None:
    schema: dict[str, Any] = {}
    for _ in range(40):
        schema = {"items": schema, "contains": schema}
    with pytest.raises(LimitExceeded, match="max_schema_keywords"):
        listed(schema, SchemaOptions(limits=Limits(max_schema_keywords=1000)))


def test_a_schema_that_contains_itself_meets_a_limit() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    with pytest.raises(LimitExceeded, match="max_schema_depth"):
        listed(schema)
