"""How to mend what stands where a schema wants something else, for messages.

In: a keyword and its value, or what stands in place of a schema. Out: a sentence. Cost: microseconds, on errors.
"""

from __future__ import annotations

import json
from typing import Any

from llmask.frontends.json_schema.reading.keywords import (
    BOOLEAN,
    COUNT,
    KEYWORDS,
    MAPPING,
    NAME_LISTS,
    NAMES,
    NUMBER,
    SCHEMA,
    SCHEMAS,
    TEXT,
)
from llmask.frontends.json_schema.reading.misspelled import type_meant, types_meant

MOST_SHOWN = 20  # letters of a value
A_NUMBER = "write a number, such as 3 or 0.5"
# by what `KEYWORDS` says that a value must be, or by the keyword, where it says so of this one only
REMEDIES = {
    TEXT[1]: "write a text, in quotes",
    COUNT[1]: "write a whole number from 0 on, such as 3",
    NUMBER[1]: A_NUMBER,
    SCHEMAS[1]: 'write a list of one or more: [{"type": "string"}, {"type": "null"}]',
    MAPPING[1]: 'write each name with its schema: {"name": {"type": "string"}}',
    NAMES[1]: 'write a list: ["name"]',
    BOOLEAN[1]: "write true or false",
    NAME_LISTS[1]: 'write them so: {"name": ["other"]}',
    "enum": 'write a list: ["a", "b"]',
    "dependencies": 'write them so: {"name": ["other"]}, or {"name": {"required": ["other"]}}',
    "exclusiveMinimum": A_NUMBER,
    "exclusiveMaximum": A_NUMBER,
    "multipleOf": "write a number above 0, such as 10 or 0.01",
}
SPELLED = (COUNT[1], NUMBER[1], BOOLEAN[1])  # what quotes make a text of
OF_SCHEMAS = (SCHEMA[1], KEYWORDS["items"][1][1])


def value_help(keyword: str, value: Any) -> str:
    """How to mend the value of a keyword.

    Examples
    --------
    >>> value_help("maxItems", "3"), value_help("items", "string")
    ('write it without quotes: 3', 'write {"type": "string"}')
    """
    expected = KEYWORDS[keyword][1][1]
    if keyword == "type":
        return types_meant(value)
    if keyword == "required" and type(value) is bool:
        return 'name the property in the schema of the object: "required": ["name"]'
    if keyword == "$ref" and type(value) is dict:
        return 'write its keywords here, without "$ref"'
    if type(value) is dict and not all(type(name) is str for name in value):
        return "write its names as texts, in quotes"
    if expected in SPELLED and type(value) is str and KEYWORDS[keyword][1][0](_unquoted(value)):
        return f"write it without quotes: {value}"
    return schema_help(value) if expected in OF_SCHEMAS else REMEDIES.get(keyword) or REMEDIES[expected]


def schema_help(value: Any) -> str:
    """How to mend what stands where a schema should."""
    if type(value) is str:
        kind = type_meant(value)
        if kind is not None:
            return f'write {{"type": "{kind}"}}'
        if type(_unquoted(value)) is bool:
            return f"write it without quotes: {value}"
    if type(value) is list:
        return 'give one of them, or {"anyOf": [...]} where any may hold'
    if value is None:
        return 'write {} for any value, or {"type": "null"} for null'
    return 'write an object such as {"type": "string"}, or true for any value'


def _unquoted(text: str) -> Any:
    """What a short text is to JSON, or the text itself."""
    try:
        return json.loads(text) if len(text) <= MOST_SHOWN else text
    except ValueError:
        return text
