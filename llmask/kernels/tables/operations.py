"""The operations of `engine.build`, the one door for everything that writes: their numbers, and what each takes.

`a`, `b`, `c` are numbers, `data` is int32[...]. An operation returns a number; 0 where nothing else is said.

In: nothing. Out: `Operation`. Cost: none.
"""

from ..machine.records import Kind


class Operation(Kind):
    """Stage by stage, see `run` in each stage's operations.py."""

    # --- regex: operations return a node, or 0 or 1
    INIT_STORE = 0
    BYTE_SET = 1  # data: 8 words
    LITERAL = 2  # data: bytes
    CONCAT = 3  # data: nodes
    UNION = 4  # data: nodes
    INTERSECT = 5  # data: nodes
    COMPLEMENT = 6  # a: node
    EXCEPT = 7  # a: node; data: nodes: what `a` matches and none of them
    REPEAT = 8  # a: node, b: low, c: high
    WORDS = 9  # data: see regex/word_trees.py; grammar: keeps what is done; also NOT_DONE
    TOKENS = 10  # data: see parser/token_terminals.py: node of these tokens
    PUT_NUMBERS = 11  # a: position or -1, b: how many in all; data: some of an automaton, see regex/constructors.py
    DFA = 12  # a: classes, b: states, c: position of its numbers; data: class of each byte
    DERIVATIVE = 13  # a: node, b: byte
    IS_NULLABLE = 14  # a: node
    IS_EMPTY = 15  # a: node; grammar: keeps the search
    IS_OPEN = 16  # a: node, see products.py
    MATCHES = 17  # a: node; data: bytes
    EXTENSIONS = 18  # a, b: nodes; data: 257 flags to write: 1 if decided, see products.py
    MARK = 19  # a: node, b: flags of regex/nodes.py

    # --- parser and mask
    LOAD_RULES = 20  # data: see parser/load_rules.py: first configuration or NOTHING_DERIVED
    LOAD_MORE = 21  # data: rules that follow those loaded
    PUT_VARIANT = 22  # a: rule, b: set of texts, c: rule without those texts or -1, see values/called_rules.py
    PUT_LATE = 23  # a: number of a late skip, b: its state, see values/called_rules.py
    COUNT_CHARACTERS = 24  # a: node; data: of each token how many, to write, see lexeme_masks/slices.py
    WRITE_REST = 25  # data: mask; a: address of five numbers, see lexeme_masks/slices.py: number of nodes
    BUILD_MASK = 26  # a: configuration
    ACCEPT = 27  # a: configuration, b: token, c: 1 where its mask is built first: configuration or REFUSED
    READ = 28  # a: configuration, b: ticks of work; data: tokens, see mask/operations.py: configuration or REFUSED
    ADVANCE = 29  # a: configuration; data: bytes: configuration or REFUSED (`report`: position of the byte)
    LIVE_BYTES = 30  # a: configuration; data: 256 flags to write: number of bytes that may come next
    NAMED_RANGES = 31  # a: configuration; data: low, high of tokens that are named, to write: how many numbers
    TRACE = 32  # a: configuration; data: see mask/open_rules.py: configuration or REFUSED
    LEXEMES_OF = 33  # a: set of lexemes; data: their nodes to write: how many
    ENDING = 34  # a: configuration: set of the lexemes that may end
    OPEN_RULES = 35  # a: configuration, b: 1 with those expected; data: rules to write: how many, see open_rules.py
    CLOSE = 36  # a: configuration: configuration where the lexeme has ended, or REFUSED
    WALK_ALL = 37  # a: configuration: trie nodes walked, for bench/walk.py

    # --- finish: tokens that suffice, and where the tokens of a mask lead
    BOUNDS = 38  # data: configurations, then as many bounds to write
    LOWER_BOUND = 39  # a: configuration, b: bound; data: its token
    FINISHING_TOKEN = 40  # a: configuration: token, NO_TOKEN where the document may end
    ANONYMOUS_OF = 41  # a: configuration: lexer state, see finish/successors.py
    LIST_INSIDE = 42  # a: lexer state; data: pairs to write: how many numbers, also where they have no room
    LIST_CROSSING = 43  # a: configuration; data: pairs to write: the same
    AFTER_TOKENS = 44  # a: configuration; data: tokens, then as many configurations to write
    AFTER_TEXTS = 45  # the same with the bytes of the tokens; a is not ENDED
    WITHOUT_TRANSCRIPTS = 46  # data: n configurations, then n to write, each with the row of one and no transcript
    GREATEST_COST = 47  # the most bytes that ending a run of a rule takes

    # --- canonical
    REVIEW = 48  # a: cell: DONE or what is missing, see canonical/review.py
    STEP_CANONICAL = 49  # a: cell, b: token: configuration, REFUSED or what is missing, see canonical/steps.py
