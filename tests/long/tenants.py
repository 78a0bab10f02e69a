"""Memory while tenants come and go, each with a compiler, schemas and sequences of its own.

TENANTS_ALIVE tenants share a tokenizer. Each compiles variations of schemas of the corpus (or random ones) that nobody
else has, writes some sequences, and leaves when it is the oldest.
Resident memory is noted twenty times: its median over the last fifth is at most GROWTH times that over the second (the
first pays for what a process has once; the most of a fifth is that of its dearest schema). When all have left, no store
is alive.

In: tenants. Out: resident memory by tenants so far. Cost: 0.4 s a tenant.
"""

from __future__ import annotations

import gc
import random
from collections import deque
from statistics import median
from typing import Any

import llmask
from bench.scaling.resident import resident_mib
from tests.generators.schemas import random_schema
from tests.long.corpora import Masks, schemas
from tests.long.harness import Tally

TENANTS_ALIVE = 6
SCHEMAS, SEQUENCES, TOKENS = 8, 2, 40  # of a tenant, of a schema, of a sequence
GROWTH = 1.1
LEAST_JUDGED = 100  # tenants: fewer say nothing of growth
NOTES = 20
BOUNDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")


def variation(schema: Any, draw: random.Random, names: dict[str, str]) -> Any:
    """A schema of the same shape with other names of properties and other bounds."""
    if isinstance(schema, list):
        return [variation(item, draw, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            for name in value:
                names.setdefault(name, f"{name}_{draw.randrange(10**6)}")
            made[key] = {names[name]: variation(inner, draw, names) for name, inner in value.items()}
        elif key == "required" and isinstance(value, list):
            for name in value:
                names.setdefault(name, f"{name}_{draw.randrange(10**6)}")
            made[key] = [names[name] for name in value]
        elif key in BOUNDS and type(value) is int:
            made[key] = value + draw.randint(0, 50) if key.startswith("max") else max(0, value - draw.randint(0, 1))
        elif key in ("const", "enum", "default", "examples"):
            made[key] = value
        else:
            made[key] = variation(value, draw, names)
    return made


def run(tally: Tally) -> None:
    """Let so many tenants come and go."""
    tokenizer = llmask.Tokenizer.default()
    masks, entries = Masks(tokenizer), schemas()
    gc.collect()
    others = len(tokenizer._parts.stores)  # stores of whoever else uses this tokenizer
    alive: deque[Any] = deque(maxlen=TENANTS_ALIVE)
    every = max(1, tally.size // NOTES)
    for rng in tally.cases():
        alive.append(_tenant(tally, tokenizer, masks, entries, rng))
        tally.done += 1
        if tally.done % every == 0:
            row = {"tenants": tally.done, "resident MiB": round(resident_mib(), 1),
                   "stores": len(tokenizer._parts.stores),
                   "store MiB": round(tokenizer.store_bytes / 2**20, 1)}  # fmt: skip
            tally.rows.append(row)
            tally.most("resident MiB", row["resident MiB"], row)
    alive.clear()
    gc.collect()
    if len(tokenizer._parts.stores) > others:
        tally.fault("stores outlive their tenants", f"{len(tokenizer._parts.stores)} alive, {others} before")
    resident = [row["resident MiB"] for row in tally.rows]
    fifth = len(resident) // 5
    if tally.done >= LEAST_JUDGED and median(resident[-fifth:]) > GROWTH * median(resident[fifth : 2 * fifth]):
        tally.fault("memory grows", resident)


def _tenant(
    tally: Tally, tokenizer: llmask.Tokenizer, masks: Masks, entries: list[Any], rng: random.Random
) -> tuple[Any, list[Any]]:
    """A compiler and the matchers that its tenant keeps until it leaves."""
    compiler = llmask.Compiler(tokenizer)
    kept = []
    for _ in range(SCHEMAS):
        base = rng.choice(entries).schema if rng.random() < 0.7 else random_schema(rng)
        try:
            grammar = compiler.json_schema(variation(base, rng, {}))
            for _ in range(SEQUENCES):
                matcher = grammar.matcher()
                for _ in range(TOKENS):
                    matcher.accept_token(masks.chosen(masks.read(matcher), rng))
                    tally.sums["tokens"] += 1
                    if matcher.is_terminated():
                        break
                kept.append(matcher)
            tally.sums["grammars"] += 1
        except llmask.LlmaskError as error:
            tally.sums[f"refused: {type(error).__name__}"] += 1
        except Exception as error:
            tally.fault(f"raises {type(error).__name__}", base, error)
    return compiler, kept
