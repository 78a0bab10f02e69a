"""JSON schemas that are refused, with all that is said of each; the pages of messages have only what schemas.py has."""

from __future__ import annotations

from . import Bad

NAME_A_PLACE = "Name a place of this schema, such as #/$defs/name."
REGISTER = "Register it with registry=, or name a place of this schema, such as #/$defs/name."
LOWER = "lower how many are needed, allow more values, or take out uniqueItems"
ITSELF = "describe something before the reference comes back: a type, or properties that hold it"

SCHEMAS: dict[str, Bad] = {
    "a number": Bad(
        3,
        "a schema must be an object or a boolean, not 3",
        "#",
        'write an object such as {"type": "string"}, or true for any value',
    ),
    "an empty list in place of a schema": Bad(
        {"properties": {"a": []}},
        "a schema must be an object or a boolean, not an empty list",
        "#/properties/a",
        'give one of them, or {"anyOf": [...]} where any may hold',
    ),
    "a number in a negated oneOf": Bad(
        {"not": {"oneOf": [1.5, {"minLength": 1}]}},
        "a schema must be an object or a boolean, not 1.5",
        "#/not/oneOf/0",
        'write an object such as {"type": "string"}, or true for any value',
    ),
    "a text in negated properties": Bad(
        {"not": {"properties": {"a": "object"}}},
        "a schema must be an object or a boolean, not 'object'",
        "#/not/properties/a",
        'write {"type": "object"}',
    ),
    "null in negated patternProperties": Bad(
        {"not": {"patternProperties": {"a": None}}},
        "a schema must be an object or a boolean, not None",
        "#/not/patternProperties/a",
        'write {} for any value, or {"type": "null"} for null',
    ),
    "null and a number in patternProperties, which are compared with each other": Bad(
        {"patternProperties": {"a": None, "b": 5}},
        "a schema must be an object or a boolean, not None",
        "#/patternProperties/a",
        'write {} for any value, or {"type": "null"} for null',
    ),
    "a key that is no text": Bad({1: 2}, "the keys of a schema must be strings", "#", "write them in quotes"),
    "a place whose name holds a slash": Bad(
        {"properties": {"a/b": {"type": "text"}}},
        "\"type\" must be the name of a JSON type or a list of such names, not 'text'",
        "#/properties/a~1b/type",
        'did you mean "string"?',
    ),
    "a type that is like none": Bad(
        {"type": "anything"},
        "\"type\" must be the name of a JSON type or a list of such names, not 'anything'",
        "#/type",
        (
            'the types are "array", "boolean", "integer", "null", "number", "object", "string"; '
            "without one it is any value"
        ),
    ),
    "a negative length": Bad(
        {"minLength": -1},
        '"minLength" must be a non-negative integer, not -1',
        "#/minLength",
        "write a whole number from 0 on, such as 3",
    ),
    "a number in quotes": Bad(
        {"maxItems": "3"},
        "\"maxItems\" must be a non-negative integer, not '3'",
        "#/maxItems",
        "write it without quotes: 3",
    ),
    "infinity": Bad(
        {"minimum": float("inf")},
        '"minimum" must be a number, not inf',
        "#/minimum",
        "write a number, such as 3 or 0.5",
    ),
    "properties a number": Bad(
        {"properties": 3},
        '"properties" must be an object whose values are schemas, not 3',
        "#/properties",
        'write each name with its schema: {"name": {"type": "string"}}',
    ),
    "a lone surrogate": Bad(
        {"const": "\ud800"}, "the string '\\ud800' holds a lone surrogate, which is no text", "#", "take it out"
    ),
    "a reference to nothing": Bad(
        {"$ref": "#/$defs/a"}, '"$ref" names #/$defs/a, and nothing is there', "#/$ref", NAME_A_PLACE
    ),
    "a reference to no anchor": Bad({"$ref": "#a"}, '"$ref" names #a, and nothing is there', "#/$ref", NAME_A_PLACE),
    "a reference to a title": Bad(
        {"$ref": "#/title", "title": "t"},
        '"$ref" names #/title, which is no schema (an object or a boolean)',
        "#/$ref",
        NAME_A_PLACE,
    ),
    "a reference to an address that is none": Bad(
        {"$id": "https://example.org/", "$ref": "http://[a"},
        '"$ref" names the document http://[a, which is not part of the schema',
        "#/$ref",
        REGISTER,
        "UnsupportedSchema",
    ),
    "a number of very many digits": Bad(
        {"minLength": -(10**5000)},
        '"minLength" must be a non-negative integer, not a number of very many digits',
        "#/minLength",
        "write a whole number from 0 on, such as 3",
    ),
    "a reference to itself within others": Bad(
        {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}, "items": {"$ref": "#/$defs/a"}},
        "the schema refers to itself without describing anything",
        "#/$defs/a",
        ITSELF,
    ),
    "a reference to another document": Bad(
        {"$ref": "https://example.org/other.json"},
        '"$ref" names the document https://example.org/other.json, which is not part of the schema',
        "#/$ref",
        REGISTER,
        "UnsupportedSchema",
    ),
    "a negated uniqueItems": Bad(
        {"items": {"not": {"uniqueItems": True}, "maxItems": 2}},
        'the negation of "uniqueItems" is not supported where the number of items has a limit',
        "#/items/not/uniqueItems",
        'Remove it, or pass unsupported="ignore" to accept that.',
        "UnsupportedSchema",
    ),
    "many items that must differ and are counted": Bad(
        {"uniqueItems": True, "items": {"enum": [*range(20)]}, "contains": {"minimum": 9}, "minItems": 20},
        "items that must differ and are counted have more than 10 values that may run out",
        "#",
        'Leave out "uniqueItems" or "contains".',
        "UnsupportedSchema",
    ),
    "items that must differ and cannot": Bad(
        {"type": "array", "uniqueItems": True, "prefixItems": [{"const": 1}, {"const": 1.0}], "minItems": 2},
        "no document fulfils the schema: the items that must be there do not have enough different values",
        "#",
        LOWER,
        "UnsatisfiableSchema",
    ),
    "counted items that must differ and cannot": Bad(
        {"type": "array", "uniqueItems": True, "contains": {"enum": [1, 2]}, "minContains": 3},
        "no document fulfils the schema: there are not enough different items of those that must be there",
        "#",
        LOWER,
        "UnsatisfiableSchema",
    ),
    "alternatives against a type": Bad(
        {"type": "string", "oneOf": [{"type": "null"}, {"type": "boolean"}]},
        "no document fulfils the schema: none of the alternatives fulfils the other keywords",
        "#",
        "let one of them agree with the keywords beside them",
        "UnsatisfiableSchema",
    ),
    "a condition on itself": Bad(
        {"if": {"$ref": "#"}, "then": True, "else": False},
        "the schema refers to itself without describing anything",
        "#",
        ITSELF,
    ),
    "a reference to its own part": Bad(
        {"$ref": "#/allOf/0", "unevaluatedProperties": False, "allOf": [{"$ref": "#"}]},
        "the schema refers to itself without describing anything",
        "#",
        ITSELF,
    ),
    "dependencies on a number": Bad(
        {"dependencies": {"a": 3}},
        '"dependencies" must hold schemas or lists of names',
        "#/dependencies/a",
        'write them so: {"name": ["other"]}, or {"name": {"required": ["other"]}}',
    ),
    "an exclusive bound among others": Bad(
        {"type": "number", "allOf": [{"minimum": 5}, {"exclusiveMaximum": 5}, {"minimum": 1}]},
        "no document fulfils the schema: no number fulfils all of its keywords",
        "#",
        "minimum is 5 and exclusiveMaximum is 5: lower the one, or raise the other",
        "UnsatisfiableSchema",
    ),
    "a bound of very many digits": Bad(
        {"type": "integer", "minimum": 10**5000, "maximum": 2},
        "no document fulfils the schema: no integer fulfils all of its keywords",
        "#",
        "minimum is a number of very many digits and maximum is 2: lower the one, or raise the other",
        "UnsatisfiableSchema",
    ),
    "bytes that are no UTF-8": Bad(b'{"a": "\xff"}', "the schema is not UTF-8", "byte 7", "give it as text"),
    "a key twice": Bad(
        '{"properties": {"a": {"type": "null", "type": "null"}}}',
        'the schema is not JSON: the key "type" is used twice in one object',
        "#/properties/a",
        "keep one of them",
    ),
    "infinity in a text": Bad(
        '{"enum": [1, -Infinity]}',
        "the schema is not JSON: -Infinity is no JSON number",
        "#/enum/1",
        "leave the keyword out, or write a number",
    ),
    "a large exponent in a text": Bad(
        '{"maximum": 1e9999999999999999999}',
        "the schema is not JSON: the exponent of 1e9999999999999999999 is too large",
        "#/maximum",
        "write a smaller number",
    ),
}
