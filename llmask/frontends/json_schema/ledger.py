"""The ledger: what became of every keyword of a schema.

Made when asked for, by one walk over the schema, so compiling pays nothing for it.

In: the schema, its draft, the warnings. Out: (JSON pointer, keyword, what became of it). Cost: a microsecond a
keyword.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from llmask.frontends.json_schema.keywords import Shape
from llmask.frontends.json_schema.options import LedgerEntry
from llmask.frontends.json_schema.pointers import Path, pointer

ENFORCED, ANNOTATION = "enforced", "annotation"
ONE_SCHEMA = ("items", "additionalItems", "additionalProperties", "propertyNames")
SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions")


def ledger_of(schema: Any, draft: int, formats: Container[str], warnings: dict[str, str]) -> list[LedgerEntry]:
    """Every keyword of `schema` and of the schemas in it, in the order written; `formats` are those asserted."""
    entries: list[LedgerEntry] = []
    waiting: list[tuple[Any, Path]] = [(schema, ())]
    while waiting:
        here, path = waiting.pop()
        if type(here) is not dict:
            continue
        used = {check[0] for check in Shape(tuple(here), draft).checks}
        below: list[tuple[Any, Path]] = []
        for keyword, value in here.items():
            warning = warnings.get(pointer(path, keyword))
            if warning is not None:
                fate = "ignored: " + warning.split("is not enforced: ", 1)[1]
            elif keyword in used and (keyword != "format" or (type(value) is str and value in formats)):
                fate = ENFORCED
            else:
                fate = ANNOTATION
            entries.append((pointer(path), keyword, fate))
            if keyword not in used:
                continue
            if type(value) is dict and keyword in ONE_SCHEMA:
                below.append((value, (path, keyword)))
            elif type(value) is list and keyword in SCHEMA_LISTS:
                below += [(member, (path, keyword, index)) for index, member in enumerate(value)]
            elif type(value) is dict and keyword in SCHEMA_MAPS:
                below += [(member, (path, keyword, name)) for name, member in value.items()]
        waiting.extend(reversed(below))
    return entries
