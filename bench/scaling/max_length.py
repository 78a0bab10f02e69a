"""Strings with maxLength or minLength of 1 to 10,000: masks along them, and the trie nodes that each mask walks.

Every string has exactly the length that the schema bounds. Each mask of llmask is computed for the
first time, in a store that has met no other schema.

In: effort. Out: a table by shape and length. Cost: a minute.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.scaling.corpus import llama3_encoder
from bench.scaling.drawn import WORDS
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, first_run
from llmask.kernels.tables import store_layout

MOST_P99_US = 1000.0
LENGTHS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000)
SHAPES: dict[str, Callable[[int], dict[str, Any]]] = {
    "maxLength": lambda n: {"type": "string", "maxLength": n},
    "minLength": lambda n: {"type": "string", "minLength": n},
    "both": lambda n: {"type": "string", "minLength": n, "maxLength": n},
    "words, maxLength": lambda n: {"type": "string", "pattern": "^[a-z ]*$", "maxLength": n},
    "capital, maxLength": lambda n: {"type": "string", "pattern": "^[A-Za-z]", "maxLength": n},
    "repeated class": lambda n: {"type": "string", "pattern": f"^[a-z ]{{0,{n}}}$"},
    "non-ASCII, maxLength": lambda n: {"type": "string", "maxLength": n},
}


def text_of_length(n: int, shape: str) -> str:
    """A string of `n` characters that fulfils the shape."""
    draw = random.Random(n)
    words = (
        ["größe", "straße", "жизнь", "слово", "日本語", "中文字", "αλφα", "naïve", "emoji😀"]
        if shape.startswith("non")
        else WORDS
    )
    text = ""
    while len(text) < n:
        text += draw.choice(words) + " "
    return text[:n]


def measure(side: Side, shape: str, n: int) -> list[Any]:
    """p50, p99, max of TBM in us over a string of `n` characters, and the most and mean trie nodes of a mask."""
    schema = SHAPES[shape](n)
    tokens = llama3_encoder()(json.dumps(text_of_length(n, shape), ensure_ascii=False))
    try:
        tbm = first_run(side, schema, tokens).times.tbm / 1000
        walked = nodes_walked(side, schema, tokens) if isinstance(side, LlmaskSide) else [0]
    except Refused as error:
        return [f"refused: {str(error)[:50]}", None, None, None, None]
    p50, p99 = np.percentile(tbm, [50, 99])
    mean = sum(walked) / len(walked) if walked else 0.0
    return [float(p50), float(p99), float(tbm.max()), max(walked, default=0) or None, mean or None]


def nodes_walked(side: LlmaskSide, schema: Any, tokens: list[int]) -> list[int]:
    """Trie nodes walked by each mask that had to be computed, in a store of its own."""
    fresh = side.fresh()
    grammar = fresh.compile(schema)
    slots, sequence, walked = grammar._loaded.store.table.array, fresh.start(grammar), []
    for token in tokens:
        slots[store_layout.STORE.walked] = -1  # stays when the mask is known: nothing is built then
        fresh.fill(sequence)
        if slots[store_layout.STORE.walked] >= 0:
            walked.append(int(slots[store_layout.STORE.walked]))
        fresh.accept(sequence, token)
    return walked


def study(effort: float) -> Result:
    ours_side = LlmaskSide()
    n_trie = len(ours_side.tokenizer._parts.trie.node)
    sides: list[Side] = [ours_side, LlguidanceSide()]
    table = Table(
        "strings of n characters, TBM in us", ["engine, shape", "n", "p50", "p99", "max", "most nodes", "mean nodes"]
    )
    plots = [Plot(name, "characters", f"us, {name} TBM", {}) for name in ("median", "largest")]
    for shape in SHAPES:
        for n in LENGTHS:
            if n > LENGTHS[-1] * effort:
                break
            for side in sides:
                name = f"{side.name}, {shape}"
                figures = measure(side, shape, n)
                table.rows.append([name, n, *figures])
                if figures[1] is not None:
                    for plot, value in zip(plots, (figures[0], figures[2]), strict=True):
                        x, y = plot.lines.setdefault(name, ([], []))
                        x.append(float(n))
                        y.append(value)
    ours = [row for row in table.rows if row[0].startswith("llmask") and row[5] is not None]
    targets = []
    for shape in SHAPES:
        rows = [row for row in ours if row[0] == f"llmask, {shape}"]
        targets.append(
            Target(f"{shape}: most of the trie walked by one mask", max(row[5] for row in rows) / n_trie, 0.75)
        )
        targets.append(Target(f"{shape}: largest p99, us", max(row[3] for row in rows), MOST_P99_US))
    return Result([table], plots, targets)
