"""What is packed into the 64 bits of a node of the token trie (llmask/trie/layout.py).

In: a word. Out: numbers. Cost: a shift and a mask.
"""

from ..machine.constants import (
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_SHIFT,
)
from ..machine.jit import inline


@inline
def byte_of(word):
    """The byte on the edge into the node."""
    return word & TRIE_BYTE_MASK


@inline
def depth_of(word):
    """Bytes from the root."""
    return (word >> TRIE_DEPTH_SHIFT) & TRIE_DEPTH_MASK


@inline
def subtree_end(word):
    """The first node after the subtree."""
    return (word >> TRIE_END_SHIFT) & TRIE_END_MASK


@inline
def token_of(word):
    """The token that ends at the node, or -1."""
    return (word >> TRIE_TOKEN_SHIFT) - 1
