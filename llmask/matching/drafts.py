"""The masks after each token of a tree of drafts, as speculative decoding verifies them.

One compiled call walks the tree (kernels/mask/draft_tree.py); what it does not find is built, and it goes on. Matchers
whose next token is not a matter of the grammar alone (canonical masks, a prefix, `max_tokens`) walk with forks, as do
all where rows of the bitmask do not lie side by side.

In: a matcher, the tree. Out: rows of a bitmask; the matcher is unchanged. Cost: 3 us a tree and 0.2 us a known node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arguments import as_bitmask, as_integer, no_such_row
from ..errors import LimitExceeded, LlmaskError
from ..kernels import engine
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.mask.draft_tree import ALLOWED, NEW, NONE, STACKED, STATE_FIELDS, WalkEnd
from ..kernels.tables.operations import Operation

if TYPE_CHECKING:
    from .sequence import Sequence

Nodes = npt.NDArray[np.int64]
INT64 = np.dtype(np.int64)
ROOT = 0


def fill_tree(
    sequence: Sequence, bitmask: Any, next_token: Any, next_sibling: Any, draft_tokens: Any, row: int = 0
) -> int:
    """See `Matcher.fill_tree`."""
    tokens = _nodes(draft_tokens, "draft_tokens")
    links = _nodes(next_token, "next_token"), _nodes(next_sibling, "next_sibling")
    if not len(links[0]) == len(links[1]) == len(tokens) > 0:
        _check_tree(*links, tokens)
    return _filled(sequence, _rows(sequence, bitmask, row, len(tokens)), *links, tokens)


def fill_drafts(sequence: Sequence, bitmask: Any, draft_tokens: Any, row: int = 0) -> int:
    """See `Matcher.fill_drafts`."""
    drafts = _nodes(draft_tokens, "draft_tokens")
    n_nodes = len(drafts) + 1
    next_token = np.arange(1, n_nodes + 1)
    next_token[-1] = NONE
    tokens = np.concatenate([[NONE], drafts])
    return _filled(sequence, _rows(sequence, bitmask, row, n_nodes), next_token, np.full(n_nodes, NONE), tokens) - 1


def _filled(sequence: Sequence, words: Any, next_token: Nodes, next_sibling: Nodes, tokens: Nodes) -> int:
    """How many nodes are allowed, their masks written to the rows of a bitmask."""
    if sequence.follows_grammar and words.flags.c_contiguous:
        try:
            n_allowed = _walk_compiled(sequence, words, next_token, next_sibling, tokens)
        except LimitExceeded:
            if sequence.on_limit != "finish":
                raise
            n_allowed = None
        if n_allowed is not None:
            return n_allowed
    _check_tree(next_token, next_sibling, tokens)
    return _walk_with_forks(sequence, words, next_token.tolist(), next_sibling.tolist(), tokens.tolist())


def _walk_compiled(sequence: Sequence, words: Any, next_token: Nodes, next_sibling: Nodes, tokens: Nodes) -> int | None:
    """How many nodes are allowed; None: the vocabulary lacks a token, and a matcher has to say where."""
    n_nodes = len(tokens)
    before, after = STATE_FIELDS + n_nodes, STATE_FIELDS + 2 * n_nodes
    while True:
        generation = sequence.generation
        state = np.empty(STATE_FIELDS + 3 * n_nodes, np.int64)
        state[STACKED] = NEW
        while generation is sequence.generation:
            ended_by = engine.fill_drafts(sequence.cell_address, next_token, next_sibling, tokens, state, words, 0)
            if ended_by == WalkEnd.WALKED:
                return int(state[ALLOWED])
            if ended_by == WalkEnd.NO_TREE:
                _check_tree(next_token, next_sibling, tokens)
            if ended_by == WalkEnd.NO_TOKEN:
                return None
            node = int(state[STATE_FIELDS + state[STACKED] - 1])
            sequence.make_room()
            if generation is not sequence.generation:
                continue  # configurations have other numbers now
            if ended_by == WalkEnd.NO_MASK:
                generation.run(Operation.BUILD_MASK, int(state[after + node]))
            else:
                assert ended_by == WalkEnd.NO_STEP
                state[after + node] = _built_after(sequence, int(state[before + node]), int(tokens[node]))


def _built_after(sequence: Sequence, configuration: int, token: int) -> int:
    """The configuration after a token, which is built; REFUSED."""
    reached = sequence.generation.run(Operation.ACCEPT, configuration, token)
    is_end = token in sequence.store.tokenizer.eos_ids
    if reached == REFUSED and is_end and engine.is_accepting(sequence.grammar_address, configuration):
        return ENDED
    return reached


def _walk_with_forks(
    sequence: Sequence, words: Any, next_token: list[int], next_sibling: list[int], tokens: list[int]
) -> int:
    """The same with a matcher for each node that waits."""
    waiting = [(ROOT, sequence)]
    n_allowed = 0
    while waiting:
        node, before = waiting.pop()
        after = before.fork()
        is_allowed = node == ROOT or after.accept(tokens[node])
        if is_allowed:
            after.fill_bitmask(words, node)
            n_allowed += 1
        if next_sibling[node] != NONE:
            waiting.append((next_sibling[node], before))
        if is_allowed and next_token[node] != NONE:
            waiting.append((next_token[node], after))
    return n_allowed


def _nodes(values: Any, what: str) -> Nodes:
    """What a caller says of each node as int64[n]: a list, NumPy, or torch on the CPU."""
    if type(values) is np.ndarray and values.dtype is INT64 and values.ndim == 1:
        flags = values.flags
        if flags.c_contiguous and flags.writeable and flags.aligned:
            return values
    try:
        array = np.asarray(values)
        if array.ndim == 1 and (array.dtype.kind in "iu" or not len(array)):
            return np.array(array, np.int64)  # kernels take arrays that may be written
    except (TypeError, ValueError, RuntimeError, OverflowError):
        pass
    raise LlmaskError(f"{what} is int64[n], not {type(values).__name__}", help="give a list of integers or an array")


def _check_tree(next_token: Nodes, next_sibling: Nodes, tokens: Nodes) -> None:
    """Refuse what is no tree with its root at node 0: each other node is reached in one way at most."""
    n_nodes = len(tokens)
    if not n_nodes == len(next_token) == len(next_sibling):
        raise LlmaskError(
            f"a tree has {len(next_token)} next_token, {len(next_sibling)} next_sibling and {n_nodes} draft_tokens",
            help="each has a value for every node, -1 where no node follows",
        )
    if n_nodes == 0:
        raise LlmaskError("a tree of drafts has no node", help="node 0 is the last accepted token")
    links = np.concatenate([next_token, next_sibling])
    found = links[links != NONE]
    wrong = found[(found <= ROOT) | (found >= n_nodes)]
    if len(wrong):
        raise LlmaskError(
            f"a tree of {n_nodes} nodes has no node {wrong[0]} after another one",
            help="next_token and next_sibling name nodes from 1 on, -1: none",
        )
    twice = np.flatnonzero(np.bincount(found, minlength=1) > 1)
    if len(twice):
        raise LlmaskError(f"node {twice[0]} of a tree is named twice", help="a node has one parent")
    if next_sibling[ROOT] != NONE:
        raise LlmaskError("node 0 of a tree has a sibling", help="it is the last accepted token: next_sibling[0] is -1")


def _rows(sequence: Sequence, bitmask: Any, row: int, n_rows: int) -> Any:
    """The rows of the nodes."""
    words, row = as_bitmask(bitmask), as_integer(row, "a row")
    if row < 0 or row + n_rows > len(words) or words.shape[1] < sequence.store.n_words:
        raise no_such_row(row + n_rows - 1 if row >= 0 else row, words, sequence.store.n_words)
    return words[row : row + n_rows]
