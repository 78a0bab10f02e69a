"""The split states of a tokenizer, and for each which tokens may follow.

A sequence of tokens is canonical if encoding what it spells gives it back. In byte-pair encoding that is a matter of
words: no token crosses the end of a word, and inside of a word every two neighbours are compatible. So of the text so
far a canonical sequence keeps

    the split state    where the splitter is, and what it has not decided yet (kernels/canonical_split.py)
    the last token     what it is incompatible with
    a chain            where a whole word that is a token is that token whatever the merges say (`ignore_merges`): how
                       far the word so far is one that merging would spell otherwise; it must not end so

Two tables a state say to which state every token leads, if it is compatible with the token before and if not. States
are interned; tables are built when they are needed, and the least recently used dropped.

In: a tokenizer. Out: states, tables, lists of incompatible tokens. Cost: 20 ms and 0.6 MB a state for 128,256 tokens,
some 20 states for plain JSON; a list of incompatible tokens 20 us.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..encoders.bpe import BpeEncoder
from ..errors import LimitExceeded, VocabularyError
from ..kernels import canonical_search, canonical_split
from ..kernels.canonical_fill import REFUSED_SPLIT
from .neighbours import NO_CHAIN, NO_TOKEN, NOTHING, Neighbours

if TYPE_CHECKING:
    from ..tokenizer import Tokenizer

MOST_STATES = 60_000  # a state is a uint16 in the tables
MOST_TABLES = 160  # of all tokens
MOST_SMALL_TABLES = 3000
MOST_FOLLOWING = 5_000
LONG_LIST = 300  # clearing so many bits takes as long as combining all words
NO_STATE = -1
Key = tuple[int, int, int, int, int, int]
PLAIN = tuple(byte for byte in range(32, 127) if byte not in b'"\\')  # what may stand in a string of JSON


class SplitTable(NamedTuple):
    """What may follow a split state.

    fitting     uint16[n]        state after a token that is compatible with the one before, or REFUSED_SPLIT
    breaking    uint16[n]        the same for one that is not
    words       int32[n]         bits of the tokens that may follow if they are compatible
    lone_words  int32[n]         bits of those that may follow even if they are not
    is_mixed    whether some token may follow in both cases, with different states
    goes_on     bool[n]          tokens that do not end the word before them
    is_partial  whether n counts the tokens only that go on with a character; else it counts all
    """

    fitting: npt.NDArray[np.uint16]
    breaking: npt.NDArray[np.uint16]
    words: npt.NDArray[np.int32]
    lone_words: npt.NDArray[np.int32]
    is_mixed: bool
    goes_on: npt.NDArray[np.bool_]
    is_partial: bool


class SplitStates(Neighbours):
    """Split states of one tokenizer; what is written is written under `lock`.

    Attributes
    ----------
    start : the state before any text.
    slots : int64[...], what kernels/canonical_search.py reads; `address` is where it lies.

    Raises
    ------
    VocabularyError : the tokenizer's encodings are no matter of words and merges.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        encoder = _encoder_of(tokenizer)
        super().__init__(tokenizer, encoder)
        self.lock = threading.RLock()
        tables = self._tables
        automaton = encoder.splitter.automaton
        assert automaton is not None
        self._needs_fallback = _rows_that_may_fail(automaton.transitions[0], automaton.n_classes + 1)
        n = tokenizer.vocab_size
        self._all = np.arange(n, dtype=np.int32)
        offsets, data = tokenizer.token_offsets, tokenizer.token_data
        has_bytes = np.diff(offsets) > 0
        leads = np.zeros(n, np.uint8)
        leads[has_bytes] = data[offsets[:-1][has_bytes]]
        self._continuing = np.flatnonzero(leads & 0xC0 == 0x80).astype(np.int32)
        self._ranks = np.full(n, -1, np.int32)
        self._ranks[self._continuing] = np.arange(len(self._continuing))
        self._is_partial = np.zeros(MOST_STATES, np.uint8)
        self._n_full = 0
        self._follows = np.zeros(MOST_STATES, np.int64)
        self._breaks = np.zeros(MOST_STATES, np.int64)
        self.ends = np.zeros((MOST_STATES, 2), np.int64)
        self.may_end = np.zeros(MOST_STATES, np.int64)
        self.is_plain = np.zeros(MOST_STATES, bool)  # a plain character ends the word
        self.slots = np.zeros(canonical_search.N_SLOTS, np.int64)
        self.address: int = self.slots.ctypes.data
        for slot, address in (
            (canonical_search.ENCODER, tables.address),
            (canonical_search.FOLLOWS, self._follows.ctypes.data),
            (canonical_search.BREAKS, self._breaks.ctypes.data),
            (canonical_search.ENDS, self.ends.ctypes.data),
            (canonical_search.MAY_END, self.may_end.ctypes.data),
            (canonical_search.REACHABLE, self._reachable.ctypes.data),
            (canonical_search.IS_PARTIAL, self._is_partial.ctypes.data),
            (canonical_search.RANKS, self._ranks.ctypes.data),
        ):
            self.slots[slot] = address
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._classes = encoder.splitter.class_of_code_point
        self._partials: dict[tuple[int, int], int] = {}
        self._like: dict[object, int] = {}
        self._built: OrderedDict[int, SplitTable] = OrderedDict()
        self._following: OrderedDict[tuple[int, int], tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]] = (
            OrderedDict()
        )
        self.start = self._intern((automaton.n_classes + 1, 0, 0, 0, 0, NO_STATE))

    # --- states

    def _intern(self, key: Key) -> int:
        """Number of a state: (row, must, bytes of a partial character, these, its start, fallback)."""
        known = self._numbers.get(key)
        if known is not None:
            return known
        number = len(self._keys)
        if number == MOST_STATES:
            raise LimitExceeded(
                f"canonical masks need more than {MOST_STATES} split states of this vocabulary",
                help="compile without canonical=True",
            )
        if key[canonical_split.N_PARTIAL] == 0:
            self._find_ends(number, key)
        self._numbers[key] = number
        self._keys.append(key)
        return number

    def _find_ends(self, number: int, key: Key) -> None:
        """Which characters end the word in a state that is being made."""
        packed = np.empty(129, np.int64)
        fields = _fields(key)
        canonical_split.find_ends(self._tables.address, self._needs_fallback.ctypes.data, fields.ctypes.data, packed)
        kinds = np.where(packed < 0, -1, packed >> canonical_split.KIND_SHIFT & 3)
        ends = (packed >= 0) & (packed >> canonical_split.NEW_BIT & 1 != 0)
        fallback = key[canonical_split.HAS_FALLBACK]
        has_failed = kinds == canonical_split.FAILED
        if fallback != NO_STATE:
            of_fallback = np.unpackbits(self.ends[fallback].view(np.uint8), bitorder="little")
            ends[:128] = np.where(has_failed[:128], of_fallback, ends[:128])
        self.ends[number] = np.packbits(ends[:128], bitorder="little").view(np.int64)
        self.may_end[number] = self.may_end[fallback] if has_failed[128] else packed[128] == 0
        self.is_plain[number] = ends[list(PLAIN)].any()

    def table(self, state: int) -> SplitTable:
        """What may follow a state; call it under the lock."""
        known = self._built.get(state)
        if known is not None:
            self._built.move_to_end(state)
            return known
        key = self._keys[state]
        is_partial = key[canonical_split.N_PARTIAL] > 0
        tokens = self._continuing if is_partial else self._all
        fitting, breaking = np.empty(len(tokens), np.int64), np.empty(len(tokens), np.int64)
        fields = _fields(key)
        canonical_split.split_tokens(
            self._tables.address, self._needs_fallback.ctypes.data, fields.ctypes.data, tokens, self._include,
            fitting, breaking,
        )  # fmt: skip
        lone = self._reachable[tokens] == 0
        fitting[lone] = breaking[lone]
        goes_on = (fitting >= 0) & (fitting >> canonical_split.NEW_BIT & 1 == 0)
        fallback = key[canonical_split.HAS_FALLBACK]
        below = None if fallback == NO_STATE else self.table(fallback)
        after = self._numbers_of(fitting, key, None if below is None else below.fitting)
        after_breaking = self._numbers_of(breaking, key, None if below is None else below.breaking)
        after[lone] = after_breaking[lone]
        if below is not None:
            has_failed = (fitting >= 0) & (fitting >> canonical_split.KIND_SHIFT & 3 == canonical_split.FAILED)
            goes_on[has_failed] = below.goes_on[has_failed]
        goes_on &= after != REFUSED_SPLIT
        is_mixed = bool(((after_breaking != REFUSED_SPLIT) & (after != after_breaking)).any())
        words, lone_words = self._bits(tokens, after), self._bits(tokens, after_breaking)
        made = SplitTable(after, after_breaking, words, lone_words, is_mixed, goes_on, is_partial)
        self._built[state] = made
        self._is_partial[state] = is_partial
        self._follows[state], self._breaks[state] = after.ctypes.data, after_breaking.ctypes.data
        self._n_full += not is_partial
        while self._n_full > MOST_TABLES or len(self._built) > MOST_SMALL_TABLES:
            oldest, dropped = self._built.popitem(last=False)
            self._n_full -= not dropped.is_partial
            self._follows[oldest] = self._breaks[oldest] = 0
        return made

    def _numbers_of(
        self, packed: npt.NDArray[np.int64], key: Key, below: npt.NDArray[np.uint16] | None
    ) -> npt.NDArray[np.uint16]:
        """Numbers of the packed states of tokens; `below`: those of the fallback."""
        n = len(packed)
        numbers = np.full(n, REFUSED_SPLIT, np.uint16)
        kinds = np.where(packed < 0, -1, packed >> canonical_split.KIND_SHIFT & 3)
        fallbacks = np.full(n, REFUSED_SPLIT, np.uint16)
        if below is not None:
            numbers[kinds == canonical_split.FAILED] = below[kinds == canonical_split.FAILED]
            fallbacks[kinds == canonical_split.SAME_FALLBACK] = below[kinds == canonical_split.SAME_FALLBACK]
        is_fresh = kinds == canonical_split.FRESH_FALLBACK
        if is_fresh.any():
            fallbacks[is_fresh] = self.table(self._fresh(key)).fitting[is_fresh]
        may_go = (kinds >= 0) & (kinds != canonical_split.FAILED)
        may_go &= (fallbacks != REFUSED_SPLIT) | (packed >> canonical_split.MUST_BIT & 1 == 0)
        common = np.where(may_go, packed & ~_FORGOTTEN, -1)
        pairs = common << 16 | fallbacks
        values, inverse = np.unique(pairs[may_go], return_inverse=True)
        made = [self._intern(self._unpack(value >> 16, value & 0xFFFF)) for value in values.tolist()]
        numbers[may_go] = np.array(made, np.uint16)[inverse]
        return numbers

    def _bits(self, tokens: npt.NDArray[np.int32], states: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        """Bits of the tokens that lead to a state, and of special ones; padded to whole words of 64 bits."""
        bits = np.zeros((self.tokenizer.vocab_size + 63) // 64 * 64, bool)
        bits[tokens] = states != REFUSED_SPLIT
        bits[self.tokenizer.special_ids] = True
        return np.packbits(bits, bitorder="little").view(np.int32)

    def _unpack(self, packed: int, fallback: int) -> Key:
        split = canonical_split
        n_partial = packed >> split.N_PARTIAL_SHIFT & 3
        return (
            (packed & (1 << split.ROW_BITS) - 1) * self._keys[self.start][0],
            packed >> split.MUST_BIT & 1,
            n_partial,
            self._partial_like(packed >> split.PARTIAL_SHIFT, n_partial) if n_partial else 0,
            packed >> split.START_SHIFT & 3,
            NO_STATE if fallback == REFUSED_SPLIT else fallback,
        )

    def _partial_like(self, partial: int, n_bytes: int) -> int:
        """The first bytes of a character, of all that the splitter does not tell apart the first that were seen.

        Every byte is a token, so there are as many as characters; but most blocks of characters are of one class.
        """
        known = self._partials.get((partial, n_bytes))
        if known is not None:
            return known
        data = partial.to_bytes(n_bytes, "little")
        length = 2 + (data[0] >= 0xE0) + (data[0] >= 0xF0)
        code_point = data[0] & (0x7F >> length)
        for byte in data[1:]:
            code_point = code_point << 6 | byte & 0x3F
        shift = 6 * (length - n_bytes)
        classes = self._classes[code_point << shift : (code_point + 1) << shift]
        is_whole = n_bytes > 1 or data[0] not in b"\xe0\xed\xf0\xf4"  # others may not be followed by every byte
        like = (n_bytes, length, classes.tobytes()) if is_whole else partial
        found = self._partials[partial, n_bytes] = self._like.setdefault(like, partial)
        return found

    def _fresh(self, key: Key) -> int:
        """The state at the beginning of a word that begins where the next token does, or its partial character."""
        row = self._keys[self.start][0]
        return self._intern((row, 0, key[2], key[3], canonical_split.FITS if key[2] else 0, NO_STATE))

    # --- what follows

    def following(self, state: int, before: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Bits of the tokens that may follow a state and a token, and a list of those among them that may not.

        Long lists are taken out of the bits: a blank alone is incompatible with half of all tokens.
        """
        known = self._following.get((state, before))
        if known is not None:
            self._following.move_to_end((state, before))
            return known
        table = self.table(state)
        words, pairs = table.words, NOTHING
        if self.is_lone(before):
            words = table.lone_words
        elif before != NO_TOKEN:
            pairs = self.incompatible(before)
            if table.is_partial:
                pairs = pairs[self._ranks[pairs] >= 0]
                pairs = pairs[table.fitting[self._ranks[pairs]] != REFUSED_SPLIT]
            else:
                pairs = pairs[(table.breaking[pairs] == REFUSED_SPLIT) & (table.fitting[pairs] != REFUSED_SPLIT)]
            if len(pairs) > LONG_LIST:
                bits = np.unpackbits(words.view(np.uint8), bitorder="little")
                bits[pairs] = 0
                words, pairs = np.packbits(bits, bitorder="little").view(np.int32), NOTHING
        made = self._following[state, before] = words, pairs
        if len(self._following) > MOST_FOLLOWING:
            self._following.popitem(last=False)
        return made

    def after(self, state: int, before: int, token: int) -> int:
        """State after a token, or REFUSED_SPLIT."""
        table = self.table(state)
        place = token
        if table.is_partial:
            place = self._ranks.item(token)
            if place < 0:
                return REFUSED_SPLIT
        fitting, breaking = table.fitting.item(place), table.breaking.item(place)
        if fitting == breaking or before == NO_TOKEN:
            return fitting
        if self.is_lone(before) or (self.incompatible(before) == token).any():
            return breaking
        return fitting

    def chain_after(self, chain: int, state: int, token: int) -> int:
        """The chain after a token in a state; negative: the word must not end here."""
        if not self._chains:
            return NO_CHAIN
        table = self.table(state)
        if not table.is_partial and not table.goes_on[token]:
            return max(self._chains.get((NO_CHAIN, token), NO_CHAIN), NO_CHAIN)
        return self._chains.get((abs(chain), token), NO_CHAIN) if chain else NO_CHAIN


def _encoder_of(tokenizer: Tokenizer) -> BpeEncoder:
    """The encoder, if its encodings can be told word by word.

    Raises
    ------
    VocabularyError : they cannot, with the reason.
    """
    encoder = tokenizer.word_encoder
    if encoder is not None and len(encoder.patterns) == 1:
        return encoder
    if tokenizer.encoder_name != "bpe":
        reason = f"encoder {tokenizer.encoder_name!r} is not byte-pair encoding"
    elif encoder is not None:
        reason = "its text is split by several patterns, one after the other"
    else:
        reason = "its texts are changed, or searched for added tokens, before they are split"
    raise VocabularyError(
        f"canonical masks are not built for this vocabulary: {reason}", help="compile without canonical=True"
    )


def _rows_that_may_fail(transitions: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.uint8]:
    """uint8, by the first entry of a row: whether the match in progress may fail without a later one being noted."""
    entries = transitions.reshape(-1, width)
    is_ended, rows = entries & 1 != 0, (entries >> 1) // width
    fails = np.zeros(len(entries), bool)
    while True:
        found = (~is_ended & ((rows == 0) | fails[rows])).any(axis=1)
        if (found == fails).all():
            flags = np.zeros(len(transitions), np.uint8)
            flags[::width] = found
            return flags
        fails = found


def _fields(key: Key) -> npt.NDArray[np.int64]:
    fields = np.array(key, np.int64)
    fields[canonical_split.HAS_FALLBACK] = key[canonical_split.HAS_FALLBACK] != NO_STATE
    return fields


_FORGOTTEN = 1 << canonical_split.NEW_BIT | 3 << canonical_split.KIND_SHIFT  # bits of a packed state that are no part
