"""Schemas of a corpus, changed in one to three places.

Bounds are moved, keywords taken out, copied from other schemas or negated, parts wrapped into alternatives.

In: random numbers, schemas. Out: a schema, which need not have a document. Cost: 0.1 ms.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from tests.generators.schemas import MAPS, VALUES

SIGNS = ({"type": "string"}, {"type": "integer"}, {"minLength": 2}, {"maximum": 3}, True, False, {"uniqueItems": True})


def mutated_schema(rng: random.Random, schema: Any, pool: list[Any]) -> Any:
    """A copy with one to three changes."""
    holder = [copy.deepcopy(schema)]
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = [here for here in subschemas(holder[0]) if isinstance(here, dict)]
        if not places:
            return holder[0]
        here = rng.choice(places)
        _changed(rng, here, _without_identity(rng.choice(subschemas(copy.deepcopy(rng.choice(pool))))))
    return holder[0]


def _without_identity(schema: Any) -> Any:
    """The schema in place, without what only the root of a document may say: its dialect and its name."""
    for here in subschemas(schema):
        if isinstance(here, dict):
            for key in ("$schema", "$id", "id"):
                here.pop(key, None)
    return schema


def _changed(rng: random.Random, here: dict[str, Any], other: Any) -> None:
    """One change of one subschema in place."""
    kind = rng.randrange(8)
    numbers = [key for key, value in here.items() if type(value) in (int, float) and key != "const"]
    if kind == 0 and here:
        here.pop(rng.choice(list(here)))
    elif kind == 1 and numbers:
        key = rng.choice(numbers)
        here[key] = max(0, here[key] + rng.choice((1, -1, 2))) if here[key] >= 0 else here[key] + 1
    elif kind <= 3 and isinstance(other, dict) and other:
        key = rng.choice(list(other))
        here[key] = other[key]
    elif kind == 4:
        key = rng.choice(("allOf", "anyOf", "oneOf"))
        here[key] = [*here.get(key, ()), other, _sign(rng)][-3:]
    elif kind == 5:
        here[rng.choice(("not", "if", "then", "else", "contains", "propertyNames", "items"))] = _sign(rng)
    elif kind == 6 and isinstance(here.get("properties"), dict):
        names = list(here["properties"])
        here["required"] = rng.sample(names, rng.randint(0, len(names)))
        here["additionalProperties"] = _sign(rng)
    else:
        here.update(rng.choice(({"uniqueItems": True}, {"minItems": 1}, {"maxProperties": 3}, {"minProperties": 1})))


def _sign(rng: random.Random) -> Any:
    """A small schema; a copy, for it may be changed where it is put."""
    return copy.deepcopy(rng.choice(SIGNS))


def subschemas(schema: Any) -> list[Any]:
    """The schema and everything in it that is one, as far as keywords tell."""
    found = [schema]
    for here in found:  # grows
        if not isinstance(here, dict):
            continue
        for key, value in here.items():
            if key in MAPS and isinstance(value, dict):
                found += [member for member in value.values() if isinstance(member, dict)]
            elif isinstance(value, dict) and key not in VALUES:
                found.append(value)
            elif isinstance(value, list) and key not in VALUES:
                found += [member for member in value if isinstance(member, dict)]
    return found
