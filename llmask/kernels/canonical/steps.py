"""The position after a token.

Most pairs of a position and a token come once, so steps are not remembered: what a step needs is looked up. Where all
of it is known it is found without the lock.

In: a cell that shows a position, a token. Out: the position after it, in the cell. Cost: a known one 0.2 us.
"""

from ..lexeme_masks.trie_walk import has_bit
from ..lexer.states import MISS
from ..machine.jit import door, inline, kernel
from ..mask.advance import known_after, take_token
from ..mask.cell import ASK, LIST, NO_FILTER, CellField
from ..mask.configurations import ENDED, REFUSED
from ..tables.int_lists import is_in
from ..tables.memory import as_table, load_i64, store_i64
from .chains import NO_CHAIN, chain_after, look_up, split_after
from .ends import has_stopped
from .following import is_ranged
from .listings import has_bytes
from .positions import before_of, chain_of, context_of, show_position, split_of
from .review import DONE, STOPPED, review_cell, show_parts
from .slots import CANON, REFUSED_SPLIT


@inline
def _allows(canon, cell, token):
    """Whether a grammatical token is in the mask of a position that was reviewed, which a cell shows."""
    kind = load_i64(cell + 8 * CellField.FILTER)
    if kind == NO_FILTER:
        return True
    is_listed = is_in(load_i64(cell + 8 * CellField.PAIRS), load_i64(cell + 8 * CellField.N_PAIRS), token)
    if kind == LIST:
        return is_listed
    if is_listed or not has_bit(load_i64(cell + 8 * CellField.WORDS), token):
        return False
    split, n_ranges = split_of(load_i64(cell + 8 * CellField.CONTEXT)), load_i64(cell + 8 * CellField.N_RANGES)
    if is_ranged(canon, split, token, load_i64(cell + 8 * CellField.RANGES), n_ranges):
        return False
    return not is_in(load_i64(cell + 8 * CellField.REMOVED), load_i64(cell + 8 * CellField.N_REMOVED), token)


@inline
def _context_after(canon, cell, token):
    """The context after a token that a cell's position allows."""
    context = load_i64(cell + 8 * CellField.CONTEXT)
    split, before, chain = split_of(context), before_of(context), chain_of(context)
    after = look_up(canon, CANON.fits, split, token)
    is_cut = load_i64(cell + 8 * CellField.FILTER) == NO_FILTER
    if is_cut or chain != NO_CHAIN or look_up(canon, CANON.breaks, split, token) != REFUSED_SPLIT:
        after = split_after(canon, split, before, chain, token)  # otherwise the mask says that they are compatible
    if after == REFUSED_SPLIT:  # only where the mask is the grammatical one
        return canon.start_split
    return context_of(after, token, chain_after(canon, split, after, chain, token))


@inline
def _show_known(store, grammar, canon, cell, configuration, context):
    """Have a cell show a configuration after a context; False: its mask is not known."""
    is_shown = show_parts(store, grammar, canon, cell, configuration, context)
    return is_shown or show_position(grammar, cell, configuration, context)


@inline
def _ask(cell, configuration, context):
    """Have a cell show a configuration after a context, whose mask is to be asked for."""
    store_i64(cell + 8 * CellField.CONFIGURATION, configuration)
    store_i64(cell + 8 * CellField.CONTEXT, context)
    store_i64(cell + 8 * CellField.FILTER, ASK)


@door("void(int64, int64)", group="canonical")
def show_place(cell, context):
    """Have a cell show its configuration after a context, which need not be known."""
    store, grammar = as_table(load_i64(cell + 8 * CellField.STORE)), as_table(load_i64(cell + 8 * CellField.GRAMMAR))
    configuration = load_i64(cell + 8 * CellField.CONFIGURATION)
    if not _show_known(store, grammar, as_table(grammar.canon), cell, configuration, context):
        _ask(cell, configuration, context)


@door("int64(int64, int64)", group="canonical")
def take_known(cell, token):
    """Have a cell show the position after a token; its configuration, REFUSED, or MISS: something is not known yet."""
    store, grammar = as_table(load_i64(cell + 8 * CellField.STORE)), as_table(load_i64(cell + 8 * CellField.GRAMMAR))
    configuration = load_i64(cell + 8 * CellField.CONFIGURATION)
    if token < 0 or token >= store.n_vocab or configuration == ENDED:
        return REFUSED
    if load_i64(cell + 8 * CellField.FILTER) == ASK or not has_bytes(store, token):
        return MISS
    canon = as_table(grammar.canon)
    if not _allows(canon, cell, token):
        return REFUSED
    context = _context_after(canon, cell, token)
    reached = known_after(store, grammar, configuration, token)
    if reached < 0:
        return reached
    return reached if _show_known(store, grammar, canon, cell, reached, context) else MISS


@kernel
def step_and_review(store, grammar, canon, cell, token):
    """Have a cell show the position after a token; its configuration, REFUSED, or what is missing.

    The mask there, which comes next as a rule, is found at once. What stops that stops a matcher when it asks for it.
    """
    if load_i64(cell + 8 * CellField.FILTER) == ASK:
        missing = review_cell(store, grammar, canon, cell)
        if missing != DONE:
            return missing
    configuration = load_i64(cell + 8 * CellField.CONFIGURATION)
    if configuration == ENDED or token >= store.n_vocab:
        return REFUSED
    if has_bytes(store, token):
        if not _allows(canon, cell, token):
            return REFUSED
        context = _context_after(canon, cell, token)
        reached = take_token(store, grammar, configuration, token)
    else:  # text on both sides of a special token is split by itself
        if load_i64(cell + 8 * CellField.MAY_END) == 0:
            return REFUSED
        context = canon.start_split
        reached = take_token(store, grammar, configuration, token)
        if reached == REFUSED and is_in(store.eos.address, store.n_eos, token):
            reached = ENDED if grammar.configurations[configuration].accepts != 0 else REFUSED
    if has_stopped(store, grammar):
        return STOPPED
    if reached < 0:
        return REFUSED
    if not _show_known(store, grammar, canon, cell, reached, context):
        _ask(cell, reached, context)
        review_cell(store, grammar, canon, cell)
        store.exceeded = grammar.exceeded = 0
    return reached
