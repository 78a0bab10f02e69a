"""Which tokens have no canonical continuation in a grammar, found once for a configuration and a split state.

    by lexer state     tokens that stay inside a lexeme: the same for all grammars of a store
    by configuration   tokens that cross a lexeme's end, and those that the lexer state alone does not answer

Most tokens are answered by one character (kernels/canonical_search.py). Where a lexer state takes all tokens of a slice
(store/slices.py), those of the next smaller slice are taken to have a plain character behind them, and only the others
are walked. A search that is given up leaves its token allowed, and the position counts as cut. So does one without any
canonical token: the searches know no chains (neighbours.py), which are noticed one token before they end.

In: a generation's tables, split states. Out: `Filter`s. Cost: 0.2 us for one that is known; a new one 0.1 to 20 ms.
"""

from __future__ import annotations

import ctypes
import weakref
from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels import canonical_parts, canonical_search, engine
from ..kernels.canonical_fill import FILTER, REFUSED_SPLIT
from ..kernels.canonical_parts import (
    D_ACCEPTS,
    D_CROSSING,
    D_INSIDE,
    D_KIND,
    D_N_CROSSING,
    D_N_INSIDE,
    D_NAMES,
    D_STATE,
    D_STATE_KIND,
)
from ..kernels.canonical_search import CUT, FOLLOWS_ON, NEEDS_STATE, NEEDS_TEXT, NOTHING_FOLLOWS, STOP
from ..kernels.configurations import ENDED, REFUSED
from ..kernels.constants import TRIE_END_MASK, TRIE_END_SHIFT
from ..kernels.state_masks import MASK_LIST, MASK_WORDS
from ..store.slices import MOST_CODE_POINTS
from .neighbours import NO_CHAIN, NOTHING
from .states import SplitStates

if TYPE_CHECKING:
    from ..compiled import Generation
    from ..store.store import Store

BUDGET = 400_000  # trie nodes of one search
INSIDE_BUDGET = 20_000
MOST_MISSES = 400  # texts that one search may have built
MOST_FILTERS = 20_000  # then all are forgotten
MOST_VERDICTS = 500_000
Tokens = npt.NDArray[np.int32]


class Filter:
    """What is taken out of a mask.

    Attributes
    ----------
    fields : of a cell, behind CELL_FILTER.
    words, pairs, removed, may_end : what they point to, see kernels/canonical_fill.py.
    is_cut : some token is allowed although the search for its continuation was given up.
    is_plain : no token is canonical, and the grammatical mask stands.
    steps : token -> where it leads, as far as it was taken here (matcher.py).
    """

    __slots__ = ("fields", "is_cut", "is_plain", "may_end", "pairs", "removed", "steps", "words")

    def __init__(
        self,
        words: Tokens,
        pairs: Tokens,
        removed: Tokens,
        may_end: bool,
        is_cut: bool,
        is_plain: bool,
    ) -> None:
        self.words, self.pairs, self.removed = words, pairs, removed
        self.may_end, self.is_cut, self.is_plain = may_end, is_cut, is_plain
        self.steps: dict[int, tuple[int, tuple[int, int, int]]] = {}
        self.fields = array(
            "q",
            (
                FILTER, words.ctypes.data, pairs.ctypes.data, len(pairs),
                removed.ctypes.data, len(removed), int(may_end),
            ),
        )  # fmt: skip


class Removed(NamedTuple):
    """What a configuration and split state take out.

    tokens   that have no canonical continuation, sorted
    is_cut   whether a search was given up
    few      all tokens of the mask where they are few, else none
    accepts  whether the document may end
    is_named whether nothing may follow but tokens that the grammar names
    """

    tokens: Tokens
    is_cut: bool
    few: Tokens
    accepts: bool
    is_named: bool = False


class StateReview:
    """Tokens inside of lexemes, for all grammars of a store."""

    def __init__(self, store: Store, states: SplitStates) -> None:
        self.states = states
        self.queue = np.zeros((canonical_search.MOST_ENTRIES, canonical_search.ENTRY), np.int64)
        self._store: Store = weakref.proxy(store)  # which holds this review: a cycle would keep its memory
        self._known: dict[tuple[int, int], tuple[Tokens, Tokens]] = {}
        self._verdicts: dict[tuple[int, int, int], int] = {}
        self._hard: dict[tuple[int, int], Tokens] = {}
        self._members: dict[int, Tokens] = {}
        self._trie = store.tokenizer.trie.node

    def review(self, state: int, split: int, mask: int, n_words: int) -> tuple[Tokens, Tokens]:
        """Of a lexer state's mask at an address: tokens that nothing can follow, and those that it does not answer.

        Lexer states that take the same tokens, some hundreds at least, share the answer: a string with room for 1,000
        characters more is reviewed as one with room for 999. Where that is wrong the mask may become empty in the end;
        `Review` notices.
        """
        known = self._known.get((mask, split))
        if known is None:
            if len(self._verdicts) > MOST_VERDICTS:
                self._verdicts.clear()
                self._known.clear()
            known = self._known[mask, split] = self._review(state, split, _view(mask, n_words))
        return known

    def _review(self, state: int, split: int, mask: Tokens) -> tuple[Tokens, Tokens]:
        states, address = self.states, self._store.table.address
        table = states.table(split)
        number = self._slice_of(mask)
        trie = self._trie if number is None else self._store.slice_arrays[number].rest
        unsure = np.empty((len(trie), 3), np.int64)
        n = canonical_search.review_state(address, states.address, state, split, trie.ctypes.data, len(trie), unsure)
        unsure = unsure[:n]
        if number is not None:
            hard = self._hard_tokens(split, number)
            more = np.empty((len(hard), 3), np.int64)
            more[:, 0], more[:, 2] = hard, table.fitting[hard]
            canonical_search.states_after(address, state, hard, more)
            unsure = np.concatenate([unsure, more])
        dead, open_ = [], []
        for token, reached, split_after in unsure.tolist():
            verdict = CUT if reached == STOP else self._search(reached, split_after, token)
            if verdict == NOTHING_FOLLOWS:
                dead.append(token)
            elif verdict != FOLLOWS_ON:
                open_.append(token)
        return np.array(dead, np.int32), np.array(open_, np.int32)

    def _slice_of(self, mask: Tokens) -> int | None:
        """The slice next below the largest whose tokens are all in a mask."""
        slices = self._store.slice_arrays[: len(MOST_CODE_POINTS)]  # each holds those below
        words = mask.view(np.uint8)
        for number, part in enumerate(slices[:-1]):
            if not (part.mask[: len(words)] & ~words).any():
                return number + 1
        return None

    def _hard_tokens(self, split: int, number: int) -> Tokens:
        """Tokens of a slice behind which no plain character ends the word."""
        known = self._hard.get((split, number))
        if known is None:
            members = self._members.get(number)
            if members is None:
                flags = np.unpackbits(self._store.slice_arrays[number].mask, bitorder="little")
                members = self._members[number] = np.flatnonzero(flags).astype(np.int32)
            table = self.states.table(split)
            members = members[:0] if table.is_partial else members
            after = table.fitting[members]
            refused = after == REFUSED_SPLIT
            is_plain = self.states.is_plain[np.where(refused, 0, after)]
            known = self._hard[split, number] = members[~refused & ~is_plain]
        return known

    def _search(self, state: int, split: int, token: int) -> int:
        key = state, split, token
        known = self._verdicts.get(key)
        while known is None:
            verdict = canonical_search.search_inside(
                self._store.table.address, self.states.address, state, split, token, INSIDE_BUDGET, self.queue
            )
            if verdict == NEEDS_STATE:
                self.states.table(int(self.states.slots[canonical_search.REPORT]))
            else:
                known = self._verdicts[key] = verdict
        return known


class Review:
    """Filters of one generation of a grammar."""

    def __init__(self, generation: Generation, inside: StateReview) -> None:
        self._generation: Generation = weakref.proxy(generation)  # which holds this review
        self._inside = inside
        self._store = inside._store
        self.states = inside.states
        self._filters: dict[tuple[int, int, int, int], Filter] = {}
        self._removed: dict[tuple[int, int], Removed] = {}
        self._verdicts: dict[tuple[int, int, int], int] = {}
        self._parts = np.zeros(canonical_parts.D_FIELDS, np.int64)

    def known(self, configuration: int, split: int, before: int, chain: int) -> Filter | None:
        """The filter of a position, if it is known."""
        return self._filters.get((configuration, split, before, chain))

    def filter(self, configuration: int, split: int, before: int, chain: int) -> Filter:
        """The filter of a position: configuration, split state, last token, chain; call it under the store's lock.

        Raises
        ------
        LimitExceeded : the mask needs more work than the limits allow.
        """
        key = configuration, split, before, chain
        found = self._filters.get(key)
        if found is None:
            if len(self._filters) >= MOST_FILTERS:
                self._filters.clear()
                self._removed.clear()
                self._verdicts.clear()
            with self.states.lock:
                found = self._filters[key] = self._make(configuration, split, before, chain)
        return found

    def _make(self, configuration: int, split: int, before: int, chain: int) -> Filter:
        states = self.states
        table = states.table(split)
        words, pairs = states.following(split, before)
        removed, is_cut, few, accepts, is_named = self._find_removed(configuration, split)
        may_end, is_plain = bool(states.may_end[split]), False
        if configuration == ENDED:
            words, pairs, may_end = np.full_like(words, -1), NOTHING, True
        elif table.is_mixed and before >= 0:
            breaking = table.breaking != REFUSED_SPLIT
            mixed = np.flatnonzero(breaking) if states.is_lone(before) else states.incompatible(before)
            mixed = mixed[breaking[mixed] & (table.breaking[mixed] != table.fitting[mixed])].astype(np.int32)
            dead, more_cut = self._review_tokens(configuration, split, mixed, True)
            if len(mixed):
                removed = np.sort(np.concatenate([np.setdiff1d(removed, mixed), dead])).astype(np.int32)
            is_cut = is_cut or more_cut
        if chain < NO_CHAIN and not table.is_partial:
            goes_on = np.zeros(len(words) * 32, bool)
            goes_on[: len(table.goes_on)] = table.goes_on
            goes_on[states.incompatible(before)] = False
            words, may_end = words & np.packbits(goes_on, bitorder="little").view(np.int32), False
        for token in states.chain_ends(chain):
            if token not in removed and not self._goes_on(configuration, split, before, token):
                removed = np.sort(np.append(removed, np.int32(token)))
        if is_named and not may_end:
            is_cut = is_plain = may_end = True
            words, pairs, removed = np.full_like(words, -1), NOTHING, NOTHING
        elif len(few) and not (accepts and may_end):
            left = few[words[few >> 5] >> (few & 31) & 1 != 0]
            if not np.setdiff1d(left, np.concatenate([pairs, removed])).size:
                is_cut = is_plain = True
                words, pairs, removed = np.full_like(words, -1), NOTHING, NOTHING
        return Filter(words, pairs, removed, may_end, is_cut, is_plain)

    def _goes_on(self, configuration: int, split: int, before: int, token: int) -> bool:
        """Whether the word may go on behind a token that would complete a word that is a token."""
        after = self.states.after(split, before, token)
        reached = REFUSED if after == REFUSED_SPLIT else self._generation.run(engine.ACCEPT, configuration, token)
        if reached == REFUSED:
            return True  # refused in any case
        table = self.states.table(after)
        if table.is_partial:
            return True
        allowed = table.goes_on.copy()
        allowed[self.states.incompatible(token)] = False
        allowed[self._find_removed(reached, after).tokens] = False
        tokens = np.flatnonzero(allowed).astype(np.int32)
        return any(self._generation.run(engine.ACCEPT, reached, other) != REFUSED for other in tokens.tolist())

    def _find_removed(self, configuration: int, split: int) -> Removed:
        """Tokens without a canonical continuation, taken as compatible with the token before; whether one was cut."""
        known = self._removed.get((configuration, split))
        if known is not None:
            return known
        if configuration == ENDED:
            return Removed(NOTHING, False, NOTHING, True)
        self._generation.run(engine.BUILD_MASK, configuration)
        parts = self._parts
        canonical_parts.describe(self._store.table.address, self._generation.table.address, configuration, parts)
        dead, unsure = NOTHING, []
        inside = parts[D_STATE_KIND] == MASK_WORDS
        if inside:
            dead, open_ = self._inside.review(int(parts[D_STATE]), split, int(parts[D_INSIDE]), self._n_words)
            unsure.append(open_)
        elif parts[D_STATE_KIND] == MASK_LIST:
            unsure.append(_view(int(parts[D_INSIDE]), int(parts[D_N_INSIDE])))
        if parts[D_KIND] == MASK_LIST:
            unsure.append(_view(int(parts[D_CROSSING]), int(parts[D_N_CROSSING])))
        else:
            own = _view(int(parts[D_CROSSING]), self._n_words)
            bits = own & ~_view(int(parts[D_INSIDE]), self._n_words) if inside else own
            unsure.append(np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).astype(np.int32))
        found, is_cut = self._review_tokens(configuration, split, np.concatenate(unsure), False)
        are_few = not inside and parts[D_KIND] == MASK_LIST
        few = np.concatenate(unsure) if are_few else NOTHING
        is_named = bool(parts[D_NAMES]) and are_few and not len(few)
        made = self._removed[configuration, split] = Removed(
            np.sort(np.concatenate([dead, found])), is_cut, few, bool(parts[D_ACCEPTS]), is_named
        )
        return made

    @property
    def _n_words(self) -> int:
        return self._store.n_words

    def _review_tokens(self, configuration: int, split: int, tokens: Tokens, breaks: bool) -> tuple[Tokens, bool]:
        """Those of some tokens that have no canonical continuation; whether a search was cut."""
        if not len(tokens):
            return NOTHING, False
        self.states.table(split)
        unsure = np.zeros((len(tokens) + 1, 3), np.int64)
        first, before = 0, (-1, -1)
        while True:
            status = canonical_search.review_tokens(
                self._store.table.address, self._generation.table.address, self.states.address,
                configuration, split, tokens, first, breaks, unsure,
            )  # fmt: skip
            if status != NEEDS_TEXT:
                break
            first = int(unsure[-1, 1])
            missing = first, int(self.states.slots[canonical_search.REPORT_BYTE])
            if missing == before:  # cannot be built: taken as unsure
                break
            before = missing
            self._build(self._generation.run(engine.ACCEPT, configuration, int(tokens[first])))
        dead, is_cut = [], status == NEEDS_TEXT
        for token, packed, after in unsure[: unsure[-1, 0]].tolist():
            verdict = self._verdicts.get((packed, after, token))
            if verdict is None:
                reached = self._generation.run(engine.ACCEPT, configuration, token)
                verdict = self._verdicts[packed, after, token] = self._search(reached, after, token)
            if verdict == NOTHING_FOLLOWS:
                dead.append(token)
            is_cut = is_cut or verdict == CUT
        return np.array(dead, np.int32), is_cut

    def _build(self, configuration: int) -> None:
        """Build the steps over all bytes."""
        if configuration != REFUSED:
            self._generation.run(engine.LIVE_BYTES, configuration, data=np.zeros(256, np.int32))

    def _search(self, configuration: int, split: int, token: int) -> int:
        """Whether a canonical continuation exists behind `token`, which led to the configuration and split state."""
        states, queue = self.states, self._inside.queue
        for _ in range(MOST_MISSES):
            verdict: int = canonical_search.search(
                self._store.table.address, self._generation.table.address, states.address,
                configuration, split, token, BUDGET, queue,
            )  # fmt: skip
            if verdict == NEEDS_STATE:
                states.table(int(states.slots[canonical_search.REPORT]))
            elif verdict == NEEDS_TEXT:
                path = self._path_to(int(states.slots[canonical_search.REPORT_NODE]))
                entry = int(states.slots[canonical_search.REPORT_ENTRY])
                while entry != 0:
                    path = self._store.tokenizer.token_bytes(int(queue[entry, 2])) + path
                    entry = int(queue[entry, 3])
                data = np.frombuffer(path, np.uint8).astype(np.int32)
                self._build(self._generation.run(engine.ADVANCE, configuration, data=data))
            else:
                return verdict
        return CUT

    def _path_to(self, node: int) -> bytes:
        """Bytes from the root of the trie to a node."""
        trie = self._store.tokenizer.trie
        path, at = bytearray(), 0
        while at != node:
            for child in range(int(trie.child_first[at]), int(trie.child_first[at + 1])):
                below = int(trie.child_node[child])
                if below <= node < int(trie.node[below]) >> TRIE_END_SHIFT & TRIE_END_MASK:
                    path.append(int(trie.child_byte[child]))
                    at = below
                    break
        return bytes(path)


def _view(address: int, n: int) -> Tokens:
    """A copy of int32[n] at an address."""
    if n == 0:
        return NOTHING
    return np.frombuffer(ctypes.string_at(address, 4 * n), np.int32)
