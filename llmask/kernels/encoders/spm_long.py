"""SentencePiece BPE of a long word: all pairs of neighbours in a queue, the lowest rank first, leftmost among equals.

The queue of a very long word is lists, one a rank: merging goes through a rank from left to right, so most pairs come
to the end of the list of their rank, and what comes next is the head of the lowest list that has any. A pair on the
left of its list's last one goes to a heap instead, which is the whole queue of words up to MANY symbols.
1 MB of "ab" or of blanks takes a third of the time that a heap of all pairs takes, whose paths lie all over the memory
(`python -m bench.sentencepiece llama-spm.gguf`, 2026-11-22).

In: a model's table, the symbols of a word. Out: the symbols that are left. Cost: 50 ns a symbol, 200 ns where nearly
all pairs go to the heap.
"""

from ..machine.jit import inline, kernel
from ..machine.raw import give_back
from ..machine.records import Record, Wide
from ..tables.memory import allocate
from .heap import pop, push
from .merges_table import MADE_MASK, NO_MERGE, RANK_SHIFT, find_merge
from .piece_slots import PieceSlot

SYMBOL = Record(
    "a symbol of a long word",
    id="DEAD_SYMBOL: it was merged to its left",
    start="",
    before="the symbol before, -1: it is the first",
    after="the next symbol",
)
PAIR = Record("a pair on the heap", key=Wide("rank << 32 | left symbol"), length="in bytes", merged="what it merges to")
LIST = Record("the pairs of a rank, by entry", first="1 + first, 0: the list is empty", last="1 + last")
LISTED = Record("a pair in a list", left="", length="in bytes", merged="what it merges to", following="1 + next entry")
RANK = Record("a heap of the ranks whose list is not empty", 64, key="the rank")
QUEUE = Record(
    *("a queue: addresses, and how much lies there", 64),
    heap="",
    n_heap="",
    lists="0: the word is not very long",
    entries="",
    n_entries="",
    ranks="",
    n_lists="",
)
DEAD_SYMBOL = -2
MANY = 4096  # symbols: with fewer a heap is near memory
LAST_KEY = 0x7FFFFFFFFFFFFFFF


@inline
def push_pair(model, queue, symbols, left, right, end):
    """Put the pair of two neighbouring symbols, which ends at `end`, into the queue, if it merges."""
    pair = find_merge(model[PieceSlot.PAIRS], model[PieceSlot.PAIR_BITS], symbols[left].id, symbols[right].id)
    if pair == NO_MERGE:
        return
    rank, merged, length = pair >> RANK_SHIFT, pair & MADE_MASK, end - symbols[left].start
    # to the end of the list of its rank, if it is on the right of all there
    if queue.lists != 0:
        entries, its_list = LISTED.at(queue.entries), LIST.at(queue.lists)[rank]
        last = its_list.last
        if last == 0 or entries[last - 1].left < left:
            entry = entries[queue.n_entries]
            entry.left, entry.length, entry.merged = left, length, merged
            queue.n_entries += 1
            its_list.last = queue.n_entries
            if last != 0:
                entries[last - 1].following = queue.n_entries
            else:
                its_list.first = queue.n_entries
                push(RANK.at(queue.ranks), queue.n_lists, rank)
                queue.n_lists += 1
            return
    heap = PAIR.at(queue.heap)
    entry = heap[push(heap, queue.n_heap, rank << 32 | left)]
    entry.length, entry.merged = length, merged
    queue.n_heap += 1


@inline
def pop_pair(queue):
    """Take the next pair out of the queue: its left symbol (-1: the queue is empty), its bytes, what it merges to."""
    pair = PAIR.at(queue.heap)
    key = pair.key if queue.n_heap > 0 else LAST_KEY
    if queue.n_lists > 0:
        ranks = RANK.at(queue.ranks)
        its_list = LIST.at(queue.lists)[ranks.key]
        entry = LISTED.at(queue.entries)[its_list.first - 1]
        if ranks.key << 32 | entry.left < key:
            its_list.first = entry.following
            if entry.following == 0:
                its_list.last = 0
                queue.n_lists = pop(ranks, queue.n_lists)
            return entry.left, entry.length, entry.merged
    if queue.n_heap == 0:
        return -1, 0, 0
    length, merged = pair.length, pair.merged
    queue.n_heap = pop(pair, queue.n_heap)
    return key & 0x7FFFFFFF, length, merged


@inline
def make_queue(model, n_symbols):
    """An empty queue for the pairs of a word."""
    queue = QUEUE.at(allocate(QUEUE.n_bytes))
    queue.heap = allocate(3 * n_symbols * PAIR.n_bytes)
    if n_symbols > MANY:
        queue.lists = allocate((model[PieceSlot.N_RANKS] + 1) * LIST.n_bytes)
        queue.entries = allocate(3 * n_symbols * LISTED.n_bytes)
        queue.ranks = allocate((model[PieceSlot.N_RANKS] + 1) * RANK.n_bytes)
    return queue


@inline
def drop_queue(queue):
    """Give the memory of a queue back."""
    give_back(queue.heap)
    give_back(queue.lists)
    give_back(queue.entries)
    give_back(queue.ranks)
    give_back(queue.address)


@inline
def symbol_end(symbols, n_symbols, following, n_bytes):
    """Where the symbol before `following` ends."""
    return n_bytes if following == n_symbols else symbols[following].start


@kernel
def merge_long(model, symbols, n_symbols, n_bytes):
    """Merge the symbols of a long word, which ends at `n_bytes`; the symbols left are moved together. Returns how many.

    After a merge the left symbol is what both make, and both pairs with its new neighbours go into the queue.
    """
    queue = make_queue(model, n_symbols)
    for i in range(n_symbols):
        symbols[i].before, symbols[i].after = i - 1, i + 1
    for i in range(n_symbols - 1):
        push_pair(model, queue, symbols, i, i + 1, symbol_end(symbols, n_symbols, i + 2, n_bytes))
    while True:
        left, length, merged = pop_pair(queue)
        if left < 0:
            break
        first, right = symbols[left], symbols[left].after
        if first.id == DEAD_SYMBOL or right == n_symbols:
            continue
        following = symbols[right].after
        end = symbol_end(symbols, n_symbols, following, n_bytes)
        if end - first.start != length:  # one of the two was merged meanwhile: symbols only grow
            continue
        first.id, first.after, symbols[right].id = merged, following, DEAD_SYMBOL
        if following < n_symbols:
            symbols[following].before = left
            after = symbol_end(symbols, n_symbols, symbols[following].after, n_bytes)
            push_pair(model, queue, symbols, left, following, after)
        if first.before >= 0:
            push_pair(model, queue, symbols, first.before, left, end)
    drop_queue(queue)
    n_left, i = 0, 0
    while i < n_symbols:
        following = symbols[i].after
        symbols[n_left] = symbols[i]
        n_left += 1
        i = following
    return n_left
