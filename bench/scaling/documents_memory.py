"""Memory while up to a million distinct deep documents go through one compiled grammar.

Documents are drawn with a fixed seed under a recursive schema: values nested at random, up to 40 deep, with numbers,
words and names that hardly repeat. They are given as tokens; a document is put together from pieces whose tokens were
found once, so that drawing costs less than matching. A mask is filled before every fourth token.

In: effort. Out: a table by number of documents. Cost: half an hour at effort 1.
"""

from __future__ import annotations

import random
from typing import Any

from bench.scaling.corpus import WORDS, llama3_encoder
from bench.scaling.resident import MIB, alone, resident_mib
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, clock

N_DOCUMENTS = 1_000_000
N_POINTS = 40
FEWER = 10  # llguidance, which keeps nothing of a document, is given so many times fewer
COLUMNS = ["engine", "documents", "resident", "grammar", "store", "tokens", "us a token"]
SELF = {"$ref": "#/$defs/value"}
SCHEMA = {
    "$defs": {
        "value": {
            "anyOf": [
                {"type": ["integer", "string", "null"]},
                {"type": "array", "items": SELF},
                {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "kind": {"enum": ["a", "b"]},
                        "child": SELF,
                        "children": {"type": "array", "items": SELF, "maxItems": 50},
                    },
                    "required": ["name"],
                    "additionalProperties": SELF,
                },
            ]
        }
    },
    "$ref": "#/$defs/value",
}
MAX_DEPTH = 40


class DocumentMaker:
    """Draws documents as token ids."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        encode = llama3_encoder()
        self.words = [encode(word) + encode(" " + other) for word, other in zip(WORDS, reversed(WORDS), strict=True)]
        self.numbers = [encode(str(number)) for number in range(1000)]
        self.piece: dict[str, list[int]] = {
            text: encode(text)
            for text in (
                '"',
                '"}',
                "[",
                "]",
                ", ",
                "null",
                '{"',
                '": ',
                '", "',
                '{"name": "',
                '", "kind": "a"',
                ', "child": ',
                '", "child": ',
                '", "children": [',
                "}",
                "]}",
            )
        }

    def document(self) -> list[int]:
        """One document; the way down is long, most branches are short."""
        made: list[int] = []
        self._value(made, self.random.randint(3, MAX_DEPTH))
        return made

    def _value(self, made: list[int], depth: int) -> None:
        draw, piece = self.random, self.piece
        kind = draw.randrange(4) if depth > 0 else draw.randrange(4, 7)
        if kind == 0:
            made += piece["["]
            for _ in range(draw.randrange(3)):
                self._value(made, 0)
                made += piece[", "]
            self._value(made, depth - 1)
            made += piece["]"]
        elif kind == 1:
            made += piece['{"name": "'] + draw.choice(self.words) + piece['", "child": ']
            self._value(made, depth - 1)
            made += piece["}"]
        elif kind == 2:
            made += piece['{"name": "'] + draw.choice(self.words) + piece['", "children": [']
            for _ in range(draw.randrange(3)):
                self._value(made, 0)
                made += piece[", "]
            self._value(made, depth - 1)
            made += piece["]}"]
        elif kind == 3:
            made += (
                piece['{"name": "'] + draw.choice(self.words) + piece['", "'] + draw.choice(self.words) + piece['": ']
            )
            self._value(made, depth - 1)
            made += piece["}"]
        elif kind == 4:
            made += draw.choice(self.numbers)
        elif kind == 5:
            made += piece['"'] + draw.choice(self.words) + piece['"']
        else:
            made += piece["null"]


def many(engine: str, n: int) -> tuple[list[list[Any]], str]:
    """Rows of the table, and the message of the limit that ended it early, or nothing."""
    side: Side = LlmaskSide() if engine == "llmask" else LlguidanceSide()
    grammar = side.compile(SCHEMA)
    maker = DocumentMaker(9)
    rows: list[list[Any]] = []
    n_tokens = n_since = busy_ns = 0
    every = max(n // N_POINTS, 1)

    def note(n_documents: int) -> None:
        us = busy_ns / 1000 / max(n_tokens - n_since, 1)
        tables: list[float | None] = [None, None]
        if engine == "llmask":
            tables = [grammar.bytes_used / MIB, grammar._loaded.store.bytes_used / MIB]
        rows.append([engine, n_documents, resident_mib(), *tables, n_tokens, us])

    for i in range(n):
        if i % every == 0:
            note(i)
            busy_ns, n_since = 0, n_tokens
        tokens = maker.document()
        started = clock()
        try:
            sequence = side.start(grammar)
            for place, token in enumerate(tokens):
                if place % 4 == 0:
                    side.fill(sequence)
                side.accept(sequence, token)
        except Refused as error:
            note(i)
            return rows, str(error)
        busy_ns += clock() - started
        n_tokens += len(tokens)
    note(n)
    return rows, ""


def study(effort: float) -> Result:
    n = max(int(N_DOCUMENTS * effort), 100)
    table = Table("MiB after n documents through one grammar", COLUMNS)
    plot = Plot("resident", "documents", "MiB", {}, log_x=False, log_y=False)
    for engine, n_documents in (("llmask", n), ("llguidance", n // FEWER)):
        rows, ending = alone(many, engine, n_documents)
        table.rows += rows
        if ending:
            table.title += f"; {engine} ended early: {ending.splitlines()[0]}"
        x = [float(row[1]) for row in rows]
        plot.lines |= {f"{engine} {COLUMNS[i]}": (x, [row[i] for row in rows]) for i in (2, 3, 4) if rows[0][i]}
    ours = [row for row in table.rows if row[0] == "llmask"]
    # renewed tables make a saw-tooth: the highest tooth counts, not the place in it where a tenth is reached
    first, later = ([row[2] for row in ours if (row[1] > n / 10) is after] for after in (False, True))
    growth = max(later) / max(first) if later else float("inf")
    targets = [
        Target("documents until the end", ours[-1][1], n, at_least=True),
        Target("most resident after the first tenth / most until then", growth, 1.1),
    ]
    return Result([table], [plot], targets)
