"""Keywords that are known and not enforced: accepted where they demand nothing, refused otherwise.

A mask that ignored them would allow invalid documents, so the schema is refused with the keyword's place; the option
`unsupported="ignore"` accepts it and lists every such keyword in the warnings.

In: a schema and those of its keywords. Out: nothing, or `UnsupportedSchema`. Cost: a microsecond for each such
keyword.
"""

from __future__ import annotations

from llmask.errors import UnsupportedSchema
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.reading.pointers import Path, pointer


def refuse(context: Context, keyword: str, path: Path, reason: str) -> None:
    """Refuse a keyword for `reason`, or list it in the warnings.

    Raises
    ------
    UnsupportedSchema
        Unless the caller chose to ignore such keywords.
    """
    where = pointer(path, keyword)
    if context.options.unsupported == "error":
        raise UnsupportedSchema(reason, where, 'Remove it, or pass unsupported="ignore" to accept that.')
    context.ignore(keyword, where, reason)
