"""The queue of a search for continuations (canonical/search.py): tokens that were taken, each with the one before it.

In: tables of split states, ends. Out: entries; verdicts and witnesses that are remembered. Cost: 20 ns an entry.
"""

from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..tables.grammar_layout import GRAMMAR
from ..tables.interning import map_get
from ..tables.memory import block, load_i32, load_i64, load_u8, store_i64
from .chains import NO_CHAIN, look_up
from .ends import remember
from .guess import MOST_BYTES, MOST_CHAINS, NEXT, NO_WITNESS, put_witness, witness_key, witness_text
from .slots import BREAKS, FOLLOWS, QUEUE, SHARED_BYTES, WITNESSES

MOST_OWN = 6
# in the key of a witness for all tokens; there may be MOST_COMMON of a split state
ANY_TOKEN = (1 << 21) - 1
MOST_COMMON = 16
ENTRY = 6  # int64 of the queue: place and state, split state, token, chain, entry before, number of the end
MOST_ENTRIES = 128


@inline
def verdict_key(end, split, token):
    return (end << 37) | (split << 21) | token


@inline
def write_entry(canon, n, packed, split, token, chain, before, end):
    at = block(canon, QUEUE) + n * ENTRY * 8
    store_i64(at, packed)
    store_i64(at + 8, split)
    store_i64(at + 16, token)
    store_i64(at + 24, chain)
    store_i64(at + 32, before)
    store_i64(at + 40, end)


@inline
def note_verdict(canon, memo, entry, found):
    """Remember what was found for an entry of the queue."""
    at = block(canon, QUEUE) + entry * ENTRY * 8
    if load_i64(at + 24) == NO_CHAIN:
        key = verdict_key(load_i64(at + 40), load_i64(at + 8), load_i64(at + 16))
        if map_get(memo.verdicts, key) < 0:
            remember(canon, memo, GRAMMAR.verdicts, key, found)


@inline
def enter_witness(canon, key, most, text, after):
    """Remember a text of a split state and token, or ANY_TOKEN, unless it is known or there are `most`."""
    while most > 0:
        known = map_get(map_at(canon, WITNESSES), key)
        if known < 0:
            if canon.bytes_used <= canon[SHARED_BYTES]:
                put_witness(canon, key, text, after)
            return
        if known > NO_WITNESS and witness_text(canon, known) == text:
            return
        key, most = key + NEXT, most - 1


@kernel
def note_witness(store, canon, entry, token, after):
    """Remember the text from the first entry over `entry` and a token to a split state, if it is short."""
    queue = block(canon, QUEUE)
    offsets, data = store.token_offsets.address, store.token_data.address
    split, chain = load_i64(queue + 8), load_i64(queue + 24)
    if chain >= MOST_CHAINS:
        return
    text, n_bytes = 0, 0
    while True:
        first, last = load_i32(offsets + token * 4), load_i32(offsets + token * 4 + 4)
        n_bytes += last - first
        if n_bytes > MOST_BYTES:
            return
        for at in range(last - 1, first - 1, -1):
            if load_u8(data + at) == 0:
                return
            text = text << 8 | load_u8(data + at)
        if entry == 0:
            break
        token = load_i64(queue + entry * ENTRY * 8 + 16)
        entry = load_i64(queue + entry * ENTRY * 8 + 32)
    key, most = witness_key(split, load_i64(queue + 16), chain), MOST_OWN
    if chain == NO_CHAIN and look_up(canon, FOLLOWS, split, token) == look_up(canon, BREAKS, split, token):
        key, most = witness_key(split, ANY_TOKEN, NO_CHAIN), MOST_COMMON
    enter_witness(canon, key, most, text, after)
