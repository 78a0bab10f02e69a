"""What all grammars of one tokenizer share: the slots of a store's table, and what each of them holds.

In: nothing. Out: `STORE`. Cost: none.
"""

from __future__ import annotations

from ..machine.records import Array, Flags, Lists, Map, Published, Record, Slots
from .memory import FIRST_FREE_SLOT

WORDS_MARGIN = 64  # bytes before the words of a walk, where bit NO_TOKEN = -1 lies
_NEXT = "see linear_hash.py"

STORE = Slots(
    *("store", FIRST_FREE_SLOT),
    # --- budgets
    nodes_per_call="regex nodes that one call may add",
    states_per_call="lexer states that one call may add",
    work_per_call="ticks that one call may spend, see memory.spend",
    max_nodes="number of regex nodes at which the current call stops",
    max_states="number of lexer states at which the current call stops",
    max_walked="trie nodes that one mask may visit",
    max_emptiness="derivatives of one emptiness test, and nodes that those of one call may make",
    walked="trie nodes visited since the call began",
    searched="nodes made by emptiness tests since the call began",
    report="a number for the caller: position of the refused byte",
    # --- who writes, and how the last call ended that had the lock, see turns.py
    writer="0: nobody",
    quick_work="ticks that one call without the lock may spend, 0: there are none",
    step_code="address of engine.step_alone",
    spent="ticks",
    reached="code of the limit that was reached, 0: none",
    # --- scratch, used under the lock only
    scratch=Array(32, "stack"),
    scratch_top="number of its items",
    stamps=Array(32, "[65536]: meeting two class maps"),
    stamp="the last one given",
    search_seen=Array(32, "[n_nodes]: the last emptiness search that saw a node"),
    search="number of the current emptiness search",
    words=Array(32, "[n_words] behind WORDS_MARGIN bytes: tokens of the walk in progress"),
    walk_stack=Array(64, "[MAX_TOKEN_BYTES + 2]"),
    narrow_frames=Record(
        *("[MAX_TOKEN_BYTES + 2]: frames of narrow_walk, see lexeme_masks/trie_walk.py", 64),
        node="",
        child="the next one",
        end="of the children",
        dense="expanded row of the lexer state",
        was_dead="1: a child did not lead on",
    ),
    search_nodes=Record(
        *("nodes of a search for an end, see finish/paths.py", 64),
        packed="pack(parse state, lexer state)",
        before="node it was reached from",
        step="by a byte or a named token",
        cost="way and rest, at least; TAKEN: its steps are taken",
    ),
    search_index=Array(32, "the same by hash: node + 1, open addressing, 0 = free"),
    alike_counts=Array(32, "nodes that differ in their transcripts only, by hash"),
    finish_path=Record("the path that is found", configuration="", step="the one to take there"),
    spelled_bytes=Array(32, "[256]: 1 for each byte that is a token"),
    spells="SPELLS_SOME or SPELLS_ALL of the bytes, 0 = not looked for yet",
    # --- regular expressions
    nodes=Record(
        "[n_nodes]: nodes of expressions, see regex/nodes.py",
        kind="a NodeKind",
        a="operand, list, or place of bytes, by kind",
        b="another operand, or a length",
        low="least number of repetitions",
        high="most, or UNBOUNDED",
        flags=Flags(
            nullable="matches the empty string",
            hides="contains an intersection or complement, so emptiness needs a search",
            finite="has finitely many strings (a sufficient test)",
            known_full="a search found a string",
            known_empty="a search found none",
            unit="every string is one word of the store's prefix code (JSON's spellings of one code point)",
            all_units="exactly the words of that code",
            character="every string is one code point in UTF-8",
        ),
        map="class map",
        row=Published("first entry of the derivatives + 1, of a literal the only derivative + 1; 0 = none yet"),
        next=_NEXT,
        hash="",
        distance="about how many bytes a string takes, in parts of BYTE_DISTANCE; MOST_DISTANCE where it is more",
    ),
    n_nodes="",
    node_heads=Array(64, "see linear_hash.py"),
    literals=Array(8, "bytes of literals"),
    n_literals="",
    node_lists=Lists("operands of unions and intersections"),
    byte_sets=Lists("lists of 8: 256 bits"),
    class_maps=Lists("lists of 64: 256 class numbers, one byte each"),
    map_classes=Array(32, "[n_maps]: number of classes"),
    map_rings=Array(8, "[n_maps, 256]: for each byte the next of its class, after the last one the first"),
    meets=Map("two class maps -> their common refinement"),
    derivatives=Array(32, Published("rows of node + 1 by class, 0 = not taken yet")),
    n_derivatives="",
    dfas=Record(
        "[n_dfas]: automata",
        map="class map",
        width="number of classes",
        first="place of its next states in dfa_pool",
        said="place there of what is said of its states: a flag and a distance each",
    ),
    n_dfas="",
    dfa_pool=Array(32, "next states, then a flag and a distance a state, see RegexNodes.dfa"),
    n_dfa_pool="",
    # --- lexer
    lexemes=Array(32, "[n_lexemes]: root node; lexeme 0 is the anonymous one"),
    n_lexemes="",
    lexeme_of_node=Map("root node -> lexeme"),
    lexeme_sets=Lists("lexemes; set 0 is empty"),
    set_starts=Array(32, "[n_sets]: start state that expects the set, 0 = not made yet"),
    state_keys=Lists("lexeme, node, lexeme, node, ...; an odd last item marks a start state"),
    states=Record(
        "[n_states]: states of the lexer, see lexer/states.py",
        map="class map",
        row=Published("first entry in transitions + 1, 0 = none yet"),
        accepts="set of lexemes that may end here, 0 = none",
        finished="1 when every lexeme ends here and none goes on",
        anonymous="state that carries the mask and exits: the anonymous twin, or the state itself",
        mask_kind=Published("a MaskKind; written last"),
        mask="where its list begins, or the number of its bitmask",
        n_tokens="",
        first_exit="",
        n_exits="",
        dense="number of the expanded row + 1, 0 = none",
        single="the set of its only lexeme, 0 = several",
        wide="0 = not counted yet, 1 = few bytes lead on, 2 = many",
        goes_on="0 = not looked yet, 1 = no, 2 = two ways to go on that are different texts, see tracked_walk.py",
        walked="1 when the bytes of all tokens were followed from here: a transition not built yet is of no token",
        base="the state whose mask and exits it has beside its own exits, 0 = none; see state_masks.py",
    ),
    transitions=Array(32, Published("rows of next states by class")),
    n_transitions="",
    dense_rows=Array(32, "[n_dense, 256]: expanded transitions for walks, see lexer/dense_transitions.py"),
    dense_states=Array(32, "[n_dense]"),
    n_dense="",
    leaps=Map("lexer state, place in token_data -> state behind the rest of that token, see lexer/leaps.py"),
    token_sets=Lists("see parser/token_terminals.py"),
    # --- masks of lexer states
    masks=Array(64, "[n_masks]: addresses of blocks of n_words int32"),
    n_masks="",
    mask_heads=Array(64, "see linear_hash.py; masks are found by content, many lexer states have equal ones"),
    mask_links=Record("[n_masks]", next=_NEXT, hash=""),
    token_lists=Array(32, "short masks as lists of tokens"),
    n_token_lists="",
    exits=Record(
        "places of the trie where a lexeme ends, see lexeme_masks/exits.py",
        node="",
        state="of the lexer",
        token="of the node, -1: none",
        depth="",
        child="its first child",
        end="of its children",
    ),
    n_exits="",
    bases=Array(32, "[n_sets]: a wide state with these lexemes and a known mask, 0 = none yet"),
    part_ids=Map("lexer state, trie node -> part"),
    part_masks=Record(
        "[n_parts]: masks of subtrees, see lexeme_masks/subtree_masks.py",
        kind="MaskKind.LIST or MaskKind.WORDS",
        mask="where its list begins, or the number of its bitmask",
        n_tokens="",
        first_exit="",
        n_exits="",
        n_following="of how many exits it is what follows; 0: it is below a node, or too large for a list",
    ),
    least_part="nodes below a node that make it a part, see mask/crossing.py",
    # --- vocabulary
    n_vocab="",
    n_words="",
    trie=Array(64, "[n_trie]: packed words, see machine/constants.py"),
    n_trie="",
    longest="bytes of the longest token",
    child_first=Array(32, "[n_trie + 1]: a node's first child in the two lists below; the next node's is the end"),
    child_byte=Array(8, ""),
    child_node=Array(32, ""),
    token_offsets=Array(32, "[n_vocab + 1]"),
    token_data=Array(8, ""),
    duplicates=Array(32, "[n_vocab]: next token with the same bytes, 0 = none (a duplicate is never token 0)"),
    duplicate_pairs=Record("[n_duplicates]", token="", other="the next one with the same bytes"),
    n_duplicates="",
    eos=Array(32, "[n_eos]"),
    n_eos="",
    specials=Array(32, "[n_specials]: tokens without text, ends of sequence included"),
    n_specials="",
    # --- slices, see lexeme_masks/slices.py
    slices=Record(
        *("[n_slices]", 64),
        char="regex node of one code point",
        most="most code points of a token, UNBOUNDED for no bound",
        mask="address of its mask",
        n_tokens="",
        trie="address of the trie words of all other tokens",
        n_trie="",
        main="address of int32[n]: the same node in the whole trie",
        lengths="address of int32[2 + most]: the length of the longest token, then how many have more than 0, 1, ...",
        longer="address of int32[n]: its tokens, the longest first",
    ),
    n_slices="",
    n_wide_slices="the first so many: their tokens begin with more bytes than a narrow state goes on with",
    rooms=Map("node without bounds, node of a slice -> bytes to the end, see lexeme_masks/slice_capacity.py"),
    covered=Map("node, that of plain characters -> whether the first matches all of these"),
)
STORE_POOLS = (STORE.masks, STORE.n_masks)  # lists of blocks to give back, and their lengths

# codes in EXCEEDED, beside memory.LIMIT_BYTES and memory.LIMIT_WORK
LIMIT_NODES = 3
LIMIT_STATES = 4
LIMIT_WALKED = 5
LIMIT_EMPTINESS = 6
LIMIT_ROWS = 7
LIMIT_ITEMS = 8
LIMIT_UNIQUE = 9
NEEDS_VARIANT = 10  # no limit: see values/called_rules.py
