"""What a token begins with: the longest other token that is a beginning of it, for backtracking.

In: `TokenTrie` arrays. Out: PREFIX of every token. Cost: 2 ms for 128,000 tokens.
"""

from __future__ import annotations

from ..machine.constants import TRIE_DEPTH_MASK, TRIE_DEPTH_SHIFT, TRIE_TOKEN_MASK, TRIE_TOKEN_SHIFT
from ..machine.jit import door
from ..tables.memory import store_i32
from .bpe_pairs import MADE_BYTES, PREFIX
from .double_array import NOTHING


@door("void(int64[::1], int64, int32[::1])", group="tokenizer")
def link_prefixes(node, made_of, longest):
    """Write to every token of a trie the longest other token that it begins with; `longest` int32: a place a depth."""
    longest[0] = NOTHING
    for number in range(1, node.shape[0]):
        depth = (node[number] >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK
        token = ((node[number] >> TRIE_TOKEN_SHIFT) & TRIE_TOKEN_MASK) - 1
        longest[depth] = longest[depth - 1]
        if token >= 0:
            store_i32(made_of + token * MADE_BYTES + PREFIX, longest[depth - 1])
            longest[depth] = token
