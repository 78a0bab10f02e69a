"""Types: the same values are valid for the grammar and for `jsonschema`."""

from __future__ import annotations

from typing import Any

import pytest

CASES: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("string", {"type": "string"}, ["", "a\nb", 'q"\\', "é😀"], [None, 1, [], {}]),
    ("integer", {"type": "integer"}, [0, -7, 10**30], [1.5, "1", None, True]),
    ("number", {"type": "number"}, [0, 1.5, -2e30, 1e-7], ["1", None, True]),
    ("boolean", {"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ("null", {"type": "null"}, [None], [0, False, "null"]),
    ("several types", {"type": ["integer", "null"]}, [1, None], [1.5, "a", []]),
    ("number and integer", {"type": ["integer", "number"]}, [1, 1.5], ["a"]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_grammar_and_jsonschema_agree(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    judge.agrees(schema, valid, invalid)
