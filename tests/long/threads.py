"""Threads that share compilers and grammars, while stores and tables are renewed all the time.

Masks along documents of random schemas are noted with one thread and one store. Then N_THREADS threads read the same
documents in their own order with one compiler whose stores and tables begin anew every few grammars: compiling,
filling alone and in batches, accepting, rolling back, forking. Every mask must be the one that was noted.

In: tokens that the threads read. Out: counts. Cost: 50 us a token.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

import llmask
from tests.long.corpora import tiny_tokenizer
from tests.long.harness import HANG_SECONDS, Tally
from tests.properties.schemas import draw, ids_by_bytes, spelled, written

N_THREADS = 8
JOBS = 24  # schemas of a round
MOST_TOKENS = 80  # of a document
LIMITS = llmask.Limits(renew_store_bytes=400_000, renew_grammar_bytes=20_000)


class Job(NamedTuple):
    """A schema, a document's tokens, and the mask before each."""

    schema: Any
    tokens: list[int]
    masks: list[bytes]


def run(tally: Tally) -> None:
    """Read until so many tokens are read."""
    tokenizer = tiny_tokenizer()
    ids = ids_by_bytes(tokenizer)
    shared = llmask.Compiler(tokenizer, limits=LIMITS)
    for rng in tally.cases():
        alone = llmask.Compiler(tokenizer, cache_bytes=0)
        jobs = [_noted(alone, ids, rng) for _ in range(JOBS)]
        work = [_Work(shared, jobs, rng.randrange(2**32)) for _ in range(N_THREADS)]
        for thread in work:
            thread.start()
        end = time.monotonic() + HANG_SECONDS / 2
        for thread in work:
            thread.join(max(0.0, end - time.monotonic()))
            tally.done += thread.n_tokens
            tally.sums.update(thread.sums)
            for what in thread.wrong:
                tally.fault(*what)
            if thread.is_alive():
                tally.hung.append(f"case {tally.case}: a thread after {thread.n_tokens} tokens")
        if tally.hung:
            return
    tally.sums["threads"] = N_THREADS


def _noted(alone: llmask.Compiler, ids: dict[bytes, int], rng: random.Random) -> Job:
    schema, make = draw(rng)
    tokens = spelled(rng, written(rng, make(rng)).encode(), ids)[:MOST_TOKENS]
    bitmask = llmask.allocate_bitmask(1, alone.tokenizer.vocab_size)
    matcher, masks = alone.json_schema(schema).matcher(), []
    for token in tokens:
        matcher.fill_bitmask(bitmask)
        masks.append(bitmask.tobytes())
        matcher.accept_token(token)
    return Job(schema, tokens, masks)


class _Work(threading.Thread):
    """One thread over all jobs of a round."""

    def __init__(self, compiler: llmask.Compiler, jobs: list[Job], seed: int) -> None:
        super().__init__(daemon=True)
        self.compiler, self.rng = compiler, random.Random(seed)
        self.jobs = self.rng.sample(jobs, len(jobs))
        self.n_tokens = 0
        self.sums: Counter[str] = Counter()
        self.wrong: list[tuple[Any, ...]] = []

    def run(self) -> None:
        kept: list[tuple[llmask.Matcher, bytes]] = []  # matchers of grammars that are left behind, with their masks
        for job in self.jobs:
            try:
                self.read(job, kept)
            except Exception as error:
                self.wrong.append((f"raises {type(error).__name__}", job.schema, error))

    def read(self, job: Job, kept: list[tuple[llmask.Matcher, bytes]]) -> None:
        rng, vocab_size = self.rng, self.compiler.tokenizer.vocab_size
        bitmask, batch = llmask.allocate_bitmask(1, vocab_size), llmask.allocate_bitmask(4, vocab_size)
        matcher = self.compiler.json_schema(job.schema).matcher()
        self.sums["grammars"] += 1
        for place, token in enumerate(job.tokens):
            matcher.fill_bitmask(bitmask)
            if bitmask.tobytes() != job.masks[place]:
                self.wrong.append(("another mask than alone", job.schema, job.tokens[:place]))
                return
            roll = rng.random()
            if roll < 0.1:
                matcher = matcher.fork()
            elif roll < 0.2:
                matcher.accept_token(token)
                matcher.rollback(1)
            elif roll < 0.25 and kept:
                others = rng.choices(kept, k=3)
                llmask.fill_bitmasks([matcher, *(other for other, _ in others)], batch, threads=2)
                wanted = [job.masks[place], *(mask for _, mask in others)]
                if any(batch[row].tobytes() != mask for row, mask in enumerate(wanted)):
                    self.wrong.append(("another mask in a batch", job.schema, job.tokens[:place]))
                self.sums["batches"] += 1
            if rng.random() < 0.02:
                kept.append((matcher.fork(), np.array(bitmask[0]).tobytes()))
                del kept[:-20]
            matcher.accept_token(token)
            self.n_tokens += 1
