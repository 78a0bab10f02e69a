"""Kinds: what the numbers mean that nodes, edges, guards and masks begin with; one list for Python and for kernels.

In: nothing. Out: enumerations. Cost: none.
"""

from ..machine.records import Kind


class NodeKind(Kind):
    """Nodes of regular expressions, see regex/constructors.py."""

    EMPTY = 0  # no string
    EPSILON = 1  # the empty string
    BYTES = 2  # one byte of a set
    LITERAL = 3  # bytes at a position
    CONCAT = 4
    UNION = 5
    AND = 6
    NOT = 7
    REPEAT = 8
    DFA = 9  # a state of an automaton that Python made
    TOKENS = 10  # no bytes at all: tokens by their ids, see parser/token_terminals.py


class EdgeKind(Kind):
    """Edges of rules, see llmask/grammar/rules.py. Kinds from CALL_NEW on compare values, and are told apart by order:

    calls                     a variant without the set's values      the rule itself, refused at its end
    CALL_NEW, CALL_PLAIN      yes                                     -
    CALL_OPEN                 -                                       if the value is in the set
    CALL_AGAIN                -                                       if it is not
    """

    SCAN = 0  # a lexeme
    CALL = 1  # a rule
    SKIP = 2  # nothing
    CALL_NEW = 3  # of a value that is not in the run's set: the rule is a variant of the edge's
    CALL_PLAIN = 4  # the same, where different texts are different values
    CALL_OPEN = 5  # the same, where a value can become a new one in infinitely many ways
    CALL_AGAIN = 6  # of a value that is in the run's set, refused at its end if it is not
    SKIP_LATE = 7  # to a state that is written when a run first gets there


class GuardKind(Kind):
    """Guards of edges and final states, see parser/guards.py."""

    COUNT = 0
    ADD = 1
    CHECK = 2
    MORE = 3
    FOLLOW = 4


class MaskKind(Kind):
    """How a mask is kept, see lexeme_masks/state_masks.py."""

    NONE = 0  # not computed yet
    LIST = 1  # a short list of tokens
    WORDS = 2  # a whole bitmask


class Fill(Kind):
    """How a mask was written."""

    SHAPE = -3  # not at all: the caller's array has no such row, or too few words
    MISS = -2  # not at all: it has to be built
    EMPTY = -1  # the grammar goes on, but no token of the vocabulary spells the next byte
    SOME = 0
    ALL = 1  # every token is allowed
    CUT = 2  # some token is allowed whose continuation was not found in time
    STOPS = 3  # the matcher has to set or clear its stop tokens
