"""Slots of a store's table: what all grammars of one tokenizer share.

Each line names a slot, or the first of a family of slots (see interning.py), and what lies there.

In: nothing. Out: numbers of slots. Cost: none.
"""

from __future__ import annotations

from .memory import FIRST_FREE_SLOT

# --- budgets
NODES_PER_CALL = FIRST_FREE_SLOT  # regex nodes that one call may add
STATES_PER_CALL = NODES_PER_CALL + 1  # lexer states that one call may add
WORK_PER_CALL = STATES_PER_CALL + 1  # ticks that one call may spend, see memory.spend
MAX_NODES = WORK_PER_CALL + 1  # number of regex nodes at which the current call stops
MAX_STATES = MAX_NODES + 1  # number of lexer states at which the current call stops
MAX_WALKED = MAX_STATES + 1  # trie nodes that one mask may visit
MAX_EMPTINESS = MAX_WALKED + 1  # derivatives of one emptiness test, and nodes that those of one call may make
WALKED = MAX_EMPTINESS + 1  # trie nodes visited since the call began
SEARCHED = WALKED + 1  # nodes made by emptiness tests since the call began
REPORT = SEARCHED + 1  # a number for the caller: position of the refused byte

# --- who writes, and how the last call ended that had the lock, see tables/turns.py
WRITER = REPORT + 1  # 0: nobody
QUICK_WORK = WRITER + 1  # ticks that one call without the lock may spend, 0: there are none
STEP_CODE = QUICK_WORK + 1  # address of engine.step_alone
SPENT = STEP_CODE + 1  # ticks
REACHED = SPENT + 1  # code of the limit that was reached, 0: none

# --- scratch, used under the lock only
SCRATCH = REACHED + 1  # int32 stack
SCRATCH_TOP = SCRATCH + 1
STAMPS = SCRATCH_TOP + 1  # int32[65536]: meeting two class maps
STAMP = STAMPS + 1
SEARCH_SEEN = STAMP + 1  # int32[n_nodes]: the last emptiness search that saw a node
SEARCH = SEARCH_SEEN + 1  # number of the current emptiness search
WORDS = SEARCH + 1  # int32[n_words]: tokens of the walk in progress
WORDS_MARGIN = 64  # bytes before it, where bit NO_TOKEN = -1 lies
WALK_STACK = WORDS + 1  # int64[MAX_TOKEN_BYTES + 2]
NARROW_FRAMES = WALK_STACK + 1  # int64[MAX_TOKEN_BYTES + 2, 5], see trie_walk.py
SEARCHED_STEPS = NARROW_FRAMES + 1  # int64[..., 3]: places of a search for an end, see finish/paths.py
SEARCH_INDEX = SEARCHED_STEPS + 1  # int32[...]: the same by hash, then how many are alike
FINISH_PATH = SEARCH_INDEX + 1  # int32[..., 2]: configuration and step of a path in progress
SPELLED_BYTES = FINISH_PATH + 1  # int32[257]: 1 for each byte that is a token, then which of SPELLS_SOME, SPELLS_ALL

# --- regular expressions
NODES = SPELLED_BYTES + 1  # int32[n_nodes, NODE_FIELDS], see regex/constructors.py
N_NODES = NODES + 1
NODE_HEADS = N_NODES + 1  # see tables/linear_hash.py
LITERALS = NODE_HEADS + 1  # uint8[...]: bytes of literals
N_LITERALS = LITERALS + 1
NODE_LISTS = N_LITERALS + 1  # lists: operands of unions and intersections
BYTE_SETS = NODE_LISTS + 4  # lists of 8: 256 bits
CLASS_MAPS = BYTE_SETS + 4  # lists of 64: 256 class numbers, one byte each
MAP_CLASSES = CLASS_MAPS + 4  # int32[n_maps]: number of classes
MAP_RINGS = MAP_CLASSES + 1  # uint8[n_maps, 256]: for each byte the next of its class, the first behind the last
MEETS = MAP_RINGS + 1  # map: two class maps -> their common refinement
DERIVATIVES = MEETS + 3  # int32[...]: rows of node id + 1 by class, 0 = not taken yet
N_DERIVATIVES = DERIVATIVES + 1
DFAS = N_DERIVATIVES + 1  # int32[n_dfas, 4]: class map, number of classes, first entry, what is said of states
N_DFAS = DFAS + 1
DFA_POOL = N_DFAS + 1  # int32[...]: next states, then a flag and a distance a state, see regex_nodes.make_dfa
N_DFA_POOL = DFA_POOL + 1

# --- lexer
LEXEMES = N_DFA_POOL + 1  # int32[n_lexemes]: root node; lexeme 0 is the anonymous one
N_LEXEMES = LEXEMES + 1
LEXEME_OF_NODE = N_LEXEMES + 1  # map: root node -> lexeme
LEXEME_SETS = LEXEME_OF_NODE + 3  # lists of lexemes; set 0 is empty
SET_STARTS = LEXEME_SETS + 4  # int32[n_sets]: start state that expects the set, 0 = not made yet
STATE_KEYS = SET_STARTS + 1  # lists: lexeme, node, lexeme, node, ...; an odd last item marks a start state
STATES = STATE_KEYS + 4  # int32[n_states, STATE_FIELDS], see lexer/states.py
TRANSITIONS = STATES + 1  # int32[...]: rows of next states by class
N_TRANSITIONS = TRANSITIONS + 1
HOT_ROWS = N_TRANSITIONS + 1  # int32[n_hot, 256]: expanded rows for wide walks, see trie_walk.py
HOT_STATES = HOT_ROWS + 1  # int32[n_hot]
N_HOT = HOT_STATES + 1
LEAPS = N_HOT + 1  # map: lexer state, place in TOKEN_DATA -> state behind the rest of that token, see lexer/leaps.py

TOKEN_SETS = LEAPS + 3  # lists: see parser/token_terminals.py

# --- masks of lexer states
MASKS = TOKEN_SETS + 4  # int64[n_masks]: addresses of blocks of n_words int32
N_MASKS = MASKS + 1
MASK_HEADS = N_MASKS + 1  # see tables/linear_hash.py; masks are found by content, many lexer states have equal ones
MASK_LINKS = MASK_HEADS + 1  # int32[n_masks, 2]: NEXT, HASH
TOKEN_LISTS = MASK_LINKS + 1  # int32[...]: short masks as lists of tokens
N_TOKEN_LISTS = TOKEN_LISTS + 1
EXITS = N_TOKEN_LISTS + 1  # int32[..., EXIT_FIELDS], see lexeme_masks/exits.py
N_EXITS = EXITS + 1
BASES = N_EXITS + 1  # int32[n_sets]: a wide state with these lexemes and a known mask, 0 = none yet

PART_IDS = BASES + 1  # map: lexer state, trie node -> part
PART_MASKS = PART_IDS + 3  # int32[n_parts, MASK_FIELDS], see lexeme_masks/subtree_masks.py
LEAST_PART = PART_MASKS + 1  # nodes below a node that make it a part, see mask/boundary_walk.py

# --- vocabulary
N_VOCAB = LEAST_PART + 1
N_WORDS = N_VOCAB + 1
TRIE = N_WORDS + 1  # int64[n_trie_nodes], packed words
N_TRIE = TRIE + 1
LONGEST = N_TRIE + 1  # bytes of the longest token
CHILD_FIRST = LONGEST + 1  # int32[n_trie_nodes + 1]
CHILD_BYTE = CHILD_FIRST + 1  # uint8
CHILD_NODE = CHILD_BYTE + 1  # int32
TOKEN_OFFSETS = CHILD_NODE + 1  # int32[n_vocab + 1]
TOKEN_DATA = TOKEN_OFFSETS + 1  # uint8
DUPLICATES = TOKEN_DATA + 1  # int32[n_vocab]: next token with the same bytes, 0 = none (a duplicate is never token 0)
DUPLICATE_PAIRS = DUPLICATES + 1  # int32[n_duplicates, 2]: a token, the next one with the same bytes
N_DUPLICATES = DUPLICATE_PAIRS + 1
EOS = N_DUPLICATES + 1  # int32[n_eos]
N_EOS = EOS + 1
SPECIALS = N_EOS + 1  # int32[n_specials]: tokens without text, EOS included
N_SPECIALS = SPECIALS + 1

# --- slices, see slices in trie_walk.py
SLICES = N_SPECIALS + 1  # int64[n_slices, SLICE_FIELDS]
N_SLICES = SLICES + 1
N_WIDE_SLICES = N_SLICES + 1  # the first so many: their tokens begin with more bytes than a narrow state goes on with
ROOMS = (
    N_WIDE_SLICES + 1
)  # map: node without bounds, node of a slice -> bytes to the end, see lexeme_masks/slice_capacity.py

COVERED = ROOMS + 3  # map: node, that of plain characters -> whether the first matches all of these
N_STORE_SLOTS = COVERED + 3

# codes in EXCEEDED, beside memory.LIMIT_BYTES and memory.LIMIT_WORK
LIMIT_NODES = 3
LIMIT_STATES = 4
LIMIT_WALKED = 5
LIMIT_EMPTINESS = 6
LIMIT_ROWS = 7
LIMIT_ITEMS = 8
LIMIT_UNIQUE = 9
NEEDS_VARIANT = 10  # no limit: see variants.py

# what has to be given back with a store's table: blocks, the blocks of families, and lists of blocks with their lengths
_LISTS = (NODE_LISTS, BYTE_SETS, CLASS_MAPS, LEXEME_SETS, STATE_KEYS, TOKEN_SETS)
STORE_BLOCKS = (
    *(
        SCRATCH,
        STAMPS,
        SEARCH_SEEN,
        WORDS,
        WALK_STACK,
        NARROW_FRAMES,
        SEARCHED_STEPS,
        SEARCH_INDEX,
        FINISH_PATH,
        SPELLED_BYTES,
        NODES,
        NODE_HEADS,
        LITERALS,
        MAP_CLASSES,
        MAP_RINGS,
        DERIVATIVES,
    ),
    *(DFAS, DFA_POOL, LEXEMES, SET_STARTS, STATES, TRANSITIONS, HOT_ROWS, HOT_STATES, MASKS),
    *(
        MASK_HEADS,
        MASK_LINKS,
        TOKEN_LISTS,
        EXITS,
        BASES,
        TRIE,
        CHILD_FIRST,
        CHILD_BYTE,
        CHILD_NODE,
        TOKEN_OFFSETS,
        TOKEN_DATA,
    ),
    *(DUPLICATES, DUPLICATE_PAIRS, EOS, SPECIALS, SLICES, PART_MASKS),
    *(first + i for first in _LISTS for i in range(3)),
    *(first + i for first in (MEETS, LEXEME_OF_NODE, LEAPS, PART_IDS, ROOMS, COVERED) for i in range(2)),
)
STORE_POOLS = (MASKS, N_MASKS)
