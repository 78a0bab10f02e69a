"""Masks that are put together from parts: most of those of many tokens.

    grammatical
    & what the splitter lets follow, less what would merge with the token before     canonical/following.py
    - what nothing canonical can follow, if it is compatible with the token before   canonical/lists.py
    - or if it is not                                                                canonical/broken.py

The second line is a matter of the split state and the token before, the others of the split state and the
configuration. All are known long before their combination has come up, which then needs neither a lock nor memory of
its own. Where a chain has begun, or a token is in both of the last lines, the position is kept instead.

In: tables, a configuration and a context. Out: fields of a cell (mask/cell.py). Cost: 50 ns where the parts are
known.
"""

from ..lexer.states import DEAD
from ..machine.constants import NO_TOKEN
from ..machine.jit import inline
from ..machine.raw import load_u16
from ..mask.assemble import KIND_BITS
from ..mask.cell import FILTER, MOST_LATE, CellField
from ..mask.configurations import ENDED, OWN_MASK
from ..tables.kinds import MaskKind
from ..tables.memory import load_i32, load_i64, load_u8, store_i32, store_i64
from .broken import known_broken
from .chains import NO_CHAIN
from .check_tokens import inside_state
from .following import HEAD_BYTES, base_of, known_following
from .last_byte import ranked_of
from .lists import known_removed
from .pairs import MIXED, effect_of, is_fitting
from .positions import before_of, chain_of, split_of
from .slots import FOLLOWING, IS_PARTIAL, KINDS, MAY_END, RANKS, REACHABLE


@inline
def has_long_mask(store, grammar, configuration):
    """Whether the mask of a configuration, which is known, is one of many tokens."""
    if grammar.configurations[configuration].mask_kind & KIND_BITS == MaskKind.WORDS:
        return True
    if grammar.configurations[configuration].n_named == OWN_MASK:
        return True
    anonymous = inside_state(store, grammar, configuration)
    return anonymous != DEAD and store.states[anonymous].mask_kind == MaskKind.WORDS


@inline
def may_have_parts(store, grammar, canon, configuration, context):
    """Whether the mask of a configuration behind a context is put together, unless tokens depend on that before."""
    if configuration == ENDED or chain_of(context) != NO_CHAIN:
        return False
    is_missing = grammar.configurations[configuration].mask_kind == MaskKind.NONE
    if is_missing or not has_long_mask(store, grammar, configuration):
        return False
    split, before = split_of(context), before_of(context)
    if load_u8(canon[IS_PARTIAL] + split) != 0 or load_i64(canon[FOLLOWING] + split * 8) == 0:
        return False
    return before == NO_TOKEN or load_u8(canon[REACHABLE] + before) != 0


@inline
def write_parts(canon, cell, split, following, removed):
    """Write the fields of a mask; `following` 0: behind no token, `removed` see `find_removed`."""
    words, pairs, n_pairs, n_ranges = load_i64(canon[FOLLOWING] + split * 8), 0, 0, 0
    if following != 0:
        words = base_of(canon, split, following)
        pairs = following + HEAD_BYTES + load_i32(following) * 4
        n_pairs, n_ranges = load_i32(following + 4), load_i32(following + 8)
    store_i64(cell + 8 * CellField.WORDS, words)
    store_i64(cell + 8 * CellField.PAIRS, pairs)
    store_i64(cell + 8 * CellField.N_PAIRS, n_pairs)
    store_i64(cell + 8 * CellField.RANGES, pairs + n_pairs * 4)
    store_i64(cell + 8 * CellField.N_RANGES, n_ranges)
    store_i64(cell + 8 * CellField.RANKED, ranked_of(canon, load_i64(canon[RANKS] + split * 8)))
    store_i64(cell + 8 * CellField.REMOVED, removed + 8)
    store_i64(cell + 8 * CellField.N_REMOVED, load_i32(removed + 4))
    store_i64(cell + 8 * CellField.MAY_END, load_i64(canon[MAY_END] + split * 8))
    store_i64(cell + 8 * CellField.IS_CUT, load_i32(removed))


@inline
def _count_late(canon, split, before, removed, broken):
    """How many of the broken tokens are incompatible with the token before; -1: the position is kept.

    It is where a removed token is incompatible, whose verdict is another one then.
    """
    for i in range(load_i32(removed + 4)):
        token = load_i32(removed + 8 + i * 4)
        kind = load_u16(canon[KINDS] + token * 2)
        if effect_of(canon, split, kind) == MIXED and not is_fitting(canon, before, token):
            return -1
    n = 0
    for i in range(load_i32(broken + 4)):
        n += 0 if is_fitting(canon, before, load_i32(broken + 8 + i * 4)) else 1
    return n if n <= MOST_LATE and load_i32(broken) == 0 else -1


@inline
def _write_late(canon, cell, before, broken):
    """Write which of the broken tokens are incompatible with the token before."""
    n = 0
    for i in range(load_i32(broken + 4)):
        token = load_i32(broken + 8 + i * 4)
        if not is_fitting(canon, before, token):
            store_i32(cell + 8 * CellField.LATE + 4 * n, token)
            n += 1


@inline
def show_parts(store, grammar, canon, cell, configuration, context):
    """Have a cell show a mask that is put together; False: it is not, or a part is not known."""
    if not may_have_parts(store, grammar, canon, configuration, context):
        return False
    split, before, following = split_of(context), before_of(context), 0
    if before != NO_TOKEN:
        following = known_following(canon, split, before)
        if following == 0:
            return False
    removed = known_removed(grammar, configuration, split)
    if removed == 0:
        return False
    broken, n_late = 0, 0
    if following != 0 and load_i32(following) != 0:
        broken = known_broken(grammar, configuration, split)
        n_late = _count_late(canon, split, before, removed, broken) if broken != 0 else -1
        if n_late < 0:
            return False
    if n_late != 0:
        _write_late(canon, cell, before, broken)
    store_i64(cell + 8 * CellField.N_LATE, n_late)
    store_i64(cell + 8 * CellField.CONFIGURATION, configuration)
    store_i64(cell + 8 * CellField.CONTEXT, context)
    write_parts(canon, cell, split, following, removed)
    store_i64(cell + 8 * CellField.FILTER, FILTER)
    return True
