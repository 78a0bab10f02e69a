"""Records of regular expressions, and the scratch stack that builds them: what every kernel about nodes reads.

A node is NODE_FIELDS int32; `regex/constructors.py` says what the fields mean for each kind and makes them.

In: a store's table. Out: fields. Cost: two loads.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.memory import block, ensure, get_i32, put_i32
from ..tables.store_layout import NODES, SCRATCH, SCRATCH_TOP

NODE_FIELDS = 11
KIND = 0
A = 1
B = 2
LOW = 3
HIGH = 4
FLAGS = 5
MAP = 6
ROW = 7  # first entry of the derivative row + 1, of a literal the only derivative + 1; 0 = none yet
NEXT = 8  # see tables/linear_hash.py; HASH follows
DISTANCE = 10  # about how many bytes a string takes, in parts of BYTE_DISTANCE; MOST_DISTANCE where it is more

K_EMPTY = 0
K_EPSILON = 1
K_BYTES = 2
K_LITERAL = 3
K_CONCAT = 4
K_UNION = 5
K_AND = 6
K_NOT = 7
K_REPEAT = 8
K_DFA = 9
K_TOKENS = 10  # no bytes at all: tokens by their ids, see parser/token_terminals.py

NULLABLE = 1  # matches the empty string
HIDES = 2  # contains an intersection or complement, so emptiness needs a search
FINITE = 4  # has finitely many strings (a sufficient test)
KNOWN_FULL = 8  # a search found a string
KNOWN_EMPTY = 16  # a search found none
UNIT = 32  # every string is one word of the store's prefix code (JSON's spellings of one code point)
ALL_UNITS = 64  # exactly the words of that code
CHARACTER = 128  # every string is one code point in UTF-8

EMPTY = 0
EPSILON = 1
ALL = 2
FIRST_SINGLE = 3  # nodes 3 .. 258 match one given byte
LAZY_END = 259  # the empty string, at the end of lexemes that end as soon as they can, see lexer/states.py
UNBOUNDED = 2**31 - 1
BYTE_DISTANCE = 16
MOST_DISTANCE = 2**24


@kernel
def push(store, value):
    """Put a number on the scratch stack."""
    never_inline()
    top = store[SCRATCH_TOP]
    put_i32(ensure(store, SCRATCH, (top + 1) * 4), top, value)
    store[SCRATCH_TOP] = top + 1


@kernel
def pop(store):
    store[SCRATCH_TOP] -= 1
    return get_i32(block(store, SCRATCH), store[SCRATCH_TOP])


@kernel
def scratch(store, position):
    return get_i32(block(store, SCRATCH), position)


@kernel
def field(store, node, name):
    return get_i32(block(store, NODES), node * NODE_FIELDS + name)


@kernel
def has_flag(store, node, flag):
    return (field(store, node, FLAGS) & flag) != 0


@kernel
def add_flag(store, node, flag):
    nodes = block(store, NODES)
    put_i32(nodes, node * NODE_FIELDS + FLAGS, get_i32(nodes, node * NODE_FIELDS + FLAGS) | flag)
