"""The exact test whether a regular expression matches nothing, remembered.

A search may be long, and others wait for the store meanwhile. So one that stops because its work is spent can be kept
and goes on from there, see kept.py: what it has seen stays true, whatever others find out in between.

In: a store's table, a node. Out: yes or no.
Cost: nothing without intersection and complement; else a derivative a step, most often some dozen.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.interning import list_item, list_length
from ..tables.kept import bring_back, can_keep, keep
from ..tables.kinds import NodeKind
from ..tables.memory import LIMIT_WORK, exceed, reserve, spend
from ..tables.store_layout import LIMIT_EMPTINESS
from .class_maps import class_of, n_classes
from .derivatives import derivative, dfa_target
from .nodes import BYTE_DISTANCE, UNBOUNDED, Node, NodeFlag

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


@kernel
def is_empty(store, root):
    """As `is_empty_in_parts`, in one part."""
    return is_empty_in_parts(store, store, root)


@kernel
def is_empty_in_parts(store, kept, root):
    """Whether no string matches `root`, decided exactly.

    Without intersection and complement only EMPTY is empty. Otherwise a search through the derivatives looks for a
    nullable one; there are finitely many. A string found marks the path to it, a search that ends without one marks
    everything that it saw. False once a limit is reached (the caller looks at EXCEEDED); when that is the work, `kept`
    has the search, and the next call with the same root goes on with it.
    """
    if _is_known_full(store, root):
        return False
    if root == Node.EMPTY or store.nodes[root].known_empty:
        return True
    if _excludes_few(store, root):
        store.nodes[root].known_full = True
        return False
    if store.nodes[root].kind == NodeKind.CONCAT:
        # decided by its parts one after the other: the search below then never crosses a long plain tail
        left = store.nodes[root].a
        right = store.nodes[root].b
        if not store.nodes[right].hides:
            found = _search(store, kept, left) if not _is_known_full(store, left) else True
            if store.exceeded == 0:
                store.nodes[root].flags |= NodeFlag.KNOWN_FULL if found else NodeFlag.KNOWN_EMPTY
            return not found
    return not _search(store, kept, root)


@inline
def _is_known_full(store, node):
    flags = store.nodes[node].flags
    if node == Node.EMPTY:
        return False
    return (flags & (NodeFlag.NULLABLE | NodeFlag.KNOWN_FULL)) != 0 or (flags & NodeFlag.HIDES) == 0


@inline
def _excludes_few(store, node):
    """Whether a node is an endless repetition, with something behind it, of which finitely many strings are excluded.

    So are all keys but the declared ones: a search would make the nodes of a string that nobody wrote. What stands
    before it is matched by something.
    """
    if store.nodes[node].kind == NodeKind.CONCAT and not store.nodes[store.nodes[node].a].hides:
        node = store.nodes[node].b
    if store.nodes[node].kind != NodeKind.AND or list_length(store.node_lists, store.nodes[node].a) != 2:
        return False
    for i in range(2):
        other = list_item(store.node_lists, store.nodes[node].a, i)
        excluded = list_item(store.node_lists, store.nodes[node].a, 1 - i)
        if store.nodes[excluded].kind == NodeKind.NOT and store.nodes[other].kind == NodeKind.CONCAT:
            repeat = store.nodes[other].a
            if store.nodes[repeat].kind == NodeKind.REPEAT and store.nodes[repeat].high == UNBOUNDED:
                is_plain = (
                    store.nodes[other].flags & NodeFlag.HIDES == 0 and not store.nodes[store.nodes[repeat].a].nullable
                )
                return is_plain and store.nodes[store.nodes[excluded].a].finite
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
    if _is_known_full(store, root):
        return True
    if root == Node.EMPTY or store.nodes[root].known_empty:
        return False
    store.search += 1
    spend(store, 64)
    bottom = store.scratch_top
    if can_keep(store, kept) and kept.n_kept != 0:
        bring_back(store, kept)
        _see_again(store)
        low = kept.search_low
        oldest = kept.search_oldest
        bucket = 0
        steps = kept.progress
    else:
        queues = reserve(store.scratch, bottom + 2 * N_BUCKETS)
        for i in range(2 * N_BUCKETS):
            queues[bottom + i] = -1
        store.scratch_top = bottom + 2 * N_BUCKETS
        _see(store, root)
        low = _enter(store, bottom, root, -1, -1)
        oldest = low
        bucket = store.scratch[low + E_BUCKET]
        steps = 0
    while True:
        while oldest < store.scratch_top and _is_done(store, oldest):
            oldest += ENTRY
        if oldest == store.scratch_top:
            break
        way = steps % N_WAYS
        entry = oldest
        if way == NEAREST:
            bucket, entry = _nearest(store, bottom, bucket)
        elif way == LOW_BYTES:
            while low >= 0 and _is_done(store, low):
                low = store.scratch[low + E_BELOW]
            entry = oldest if low < 0 else low
        node = store.scratch[entry]
        class_before = store.scratch[entry + E_CLASS]
        byte_before = store.scratch[entry + E_BYTE]
        byte = _next_byte(store, entry, node)
        n_nodes = store.n_nodes
        target = Node.EMPTY if byte < 0 else derivative(store, node, byte)
        steps += 1
        spend(store, 6)
        store.searched += store.n_nodes - n_nodes
        if max(steps, store.searched) > store.max_emptiness:
            exceed(store, LIMIT_EMPTINESS)
        if store.exceeded != 0:
            if can_keep(store, kept) and store.exceeded == LIMIT_WORK:
                # this step was not taken
                store.scratch[entry + E_CLASS] = class_before
                store.scratch[entry + E_BYTE] = byte_before
                keep(store, kept, steps - 1)
                kept.search_low = low
                kept.search_oldest = oldest
            store.scratch_top = bottom
            return True
        found = entry
        if target != Node.EMPTY and not store.nodes[target].known_empty:
            if _is_known_full(store, target):
                while entry >= 0:
                    store.nodes[store.scratch[entry]].known_full = True
                    entry = store.scratch[entry + E_PARENT]
                store.scratch_top = bottom
                return True
            if _see(store, target):
                found = _enter(store, bottom, target, entry, entry if way == LOW_BYTES else -1)
                bucket = min(bucket, store.scratch[found + E_BUCKET])
        if way == LOW_BYTES:
            low = found
    for entry in range(bottom + 2 * N_BUCKETS, store.scratch_top, ENTRY):
        store.nodes[store.scratch[entry]].known_empty = True
    store.scratch_top = bottom
    return False


@kernel
def _see_again(store):
    """Mark the nodes of a search that was kept, as other searches may have come between."""
    spend(store, store.scratch_top >> 4)
    for entry in range(2 * N_BUCKETS, store.scratch_top, ENTRY):
        _see(store, store.scratch[entry])


@inline
def _bucket(distance):
    """Queue of a distance: one for every part of a byte up to 32 bytes, one a byte then; the last has all beyond."""
    if distance < FINE_BUCKETS:
        return distance
    return min(FINE_BUCKETS + (distance - FINE_BUCKETS) // BYTE_DISTANCE, N_BUCKETS - 1)


@kernel
def _enter(store, bottom, node, parent, below):
    """Append an entry of the search, of which no class was tried yet; returns its position."""
    entry = store.scratch_top
    length = 0 if parent < 0 else store.scratch[parent + E_LENGTH] + 1
    bucket = _bucket(store.nodes[node].distance + length // SLOWNESS)
    entries = reserve(store.scratch, entry + ENTRY)
    store.scratch_top = entry + ENTRY
    entries[entry] = node
    entries[entry + E_PARENT] = parent
    entries[entry + E_BELOW] = below
    entries[entry + E_LINK] = -1
    entries[entry + E_CLASS] = 0
    entries[entry + E_BYTE] = 0
    entries[entry + E_BUCKET] = bucket
    entries[entry + E_LENGTH] = length
    entries[entry + E_AUTOMATON] = 1 if _has_automaton(store, node) else 0
    last = entries[bottom + 2 * bucket + 1]
    entries[bottom + 2 * bucket if last < 0 else last + E_LINK] = entry
    entries[bottom + 2 * bucket + 1] = entry
    return entry


@kernel
def _nearest(store, bottom, bucket):
    """The first bucket from `bucket` with an entry that is not done, and its oldest one; there is one."""
    while True:
        first = store.scratch[bottom + 2 * bucket]
        while first >= 0 and _is_done(store, first):
            first = store.scratch[first + E_LINK]
        store.scratch[bottom + 2 * bucket] = first
        if first >= 0:
            return bucket, first
        store.scratch[bottom + 2 * bucket + 1] = -1
        bucket += 1


@inline
def _is_done(store, entry):
    return store.scratch[entry + E_CLASS] == n_classes(store, store.nodes[store.scratch[entry]].map)


@kernel
def _next_byte(store, entry, node):
    """A byte of the class that an entry tries next, or -1; classes are numbered in the order of their first bytes.

    Classes that an automaton refuses are passed over: before the second byte of a character that is most of them.
    """
    class_map = store.nodes[node].map
    end = n_classes(store, class_map)
    entries = store.scratch
    number = entries[entry + E_CLASS]
    byte = entries[entry + E_BYTE]
    may_refuse = entries[entry + E_AUTOMATON] != 0
    found = -1
    while number < end and found < 0:
        while class_of(store, class_map, byte) != number:
            byte += 1
        number += 1
        if not (may_refuse and _refuses(store, node, byte)):
            found = byte
    entries[entry + E_CLASS] = number
    entries[entry + E_BYTE] = byte
    return found


@inline
def _has_automaton(store, node):
    """Whether an expression is an intersection with automata."""
    node = _front(store, node)
    if store.nodes[node].kind != NodeKind.AND:
        return False
    members = store.nodes[node].a
    for i in range(list_length(store.node_lists, members)):
        kind = store.nodes[_front(store, list_item(store.node_lists, members, i))].kind
        if kind == NodeKind.DFA or kind == NodeKind.AND:
            return True
    return False


@kernel
def _refuses(store, node, byte):
    """Whether one of the automata does that an expression is an intersection of, or an intersection in it."""
    node = _front(store, node)
    if store.nodes[node].kind != NodeKind.AND:
        return False
    members = store.nodes[node].a
    for i in range(list_length(store.node_lists, members)):
        member = _front(store, list_item(store.node_lists, members, i))
        if store.nodes[member].kind == NodeKind.DFA and dfa_target(store, member, byte) < 0:
            return True
        if store.nodes[member].kind == NodeKind.AND:
            inner = store.nodes[member].a
            for j in range(list_length(store.node_lists, inner)):
                part = list_item(store.node_lists, inner, j)
                if store.nodes[part].kind == NodeKind.DFA and dfa_target(store, part, byte) < 0:
                    return True
    return False


@inline
def _front(store, node):
    """What must match first: the left part of a concatenation, unless it may be nothing."""
    if store.nodes[node].kind == NodeKind.CONCAT and not store.nodes[store.nodes[node].a].nullable:
        return store.nodes[node].a
    return node


@inline
def _see(store, node):
    """Mark a node as seen by the current search; whether it is the first time."""
    seen = reserve(store.search_seen, store.n_nodes)
    if seen[node] == store.search:
        return False
    seen[node] = store.search
    return True
