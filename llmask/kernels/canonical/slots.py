"""Slots of the table of a store's split states: what canonical masks know of the tokenizer alone.

The slots up to GRAMMAR.n_slots are those of a grammar's table: what is found for lexer states alone is remembered here
as what is found for configurations is remembered there, by the same kernels.

In: nothing. Out: numbers of slots. Cost: none.
"""

from ..tables.grammar_layout import GRAMMAR

REFUSED_SPLIT = 0xFFFF  # no split state: the token may not follow
LINE_BYTES = 64  # of the processor's cache

ENCODER = GRAMMAR.n_slots  # address of the encoder's table
SHARED_BYTES = ENCODER + 1  # a larger table keeps nothing more; then grammars keep it
BUDGET = SHARED_BYTES + 1  # trie nodes of one search
INSIDE_BUDGET = BUDGET + 1  # the same by a lexer state alone
MOST_CANDIDATES = INSIDE_BUDGET + 1  # of a lexer state; negative: the trie is walked, see canonical/wide.py
REPORT = MOST_CANDIDATES + 1  # split state whose masks are missing
MOST_MISSING = 64
N_MISSING = REPORT + 1
MISSING = N_MISSING + 1  # MOST_MISSING slots: split states whose tables are missing
IS_OPEN = MISSING + MOST_MISSING  # 1 when the lexeme might end on the way of the last search

# --- tokens; a kind is all tokens that no split state tells apart
KINDS = IS_OPEN + 1  # address of uint16[n_vocab]
N_KINDS = KINDS + 1
N_CONTINUING = N_KINDS + 1  # kinds below begin inside of a character
KIND_FIRST = N_CONTINUING + 1  # address of int32[n_kinds + 1]
KIND_TOKENS = KIND_FIRST + 1  # address of int32[n_vocab]: tokens by kind
REACHABLE = KIND_TOKENS + 1  # address of uint8[n_vocab]: tokens that merging makes
ROOT_CHILD = REACHABLE + 1  # address of int32[256]: trie node of a byte, 0 = none

# --- split states; addresses of arrays by state
FOLLOWS = ROOT_CHILD + 1  # int64: address of uint16[n_kinds], state after a token that is compatible, 0 = missing
BREAKS = FOLLOWS + 1  # the same for one that is not
GOES_ON = BREAKS + 1  # the same for one that must not end the word
ENDS = GOES_ON + 1  # int64[n, 2]: ASCII characters that end the word
MAY_END = ENDS + 1  # int64: 1 where the text may end
STARTS = MAY_END + 1  # int64[n, 4]: first bytes of the tokens that FOLLOWS or BREAKS lets follow
IS_PARTIAL = STARTS + 1  # uint8: inside of a character; the tables have the kinds below N_CONTINUING only
IS_PLAIN = IS_PARTIAL + 1  # uint8: a plain character ends the word
FOLLOWING = IS_PLAIN + 1  # int64: address of the mask of what may follow, 0 = missing
LONE_FOLLOWING = FOLLOWING + 1  # the same behind a token that is a word of its own
RANKS = LONE_FOLLOWING + 1  # int64: address of tokens in the order of ORDER, 0 = missing, see canonical/following.py
RANK_OF = RANKS + 1  # int64: address of int32[n_vocab], the place of a token there + 1, 0 = none
KEYS = RANK_OF + 1  # int64[n, STATE_FIELDS], see canonical/split.py
SPLITTER = KEYS + 1  # address of its table, see canonical/split.py; states below the number of its rows are rows
START = SPLITTER + 1  # the state before any text

# --- where tokens end (llmask/canonical/phases.py); addresses
PHASES = START + 1  # uint8[N_PHASES, 256]
TOKEN_SORTS = PHASES + 1  # uint8[n_vocab], see canonical/wide.py
TOKEN_CHARACTERS = TOKEN_SORTS + 1  # uint16[n_vocab], one that is not complete counts
NOT_PLAIN = TOKEN_CHARACTERS + 1  # int32[n]: tokens that end between characters, and have others than plain ones
N_NOT_PLAIN = NOT_PLAIN + 1
HALF = N_NOT_PLAIN + 1  # int32[n]: tokens that end inside of a character
N_HALF = HALF + 1
OPEN = N_HALF + 1  # int32[n]: tokens that end inside of an escape, and those that are no text
N_OPEN = OPEN + 1
LONGEST = N_OPEN + 1  # bytes of the longest token

# --- what merges with what (canonical/pairs.py); addresses
CHILD_FIRST = LONGEST + 1  # int32[n + 2]: the children of token t lie from entry t + 1 on
CHILDREN = CHILD_FIRST + 1  # int32: tokens, of each parent
CHILD_RANKS = CHILDREN + 1  # int32: of each the rank
RUN_FIRST = CHILD_RANKS + 1  # int32: of each the run that its merge refuses; NO_RUN: not made after its parts
RUN_END = RUN_FIRST + 1
FIRST = RUN_END + 1  # int32[n]: the tree below a token in ORDER
END = FIRST + 1
ORDER = END + 1  # int32[n]: tokens
ORDER_KINDS = ORDER + 1  # int32[n]: kinds of these, + ODD_KIND
N_ORDER = ORDER_KINDS + 1  # n
ODD = N_ORDER + 1  # int32[m, ODD_FIELDS]: what odd merges refuse, see canonical/pairs.py
ODD_FIRST = ODD + 1  # int32[n + 1]: those of the merges with token t lie from entry t on

CONTINUING = ODD_FIRST + 1  # int32[n, 2]: place in ORDER and kind of tokens that begin inside of a character, by place
N_MERGED_CONTINUING = CONTINUING + 1  # n: those that merging makes

# --- words that are tokens (canonical/chains.py)
N_CHAINS = N_MERGED_CONTINUING + 1
CHAIN_ROOT = N_CHAINS + 1  # address of int32[n_vocab]: CHAIN_NEXT of a token that begins such a word, or 0
CHAIN_FIRST = CHAIN_ROOT + 1  # address of int32[n + 1]
CHAIN_TOKENS = CHAIN_FIRST + 1  # address of int32[...], sorted for each node
CHAIN_NEXT = CHAIN_TOKENS + 1  # address of int32[...]: node * 2, + 1 at the end of such a word
FORKS = CHAIN_NEXT + 1  # address of int64[n, 2], sorted: see canonical/chains.py
N_FORKS = FORKS + 1

# --- found so far
PAIR_LISTS = N_FORKS + 1  # int64[n]: of a split state the address of int32[n_vocab], or 0: of a last token a list
N_PAIR_LISTS = PAIR_LISTS + 1  # n: split states outside of characters
BASES = N_PAIR_LISTS + 1  # map: split state, byte, runs -> mask in TOKENS, see canonical/last_byte.py
PROFILES = BASES + 3  # map: split state, byte -> runs in TOKENS, see canonical/last_byte.py
WITNESSES = PROFILES + 3  # map: split state, token, chain -> a text that can follow, see canonical/search.py
INSIDE = WITNESSES + 3  # map: mask, shape or part, split state -> tokens, see canonical/inside.py
HALVES = INSIDE + 3  # map: split state -> tokens that end inside of a character, in TOKENS, see canonical/wide.py
SURE = HALVES + 3  # map: shape -> tiers, in TOKENS, see canonical/sure.py
GROUPED = SURE + 3  # map: shape or part, split state -> groups of tokens, in TOKENS, see canonical/groups.py
FEW = GROUPED + 3  # map: token before or 0, split state, byte -> tokens, in TOKENS, see canonical/descent.py
MIXED_TOKENS = FEW + 3  # map: lexer state, split state -> tokens, in TOKENS, see canonical/broken.py
ANSWERED = MIXED_TOKENS + 3  # map: shape, split state -> how many answers, of each the address and the first byte
ANSWERS = ANSWERED + 3  # int64[..., 4]: of the mask in progress, see canonical/lists.py
LIVE_ASCII = ANSWERS + 1  # int64[n_states, 3]: 1 when known, the ASCII bytes that a lexer state takes
LIVE_HIGH = LIVE_ASCII + 1  # the same for the other bytes

SHAPES = LIVE_HIGH + 1  # lists: nodes, of lexer states with several lexemes, see canonical/alike.py
LIKELY = SHAPES + 4  # uint8[n, 4]: of each split state bytes + 1 that ended the word, the last one first, 0 = none

# --- scratch
QUEUE = LIKELY + 1  # int64[MOST_ENTRIES, ENTRY]
WALK = QUEUE + 1  # int64[...]: places and states on the way through the trie
SEARCH_WALK = WALK + 1
FOUND = SEARCH_WALK + 1  # int32[...]: tokens
N_FOUND = FOUND + 1
DOUBTFUL = N_FOUND + 1  # int32[...]
N_DOUBTFUL = DOUBTFUL + 1
FEW_FOUND = N_DOUBTFUL + 1  # int32[...]
N_FEW = FEW_FOUND + 1
AGAIN = N_FEW + 1  # int32[n_words]: bits of DOUBTFUL, see canonical/check_tokens.py
CANDIDATES = AGAIN + 1  # int32[...]: tokens
N_CANDIDATES = CANDIDATES + 1
PAIRS = N_CANDIDATES + 1  # int64[MOST_PAIRS + 2]: lexer states with phases, see canonical/sure.py
SEEN = PAIRS + 1  # int64[N_SEEN]
IS_ODD = SEEN + 1  # uint8[MOST_PAIRS + 2]
EDGES = IS_ODD + 1  # int32[..., 3]
N_EDGES = EDGES + 1
LEVELS = N_EDGES + 1  # int64[MOST_DEPTH + 3]
FULL = LEVELS + 1
TIERS = FULL + 1  # int64[..., 3]
RUNS = TIERS + 1  # int32[..., 2]
FITS_BEHIND = RUNS + 1  # uint8[n]: of each kind of CONTINUING, 1 where it is compatible
BYTE_LIMIT = FITS_BEHIND + 1  # see list_runs_above in canonical/pairs.py
LAST_BYTE = BYTE_LIMIT + 1
ROOM = LAST_BYTE + 1  # bytes
GROUPS = ROOM + 1  # texts and groups in progress, see canonical/groups.py
GROUP_OF = GROUPS + 1  # int32[...]: of each token its group
SHAPE = GROUP_OF + 1  # int32[...]: nodes

SAFE_MEMO = SHAPE + 1  # int64[MEMO_FIELDS], see canonical/ends.py
SAFE_INSIDE = SAFE_MEMO + 1  # int64[MEMO_ENTRIES], see canonical/inside.py
PAIR_MEMO = SAFE_INSIDE + 1  # int64[MEMO_PAIRS], see canonical/pairs.py

N_CANON_SLOTS = PAIR_MEMO + 1

NO_RUN = -1
ODD_KIND = 1 << 16

CANON_POOLS = (PAIR_LISTS, N_PAIR_LISTS)

CANON_BLOCKS = (
    *(GRAMMAR.ends_of_text, GRAMMAR.ends_of_text + 1, GRAMMAR.verdicts, GRAMMAR.verdicts + 1, GRAMMAR.tokens),
    *(PAIR_LISTS, BASES, BASES + 1, PROFILES, PROFILES + 1, WITNESSES, WITNESSES + 1, INSIDE, INSIDE + 1),
    *(HALVES, HALVES + 1, SURE, SURE + 1),
    *(
        GROUPED,
        GROUPED + 1,
        FEW,
        FEW + 1,
        MIXED_TOKENS,
        MIXED_TOKENS + 1,
        ANSWERED,
        ANSWERED + 1,
        ANSWERS,
        LIVE_ASCII,
        LIVE_HIGH,
        SHAPES,
        SHAPES + 1,
        SHAPES + 2,
        LIKELY,
    ),
    *(
        QUEUE,
        WALK,
        SEARCH_WALK,
        FOUND,
        DOUBTFUL,
        FEW_FOUND,
        AGAIN,
        CANDIDATES,
        PAIRS,
        SEEN,
        IS_ODD,
        EDGES,
        LEVELS,
        TIERS,
        RUNS,
        FITS_BEHIND,
        ROOM,
        GROUPS,
        GROUP_OF,
        SHAPE,
        SAFE_MEMO,
        SAFE_INSIDE,
        PAIR_MEMO,
    ),
)
