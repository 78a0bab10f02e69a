"""What an engine does not check, by its own documentation: the schema without it, for a judge.

    xgrammar with any_order   its documentation: "Key presence and uniqueness are not checked"
    glrmask                   "Patterned strings ignore length bounds" (docs/json-schema-semantic-deviations.md); and it
                              takes `format` for an annotation, as JSON Schema lets it

In: an engine, a schema. Out: judges that let pass what the engine does not check. Cost: that of a judge.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from bench.duel.judge import Referee

PRESENCE = "keys are not checked for presence"
PATTERN_LENGTH, FORMAT = "length beside a pattern is not checked", "format is an annotation"


class Unchecked(NamedTuple):
    """Keywords that are not checked, everywhere or beside another keyword only."""

    rule: str
    keywords: tuple[str, ...]
    beside: str = ""


UNCHECKED = {
    "xgrammar": (Unchecked(PRESENCE, ("required", "minProperties")),),
    "glrmask": (Unchecked(FORMAT, ("format",)), Unchecked(PATTERN_LENGTH, ("minLength", "maxLength"), "pattern")),
}


def relaxed(engine: Any, schema: Any) -> list[tuple[str, Referee]]:
    """A rule and its judge for each thing that the engine does not check and the schema asks for."""
    if engine.name == "xgrammar" and not engine.options.get("any_order"):
        return []
    found = []
    for rule, keywords, beside in UNCHECKED.get(engine.name, ()):
        without = copy.deepcopy(schema)
        if _drop(without, keywords, beside):
            found.append((rule, Referee(without)))
    return found


def _drop(schema: Any, keywords: tuple[str, ...], beside: str) -> bool:
    """Remove keywords from every schema, where another keyword is beside them; whether there were some."""
    found = False
    if isinstance(schema, dict):
        if not beside or beside in schema:
            for keyword in keywords:
                if type(schema.get(keyword)) in (int, list, str):  # else it is a property of that name
                    del schema[keyword]
                    found = True
        for value in list(schema.values()):
            found |= _drop(value, keywords, beside)
    elif isinstance(schema, list):
        for value in schema:
            found |= _drop(value, keywords, beside)
    return found
