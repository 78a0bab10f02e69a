"""What canonical masks know of a tokenizer before any text: kinds of tokens, and what merges.

    kinds     tokens that no split state tells apart are one kind: 128,256 tokens of Llama 3 are some thousand kinds
    forest    tokens below their left halves, from which incompatible tokens are listed (kernels/canonical/pairs.py)

Some hundreds of tokens of Llama 3 are made by no merges and are only found as whole words; such a token is *lone*: it
has no neighbours in its word.

In: a BPE encoder. Out: slots of the table of split states. Cost: 0.3 s once a tokenizer of 128,256 tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..encoders.bpe import BpeEncoder
from ..errors import VocabularyError
from ..kernels.canonical import pairs as canonical_pairs
from ..kernels.canonical import split as canonical_split
from ..kernels.canonical.slots import CANON, NO_RUN
from ..kernels.encoders import bpe_pairs
from ..kernels.encoders.encoder_slots import EncoderSlot

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer
    from .splitting import SplitAutomaton

# of a token: no encoding has it, merging makes it, it is a word of its own, it is cut out of texts by its name
NEVER, MERGED, LONE, NAMED = range(4)
MOST_ODD = 400_000  # pairs of tokens that are asked for one by one
Slots = dict[int, npt.NDArray[Any]]  # arrays by the slot of their address


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def uses_of(tokenizer: Tokenizer, encoder: BpeEncoder) -> npt.NDArray[np.uint8]:
    """NEVER, MERGED, LONE or NAMED, for every token."""
    uses = encoder.tables.is_reachable[: tokenizer.vocab_size].astype(np.uint8) * MERGED
    if tokenizer._parts.vocabulary.encoder.ignore_merges:
        for token in np.flatnonzero(uses == NEVER).tolist():
            data = tokenizer.token_bytes(token)
            if data and is_text(data) and encoder.encode_word(data) == [token]:
                uses[token] = LONE
    uses[[token for _, token in tokenizer._parts.user_defined]] = NAMED
    return uses


class Kinds:
    """Tokens grouped by what the splitter makes of them; `splitter` is its table (kernels/canonical/split.py).

    Attributes
    ----------
    of_token : uint16[n_vocab].
    first, tokens : int32: the tokens of kind k are `tokens[first[k] : first[k + 1]]`.
    samples : int32[n_kinds], a token of each.
    starts : int64[n_kinds, 4], the bits of their first bytes.
    n_continuing : kinds below are single tokens that begin inside of a character.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        splitter: npt.NDArray[np.int64],
        automaton: SplitAutomaton,
        uses: npt.NDArray[np.uint8],
    ) -> None:
        n, classes = tokenizer.vocab_size, automaton.class_of_code_point
        offsets, data = tokenizer._parts.token_offsets, tokenizer._parts.token_data
        has_bytes = np.diff(offsets) > 0
        leads = np.zeros(n, np.uint8)
        leads[has_bytes] = data[offsets[:-1][has_bytes]]
        is_continuing = (leads & 0xC0 == 0x80) & (uses != NEVER)
        continuing = np.flatnonzero(is_continuing)
        others = np.flatnonzero(~is_continuing).astype(np.int32)
        numbers: dict[object, int] = {}
        class_of = np.empty(len(others), np.int64)
        for place, token in enumerate(others.tolist()):
            use = uses.item(token)
            key = use, use in (MERGED, LONE) and _class_string(tokenizer.token_bytes(token), classes)
            class_of[place] = numbers.setdefault(key, len(numbers))
        _, samples = np.unique(class_of, return_index=True)
        signatures = np.empty(len(samples), np.int64)
        canonical_split.sign_tokens(splitter.ctypes.data, len(automaton.rows), others[samples], uses, signatures)
        # tokens of several uses never share a kind, whatever the splitter makes of them
        _, group_of = np.unique(np.stack((signatures, uses[others[samples]])), axis=1, return_inverse=True)
        self.n_continuing = len(continuing)
        kinds = np.zeros(n, np.int64)
        kinds[continuing] = np.arange(len(continuing))
        kinds[others] = group_of[class_of] + len(continuing)
        n_kinds = int(kinds.max()) + 1
        assert n_kinds <= np.iinfo(np.uint16).max
        self.of_token = kinds.astype(np.uint16)
        self.tokens = np.argsort(kinds, kind="stable").astype(np.int32)
        self.first = np.searchsorted(kinds[self.tokens], np.arange(n_kinds + 1)).astype(np.int32)
        self.samples = self.tokens[self.first[:-1]]
        begins = np.zeros((n_kinds, 256), bool)
        begins[kinds[has_bytes], leads[has_bytes]] = True
        self.starts = np.packbits(begins, axis=1, bitorder="little").view(np.int64)

    def slots(self) -> Slots:
        """Arrays by slot."""
        return {
            CANON.kinds: self.of_token,
            CANON.kind_first: self.first,
            CANON.kind_tokens: self.tokens,
        }


def _class_string(data: bytes, classes: npt.NDArray[np.uint8]) -> bytes | tuple[bytes]:
    """The classes of a token's characters, by which the splitter reads it; of one that is no text its bytes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return (data,)
    return classes[np.frombuffer(text.encode("utf-32-le"), np.uint32)].tobytes()


def forest(encoder: BpeEncoder, kinds: Kinds, uses: npt.NDArray[np.uint8]) -> tuple[Slots, npt.NDArray[np.int32]]:
    """The forest of left halves, and the runs of tokens that merges refuse: arrays by slot; kinds of `order`.

    What is in no run has the number of kinds in place of its kind.
    """
    made_of = encoder.tables.get(EncoderSlot.MADE_OF)
    right, rank, time, limit = (
        made_of[:, bpe_pairs.MADE.places[name]].astype(np.int64) for name in ("right", "rank", "time", "right_limit")
    )
    parents = made_of[:, 0].astype(np.int64)
    n = len(parents)
    is_late = (time >= 0) & (time != rank)
    limits = np.where(is_late, -1, limit)
    children = np.lexsort((-limits, parents)).astype(np.int32)
    counts = np.searchsorted(parents[children], np.arange(-1, n + 1)).astype(np.int32)
    first, end, order = (np.zeros(n, np.int32) for _ in range(3))
    canonical_pairs.order_spines(encoder.tables.address, counts, children, first, end, order)
    # the run of a merge to token t: the tree of its right half b, up to the first child of b that is made before
    below = right[children]
    order_of_children = (parents[children] << 32) - limits[children]
    cut = np.searchsorted(order_of_children, (below << 32) - rank[children])
    is_whole = cut >= counts[below + 2]
    run_end = np.where(is_whole, end[below], first[children[np.minimum(cut, n - 1)]])
    run_first = np.where(is_late[children], NO_RUN, first[below])
    is_odd = np.zeros(n, bool)
    for token in np.flatnonzero(is_late).tolist():
        is_odd[order[first[token] : end[token]]] = True
    n_vocab = len(uses)
    asked = _pairs_to_ask(np.flatnonzero(is_odd[:n_vocab] & (uses == MERGED)).tolist(), parents, right)
    for token in np.flatnonzero(is_late).tolist():
        tree = order[first[right[token]] : end[right[token]]]
        asked |= {(int(parents[token]), other) for other in tree[(tree < n_vocab) & ~is_odd[tree]].tolist()}
    lefts, odd = np.array(sorted(asked), np.int32).reshape(-1, 2).T
    kinds_in_runs = np.full(n, len(kinds.samples), np.int32)
    kinds_in_runs[:n_vocab][~is_odd[:n_vocab]] = kinds.of_token[~is_odd[:n_vocab]]
    kinds_in_runs = kinds_in_runs[order]
    # parts of merges that are no tokens are in no run, and any token may be asked in their place
    order[order >= n_vocab] = np.flatnonzero(time[:n_vocab] != bpe_pairs.UNREACHED)[:1]
    return {
        CANON.children_first: counts,
        CANON.child_ranks: rank[children].astype(np.int32),
        CANON.run_first: run_first.astype(np.int32),
        CANON.run_end: run_end.astype(np.int32),
        CANON.tree_first: first,
        CANON.order: order,
        CANON.odd: np.ascontiguousarray(odd),
        CANON.odd_first: np.searchsorted(lefts, np.arange(n + 1)).astype(np.int32),
    }, kinds_in_runs


def _pairs_to_ask(odd: list[int], parents: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> set[tuple[int, int]]:
    """Each odd token with every token that is merged with one on its left spine."""
    asked: set[tuple[int, int]] = set()
    for token in odd:
        spine = token
        while spine >= 0:
            asked |= {(left, token) for left in parents[right == spine].tolist()}
            spine = int(parents[spine])
        if len(asked) > MOST_ODD:
            raise VocabularyError(
                "canonical masks are not built for this vocabulary: too many tokens are made before their parts",
                help="compile without canonical=True",
            )
    return asked
