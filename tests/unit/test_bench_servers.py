"""The measurement of servers: every kind can be judged, and a refusal is a cell of the table."""

from __future__ import annotations

import pytest

from bench import servers
from llmask import Compiler
from llmask.integrations.vllm.requests import compile_request

TEXTS = {
    "JSON": ('{"name": "Ada", "age": 36, "member": true}', '{"name": "Ada"}'),
    "JSON, uniqueItems and multipleOf": ("[5, 10]", "[5, 5]"),
    "JSON_OBJECT": ("{}", "[]"),
    "REGEX": ("May, 2026-11", "may, 2026-11"),
    "CHOICE": ("negative", "neutral"),
    "GRAMMAR, Lark": ("ab,cd", "ab"),
    "GRAMMAR, EBNF": ("ab,cd", "ab,"),
    "STRUCTURAL_TAG": ('<call>"add"</call>', "<call>add</call>"),
}


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_kind_is_judged_as_it_is_compiled(kind: str, default_tokenizer: object) -> None:
    pytest.importorskip("jsonschema")
    right, wrong = TEXTS[kind]
    assert servers.is_valid(kind, right)
    assert not servers.is_valid(kind, wrong)
    assert not servers.is_valid(kind, "")
    ((option, spec),) = servers.KINDS[kind][0].items()
    grammar = compile_request(Compiler(default_tokenizer), option, spec)  # type: ignore[arg-type]
    assert _takes(grammar, right)
    assert not _takes(grammar, wrong)


def _takes(grammar: object, text: str) -> bool:
    matcher = grammar.matcher()  # type: ignore[attr-defined]
    try:
        matcher.accept_bytes(text.encode())
    except ValueError:
        return False
    return bool(matcher.is_accepting())


def test_backends_stand_side_by_side_and_refusals_are_short() -> None:
    error = ValueError("no | such\nkeyword " + "x" * 100)
    cell = servers.refusal(error)
    assert "\n" not in cell
    assert "|" not in cell
    assert len(cell) < 100
    text = servers.table({"llmask": {"JSON": [1234.4, 7.8], servers.MIXED: [3.14]}, "other": {"JSON": cell}})
    assert text.splitlines()[0] == "| tokens a second (us a token) | llmask | other |"
    assert f"| JSON | 1,234 (8) | {cell} |" in text
    assert "| all that it takes, mixed | 3.1 | - |" in text
    assert "CHOICE" not in text
    assert servers.better(None, [2.0]) == [2.0]
    assert servers.better([3.0, 5.0], [2.0, 4.0]) == [3.0, 4.0]
    assert servers.better("3 s", "2 s") == "2 s"
    assert servers.better([3.0, 5.0], "refused") == "refused"
