"""Enums of 10 to 50,000 strings: time to compile and masks along documents, for strings of several shapes.

The document is an array of members of the enum; a second schema has the enum as one property among others.

In: effort. Out: a table by shape and size. Cost: half a minute.
"""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from bench.scaling.corpus import llama3_encoder
from bench.scaling.drawn import WORDS
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, first_run

SIZES = (10, 100, 1_000, 10_000, 50_000)
SHAPES = ("letters", "prefix", "urls", "numbers", "non-ascii", "sentences")
N_DOCUMENT_TOKENS = 5_000
MOST_P99_US, MOST_US = 250.0, 10_000.0  # "normal": MaskBench's p99.9, and a fifth of a slow model's step
ALPHABET = "äöüßéèñçřşжзийклмнопрстαβγδεζη日本語中文字漢東京"


def members(shape: str, n: int, seed: int = 3) -> list[str]:
    """`n` distinct strings of a shape."""
    draw = random.Random(f"{shape} {n} {seed}")
    found: dict[str, None] = {}
    while len(found) < n:
        i = len(found)
        if shape == "letters":
            text = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 12)))
        elif shape == "prefix":
            text = f"urn:company:catalogue:item:{draw.randrange(10**9)}"
        elif shape == "urls":
            text = f"https://{draw.choice(WORDS)}.example.com/{draw.choice(WORDS)}/{draw.choice(WORDS)}?id={i}"
        elif shape == "numbers":
            text = str(draw.randrange(10**9))
        elif shape == "non-ascii":
            text = "".join(draw.choices(ALPHABET, k=draw.randint(3, 10)))
        else:
            text = " ".join(draw.choices(WORDS, k=draw.randint(4, 10)))
        found[text] = None
    return list(found)


def measure(side: Side, texts: list[str]) -> list[Any]:
    """Milliseconds to the first mask inside the enum, then p50, p99, max of TBM; or the engine's refusal."""
    schema = {"type": "array", "items": {"enum": texts}}
    draw, encode = random.Random(5), llama3_encoder()
    tokens: list[int] = []
    while len(tokens) < N_DOCUMENT_TOKENS:
        text = json.dumps(draw.choices(texts, k=50), ensure_ascii=False)[1:-1]
        tokens += encode((", " if tokens else "[") + text)
    try:
        run = first_run(side, schema, tokens)
    except Refused as error:
        return [f"refused: {str(error)[:50]}", None, None, None, None]
    tbm = run.times.tbm / 1000
    p50, p99 = np.percentile(tbm, [50, 99])
    return [run.compile_ns / 1e6, run.first_masks_ms(2), float(p50), float(p99), float(tbm.max())]


def study(effort: float) -> Result:
    sides: list[Side] = [LlmaskSide(), LlguidanceSide()]
    table = Table(
        "enum of n strings; ms to compile, to the first mask in the enum; TBM in us",
        ["engine, shape", "strings", "compile ms", "first ms", "p50", "p99", "max"],
    )
    plot = Plot("compile", "strings of the enum", "ms to the first mask", {})
    for shape in SHAPES:
        for n in SIZES:
            if n > SIZES[-1] * effort:
                break
            for side in sides:
                name = f"{side.name}, {shape}"
                figures = measure(side, members(shape, n))
                table.rows.append([name, n, *figures])
                if figures[1] is not None:
                    x, y = plot.lines.setdefault(name, ([], []))
                    x.append(float(n))
                    y.append(figures[1])
    largest = max(row[1] for row in table.rows)
    ours = [row for row in table.rows if row[0].startswith("llmask") and row[1] == largest]
    bounds = {3: ("first mask, ms", 1000.0), 5: ("p99, us", MOST_P99_US), 6: ("mask of all, us", MOST_US)}
    targets = [
        Target(f"slowest {what}, {largest:,} strings", max(row[i] or float("inf") for row in ours), bound)
        for i, (what, bound) in bounds.items()
    ]
    return Result([table], [plot], targets)
