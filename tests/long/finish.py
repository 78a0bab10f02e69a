"""Sequences that are forced into a limit at random points must end in valid documents.

Schemas of MaskBench are compiled with a small `max_step_work`, a new compiler every SCHEMAS_EACH of them, and written
at random with `on_limit="finish"`: where a mask needs more work than that, the tokens of the shortest known way follow.
Judged: `jsonschema` says that the document is valid, and nothing raises. Counted apart are schemas that are refused,
those of which no end is found from the start, sequences that do not meet the limit within RANDOM_TOKENS, and ways that
are longer than MOST_TOKENS.

In: sequences that met a limit. Out: counts. Cost: 30 ms a sequence.
"""

from __future__ import annotations

import gc
import random
import warnings
from typing import Any

import llmask
from tests.generators.judge import Unjudgeable
from tests.long.corpora import Entry, Masks, real_tokenizer, schemas
from tests.long.harness import Tally
from tests.long.walks import fault, judge_of, may_negate_formats

STEP_WORK = (10, 30, 100, 300)
SCHEMAS_EACH = 5  # of a compiler: what it has built already costs nothing, and no limit is met
RANDOM_TOKENS = 200
MOST_TOKENS = 2000  # of a document


def run(tally: Tally) -> None:
    """Write until so many sequences have met a limit."""
    entries = schemas()
    order = random.Random(f"{tally.seed} order").sample(entries, len(entries))
    tokenizer = real_tokenizer()
    masks = Masks(tokenizer)
    compiler = llmask.Compiler(tokenizer)
    gc.freeze()  # the corpus
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, rng in enumerate(tally.cases()):
                if number % SCHEMAS_EACH == 0:
                    limits = llmask.Limits(max_step_work=rng.choice(STEP_WORK))
                    compiler = llmask.Compiler(tokenizer, limits=limits, cache_bytes=0)
                _write(tally, compiler, masks, order[number % len(order)], rng)
    finally:
        gc.unfreeze()


def _write(tally: Tally, compiler: llmask.Compiler, masks: Masks, entry: Entry, rng: random.Random) -> None:
    """Write one document at random, or as far as its shortest end is."""
    order = rng.choice(["schema", "any"])
    where = f"{entry.id}, order {order}, max_step_work {compiler.limits.max_step_work}"
    try:
        grammar = compiler.json_schema(entry.schema, property_order=order)
    except llmask.LlmaskError as error:
        tally.sums[f"refused: {type(error).__name__}"] += 1
        return
    matcher = grammar.matcher(on_limit="finish")
    try:
        for n in range(MOST_TOKENS):
            if matcher.is_terminated() or (n >= RANDOM_TOKENS and not grammar._loaded.n_finished):
                break
            matcher.accept_token(masks.chosen(masks.read(matcher), rng))
    except Exception as error:
        if isinstance(error, llmask.LimitExceeded) and not _has_known_end(grammar, masks):
            tally.sums["no end is found from the start"] += 1
            return
        tally.done += 1
        tally.fault(f"raises {type(error).__name__}", where, error, matcher.text()[-200:])
        return
    if not grammar._loaded.n_finished:
        tally.sums["did not meet the limit"] += 1
        return
    tally.done += 1
    tally.most("tokens", len(matcher.tokens), where)
    if matcher.is_terminated():
        _judge(tally, entry, matcher.text(), where)
    else:
        tally.sums[f"ways of more than {MOST_TOKENS} tokens"] += 1


def _has_known_end(grammar: Any, masks: Masks) -> bool:
    """Whether a way to the end is found before the first token."""
    try:
        grammar.matcher().finish(masks.bitmask)
    except llmask.LimitExceeded:
        return False
    return True


def _judge(tally: Tally, entry: Entry, document: bytes, where: str) -> None:
    judge: Any = None if may_negate_formats(entry.schema) else judge_of(entry.schema)
    try:
        wrong = None if judge is None else fault(judge, document)
    except Unjudgeable:
        judge = wrong = None
    tally.sums["documents judged" if judge else "documents not judged"] += 1
    if wrong is not None:
        tally.fault(f"a document is {wrong}", where, document)
