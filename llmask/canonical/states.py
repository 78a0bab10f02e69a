"""The split states of a tokenizer, and for each which tokens may follow.

A sequence of tokens is canonical if encoding what it spells gives it back. In byte-pair encoding that is a matter of
words: no token crosses the end of a word, and inside of a word every two neighbours are compatible. So of the text so
far a canonical sequence keeps

    the split state    where the splitter is, and what it has not decided yet (splitting.py, kernels/canonical/split.py)
    the last token     what it is incompatible with
    a chain            where a whole word that is a token is that token whatever the merges say (`ignore_merges`): how
                       far the word so far is one that merging would spell otherwise; it must not end so (chains.py)

A user-defined token, which is cut out of the text by its name, may come where the text before it may end, and the text
after it begins anew.

Three tables a state say to which state every kind of token leads: if it is compatible with the token before, if not,
and if it must not end the word. States outside of characters, some dozens, have theirs at once; the others, some
ten thousand in all, when a kernel needs them. All stores of a tokenizer share them; what kernels find with them lies in
a table of each store (kernels/canonical/slots.py) and is written under its lock.

In: a tokenizer. Out: states, tables. Cost: 1 s for 128,256 tokens, and 40 KB a state; inside of a character 0.4 ms and
1 KB a state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from .. import forks
from ..errors import LimitExceeded, VocabularyError
from ..kernels.canonical import split as canonical_split
from ..kernels.canonical.pairs import MIXED, NO_EFFECT, PAIR
from ..kernels.canonical.search import ENTRY, FRAME, MOST_ENTRIES
from ..kernels.canonical.slots import CANON, CANON_BLOCKS, CANON_POOLS, REFUSED_SPLIT
from ..kernels.canonical.split import DEAD, N_MARKS, START
from ..kernels.machine import jit
from ..kernels.machine.constants import MAX_TOKEN_BYTES
from ..kernels.table import Table
from .chains import Chains, ChainTree
from .neighbours import LONE, MERGED, NAMED, Kinds, Slots, forest, is_text, uses_of
from .splitting import N_ASCII, SplitAutomaton

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer

MOST_STATES = 60_000  # a state is a uint16 in the tables
SHARED_BYTES = 64 * 2**20
BUDGET = 400_000  # trie nodes of one search
INSIDE_BUDGET = 20_000
Key = tuple[int, int, int, int]  # row, how many bytes of a partial character, these, its mark
PLAIN = tuple(byte for byte in range(32, 127) if byte not in b'"\\')  # what may stand in a string of JSON


class SplitTable(NamedTuple):
    """What may follow a split state.

    fitting     uint16[n]   state after a kind of token that is compatible with the one before, or REFUSED_SPLIT
    breaking    uint16[n]   the same for one that is not
    going_on    uint16[n]   the same for one that must not end the word before it
    """

    fitting: npt.NDArray[np.uint16]
    breaking: npt.NDArray[np.uint16]
    going_on: npt.NDArray[np.uint16]


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
        parts = tokenizer._parts
        found = parts.encoder_between_names()
        if isinstance(found, str):
            raise VocabularyError(
                f"canonical masks are not built for this vocabulary: {found}", help="compile without canonical=True"
            )
        self.encoder = encoder = found
        jit.make_ready("canonical")
        self._lock = forks.new_lock(forks.SPLIT_STATES)
        self.automaton = automaton = SplitAutomaton(encoder.splitter, [name for name, _ in parts.user_defined])
        self._token_data, self._token_offsets = parts.token_data, parts.token_offsets
        self._splitter = np.zeros(canonical_split.SPLITTER_FIELDS, np.int64)
        for field, array in (
            (canonical_split.CLASS_INDEX, automaton.class_index),
            (canonical_split.CLASS_BLOCKS, automaton.class_blocks),
            (canonical_split.OFFSETS, self._token_offsets),
            (canonical_split.DATA, self._token_data),
        ):
            self._splitter[field] = array.ctypes.data
        self._splitter[canonical_split.N_CLASSES] = automaton.n_classes
        self.uses = uses_of(tokenizer, encoder)
        self._partials: dict[tuple[int, int], tuple[int, npt.NDArray[np.uint8]]] = {}
        self._like: dict[object, tuple[int, npt.NDArray[np.uint8]]] = {}
        chains = Chains(ChainTree(tokenizer, encoder, self.uses), automaton, self._states_after)
        self._rows = automaton.rows
        self._splitter[canonical_split.ROWS] = self._rows.ctypes.data
        self.kinds = Kinds(tokenizer, self._splitter, automaton, self.uses)
        self._n_words = (tokenizer.vocab_size + 63) // 64 * 2
        self._specials = tokenizer.special_ids
        use_of_kind = self.uses[self.kinds.samples]
        cases = {LONE: canonical_split.LONE, NAMED: canonical_split.NAMED}
        self._cases = np.array([cases.get(use, 0) for use in use_of_kind.tolist()], np.uint8)
        self.ends = np.zeros((MOST_STATES, 2), np.int64)
        self.may_end = np.zeros(MOST_STATES, np.int64)
        self.starts = np.zeros((MOST_STATES, 4), np.int64)
        trie = parts.trie
        root_child = np.zeros(256, np.int32)
        children = slice(int(trie.child_first[0]), int(trie.child_first[1]))
        root_child[trie.child_byte[children]] = trie.child_node[children]
        reachable = np.zeros(len(encoder.tables.is_reachable), np.uint8)
        reachable[: len(self.uses)] = self.uses == MERGED
        slots_of_forest, self._kinds_in_runs = forest(encoder, self.kinds, self.uses)
        self._slots: Slots = {
            CANON.reachable: reachable,
            CANON.root_child: root_child,
            CANON.splitter: self._splitter,
            **self.kinds.slots(),
            **slots_of_forest,
            CANON.word_ends: self.ends,
            CANON.may_end: self.may_end,
            CANON.starts: self.starts,
            CANON.keys: np.zeros((MOST_STATES, canonical_split.STATE_FIELDS), np.int64),
        }
        for slot in (
            *(CANON.fits, CANON.breaks, CANON.goes_on),
            *(CANON.is_partial, CANON.is_plain),
            *(CANON.following, CANON.lone_following),
            *(CANON.ranks, CANON.rank_of),
        ):
            self._slots[slot] = np.zeros(MOST_STATES, np.uint8 if slot in _FLAGS else np.int64)
        self._numbers: dict[Key, int] = {}
        self._known: dict[int, int] = {}  # of packed states
        self._keys: list[Key] = []
        self._built: dict[int, SplitTable] = {}
        self._kept: list[npt.NDArray[np.int32]] = []  # whose addresses the slots have
        self._enter_rows()
        self._slots |= chains.slots(len(self.uses), self._number_of)

    def _enter_rows(self) -> None:
        """Make the states outside of characters, numbered as rows are."""
        automaton = self.automaton
        n_rows = len(self._rows)
        for row in range(n_rows):
            self._intern((row, 0, 0, 0))
        lengths = np.diff(self._token_offsets)[: len(self.uses)]
        is_spelled = np.zeros(256, bool)  # a byte that is no token need not be the beginning of one that may come
        is_spelled[self._token_data[self._token_offsets[:-1][(self.uses == MERGED) & (lengths == 1)]]] = True
        ends = automaton.ends & is_spelled[:N_ASCII]
        self.ends[:n_rows] = np.packbits(ends, axis=1, bitorder="little").view(np.int64)
        self.may_end[:n_rows] = automaton.may_end
        self._slots[CANON.is_plain][:n_rows] = ends[:, list(PLAIN)].any(axis=1)
        self.start = START
        waiting = [START]
        seen = {START, REFUSED_SPLIT}
        while waiting:
            state = waiting.pop()
            self.make_masks(state)
            made = self._built[state]
            fresh = {int(number) for table in made for number in np.unique(table)} - seen
            seen |= fresh
            waiting += [number for number in fresh if number < n_rows]

    def new_table(self) -> Table:
        """What kernels read and write for one store, see kernels/canonical/slots.py."""
        table = Table(CANON.n_slots, 1 << 62, CANON_BLOCKS, CANON_POOLS)
        table.put(CANON.pair_lists, np.zeros(len(self._rows), np.int64))
        table.put(CANON.queue, np.zeros(MOST_ENTRIES * ENTRY, np.int64))
        table.put(CANON.walk, np.zeros(MAX_TOKEN_BYTES + 2, np.int64))
        table.put(CANON.search_walk, np.zeros((MAX_TOKEN_BYTES + 2) * FRAME, np.int64))
        slots = table.slots
        for slot, array in self._slots.items():
            slots[slot] = array.ctypes.data
        for slot, number in (
            (CANON.encoder, self.encoder.tables.address),
            (CANON.shared_bytes, SHARED_BYTES),
            (CANON.budget, BUDGET),
            (CANON.inside_budget, INSIDE_BUDGET),
            (CANON.n_kinds, len(self.kinds.samples)),
            (CANON.n_continuing, self.kinds.n_continuing),
            (CANON.longest_token, int(np.diff(self._token_offsets).max())),
            (CANON.n_order, len(self._slots[CANON.order])),
            (CANON.n_chains, len(self._slots.get(CANON.chain_next, ()))),
            (CANON.n_forks, len(self._slots.get(CANON.forks, ()))),
            (CANON.n_pair_lists, len(self._rows)),
            (CANON.start_split, self.start),
        ):
            slots[slot] = number
        return table

    # --- states

    def _intern(self, key: Key) -> int:
        """Number of a state."""
        known = self._numbers.get(key)
        if known is not None:
            return known
        number = len(self._keys)
        if number == MOST_STATES:
            raise LimitExceeded(
                f"canonical masks need more than {MOST_STATES} split states of this vocabulary",
                help="compile without canonical=True",
            )
        self._numbers[key] = number
        self._keys.append(key)
        self._slots[CANON.keys][number] = key
        return number

    def tables(self, state: int) -> SplitTable:
        """The tables of a state; made where they are missing."""
        with self._lock:
            known = self._built.get(state)
            return self._make_tables(state) if known is None else known

    def _make_tables(self, state: int) -> SplitTable:
        key, kinds = self._keys[state], self.kinds
        is_partial = key[canonical_split.N_PARTIAL] > 0
        n = kinds.n_continuing if is_partial else len(kinds.samples)
        table, starts = np.empty((N_MARKS, n), np.uint16), self.starts[state]
        partial = np.empty((N_MARKS * n, 2), np.int64)
        after_name = START if self.may_end[state] else REFUSED_SPLIT
        splitter, fields = self._splitter.ctypes.data, np.array(key, np.int64)
        n_partial = canonical_split.split_kinds(
            splitter, fields.ctypes.data, kinds.samples[:n], self.uses, self._cases[:n], after_name, table,
            kinds.starts[:n], starts, partial,
        )  # fmt: skip
        known, (places, packed) = self._known, partial[:n_partial].T
        numbers = np.array([known.get(value) or self._number_of(value) for value in packed.tolist()], np.uint16)
        table.ravel()[places] = numbers
        may_follow = places[(numbers != REFUSED_SPLIT) & (places < canonical_split.INSIDE * n)] % n
        starts |= np.bitwise_or.reduce(kinds.starts[may_follow], axis=0)
        made = self._built[state] = SplitTable(*table)
        self._slots[CANON.is_partial][state] = is_partial
        self._slots[CANON.goes_on][state] = made.going_on.ctypes.data
        self._slots[CANON.breaks][state] = made.breaking.ctypes.data
        self._slots[CANON.fits][state] = made.fitting.ctypes.data
        return made

    def make_masks(self, state: int) -> None:
        """Make the masks of what may follow a state that is not inside of a character."""
        made = self.tables(state)
        for slot, after in (
            (CANON.lone_following, made.breaking),
            (CANON.following, made.fitting),
        ):
            bits = np.zeros(self._n_words * 32, bool)
            of_token = self.kinds.of_token
            bits[: len(of_token)] = (after != REFUSED_SPLIT)[of_token]
            bits[self._specials] = True
            mask = np.packbits(bits, bitorder="little").view(np.int32)
            self._kept.append(mask)
            self._slots[slot][state] = mask.ctypes.data

    def make_ranks(self, state: int) -> None:
        """List the tokens that may not follow a state if they are incompatible with the one before, see `ranks`."""
        made, order = self.tables(state), self._slots[CANON.order]
        effects = np.where(made.breaking == REFUSED_SPLIT, PAIR, MIXED).astype(np.uint8)
        effects[(made.fitting == REFUSED_SPLIT) | (made.fitting == made.breaking)] = NO_EFFECT
        effect_of_place, n = np.append(effects, np.uint8(NO_EFFECT))[self._kinds_in_runs], len(order)
        ranks = np.zeros(4 * n + 2, np.int32)
        counts, listed = ranks[: 2 * n + 2].reshape(n + 1, 2), ranks[2 * n + 2 :].reshape(2, n)
        for i, effect in enumerate((PAIR, MIXED)):
            tokens = order[effect_of_place == effect]
            counts[1:, i] = np.cumsum(effect_of_place == effect)
            listed[i, : len(tokens)] = tokens
        rank_of = np.zeros(len(self.kinds.of_token), np.int32)
        rank_of[listed[0, : counts[n, 0]]] = np.arange(1, counts[n, 0] + 1)
        self._kept += [ranks, rank_of]
        self._slots[CANON.rank_of][state] = rank_of.ctypes.data
        self._slots[CANON.ranks][state] = ranks.ctypes.data

    def _number_of(self, packed: int) -> int:
        """Number of a packed state, or REFUSED_SPLIT, also where no character that begins so may come; remembered."""
        number = self._known[packed] = self._find_number(packed)
        return number

    def _find_number(self, packed: int) -> int:
        row, n_partial, partial, mark = _fields(packed)
        if n_partial == 0:
            return row
        partial, classes = self._partial_like(partial, n_partial)
        key = row, n_partial, partial, mark
        if key not in self._numbers and (self._rows[row, classes, mark] == DEAD).all():
            self._numbers[key] = REFUSED_SPLIT
        return self._intern(key)

    def _states_after(self, packed: int, tokens: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Packed states after tokens that merging makes, int64[N_MARKS, n], REFUSED also where no character that begins
        so may come; while rows are being found.
        """
        rows = self.automaton.rows
        self._splitter[canonical_split.ROWS] = rows.ctypes.data
        found = np.empty((N_MARKS, len(tokens)), np.int64)
        state = np.array(_fields(packed), np.int64)
        canonical_split.split_tokens(self._splitter.ctypes.data, state.ctypes.data, tokens, self.uses, found)
        for place, reached in enumerate(found.ravel().tolist()):
            row, n_partial, partial, mark = _fields(reached)
            if reached != canonical_split.REFUSED and n_partial > 0:
                classes = self._partial_like(partial, n_partial)[1]
                if (rows[row, classes, mark] == DEAD).all():
                    found.flat[place] = canonical_split.REFUSED
        return found

    def _partial_like(self, partial: int, n_bytes: int) -> tuple[int, npt.NDArray[np.uint8]]:
        """The first bytes of a character, of all that the splitter does not tell apart the first that were seen; the
        classes of the characters that begin so.

        Every byte is a token, so there are as many as characters; but most blocks of characters are of one class. First
        bytes after which not every byte may come (E0, ED), and bytes that begin no character, are like no others.
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
        classes = self.automaton.class_of_code_point[code_point << shift : (code_point + 1) << shift]
        is_whole = (n_bytes > 1 or data[0] not in b"\xed\xf4") and _is_text(data, length)
        like = (n_bytes, length, classes.tobytes()) if is_whole else partial
        if like not in self._like:
            self._like[like] = partial, np.unique(classes)
        found = self._partials[partial, n_bytes] = self._like[like]
        return found


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


def _fields(packed: int) -> Key:
    """The fields of a packed state, with the bytes as they are."""
    split = canonical_split
    n_partial, mark = packed >> split.N_PARTIAL_SHIFT & 3, packed >> split.MARK_SHIFT & 3
    return packed & (1 << split.N_PARTIAL_SHIFT) - 1, n_partial, packed >> split.PARTIAL_SHIFT, mark


def _is_text(data: bytes, length: int) -> bool:
    """Whether the first bytes of a character of `length` bytes may begin one: F0 8C may not."""
    return is_text(data + b"\x80" * (length - len(data)))


_FLAGS = (CANON.is_partial, CANON.is_plain)
