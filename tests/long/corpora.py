"""Where attacks get schemas, grammars and tokenizers from.

MaskBench is read as bench.fetch writes it (or from `LLMASK_SHARED`, `../shared`); where it is absent,
attacks that need it are skipped, the others use the project's own cases and random schemas.

In: the shared folder. Out: schemas with documents, tokenizers. Cost: a second.
"""

from __future__ import annotations

import gzip
import json
import random
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import llmask
from bench.data import LLAMA3_VOCABULARY, MASKBENCH, own_rows
from tests.conftest import tiny_vocabulary
from tests.long.harness import Skipped


class Entry(NamedTuple):
    """A schema of a corpus; of each document whether it is valid, and its data."""

    id: str
    schema: Any
    documents: list[tuple[bool, Any]]


@cache
def maskbench() -> list[Entry]:
    """The shared part of MaskBench.

    Raises
    ------
    Skipped : there is no shared data.
    """
    if not MASKBENCH.exists():
        raise Skipped(f"no shared data at {MASKBENCH}; LLMASK_SHARED names another folder")
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [Entry(row["id"], row["schema"], [(t["valid"], t["data"]) for t in row["tests"]]) for row in rows]


@cache
def schemas() -> list[Entry]:
    """MaskBench, or the project's own cases where it is absent."""
    try:
        return maskbench()
    except Skipped:
        rows = [row for row in own_rows() if row.kind == "schema"]
        return [Entry(row.id, row.schema, [(d.is_valid, d.data) for d in row.instances]) for row in rows]


def real_tokenizer() -> llmask.Tokenizer:
    """Llama 3's, or the one in the package where the shared data is absent."""
    if LLAMA3_VOCABULARY.exists():
        return llmask.Tokenizer.from_gguf(str(LLAMA3_VOCABULARY))
    return llmask.Tokenizer.default()


@cache
def tiny_tokenizer() -> llmask.Tokenizer:
    """About 300 tokens: all bytes, awkward pieces, duplicates, an empty and a special token."""
    tokens, eos, special = tiny_vocabulary()
    return llmask.Tokenizer.from_bytes(tokens, eos=eos, special=special)


class Masks:
    """Masks as arrays of booleans, and random choices among what they allow.

    Parameters
    ----------
    tokenizer : whose tokens the masks are about.
    """

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        self.bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self.n_tokens = tokenizer.vocab_size
        firsts = [tokenizer.token_bytes(token)[:1] for token in range(self.n_tokens)]
        self._first_bytes = np.array([first[0] if first else 256 for first in firsts])

    def read(self, matcher: llmask.Matcher) -> npt.NDArray[np.bool_]:
        """bool[n_tokens]: what may come next."""
        matcher.fill_bitmask(self.bitmask)
        return self.last()

    def last(self) -> npt.NDArray[np.bool_]:
        """The mask that `bitmask` holds."""
        return np.unpackbits(self.bitmask.view(np.uint8), bitorder="little")[: self.n_tokens].astype(np.bool_)

    def chosen(self, allowed: npt.NDArray[np.bool_], rng: random.Random) -> int:
        """An allowed token: any, or one of those that begin with a byte drawn first (else strings never end)."""
        tokens = np.flatnonzero(allowed)
        if rng.random() < 0.7:
            firsts = self._first_bytes[tokens]
            there = np.flatnonzero(np.bincount(firsts))
            tokens = tokens[firsts == there[rng.randrange(len(there))]]
        return int(tokens[rng.randrange(len(tokens))])


def state_of(matcher: llmask.Matcher, masks: Masks) -> tuple[bytes, bytes, bool]:
    """What a matcher shows: its text, its mask, whether it may end."""
    text = matcher.text()
    matcher.fill_bitmask(masks.bitmask)
    return text, masks.bitmask.tobytes(), matcher.is_accepting()
