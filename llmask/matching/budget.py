"""Masks within a budget: only tokens after which the document can be ended with the tokens that are left.

    U(c)     tokens that certainly suffice to end from a configuration, end of sequence included: a way is known, so U
             is at least the true minimum (matching/finish.py)
    budget   n tokens still to be written, the next one and the end of sequence included
    mask     the grammar's tokens with U(after the token) + 1 <= n

Where U(c) <= n one of these tokens, that of U's way, has U(after it) <= U(c) - 1, so a budget that was kept is always
kept (matching/finish.py says where U is guessed: values that must not repeat). U may fall when a shorter way is found
and never rises; sequences that move to other tables take their way along. A budget that is lowered below U allows the
tokens after which U is least. At the start it is refused, after a search for a shorter way: what is stated is the
minimum if that search came to its end.

With more tokens left than the greatest U after a configuration's tokens, the mask is the grammar's own. These tokens
are not looked at while a jump more is left than U(c): an estimate of what one token may add to the end (`Ends.jump`).

In: a sequence, a budget. Out: its bitmask. Cost: where the end is far 0.3 us besides the mask; of a configuration that
is met for the first time some milliseconds (128,256 tokens: median 0.06, 99 % 37); a known mask near the end 50 to 300
us.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any

import numpy as np

from ..arguments import as_integer, as_row
from ..errors import BudgetError, LimitExceeded, LlmaskError
from ..kernels.finish.paths import FIRST_TOKEN, NO_BOUND
from ..kernels.machine.constants import NO_TOKEN
from ..kernels.mask.configurations import ENDED, REFUSED
from ..kernels.tables.operations import Operation
from ..mask.apply import packed
from ..work import Meter, in_parts, metered, share, unmetered
from .finish import SLACK, Inside, Int32s, Reach, ends_of, has_ends

Sequence = Any  # of sequence.py, which calls this module
FINISH_WORK = 10_000  # units that finishing may take in a step where max_step_work is less
SEARCH_COST = 8  # microseconds that a unit of a search for an end takes, about
CLOSING, SIGNS = b'"]}:,', bytes(range(0x21, 0x7F))


def fill_within(sequence: Sequence, bitmask: Any, row: int, budget: Any) -> bool | None:
    """See `Matcher.fill_bitmask`, with a budget; None, and nothing is written: the mask without one holds."""
    n = checked_budget(budget)
    if restricts_nothing(sequence, n):
        return None
    words, row = as_row(bitmask, row, sequence.store.n_words)
    sequence.make_room()
    with sequence.store.lock, metered(sequence.store.limits.max_step_work, "max_step_work"):
        ends = ends_of(sequence.generation)
        configuration = sequence.configuration
        bound = ends.bound(configuration)
        if len(sequence.history) <= sequence.begin:
            check_least(n, bound if bound <= n else ends.search(configuration))
        if n > ends.far(configuration):
            return None
        try:
            reach = ends.reach(configuration)
        except LimitExceeded:
            if len(sequence.history) > sequence.begin and n > bound + SLACK:
                return None
            raise
        is_accepting = sequence.is_accepting()
        if n > reach.most or not (is_accepting or len(reach.tokens) or len(reach.reached)):
            return None
        return _write_mask(sequence, reach, ends.inside(reach.state), n - 1, is_accepting, words[row])


def restricts_nothing(sequence: Sequence, n: int) -> bool:
    """Whether a budget of `n` tokens is known to allow all that the grammar does."""
    configuration = sequence.configuration
    return configuration == ENDED or n > ends_of(sequence.generation).most.get(configuration, NO_BOUND)


def n_free(sequence: Sequence, n: int) -> int:
    """Before how many tokens a budget of `n` need not be looked at.

    Raises
    ------
    LimitExceeded : finding the end needs more work than a step may take.
    """
    if sequence.configuration == ENDED:
        return 1
    sequence.make_room()
    with sequence.store.lock, metered(sequence.store.limits.max_step_work, "max_step_work"):
        ends = ends_of(sequence.generation)
        most = ends.far(sequence.configuration)
        return 0 if n <= most else 1 + (n - 1 - most) // (1 + ends.jump())


def _write_mask(sequence: Sequence, reach: Reach, inside: Inside, most: int, is_accepting: bool, words: Int32s) -> bool:
    """Write the mask of the tokens whose bounds are at most `most`; without any, of those with the least bound."""
    tokenizer = sequence.store.tokenizer
    if not is_accepting and reach.least > most:
        most = reach.least
        if most >= NO_BOUND:
            raise no_end(sequence.place())
    flags = np.zeros(len(words) * 32, bool)
    if is_accepting:
        flags[list(tokenizer.eos_ids)] = True
    for group in np.flatnonzero(reach.inside_bounds <= most).tolist():
        flags[inside.tokens[inside.first[group] : inside.first[group + 1]]] = True
    flags[reach.tokens] = reach.bounds <= most
    words[:] = packed(flags)
    return bool(np.count_nonzero(flags) < tokenizer.vocab_size)


def least_budget(sequence: Sequence, exact: bool = False) -> int:
    """See `Matcher.least_budget`."""
    sequence.make_room()
    with sequence.store.lock:
        ends = ends_of(sequence.generation)
        bound = NO_BOUND if exact else ends.bound(sequence.configuration)
        if bound >= NO_BOUND:
            bound = ends.search(sequence.configuration)
    if bound >= NO_BOUND:
        raise no_end(sequence.place())
    return max(bound, 1)


def finishing_tokens(sequence: Sequence) -> list[int]:
    """See `Matcher.finishing_tokens`."""
    sequence.make_room()
    with sequence.store.lock:
        ends = ends_of(sequence.generation)
        configuration = sequence.configuration
        if ends.bound(configuration) >= NO_BOUND and ends.search(configuration) >= NO_BOUND:
            raise no_end(sequence.place())
        return ends.path(configuration)


def finish_work(sequence: Sequence, part: int = 1) -> AbstractContextManager[Meter]:
    """What a step may take once more where a limit was met and the sequence is not to be lost, or a part of it."""
    return metered(max(sequence.store.limits.max_step_work, FINISH_WORK) // part, "max_step_work")


def next_of_end(sequence: Sequence) -> list[int]:
    """See `Matcher.finish`."""
    if sequence.is_accepting():
        return sorted(sequence.store.tokenizer.eos_ids)
    sequence.make_room()
    if not has_ends(sequence.generation):  # the costs of rules are found once for the tables
        with suppress(LimitExceeded), metered(sequence.store.limits.max_compile_work, "max_compile_work"):
            ends_of(sequence.generation).jump()
    ends, configuration, begun = ends_of(sequence.generation), sequence.configuration, list[int]()
    with suppress(LimitExceeded), finish_work(sequence, SEARCH_COST):
        if in_parts(lambda: ends.bound(configuration, begun)) < NO_BOUND:
            return [sequence.run(Operation.FINISHING_TOKEN, configuration)]
    return [_token_on(sequence, begun[-1:])]


def _token_on(sequence: Sequence, begun: list[int]) -> int:
    """A token of one byte that may come next: where no end was found in time, the next step looks on after it.

    First come bytes that a search has begun a way with, then those that close something, then what is known to go on.
    """
    trie, run = sequence.store.tokenizer._parts.trie, sequence.generation.run
    token_at, children = trie.token, range(int(trie.child_first[0]), int(trie.child_first[1]))
    tokens = {int(trie.child_byte[child]): int(token_at[trie.child_node[child]]) for child in children}
    for passes in ((begun, 4), (CLOSING, 16), (SIGNS, 512)), ((CLOSING, 1), (tokens, 16)):
        with finish_work(sequence):
            for byte, part in ((byte, part) for some, part in passes for byte in some):
                token = tokens.get(byte, NO_TOKEN) if byte < FIRST_TOKEN else byte - FIRST_TOKEN
                with suppress(LimitExceeded), share(part):
                    if token != NO_TOKEN and run(Operation.ACCEPT, sequence.configuration, token) != REFUSED:
                        return token
    raise no_end(sequence.place())


def known_end(sequence: Sequence) -> list[int] | None:
    """The way to the end that the sequence's tables know, to be kept in other tables; None: nobody asked for one."""
    generation, configuration = sequence.generation, sequence.configuration
    with suppress(LimitExceeded), finish_work(sequence):  # where it is not known yet
        if not has_ends(generation) or ends_of(generation).bound(configuration) >= NO_BOUND:
            return None
        with unmetered():
            return ends_of(generation).path(configuration)
    return None


def keep_end(sequence: Sequence, end: list[int] | None) -> None:
    """Have the sequence's new tables know a way to the end."""
    if end is not None:
        ends_of(sequence.generation).keep(sequence.configuration, end)


def checked_budget(budget: Any) -> int:
    """A budget as an int.

    Raises
    ------
    LlmaskError : it is no positive integer.
    """
    n = as_integer(budget, "a budget")
    if n < 1:
        raise LlmaskError(
            f"a budget is at least 1, not {n}", help="it counts the next token and the end of sequence, too"
        )
    return n


def check_least(n: int, bound: int) -> None:
    """Refuse a budget below a bound.

    Raises
    ------
    BudgetError : it is.
    LimitExceeded : the bound is not known.
    """
    if bound >= NO_BOUND:
        raise no_end("token 0")
    if n < bound:
        raise BudgetError(
            f"a budget of {n} tokens is too small: the shortest document found takes {bound} tokens, "
            "the end of sequence included",
            help=f"give a budget of at least {bound}",
            least=bound,
        )


def no_end(place: str) -> LimitExceeded:
    """No way to the end of a document was found."""
    return LimitExceeded(
        "no end of the document was found, so no budget can be kept",
        where=place,
        help="do without a budget, or give a grammar whose documents can be shorter",
    )
