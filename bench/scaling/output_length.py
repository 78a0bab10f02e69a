"""One very long document: time and memory of a token as the document grows.

Fifths of the document are compared, so that whatever depends on the length so far shows. Documents: an array of small
records, an object with 20,000 free keys, and two in which something is counted (every item and every character is a
new state of the grammar): an array with maxItems and a string with maxLength.

In: effort. Out: a table by document and fifth, bytes a token. Cost: a minute.
"""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
from typing import Any

import numpy as np

from bench.scaling.corpus import WORDS, llama3_encoder
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Times, feed, first_run

RECORDS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "email": {"type": "string", "pattern": "^[a-z]+@[a-z]+\\.com$"},
            "price": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["order", "refund", "note"]},
            "active": {"type": "boolean"},
        },
        "required": ["id", "name", "email", "price", "tags", "kind", "active"],
        "additionalProperties": False,
    },
}
MAP = {"type": "object", "additionalProperties": {"type": "integer"}}
COUNTED = {"type": "array", "items": {"type": "integer"}, "maxItems": 100_000}
LONG_STRING = {"type": "string", "maxLength": 100_000}
N_TOKENS = 200_000
N_KEYS = 20_000
N_COUNTED_TOKENS = 60_000
N_STRING_TOKENS = 10_000
FREE = ("records", "free keys")  # documents in which nothing is counted: time has to stay, tables may not grow


def records_text(n_records: int, seed: int = 1) -> str:
    """An array of records of words and numbers drawn at random."""
    random_ = random.Random(seed)
    return json.dumps(
        [
            {
                "id": random_.randrange(10**6),
                "name": " ".join(random_.choices(WORDS, k=random_.randint(1, 6))),
                "email": f"{random_.choice(WORDS)}@{random_.choice(WORDS)}.com",
                "price": round(random_.uniform(0, 1000), 2),
                "tags": random_.choices(WORDS, k=random_.randint(0, 4)),
                "kind": random_.choice(["order", "refund", "note"]),
                "active": random_.random() < 0.5,
            }
            for _ in range(n_records)
        ]
    )


def map_text(n_keys: int, seed: int = 1) -> str:
    """An object of distinct keys of words and a number."""
    random_ = random.Random(seed)
    return json.dumps(
        {f"{random_.choice(WORDS)}_{random_.choice(WORDS)}_{i}": random_.randrange(1000) for i in range(n_keys)}
    )


def by_fifths(times: Times) -> list[tuple[float, float]]:
    """(median, mean) microseconds of a token in each fifth."""
    return [(float(np.median(part)) / 1000, float(part.mean()) / 1000) for part in np.array_split(times.tbm, 5)]


def documents(effort: float) -> dict[str, tuple[Any, list[int]]]:
    """(schema, tokens) by name."""
    encode, draw = llama3_encoder(), random.Random(2)
    n_records, n_counted = int(N_TOKENS * effort) // 40, int(N_COUNTED_TOKENS * effort)
    numbers = json.dumps([draw.randrange(1000) for _ in range(n_counted)])
    text = json.dumps(" ".join(draw.choices(WORDS, k=N_STRING_TOKENS)))
    return {
        "records": (RECORDS, encode(records_text(n_records))[: int(N_TOKENS * effort)]),
        "free keys": (MAP, encode(map_text(int(N_KEYS * effort)))),
        "maxItems": (COUNTED, encode(numbers)[:n_counted]),
        "maxLength": (LONG_STRING, encode(text)[: int(N_STRING_TOKENS * effort)]),
    }


def history_bytes(side: LlmaskSide, tokens: list[int]) -> float:
    """Bytes a token of the sequence itself, by Python's allocator, when all masks are known."""
    grammar = side.compile(RECORDS)
    feed(side, side.start(grammar), tokens)
    gc.collect()
    tracemalloc.start()
    sequence = side.start(grammar)
    before = tracemalloc.get_traced_memory()[0]
    for token in tokens:
        side.accept(sequence, token)
    own = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return own / len(tokens)


def study(effort: float) -> Result:
    result = Result()
    ours, theirs = LlmaskSide(), LlguidanceSide()
    fifths_of: dict[str, list[tuple[float, float]]] = {}
    all_documents = documents(effort)
    for name, (schema, tokens) in all_documents.items():
        columns = [f"{measure} {i}" for i in range(1, 6) for measure in ("p50", "mean")]
        table = Table(f"{name}: {len(tokens):,} tokens, TBM in us by fifths", ["engine", *columns, "bytes a token"])
        plot = Plot(name.replace(" ", "-"), "fifth of the document", "us a token", {}, log_x=False, log_y=False)
        for side in (ours, theirs):
            try:
                run = first_run(side, schema, tokens)
            except Refused as error:
                table.rows.append([f"{side.name}: {str(error)[:50]}", *[None] * 11])
                continue
            fifths = by_fifths(run.times)
            grown = None if run.grown_bytes is None else run.grown_bytes / (0.9 * len(tokens))
            table.rows.append([side.name, *(value for pair in fifths for value in pair), grown])
            for i, measure in enumerate(("median", "mean")):
                plot.lines[f"{side.name} {measure}"] = ([1, 2, 3, 4, 5], [pair[i] for pair in fifths])
            if side is ours:
                fifths_of[name] = fifths
                if name in FREE:
                    result.targets.append(Target(f"{name}: bytes a token, tables", grown or 0.0, 16))
        result.tables.append(table)
        result.plots.append(plot)
    for name, fifths in fifths_of.items():
        for i, measure in enumerate(("median", "mean")):
            result.targets.append(Target(f"{name}: last fifth / first, {measure}", fifths[4][i] / fifths[0][i], 1.1))
    own = history_bytes(ours, all_documents["records"][1])
    result.targets.append(Target("records: bytes a token, of the sequence", own, 16))
    return result
