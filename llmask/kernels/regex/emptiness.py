"""The exact test whether a regular expression matches nothing, remembered.

A search may be long, and others wait for the store meanwhile. So one that stops because its work is spent can be kept
and goes on from there, see kept.py: what it has seen stays true, whatever others find out in between.

In: a store's table, a node. Out: yes or no.
Cost: nothing without intersection and complement; else a derivative a step, most often some dozen.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.interning import list_item, list_length
from ..tables.kept import KEPT_NUMBERS, N_KEPT, PROGRESS, bring_back, can_keep, keep
from ..tables.memory import EXCEEDED, LIMIT_WORK, block, ensure, exceed, get_i32, put_i32, spend
from ..tables.store_layout import (
    LIMIT_EMPTINESS,
    MAX_EMPTINESS,
    N_NODES,
    NODE_LISTS,
    SCRATCH,
    SCRATCH_TOP,
    SEARCH,
    SEARCH_SEEN,
    SEARCHED,
)
from .class_maps import class_of, n_classes
from .derivatives import derivative, dfa_target
from .nodes import (
    BYTE_DISTANCE,
    DISTANCE,
    EMPTY,
    FINITE,
    FLAGS,
    HIDES,
    HIGH,
    K_AND,
    K_CONCAT,
    K_DFA,
    K_NOT,
    K_REPEAT,
    KIND,
    KNOWN_EMPTY,
    KNOWN_FULL,
    MAP,
    NULLABLE,
    UNBOUNDED,
    A,
    B,
    add_flag,
    field,
    has_flag,
    scratch,
)

ENTRY = 9  # fields of an entry of the search: see _search
E_PARENT = 1
E_BELOW = 2
E_LINK = 3
E_CLASS = 4
E_BYTE = 5
E_BUCKET = 6
E_LENGTH = 7
E_AUTOMATON = 8
N_BUCKETS = 1024  # of entries by DISTANCE, see _bucket
FINE_BUCKETS = 512
NEAREST = 0  # ways of the search
LOW_BYTES = 1
BREADTH = 2
N_WAYS = 3
SLOWNESS = 4  # bytes of a way that weigh as much as a part of BYTE_DISTANCE
KEPT_LOW = KEPT_NUMBERS
KEPT_OLDEST = KEPT_NUMBERS + 1


@kernel
def is_empty(store, root):
    """As `is_empty_in_parts`, in one part."""
    never_inline()
    return is_empty_in_parts(store, store, root)


@kernel
def is_empty_in_parts(store, kept, root):
    """Whether no string matches `root`, decided exactly.

    Without intersection and complement only EMPTY is empty. Otherwise a search through the derivatives looks for a
    nullable one; there are finitely many. A string found marks the path to it, a search that ends without one marks
    everything that it saw. False once a limit is reached (the caller looks at EXCEEDED); when that is the work, `kept`
    has the search, and the next call with the same root goes on with it.
    """
    never_inline()
    if _is_known_full(store, root):
        return False
    if root == EMPTY or has_flag(store, root, KNOWN_EMPTY):
        return True
    if _excludes_few(store, root):
        add_flag(store, root, KNOWN_FULL)
        return False
    if field(store, root, KIND) == K_CONCAT:
        # decided by its parts one after the other: the search below then never crosses a long plain tail
        left = field(store, root, A)
        right = field(store, root, B)
        if not has_flag(store, right, HIDES):
            found = _search(store, kept, left) if not _is_known_full(store, left) else True
            if store[EXCEEDED] == 0:
                add_flag(store, root, KNOWN_FULL if found else KNOWN_EMPTY)
            return not found
    return not _search(store, kept, root)


@kernel
def _is_known_full(store, node):
    flags = field(store, node, FLAGS)
    if node == EMPTY:
        return False
    return (flags & (NULLABLE | KNOWN_FULL)) != 0 or (flags & HIDES) == 0


@kernel
def _excludes_few(store, node):
    """Whether a node is an endless repetition, with something behind it, of which finitely many strings are excluded.

    So are all keys but the declared ones: a search would make the nodes of a string that nobody wrote. What stands
    before it is matched by something.
    """
    if field(store, node, KIND) == K_CONCAT and not has_flag(store, field(store, node, A), HIDES):
        node = field(store, node, B)
    if field(store, node, KIND) != K_AND or list_length(store, NODE_LISTS, field(store, node, A)) != 2:
        return False
    for i in range(2):
        other = list_item(store, NODE_LISTS, field(store, node, A), i)
        excluded = list_item(store, NODE_LISTS, field(store, node, A), 1 - i)
        if field(store, excluded, KIND) == K_NOT and field(store, other, KIND) == K_CONCAT:
            repeat = field(store, other, A)
            if field(store, repeat, KIND) == K_REPEAT and field(store, repeat, HIGH) == UNBOUNDED:
                is_plain = field(store, other, FLAGS) & HIDES == 0 and not has_flag(
                    store, field(store, repeat, A), NULLABLE
                )
                return is_plain and has_flag(store, field(store, excluded, A), FINITE)
    return False


@kernel
def _search(store, kept, root):
    """Whether some derivative of `root` is nullable.

    Three ways are tried in turn, a byte each: the nearest first (by DISTANCE, among equals the oldest), depth first by
    the lowest bytes, and breadth first. Each loses itself somewhere: the first where a complement asks for length, of
    which the distance knows nothing, the second in a label that needs a Chinese letter, the third in `.{1000}&[a-z]*`.
    For the first the length of the way counts a little, too: where `ab`, `ac` and `ad` must come, another `a` brings
    none of them nearer, and `b` takes the others away again; it wrote `aaaa...` up to the longest string allowed.

    The scratch stack has a queue for each DISTANCE, and entries: node; parent; the entry below on the path of
    LOW_BYTES; the next one of its queue; the class and the byte to be tried next; its queue; bytes from the root;
    whether automata may refuse bytes. Entries stay, they are the parents. What one way finds is not put on the path of
    LOW_BYTES: when it was, every other step led back to the start, and host names of 40 characters took 30,000 steps
    instead of 200.
    """
    never_inline()
    if _is_known_full(store, root):
        return True
    if root == EMPTY or has_flag(store, root, KNOWN_EMPTY):
        return False
    store[SEARCH] += 1
    spend(store, 64)
    bottom = store[SCRATCH_TOP]
    if can_keep(store, kept) and kept[N_KEPT] != 0:
        bring_back(store, kept)
        _see_again(store)
        low = kept[KEPT_LOW]
        oldest = kept[KEPT_OLDEST]
        bucket = 0
        steps = kept[PROGRESS]
    else:
        queues = ensure(store, SCRATCH, (bottom + 2 * N_BUCKETS) * 4)
        for i in range(2 * N_BUCKETS):
            put_i32(queues, bottom + i, -1)
        store[SCRATCH_TOP] = bottom + 2 * N_BUCKETS
        _see(store, root)
        low = _enter(store, bottom, root, -1, -1)
        oldest = low
        bucket = scratch(store, low + E_BUCKET)
        steps = 0
    while True:
        while oldest < store[SCRATCH_TOP] and _is_done(store, oldest):
            oldest += ENTRY
        if oldest == store[SCRATCH_TOP]:
            break
        way = steps % N_WAYS
        entry = oldest
        if way == NEAREST:
            bucket, entry = _nearest(store, bottom, bucket)
        elif way == LOW_BYTES:
            while low >= 0 and _is_done(store, low):
                low = scratch(store, low + E_BELOW)
            entry = oldest if low < 0 else low
        node = scratch(store, entry)
        class_before = scratch(store, entry + E_CLASS)
        byte_before = scratch(store, entry + E_BYTE)
        byte = _next_byte(store, entry, node)
        n_nodes = store[N_NODES]
        target = EMPTY if byte < 0 else derivative(store, node, byte)
        steps += 1
        spend(store, 6)
        store[SEARCHED] += store[N_NODES] - n_nodes
        if max(steps, store[SEARCHED]) > store[MAX_EMPTINESS]:
            exceed(store, LIMIT_EMPTINESS)
        if store[EXCEEDED] != 0:
            if can_keep(store, kept) and store[EXCEEDED] == LIMIT_WORK:
                # this step was not taken
                put_i32(block(store, SCRATCH), entry + E_CLASS, class_before)
                put_i32(block(store, SCRATCH), entry + E_BYTE, byte_before)
                keep(store, kept, steps - 1)
                kept[KEPT_LOW] = low
                kept[KEPT_OLDEST] = oldest
            store[SCRATCH_TOP] = bottom
            return True
        found = entry
        if target != EMPTY and not has_flag(store, target, KNOWN_EMPTY):
            if _is_known_full(store, target):
                while entry >= 0:
                    add_flag(store, scratch(store, entry), KNOWN_FULL)
                    entry = scratch(store, entry + E_PARENT)
                store[SCRATCH_TOP] = bottom
                return True
            if _see(store, target):
                found = _enter(store, bottom, target, entry, entry if way == LOW_BYTES else -1)
                bucket = min(bucket, scratch(store, found + E_BUCKET))
        if way == LOW_BYTES:
            low = found
    for entry in range(bottom + 2 * N_BUCKETS, store[SCRATCH_TOP], ENTRY):
        add_flag(store, scratch(store, entry), KNOWN_EMPTY)
    store[SCRATCH_TOP] = bottom
    return False


@kernel
def _see_again(store):
    """Mark the nodes of a search that was kept, as other searches may have come between."""
    never_inline()
    spend(store, store[SCRATCH_TOP] >> 4)
    for entry in range(2 * N_BUCKETS, store[SCRATCH_TOP], ENTRY):
        _see(store, scratch(store, entry))


@kernel
def _bucket(distance):
    """Queue of a distance: one for every part of a byte up to 32 bytes, one a byte then; the last has all beyond."""
    if distance < FINE_BUCKETS:
        return distance
    return min(FINE_BUCKETS + (distance - FINE_BUCKETS) // BYTE_DISTANCE, N_BUCKETS - 1)


@kernel
def _enter(store, bottom, node, parent, below):
    """Append an entry of the search, of which no class was tried yet; returns its position."""
    never_inline()
    entry = store[SCRATCH_TOP]
    length = 0 if parent < 0 else scratch(store, parent + E_LENGTH) + 1
    bucket = _bucket(field(store, node, DISTANCE) + length // SLOWNESS)
    entries = ensure(store, SCRATCH, (entry + ENTRY) * 4)
    store[SCRATCH_TOP] = entry + ENTRY
    put_i32(entries, entry, node)
    put_i32(entries, entry + E_PARENT, parent)
    put_i32(entries, entry + E_BELOW, below)
    put_i32(entries, entry + E_LINK, -1)
    put_i32(entries, entry + E_CLASS, 0)
    put_i32(entries, entry + E_BYTE, 0)
    put_i32(entries, entry + E_BUCKET, bucket)
    put_i32(entries, entry + E_LENGTH, length)
    put_i32(entries, entry + E_AUTOMATON, 1 if _has_automaton(store, node) else 0)
    last = get_i32(entries, bottom + 2 * bucket + 1)
    put_i32(entries, bottom + 2 * bucket if last < 0 else last + E_LINK, entry)
    put_i32(entries, bottom + 2 * bucket + 1, entry)
    return entry


@kernel
def _nearest(store, bottom, bucket):
    """The first bucket from `bucket` with an entry that is not done, and its oldest one; there is one."""
    never_inline()
    while True:
        first = scratch(store, bottom + 2 * bucket)
        while first >= 0 and _is_done(store, first):
            first = scratch(store, first + E_LINK)
        put_i32(block(store, SCRATCH), bottom + 2 * bucket, first)
        if first >= 0:
            return bucket, first
        put_i32(block(store, SCRATCH), bottom + 2 * bucket + 1, -1)
        bucket += 1


@kernel
def _is_done(store, entry):
    return scratch(store, entry + E_CLASS) == n_classes(store, field(store, scratch(store, entry), MAP))


@kernel
def _next_byte(store, entry, node):
    """A byte of the class that an entry tries next, or -1; classes are numbered in the order of their first bytes.

    Classes that an automaton refuses are passed over: before the second byte of a character that is most of them.
    """
    never_inline()
    class_map = field(store, node, MAP)
    end = n_classes(store, class_map)
    entries = block(store, SCRATCH)
    number = get_i32(entries, entry + E_CLASS)
    byte = get_i32(entries, entry + E_BYTE)
    may_refuse = get_i32(entries, entry + E_AUTOMATON) != 0
    found = -1
    while number < end and found < 0:
        while class_of(store, class_map, byte) != number:
            byte += 1
        number += 1
        if not (may_refuse and _refuses(store, node, byte)):
            found = byte
    put_i32(entries, entry + E_CLASS, number)
    put_i32(entries, entry + E_BYTE, byte)
    return found


@kernel
def _has_automaton(store, node):
    """Whether an expression is an intersection with automata."""
    node = _front(store, node)
    if field(store, node, KIND) != K_AND:
        return False
    members = field(store, node, A)
    for i in range(list_length(store, NODE_LISTS, members)):
        kind = field(store, _front(store, list_item(store, NODE_LISTS, members, i)), KIND)
        if kind == K_DFA or kind == K_AND:
            return True
    return False


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
