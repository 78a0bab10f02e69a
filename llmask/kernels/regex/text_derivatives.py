"""Derivatives by several bytes at once, without the expressions on the way where those are easy to leave out.

    D("name", nam) = "e"            D(string & not texts, w) = D(string, w) & not D(texts, w)

Behind a token in a key stands one expression of each; taken byte by byte, each byte made them all.

In: a node, bytes at an address. Out: a node. Cost: 2 ns a byte of a literal, else that of derivatives.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.interning import list_item, list_length
from ..tables.memory import block, get_u8, load_u8, spend
from ..tables.store_layout import LITERALS, NODE_LISTS, SCRATCH_TOP
from .constructors import make_literal, make_not
from .derivatives import derivative
from .nodes import (
    EMPTY,
    FINITE,
    FIRST_SINGLE,
    HIDES,
    HIGH,
    K_AND,
    K_CONCAT,
    K_LITERAL,
    K_NOT,
    K_REPEAT,
    KIND,
    LAZY_END,
    UNBOUNDED,
    A,
    B,
    field,
    has_flag,
    push,
)
from .set_operations import make_and


@kernel
def free_part(store, node):
    """Of `string and not texts` the string, of which a single byte is the end, and the texts; EMPTY if it is not so."""
    if field(store, node, KIND) != K_AND or list_length(store, NODE_LISTS, field(store, node, A)) != 2:
        return EMPTY, EMPTY
    for i in range(2):
        free = list_item(store, NODE_LISTS, field(store, node, A), i)
        other = list_item(store, NODE_LISTS, field(store, node, A), 1 - i)
        if field(store, other, KIND) == K_NOT and field(store, free, KIND) == K_CONCAT:
            texts = field(store, other, A)
            repeat, end = field(store, free, A), field(store, free, B)
            is_free = field(store, repeat, KIND) == K_REPEAT and field(store, repeat, HIGH) == UNBOUNDED
            if is_free and FIRST_SINGLE <= end < LAZY_END and has_flag(store, texts, FINITE):
                if not has_flag(store, texts, HIDES):  # else DISTANCE is a guess
                    return free, texts
    return EMPTY, EMPTY


@kernel
def literal_length(store, node):
    """Bytes of a literal; 0: it is none."""
    if FIRST_SINGLE <= node < LAZY_END:
        return 1
    return field(store, node, B) if field(store, node, KIND) == K_LITERAL else 0


@kernel
def byte_at(store, literal, position):
    if literal < LAZY_END:
        return literal - FIRST_SINGLE
    return get_u8(block(store, LITERALS), field(store, literal, A) + position)


@kernel
def _along(store, node, text, n):
    """Derivative by the `n` bytes at an address: all that a literal has of them at once."""
    i = 0
    while i < n and node != EMPTY:
        if field(store, node, KIND) != K_LITERAL:
            node = derivative(store, node, load_u8(text + i))
            i += 1
            continue
        length = field(store, node, B)
        n_read = min(length, n - i)
        spend(store, n_read >> 1)
        for j in range(n_read):
            if byte_at(store, node, j) != load_u8(text + i + j):
                return EMPTY
        node = make_literal(store, field(store, node, A) + n_read, length - n_read)
        i += n_read
    return node


@kernel
def text_derivative(store, node, text, n):
    """Derivative by the `n` bytes at an address."""
    never_inline()
    free, texts = free_part(store, node)
    if free == EMPTY:
        return _along(store, node, text, n)
    free = _along(store, free, text, n)
    if free == EMPTY:
        return EMPTY
    texts = make_not(store, _along(store, texts, text, n))
    first = store[SCRATCH_TOP]
    push(store, free)
    push(store, texts)
    return make_and(store, first)
