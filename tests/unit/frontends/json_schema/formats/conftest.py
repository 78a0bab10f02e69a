"""`examples`: texts that a format must accept in every spelling, and texts that it must refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats import AT_MOST
from llmask.frontends.regex import compile_pattern

Check = Callable[[str, list[str], list[str]], None]


@pytest.fixture
def examples(judge: Any) -> Check:
    """examples(name, valid, invalid); valid texts must also lie within the format's superset, if it has one."""

    def check(name: str, valid: list[str], invalid: list[str]) -> None:
        grammar = judge.grammar({"type": "string", "format": name})
        for ensure_ascii in (False, True):
            spelled = {text: json.dumps(text, ensure_ascii=ensure_ascii) for text in valid + invalid}
            assert [text for text in valid if not grammar.accepts(spelled[text])] == []
            assert [text for text in invalid if grammar.accepts(spelled[text])] == []
        if name in AT_MOST:
            outside = compile_pattern(judge.nodes, AT_MOST[name], "ecma")
            assert [text for text in valid if not judge.nodes.matches(outside, text.encode())] == []

    return check
