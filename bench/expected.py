"""The expected digests of masks, and whether an engine's masks have them.

Our own cases have one at every position, a sample of MaskBench at some. They were made by the slow twin
(`bench/make_digests.py`), never by an engine. Positions that an engine does not reach count as different; an engine
that was told one end-of-sequence id only is not blamed for the others.

In: names of a corpus, a vocabulary, a kind of white space; an engine. Out: `Expected`; what differs.
Cost: 50 us a mask.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from bench.data import CASES, MASKBENCH, Row, corpus_rows, maskbench_rows, own_rows
from bench.engines.base import CompileError, Engine
from bench.masks import digest

MAX_SHOWN = 5  # differences kept of one schema


class Expected(NamedTuple):
    """A row with the digests of its masks: for each document, by position; position n is the one after n tokens."""

    row: Row
    masks: list[dict[int, str]]

    @property
    def id(self) -> str:
        return self.row.id


def sample_file(vocabulary_name: str, whitespace: str) -> Path:
    """Digests of the sample of MaskBench; there need not be any."""
    return CASES / "maskbench" / f"{vocabulary_name}-{whitespace}.json"


def expected(corpus: str, whitespace: str, vocabulary_name: str) -> list[Expected]:
    """All rows of a corpus that have digests."""
    if corpus == "own":
        rows = own_rows(whitespace)
        cases = [json.loads((CASES / f"{row.id}.json").read_text(encoding="utf-8")) for row in rows]
        return [
            Expected(row, [dict(enumerate(document["masks"])) for document in case["documents"]])
            for row, case in zip(rows, cases, strict=True)
        ]
    path = sample_file(vocabulary_name, whitespace)
    if not path.exists() or not MASKBENCH.exists():
        return []
    by_id = {row.id: row for row in maskbench_rows(whitespace, vocabulary_name)}
    sample = json.loads(path.read_text(encoding="utf-8"))["schemas"]
    return [
        Expected(by_id[name], [{int(place): text for place, text in masks.items()} for masks in documents])
        for name, documents in sample.items()
        if name in by_id  # upstream may have dropped one
    ]


def verify(engine: Engine, entry: Expected) -> dict[str, Any]:
    """Compare the masks of one schema; positions that the engine does not reach count as different."""
    n_positions = sum(len(masks) for masks in entry.masks)
    result: dict[str, Any] = {"id": entry.row.id, "positions": n_positions, "equal": 0, "differences": []}
    try:
        grammar = engine.compile(entry.row.schema, entry.row.kind)
    except CompileError as error:
        return result | {"verdict": "compile error", "message": str(error)[:500]}
    n_vocab = len(engine.vocabulary.tokens)
    documents = zip(entry.row.instances, entry.masks, strict=False)  # a sample has the first documents only
    all_ends = engine.vocabulary.eos_ids if len(engine.eos_ids) < len(engine.vocabulary.eos_ids) else ()
    for number, (instance, masks) in enumerate(documents):
        sequence = engine.start(grammar)
        for place in range(max(masks, default=-1) + 1):
            engine.fill(sequence)
            if place in masks:
                found = digest(engine.words[0], n_vocab, all_ends)
                result["equal"] += found == masks[place]
                if found != masks[place] and len(result["differences"]) < MAX_SHOWN:
                    result["differences"].append([number, place, masks[place], found])
            if place < len(instance.token_ids):
                token = instance.token_ids[place]
                if not engine.is_allowed(token) or not engine.accept(sequence, token):
                    break
    return result | {"verdict": "equal" if result["equal"] == n_positions else "different"}


def rows_of(task: str, corpus: str, whitespace: str, vocabulary_name: str) -> list[Any]:
    """What the numbers of a job count: the rows to measure, or those that have digests, to verify."""
    if task == "verify":
        return list(expected(corpus, whitespace, vocabulary_name))
    return list(corpus_rows(corpus, whitespace, vocabulary_name))
