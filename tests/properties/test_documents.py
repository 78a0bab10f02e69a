"""Random schemas: valid documents are accepted in every spelling, altered ones exactly when `jsonschema` says so."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from tests.properties.schemas import draw, formats_without_judge, ids_by_bytes, is_valid, spelled, written


@pytest.fixture(scope="module")
def llama3(llama3_tokenizer: Any) -> tuple[Any, Any, dict[bytes, int]]:
    return llama3_tokenizer, llmask.Compiler(llama3_tokenizer), ids_by_bytes(llama3_tokenizer)


@pytest.fixture(scope="module")
def default(default_tokenizer: Any) -> tuple[Any, Any, dict[bytes, int]]:
    return default_tokenizer, llmask.Compiler(default_tokenizer), ids_by_bytes(default_tokenizer)


@pytest.fixture(scope="module")
def tiny(tiny_tokenizer: Any) -> tuple[Any, Any, dict[bytes, int]]:
    return tiny_tokenizer, llmask.Compiler(tiny_tokenizer), ids_by_bytes(tiny_tokenizer)


def feed(matcher: Any, ids: list[int], mask: Any) -> int:
    """Accept tokens while their bits are set; the number accepted."""
    for place, token in enumerate(ids):
        matcher.fill_bitmask(mask)
        if not mask[0, token >> 5] >> (token & 31) & 1:
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_token(token)
            return place
        matcher.accept_token(token)
    return len(ids)


@pytest.mark.parametrize(("world", "n_schemas"), [("llama3", 120), ("default", 60), ("tiny", 250)])
def test_valid_documents_are_accepted_in_every_spelling(
    world: str, n_schemas: int, request: pytest.FixtureRequest, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    tokenizer, compiler, ids = request.getfixturevalue(world)
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    for _ in range(scaled(n_schemas)):
        schema, make = draw(rng)
        grammar = compiler.json_schema(schema)
        for _ in range(3):
            text = written(rng, make(rng))
            assert is_valid(schema, text), "the test drew an invalid document"
            tokens = spelled(rng, text.encode(), ids)
            matcher = grammar.matcher()
            n_accepted = feed(matcher, tokens, mask)
            so_far = b"".join(tokenizer.token_bytes(token) for token in tokens[:n_accepted])
            assert n_accepted == len(tokens), f"{json.dumps(schema)}\n{text}\nrefused after {so_far!r}"
            assert matcher.is_accepting(), f"{json.dumps(schema)}\n{text}"


def altered(rng: random.Random, document: Any) -> Any:
    """The document with one leaf replaced, an item or member dropped or doubled; the order of keys stays."""
    if isinstance(document, list) and document and rng.random() < 0.7:
        place = rng.randrange(len(document))
        change = rng.random()
        if change < 0.2:
            return document[:place] + document[place + 1 :]
        if change < 0.4:
            return document[: place + 1] + document[place:]
        return [*document[:place], altered(rng, document[place]), *document[place + 1 :]]
    if isinstance(document, dict) and document and rng.random() < 0.8:
        key = rng.choice(list(document))
        if rng.random() < 0.25:
            return {name: value for name, value in document.items() if name != key}
        if rng.random() < 0.1:
            return {**document, "unheard of": 1}
        return {name: altered(rng, value) if name == key else value for name, value in document.items()}
    if isinstance(document, str) and rng.random() < 0.6:
        return rng.choice(
            (document + "x", document[1:], document + "é", document.upper(), document + '"', "1" + document)
        )
    if isinstance(document, (int, float)) and not isinstance(document, bool) and rng.random() < 0.7:
        return rng.choice((document + 1, -document if document else 1, document * 7, 0, document - 300, 10**20))
    return rng.choice((None, True, False, 0, -1, 17, 0.5, -2.625, "", "x", "red", [], [1], {}, {"a": 1}, {"value": 3}))


def normal_numbers(value: Any) -> bool:
    """No float with an integral value: 1.0 is an integer to `jsonschema`, and a spelling that masks refuse."""
    if isinstance(value, float):
        return not value.is_integer()
    if isinstance(value, dict):
        return all(map(normal_numbers, value.values()))
    return all(map(normal_numbers, value)) if isinstance(value, list) else True


@pytest.mark.long
def test_altered_documents_are_accepted_exactly_when_they_are_valid(
    tiny: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    if formats_without_judge():
        pytest.skip(f"install jsonschema[format]: nothing judges {', '.join(formats_without_judge())}")
    tokenizer, compiler, ids = tiny
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    n_valid = n_invalid = 0
    for _ in range(scaled(400)):
        schema, make = draw(rng)
        grammar = compiler.json_schema(schema)
        for _ in range(6):
            document = altered(rng, make(rng))
            if not normal_numbers(document):
                continue
            text = json.dumps(document, ensure_ascii=False)
            tokens = spelled(rng, text.encode(), ids)
            matcher = grammar.matcher()
            is_accepted = feed(matcher, tokens, mask) == len(tokens) and matcher.is_accepting()
            if is_valid(schema, text):
                n_valid += 1
                assert is_accepted, f"valid but rejected\n{json.dumps(schema)}\n{text}"
            else:
                n_invalid += 1
                assert not is_accepted, f"invalid but accepted\n{json.dumps(schema)}\n{text}"
    assert min(n_valid, n_invalid) * 10 >= n_valid + n_invalid, "the alterations are one-sided"


def closing_token(rng: random.Random, allowed: Any, tokenizer: Any, ids: dict[bytes, int]) -> int:
    """A token that tends towards the end of a document: the end itself, closing marks, then single bytes."""
    ends = [token for token in tokenizer.eos_ids if allowed[token]]
    if ends:
        return int(ends[0])
    for mark in (b'"', b"}", b"]"):
        if mark in ids and allowed[ids[mark]] and rng.random() < 0.9:
            return ids[mark]
    single = [ids[bytes([byte])] for byte in range(33, 256) if bytes([byte]) in ids]
    plain = [token for token in single if allowed[token]]
    return rng.choice(plain) if plain else any_token(rng, allowed)


def any_token(rng: random.Random, allowed: Any) -> int:
    """One of the allowed tokens, all alike."""
    places = np.flatnonzero(allowed)
    return int(places[rng.randrange(len(places))])


@pytest.mark.parametrize(("world", "n_schemas"), [("llama3", 30), ("default", 60), ("tiny", 120)])
def test_random_walks_under_masks_end_in_valid_documents(
    world: str, n_schemas: int, request: pytest.FixtureRequest, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    tokenizer, compiler, ids = request.getfixturevalue(world)
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    n_walks = n_ended = 0
    for _ in range(scaled(n_schemas)):
        schema, _make = draw(rng)
        grammar = compiler.json_schema(schema)
        for _ in range(2):
            matcher, tokens = grammar.matcher(), []
            n_free = rng.randint(0, 20)
            for step in range(n_free + 300):
                matcher.fill_bitmask(mask)
                assert mask.any(), f"stuck after {matcher.text()!r}\n{json.dumps(schema)}"
                allowed = np.unpackbits(mask[0].view(np.uint8), bitorder="little")
                is_free = step < n_free
                token = any_token(rng, allowed) if is_free else closing_token(rng, allowed, tokenizer, ids)
                matcher.accept_token(token)
                tokens.append(token)
                if token in tokenizer.eos_ids:
                    break
            n_walks += 1
            if matcher.is_terminated():
                n_ended += 1
                text = b"".join(map(tokenizer.token_bytes, tokens[:-1]))
                assert is_valid(schema, text), f"{text!r}\n{json.dumps(schema)}"
    assert n_ended >= 0.9 * n_walks, f"only {n_ended} of {n_walks} walks ended"
