"""A token that ends a value like one before it is refused, whatever it writes on the way, and no other is."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import llmask
from tests.reference.definition import read_mask

PIECES = (
    '"}', '"a"', '"a":1}', '"a":1}]', '"a":"b"}', ',"a":1}', ',"a":1}]', "1}", "1}]", "1]}", "]}", "]}]", "}}", "}}]",
    "}]}", '"b":2,"a":1}', '":1}', '":1}]', ":1}", 'a":1}', ',{"a":1}', '{"a":1}]', "\\u0061", "1.0", "e0", ".0",
    "true]", '"]}', '""}', ',"a":{}', "{}", "[]",
)  # fmt: skip
TOKENS = [*(bytes([byte]) for byte in range(32, 127)), *(piece.encode() for piece in PIECES), b""]
LISTS = {"type": "array", "uniqueItems": True}


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=len(TOKENS) - 1, special=[]))


def check_masks(compiler: llmask.Compiler, schema: dict[str, Any], text: str) -> set[bytes]:
    """At each byte of a document, the mask has the tokens that can be taken; those after all of it."""
    matcher = compiler.json_schema(schema).matcher()
    for at in range(len(text) + 1):
        allowed = read_mask(matcher, len(TOKENS))
        for token, piece in enumerate(TOKENS[:-1]):
            taken = matcher.accept(token)
            if taken:
                matcher.rollback(1)
            assert taken == (token in allowed), (text[:at], piece)
        if at < len(text):
            matcher.accept_token(TOKENS.index(text[at].encode()))
    return {TOKENS[token] for token in allowed}


@pytest.mark.parametrize(
    ("items", "known", "begun"),
    [
        ({}, ['{"a":1}'], ['{"a":1', '{"\\u0061":1.', '{"a":2,"a":1', '{"a":{"c":0},"a":1', '{"a":10e-1']),
        ({}, ['{"b":2,"a":1}'], ['{"a":1,"b":2', '{"b":2,"a":1', '{"b":0,"b":2,"a":1']),
        ({}, ['{"a":"b"}'], ['{"a":"b"', '{"a":[],"a":"b"']),
        ({}, ['[[1],{"a":1}]'], ['[[1],{"a":1', '[[1],{"a":"","a":1', '[[1.0],{"a":1}']),
        ({}, ['{"a":[{"b":1},{"a":1}]}'], ['{"a":[{"b":1},{"a":1']),
        ({"type": "array", "items": LISTS}, ["[[1]]", "[[true]]"], ["[[1", "[[true", "[[1,true"]),
        (LISTS, ['[{"a":1},{"b":1}]', "[[],1]"], ['[{"a":1},{"b":1', "[[],1", '[{"a":1},{"b":0,"b":1']),
    ],
)
def test_whatever_was_read(
    compiler: llmask.Compiler, items: dict[str, Any], known: list[str], begun: list[str]
) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": items}
    for text in begun:
        check_masks(compiler, schema, f"[{','.join(known)},{text}")


def test_a_key_that_is_written_again_counts(compiler: llmask.Compiler) -> None:
    """The token begins before the key that makes the values equal."""
    allowed = check_masks(compiler, {"type": "array", "uniqueItems": True}, '[{"a":1},{"a":2')
    assert b',"a":1}' not in allowed
    assert b',"a":1}]' not in allowed
    assert {b',"a":{}', b"}", b"1}"} <= allowed


def test_random_documents(compiler: llmask.Compiler, rng: random.Random, scaled: Any) -> None:
    """Of few values, so that many come close to one before them."""

    def value(depth: int) -> Any:
        kind = rng.randrange(5 if depth < 3 else 3)
        if kind < 3:
            return rng.choice([1, "a", "b", True, ""])
        if kind == 3:
            return [value(depth + 1) for _ in range(rng.randint(0, 2))]
        return {name: value(depth + 1) for name in rng.sample("ab", rng.randint(0, 2))}

    for _ in range(scaled(12)):
        items = {json.dumps(item): item for item in ([value(1), value(1)] for _ in range(4))}
        text = json.dumps([*items.values(), rng.choice([*items.values()])], separators=(",", ":"))
        check_masks(compiler, {"type": "array", "uniqueItems": True, "items": {}}, text[:-2])
