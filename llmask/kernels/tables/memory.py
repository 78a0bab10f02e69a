"""Tables: growable arrays that compiled code allocates, reads and writes by itself, and that grow under readers.

A *table* is one `int64[n_slots]` array; a slot holds a number or the address of a block. Doors take the array's
address (a call with 25 arrays costs 2.4 us), kernels a bare pointer to it: `table[SLOT]`. Handing an array from
kernel to kernel counted references with atomic instructions, which made every small step 80 ns. And a kernel that can
enlarge a block needs no way back into Python.

    table:  [ bytes used | limit ... | address of block A | address of block B | ... ]
                                              |
    block:   [ previous block | n_bytes | charged ] item 0, item 1, ...   (header of 32 bytes before the address)

Small blocks (up to SMALL_BLOCK) are made by calloc and grow to twice their size. Those that outgrow it are mapped from
the system with room for BIG_BLOCK, big ones with room for 256 times what was there, and for 8 times what is asked for:
address space is reserved, memory is taken page by page as it is written, so a table that fills copies next to nothing
(doubling blocks of 64 MB stopped a token for 30-60 ms; retired blocks of up to 64 KB were half of a grammar's memory).
Where address space is limited (`ulimit -v`) they double, too. `charged` says how many bytes of a block count in
`bytes_used`.

A grown block is published with an atomic store; the old one stays on a chain that starts in `retired` until the
table dies: a reader that fetched the old address a moment ago may go on reading it. Retired blocks are small. `block`
loads an address with acquire order, so a reader that sees an index also sees a block that is long enough for it.

Tried and given up: NamedTuples of arrays (call cost), growing in Python (every helper had to hand a status code
upwards), one huge reservation of address space (fails under memory limits that count reserved pages).

In: a table and a slot. Out: addresses.
Cost: an access is two loads; with LLMASK_CHECK_BOUNDS=1 every access is compared with the block's size.
"""

import mmap
import sys

from ..machine.atomics import load_acquire, pointer_to, store_release
from ..machine.jit import inline, kernel
from ..machine.numba_names import ir, item_bytes, loaded_again, primitive, types
from ..machine.prebuilt import CHECK_BOUNDS
from ..machine.raw import borrow_zeros, give_back, make_load
from ..machine.records import Slots

BASE = Slots(
    *("every table", 0),
    bytes_used="bytes in live and retired blocks",
    max_bytes="limit for these",
    exceeded="code of the first limit that was reached, 0 = none; until the call ends",
    retired="newest retired block, 0 = none",
    work="ticks of work since the call began, see `spend`",
    max_work="limit for these",
)
FIRST_FREE_SLOT = BASE.n_slots
LIMIT_BYTES = 1  # codes in `exceeded`: max_bytes
LIMIT_WORK = 2  # max_work

TICK_BITS = 6  # 64 ticks of work are a unit, about a microsecond

HEADER_BYTES = 32
MIN_BLOCK_BYTES = 256
PAGE_BYTES = 4096
SMALL_BLOCK = 16 * 1024  # header included; mapping a block takes 4 us and a fault for each page
BIG_BLOCK = 64 * 1024  # header included
BIG_FACTOR = 256
ROOM_FACTOR = 8  # of a block that is big at once, as an automaton of 10 MB: the next one may be as large
CHARGED_STEP = 64 * 1024  # blocks larger than BIG_BLOCK are charged in steps of this many bytes, it by pages

_PREVIOUS, _CHARGED, _BYTES = -24, -16, -8  # offsets of the header's fields

_CAN_MAP = sys.platform != "win32"
if _CAN_MAP:
    _i64 = types.int64
    _mmap = types.ExternalFunction("mmap", _i64(_i64, _i64, types.int32, types.int32, types.int32, _i64))
    _munmap = types.ExternalFunction("munmap", types.int32(_i64, _i64))
    _PROTECTION = mmap.PROT_READ | mmap.PROT_WRITE
    # memory is taken when it is written: Linux is told not to count what is only reserved
    _MAP_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (0x4000 if sys.platform == "linux" else 0)


def _make_store(name, bits):
    @primitive("void(int64, int64)", name)
    def store(builder, address, value):
        item = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
        builder.store(item, pointer_to(builder, address, bits), align=bits // 8)

    return store


load_i64, load_i32 = make_load("load_i64", 64, align=8), make_load("load_i32", 32, align=4, is_signed=True)
load_u8 = make_load("load_u8", 8)
store_i64 = _make_store("store_i64", 64)
store_i32 = _make_store("store_i32", 32)
store_u8 = store_i8 = _make_store("store_u8", 8)


@primitive("table(int64)")
def as_table(builder, address):
    """The table at an address, for kernels."""
    return pointer_to(builder, address, 64)


@primitive("int64(table)")
def address_of(builder, table):
    """The address of a table."""
    return builder.ptrtoint(table, ir.IntType(64))


@primitive("void(int64, int64, int64)")
def copy_bytes(builder, destination, source, n_bytes):
    """Memcpy between addresses."""
    from numba.core import cgutils

    cgutils.raw_memcpy(builder, pointer_to(builder, destination, 8), pointer_to(builder, source, 8), n_bytes, 1)


@primitive("void(int64, int64, int64)")
def fill_bytes(builder, destination, n_bytes, value):
    """Memset at an address."""
    from numba.core import cgutils

    cgutils.memset(builder, pointer_to(builder, destination, 8), n_bytes, builder.trunc(value, ir.IntType(8)))


@inline
def _check(address, offset, size):
    if offset < 0 or offset + size > load_i64(address + _CHARGED):
        raise IndexError("access outside of a block")


def _make_get(load, size):
    @inline
    def get(address, index):
        if CHECK_BOUNDS:
            _check(address, index * size, size)
        return load(address + index * size)

    return get


def _make_put(store, size):
    @inline
    def put(address, index, value):
        if CHECK_BOUNDS:
            _check(address, index * size, size)
        store(address + index * size, value)

    return put


# items of blocks
get_i32, get_i64, get_u8 = _make_get(load_i32, 4), _make_get(load_i64, 8), _make_get(load_u8, 1)
put_i32, put_i64 = _make_put(store_i32, 4), _make_put(store_i64, 8)


@inline
def block(table, slot):
    """Address of the block in `slot` (0 when none was made)."""
    return load_acquire(address_of(table) + slot * 8)


@inline
def block_bytes(address):
    """Size of a block without its header."""
    return load_i64(address + _BYTES)


@inline
def _map_memory(n_bytes):
    """Address of fresh pages of zeros, 0 when the system gives none."""
    if _CAN_MAP:
        address = _mmap(0, n_bytes, _PROTECTION, _MAP_FLAGS, -1, 0)
        return 0 if address == -1 else address
    return borrow_zeros(n_bytes, 1)


@inline
def _make_block(capacity):
    """Address of a block of zeros, nothing charged yet; 0 when there is no memory."""
    n_bytes = capacity + HEADER_BYTES
    raw = _map_memory(n_bytes) if n_bytes >= BIG_BLOCK else borrow_zeros(n_bytes, 1)
    if raw == 0:
        return 0
    store_i64(raw + HEADER_BYTES + _BYTES, capacity)
    return raw + HEADER_BYTES


@inline
def _charge(table, address, n_bytes):
    """Count at least `n_bytes` of a block. Sets `exceeded` when the table's limit is passed: loops look at it and
    stop soon, so helpers need no way to fail.
    """
    capacity = block_bytes(address)
    charged = capacity
    if capacity + HEADER_BYTES >= BIG_BLOCK:
        step = CHARGED_STEP if capacity + HEADER_BYTES > BIG_BLOCK else PAGE_BYTES
        charged = min(capacity, (n_bytes + step - 1) & -step)
    table.bytes_used += charged - load_i64(address + _CHARGED)
    store_i64(address + _CHARGED, charged)
    if table.bytes_used > table.max_bytes:
        exceed(table, LIMIT_BYTES)


@kernel
def new_block(table, n_bytes):
    """Address of a fresh block of zeros that never grows."""
    address = _make_block(n_bytes)
    if address == 0:
        raise MemoryError("no memory for a table of llmask")
    table.bytes_used += HEADER_BYTES
    _charge(table, address, n_bytes)
    spend(table, n_bytes >> 7)
    return address


@kernel
def allocate(n_bytes):
    """Address of zeros that belong to no table; the caller gives them back (`give_back`), or keeps them for ever."""
    address = borrow_zeros(n_bytes, 1)
    if address == 0:
        raise MemoryError("no memory for llmask")
    return address


@inline
def exceed(table, code):
    """Note that a limit was reached; the first one stays."""
    if table.exceeded == 0:
        table.exceeded = code


@inline
def has_stopped(store, grammar):
    """Whether a limit was reached, so that what was found is not to be trusted."""
    return (store.exceeded | grammar.exceeded) != 0


@inline
def spend(table, ticks):
    """Count work: about a 64th of a microsecond a tick. The count depends on what is done, never on the machine.

    Every loop whose length input decides counts, growing a block does not: when that is due depends on what else lies
    there. A limit that is reached stops the loop as any other does.
    """
    table.work += ticks
    if table.work > table.max_work:
        exceed(table, LIMIT_WORK)


@inline
def ensure(table, slot, n_bytes):
    """Address of the block in `slot`, enlarged to at least `n_bytes`; new bytes are 0."""
    address = table[slot]
    if address != 0 and n_bytes <= load_i64(address + _CHARGED):
        return address
    return _enlarge(table, slot, n_bytes)


@inline
def reserve(items, n):
    """The block enlarged to at least `n` items; new ones are 0. Only the block that is returned has them."""
    ensure(items.table, items.slot, n * item_bytes(items))
    return loaded_again(items)


@kernel
def _enlarge(table, slot, n_bytes):
    address = table[slot]
    old_bytes = 0
    if address != 0:
        old_bytes = block_bytes(address)
        if n_bytes <= old_bytes:
            _charge(table, address, n_bytes)
            return address
    wanted = max(n_bytes, 2 * old_bytes, MIN_BLOCK_BYTES)
    fresh = 0
    if wanted + HEADER_BYTES > BIG_BLOCK:
        fresh = _make_block(max(ROOM_FACTOR * n_bytes, BIG_FACTOR * old_bytes))
    elif _CAN_MAP and wanted + HEADER_BYTES > SMALL_BLOCK:
        fresh = _make_block(BIG_BLOCK - HEADER_BYTES)
    if fresh == 0:
        fresh = _make_block(wanted)
    if fresh == 0:
        raise MemoryError("no memory for a table of llmask")
    table.bytes_used += HEADER_BYTES
    _charge(table, fresh, n_bytes)
    if address != 0:
        copy_bytes(fresh, address, load_i64(address + _CHARGED))
        store_i64(address + _PREVIOUS, table.retired)  # it dies with the table
        table.retired = address
    publish(table, slot, fresh)
    return fresh


@inline
def publish(table, slot, address):
    """Make a finished block visible to readers without the lock."""
    store_release(address_of(table) + slot * 8, address)


@inline
def free_block(address):
    """Give one block back."""
    if address == 0:
        return
    n_bytes = block_bytes(address) + HEADER_BYTES
    if _CAN_MAP and n_bytes >= BIG_BLOCK:
        _munmap(address - HEADER_BYTES, n_bytes)
    else:
        give_back(address - HEADER_BYTES)


@inline
def free_retired(table):
    """Give the whole chain back; only when no reader can be left."""
    address = table.retired
    table.retired = 0
    while address != 0:
        older = load_i64(address + _PREVIOUS)
        free_block(address)
        address = older


@kernel
def free_blocks(table, block_slots, pool_slots):
    """Give back all memory of a table: blocks, and lists of blocks, each a slot and that of its length."""
    for i in range(0, pool_slots.shape[0], 2):
        addresses = table[pool_slots[i]]
        for j in range(table[pool_slots[i + 1]]):
            free_block(get_i64(addresses, j))
    free_retired(table)
    for i in range(block_slots.shape[0]):
        free_block(table[block_slots[i]])
        table[block_slots[i]] = 0
