"""Schemas made to hang a compiler, to crash it or to take all memory.

Each is a function, because some are large: they are made in the process that will compile them. `AS_TEXT` are given as
JSON text, which goes through the parser's own limits; the others as objects.

In: nothing. Out: `HOSTILE`, name to function. Cost: up to a second a schema, before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Schema = Any
DEEP = 100_000
HUGE = 10**9


def nested(keyword: str, depth: int, is_list: bool = False) -> Schema:
    """A keyword inside itself."""
    schema: Schema = {"type": "integer"}
    for _ in range(depth):
        schema = {keyword: [schema]} if is_list else {keyword: schema}
    return schema


def nested_properties(depth: int) -> Schema:
    """An object in an object in an object."""
    schema: Schema = {"type": "integer"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def product(outer: str, inner: str, n_factors: int, n_choices: int) -> Schema:
    """Combinations whose normal form has n_choices ** n_factors members."""
    return {
        outer: [
            {inner: [{"properties": {f"p{factor}": {"const": choice}}} for choice in range(n_choices)]}
            for factor in range(n_factors)
        ]
    }


def negated_product(n_factors: int) -> Schema:
    """`not` over alternatives of conjunctions: by De Morgan a product again."""
    alternatives = [
        {"properties": {f"a{n}": {"minimum": n}, f"b{n}": {"maxLength": n}}, "required": [f"a{n}"]}
        for n in range(n_factors)
    ]
    return {"type": "object", "not": {"anyOf": alternatives}}


def unequal(n_branches: int, keyword: str) -> Schema:
    """Branches that overlap pairwise, so that the difference of each to all others is asked for."""
    return {keyword: [{"type": "integer", "minimum": n, "maximum": 2 * n_branches - n} for n in range(n_branches)]}


def cycle(*keywords: str) -> Schema:
    """A reference that comes back to itself in place, through the keywords."""
    schema: Schema = {"$ref": "#/$defs/a"}
    for keyword in keywords:
        schema = {keyword: [schema]} if keyword in ("allOf", "anyOf", "oneOf") else {keyword: schema}
    return {"$ref": "#/$defs/a", "$defs": {"a": schema}}


def ring(n_names: int) -> Schema:
    """Objects each of which requires the next one, and the last one the first."""
    definitions = {
        f"d{n}": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": f"#/$defs/d{(n + 1) % n_names}"}}}
        for n in range(n_names)
    }
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def void_chain(n_names: int) -> Schema:
    """Objects each of which requires the next one, and the last one what nothing fulfils."""
    definitions: dict[str, Schema] = {f"d{n_names}": False}
    for n in range(n_names):
        asked = {"required": ["x"]} if n % 2 else {"dependentRequired": {"a": ["x"]}, "required": ["a"]}
        definitions[f"d{n}"] = {"type": "object", **asked, "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}}
    return {"anyOf": [{"$ref": "#/$defs/d0"}, {"type": "null"}], "$defs": definitions}


def doubling(n_levels: int, keyword: str) -> Schema:
    """Definitions that each hold the next one twice: 2 ** n_levels when written out."""
    definitions: dict[str, Schema] = {f"d{n_levels}": {"type": "integer"}}
    for level in range(n_levels):
        below = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = (
            {"type": "object", "properties": {"l": below, "r": below}, "required": ["l", "r"]}
            if keyword == "properties"
            else {keyword: [below, {**below, "minimum": level}]}
        )
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def chain_of_requirements(n_names: int) -> Schema:
    """Each member asks for the next one."""
    chain = {f"k{n}": [f"k{n + 1}"] for n in range(n_names)}
    return {"type": "object", "dependentRequired": chain, "required": ["k0"]}


def chain_of_schemas(n_names: int) -> Schema:
    """The same with schemas that forbid and demand in turn."""
    chain = {f"k{n}": {"required": [f"k{n + 1}"], "maxProperties": n_names} for n in range(n_names)}
    return {"type": "object", "dependentSchemas": chain, "minProperties": 2}


def unevaluated_branches(n_branches: int) -> Schema:
    """Which members are evaluated depends on the branches that hold: 2 ** n_branches sets."""
    branches = [{"properties": {f"p{n}": {"type": "integer"}}, "required": [f"p{n}"]} for n in range(n_branches)]
    return {"type": "object", "anyOf": branches, "unevaluatedProperties": False}


def unevaluated_ifs(n_branches: int) -> Schema:
    """The same through independent conditions."""
    conditions = [
        {"if": {"required": [f"p{n}"]}, "then": {"properties": {f"p{n}": True, f"q{n}": {"type": "null"}}}}
        for n in range(n_branches)
    ]
    return {"type": "object", "allOf": conditions, "unevaluatedProperties": {"type": "string"}}


def overlapping_patterns(n_patterns: int) -> Schema:
    """A name may match any set of the patterns."""
    patterns = {f"^.{{0,{n}}}{chr(97 + n % 26)}.*{n % 10}": {"minimum": n} for n in range(n_patterns)}
    return {"type": "object", "patternProperties": patterns}


def conjunction_of_patterns(n_patterns: int) -> Schema:
    """One string against many patterns at once."""
    return {"type": "string", "allOf": [{"pattern": f"{chr(97 + n)}.{{{n}}}{chr(98 + n)}"} for n in range(n_patterns)]}


def alternation(n_words: int) -> str:
    """Words with long common ends and beginnings."""
    return "^(" + "|".join("a" * (n % 40) + f"{n}" + "b" * (n % 37) for n in range(n_words)) + ")*$"


def patterns() -> Iterator[tuple[str, str]]:
    """Patterns that make backtracking or state construction explode."""
    yield "(a+)+$", "^(a+)+$"
    yield "(a|a)*", "^(a|a)*$"
    yield "(a|aa)+ with a tail", "^(a|aa)+b{3}(a|aa)+$"
    yield "a{1000}{1000}", "^(a{1000}){1000}$"
    yield "nested counters", "^((a{1,100}b){1,100}c){1,100}$"
    yield "three nested optional counters", "^(((a?){50}){50}){50}$"
    yield "a place from the end", "^(a|b)*a(a|b){60}$"
    yield "dot counters", "^.{0,500}x.{0,500}x.{0,500}$"
    yield "counted Unicode classes", "^[\\u00e9-\\uffff]{1,5000}[^\\u3040-\\u30ff]{1,5000}$"
    yield "alternation of 5000 words", alternation(5000)
    yield "look-ahead stack", "^(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f)(?=.*g)(?=.*h)(?=.*i)(?=.*j).*$"
    yield "deep groups", "^" + "(" * 5000 + "a" + ")" * 5000 + "$"
    yield "deep stars", "^" + "(" * 500 + "a" + ")*" * 500 + "$"
    yield "a million letters", "^" + "ab" * 500_000 + "$"


Maker = Callable[[], Schema]
HOSTILE: dict[str, Maker] = {
    **{f"{key} 100,000 deep": lambda key=key: nested(key, DEEP) for key in ("items", "not", "contains", "if")},
    **{f"{key} 100,000 deep": lambda key=key: nested(key, DEEP, True) for key in ("allOf", "anyOf", "oneOf")},
    **{f"{key} 300 deep": lambda key=key: nested(key, 300, key[0] == "a") for key in ("items", "not", "allOf")},
    "properties 100,000 deep": lambda: nested_properties(DEEP),
    "additionalProperties 100,000 deep": lambda: nested("additionalProperties", DEEP),
    "allOf of anyOf, 3^20": lambda: product("allOf", "anyOf", 20, 3),
    "allOf of oneOf, 3^20": lambda: product("allOf", "oneOf", 20, 3),
    "oneOf of anyOf, 20 x 3": lambda: product("oneOf", "anyOf", 20, 3),
    "allOf of anyOf, 2^1000": lambda: product("allOf", "anyOf", 1000, 2),
    "not of 60 alternatives": lambda: negated_product(60),
    "not of 1,000 alternatives": lambda: negated_product(1000),
    "oneOf of 300 overlapping ranges": lambda: unequal(300, "oneOf"),
    "anyOf of 300 overlapping ranges": lambda: unequal(300, "anyOf"),
    "oneOf of 3,000 overlapping ranges": lambda: unequal(3000, "oneOf"),
    "cycle through $ref": lambda: cycle(),
    **{f"cycle through {key}": lambda key=key: cycle(key) for key in ("allOf", "anyOf", "oneOf", "not", "if")},
    "cycle through not and not": lambda: cycle("not", "not"),
    "cycle through oneOf and not": lambda: cycle("oneOf", "not"),
    "cycle through dependentSchemas": lambda: {"dependentSchemas": {"a": {"$ref": "#"}}},
    "cycle through items that are required": lambda: {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
    "cycle through required properties and items": lambda: {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/b"}}},
            "b": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/a"}},
        },
    },
    "cycle through contains": lambda: {"type": "array", "contains": {"$ref": "#"}},
    "cycle through minProperties": lambda: {
        "type": "object", "minProperties": 2, "additionalProperties": {"$ref": "#"},
    },
    "cycle through 300 required properties": lambda: ring(300),
    "void 300 required properties deep": lambda: void_chain(300),
    "definitions doubled 40 times, properties": lambda: doubling(40, "properties"),
    "definitions doubled 40 times, allOf": lambda: doubling(40, "allOf"),
    "definitions doubled 40 times, oneOf": lambda: doubling(40, "oneOf"),
    "chain of 10,000 references": lambda: {
        "$ref": "#/$defs/0",
        "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(10_000)} | {"10000": {}},
    },
    "enum of 10 MB": lambda: {"enum": [f"value {n} " + "x" * 90 for n in range(100_000)]},
    "enum of 1,000,000 integers": lambda: {"enum": list(range(1_000_000))},
    "enum of one text of 10 MB": lambda: {"enum": ["x" * 10_000_000]},
    "enum of 20,000 objects": lambda: {"enum": [{"a": n, "b": [n, str(n)]} for n in range(20_000)]},
    "not enum of 100,000 texts": lambda: {"type": "string", "not": {"enum": [f"v{n}" for n in range(100_000)]}},
    "const 100,000 deep": lambda: {"const": nested("a", DEEP)},
    "100,000 properties": lambda: {"properties": {f"key{n}": {"type": "integer"} for n in range(100_000)}},
    "10,000 required": lambda: {"type": "object", "required": [f"key{n}" for n in range(10_000)]},
    "100 required in any order": lambda: {"type": "object", "required": [f"k{n}" for n in range(100)]},
    "10,000 prefix items": lambda: {"prefixItems": [{"type": "integer"}] * 10_000, "minItems": 10_000},
    **{f"pattern: {name}": lambda text=text: {"type": "string", "pattern": text} for name, text in patterns()},
    "pattern with a minLength of 10^6": lambda: {"pattern": "^(ab|c)*$", "minLength": 10**6, "type": "string"},
    "conjunction of 24 patterns": lambda: conjunction_of_patterns(24),
    "not of a conjunction of 24 patterns": lambda: {"type": "string", "not": conjunction_of_patterns(24)},
    "patternProperties that overlap 30-fold": lambda: overlapping_patterns(30),
    "patternProperties that overlap 200-fold": lambda: overlapping_patterns(200),
    "minimum above maximum": lambda: {"type": "number", "minimum": 5, "maximum": 4},
    "contradictory lengths in a required member": lambda: {
        "type": "object", "required": ["a"], "properties": {"a": {"type": "string", "minLength": 5, "maxLength": 4}},
    },
    "maxLength 10^9": lambda: {"type": "string", "maxLength": HUGE},
    "minLength 10^9": lambda: {"type": "string", "minLength": HUGE},
    "minItems 10^9": lambda: {"type": "array", "minItems": HUGE},
    "maxItems 10^9": lambda: {"type": "array", "maxItems": HUGE},
    "minItems 10^300": lambda: {"type": "array", "minItems": 10**300},
    "minProperties 10^9": lambda: {"type": "object", "minProperties": HUGE},
    "maxProperties 10^9": lambda: {"type": "object", "maxProperties": HUGE},
    "uniqueItems, minItems 10^6": lambda: {"type": "array", "uniqueItems": True, "minItems": 10**6},
    "uniqueItems of 3 booleans": lambda: {
        "type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "boolean"},
    },
    "uniqueItems of 30 values": lambda: {
        "type": "array", "uniqueItems": True, "minItems": 30, "items": {"enum": list(range(30))},
    },
    "contains, minContains 10^6": lambda: {"type": "array", "contains": {"const": 1}, "minContains": 10**6},
    "contains, maxContains 10^9": lambda: {"type": "array", "contains": {"const": 1}, "maxContains": HUGE},
    "20 contains": lambda: {"type": "array", "allOf": [{"contains": {"const": n}} for n in range(20)]},
    "multipleOf 1e-300": lambda: {"type": "number", "multipleOf": 1e-300},
    "multipleOf of seven primes": lambda: {"allOf": [{"multipleOf": p} for p in (97, 101, 103, 107, 109, 113, 127)]},
    "multipleOf 10^30 + 1": lambda: {"type": "integer", "multipleOf": 10**30 + 1},
    "bounds of 400 digits": lambda: {"type": "integer", "minimum": 10**400, "maximum": 10**401},
    "bounds 1e-300 apart": lambda: {"type": "number", "exclusiveMinimum": 0, "maximum": 1e-300},
    "dependentRequired chain of 1,000": lambda: chain_of_requirements(1000),
    "dependentSchemas chain of 200": lambda: chain_of_schemas(200),
    "unevaluatedProperties over 30 branches": lambda: unevaluated_branches(30),
    "unevaluatedProperties over 30 conditions": lambda: unevaluated_ifs(30),
    "unevaluatedItems over 20 contains": lambda: {
        "type": "array", "allOf": [{"contains": {"multipleOf": n + 2}} for n in range(20)], "unevaluatedItems": False,
    },
    "propertyNames not of 24 patterns": lambda: {
        "type": "object", "propertyNames": {"not": conjunction_of_patterns(24)},
    },
    "a key of 1 MB": lambda: {"properties": {"k" * 10**6: {"const": 1}}, "additionalProperties": False},
}  # fmt: skip
AS_TEXT = {
    "text: [ 1,000,000 deep": lambda: "[" * 10**6,
    "text: items 100,000 deep": lambda: '{"items":' * DEEP + "true" + "}" * DEEP,
    "text: 20 MB of blanks": lambda: "{}" + " " * 20_000_000,
    "text: a number of 1,000,000 digits": lambda: '{"minimum": 1' + "0" * 10**6 + "}",
    "text: 1e1000000000": lambda: '{"type": "number", "minimum": 1e1000000000}',
    "text: a lone surrogate": lambda: '{"properties": {"\\ud800": {}}, "required": ["\\ud800"]}',
}
