"""The slots of the table of split states: what canonical masks know of a tokenizer alone, for all grammars of a store.

The slots up to GRAMMAR.n_slots are named as in a grammar's table: what is found for lexer states alone is remembered
here as what is found for configurations is remembered there, by the same kernels. An "address" leads to an array that
Python made, and that all stores of the tokenizer share.

In: nothing. Out: `CANON`. Cost: none.
"""

from ..machine.records import Array, Map, Slots
from ..tables.grammar_layout import GRAMMAR

REFUSED_SPLIT = 0xFFFF  # no split state: the token may not follow
LINE_BYTES = 64  # of the processor's cache
NO_RUN = -1

CANON = Slots(
    *("split states", GRAMMAR.n_slots),
    encoder="address of the encoder's table",
    shared_bytes="a larger table keeps nothing more; then grammars keep it",
    budget="trie nodes of one search",
    inside_budget="the same by a lexer state alone",
    without_masks="split state whose masks are missing",
    n_missing="",
    missing=Array(32, "split states whose tables are missing"),
    is_open="1 when the lexeme might end on the way of the last search",
    # --- tokens; a kind is all tokens that no split state tells apart
    kinds="address of uint16[n_vocab]",
    n_kinds="",
    n_continuing="kinds below begin inside of a character",
    kind_first="address of int32[n_kinds + 1]",
    kind_tokens="address of int32[n_vocab]: tokens by kind",
    reachable="address of uint8[n_vocab]: tokens that merging makes",
    root_child="address of int32[256]: trie node of a byte, 0 = none",
    # --- split states; addresses of arrays by state
    fits="int64: address of uint16[n_kinds], state after a token that is compatible, 0 = missing",
    breaks="the same for one that is not",
    goes_on="the same for one that must not end the word",
    word_ends="int64[n, 2]: ASCII characters that end the word",
    may_end="int64: 1 where the text may end",
    starts="int64[n, 4]: first bytes of the tokens that may follow",
    is_partial="uint8: inside of a character; the tables have the kinds below n_continuing only",
    is_plain="uint8: a plain character ends the word",
    following="int64: address of the mask of what may follow, 0 = missing",
    lone_following="the same after a token that is a word of its own",
    ranks="int64: address of tokens in the order of `order`, 0 = missing, see following.py",
    rank_of="int64: address of int32[n_vocab], the place of a token there + 1, 0 = none",
    keys="int64[n, STATE_FIELDS], see split.py",
    splitter="address of its table, see split.py; states below the number of its rows are rows",
    start_split="the state before any text",
    longest_token="in bytes",
    # --- what merges with what (pairs.py); addresses
    children_first="int32[n + 2]: the children of token t lie from entry t + 1 on",
    child_ranks="int32: of each child of each parent the rank",
    run_first="int32: of each the run that its merge refuses; NO_RUN: not made after its parts",
    run_end="",
    tree_first="int32[n]: the tree below a token in `order`",
    order="int32[n]: tokens",
    n_order="",
    odd="int32[...]: tokens that are asked for one by one, see pairs.py",
    odd_first="int32[n + 1]: the tokens for merges with token t lie from entry t on",
    # --- words that are tokens (chains.py); addresses
    n_chains="",
    chain_root="int32[n_vocab]: chain_next of a token that begins such a word, or 0",
    chain_first="int32[n + 1]",
    chain_tokens="int32[...], sorted for each node",
    chain_next="int32[...]: node * 2, + 1 at the end of such a word",
    forks="int64[n, 2], sorted, see chains.py",
    n_forks="",
    # --- found so far
    pair_lists=Array(64, "[n]: of a split state the address of int32[n_vocab], or 0: of a last token a list"),
    n_pair_lists="split states outside of characters",
    byte_masks=Map("split state, byte, runs -> mask in tokens, see profiles.py"),
    profiles=Map("split state, token -> runs in tokens, see profiles.py"),
    witnesses=Map("split state, token -> a text that can follow, see witnesses.py"),
    inside=Map("mask, lexer state or part, split state -> tokens, see inside.py"),
    answers=Array(64, "of the mask in progress, see dead.py"),
    live=Array(64, "[n_states, LIVE_FIELDS]: 1 when known, the bytes that a lexer state takes"),
    # --- scratch
    queue=Array(64, "[MOST_ENTRIES, ENTRY]"),
    walk=Array(64, "places and states on the way through the trie"),
    search_walk=Array(64, "[..., FRAME], see search.py"),
    found=Array(32, "tokens"),
    n_found="",
    doubtful=Array(32, "tokens"),
    n_doubtful="",
    open_ends=Array(64, "[n_doubtful, 2]: how the lexemes of tokens in `doubtful` end, see inside.py"),
    again=Array(32, "[n_words]: bits of `doubtful`, see dead.py"),
    candidates=Array(32, "tokens"),
    n_candidates="",
    ranges=Array(32, "int32[..., 2]: parts of the list in `ranks`, see following.py"),
    n_ranges="numbers in it",
    text_room=Array(8, "bytes"),
)
CANON_POOLS = (CANON.pair_lists, CANON.n_pair_lists)
CANON_BLOCKS = (
    *(GRAMMAR.ends_of_text, GRAMMAR.ends_of_text + 1, GRAMMAR.verdicts, GRAMMAR.verdicts + 1),
    GRAMMAR.tokens,
    *CANON.blocks,
)
