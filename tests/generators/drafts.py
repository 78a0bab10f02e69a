"""Random schemas of drafts before 2020-12: those of schemas.py, written in the keywords of an older draft.

    prefixItems, items                    items (a list), additionalItems
    dependentRequired, dependentSchemas   dependencies
    $defs, $anchor, $dynamicRef           definitions, and pointers into them
    $dynamicAnchor at the root            $recursiveAnchor, $recursiveRef
    exclusiveMinimum: 3                   minimum: 3, exclusiveMinimum: true (draft 4)

What a draft has no keyword for is left out. Nothing asks for the same meaning: the schema that comes out is judged. So
is left out, for 2019-09, what `jsonschema` 4.26 judges wrongly there: `unevaluatedItems` and `unevaluatedProperties`
(to it `contains` evaluates items, and `additionalProperties` with a schema evaluates nothing), but in trees; and
`dependencies`, which it does not know there.

In: a random number generator. Out: a schema that declares its draft. Cost: 150 us.
"""

from __future__ import annotations

import random
from typing import Any

from tests.generators.schemas import MAPS, NAMES, TYPES, VALUES, Schema, random_schema

DRAFTS = {
    4: "http://json-schema.org/draft-04/schema#",
    6: "http://json-schema.org/draft-06/schema#",
    7: "http://json-schema.org/draft-07/schema#",
    2019: "https://json-schema.org/draft/2019-09/schema",
}
OLDER = ("additionalItems", "dependencies", "definitions", "$recursiveRef")  # keywords that 2020-12 has no more
YOUNGER = {  # keywords by the draft before which they are unknown
    6: ("const", "contains", "propertyNames"),
    7: ("if", "then", "else"),
    2019: ("minContains", "maxContains", "$anchor"),
    2020: ("$dynamicAnchor", "unevaluatedItems", "unevaluatedProperties"),
}


def older_schema(rng: random.Random, depth: int = 3) -> Schema:
    """A schema of one of `DRAFTS`, which it declares."""
    draft = rng.choice(list(DRAFTS))
    if draft == 2019 and rng.random() < 0.3:
        return {"$schema": DRAFTS[draft], **_recursive_tree(rng)}
    drawn = random_schema(rng, depth)
    while not isinstance(drawn, dict) or "$id" in drawn:
        drawn = random_schema(rng, depth)
    home = "definitions" if draft < 2019 or rng.random() < 0.5 else "$defs"
    written = in_draft(drawn, draft, home, rng)
    definitions = {home: written.pop(home)} if home in written else {}
    if "$ref" in written and draft < 2019:
        written = {"allOf": [written]}  # or the definitions beside it were nothing
    return {"$schema": DRAFTS[draft], **written, **definitions}


def in_draft(schema: Schema, draft: int, home: str, rng: random.Random) -> Any:
    """A schema of `random_schema` in the keywords of an older draft; `home` is the keyword of definitions."""
    if isinstance(schema, list):
        return [in_draft(member, draft, home, rng) for member in schema]
    if not isinstance(schema, dict):
        return schema if draft > 4 or not isinstance(schema, bool) else ({} if schema else {"not": {}})
    unknown = [keyword for since, keywords in YOUNGER.items() if draft < since for keyword in keywords]
    found: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in unknown or keyword in ("items", "dependentRequired", "dependentSchemas"):
            continue
        if keyword in ("$ref", "$dynamicRef"):
            target = value.replace("#at-", "#/$defs/").replace("$defs", home)
            is_recursive = draft == 2019 and target == "#" and rng.random() < 0.7
            found["$recursiveRef" if is_recursive else "$ref"] = target
        elif keyword == "prefixItems":
            found["items"] = in_draft(value, draft, home, rng)
        elif keyword in MAPS:
            below = {name: in_draft(member, draft, home, rng) for name, member in value.items()}
            found[home if keyword == "$defs" else keyword] = below
        elif (
            keyword in VALUES
            or keyword == "uniqueItems"
            or (keyword == "additionalProperties" and value in (True, False))
        ):
            found[keyword] = value
        else:
            found[keyword] = in_draft(value, draft, home, rng)
    if "items" in schema:
        found["additionalItems" if "prefixItems" in schema else "items"] = in_draft(schema["items"], draft, home, rng)
    lists = {name: names for name, names in schema.get("dependentRequired", {}).items() if names or draft > 4}
    schemas = {name: in_draft(member, draft, home, rng) for name, member in schema.get("dependentSchemas", {}).items()}
    if draft < 2019:
        found |= {"dependencies": {**lists, **schemas}} if lists or schemas else {}
    else:
        given = {"dependentRequired": lists, "dependentSchemas": schemas}
        found |= {keyword: value for keyword, value in given.items() if value}
    if draft == 4:
        _bounds_of_draft_4(found)
    return found


def _bounds_of_draft_4(found: dict[str, Any]) -> None:
    """Exclusive bounds are booleans there, beside the bound."""
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if exclusive in found:
            value = found.pop(exclusive)
            found.setdefault(bound, value)
            found[exclusive] = True


def _recursive_tree(rng: random.Random) -> dict[str, Any]:
    """A tree that another resource extends: `$recursiveRef` leads to the outermost of two anchors."""
    extra = rng.choice(NAMES[:3])
    items = {"type": "array", "maxItems": 2, "items": {"$recursiveRef": "#"}}
    tree = {"$id": "tree", "$recursiveAnchor": True, "type": "object", "properties": {"ab": items}}
    strict = rng.choice(({"unevaluatedProperties": False}, {"required": [extra]}, {"maxProperties": 1}))
    return {
        "$id": "https://example.test/strict",
        "$recursiveAnchor": rng.random() < 0.8,
        "$ref": "tree",
        "properties": {extra: {"type": rng.choice(TYPES)}} if rng.random() < 0.5 else {},
        **strict,
        "$defs": {"tree": tree},
    }
