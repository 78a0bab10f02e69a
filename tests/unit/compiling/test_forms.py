"""What was no text is written as one that can be read again."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler
from llmask.compiling import forms


@pytest.mark.parametrize(
    ("kind", "source", "options", "accepted", "refused"),
    [
        ("regex", r"a/b\n[0-9]{2}", {}, ["a/b\n12"], ["a/b12", "a/b\n1"]),
        ("regex", r"(?i)k+", {"method": "search"}, ["xxKk\n", "k"], ["", "x"]),
        ("choice", ["yes", 'n"o\n', "é"], {}, ["yes", 'n"o\n', "é"], ["no", "yesé"]),
        ("json_schema", {"type": "array", "items": {"const": 'a"\u2028'}}, {}, ["[]", '["a\\"\u2028"]'], ["[1]"]),
    ],
)
def test_its_text_is_read_as_the_same_grammar(
    byte_tokenizer: Any, kind: str, source: Any, options: dict[str, Any], accepted: list[str], refused: list[str]
) -> None:
    compiler = Compiler(byte_tokenizer)
    grammar = getattr(compiler, kind)(source, **options)
    again = compiler.lark(str(grammar), lexer="exact")
    for one in (grammar, again):
        assert [text for text in accepted if not one.accepts(text)] == []
        assert [text for text in refused if one.accepts(text)] == []


def test_a_schema_that_is_longer_as_text_than_in_memory_is_not_written() -> None:
    schema: Any = {"const": "x" * 1000}
    for _ in range(40):
        schema = {"anyOf": [schema, schema]}
    assert forms.schema_text(schema) == "..."
