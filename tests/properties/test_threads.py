"""Threads share compilers and grammars; each has its own matchers, and every mask is that of a single thread."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from tests.properties.schemas import draw, ids_by_bytes, spelled, written
from tests.reference.definition import read_mask

N_THREADS = 4


def in_threads(work: Callable[[int], None]) -> None:
    """Run `work(number)` in all threads at once and pass on the first exception."""
    errors: list[BaseException] = []
    gate = threading.Barrier(N_THREADS)

    def run(number: int) -> None:
        gate.wait()
        try:
            work(number)
        except BaseException as error:  # the main thread raises it again
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize(
    "renewing",
    [
        pytest.param(False, id="one store", marks=pytest.mark.long),
        pytest.param(True, id="new stores and tables all the time"),
    ],
)
def test_threads_compile_fill_accept_and_fork_like_one_thread(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], renewing: bool
) -> None:
    ids = ids_by_bytes(tiny_tokenizer)
    jobs: list[tuple[Any, list[int], list[set[int]]]] = []
    alone = llmask.Compiler(tiny_tokenizer)
    for _ in range(scaled(40)):
        schema, make = draw(rng)
        tokens = spelled(rng, written(rng, make(rng)).encode(), ids)[:60]
        matcher, masks = alone.json_schema(schema).matcher(), []
        for token in tokens:
            masks.append(read_mask(matcher, tiny_tokenizer.vocab_size))
            matcher.accept_token(token)
        jobs.append((schema, tokens, masks))

    limits = llmask.Limits(renew_store_bytes=400_000, renew_grammar_bytes=20_000) if renewing else llmask.Limits()
    shared = llmask.Compiler(tiny_tokenizer, limits=limits)

    def work(number: int) -> None:
        own = random.Random(number)
        for schema, tokens, masks in own.sample(jobs, k=len(jobs)):
            matcher = shared.json_schema(schema).matcher()
            for place, token in enumerate(tokens):
                assert read_mask(matcher, tiny_tokenizer.vocab_size) == masks[place], (schema, tokens[:place])
                if own.random() < 0.1:
                    matcher = matcher.fork()
                if own.random() < 0.1:
                    matcher.accept_token(token)
                    matcher.rollback(1)
                matcher.accept_token(token)

    in_threads(work)


def test_threads_share_one_fresh_grammar(llama3_tokenizer: Any) -> None:
    # All threads meet the same missing states at the same time.
    schema = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 40}}}}
    text = b'[{"a": "some words \\u00e9 and \\n"}, {"a": ""}, {}, {"b": [1, 2.5e3, null, {"c": "d"}]}]'
    ids = ids_by_bytes(llama3_tokenizer)
    alone = llmask.Compiler(llama3_tokenizer).json_schema(schema)
    tokens = spelled(random.Random(5), text, ids)
    matcher, masks = alone.matcher(), []
    for token in tokens:
        masks.append(read_mask(matcher, llama3_tokenizer.vocab_size))
        matcher.accept_token(token)
    for _ in range(3):
        grammar = llmask.Compiler(llama3_tokenizer).json_schema(schema)

        def work(number: int, grammar: Any = grammar) -> None:
            matcher = grammar.matcher()
            for place, token in enumerate(tokens):
                assert read_mask(matcher, llama3_tokenizer.vocab_size) == masks[place], place
                matcher.accept_token(token)

        in_threads(work)


def test_batches_of_several_threads_share_matchers_of_many_grammars(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(renew_grammar_bytes=20_000))
    grammars = [compiler.json_schema(draw(rng)[0]) for _ in range(scaled(12))]

    def work(number: int) -> None:
        own = random.Random(number)
        matchers = [own.choice(grammars).matcher() for _ in range(40)]
        bitmask = llmask.allocate_bitmask(len(matchers), tiny_tokenizer.vocab_size)
        for _ in range(20):
            llmask.fill_bitmasks(matchers, bitmask, threads=3)
            for row, matcher in enumerate(matchers):
                single = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
                matcher.fill_bitmask(single)
                assert (single[0] == bitmask[row]).all()
                if not matcher.is_terminated():
                    matcher.accept_token(own.choice(sorted(read_mask(matcher, tiny_tokenizer.vocab_size))))

    in_threads(work)
