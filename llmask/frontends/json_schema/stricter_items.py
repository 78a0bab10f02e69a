"""Items that are plain to see to differ from those before them: what is written where all that do would take too much.

With property_order="any" the objects that differ from each of n others are a product of n choices: of the property in
which they do. Here one property is chosen that has another value than in all of them:

    not {"a": 1, "b": 2}, not {"a": 3, "c": 4}    ->    "a" is there, and neither 1 nor 3

Every such object differs from all others, so nothing invalid is allowed; some that differ otherwise are refused. Only
properties are taken that have more values than can be listed, so one is always left.

In: schemas of an item, the values before it. Out: a rule, or None. Cost: a few times that of the item's schemas.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from llmask.frontends.json_schema.conjunction import conjunction_of
from llmask.frontends.json_schema.different_objects import all_but
from llmask.frontends.json_schema.finite import finite_values
from llmask.frontends.json_schema.instances import equality_key
from llmask.frontends.json_schema.object_layout import key_schemas
from llmask.frontends.json_schema.pointers import Path
from llmask.frontends.json_schema.satisfiable import productive_states
from llmask.frontends.json_schema.synthetic import any_of
from llmask.grammar.rules import EDGE_FIELDS, RuleId
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.frontends.json_schema.conjunction import SchemaAt
    from llmask.frontends.json_schema.translation import Translation

MOST_PROPERTIES = 3  # that are taken as alternatives; each is written with all that the item's schema says


def stricter_rule(translation: Translation, schemas: list[SchemaAt], values: list[Any], path: Path) -> RuleId | None:
    """Rule of objects of `schemas` that differ from all `values` in one certain property; None: none do.

    Parameters
    ----------
    values : at most `limits.max_unique_values`.
    """
    parts = conjunction_of(translation, schemas).parts
    objects = [value for value in values if type(value) is dict]
    most = translation.options.limits.max_unique_values
    described = [schema["properties"] for schema, _, shape in parts if shape.has_object and "properties" in schema]
    names = list(dict.fromkeys(name for properties in described for name in properties))
    times = Counter(name for value in objects for name in value)
    names.sort(key=lambda name: -times[name])  # what the others have, this one will have, too
    found: list[SchemaAt] = []
    for name in names:
        members = key_schemas(translation, parts, name)
        if any(member is False for member, _ in members) or finite_values(translation, members, most) is not None:
            continue
        taken = [value[name] for value in objects if name in value]
        schema: dict[str, Any] = {"type": "object", "required": [name]}
        if taken:
            schema["properties"] = {name: all_but(translation, taken, path)[0]}
        key = ("differs in", name, frozenset(equality_key(value, path) for value in taken))
        found.append((translation.synthetic(key, partial(dict, schema)), path))
        if len(found) == MOST_PROPERTIES:
            break
    if not found:
        return None
    rule = translation.rule_of([*schemas, any_of(translation, found, path)])
    translation.write_waiting()
    rules = translation.rules
    spend(len(rules.edges) // EDGE_FIELDS // 4)
    return rule if productive_states(rules)[rules.start_state(rule)] else None
