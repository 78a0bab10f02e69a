"""One very long document: time and memory of a token as the document grows; forks and rollbacks on the way.

Two documents: an array of small records, and one object with 20,000 free keys. Fifths of the document are compared, so
that whatever depends on the length so far shows. Forks and rollbacks are taken on the llmask sequence at several
lengths; llguidance's counterpart of a fork is `deep_copy`.

In: effort. Out: tables by fifths, forks, rollbacks, bytes a token. Cost: half a minute.
"""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
from typing import Any

import numpy as np

from bench.data import llama3_encode
from bench.scaling.drawn import WORDS
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Side, Times, clock, feed

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
N_TOKENS = 200_000
N_KEYS = 20_000


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


def timed(side: Side, schema: Any, tokens: list[int]) -> Times:
    gc.disable()
    times = feed(side, side.start(side.compile(schema)), tokens)
    gc.enable()
    return times


def bytes_a_token(side: LlmaskSide, tokens: list[int]) -> tuple[float, float]:
    """Bytes a token of a sequence: its own (Python's allocator), and of the grammar's tables and the store."""
    grammar = side.compile(RECORDS)
    feed(side, side.start(grammar), tokens[: len(tokens) // 10])
    gc.collect()
    tables = grammar.bytes_used + grammar.store.bytes_used
    tracemalloc.start()
    sequence = side.start(grammar)
    before = tracemalloc.get_traced_memory()[0]
    for token in tokens:
        side.fill(sequence)
        side.accept(sequence, token)
    own = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return own / len(tokens), (grammar.bytes_used + grammar.store.bytes_used - tables) / len(tokens)


def study(effort: float) -> Result:
    result = Result()
    sides: list[Side] = [LlmaskSide(), LlguidanceSide()]
    n_tokens = int(N_TOKENS * effort)
    encode = llama3_encode()
    documents = {
        "records": (RECORDS, encode(records_text(n_tokens // 40))[:n_tokens]),
        "free keys": (MAP, encode(map_text(int(N_KEYS * effort)))),
    }
    for name, (schema, tokens) in documents.items():
        table = Table(
            f"{name}: {len(tokens):,} tokens, us a token (mask + accept), median and mean by fifths",
            ["engine", *(f"{measure} {i}" for i in range(1, 6) for measure in ("p50", "mean"))],
        )
        plot = Plot(f"{name.replace(' ', '-')}", "fifth of the document", "us a token", {}, log_x=False, log_y=False)
        for side in sides:
            fifths = by_fifths(timed(side, schema, tokens))
            table.rows.append([side.name, *(value for pair in fifths for value in pair)])
            for i, measure in enumerate(("median", "mean")):
                plot.lines[f"{side.name} {measure}"] = ([1, 2, 3, 4, 5], [pair[i] for pair in fifths])
            if side.name == "llmask":
                for i, measure in enumerate(("median", "mean")):
                    result.targets.append(
                        Target(f"{name}: last fifth / first, {measure}", fifths[4][i] / fifths[0][i], 1.1)
                    )
        result.tables.append(table)
        result.plots.append(plot)
    _forks(result, sides, documents["records"][1])
    own, tables = bytes_a_token(sides[0], documents["records"][1])  # type: ignore[arg-type]
    result.tables.append(Table("records: bytes a token", ["of the sequence", "of the tables"], [[own, tables]]))
    result.targets.append(Target("bytes a token", own + tables, 16))
    return result


def _forks(result: Result, sides: list[Side], tokens: list[int]) -> None:
    table = Table("fork, rollback: us, median", ["engine", "tokens", "fork", "rollback(1)", "rollback(10)"])
    plot = Plot("fork", "tokens so far", "us a fork", {})
    for side in sides:
        sequence, n_done = side.start(side.compile(RECORDS)), 0
        lengths, forks = [], []
        for length in (100, 1_000, 1_023, 1_030, 10_000, 100_000, 199_990):
            if length > len(tokens) - 1:
                break
            for token in tokens[n_done:length]:
                side.accept(sequence, token)
            n_done = length
            fork = _fork_us(side, sequence)
            back = [_rollback_us(side, sequence, tokens[length - n : length]) for n in (1, 10)]
            table.rows.append([side.name, length, fork, *back])
            lengths.append(float(length))
            forks.append(fork)
        plot.lines[side.name] = (lengths, forks)
        if side.name == "llmask":
            ours = [row for row in table.rows if row[0] == side.name]
            result.targets.append(Target("longest fork, us", max(row[2] for row in ours), 10))
            result.targets.append(Target("longest rollback(1), us", max(row[3] for row in ours), 2))
            result.targets.append(Target("longest rollback(10), us", max(row[4] for row in ours), 2))
    result.tables.append(table)
    result.plots.append(plot)


def _fork_us(side: Side, sequence: Any, repeat: int = 200) -> float:
    times = []
    for _ in range(repeat):
        started = clock()
        side.fork(sequence)
        times.append(clock() - started)
    return float(np.median(times)) / 1000


def _rollback_us(side: Side, sequence: Any, last: list[int], repeat: int = 200) -> float:
    times = []
    for _ in range(repeat):
        started = clock()
        side.rollback(sequence, len(last))
        times.append(clock() - started)
        for token in last:
            side.accept(sequence, token)
    return float(np.median(times)) / 1000
