"""The exact test whether a regular expression matches nothing, remembered.

In: a store's table, a node. Out: yes or no.
Cost: nothing without intersection and complement; else a derivative a step, most often some dozen.
"""

from __future__ import annotations

from .class_maps import class_of, n_classes
from .derivatives import derivative, dfa_target
from .interning import list_item, list_length
from .jit import kernel, never_inline
from .memory import EXCEEDED, block, ensure, exceed, get_i32, put_i32
from .node_table import (
    EMPTY,
    FLAGS,
    HIDES,
    K_AND,
    K_CONCAT,
    K_DFA,
    KIND,
    KNOWN_EMPTY,
    KNOWN_FULL,
    MAP,
    NULLABLE,
    A,
    B,
    add_flag,
    field,
    has_flag,
    push,
    scratch,
)
from .store_slots import LIMIT_EMPTINESS, MAX_EMPTINESS, N_NODES, NODE_LISTS, SCRATCH, SCRATCH_TOP, SEARCH, SEARCH_SEEN

ENTRY = 7  # fields of an entry of the search
LOW_BYTES = 0  # ways of the search
HIGH_BYTES = 1
BREADTH = 2


@kernel
def is_empty(store, root):
    """Whether no string matches `root`, decided exactly.

    Without intersection and complement only EMPTY is empty. Otherwise a search through the derivatives looks for a
    nullable one; there are finitely many. A string found marks the path to it, a search that ends without one marks
    everything that it saw. False once a limit is reached (the caller looks at EXCEEDED).
    """
    never_inline()
    if _is_known_full(store, root):
        return False
    if root == EMPTY or has_flag(store, root, KNOWN_EMPTY):
        return True
    if field(store, root, KIND) == K_CONCAT:
        # decided by its parts one after the other: the search below then never crosses a long plain tail
        left = field(store, root, A)
        right = field(store, root, B)
        if not has_flag(store, right, HIDES):
            found = _search(store, left) if not _is_known_full(store, left) else True
            if store[EXCEEDED] == 0:
                add_flag(store, root, KNOWN_FULL if found else KNOWN_EMPTY)
            return not found
    return not _search(store, root)


@kernel
def _is_known_full(store, node):
    flags = field(store, node, FLAGS)
    if node == EMPTY:
        return False
    return (flags & (NULLABLE | KNOWN_FULL)) != 0 or (flags & HIDES) == 0


@kernel
def _search(store, root):
    """Whether some derivative of `root` is nullable.

    The scratch stack holds entries (node, entry of its parent, entry below it, first and last class not tried yet, and
    the first and last byte that may be in them).
    Three ways are tried in turn, a byte each: depth first by the lowest bytes, depth first by the highest, and breadth
    first. Each loses itself somewhere: breadth first in `.{1000}&[a-z]*`, low bytes in a label that needs a
    Chinese letter, high ones in a minimal length for which characters are too long. A way remembers its path in
    the entries below; what another way finds is not put on it. (When it was, every other step led back to the start,
    and host names of 40 characters took 30,000 steps instead of 200.) Entries stay, they are the parents.
    """
    never_inline()
    if _is_known_full(store, root):
        return True
    if root == EMPTY or has_flag(store, root, KNOWN_EMPTY):
        return False
    store[SEARCH] += 1
    bottom = store[SCRATCH_TOP]
    _see(store, root)
    low = _enter(store, root, -1, -1)
    high = low
    oldest = low
    steps = 0
    while True:
        while oldest < store[SCRATCH_TOP] and _is_done(store, oldest):
            oldest += ENTRY
        if oldest == store[SCRATCH_TOP]:
            break
        way = steps % 3
        if way == BREADTH:
            entry = oldest
        else:
            entry = low if way == LOW_BYTES else high
            while entry >= 0 and _is_done(store, entry):
                entry = scratch(store, entry + 2)
            entry = oldest if entry < 0 else entry
        node = scratch(store, entry)
        byte = _next_byte(store, entry, node, way == HIGH_BYTES)
        target = EMPTY if byte < 0 else derivative(store, node, byte)
        steps += 1
        if steps > store[MAX_EMPTINESS]:
            exceed(store, LIMIT_EMPTINESS)
        if store[EXCEEDED] != 0:
            store[SCRATCH_TOP] = bottom
            return True
        found = entry
        if target != EMPTY and not has_flag(store, target, KNOWN_EMPTY):
            if _is_known_full(store, target):
                while entry >= 0:
                    add_flag(store, scratch(store, entry), KNOWN_FULL)
                    entry = scratch(store, entry + 1)
                store[SCRATCH_TOP] = bottom
                return True
            if _see(store, target):
                found = _enter(store, target, entry, -1 if way == BREADTH else entry)
        if way == LOW_BYTES:
            low = found
        elif way == HIGH_BYTES:
            high = found
    for entry in range(bottom, store[SCRATCH_TOP], ENTRY):
        add_flag(store, scratch(store, entry), KNOWN_EMPTY)
    store[SCRATCH_TOP] = bottom
    return False


@kernel
def _enter(store, node, parent, below):
    """Append an entry of the search, of which no class was tried yet; returns its position."""
    never_inline()
    entry = store[SCRATCH_TOP]
    push(store, node)
    push(store, parent)
    push(store, below)
    push(store, 0)
    push(store, n_classes(store, field(store, node, MAP)) - 1)
    push(store, 0)
    push(store, 255)
    return entry


@kernel
def _is_done(store, entry):
    return scratch(store, entry + 3) > scratch(store, entry + 4)


@kernel
def _next_byte(store, entry, node, is_high):
    """A byte of the class that an entry tries next, or -1; classes are numbered in the order of their first bytes.

    Classes that an automaton refuses are passed over: before the second byte of a character that is most of them.
    """
    never_inline()
    class_map = field(store, node, MAP)
    entries = block(store, SCRATCH)
    low = get_i32(entries, entry + 3)
    high = get_i32(entries, entry + 4)
    place = entry + 6 if is_high else entry + 5
    byte = get_i32(entries, place)
    found = -1
    while low <= high and found < 0:
        if is_high:
            while class_of(store, class_map, byte) != high:
                byte -= 1
            high -= 1
        else:
            while class_of(store, class_map, byte) != low:
                byte += 1
            low += 1
        if not _refuses(store, node, byte):
            found = byte
    put_i32(entries, entry + 3, low)
    put_i32(entries, entry + 4, high)
    put_i32(entries, place, byte)
    return found


@kernel
def _refuses(store, node, byte):
    """Whether one of the automata does that an expression is an intersection of, or an intersection in it."""
    never_inline()
    node = _front(store, node)
    if field(store, node, KIND) != K_AND:
        return False
    members = field(store, node, A)
    for i in range(list_length(store, NODE_LISTS, members)):
        member = _front(store, list_item(store, NODE_LISTS, members, i))
        if field(store, member, KIND) == K_DFA and dfa_target(store, member, byte) < 0:
            return True
        if field(store, member, KIND) == K_AND:
            inner = field(store, member, A)
            for j in range(list_length(store, NODE_LISTS, inner)):
                part = list_item(store, NODE_LISTS, inner, j)
                if field(store, part, KIND) == K_DFA and dfa_target(store, part, byte) < 0:
                    return True
    return False


@kernel
def _front(store, node):
    """What must match first: the left part of a concatenation, unless it may be nothing."""
    if field(store, node, KIND) == K_CONCAT and not has_flag(store, field(store, node, A), NULLABLE):
        return field(store, node, A)
    return node


@kernel
def _see(store, node):
    """Mark a node as seen by the current search; whether it is the first time."""
    seen = ensure(store, SEARCH_SEEN, store[N_NODES] * 4)
    if get_i32(seen, node) == store[SEARCH]:
        return False
    put_i32(seen, node, store[SEARCH])
    return True
