"""The split states of a tokenizer, and for each which tokens may follow.

A sequence of tokens is canonical if encoding what it spells gives it back. In byte-pair encoding that is a matter of
words: no token crosses the end of a word, and inside of a word every two neighbours are compatible. So of the text so
far a canonical sequence keeps

    the split state    where the splitter is, and what it has not decided yet (kernels/canonical_split.py)
    the last token     what it is incompatible with
    a chain            where a whole word that is a token is that token whatever the merges say (`ignore_merges`): how
                       far the word so far is one that merging would spell otherwise; it must not end so

Two tables a state say to which state every kind of token leads, if it is compatible with the token before and if not.
States are interned. Those outside of characters, some dozens, are made at once; the others, some ten thousand in all,
when a kernel needs them. All stores of a tokenizer share them; what kernels find with them lies in a table of each
store (kernels/canonical_slots.py) and is written under its lock.

In: a tokenizer. Out: states, tables. Cost: 1 s for 128,256 tokens, and 40 KB a state; inside of a character 0.4 ms and
1 KB a state.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..encoders.bpe import BpeEncoder
from ..errors import LimitExceeded, VocabularyError
from ..kernels import canonical_slots, canonical_split, jit
from ..kernels.canonical_fill import REFUSED_SPLIT
from ..kernels.canonical_search import ENTRY, MOST_ENTRIES
from ..kernels.constants import MAX_TOKEN_BYTES
from ..kernels.table import Table
from .neighbours import LONE, MERGED, Kinds, Slots, chains, forest, rows_that_may_fail, uses_of
from .slices import cut_off_tokens, slice_rests

if TYPE_CHECKING:
    from ..store.slices import SliceArrays
    from ..tokenizer import Tokenizer

MOST_STATES = 60_000  # a state is a uint16 in the tables
MOST_AT_ONCE = 5_000
SHARED_BYTES = 64 * 2**20
BUDGET = 400_000  # trie nodes of one search
INSIDE_BUDGET = 20_000
NO_STATE = -1
Key = tuple[int, int, int, int, int, int]
PLAIN = tuple(byte for byte in range(32, 127) if byte not in b'"\\')  # what may stand in a string of JSON


class SplitTable(NamedTuple):
    """What may follow a split state.

    fitting     uint16[n]   state after a kind of token that is compatible with the one before, or REFUSED_SPLIT
    breaking    uint16[n]   the same for one that is not
    goes_on     uint8[n]    kinds that do not end the word before them
    """

    fitting: npt.NDArray[np.uint16]
    breaking: npt.NDArray[np.uint16]
    goes_on: npt.NDArray[np.uint8]


class SplitStates:
    """Split states of one tokenizer; what is written is written under a lock, and readers see finished tables.

    Attributes
    ----------
    start : the state before any text.
    encoder, kinds, uses : see neighbours.py.

    Raises
    ------
    VocabularyError : the tokenizer's encodings are no matter of words and merges.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.encoder = encoder = _encoder_of(tokenizer)
        jit.make_ready("canonical")
        self._lock = threading.RLock()
        automaton = encoder.splitter.automaton
        assert automaton is not None
        self._width = automaton.n_classes + 1
        self.fails = rows_that_may_fail(automaton.transitions[0], self._width)
        self.uses = uses_of(tokenizer, encoder)
        self.kinds = Kinds(tokenizer, encoder, self.fails, self._width, self.uses)
        self._n_words = (tokenizer.vocab_size + 63) // 64 * 2
        self._specials = tokenizer.special_ids
        self._is_lone = self.uses[self.kinds.samples] == LONE
        self.ends = np.zeros((MOST_STATES, 2), np.int64)
        self.may_end = np.zeros(MOST_STATES, np.int64)
        trie = tokenizer.trie
        root_child = np.zeros(256, np.int32)
        children = slice(int(trie.child_first[0]), int(trie.child_first[1]))
        root_child[trie.child_byte[children]] = trie.child_node[children]
        reachable = np.zeros(len(encoder.tables.is_reachable), np.uint8)
        reachable[: len(self.uses)] = self.uses == MERGED
        self._slots: Slots = {
            canonical_slots.REACHABLE: reachable,
            canonical_slots.ROOT_CHILD: root_child,
            canonical_slots.FAILS: self.fails,
            canonical_slots.ROW_STATES: np.full(len(self.fails), NO_STATE, np.int32),
            canonical_slots.CUT_OFF: cut_off_tokens(tokenizer),
            **self.kinds.slots(),
            **forest(encoder, self.kinds.of_token),
            **chains(tokenizer, encoder, self.uses),
            canonical_slots.ENDS: self.ends,
            canonical_slots.MAY_END: self.may_end,
            canonical_slots.KEYS: np.zeros((MOST_STATES, canonical_split.STATE_FIELDS), np.int64),
        }
        for slot in (
            *(canonical_slots.FOLLOWS, canonical_slots.BREAKS, canonical_slots.GOES_ON),
            *(canonical_slots.IS_PARTIAL, canonical_slots.IS_PLAIN),
            *(canonical_slots.FOLLOWING, canonical_slots.LONE_FOLLOWING),
        ):
            self._slots[slot] = np.zeros(MOST_STATES, np.uint8 if slot in _FLAGS else np.int64)
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._classes = encoder.splitter.class_of_code_point
        self._partials: dict[tuple[int, int], int] = {}
        self._like: dict[object, int] = {}
        self._built: dict[int, SplitTable] = {}
        self._masks: list[npt.NDArray[np.int32]] = []  # whose addresses the slots have
        self.start = self._intern((self._width, 0, 0, 0, 0, NO_STATE))
        for row in range(self._width, len(self.fails), self._width):
            self._slots[canonical_slots.ROW_STATES][row] = self._intern((row, 0, 0, 0, 0, NO_STATE))
        state = 0
        while state < min(len(self._keys), MOST_AT_ONCE):
            if self._keys[state][canonical_split.N_PARTIAL] == 0:
                self.make_masks(state)
            state += 1

    def new_table(self, tokenizer: Tokenizer, slices: Sequence[SliceArrays]) -> Table:
        """What kernels read and write for one store, see kernels/canonical_slots.py; slices are the same for all."""
        if canonical_slots.SLICE_RESTS not in self._slots:
            self._tries = slice_rests(tokenizer, slices, self._slots[canonical_slots.CUT_OFF])
            rests = [(trie.ctypes.data, len(trie)) for trie in self._tries]
            self._slots[canonical_slots.SLICE_RESTS] = np.array(rests, np.int64)
        table = Table(canonical_slots.N_CANON_SLOTS, 1 << 62, canonical_slots.CANON_BLOCKS, ())
        table.put(canonical_slots.QUEUE, np.zeros(MOST_ENTRIES * ENTRY, np.int64))
        for slot in (canonical_slots.WALK, canonical_slots.SEARCH_WALK):
            table.put(slot, np.zeros(MAX_TOKEN_BYTES + 2, np.int64))
        slots = table.array
        for slot, array in self._slots.items():
            slots[slot] = array.ctypes.data
        for slot, number in (
            (canonical_slots.ENCODER, self.encoder.tables.address),
            (canonical_slots.SHARED_BYTES, SHARED_BYTES),
            (canonical_slots.BUDGET, BUDGET),
            (canonical_slots.INSIDE_BUDGET, INSIDE_BUDGET),
            (canonical_slots.N_KINDS, len(self.kinds.samples)),
            (canonical_slots.N_CONTINUING, self.kinds.n_continuing),
            (canonical_slots.N_SLICE_RESTS, len(self._tries)),
            (canonical_slots.N_CUT_OFF, len(self._slots[canonical_slots.CUT_OFF])),
            (canonical_slots.N_ODD, len(self._slots[canonical_slots.ODD])),
            (canonical_slots.N_CHAINS, len(self._slots.get(canonical_slots.CHAIN_NEXT, ()))),
            (canonical_slots.START, self.start),
        ):
            slots[slot] = number
        return table

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
        self._slots[canonical_slots.KEYS][number] = _fields(key)
        return number

    def _find_ends(self, number: int, key: Key) -> None:
        """Which characters end the word in a state that is being made."""
        packed = np.empty(129, np.int64)
        fields = _fields(key)
        canonical_split.find_ends(self.encoder.tables.address, self.fails.ctypes.data, fields.ctypes.data, packed)
        kinds = np.where(packed < 0, -1, packed >> canonical_split.KIND_SHIFT & 3)
        ends = (packed >= 0) & (packed >> canonical_split.NEW_BIT & 1 != 0)
        fallback = key[canonical_split.HAS_FALLBACK]
        has_failed = kinds == canonical_split.FAILED
        if fallback != NO_STATE:
            of_fallback = np.unpackbits(self.ends[fallback].view(np.uint8), bitorder="little")
            ends[:128] = np.where(has_failed[:128], of_fallback, ends[:128])
        self.ends[number] = np.packbits(ends[:128], bitorder="little").view(np.int64)
        self.may_end[number] = self.may_end[fallback] if has_failed[128] else packed[128] == 0
        self._slots[canonical_slots.IS_PLAIN][number] = ends[list(PLAIN)].any()

    def tables(self, state: int) -> SplitTable:
        """The tables of a state; made where they are missing."""
        with self._lock:
            return self._tables(state)

    def _tables(self, state: int) -> SplitTable:
        known = self._built.get(state)
        if known is not None:
            return known
        key, kinds = self._keys[state], self.kinds
        is_partial = key[canonical_split.N_PARTIAL] > 0
        samples = kinds.samples[: kinds.n_continuing] if is_partial else kinds.samples
        fitting, breaking = np.empty(len(samples), np.int64), np.empty(len(samples), np.int64)
        fields = _fields(key)
        canonical_split.split_tokens(
            self.encoder.tables.address, self.fails.ctypes.data, fields.ctypes.data, samples,
            self.uses, fitting, breaking,
        )  # fmt: skip
        lone = self._is_lone[: len(samples)]
        fitting[lone] = breaking[lone]
        goes_on = (fitting >= 0) & (fitting >> canonical_split.NEW_BIT & 1 == 0)
        fallback = key[canonical_split.HAS_FALLBACK]
        below = None if fallback == NO_STATE else self._tables(fallback)
        after = self._numbers_of(fitting, key, None if below is None else below.fitting)
        after_breaking = self._numbers_of(breaking, key, None if below is None else below.breaking)
        after[lone] = after_breaking[lone]
        if below is not None:
            has_failed = (fitting >= 0) & (fitting >> canonical_split.KIND_SHIFT & 3 == canonical_split.FAILED)
            goes_on[has_failed] = below.goes_on[: len(samples)][has_failed]
        goes_on &= after != REFUSED_SPLIT
        made = self._built[state] = SplitTable(after, after_breaking, goes_on.astype(np.uint8))
        self._slots[canonical_slots.IS_PARTIAL][state] = is_partial
        self._slots[canonical_slots.GOES_ON][state] = made.goes_on.ctypes.data
        self._slots[canonical_slots.BREAKS][state] = made.breaking.ctypes.data
        self._slots[canonical_slots.FOLLOWS][state] = made.fitting.ctypes.data
        return made

    def make_masks(self, state: int) -> None:
        """Make the masks of what may follow a state that is not inside of a character."""
        made = self.tables(state)
        for slot, after in (
            (canonical_slots.LONE_FOLLOWING, made.breaking),
            (canonical_slots.FOLLOWING, made.fitting),
        ):
            bits = np.zeros(self._n_words * 32, bool)
            of_token = self.kinds.of_token
            bits[: len(of_token)] = (after != REFUSED_SPLIT)[of_token]
            bits[self._specials] = True
            mask = np.packbits(bits, bitorder="little").view(np.int32)
            self._masks.append(mask)
            self._slots[slot][state] = mask.ctypes.data

    def _numbers_of(
        self, packed: npt.NDArray[np.int64], key: Key, below: npt.NDArray[np.uint16] | None
    ) -> npt.NDArray[np.uint16]:
        """Numbers of the packed states of kinds; `below`: those of the fallback."""
        n = len(packed)
        numbers = np.full(n, REFUSED_SPLIT, np.uint16)
        kinds = np.where(packed < 0, -1, packed >> canonical_split.KIND_SHIFT & 3)
        fallbacks = np.full(n, REFUSED_SPLIT, np.uint16)
        if below is not None:
            below = below[:n]
            numbers[kinds == canonical_split.FAILED] = below[kinds == canonical_split.FAILED]
            fallbacks[kinds == canonical_split.SAME_FALLBACK] = below[kinds == canonical_split.SAME_FALLBACK]
        is_fresh = kinds == canonical_split.FRESH_FALLBACK
        if is_fresh.any():
            fallbacks[is_fresh] = self._tables(self._fresh(key)).fitting[:n][is_fresh]
        may_go = (kinds >= 0) & (kinds != canonical_split.FAILED)
        may_go &= (fallbacks != REFUSED_SPLIT) | (packed >> canonical_split.MUST_BIT & 1 == 0)
        common = np.where(may_go, packed & ~_FORGOTTEN, -1)
        pairs = common << 16 | fallbacks
        values, inverse = np.unique(pairs[may_go], return_inverse=True)
        made = [self._intern(self._unpack(value >> 16, value & 0xFFFF)) for value in values.tolist()]
        numbers[may_go] = np.array(made, np.uint16)[inverse]
        return numbers

    def _unpack(self, packed: int, fallback: int) -> Key:
        split = canonical_split
        n_partial = packed >> split.N_PARTIAL_SHIFT & 3
        return (
            (packed & (1 << split.ROW_BITS) - 1) * self._width,
            packed >> split.MUST_BIT & 1,
            n_partial,
            self._partial_like(packed >> split.PARTIAL_SHIFT, n_partial) if n_partial else 0,
            packed >> split.START_SHIFT & 3,
            NO_STATE if fallback == REFUSED_SPLIT else fallback,
        )

    def _partial_like(self, partial: int, n_bytes: int) -> int:
        """The first bytes of a character, of all that the splitter does not tell apart the first that were seen.

        Every byte is a token, so there are as many as characters; but most blocks of characters are of one class. Those
        behind which not every byte may follow (E0, ED), and those that begin no character, are like no others.
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
        is_whole = (n_bytes > 1 or data[0] not in b"\xed\xf4") and _is_text(data, length)
        like = (n_bytes, length, classes.tobytes()) if is_whole else partial
        found = self._partials[partial, n_bytes] = self._like.setdefault(like, partial)
        return found

    def _fresh(self, key: Key) -> int:
        """The state at the beginning of a word that begins where the next token does, or its partial character."""
        row = self._width
        return self._intern((row, 0, key[2], key[3], canonical_split.FITS if key[2] else 0, NO_STATE))


_made: WeakKeyDictionary[Tokenizer, SplitStates] = WeakKeyDictionary()


def split_states_of(tokenizer: Tokenizer) -> SplitStates:
    """The split states of a tokenizer, made once.

    Raises
    ------
    VocabularyError : its encodings are no matter of words and merges.
    """
    found = _made.get(tokenizer)
    if found is None:
        found = _made[tokenizer] = SplitStates(tokenizer)
    return found


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


def _is_text(data: bytes, length: int) -> bool:
    """Whether the first bytes of a character of `length` bytes may begin one: F0 8C may not."""
    try:
        (data + b"\x80" * (length - len(data))).decode()
    except UnicodeDecodeError:
        return False
    return True


def _fields(key: Key) -> npt.NDArray[np.int64]:
    fields = np.array(key, np.int64)
    fields[canonical_split.HAS_FALLBACK] = key[canonical_split.HAS_FALLBACK] != NO_STATE
    return fields


_FORGOTTEN = 1 << canonical_split.NEW_BIT | 3 << canonical_split.KIND_SHIFT  # bits of a packed state that are no part
_FLAGS = (canonical_slots.IS_PARTIAL, canonical_slots.IS_PLAIN)
