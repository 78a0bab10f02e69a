"""Where an encoder's table keeps what: slots of one int64 array, whose address is all that a door takes.

    splitting   class index, class blocks, one table of transitions a pattern (llmask/encoders/pattern_automaton.py)
    tokens      offsets and bytes of all tokens
    words       hash table from bytes to tokens (bpe_words.py)
    merging     what each token is made of, and a hash table of pairs (bpe_pairs.py)
    trie        double array of the tokens (double_array.py)

In: nothing. Out: numbers of slots. Cost: none.
"""

from ..machine.records import Kind

MAX_PATTERNS = 12
N_ENCODER_SLOTS = 30


class EncoderSlot(Kind):
    """Slots of an encoder's table."""

    # --- splitting
    N_PATTERNS = 0
    N_CLASSES = 1
    CLASS_INDEX = 2  # uint16[4352]
    CLASS_BLOCKS = 3  # uint8[n_blocks * 256]
    TRANSITIONS = 4  # MAX_PATTERNS slots: int32[n_states * (n_classes + 1)]

    # --- tokens
    OFFSETS = 16  # int32[n_tokens + 1]
    DATA = 17  # uint8[n_bytes]

    # --- words
    WORDS = 18  # hash table, see bpe_words.py
    WORD_BITS = 19  # the table has 1 << WORD_BITS entries
    LONGEST_WORD = 20  # no longer word is looked up

    # --- merging
    MADE_OF = 21  # the history of each token, see bpe_pairs.py
    PAIRS = 22  # hash table: left << 42 | right << 21 | made, 0: free
    PAIR_BITS = 23
    PAIR_FILTER = 24  # bits by hash: 0 where no pair has it
    MERGES = 25  # all pairs with their ranks, for the heap: see merges_table.py
    MERGE_BITS = 26
    BYTE_TOKENS = 27  # int32[256]: token of a byte, -1: none
    IS_WHOLE = 28  # 1: a word that is a token is that token, whatever the merges say

    # --- trie
    FORWARD = 29  # int64[n], double array of the tokens
