"""Which schemas allow the same, as their text shows.

In: a schema. Out: something that others which allow the same share. Cost: microseconds, once a schema.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.reading.keywords import NOT
from llmask.frontends.json_schema.reading.pointers import Path

MAX_SPELLED = 500  # characters of schemas that are compared by their text


def same_schema(context: Context, schema: Any, path: Path) -> Hashable:
    """Something that two schemas share only if they allow the same: small ones are compared by what they say."""
    schema, path = context.followed(schema, path)
    if type(schema) is bool:
        return schema
    if len(schema) == 1 and NOT in schema:
        return NOT, same_schema(context, *schema[NOT])
    identity = context.identity(schema, path)
    return context.synthetic(("same", identity), lambda: _spelled(context, schema, path)) or identity


def _spelled(context: Context, schema: dict[Any, Any], path: Path) -> str:
    """The text of a schema that applies no others, without annotations; "" when it is none, or a long one."""
    shape = context.shape(schema, path)
    if not shape.is_plain or shape.has_object or shape.has_array:
        return ""
    text = repr(sorted((str(keyword), schema[keyword]) for keyword, _, _ in shape.checks))
    return text if len(text) <= MAX_SPELLED else ""
