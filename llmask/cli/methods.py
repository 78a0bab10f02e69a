"""How the methods of a tokenizer compare on a text: tokens, words that come out otherwise, speed.

A *word* reaches from the white space before it to its last character. It differs when one of its exact tokens is
missing in the other encoding at that place. Both are compared by what their tokens spell; where that is not the same
text, the column is empty.

In: a tokenizer, a text. Out: one row a method. Cost: every method encodes the text at least twice.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from llmask import Tokenizer

METHODS = ("exact", "greedy", "minimal", "table", "heap", "dropout")
ENOUGH_SECONDS = 0.3  # a method is timed until so much has passed
SPACES = b" \t\n\r\x0b\x0c"


class Row(NamedTuple):
    """One method's result.

    method          as `Tokenizer.encode` names it
    n_tokens        of the text
    more_tokens     share of exact's tokens that it needs more
    words_differing share of the words whose tokens are not the exact ones; None: cannot be said
    mb_per_second   of text, one thread, processor time
    """

    method: str
    n_tokens: int
    more_tokens: float
    words_differing: float | None
    mb_per_second: float


def compare(tokenizer: Tokenizer, text: str) -> list[Row]:
    """One row for each method that the vocabulary has.

    Raises
    ------
    VocabularyError : as `Tokenizer.encode`.
    """
    exact: list[int] = []
    rows = []
    for method in methods_of(tokenizer):
        ids = tokenizer.encode(text, method=method)
        exact = exact or ids
        rate = len(text.encode()) / least_seconds(tokenizer, text, method) / 1e6
        more = len(ids) / len(exact) - 1 if exact else 0.0
        rows.append(Row(method, len(ids), more, words_differing(tokenizer, exact, ids), rate))
    return rows


def methods_of(tokenizer: Tokenizer) -> list[str]:
    """The methods that a vocabulary has."""
    from llmask.errors import VocabularyError

    found = []
    for method in METHODS:
        try:
            tokenizer.encode("", method=method)
        except VocabularyError:
            continue
        found.append(method)
    return found


def least_seconds(tokenizer: Tokenizer, text: str, method: str) -> float:
    """Least processor time of some runs."""
    least, started = float("inf"), time.perf_counter()
    while time.perf_counter() - started < ENOUGH_SECONDS:
        before = time.thread_time()
        tokenizer.encode(text, method=method)
        least = min(least, time.thread_time() - before)
    return max(least, 1e-9)


def words_differing(tokenizer: Tokenizer, exact: list[int], other: list[int]) -> float | None:
    """Share of the words whose exact tokens are not all in the other encoding; None where they spell another text."""
    if exact == other:
        return 0.0
    spelled = tokenizer.decode_bytes(exact)
    if spelled != tokenizer.decode_bytes(other):
        return None
    offsets = tokenizer._parts.token_offsets
    lengths = np.diff(offsets)
    ours, theirs = np.array(exact, np.int64), np.array(other, np.int64)
    our_starts, their_starts = (np.cumsum(lengths[ids]) - lengths[ids] for ids in (ours, theirs))
    size = len(lengths)
    is_missing = ~np.isin(our_starts.astype(np.int64) * size + ours, their_starts.astype(np.int64) * size + theirs)
    is_space = np.isin(np.frombuffer(spelled, np.uint8), np.frombuffer(SPACES, np.uint8))
    # white space belongs to the word behind it
    begins = np.append(True, is_space[1:] & ~is_space[:-1])[: len(is_space)]
    word_of = np.cumsum(begins) - 1
    changes = np.zeros(len(spelled) + 1, np.int64)
    np.add.at(changes, our_starts[is_missing], 1)
    np.add.at(changes, our_starts[is_missing] + lengths[ours[is_missing]], -1)
    is_changed = np.cumsum(changes[:-1]) > 0
    return len(np.unique(word_of[is_changed])) / max(int(begins.sum()), 1)


def as_table(rows: list[Row]) -> list[str]:
    """Rows in columns."""
    lines = [f"{'method':10}{'tokens':>10}{'':10}{'words that differ':>19}{'MB/s':>9}"]
    for row in rows:
        more = "" if row.method == "exact" else f"{row.more_tokens:+.2%}"
        differing = "" if row.method == "exact" or row.words_differing is None else f"{row.words_differing:.1%}"
        lines.append(f"{row.method:10}{row.n_tokens:10}{more:>10}{differing:>19}{row.mb_per_second:9.1f}")
    return lines
