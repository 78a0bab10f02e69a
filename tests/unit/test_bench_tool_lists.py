"""Lists of tools are made, compiled, called and read back (bench/tool_lists.py)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import llmask
from bench.tool_lists import compiled, full_tools, plain_tools, random_call, read_back, row, tools_of, with_marks


def test_calls_of_the_made_functions_are_allowed_and_read_back(byte_tokenizer: Any) -> None:
    tools = full_tools(3)
    for model in ("hermes", "qwen-3-coder"):
        call = random_call(random.Random(1), model, 3)
        assert llmask.Compiler(byte_tokenizer).tools(tools, model, "required").accepts(call)
        [found] = llmask.tool_calls(call, model, tools)
        assert found.arguments["tags"] == ["alpha", "beta gamma"]
    assert read_back(plain_tools(2), 2, 1) == "2 of 2 random calls read back and valid"


def test_a_row_counts_what_compiles_and_names_the_slowest(monkeypatch: pytest.MonkeyPatch) -> None:
    strangers = llmask.Limits.for_untrusted()
    assert isinstance(compiled(full_tools(900), "hermes", "auto", strangers)[1], llmask.LimitExceeded)
    times = iter((0.1, 5.0, 0.2, 9.0, 3.0, 2.0))  # three of each family, of which the middle one counts

    def made(tools: Any, model: str, choice: Any, limits: Any) -> tuple[float, Any]:
        good = compiled(tools, "hermes", choice)[1]
        return next(times), good if model == "first" else llmask.LimitExceeded("too many")

    monkeypatch.setattr("bench.tool_lists.MODELS", ("first", "second"))
    monkeypatch.setattr("bench.tool_lists.compiled", made)
    assert row("both", plain_tools(1))[:4] == ["both", "1 of 2", "1.60", "3.00 (second)"]


def test_marks_take_the_places_of_reserved_tokens() -> None:
    names = [bytes([byte]) for byte in range(256)] + [b"<|reserved_0|>", b"<|end|>"]
    vocabulary = llmask.Tokenizer.from_bytes(names, eos=257, special=[256, 257])
    tokenizer, encode = with_marks(vocabulary, ["<tool_call>"])
    assert encode("a<tool_call>b") == [97, 256, 98]
    assert tokenizer.token_name(256) == "<tool_call>"


def test_tools_of_several_servers_are_named_by_both(tmp_path: Path) -> None:
    tool = {"name": "read", "inputSchema": {"type": "object"}}
    for document, names in (([tool], ["read"]), ({"tools": [tool]}, ["read"]), ({"disk": [tool]}, ["disk_read"])):
        (tmp_path / "tools.json").write_text(json.dumps(document))
        assert [found["name"] for found in tools_of(str(tmp_path / "tools.json"))] == names
