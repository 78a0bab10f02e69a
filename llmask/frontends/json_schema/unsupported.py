"""Keywords that are known and not enforced: accepted where they demand nothing, refused otherwise.

A mask that ignored them would allow invalid documents, so the schema is refused with the keyword's place; the option
`unsupported="ignore"` accepts it and lists every such keyword in the warnings.

In: a schema and those of its keywords. Out: nothing, or `UnsupportedSchema`. Cost: a microsecond for each such
keyword.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.errors import UnsupportedSchema
from llmask.frontends.json_schema.pointers import Path, pointer

if TYPE_CHECKING:
    from llmask.frontends.json_schema.translation import Translation


def demands_nothing(keyword: str, schema: dict[str, Any]) -> bool:
    """Whether `keyword`, with its value and the keywords beside it, lets every instance pass."""
    value = schema[keyword]
    if keyword == "not":
        return value is False
    if keyword == "if":
        return "then" not in schema and "else" not in schema
    if keyword in ("dependentSchemas", "dependentRequired", "dependencies"):
        return all(member is True or member in ({}, []) for member in value.values())
    if keyword in ("unevaluatedProperties", "unevaluatedItems"):
        return value is True or value == {}
    if keyword == "contains":
        return schema.get("minContains") == 0 and "maxContains" not in schema
    if keyword == "uniqueItems":
        return value is False or schema.get("maxItems", 2) < 2
    return False


def refuse_unenforced(translation: Translation, keywords: tuple[str, ...], schema: dict[str, Any], path: Path) -> None:
    """Refuse, or list in the warnings, each of `keywords` that demands something.

    Raises
    ------
    UnsupportedSchema
        With the place of the keyword, unless the caller chose to ignore such keywords.
    """
    for keyword in keywords:
        if not demands_nothing(keyword, schema):
            refuse(translation, keyword, path, f'"{keyword}" is not supported; the mask would be too permissive')


def refuse(translation: Translation, keyword: str, path: Path, reason: str) -> None:
    """Refuse a keyword for `reason`, or list it in the warnings.

    Raises
    ------
    UnsupportedSchema
        Unless the caller chose to ignore such keywords.
    """
    where = pointer(path, keyword)
    if translation.options.unsupported == "error":
        raise UnsupportedSchema(reason, where, 'Remove it, or pass unsupported="ignore" to accept that.')
    translation.ignore(keyword, where, reason)
