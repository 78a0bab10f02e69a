"""Masks of 1 to 512 sequences at once, on one thread and on two.

Sequences stand at places drawn at random in MaskBench's documents. *Known*: every mask was computed before. *Missing*:
the grammars are compiled anew and led to the same places without masks, so that each mask has to be computed (as far as
two sequences do not share a configuration); the store keeps what it knows of strings and numbers, as in a server.
llguidance computes every mask each time; its sequences take a token before each fill, since it remembers a mask.
It fills through `LLExecutor(num_threads=n)`. Of many fills the fastest counts: on a shared machine the second core is
often somebody else's.

In: effort. Out: a table by batch and threads. Cost: a minute.
"""

from __future__ import annotations

import gc
import random
from typing import Any, NamedTuple

import numpy as np

from bench.data import maskbench_rows
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, clock

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
N_SCHEMAS = 128
THREADS = (1, 2)


class Place(NamedTuple):
    """Where a sequence of the batch stands: a schema's number, tokens so far, and the next."""

    schema: int
    tokens: list[int]
    following: int


def draw_places(sides: tuple[LlmaskSide, LlguidanceSide], n: int) -> tuple[list[Any], list[Place]]:
    """`N_SCHEMAS` schemas that both engines take, and `n` places in their documents."""
    draw = random.Random(4)
    rows, schemas, documents = maskbench_rows(), [], []
    for number in draw.sample(range(len(rows)), len(rows)):
        row = rows[number]
        valid = [instance.token_ids for instance in row.instances if instance.is_valid and len(instance.token_ids) > 30]
        if valid and isinstance(row.schema, dict) and all(_takes(side, row.schema, valid[0]) for side in sides):
            schemas.append(row.schema)
            documents.append(valid[0])
            if len(schemas) == N_SCHEMAS:
                break
    places = []
    for i in range(n):
        number = i % len(schemas)
        tokens = documents[number]
        at = draw.randrange(2, len(tokens) - 1)
        places.append(Place(number, tokens[:at], tokens[at]))
    return schemas, places


def _takes(side: Any, schema: Any, tokens: list[int]) -> bool:
    try:
        sequence = side.start(side.compile(schema))
        for token in tokens:
            side.fill(sequence)
            if not side.is_allowed(token):
                return False
            side.accept(sequence, token)
    except Refused:
        return False
    return True


def llmask_us(
    side: LlmaskSide, schemas: list[Any], places: list[Place], threads: int, repeat: int
) -> tuple[float, float]:
    """Microseconds a mask: known, missing; the fastest of many fills, of a few."""
    import llmask

    mask = llmask.allocate_bitmask(len(places), side.tokenizer.vocab_size)
    missing, known = [], []
    for _ in range(max(repeat // 10, 3)):
        grammars = [side.compile(schema) for schema in schemas]
        matchers = [side.start(grammars[place.schema]) for place in places]
        for matcher, place in zip(matchers, places, strict=True):
            matcher.accept_tokens(place.tokens)
        started = clock()
        llmask.fill_bitmasks(matchers, mask, threads=threads)
        missing.append(clock() - started)
    for _ in range(repeat):
        started = clock()
        llmask.fill_bitmasks(matchers, mask, threads=threads)
        known.append(clock() - started)
    n = len(places) * 1000
    return min(known) / n, min(missing) / n


def llguidance_us(side: LlguidanceSide, schemas: list[Any], places: list[Place], threads: int, repeat: int) -> float:
    """Microseconds a mask, the fastest of some fills of sequences that have just taken a token."""
    import llguidance

    executor = llguidance.LLExecutor(num_threads=threads)
    mask = np.zeros((len(places), side.words.shape[1]), np.int32)
    grammars = [side.compile(schema) for schema in schemas]
    before = []
    for place in places:
        sequence = side.start(grammars[place.schema])
        for token in place.tokens[:-1]:
            side.accept(sequence, token)
        before.append(sequence)
    times = []
    for _ in range(max(repeat // 10, 3)):
        batch = [(side.fork(sequence), i) for i, sequence in enumerate(before)]
        for (sequence, _), place in zip(batch, places, strict=True):
            side.accept(sequence, place.tokens[-1])
        started = clock()
        executor.unsafe_compute_mask_ptr(batch, mask.ctypes.data, mask.shape[1] * 4, len(batch))
        times.append(clock() - started)
    return min(times) / (len(places) * 1000)


def study(effort: float) -> Result:
    sides = (LlmaskSide(), LlguidanceSide())
    sizes = [size for size in SIZES if size <= SIZES[-1] * effort]
    schemas, places = draw_places(sides, sizes[-1])
    table = Table(
        "us a mask",
        ["sequences", "threads", "llmask known", "llmask missing", "llguidance", "known ratio", "missing ratio"],
    )
    plot = Plot("known", "sequences", "us a mask", {})
    found: dict[tuple[int, int], tuple[float, float, float]] = {}
    gc.disable()
    for size in sizes:
        chosen = places[:size]
        for threads in THREADS:
            known, missing = llmask_us(sides[0], schemas[: min(size, N_SCHEMAS)], chosen, threads, 100)
            theirs = llguidance_us(sides[1], schemas[: min(size, N_SCHEMAS)], chosen, threads, 100)
            found[size, threads] = known, missing, theirs
            table.rows.append([size, threads, known, missing, theirs, known / theirs, missing / theirs])
            for name, value in (("llmask known", known), ("llmask missing", missing), ("llguidance", theirs)):
                x, y = plot.lines.setdefault(f"{name}, threads: {threads}", ([], []))
                x.append(float(size))
                y.append(value)
    gc.enable()
    return Result([table], [plot], _targets(found, sizes))


def _targets(found: dict[tuple[int, int], tuple[float, float, float]], sizes: list[int]) -> list[Target]:
    most = sizes[-1]
    one, two = found[most, 1], found[most, 2]
    gains = {size: found[size, 1][0] / found[size, 2][0] for size in sizes}
    worst = min(gains, key=gains.__getitem__)
    return [
        Target(f"one thread / two, known, {most} sequences", one[0] / two[0], 1.7, at_least=True),
        Target(f"the same at its worst, {worst} sequences", gains[worst], 0.9, at_least=True),
        Target(f"known / llguidance's parallel fill, {most} sequences, two threads", two[0] / two[2], 0.5),
        Target(f"missing / llguidance's parallel fill, {most} sequences, two threads", two[1] / two[2], 0.5),
    ]
