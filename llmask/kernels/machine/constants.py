"""Reserved values and field positions, each with its reason. Kernels freeze them when they are compiled."""

# --- token trie: one 64-bit word a node (llmask/trie/layout.py draws it)
TRIE_BYTE_MASK = 0xFF  # bits 0-7: byte on the edge into the node, 0 for the root
TRIE_DEPTH_SHIFT = 8  # bits 8-19: bytes from the root
TRIE_DEPTH_MASK = 0xFFF
TRIE_END_SHIFT = 20  # bits 20-41: first node after this subtree
TRIE_END_MASK = 0x3FFFFF
TRIE_TOKEN_SHIFT = 42  # bits 42-62: token id + 1, 0 = no token ends here; bit 63 stays 0: words are never negative
TRIE_TOKEN_MASK = 0x1FFFFF
ROOT = 0
NO_TOKEN = -1
MAX_TOKEN_BYTES = TRIE_DEPTH_MASK
MAX_TRIE_NODES = TRIE_END_MASK
MAX_VOCAB_SIZE = TRIE_TOKEN_MASK - 1
