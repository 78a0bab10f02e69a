"""At every token of any document, what is complete in the value so far is what the whole document has there."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask import LlmaskError
from tests.properties.schemas import draw, ids_by_bytes, spelled, written
from tests.reference.partial_json import NO_VALUE, so_far


def assert_begins(part: Any, whole: Any, pointer: str | None) -> None:
    """That a value so far is a beginning of the whole one; `pointer`: what is in progress in it, None: nothing is."""
    if pointer is None:
        assert repr(part) == repr(whole)
        return
    assert type(part) is type(whole)
    if isinstance(part, str):
        assert pointer == ""
        assert whole.startswith(part)
        return
    name, _, rest = pointer[1:].partition("/")
    name = name.replace("~1", "/").replace("~0", "~")
    below = "/" + rest if "/" in pointer[1:] else ""
    parts, wholes = (dict(one if isinstance(one, dict) else enumerate(one)) for one in (part, whole))
    assert list(parts) == list(wholes)[: len(parts)]
    in_progress = None if pointer == "" else name if isinstance(part, dict) else int(name)
    if in_progress is not None and in_progress in parts:
        assert_begins(parts.pop(in_progress), wholes[in_progress], below)
    assert all(repr(value) == repr(wholes[key]) for key, value in parts.items())


def check_at_every_token(matcher: llmask.Matcher, text: bytes, tokens: list[int], has_twin: bool = True) -> None:
    """That value and position are what the twin says, and fit the document, after every token and at the end."""
    whole = json.loads(text)
    for token in tokens:
        matcher.accept_token(token)
        part, position = matcher.partial(), matcher.position()
        if has_twin:
            expected = so_far(matcher.text())
            assert repr(part) == repr(None if expected.value is NO_VALUE else expected.value)
            assert tuple(position) == expected[1:]
        if part is not None:
            assert_begins(part, whole, None if position.kind == "end" else position.pointer)
    matcher.accept_token(matcher.grammar.tokenizer.eos_ids[0])
    assert repr(matcher.partial()) == repr(whole)
    assert matcher.position() == ("", "end", 0, 0)


@pytest.mark.long
@pytest.mark.parametrize(("world", "n_schemas"), [("tiny_tokenizer", 80), ("default_tokenizer", 60)])
def test_random_documents_in_random_spellings(
    world: str, n_schemas: int, request: pytest.FixtureRequest, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    tokenizer = request.getfixturevalue(world)
    compiler, ids = llmask.Compiler(tokenizer), ids_by_bytes(tokenizer)
    for _ in range(scaled(n_schemas)):
        schema, make = draw(rng)
        text = written(rng, make(rng)).encode()
        check_at_every_token(compiler.json_schema(schema).matcher(), text, spelled(rng, text, ids))


def test_the_cases_of_the_benchmark(default_tokenizer: Any, project_root: Path) -> None:
    compiler, n_documents = llmask.Compiler(default_tokenizer), 0
    for path in sorted((project_root / "bench" / "cases").glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["kind"] != "schema":
            continue
        grammar = compiler.json_schema(case["grammar"], whitespace=case.get("whitespace", "flexible"))
        for document in case["documents"]:
            if document["valid"]:
                check_at_every_token(grammar.matcher(), document["text"].encode(), document["tokens"])
                n_documents += 1
    assert n_documents > 40


def test_documents_of_maskbench(
    default_tokenizer: Any, maskbench_rows: list[dict[str, Any]], rng: random.Random, costly: Callable[[int], int]
) -> None:
    compiler, n_left = llmask.Compiler(default_tokenizer), costly(250)
    for row in rng.sample(maskbench_rows, len(maskbench_rows)):
        for test in row["tests"]:
            text = json.dumps(test["data"], ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2])).encode()
            if not test["valid"] or len(text) > 3000 or not n_left:
                continue
            tokens = default_tokenizer.encode(text.decode())
            try:
                matcher = compiler.json_schema(row["schema"]).matcher()
                matcher.validate_tokens(tokens)
            except LlmaskError:
                continue
            if matcher.validate_tokens(tokens) == len(tokens):
                check_at_every_token(matcher, text, tokens, has_twin=rng.random() < 0.1)
                n_left -= 1
    assert not n_left
