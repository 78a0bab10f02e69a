"""What `CompiledGrammar.warm` knows of a document before it is read: `python -m bench.warmth --limit 300`.

Each schema is compiled and warmed for some time, and its first valid document is read. A step is known where its mask
is there before it is asked for. Documents are written in one line, as MaskBench has them, and line by line; each way
has a store and grammars of its own. A grammar's memory is its share of `cache_bytes` once its document is read.

In: command line. Out: a table in Markdown. Cost: a minute for 300 schemas.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from typing import NamedTuple

import numpy as np

from bench.data import Row, chosen_numbers, corpus_rows
from bench.vocabularies import SOURCES
from llmask import Compiler, Limits, LlmaskError, Tokenizer, allocate_bitmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.matching.ahead import is_missing

DOCUMENTS = "documents"
SECONDS = (0, DOCUMENTS, 0.005, 0.02, 0.1, 0.25, 1)
INDENTS = (None, 2)


class Reading(NamedTuple):
    """One schema: milliseconds of compiling and warming, masks built, share explored, steps read and those known."""

    ms: float
    n_masks: int
    explored: float
    n_steps: int
    n_known: int


def known_steps(grammar: CompiledGrammar, ids: list[int]) -> tuple[int, int]:
    """Steps of a document as far as it is accepted, and how many of their masks were there before."""
    matcher = grammar.matcher()
    bitmask = allocate_bitmask(1, grammar.tokenizer.vocab_size)
    n_known = 0
    for number, token in enumerate(ids):
        if is_missing(matcher._sequence):
            matcher.fill_bitmask(bitmask)
        else:
            n_known += 1
        try:
            matcher.accept_token(token)
        except LlmaskError:  # other keys' order, mostly
            return number + 1, n_known
    return max(len(ids), 1), n_known


def read(rows: list[Row], tokenizer: Tokenizer, seconds: float | str, indent: int | None) -> tuple[list[Reading], int]:
    """Warm every schema for so long and read its first valid document; and the bytes that all grammars hold then."""
    compiler = Compiler(tokenizer, Limits(renew_store_bytes=2**40), cache_bytes=2**40)
    found = []
    for row in rows:
        documents = [instance.data for instance in row.instances if instance.is_valid]
        if row.kind != "schema" or not documents:
            continue
        started = time.perf_counter()
        try:
            grammar = compiler.json_schema(row.schema)
        except LlmaskError:
            continue
        done = grammar.warm(seconds) if seconds else None
        ms = (time.perf_counter() - started) * 1000
        n_steps, n_known = known_steps(
            grammar, tokenizer.encode(json.dumps(documents[0], ensure_ascii=False, indent=indent))
        )
        found.append(Reading(ms, *((done.n_masks, done.explored) if done else (0, 0.0)), n_steps, n_known))
    return found, compiler.statistics()["cache_bytes"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=300, help="so many schemas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds", default=",".join(map(str, SECONDS)), help="comma-separated: how long to warm, or documents"
    )
    parser.add_argument("--vocabulary", choices=list(SOURCES), default="llama3")
    options = parser.parse_args()
    rows = corpus_rows("maskbench", "flexible", options.vocabulary)
    rows = [rows[number] for number in chosen_numbers(rows, limit=options.limit, seed=options.seed)]
    tokenizer = Tokenizer.from_gguf(str(SOURCES[options.vocabulary].path))
    gc.collect()
    gc.freeze()  # what all of MaskBench holds would be gone through while grammars are warmed, a third of a second
    print(
        "| warmed for at most, ms | compiling and warming, ms: mean / p50 / p99 | masks | explored "
        "| a grammar and its document, KiB | known in one line: of all steps, of a document's | ... line by line |"
    )
    print(f"|---:|{'---:|' * 6}")
    for given in options.seconds.split(","):
        seconds = given if given == DOCUMENTS else float(given)
        (line, n_bytes), (lines, _) = (read(rows, tokenizer, seconds, indent) for indent in INDENTS)
        ms = np.array([one.ms for one in line])
        known = (
            f"{sum(one.n_known for one in each) / sum(one.n_steps for one in each):.1%}, "
            f"{np.mean([one.n_known / one.n_steps for one in each]):.1%}"
            for each in (line, lines)
        )
        label = given if given == DOCUMENTS else f"{float(given) * 1000:,.0f}"
        masks, explored = (np.mean([one[field] for one in line]) for field in (1, 2))
        print(
            f"| {label} | {ms.mean():.1f} / {np.median(ms):.1f} / {np.percentile(ms, 99):.0f} "
            f"| {masks:,.0f} | {explored:.1%} | {n_bytes / 1024 / len(line):,.0f} | {' | '.join(known)} |"
        )


if __name__ == "__main__":
    main()
