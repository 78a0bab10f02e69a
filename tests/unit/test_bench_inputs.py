"""What the measurements are of: walks, grammars, documents and texts are what their pages say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import llmask
from bench import budgets, sglang_masks
from bench.canonical import Walker, run_forced
from bench.data import own_rows
from bench.languages import LANGUAGES, plain_text
from bench.loop import SCHEMAS, document
from bench.tool_lists import full_tools, plain_tools, random_call, read_back, tools_of
from llmask import Compiler, Tokenizer
from llmask.compiling.sources import ready_files


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_grammar_without_templates_accepts_the_same_samples(default_tokenizer: Any, language: str) -> None:
    compiler = Compiler(default_tokenizer)
    grammar = compiler.grammar(language)
    text = plain_text(grammar, ready_files()[language])
    assert "{" not in text.split("\n", 1)[0]
    plain = compiler.lark(text)
    for one, other in ((grammar, plain), (plain, grammar)):
        for seed in range(5):
            assert other.accepts(one.sample(seed))


@pytest.mark.long
@pytest.mark.parametrize("name", SCHEMAS)
def test_every_row_writes_a_valid_document_of_its_own(name: str) -> None:
    documents = [document(name, row) for row in range(256)]
    for written in documents:
        jsonschema.validate(written, SCHEMAS[name])
    assert len({str(written) for written in documents}) == 256


def test_the_document_is_one_of_the_schema(default_tokenizer: Any) -> None:
    assert Compiler(default_tokenizer).json_schema(sglang_masks.SCHEMA).accepts(sglang_masks.DOCUMENT.encode())


def test_calls_of_the_made_functions_are_allowed_and_read_back(byte_tokenizer: Any) -> None:
    tools = full_tools(3)
    for model in ("hermes", "qwen-3-coder"):
        call = random_call(random.Random(1), model, 3)
        assert Compiler(byte_tokenizer).tools(tools, model, "required").accepts(call)
        [found] = llmask.tool_calls(call, model, tools)
        assert found.arguments["tags"] == ["alpha", "beta gamma"]
    assert read_back(plain_tools(2), 2, 1) == "2 of 2 random calls read back and valid"


def test_tools_of_several_servers_are_named_by_both(tmp_path: Path) -> None:
    tool = {"name": "read", "inputSchema": {"type": "object"}}
    for given, names in (([tool], ["read"]), ({"tools": [tool]}, ["read"]), ({"disk": [tool]}, ["disk_read"])):
        (tmp_path / "tools.json").write_text(json.dumps(given))
        assert [found["name"] for found in tools_of(str(tmp_path / "tools.json"))] == names


def test_walks_end_within_their_budgets(costly: Callable[[int], int]) -> None:
    compiler = Compiler(Tokenizer.default())
    counts, faults = budgets.check(compiler, costly(8), costly(16), seed=3)
    assert faults == []
    assert counts["walks"] == costly(16)
    assert counts["grammars"] == costly(8)


def test_a_walk_that_breaks_its_budget_is_a_fault() -> None:
    """Without a budget to keep, walks are longer: the check can fail."""
    compiler = Compiler(Tokenizer.default())
    chooser = budgets.Chooser(compiler.tokenizer)
    grammar = compiler.regex("[a-z ]*")
    lengths = [budgets.walk(grammar, 5, chooser, random.Random(seed), False).n_tokens for seed in range(5)]
    assert max(lengths) <= 5
    free = [budgets.walk(grammar, 10_000, chooser, random.Random(seed), True).n_tokens for seed in range(5)]
    assert max(free) > 5


@pytest.mark.long
def test_walks_are_judged() -> None:
    tok = Tokenizer.default()
    canonical = Walker(tok, 10, 100)
    plain = Walker(tok, 10, 100)
    for seed in range(6):
        canonical.walk(Compiler(tok, canonical=True).regex("[a-z]{1,6} [0-9]{1,5}"), random.Random(seed))
        plain.walk(Compiler(tok).regex("[a-z]{1,6} [0-9]{1,5}"), random.Random(seed))
    assert canonical.counts["walks"] == 6
    assert canonical.counts["dead ends"] == canonical.counts["not canonical"] == canonical.counts["unfinished"] == 0
    assert plain.counts["not canonical"] > 0


def test_forced_tokens_of_our_own_cases(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("bench.canonical.chosen_rows", lambda limit, seed: own_rows()[:8])
    assert run_forced(Tokenizer.default(), 8, 1)
    assert "0 not canonical" in capsys.readouterr().out
