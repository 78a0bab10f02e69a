"""Right-recursive lists of 100 to 10,000 elements: time of a token by place, and the parser's rows.

Plain lists, and lists where something that may be empty follows the recursive call (directly, in circles of two rules,
with a parameter of 64 bits): there every element leaves a run open that may still go on. After the elements come some
tails.

In: effort. Out: a table by grammar and length. Cost: a minute.
"""

from __future__ import annotations

import gc
from typing import Any

from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, feed

LENGTHS = (100, 300, 1_000, 3_000, 10_000)
N_TAILS = 30
# grammar, an element, a tail
LISTS = {
    "plain": ('start: list\nlist: "a" list | "a"', b"a", b""),
    "optional tail": ('start: list\nlist: "a" list tail? | "a"\ntail: "!"', b"a", b"!"),
    "empty tail": ('start: list\nlist: "a" list empty | "a"\nempty: ""', b"a", b""),
    "two rules": ('start: x\nx: "a" y "!"? | "a"\ny: "a" x "?"? | "a"', b"a", b"!?"),
    "parameter": ('start: x::0\nx::_ : "a" x::incr(_) | "a"', b"a", b""),
    "parameter, tail": (
        'start: x::0xfffffffffffff000\nx::_ : "a" x::incr(_) tail::_ | "a"\ntail::_ : "!" %if bit_set(63) | ""',
        b"a",
        b"!",
    ),
}


def measure(side: Side, name: str, n: int) -> list[Any]:
    """Mean us a token in the first and in the last tenth of the elements, the slowest token, and the table's rows."""
    text, element, tail = LISTS[name]
    gc.disable()
    try:
        grammar = side.compile_lark(text)
        tokens = [side.token_of(element[i : i + 1]) for i in range(len(element))] * n
        times = feed(side, side.start(grammar), tokens).tbm / 1000
        tails = [side.token_of(tail[i : i + 1]) for i in range(len(tail))] * N_TAILS
        sequence = side.start(grammar)
        for token in tokens:
            side.accept(sequence, token)
        last = feed(side, sequence, tails).tbm / 1000 if tails else None
    except Refused as error:
        return [f"refused: {str(error)[:60]}", None, None, None]
    finally:
        gc.enable()
    tenth = max(n // 10, 1)
    return [
        float(times[:tenth].mean()),
        float(times[-tenth:].mean()),
        float(times.max()),
        None if last is None else float(last.max()),
    ]


def study(effort: float) -> Result:
    sides: list[Side] = [LlmaskSide(), LlguidanceSide()]
    table = Table(
        "right-recursive lists, TBM in us",
        ["engine, grammar", "elements", "first tenth", "last tenth", "max", "max of the tails"],
    )
    plot = Plot("last tenth", "elements", "us a token", {})
    targets = []
    for name in LISTS:
        for n in LENGTHS:
            if n > LENGTHS[-1] * effort:
                break
            for side in sides:
                figures = measure(side, name, n)
                table.rows.append([f"{side.name}, {name}", n, *figures])
                if figures[1] is not None:
                    x, y = plot.lines.setdefault(f"{side.name}, {name}", ([], []))
                    x.append(float(n))
                    y.append(figures[1])
        known = [row[3] for row in table.rows if row[0] == f"llmask, {name}" and row[3] is not None]
        growth = known[-1] / known[min(1, len(known) - 1)] if known else float("inf")
        targets.append(Target(f"{name}: a token at the end of the longest list / of one of 300", growth, 2.0))
    return Result([table], [plot], targets)
