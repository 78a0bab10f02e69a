"""The definition that every mask is measured against, by brute force.

    token t is allowed after p   iff   some sentence starts with p + bytes(t)
    end of sequence is allowed   iff   p is a sentence

A language is given by its finite set of *live* byte strings up to a length (those that some sentence starts with) and
the sentences among them; the modules beside this one compute both sets exactly for regular expressions (`automata.py`)
and for grammars (`derivations.py`), without a bound on how long the completions are. `from_membership` does it for a
bare yes-or-no oracle such as `re.fullmatch`: there the caller gives a bound on completions and says why it holds.

In: sets of byte strings. Out: sets of token ids. Cost: one set look-up a token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np


class Language(NamedTuple):
    """What is known of a language up to `max_bytes`.

    live       every byte string of at most `max_bytes` that some sentence starts with
    sentences  every sentence of at most `max_bytes`
    """

    live: frozenset[bytes]
    sentences: frozenset[bytes]
    max_bytes: int

    def allowed_tokens(self, prefix: bytes, tokens: Sequence[bytes], special: Iterable[int], eos: int) -> set[int]:
        """The mask after `prefix` as a set, from the definition."""
        never = {*special, eos}
        longest = max(len(data) for token, data in enumerate(tokens) if token not in never)
        assert len(prefix) + longest <= self.max_bytes, "the language is not known that far"
        allowed = {
            token for token, data in enumerate(tokens) if token not in never and data and prefix + data in self.live
        }
        return allowed | {eos} if prefix in self.sentences else allowed


def finite_language(sentences: Iterable[bytes], max_bytes: int) -> Language:
    """The language of exactly these sentences, which may be longer than `max_bytes`."""
    everything = list(sentences)
    live = {sentence[:end] for sentence in everything for end in range(min(len(sentence), max_bytes) + 1)}
    return Language(
        frozenset(live), frozenset(sentence for sentence in everything if len(sentence) <= max_bytes), max_bytes
    )


def all_strings(alphabet: bytes, max_bytes: int) -> list[bytes]:
    """Every byte string over `alphabet` of at most `max_bytes`, shortest first."""
    return [bytes(letters) for n in range(max_bytes + 1) for letters in product(alphabet, repeat=n)]


def from_membership(is_sentence: Callable[[bytes], Any], alphabet: bytes, max_bytes: int, completion: int) -> Language:
    """The language of an oracle, where every live string has a completion of at most `completion` bytes.

    For a regular expression with k letters `completion = k` is enough: its position automaton (Glushkov 1961) has k + 1
    states and a shortest way to an accepting one visits none of them twice. A counted repetition counts unrolled.
    """
    sentences = [string for string in all_strings(alphabet, max_bytes + completion) if is_sentence(string)]
    return finite_language(sentences, max_bytes)


def read_mask(matcher: Any, vocab_size: int, budget: int | None = None) -> set[int]:
    """The mask of `matcher`, within a budget if one is given, as a set of ids; checks what must hold of every mask."""
    words = np.full((2, (vocab_size + 31) // 32), 0x5A5A5A5A, dtype=np.int32)
    restricts = matcher.fill_bitmask(words, row=1, **({} if budget is None else {"budget": budget}))
    assert (words[0] == 0x5A5A5A5A).all(), "a mask was written into another row"
    bits = np.unpackbits(words[1].view(np.uint8), bitorder="little")
    assert not bits[vocab_size:].any(), "a bit at or beyond vocab_size is set"
    allowed = set(np.flatnonzero(bits).tolist())
    assert allowed, "an empty mask"
    assert restricts == (len(allowed) < vocab_size), "fill_bitmask says False exactly when all is allowed"
    return allowed
