"""Masks against acceptance: `python -m bench.conformance agreement`.

A token's bit must say what accepting the token does. Both are asked for every token of the vocabulary at places of
random walks, of random schemas mostly with values that must differ, objects in any order and counted items; also after
rolling back, in forks, after a reset with the same tokens again, and while tables are renewed all the time. What is
written so far must lead to the same mask in a fresh matcher.

In: numbers of schemas, a seed. Out: counts, every difference. Cost: 10 ms a place with 4,000 tokens.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import llmask
from bench.conformance import tables
from bench.conformance.subject import VOCABULARY, WANTED
from bench.conformance.walks import FIRST_BYTE, UNIFORM, Walker
from bench.vocabularies import SOURCES
from tests.generators.schemas import random_schema

STEPS = 14  # of a walk
CHECKED_SHARE = 0.3  # of its places
RENEW_BYTES = 1 << 16
TRACKED: tuple[dict[str, Any], ...] = (
    {"type": "array", "uniqueItems": True},
    {"type": "array", "uniqueItems": True, "minItems": 2, "items": {"type": ["number", "string", "boolean"]}},
    {"type": "array", "uniqueItems": True, "items": {"type": "object"}},
    {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
    {"type": "array", "uniqueItems": True, "contains": {"type": "integer"}, "minContains": 2},
    {"type": "object", "minProperties": 3, "maxProperties": 4},
    {"type": "object", "required": ["b", "a"], "properties": {"a": {}, "b": {}, "ab": {}}},
    {"type": "object", "propertyNames": {"pattern": "b$"}, "minProperties": 2},
)


class Checker:
    """Compares masks with acceptance.

    Parameters
    ----------
    renews : let tables be replaced nearly always.
    """

    def __init__(self, renews: bool) -> None:
        tokenizer = llmask.Tokenizer.from_gguf(str(SOURCES[VOCABULARY].path))
        limits = llmask.Limits(renew_grammar_bytes=RENEW_BYTES) if renews else llmask.Limits()
        self.compiler = llmask.Compiler(tokenizer, limits)
        self.walker = Walker(tokenizer)
        self.n_tokens = tokenizer.vocab_size
        self.other = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self.counts: Counter[str] = Counter()
        self.faults: list[dict[str, Any]] = []

    def check(self, schema: Any, matcher: llmask.Matcher, where: str) -> None:
        """Every token's bit; behind the end of a document nothing is accepted, and the mask repeats the end."""
        if matcher.is_terminated():
            return
        allowed = np.zeros(self.n_tokens, bool)
        allowed[self.walker.allowed(matcher)] = True
        accepted = np.array([matcher.validate_tokens([token]) == 1 for token in range(self.n_tokens)])
        self.counts[where] += 1
        if (allowed != accepted).any():
            self.fault(schema, matcher, where, np.flatnonzero(allowed != accepted), allowed)
        fresh = matcher.grammar.matcher()
        if matcher.tokens:
            fresh.accept_tokens(matcher.tokens)
        fresh.fill_bitmask(self.other)
        if not np.array_equal(self.walker.bitmask, self.other):
            self.fault(schema, matcher, f"{where}, fresh", np.zeros(0, int), allowed)

    def fault(self, schema: Any, matcher: llmask.Matcher, where: str, tokens: Any, allowed: Any) -> None:
        """Note a difference."""
        shown = {repr(matcher.grammar.tokenizer.token_bytes(int(token))): bool(allowed[token]) for token in tokens[:8]}
        what = {"schema": schema, "where": where, "text": matcher.text().decode(errors="replace"), "allowed": shown}
        self.faults.append({**what, "n": len(tokens)})

    def walk(self, schema: Any, grammar: llmask.CompiledGrammar, rng: random.Random) -> None:
        """One walk with checks on the way."""
        matcher = grammar.matcher()
        forks = []
        for _ in range(STEPS):
            if rng.random() < CHECKED_SHARE:
                self.check(schema, matcher, "on the way")
            if rng.random() < 0.1:
                forks.append(matcher.fork())
            way = UNIFORM if rng.random() < 0.3 else FIRST_BYTE
            matcher.accept_token(self.walker.chosen(self.walker.allowed(matcher), way, rng))
            if matcher.is_terminated():
                break
            if rng.random() < 0.1:
                matcher.rollback(rng.randint(0, len(matcher.tokens)))
                self.check(schema, matcher, "rolled back")
        for fork in forks[:1]:
            self.check(schema, fork, "forks")
        tokens = matcher.tokens
        matcher.reset()
        matcher.accept_tokens(tokens[: rng.randint(0, len(tokens))])
        self.check(schema, matcher, "after a reset")

    def run(self, n_schemas: int, rng: random.Random) -> None:
        """Walks over so many schemas that have documents."""
        while self.counts["schemas"] < n_schemas:
            schema = rng.choice(TRACKED) if rng.random() < 0.25 else random_schema(rng)
            options: dict[str, Any] = {**WANTED, "unique_keys": rng.random() < 0.5}
            try:
                grammar = self.compiler.json_schema(schema, whitespace=rng.choice(("flexible", "compact")), **options)
            except llmask.LlmaskError:
                continue
            self.counts["schemas"] += 1
            tables.progress(f"{self.counts['schemas']} of {n_schemas} schemas, {len(self.faults)} faults")
            try:
                self.walk(schema, grammar, rng)
            except llmask.LimitExceeded:
                self.counts["limit reached"] += 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schemas", type=int, default=200, help="of each kind of limits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("results"), help="folder for agreement-SEED.json")


def main(options: argparse.Namespace) -> int:
    """Print the counts; 1 when something differs."""
    rng = random.Random(options.seed)
    faults = []
    for renews in (False, True):
        started = time.monotonic()
        checker = Checker(renews)
        checker.run(options.schemas, rng)
        title = "tables renewed all the time" if renews else "tables as they are"
        print(f"{title} ({time.monotonic() - started:.0f} s), {checker.n_tokens:,} tokens")
        print("\n".join(f"  {count:8,}  {what}" for what, count in sorted(checker.counts.items())), flush=True)
        faults += checker.faults
    for entry in faults[:20]:
        print(f"  {json.dumps(entry, ensure_ascii=False)[:500]}")
    print(f"faults: {len(faults)}; {tables.write_json(options.output, f'agreement-{options.seed}.json', faults)}")
    return int(bool(faults))
