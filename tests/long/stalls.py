"""Stalls: every compile, every step and every long text ends in time.

MaskBench's schemas in either order of keys: the processor time of each compile and of each step of a random walk.
Whatever is slow is named in the summary. A walk that ends in an error or without a token is a fault. Each hundredth
case has a long text besides, sometimes with one wrong byte: given at once it is accepted where its tokens are.

In: schemas. Out: counts, times. Cost: 50 ms a compile with its walk, a second a long text.
"""

from __future__ import annotations

import json
import random
import time
from typing import Any

import llmask
from tests.long.corpora import Masks, real_tokenizer, schemas
from tests.long.harness import Tally
from tests.long.kinds import at_length
from tests.long.subject import accepts

WALKED = 40  # tokens of each grammar
SLOW_COMPILE_MS, SLOW_STEP_MS = 600, 20
LONG_EACH, LEAST_CHARACTERS, MOST_CHARACTERS = 100, 100_000, 800_000
UNITS = [*"abcxyz0123-_/äöü日本 ", "\\n", "\\u00e9"]  # of JSON strings


def run(tally: Tally) -> None:
    """Compile and walk until `tally.size` grammars are asked for."""
    tokenizer = real_tokenizer()
    compiler, masks = llmask.Compiler(tokenizer), Masks(tokenizer)
    found = [(entry, order) for entry in schemas() for order in ("schema", "any")]
    random.Random(tally.seed).shuffle(found)
    for rng in tally.cases():
        entry, order = found[tally.done % len(found)]
        name = f"{entry.id}, {order} order"
        started = time.process_time()
        try:
            grammar = compiler.json_schema(entry.schema, property_order=order)
        except llmask.LlmaskError as error:
            _timed(tally, "refusal", SLOW_COMPILE_MS, started, f"{name}: {error}")
            tally.sums[f"refused: {type(error).__name__}"] += 1
        else:
            _timed(tally, "compile", SLOW_COMPILE_MS, started, name)
            _walk(tally, grammar, masks, rng, name)
        if tally.done % LONG_EACH == 0:
            _read_long(tally, compiler, rng)
        tally.done += 1


def _timed(tally: Tally, what: str, bound_ms: float, started: float, name: str) -> None:
    """Note a time, and by name one above the bound."""
    ms = 1000 * (time.process_time() - started)
    tally.most(f"{what}, ms", ms, name)
    if ms > bound_ms:
        tally.sums[f"{what} above {bound_ms} ms"] += 1
        tally.most(f"{what}, ms: {name[:100]}", ms, name)


def _walk(tally: Tally, grammar: llmask.CompiledGrammar, masks: Masks, rng: random.Random, name: str) -> None:
    """Documents of random tokens, until WALKED are written."""
    matcher, left = grammar.matcher(), WALKED
    while left:
        started = time.process_time()
        try:
            matcher.fill_bitmask(masks.bitmask)
            _timed(tally, "mask", SLOW_STEP_MS, started, name)
            allowed = masks.last()
            token = masks.chosen(allowed, rng) if allowed.any() else None
            started = time.process_time()
            if token is None or not matcher.accept(token):
                return tally.fault("dead end", name, matcher.text())
        except llmask.LlmaskError as error:
            return tally.fault("error in a document", name, matcher.text(), error)
        _timed(tally, "step", SLOW_STEP_MS, started, name)
        left -= 1
        tally.sums["tokens"] += 1
        if matcher.is_terminated():
            tally.sums["documents"] += 1
            matcher = grammar.matcher()
    return None


def _strings(rng: random.Random, size: int) -> tuple[Any, str]:
    longest = max(rng.choice((100, 25_000, size)), 2)
    units = rng.choices(UNITS, k=size)
    texts = ["".join(units[i : i + longest]) for i in range(0, size, longest)]
    return {"items": {"type": "string", "maxLength": longest}}, "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def _read_long(tally: Tally, compiler: llmask.Compiler, rng: random.Random) -> None:
    """One text, at once and token by token."""
    size = rng.randint(LEAST_CHARACTERS, MOST_CHARACTERS)
    others = [(schema, json.dumps(document)) for _, schema, document, _ in at_length(size // 1000)]
    schema, text = rng.choice([_strings(rng, size), *others])
    if rng.random() < 0.5:
        place = rng.randrange(len(text))
        text = text[:place] + rng.choice('"x,1\\') + text[place + 1 :]
    grammar = compiler.json_schema(schema)
    tokens = compiler.tokenizer.encode(text)
    matcher = grammar.matcher()
    is_valid = all(map(matcher.accept, tokens)) and matcher.is_accepting()
    started = time.process_time()
    is_accepted = accepts(grammar.matcher(), text)
    tally.most("long text at once, s", time.process_time() - started, f"{len(text)} characters")
    tally.sums[f"long texts, {'valid' if is_valid else 'invalid'}"] += 1
    if is_accepted != is_valid:
        tally.fault("a long text given at once", schema, len(text), f"tokens: {is_valid}, at once: {is_accepted}")
