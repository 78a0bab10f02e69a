"""Random walks and documents over MaskBench, in both orders of properties.

Every schema of the corpus is compiled in either order; its documents are read token by token, then a random walk goes
on until the end of the sequence or for STEPS_EACH tokens. Judged: the corpus itself says which documents are valid
(a valid one may be refused where properties are in the order of the schema), `jsonschema` what a walk has written, and
no step may raise. A token that the mask allows must be accepted, and one that it refuses must be refused. The longest
compile and the longest step (a mask and its token) are those of the thread's processor time.

In: steps of random walks. Out: counts, the slowest. Cost: 100 us a step, documents included.
"""

from __future__ import annotations

import gc
import json
import random
import time
from typing import Any

import llmask
from bench.attack.corpora import Entry, Masks, maskbench, real_tokenizer
from bench.attack.harness import Tally
from bench.conformance.walks import fault, judge_of, may_negate_formats
from tests.generators.judge import Unjudgeable

ORDERS = ("schema", "any")
STEPS_EACH = 100  # of a schema, in one order
MOST_TOKENS = 20_000  # of a document
LONG_STEP_MS, LONG_COMPILE_MS = 50.0, 800.0


def run(tally: Tally) -> None:
    """Walk until so many steps are done."""
    entries = maskbench()
    order = random.Random(f"{tally.seed} order").sample(entries, len(entries))
    tokenizer = real_tokenizer()
    walker = _Walker(tally, tokenizer)
    gc.disable()
    try:
        for number, rng in enumerate(tally.cases()):
            entry = order[number % len(order)]
            for property_order in ORDERS:
                walker.attack(entry, property_order, rng)
            gc.collect(0 if number % 50 else 2)
    finally:
        gc.enable()


class _Walker:
    def __init__(self, tally: Tally, tokenizer: llmask.Tokenizer) -> None:
        self.tally = tally
        self.tokenizer = tokenizer
        self.masks = Masks(tokenizer)
        self.compiler = llmask.Compiler(tokenizer, cache_bytes=0)

    def attack(self, entry: Entry, property_order: str, rng: random.Random) -> None:
        """Compile one schema in one order, read its documents, walk."""
        tally, where = self.tally, f"{entry.id}, order {property_order}"
        unique_keys = rng.random() < 0.3
        started = time.thread_time_ns()
        try:
            grammar = self.compiler.json_schema(entry.schema, property_order=property_order, unique_keys=unique_keys)
        except llmask.LlmaskError as error:
            tally.sums[f"refused, order {property_order}: {type(error).__name__}"] += 1
            return
        except Exception as error:
            tally.fault(f"compile raises {type(error).__name__}", where, error)
            return
        finally:
            self._timed("compile", started, where, LONG_COMPILE_MS)
        tally.sums[f"compiled, order {property_order}"] += 1
        for is_valid, data in entry.documents:
            try:
                is_accepted = self._read(grammar, data, where)
            except Exception as error:
                tally.fault(f"a document raises {type(error).__name__}", where, error, json.dumps(data)[:200])
                continue
            if is_accepted and not is_valid:
                tally.fault("invalid accepted", where, json.dumps(data)[:300])
            elif is_valid and is_accepted is False:
                tally.sums[f"valid rejected, order {property_order}"] += 1
                if property_order == "any":
                    tally.fault("valid rejected", where, json.dumps(data)[:300])
        try:
            document = self._walk(grammar, rng, where)
        except Exception as error:
            tally.fault(f"a walk raises {type(error).__name__}", where, error)
        else:
            if document is not None:
                self._judge(entry, document, where)

    def _timed(self, what: str, started: int, where: str, long_ms: float) -> None:
        milliseconds = (time.thread_time_ns() - started) / 1e6
        self.tally.most(f"{what} ms", milliseconds, where)
        self.tally.sums[f"{what}s over {long_ms:g} ms"] += milliseconds > long_ms

    def _read(self, grammar: Any, data: Any, where: str) -> bool | None:
        """Whether a document is accepted, None if it is too long to tell; its bits are those of `accept_token`."""
        matcher, tally = grammar.matcher(), self.tally
        text = json.dumps(data, ensure_ascii=False)
        try:
            tokens = self.tokenizer.encode(text)[:MOST_TOKENS]
        except llmask.VocabularyError:  # a lone surrogate
            tally.sums["documents that are no text"] += 1
            return None
        for token in tokens:
            started = time.thread_time_ns()
            matcher.fill_bitmask(self.masks.bitmask)
            is_allowed = bool(self.masks.bitmask[0, token >> 5] >> (token & 31) & 1)
            try:
                matcher.accept_token(token)
                is_accepted = True
            except llmask.TokenRejected:
                is_accepted = False
            self._timed("step", started, where, LONG_STEP_MS)
            tally.sums["tokens of documents"] += 1
            if is_allowed != is_accepted:
                tally.fault("the mask and accept_token differ", where, matcher.text()[-80:], token)
            if not is_accepted:
                return False
        return None if len(tokens) == MOST_TOKENS else matcher.is_accepting()

    def _walk(self, grammar: Any, rng: random.Random, where: str) -> bytes | None:
        """What a random walk has written, if it ended."""
        matcher, tally = grammar.matcher(), self.tally
        for _ in range(STEPS_EACH):
            started = time.thread_time_ns()
            matcher.fill_bitmask(self.masks.bitmask)
            filled = time.thread_time_ns()
            allowed = self.masks.last()
            if not allowed.any():
                tally.fault("an empty mask", where, matcher.text()[-200:])
                return None
            token, text = self.masks.chosen(allowed, rng), matcher.text
            accepting = time.thread_time_ns()
            matcher.accept_token(token)
            self._timed("step", started + accepting - filled, where, LONG_STEP_MS)
            tally.done += 1
            if matcher.is_terminated():
                tally.sums["walks that ended"] += 1
                return text()
        tally.sums["walks that were cut"] += 1
        return None

    def _judge(self, entry: Entry, document: bytes, where: str) -> None:
        judge = None if may_negate_formats(entry.schema) else judge_of(entry.schema)
        try:
            wrong = None if judge is None else fault(judge, document)
        except Unjudgeable:
            judge = wrong = None
        self.tally.sums["documents of walks judged" if judge else "documents of walks not judged"] += 1
        if wrong is not None:
            self.tally.fault(f"a walk has written what is {wrong}", where, document)
