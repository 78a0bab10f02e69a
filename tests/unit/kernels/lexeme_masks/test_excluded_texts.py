"""Masks inside of keys: those of strings, but where a token holds all that is left of a declared name."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.kernels.tables import store_layout
from llmask.matching.sequence import ALL_TAKEN
from tests.reference.definition import read_mask

LETTERS = ("a", "b", "m", "e", "\u00e9", '"', "\\", "/", "\n", "u", "0", " ")
VALUES: list[Any] = [{"type": "string"}, {"type": "integer"}, True, {"enum": ["a", 'b"c']}]


def spellings(rng: random.Random, name: str) -> str:
    """A name with its quotes: as it is written mostly, in ASCII, and in a mixture."""
    plain = json.dumps(name, ensure_ascii=False)
    mixed = "".join(rng.choice([f"\\u{ord(c):04x}", json.dumps(c, ensure_ascii=False)[1:-1]]) for c in name)
    return f'{plain}: {json.dumps(name)}, "{mixed}":'


def vocabulary(rng: random.Random, names: list[str]) -> Any:
    """All bytes, and pieces of what spells the names."""
    data = "".join(spellings(rng, name) for name in names).encode()
    pieces = {data[at : at + rng.randrange(2, 9)] for at in (rng.randrange(len(data)) for _ in range(150))}
    tokens = [bytes([byte]) for byte in range(256)] + sorted(piece for piece in pieces if len(piece) > 1)
    return llmask.Tokenizer.from_bytes([*tokens, b""], eos=len(tokens), special=[])


def schema_of(rng: random.Random, names: list[str]) -> Any:
    schema: dict[str, Any] = {"type": "object", "properties": {name: rng.choice(VALUES) for name in names}}
    schema["additionalProperties"] = rng.choice([True, True, False, {"type": "integer"}])
    schema["required"] = rng.sample(names, rng.randrange(0, 3))
    if rng.random() < 0.2:
        schema["propertyNames"] = rng.choice([{"minLength": 1}, {"maxLength": 9}, {"pattern": "^[^b]"}])
    return schema


@pytest.mark.long
def test_tokens_are_allowed_whose_bytes_are(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_places = 0
    for _ in range(scaled(12)):
        names = ["".join(rng.choices(LETTERS[: rng.choice((4, 12))], k=rng.randrange(1, 7))) for _ in range(5)]
        names = [*dict.fromkeys(names), "name", "nail"]
        tokenizer = vocabulary(rng, names)
        texts = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
        options: Any = {"literals": rng.choice(["json", "any"]), "property_order": rng.choice(["schema", "any"])}
        try:
            grammar = llmask.Compiler(tokenizer).json_schema(schema_of(rng, names), **options)
        except llmask.UnsatisfiableSchema:
            continue
        matcher = grammar.matcher()
        for _ in range(30):
            allowed = read_mask(matcher, tokenizer.vocab_size)
            for token, text in enumerate(texts):
                if text:
                    assert (token in allowed) == (matcher._sequence.fork().take_bytes(text) == ALL_TAKEN), (
                        matcher.text(),
                        text,
                    )
            longer = [token for token in allowed if len(texts[token]) > 1]
            matcher.accept_token(rng.choice(longer or sorted(allowed)))
            if matcher.is_terminated():
                break
            n_places += 1
    assert n_places > 50


@pytest.mark.parametrize(
    ("begun", "token", "is_allowed"),
    [
        (b'{"na', b'me"', True),
        (b'{"name": 1, "na', b'me"', False),  # it is written already
        (b'{"name": 1, "na', b"me", True),
        (b'{"name": 1, "na', b'mes"', True),
        (b'{"na', b'il"', True),
        (b'{"nail": 1, "na', b'me"', False),  # its turn is over
        (b'{"name": 1, "', b'\\u006eame"', False),
        (b'{"name": 1, "', b'\\u006eamy"', True),
        (b'{"', b'\\u006eame"', False),  # declared keys have one spelling
    ],
)
def test_a_token_that_holds_the_rest_of_a_name(begun: bytes, token: bytes, is_allowed: bool) -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [
        b'me"',
        b"me",
        b'mes"',
        b'il"',
        b'\\u006eame"',
        b'\\u006eamy"',
        b"",
    ]
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=len(tokens) - 1, special=[])
    matcher = llmask.Compiler(tokenizer).json_schema({"properties": {"name": True, "nail": True}}).matcher()
    matcher.accept_bytes(begun)
    assert (tokens.index(token) in read_mask(matcher, len(tokens))) == is_allowed


def test_no_byte_of_a_name_is_followed_for_a_mask(default_tokenizer: Any) -> None:
    names = [f"{first}{rest}" for first in "abc" for rest in ("verylongname", "otherlongname", "nothing else")]
    grammar = llmask.Compiler(default_tokenizer).json_schema({"properties": dict.fromkeys(names, True)})
    slots, matcher = grammar.store.table.slots, grammar.matcher()
    bitmask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
    matcher.accept_bytes(b'{"')
    made = []
    for byte in b"averylongn":
        matcher.accept_bytes(bytes([byte]))
        before = slots[store_layout.STORE.state_keys + 3]
        matcher.fill_bitmask(bitmask)
        made.append(slots[store_layout.STORE.state_keys + 3] - before)
    assert max(made[1:]) <= 1  # the first makes the state of all keys that are not declared; some transition to it
