"""The emptiness test: whether a regular expression matches nothing, decided exactly and remembered.

An expression matches something if a search through its derivatives finds a nullable one; they are finitely many.
Without intersection and complement only EMPTY is empty, and nothing is searched.

A search may be long, and others wait for the store meanwhile. So one that stops because its work is spent can be kept
and goes on from there, see kept.py: what it has seen stays true, whatever others find out in between.

In: a store's table, a node. Out: yes or no.
Cost: nothing without intersection and complement; else a derivative a step, most often some dozen.
"""

from ..machine.jit import inline, kernel
from ..tables.kept import bring_back, can_keep, keep
from ..tables.kinds import NodeKind
from ..tables.memory import LIMIT_WORK, exceed, reserve, spend
from ..tables.store_layout import LIMIT_EMPTINESS
from .class_maps import first_of_class, n_classes
from .derivatives import derivative
from .ideals import NO_ROOM, room_around
from .nodes import BYTE_DISTANCE, UNBOUNDED, Node, NodeFlag, as_difference

# a search on the scratch stack: its queues, then its entries
N_QUEUES = 1024  # of entries by distance, see _queue_for
FINE_QUEUES = 512
QUEUE, (Q_FIRST, Q_LAST) = 2, range(2)
# of an entry: the one below on the path of LOW_BYTES, and the next of its queue; the class to be tried next, and a byte
# from which it is looked for; bytes from the root
ENTRY, (E_NODE, E_PARENT, E_BELOW, E_NEXT, E_CLASS, E_BYTE, E_QUEUE, E_LENGTH) = 8, range(8)
NO_ENTRY = -1
NEAREST = 0  # strategies of the search; what is no other is breadth first
LOW_BYTES = 1
N_STRATEGIES = 3
SLOWNESS = 4  # bytes of a path that weigh as much as a part of BYTE_DISTANCE


@kernel
def is_empty(store, root):
    """As `is_empty_in_parts`, in one part."""
    return is_empty_in_parts(store, store, root)


@kernel
def is_empty_in_parts(store, kept, root):
    """Whether no string matches `root`.

    A string that is found marks the path to it, a search that ends without one marks everything that it saw. False once
    a limit is reached (the caller looks at EXCEEDED); when that is the work, `kept` has the search, and the next call
    with the same root goes on with it.
    """
    if _is_known_full(store, root):
        return False
    if root == Node.EMPTY or store.nodes[root].known_empty:
        return True
    if _excludes_few(store, root) or _has_texts_anywhere(store, root):
        store.nodes[root].known_full = True
        return False
    if store.nodes[root].kind == NodeKind.CONCAT and not store.nodes[store.nodes[root].b].hides:
        # the right part matches something: the search never crosses a long plain tail
        left = store.nodes[root].a
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
    """Whether a node is an endless repetition, and something after it, without finitely many strings.

    All keys but the declared ones are such a node: a search would make the nodes of a string that nobody wrote. A part
    before it matches something.
    """
    if store.nodes[node].kind == NodeKind.CONCAT and not store.nodes[store.nodes[node].a].hides:
        node = store.nodes[node].b
    endless, excluded = as_difference(store, node)
    repeat = store.nodes[endless].a
    if store.nodes[endless].kind != NodeKind.CONCAT or store.nodes[repeat].kind != NodeKind.REPEAT:
        return False
    if store.nodes[repeat].high != UNBOUNDED or store.nodes[endless].hides:
        return False
    return not store.nodes[store.nodes[repeat].a].nullable and store.nodes[excluded].finite


@inline
def _has_texts_anywhere(store, node):
    """Whether a node is an intersection that has a string by its form, see regex/ideals.py."""
    return store.n_slices > 0 and room_around(store, node, store.slices[0].char) != NO_ROOM


@kernel
def _search(store, kept, root):
    """Whether some derivative of `root` is nullable.

    Three strategies take turns, a byte each: the nearest first (by distance, among equals the oldest), depth first by
    the lowest bytes, and breadth first. Each loses itself somewhere: the first where a complement asks for length,
    which no distance shows, the second in a label that needs a Chinese letter, the third in `.{1000}&[a-z]*`.
    For the first the length of the path counts a little, too: where `ab`, `ac` and `ad` must come, another `a` brings
    none of them nearer, and `b` takes the others away again; it wrote `aaaa...` up to the longest string allowed.

    Entries stay, they are the parents of others. What another strategy finds is not put on the path of LOW_BYTES: when
    it was, every other step led back to the start, and host names of 40 characters took 30,000 steps instead of 200.
    """
    if _is_known_full(store, root):
        return True
    if root == Node.EMPTY or store.nodes[root].known_empty:
        return False
    store.search += 1
    spend(store, 64)
    bottom = store.scratch_top
    # go on with a search that was kept, or begin one
    queue = 0
    if can_keep(store, kept) and kept.n_kept != 0:
        bring_back(store, kept)
        _see_again(store)
        low, oldest, steps = kept.search_low, kept.search_oldest, kept.progress
    else:
        low = oldest = _begin_search(store, root)
        queue = store.scratch[low + E_QUEUE]
        steps = 0
    while True:
        while oldest < store.scratch_top and _is_done(store, oldest):
            oldest += ENTRY
        if oldest == store.scratch_top:
            break
        strategy = steps % N_STRATEGIES
        entry, queue, low = _choose(store, bottom, strategy, queue, low, oldest)
        target = _next_derivative(store, entry)
        steps += 1
        if max(steps, store.searched) > store.max_emptiness:
            exceed(store, LIMIT_EMPTINESS)
        if store.exceeded != 0:
            if can_keep(store, kept) and store.exceeded == LIMIT_WORK:
                keep(store, kept, steps - 1)
                kept.search_low = low
                kept.search_oldest = oldest
            store.scratch_top = bottom
            return True
        # a string is found, or another entry, or nothing new
        found = entry
        if target != Node.EMPTY and not store.nodes[target].known_empty:
            is_full, is_new = _is_known_full(store, target), _see(store, target)
            if is_full or (is_new and _has_texts_anywhere(store, target)):
                store.nodes[target].known_full = True
                _mark_path(store, entry)
                store.scratch_top = bottom
                return True
            if is_new:
                found = _enter(store, bottom, target, entry, entry if strategy == LOW_BYTES else NO_ENTRY)
                queue = min(queue, store.scratch[found + E_QUEUE])
        if strategy == LOW_BYTES:
            low = found
    # every entry is done: none of them matches anything
    for entry in range(bottom + QUEUE * N_QUEUES, store.scratch_top, ENTRY):
        store.nodes[store.scratch[entry + E_NODE]].known_empty = True
    store.scratch_top = bottom
    return False


@kernel
def _begin_search(store, root):
    """Put empty queues on the scratch stack, and the entry of the root, which is returned."""
    bottom = store.scratch_top
    queues = reserve(store.scratch, bottom + QUEUE * N_QUEUES)
    for i in range(QUEUE * N_QUEUES):
        queues[bottom + i] = NO_ENTRY
    store.scratch_top = bottom + QUEUE * N_QUEUES
    _see(store, root)
    return _enter(store, bottom, root, NO_ENTRY, NO_ENTRY)


@inline
def _choose(store, bottom, strategy, queue, low, oldest):
    """The entry that a strategy goes on from; the nearest queue, and the end of the path of LOW_BYTES."""
    entry = oldest
    if strategy == NEAREST:
        queue, entry = _nearest(store, bottom, queue)
    elif strategy == LOW_BYTES:
        while low >= 0 and _is_done(store, low):
            low = store.scratch[low + E_BELOW]
        entry = oldest if low < 0 else low
    return entry, queue, low


@kernel
def _next_derivative(store, entry):
    """The derivative of an entry's node by the next byte to try; EMPTY where there is no such byte."""
    node = store.scratch[entry + E_NODE]
    class_before, byte_before = store.scratch[entry + E_CLASS], store.scratch[entry + E_BYTE]
    byte = _next_byte(store, entry, node)
    n_nodes = store.n_nodes
    target = Node.EMPTY if byte < 0 else derivative(store, node, byte)
    spend(store, 6)
    store.searched += store.n_nodes - n_nodes
    if store.exceeded != 0:  # this step was not taken
        store.scratch[entry + E_CLASS] = class_before
        store.scratch[entry + E_BYTE] = byte_before
    return target


@inline
def _mark_path(store, entry):
    """A string was found: the nodes on the way to it match something."""
    while entry >= 0:
        store.nodes[store.scratch[entry + E_NODE]].known_full = True
        entry = store.scratch[entry + E_PARENT]


@kernel
def _see_again(store):
    """Mark the nodes of a search that was kept, as other searches may have come between."""
    spend(store, store.scratch_top >> 4)
    for entry in range(QUEUE * N_QUEUES, store.scratch_top, ENTRY):
        _see(store, store.scratch[entry + E_NODE])


@inline
def _queue_for(distance):
    """Number of the queue of a distance: one for every part of a byte up to 32 bytes, then one for every byte; the last
    has all beyond.
    """
    if distance < FINE_QUEUES:
        return distance
    return min(FINE_QUEUES + (distance - FINE_QUEUES) // BYTE_DISTANCE, N_QUEUES - 1)


@kernel
def _enter(store, bottom, node, parent, below):
    """Append an entry that has tried no class yet; returns its position."""
    entry = store.scratch_top
    length = 0 if parent < 0 else store.scratch[parent + E_LENGTH] + 1
    queue = _queue_for(store.nodes[node].distance + length // SLOWNESS)
    entries = reserve(store.scratch, entry + ENTRY)
    store.scratch_top = entry + ENTRY
    entries[entry + E_NODE], entries[entry + E_PARENT], entries[entry + E_BELOW] = node, parent, below
    entries[entry + E_NEXT], entries[entry + E_CLASS], entries[entry + E_BYTE] = NO_ENTRY, 0, 0
    entries[entry + E_QUEUE], entries[entry + E_LENGTH] = queue, length
    ends = bottom + QUEUE * queue
    last = entries[ends + Q_LAST]
    entries[ends + Q_FIRST if last < 0 else last + E_NEXT] = entry
    entries[ends + Q_LAST] = entry
    return entry


@kernel
def _nearest(store, bottom, queue):
    """The first queue from `queue` on with an entry that is not done, and its oldest one; there is one."""
    while True:
        ends = bottom + QUEUE * queue
        first = store.scratch[ends + Q_FIRST]
        while first >= 0 and _is_done(store, first):
            first = store.scratch[first + E_NEXT]
        store.scratch[ends + Q_FIRST] = first
        if first >= 0:
            return queue, first
        store.scratch[ends + Q_LAST] = NO_ENTRY
        queue += 1


@inline
def _is_done(store, entry):
    return store.scratch[entry + E_CLASS] == n_classes(store, store.nodes[store.scratch[entry + E_NODE]].map)


@inline
def _next_byte(store, entry, node):
    """A byte of the class that an entry tries next, or -1."""
    number, byte = store.scratch[entry + E_CLASS], store.scratch[entry + E_BYTE]
    if number == n_classes(store, store.nodes[node].map):
        return -1
    byte = first_of_class(store, store.nodes[node].map, number, byte)
    store.scratch[entry + E_CLASS] = number + 1
    store.scratch[entry + E_BYTE] = byte
    return byte


@inline
def _see(store, node):
    """Mark a node as seen by the current search; whether it is the first time."""
    seen = reserve(store.search_seen, store.n_nodes)
    if seen[node] == store.search:
        return False
    seen[node] = store.search
    return True
