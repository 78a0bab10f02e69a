"""Merging a long word: all pairs of neighbours in a queue, the lowest rank first, leftmost among equals.

The queue of a very long word is lists, one a rank: merging goes through a rank from left to right, so most pairs come
to the end of the list of their rank, and what comes next is the head of the lowest list that has any. A pair that
stands on the left of its list's last one goes to a heap instead, which is the whole queue of words up to MANY symbols.
1 MB of "ab" or of blanks takes a third of the time that a heap of all pairs takes, whose paths lie all over the memory
(`python -m bench.sentencepiece llama-spm.gguf`, 2026-11-22).

    symbol   16 bytes:  int32 symbol, DEAD_SYMBOL when merged to its left | int32 start | int32 before | int32 next
    heap     16 bytes an entry:  int64 rank << 32 | left | int32 bytes of the pair | int32 what it merges to
    lists    8 bytes a rank:  1 + first entry | 1 + last entry, 0 = none
    entry    16 bytes:  int32 left | int32 bytes of the pair | int32 what it merges to | int32 1 + next entry
    ranks    int64: a heap of the ranks whose list is not empty

In: a model's table, the symbols of a word. Out: the symbols that are left. Cost: 50 ns a symbol, 200 ns where nearly
all pairs go to the heap.
"""

from __future__ import annotations

from ..machine.jit import inline, kernel
from ..tables.memory import allocate, copy_bytes, give_back, load_i32, load_i64, store_i32, store_i64
from .bpe_heap import pop, push
from .piece_slots import RECORD_BYTES, PieceSlot
from .spm_pairs import find_pair

DEAD_SYMBOL = -2
RECORD = RECORD_BYTES
MANY = 4096  # symbols: with fewer a heap is near memory
LAST_KEY = 0x7FFFFFFFFFFFFFFF
# of a queue
HEAP, N_HEAP, LISTS, ENTRIES, N_ENTRIES, RANKS, N_LISTS = range(0, 56, 8)
QUEUE_BYTES = 56


@inline
def push_heap(heap, n_entries, key, value):
    """Put an entry onto a heap; returns the new number of entries."""
    hole = n_entries
    while hole > 0:
        above = (hole - 1) >> 1
        if load_i64(heap + above * RECORD) <= key:
            break
        copy_bytes(heap + hole * RECORD, heap + above * RECORD, RECORD)
        hole = above
    store_i64(heap + hole * RECORD, key)
    store_i64(heap + hole * RECORD + 8, value)
    return n_entries + 1


@inline
def drop_top(heap, n_entries):
    """Take the top off a heap; returns the new number of entries."""
    last = heap + (n_entries - 1) * RECORD
    key = load_i64(last)
    value = load_i64(last + 8)
    n_entries -= 1
    hole = 0
    while True:
        below = 2 * hole + 1
        if below >= n_entries:
            break
        if below + 1 < n_entries and load_i64(heap + (below + 1) * RECORD) < load_i64(heap + below * RECORD):
            below += 1
        if key <= load_i64(heap + below * RECORD):
            break
        copy_bytes(heap + hole * RECORD, heap + below * RECORD, RECORD)
        hole = below
    store_i64(heap + hole * RECORD, key)
    store_i64(heap + hole * RECORD + 8, value)
    return n_entries


@inline
def push_pair(model, queue, symbols, left, right, end):
    """Put the pair of two neighbouring symbols, which ends at `end`, into the queue, if it merges."""
    first = symbols + left * RECORD
    pair = find_pair(model, load_i32(first), load_i32(symbols + right * RECORD))
    if pair == 0:
        return
    merged, rank, length = load_i32(pair + 8), load_i32(pair + 12), end - load_i32(first + 4)
    lists = load_i64(queue + LISTS)
    if lists != 0:
        entries, number = load_i64(queue + ENTRIES), load_i64(queue + N_ENTRIES)
        its_list = lists + rank * 8
        last = load_i32(its_list + 4)
        if last == 0 or load_i32(entries + (last - 1) * RECORD) < left:
            entry = entries + number * RECORD
            store_i32(entry, left)
            store_i32(entry + 4, length)
            store_i32(entry + 8, merged)
            store_i64(queue + N_ENTRIES, number + 1)
            store_i32(its_list + 4, number + 1)
            if last != 0:
                store_i32(entries + (last - 1) * RECORD + 12, number + 1)
            else:
                store_i32(its_list, number + 1)
                store_i64(queue + N_LISTS, push(load_i64(queue + RANKS), load_i64(queue + N_LISTS), rank))
            return
    n_heap = push_heap(load_i64(queue + HEAP), load_i64(queue + N_HEAP), rank << 32 | left, merged << 32 | length)
    store_i64(queue + N_HEAP, n_heap)


@inline
def pop_pair(queue):
    """Take the next pair out of the queue: its left symbol (-1: there is none), its bytes, what it merges to."""
    heap, n_heap = load_i64(queue + HEAP), load_i64(queue + N_HEAP)
    key = load_i64(heap) if n_heap > 0 else LAST_KEY
    if load_i64(queue + N_LISTS) > 0:
        rank = load_i64(load_i64(queue + RANKS))
        its_list = load_i64(queue + LISTS) + rank * 8
        entry = load_i64(queue + ENTRIES) + (load_i32(its_list) - 1) * RECORD
        left = load_i32(entry)
        if rank << 32 | left < key:
            following = load_i32(entry + 12)
            store_i32(its_list, following)
            if following == 0:
                store_i32(its_list + 4, 0)
                store_i64(queue + N_LISTS, pop(load_i64(queue + RANKS), load_i64(queue + N_LISTS)))
            return left, load_i32(entry + 4), load_i32(entry + 8)
    if n_heap == 0:
        return -1, 0, 0
    value = load_i64(heap + 8)
    store_i64(queue + N_HEAP, drop_top(heap, n_heap))
    return key & 0x7FFFFFFF, value & 0xFFFFFFFF, value >> 32


@inline
def make_queue(model, n_symbols):
    """An empty queue for the pairs of a word."""
    queue = allocate(QUEUE_BYTES)
    store_i64(queue + HEAP, allocate(3 * n_symbols * RECORD))
    if n_symbols > MANY:
        store_i64(queue + LISTS, allocate((model[PieceSlot.N_RANKS] + 1) * 8))
        store_i64(queue + ENTRIES, allocate(3 * n_symbols * RECORD))
        store_i64(queue + RANKS, allocate((model[PieceSlot.N_RANKS] + 1) * 8))
    return queue


@inline
def drop_queue(queue):
    """Give the memory of a queue back."""
    give_back(load_i64(queue + HEAP))
    give_back(load_i64(queue + LISTS))
    give_back(load_i64(queue + ENTRIES))
    give_back(load_i64(queue + RANKS))
    give_back(queue)


@inline
def symbol_end(symbols, n_symbols, following, n_bytes):
    """Where the symbol before `following` ends."""
    return n_bytes if following == n_symbols else load_i32(symbols + following * RECORD + 4)


@kernel
def merge_long(model, symbols, n_symbols, n_bytes):
    """Merge the symbols of a long word, which ends at `n_bytes`; those left stand side by side. Returns how many."""
    queue = make_queue(model, n_symbols)
    for i in range(n_symbols):
        store_i32(symbols + i * RECORD + 8, i - 1)
        store_i32(symbols + i * RECORD + 12, i + 1)
    for i in range(n_symbols - 1):
        push_pair(model, queue, symbols, i, i + 1, symbol_end(symbols, n_symbols, i + 2, n_bytes))
    while True:
        left, length, merged = pop_pair(queue)
        if left < 0:
            break
        first = symbols + left * RECORD
        right = load_i32(first + 12)
        if load_i32(first) == DEAD_SYMBOL or right == n_symbols:
            continue
        second = symbols + right * RECORD
        following = load_i32(second + 12)
        end = symbol_end(symbols, n_symbols, following, n_bytes)
        if end - load_i32(first + 4) != length:  # one of the two was merged meanwhile: symbols only grow
            continue
        store_i32(first, merged)
        store_i32(first + 12, following)
        store_i32(second, DEAD_SYMBOL)
        if following < n_symbols:
            store_i32(symbols + following * RECORD + 8, left)
            after = load_i32(symbols + following * RECORD + 12)
            push_pair(model, queue, symbols, left, following, symbol_end(symbols, n_symbols, after, n_bytes))
        before = load_i32(first + 8)
        if before >= 0:
            push_pair(model, queue, symbols, before, left, end)
    drop_queue(queue)
    n_left = 0
    i = 0
    while i < n_symbols:
        following = load_i32(symbols + i * RECORD + 12)
        store_i64(symbols + n_left * RECORD, load_i64(symbols + i * RECORD))
        n_left += 1
        i = following
    return n_left
