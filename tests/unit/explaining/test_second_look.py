"""Options that would take a text: the fewest, and none where the text is invalid."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler
from llmask.explaining.refusals import Source
from llmask.explaining.second_look import relaxed_options
from llmask.explaining.values import Text

SCHEMA = {
    "properties": {"a": {"enum": ["x", 10]}, "b": {"type": "string"}, "c": {"type": "integer"}},
    "required": ["a"],
}


@pytest.mark.parametrize(
    ("options", "text", "relaxed"),
    [
        ({}, '{"a": "x", "b": ""}', {}),
        ({}, '{"b": "", "a": "x"}', {"property_order": "any"}),
        ({}, '{"a": "\\u0078"}', {"literals": "any"}),
        ({}, '{"\\u0061": "x"}', {"literals": "any"}),
        ({}, '{"b": "", "\\u0061": "x"}', {"property_order": "any", "literals": "any"}),
        ({"escapes": "minimal"}, '{"a": "x", "b": "\\/"}', {"escapes": "all"}),
        ({"whitespace": "compact"}, '{"a": "x"}', {"whitespace": "flexible"}),
        ({"max_whitespace": 2}, '{"a":    "x"}', {"max_whitespace": 4096}),
        ({"indent": 2}, '{"a": "x"}', {"indent": None}),
        ({"numbers": "plain"}, '{"a": 10, "c": 1.0}', {"numbers": "json"}),
        ({"closed": True}, '{"a": 10, "d": 1}', {"closed": False}),
        ({"unique_keys": True}, '{"a": 10, "d": 1, "d": 1}', {"unique_keys": False}),
        ({"property_order": "any"}, '{"a": "y"}', {}),
        ({}, '{"b": "", "a": "y"}', {}),
        ({}, '{"b": ""', {"property_order": "any"}),
    ],
)
def test_options_that_take_a_text(byte_tokenizer: Any, options: dict[str, Any], text: str, relaxed: Any) -> None:
    grammar = Compiler(byte_tokenizer).json_schema(SCHEMA, **options)
    assert grammar._loaded.recipe is not None
    source = Source(grammar._loaded.store, grammar._loaded.recipe.source, grammar._loaded.recipe.options)
    assert relaxed_options(source, Text(text.encode(), text.endswith("}"))) == relaxed
