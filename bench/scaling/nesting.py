"""Documents nested 1 to 1,000 deep under recursive schemas: time of a token by depth, the first time and again.

Shapes: arrays in arrays, objects in objects (free keys, and a linked list of declared properties), both in turn.

In: effort. Out: a table by shape and depth. Cost: half a minute.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

from bench.scaling.corpus import llama3_encoder
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, feed

DEPTHS = (1, 3, 10, 30, 100, 300, 1_000)
REPEAT = 5  # documents of each depth after the first; each token's fastest counts, since other programs interrupt
SELF = {"$ref": "#"}
ARRAYS = {"anyOf": [{"type": "integer"}, {"type": "array", "items": SELF}]}
MAPS = {"anyOf": [{"type": "integer"}, {"type": "object", "additionalProperties": SELF}]}
LINKS = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "label": {"type": "string"},
        "next": {"anyOf": [SELF, {"type": "null"}]},
    },
    "required": ["value", "label", "next"],
    "additionalProperties": False,
}
BOTH = {
    "anyOf": [
        {"type": "integer"},
        {"type": "array", "items": SELF},
        {"type": "object", "additionalProperties": SELF},
    ]
}
# shape -> schema, what opens a level, the innermost value, what closes a level
SHAPES: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "arrays": (ARRAYS, "[1, ", "2", ", 3]"),
    "bare arrays": (ARRAYS, "[", "2", "]"),
    "maps": (MAPS, '{"a": 1, "b": ', "2", ', "c": 3}'),
    "links": (LINKS, '{"value": 1, "label": "x", "next": ', "null", "}"),
    "both": (BOTH, '{"a": [', "2", ", 3]}"),
}


def measure(side: Side, shape: str, depth: int) -> list[Any]:
    """Mean us a token of the first document and of its repetitions, the slowest token; or the engine's refusal."""
    schema, opening, inner, closing = SHAPES[shape]
    tokens = llama3_encoder()(opening * depth + inner + closing * depth)
    gc.disable()
    try:
        grammar = side.compile(schema)
        first = feed(side, side.start(grammar), tokens).tbm / 1000
        again = np.min([feed(side, side.start(grammar), tokens).tbm / 1000 for _ in range(REPEAT)], axis=0)
    except Refused as error:
        return [f"refused: {str(error)[:50]}", None, None, None]
    finally:
        gc.enable()
    return [float(first.mean()), float(first.max()), float(np.median(again)), float(again.mean())]


def study(effort: float) -> Result:
    sides: list[Side] = [LlmaskSide(), LlguidanceSide()]
    table = Table(
        "documents of some depth, TBM in us",
        ["engine, shape", "depth", "first mean", "first max", "again p50", "again mean"],
    )
    plot = Plot("first", "depth", "us a token, first document", {})
    targets = []
    for shape in SHAPES:
        for depth in DEPTHS:
            if depth > DEPTHS[-1] * effort:
                break
            for side in sides:
                name = f"{side.name}, {shape}"
                figures = measure(side, shape, depth)
                table.rows.append([name, depth, *figures])
                if figures[1] is not None:
                    x, y = plot.lines.setdefault(name, ([], []))
                    x.append(float(depth))
                    y.append(figures[0])
        known = [row[5] for row in table.rows if row[0] == f"llmask, {shape}"]
        shallow, deep = known[min(2, len(known) - 1)], known[-1]
        growth = deep / shallow if deep and shallow else float("inf")
        targets.append(Target(f"{shape}: mean of a known token, deepest / depth 10", growth, 1.1))
    return Result([table], [plot], targets)
