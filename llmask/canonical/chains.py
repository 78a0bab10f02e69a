r"""Words that are tokens whatever the merges say (`ignore_merges`), and what merging would make of them.

Llama 3 encodes a word that is a token as that token. The sequence of tokens that merging makes of its bytes, a *chain*,
is no encoding where it is a whole word; where the word is longer it is one. So of the text so far is kept how far the
word is such a chain (kernels/canonical/chains.py): a node in the tree of chains.

Where the splitter has not decided whether the word ends before a token, there is a *fork*: as far as it ends there the
token begins a chain, as far as it goes on the token goes on in one.

    "   ula"   `\s+(?!\S)` takes two of three blanks, and " ula" is a word. After "  ", " " the second token is of a
               word with the first if more blanks come; if a letter comes it begins a word, and the chain " ", "ula",
               "ş" of the token " ulaş".

After a fork there are several *parts*: split states, each a part of what the splitter guesses, with the nodes where a
chain would be. They are numbered as nodes are, after the last of these. If a chain is complete in one
part the word must go on as far as that part is concerned, which rows of the splitter's automaton say (`row_going_on`
in splitting.py).

In: a BPE encoder, an automaton. Out: slots of the table of split states. Cost: 0.1 s for 588 words of Llama 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import LimitExceeded, VocabularyError
from ..kernels.canonical.chains import NO_CHAIN
from ..kernels.canonical.positions import BEFORE_BITS, SPLIT_BITS
from ..kernels.canonical.slots import CANON, REFUSED_SPLIT
from ..kernels.canonical.split import BREAKS, DEAD, FITS, INSIDE, REFUSED, START
from .neighbours import LONE, Slots

if TYPE_CHECKING:
    from ..encoders.bpe import BpeEncoder
    from ..tokenizer.tokenizer import Tokenizer
    from .splitting import SplitAutomaton

MOST_NODES = 4_000_000  # of chains; contexts have bits for 16 million (kernels/canonical/positions.py)
MOST_PLACES = 200_000  # split states with parts; Llama 3 has 3,000
Part = tuple[int, int]  # a packed split state (kernels/canonical/split.py), a node
Step = Callable[[int, npt.NDArray[np.int32]], npt.NDArray[np.int64]]  # states after tokens, a line for each mark


class Place(NamedTuple):
    """How far chains have come: the packed split state, its parts; `must_go_on`: a chain is complete in all of it."""

    state: int
    parts: frozenset[Part]
    must_go_on: bool


class ChainTree:
    """The tree of chains.

    Attributes
    ----------
    below : of each node the nodes of the tokens that go on in a chain; node 0 is that before any.
    ends : nodes where a chain is complete.

    Raises
    ------
    LimitExceeded : there are more than MOST_NODES.
    """

    def __init__(self, tokenizer: Tokenizer, encoder: BpeEncoder, uses: npt.NDArray[np.uint8]) -> None:
        self.below: list[dict[int, int]] = [{}]
        self.ends: set[int] = set()
        for token in np.flatnonzero(uses == LONE).tolist():
            try:
                chain = encoder.merge_word(tokenizer.token_bytes(token))
            except VocabularyError:
                continue  # some of its bytes are no tokens, so nothing else spells it
            node = 0
            for part in chain:
                if part not in self.below[node]:
                    self.below[node][part] = len(self.below)
                    self.below.append({})
                node = self.below[node][part]
            self.ends.add(node)
            if len(self.below) > MOST_NODES:
                raise LimitExceeded(
                    "the words that are tokens whatever the merges say would have more than "
                    f"{MOST_NODES} tokens by merging",
                    help="compile without canonical=True",
                )


class Chains:
    """Chains, and where they fork.

    `step` is what leads a packed split state on by tokens, REFUSED where no character may come.

    Raises
    ------
    LimitExceeded : chains have come to more than MOST_PLACES.
    """

    def __init__(self, tree: ChainTree, automaton: SplitAutomaton, step: Step) -> None:
        self._tree, self._automaton, self._step = tree, automaton, step
        tokens = sorted({token for children in tree.below for token in children})
        self._tokens = np.array(tokens, np.int32)
        self._index = {token: i for i, token in enumerate(tokens)}
        self._steps: dict[int, list[list[int]]] = {}
        self._numbers: dict[tuple[int, frozenset[Part]], int] = {}  # of several parts, or one that is not all
        self._forks: dict[tuple[int, int, int], Part] = {}  # state, chain, token -> state, chain
        self._seen: set[Place] = set()
        self._waiting: list[Place] = []  # from where chains have to be gone on
        self._explore()

    def _after(self, state: int, token: int) -> tuple[int, int, int]:
        """Packed states after a token with each mark."""
        if state not in self._steps:
            self._steps[state] = self._step(state, self._tokens).tolist()
        fits, breaks, inside = (self._steps[state][mark][self._index[token]] for mark in (FITS, BREAKS, INSIDE))
        return fits, breaks, inside

    def _explore(self) -> None:
        row = START
        while self._tree.ends and (row < len(self._automaton.rows) or self._waiting):
            if self._waiting:
                self._go_on(self._waiting.pop())
                continue
            for token, node in self._tree.below[0].items():
                fits, breaks, inside = self._after(row, token)
                if breaks != REFUSED:
                    begun = frozenset({(breaks, node)})
                    self._reach(breaks, begun)
                    if inside != REFUSED:
                        self._forks[row, NO_CHAIN, token] = fits, self._reach(fits, begun)
            row += 1

    def _go_on(self, place: Place) -> None:
        """Find where the tokens lead that go on in a chain."""
        chain = self._reach(*place)
        below, ends = self._tree.below, self._tree.ends
        for token in sorted({token for _, node in place.parts for token in below[node]}):
            fits, breaks, inside = self._after(place.state, token)
            if place.must_go_on:
                fits, breaks = inside, REFUSED
            reached = [(self._after(state, token)[2], below[node].get(token, 0)) for state, node in place.parts]
            reached = [(state, node) for state, node in reached if node != 0 and state != REFUSED]
            if not reached:
                continue
            if breaks == REFUSED and reached[0][0] == fits:  # there are no other guesses
                chain_there = self._reach(fits, frozenset(reached), reached[0][1] in ends)
                if chain >> 1 >= len(below):
                    self._forks[place.state, chain, token] = fits, chain_there
                continue
            parts = {(state, node) for state, node in reached if below[node]}
            if breaks != REFUSED and token in below[0]:
                parts.add((breaks, below[0][token]))
            for state, node in reached:
                fits = self._automaton.row_going_on(fits, state) if node in ends else fits
            self._automaton.find_rows()
            chain_there = self._reach(fits, frozenset(parts)) if fits != DEAD else NO_CHAIN
            self._forks[place.state, chain, token] = fits, chain_there

    def _reach(self, state: int, parts: frozenset[Part], must_go_on: bool = False) -> int:
        """The chain of a place, from where it has to be gone on later."""
        place = Place(state, parts, must_go_on)
        if parts and place not in self._seen:
            self._seen.add(place)
            self._waiting.append(place)
            if len(self._seen) > MOST_PLACES:
                raise LimitExceeded(
                    f"canonical masks need more than {MOST_PLACES} places in words that are tokens whatever the merges "
                    "say",
                    help="compile without canonical=True",
                )
        if not parts:
            return NO_CHAIN
        (part, node), *others = parts
        if not others and part == state:
            return node * 2 + must_go_on
        number = self._numbers.setdefault((state, parts), len(self._tree.below) + len(self._numbers))
        return number * 2

    def slots(self, n_vocab: int, number_of: Callable[[int], int]) -> Slots:
        """Arrays by slot, none without chains; `number_of` is the number of a packed split state."""
        below, ends = self._tree.below, self._tree.ends
        if not ends:
            return {}
        first, tokens, following = [0], [], []
        for children in below:
            for token, child in sorted(children.items()):
                tokens.append(token)
                following.append(child * 2 + (child in ends))
            first.append(len(tokens))
        for _, parts in self._numbers:
            tokens += sorted({token for _, node in parts for token in below[node]})
            following += [NO_CHAIN] * (len(tokens) - len(following))  # forks say where they lead
            first.append(len(tokens))
        root = np.zeros(n_vocab, np.int32)
        root[tokens[: first[1]]] = following[: first[1]]
        forks = {
            (chain << BEFORE_BITS | token) << SPLIT_BITS | number_of(state): chain_there << SPLIT_BITS
            | (REFUSED_SPLIT if after == DEAD else number_of(after))
            for (state, chain, token), (after, chain_there) in self._forks.items()
        }
        return {
            CANON.chain_root: root,
            CANON.chain_first: np.array(first, np.int32),
            CANON.chain_tokens: np.array(tokens, np.int32),
            CANON.chain_next: np.array(following, np.int32),
            CANON.forks: np.array(sorted(forks.items()), np.int64).reshape(-1, 2),
        }
