"""A schema as its declared draft reads it, for engines that enforce the keywords of all drafts.

Drafts 4 to 7 ignore what stands beside `$ref`; a keyword that is younger than the draft is an annotation. Only schemas
are changed, not the names of properties or definitions that happen to look like keywords.

In: a schema. Out: a schema without what its draft ignores. Cost: one walk.
"""

from __future__ import annotations

import re
from typing import Any

SINCE = {
    "const": 6,
    "contains": 6,
    "propertyNames": 6,
    "if": 7,
    "then": 7,
    "else": 7,
    "dependentRequired": 8,
    "dependentSchemas": 8,
    "unevaluatedItems": 8,
    "unevaluatedProperties": 8,
    "minContains": 8,
    "maxContains": 8,
    "prefixItems": 9,
}
BESIDE_REFERENCES = {"$ref", "$schema", "$id", "id", "definitions", "$defs"}
MAPS_OF_SCHEMAS = ("properties", "patternProperties", "definitions", "$defs", "dependencies")
LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "items")
SCHEMAS = ("items", "additionalItems", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")


def as_declared(schema: Any) -> Any:
    """The schema without what the draft named by its `$schema` ignores; unchanged when that is not draft 4, 6 or 7."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    found = re.search(r"draft-0([467])", declared) if isinstance(declared, str) else None
    return schema if found is None else _reduced(schema, int(found[1]))


def _reduced(schema: Any, draft: int) -> Any:
    if not isinstance(schema, dict):
        return schema
    is_reference = isinstance(schema.get("$ref"), str)
    reduced = {}
    for key, value in schema.items():
        if SINCE.get(key, 0) > draft or (is_reference and key not in BESIDE_REFERENCES):
            continue
        if key in MAPS_OF_SCHEMAS and isinstance(value, dict):
            reduced[key] = {name: _reduced(inner, draft) for name, inner in value.items()}
        elif key in LISTS_OF_SCHEMAS and isinstance(value, list):
            reduced[key] = [_reduced(inner, draft) for inner in value]
        elif key in SCHEMAS:
            reduced[key] = _reduced(value, draft)
        else:
            reduced[key] = value
    return reduced
