"""Slots of a grammar's table: its rules, Earley rows and configurations.

In: nothing. Out: numbers of slots. Cost: none.
"""

from __future__ import annotations

from .memory import FIRST_FREE_SLOT

MAX_ROWS = FIRST_FREE_SLOT  # limits, set once
MAX_ITEMS = MAX_ROWS + 1
MAX_UNIQUE = MAX_ITEMS + 1  # recorded values in one set
FEW_ITEMS = (
    MAX_UNIQUE + 1
)  # links of so many are no links, and a row holds so many links, see parser/leo_items.py; set once, too
MOST_LINKS = FEW_ITEMS + 1
ROOM = MOST_LINKS + 1  # bytes up to which sequences may build without the lock, see tables/turns.py

# --- rules (see llmask/grammar/rules.py), edges grouped by their state
START_RULE = ROOM + 1
IGNORED = START_RULE + 1  # set of the ignored lexeme, 0 = none
IGNORED_AT_ENDS = IGNORED + 1
IGNORED_REPEATS = IGNORED_AT_ENDS + 1  # 1: it may be matched twice in a row
IGNORED_PRIORITY = IGNORED_REPEATS + 1
N_RULES = IGNORED_PRIORITY + 1
RULE_STARTS = N_RULES + 1  # int32[n_rules]: start state
RULE_FLAGS = RULE_STARTS + 1  # int32[n_rules]: PRODUCTIVE, RULE_NULLABLE
N_RTN_STATES = RULE_FLAGS + 1
STATE_RULES = N_RTN_STATES + 1  # int32[n_states]
STATE_FINALS = STATE_RULES + 1  # int32[n_states]: guard + 1, 0 = not final
EDGE_FIRST = STATE_FINALS + 1  # int32[n_states + 1]
EDGES = EDGE_FIRST + 1  # int32[n_edges, 4]: kind, symbol (lexeme or rule), next state, guard
HAS_CHAINS = EDGES + 1  # 1: some rules are chained
HAS_PRIORITIES = HAS_CHAINS + 1  # 1: edges have priorities
PRIORITIES = HAS_PRIORITIES + 1  # int32[n_edges], where edges have any: 2 * priority + 1 for bare edges
N_EDGES = PRIORITIES + 1
EDGE_KINDS = N_EDGES + 1  # lists: kind, symbol, priority; where rules are chained, see parser/leo_items.py
FIRST_OF_KIND = EDGE_KINDS + 4  # int32[n_kinds]: the first edge
LIKE_EDGES = FIRST_OF_KIND + 1  # int32[n_edges]: the first edge of the same kind
GUARDS = LIKE_EDGES + 1  # int32[n_guards, GUARD_FIELDS], see guards.py
N_GUARDS = GUARDS + 1
REQUIRED = N_GUARDS + 1  # int32[...]: members that guards ask for
N_REQUIRED = REQUIRED + 1
IS_JSON = N_REQUIRED + 1  # 1: recorded values are JSON, see texts.py
NAMES_TOKENS = (
    IS_JSON + 1
)  # 0, or of tokens that the rules name: NAMES_SOME, NAMES_ORDINARY, see parser/token_terminals.py

# --- sets and recorded values
SETS = NAMES_TOKENS + 1  # lists: the sets that runs carry
SET_IN_PROGRESS = SETS + 4  # int32[...]
MISSING_OF_SET = SET_IN_PROGRESS + 1  # the last answer of guards.n_missing
MISSING_OF_REQUIRED = MISSING_OF_SET + 1
MISSING_COUNT = MISSING_OF_REQUIRED + 1
RECORDS = MISSING_COUNT + 1  # map: record, symbol -> record, see values/transcripts.py
PLACES = RECORDS + 3  # map: row, record -> place
TEXTS = PLACES + 3  # lists: recorded values, one byte an item
TEXT_SETS = TEXTS + 4  # lists, see text_sets.py
TEXT_CHUNKS = TEXT_SETS + 4  # lists of 32: bits of texts
TEXT = TEXT_CHUNKS + 4  # int32[...]: a text while it is put together
PLAIN_TEXT = TEXT + 1  # int32[...]: the same with escapes resolved
VALUE_STACK = PLAIN_TEXT + 1  # int32[...]: values while an array or object is read, see json_values.py
VALUE_ORDER = VALUE_STACK + 1  # int64[...]: members of an object while they are sorted
NUMERAL = VALUE_ORDER + 1  # int32[...]: a number while it is written
VARIANTS = NUMERAL + 1  # map: rule, set of texts -> rule, see variants.py
REQUESTED_RULE = VARIANTS + 3  # the variant that is missing
REQUESTED_TEXTS = REQUESTED_RULE + 1
DEPENDS = REQUESTED_TEXTS + 1  # on what the row in progress depends beside its kernel, see goto.py
UNDECIDED = DEPENDS + 1  # 1: a guard or a value of the row in progress could not be decided without the text

# --- Earley rows
KERNELS = UNDECIDED + 1  # lists: a row's kernel, items (state, parameter, origin) sorted; number = row
ROWS = KERNELS + 4  # int32[n_rows, ROW_FIELDS], see parser/rows.py
ROW_POOL = ROWS + 1  # int32[...]: scans and waits of the rows
N_ROW_POOL = ROW_POOL + 1
GOTO = N_ROW_POOL + 1  # map: place, lexeme set -> place
ITEMS = GOTO + 3  # int32[..., 4]: items of the row in progress: state, parameter, origin, is derived
N_ITEMS = ITEMS + 1
ITEM_INDEX = N_ITEMS + 1  # int32[ITEM_INDEX_SIZE]: item + 1, open addressing, 0 = free
ITEM_INDEX_SIZE = ITEM_INDEX + 1  # a power of two, as large as the row in progress needs
EXPECTED = ITEM_INDEX_SIZE + 1  # int32[...]: lexemes while a row is made

# --- configurations
CONFIGURATION_IDS = EXPECTED + 1  # map: place, lexer state -> configuration
CONFIGURATIONS = CONFIGURATION_IDS + 3  # int32[n, CONFIGURATION_FIELDS], see configurations.py
N_CONFIGURATIONS = CONFIGURATIONS + 1
CROSSING = N_CONFIGURATIONS + 1  # int32[...]: tokens that cross a lexeme's end, while a mask is made
N_CROSSING = CROSSING + 1
CROSSING_ENDS = N_CROSSING + 1  # int64[...]: where each leads, if masks are canonical, see mask/boundary_walk.py
BARE_WALK = CROSSING_ENDS + 1  # what is added to these: BARE, or 0
PATH_ENDS = BARE_WALK + 1  # int64[...]: places and states behind the bytes of a token
IS_UNCERTAIN = PATH_ENDS + 1  # 1: a step from a bare row depended on a text, see canonical/ends.py
NAMED = IS_UNCERTAIN + 1  # int32[...]: tokens that the row names, while a mask is made
CROSSINGS = NAMED + 1  # lists of such tokens; many configurations have the same
OWN_MASKS = CROSSINGS + 4  # int64[n]: addresses of masks that belong to the grammar
N_OWN_MASKS = OWN_MASKS + 1
OWN_HEADS = N_OWN_MASKS + 1  # see tables/linear_hash.py; rows in which the same may follow have equal masks
OWN_LINKS = OWN_HEADS + 1  # int32[n, 2]: NEXT, HASH
PARTS = OWN_LINKS + 1  # int32[..., PART_FIELDS]: of the mask in progress, see mask/boundary_walk.py
N_PARTS = PARTS + 1
LISTS_PARTS = N_PARTS + 1  # 1: the walk in progress may leave parts to others
WALK_FRAMES = LISTS_PARTS + 1  # int32[...]: frames of the walk in progress
POINTS = WALK_FRAMES + 1  # int32[...]: nodes of the trie to walk again with the text known, see mask/boundary_walk.py
N_POINTS = POINTS + 1
REPEATS = N_POINTS + 1  # 1: a value of the walk in progress might be in its set already
PATH = REPEATS + 1  # int32[...]: bytes from the root of the trie to a node
TELLS_ENDS = PATH + 1  # 1: a walk tells in CROSSING_ENDS where each crossing token leads

# --- canonical masks; the first part is also in the tables of split states, see canonical/slots.py
ENDS_OF_TEXT = TELLS_ENDS + 1  # map: place, lexer state -> number of an end, see canonical/search.py
VERDICTS = ENDS_OF_TEXT + 3  # map: end, split state, token -> verdict
TOKENS = VERDICTS + 3  # int32[...]: lists of tokens
N_TOKENS = TOKENS + 1
CANON = N_TOKENS + 1  # address of the table of split states
POSITION_IDS = CANON + 1  # map: configuration, hash of a context -> position
POSITIONS = POSITION_IDS + 3  # int64[n, POSITION_FIELDS], see canonical/positions.py
N_POSITIONS = POSITIONS + 1
LISTED = N_POSITIONS + 1  # map: configuration -> its crossing tokens with where they lead, in TOKENS, see listings.py
OF_BARE = LISTED + 3  # map: configuration of a bare row, split state -> what all records answer, in TOKENS
# map: configuration, split state -> tokens that nothing canonical follows, of short masks all tokens, in TOKENS
REMOVED = OF_BARE + 3
BROKEN = REMOVED + 3  # the same of tokens that are incompatible with the one before, see canonical/broken.py

# --- how sequences can end, see finish/rule_costs.py and finish/paths.py
STATE_COSTS = BROKEN + 3  # int32[n_states, COST_FIELDS]
RULE_WEIGHTS = STATE_COSTS + 1  # int32[n_rules]: cost of each that such a guard asks for
N_COSTED = RULE_WEIGHTS + 1  # states that have costs
OUTER_COSTS = N_COSTED + 1  # map: row, rule -> cost of all that follows the rule begun in the row
OUTER_COSTS_OF_ROWS = OUTER_COSTS + 3  # int32[n_rows]: 1 where the contexts are in the map
LEXEME_COSTS = OUTER_COSTS_OF_ROWS + 1  # map: row, lexeme -> cost of all that follows the lexeme
ENDS = LEXEME_COSTS + 3  # int32[n_configurations, END_FIELDS], see finish/paths.py
MEMBER_COSTS = ENDS + 1  # map: rule, named member -> cost of a run that adds it and ends

N_GRAMMAR_SLOTS = MEMBER_COSTS + 3

# what has to be given back with a grammar's table, as in tables/store_layout.py
GRAMMAR_BLOCKS = (
    *(EDGE_KINDS, EDGE_KINDS + 1, EDGE_KINDS + 2, FIRST_OF_KIND, LIKE_EDGES),
    *(RULE_STARTS, RULE_FLAGS, STATE_RULES, STATE_FINALS, EDGE_FIRST, EDGES, PRIORITIES, GUARDS, REQUIRED),
    *(RECORDS, RECORDS + 1, PLACES, PLACES + 1, TEXTS, TEXTS + 1, TEXTS + 2, TEXT_SETS, TEXT_SETS + 1, TEXT_SETS + 2),
    *(TEXT_CHUNKS, TEXT_CHUNKS + 1, TEXT_CHUNKS + 2, TEXT, PLAIN_TEXT, VARIANTS, VARIANTS + 1, POINTS, PATH),
    *(VALUE_STACK, VALUE_ORDER, NUMERAL),
    *(SETS, SETS + 1, SETS + 2, SET_IN_PROGRESS, KERNELS, KERNELS + 1, KERNELS + 2),
    *(ROWS, ROW_POOL, GOTO, GOTO + 1, ITEMS, ITEM_INDEX, EXPECTED, CONFIGURATION_IDS, CONFIGURATION_IDS + 1),
    *(CONFIGURATIONS, CROSSING, CROSSING_ENDS, PATH_ENDS, NAMED, CROSSINGS, CROSSINGS + 1, CROSSINGS + 2, OWN_MASKS),
    WALK_FRAMES,
    *(ENDS_OF_TEXT, ENDS_OF_TEXT + 1, VERDICTS, VERDICTS + 1, TOKENS),
    *(POSITION_IDS, POSITION_IDS + 1, POSITIONS),
    *(LISTED, LISTED + 1, OF_BARE, OF_BARE + 1, REMOVED, REMOVED + 1, BROKEN, BROKEN + 1),
    *(OWN_HEADS, OWN_LINKS, PARTS),
    *(STATE_COSTS, RULE_WEIGHTS, OUTER_COSTS, OUTER_COSTS + 1, OUTER_COSTS_OF_ROWS, LEXEME_COSTS, LEXEME_COSTS + 1),
    *(ENDS, MEMBER_COSTS, MEMBER_COSTS + 1),
)
GRAMMAR_POOLS = (OWN_MASKS, N_OWN_MASKS)
