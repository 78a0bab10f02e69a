"""Byte classes: which bytes an expression, or a lexer state, cannot tell apart (the derivative classes of Owens,
Reppy, Turon 2009).

A class map gives each byte the number of its class. Classes are numbered in the order of their first bytes, so equal
partitions are equal maps and get one id. Derivatives and transitions are stored by class: 2,834 maps served 48,724
lexer states.

In: byte sets and maps. Out: map ids. Cost: a known meet 10 ns, a new one 0.5 us.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import intern_list, list_item, map_get, map_put
from ..tables.memory import fill_bytes, load_u8, reserve, spend, store_u8

MAP_INTS = 64  # a map: 256 class numbers, a byte each
SET_INTS = 8  # a byte set: 256 bits


@inline
def set_contains(store, byte_set, byte):
    return ((list_item(store.byte_sets, byte_set, byte >> 5) >> (byte & 31)) & 1) != 0


@inline
def push_set(store, word):
    """Push a byte set of equal words, 0: no byte; -1: all. Returns where it begins on the stack."""
    first = store.scratch_top
    scratch = reserve(store.scratch, first + SET_INTS)
    for i in range(SET_INTS):
        scratch[first + i] = word
    store.scratch_top = first + SET_INTS
    return first


@inline
def add_to_set(store, first, byte):
    """Add a byte to the set that begins at a position of the scratch stack."""
    at = first + (byte >> 5)
    store.scratch[at] = store.scratch[at] | (1 << (byte & 31))


@inline
def class_of(store, class_map, byte):
    return load_u8(store.class_maps.pool.address + class_map * 256 + byte)


@inline
def n_classes(store, class_map):
    return store.map_classes[class_map]


@inline
def first_of_class(store, class_map, number, byte):
    """The first byte of a class; `byte` is that of the class before, or 0."""
    while class_of(store, class_map, byte) != number:
        byte += 1
    return byte


@inline
def next_of_class(store, class_map, byte):
    """The next byte of the class of a byte, after its last one the first."""
    return store.map_rings[class_map * 256 + byte]


@inline
def class_size(store, class_map, byte):
    """How many bytes there are in the class of a byte."""
    n = 1
    other = next_of_class(store, class_map, byte)
    while other != byte:
        other = next_of_class(store, class_map, other)
        n += 1
    return n


@inline
def _map_in_progress(store):
    """Address of the 256 class numbers, uint8, that `_intern_map` reads: just above the scratch stack."""
    return reserve(store.scratch, store.scratch_top + MAP_INTS).address + store.scratch_top * 4


@kernel
def _intern_map(store):
    """Id of the map in progress."""
    classes = _map_in_progress(store)
    known = store.class_maps.count
    number = intern_list(store.class_maps, store.scratch.address, store.scratch_top, MAP_INTS)
    if number == known:
        largest = 0
        for byte in range(256):
            largest = max(largest, load_u8(classes + byte))
        reserve(store.map_classes, number + 1)[number] = largest + 1
        _link_classes(store, number)
    return number


@inline
def _link_classes(store, class_map):
    """Write the rings of a new map."""
    n = n_classes(store, class_map)
    first_bytes = store.scratch_top + MAP_INTS  # of each class
    last_bytes = first_bytes + n
    scratch = reserve(store.scratch, last_bytes + n)
    for i in range(n):
        scratch[first_bytes + i] = -1
    rings = reserve(store.map_rings, 256 * (class_map + 1))
    for byte in range(256):
        number = class_of(store, class_map, byte)
        if scratch[first_bytes + number] < 0:
            scratch[first_bytes + number] = byte
        else:
            rings[class_map * 256 + scratch[last_bytes + number]] = byte
        scratch[last_bytes + number] = byte
    for i in range(n):
        rings[class_map * 256 + scratch[last_bytes + i]] = scratch[first_bytes + i]


@kernel
def meet(store, one, two):
    """The coarsest class map that refines both."""
    if one == two or two == 0:
        return one
    if one == 0:
        return two
    if one > two:
        one, two = two, one
    key = (one << 32) | two
    known = map_get(store.meets, key)
    if known >= 0:
        return known
    spend(store, 32)
    stamps = reserve(
        store.stamps, 65536
    )  # of each pair of classes: stamp of the last meet that saw it, its class there
    if store.stamp >= 2**22:
        for i in range(65536):
            stamps[i] = 0
        store.stamp = 0
    store.stamp += 1
    stamp = store.stamp
    # a new pair of classes is a new class
    classes = _map_in_progress(store)
    n = 0
    for byte in range(256):
        pair = class_of(store, one, byte) * 256 + class_of(store, two, byte)
        entry = stamps[pair]
        if entry >> 8 != stamp:
            entry = (stamp << 8) | n
            stamps[pair] = entry
            n += 1
        store_u8(classes + byte, entry & 255)
    number = _intern_map(store)
    map_put(store.meets, key, number)
    return number


@kernel
def map_of_set(store, byte_set):
    """The map of two classes (or one): the bytes of a set, and the others."""
    classes = _map_in_progress(store)
    has_first = set_contains(store, byte_set, 0)
    for byte in range(256):
        store_u8(classes + byte, 0 if set_contains(store, byte_set, byte) == has_first else 1)
    return _intern_map(store)


@kernel
def map_of_each(store, first):
    """The map in which each byte of the set at a position of the scratch stack has a class of its own."""
    classes = _map_in_progress(store)
    n, others = 0, -1
    for byte in range(256):
        if store.scratch[first + (byte >> 5)] >> (byte & 31) & 1 != 0:
            store_u8(classes + byte, n)
            n += 1
        else:
            if others < 0:
                others = n
                n += 1
            store_u8(classes + byte, others)
    return _intern_map(store)


@kernel
def map_of_classes(store, class_of_byte):
    """The map of 256 class numbers in an array."""
    classes = _map_in_progress(store)
    for byte in range(256):
        store_u8(classes + byte, class_of_byte[byte])
    return _intern_map(store)


@inline
def init_maps(store):
    """Make map 0: one class."""
    fill_bytes(_map_in_progress(store), 256, 0)
    _intern_map(store)
