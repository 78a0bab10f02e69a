"""Guards: what an edge or a final state asks of a run through its rule, and how the run's parameter changes behind it.

A run of a rule carries one parameter, 0 on entry: a count, or the number of a set of small integers.

    guard      int32[GUARD_FIELDS]: kind, then
    COUNT      low, high, add, cap            passes iff low <= count <= high; then count = min(count + add, cap)
    ADD        member, high, required, cap    passes iff the member is new and there is room left for those required:
                                              |set + member| + |required - set - member| <= high; then it is added,
                                              ANOTHER only if |set| < cap
    CHECK      low, high, required, rule + 1  passes iff required is part of the set and low <= |set| <= high, and the
                                              rule (if any) derives a value that is not in the set

Sets are interned lists, set 0 is empty, so that equal sets are equal numbers and rows that differ in nothing else are
one row. Members without a name or a text are counted only.

    set        [size, its texts (text_sets.py), words of 32 bits: the named members; the last word is not 0]
    required   [size, number of words, words], one after the other in REQUIRED; the one at 0 is empty

Whether a guard passes is asked of every edge of a row; the parameter behind an edge is made only when the edge is
taken: a row of 600 keys would make 600 sets of 80 bytes.

In: a grammar's table, a guard, a parameter. Out: yes or no; parameters. Cost: a few loads; a new set about 0.1 us.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..machine.lanes import count_bits
from ..tables.grammar_layout import (
    GUARDS,
    MISSING_COUNT,
    MISSING_OF_REQUIRED,
    MISSING_OF_SET,
    REQUIRED,
    SET_IN_PROGRESS,
    SETS,
)
from ..tables.interning import intern_list, list_item, list_length
from ..tables.memory import block, ensure, get_i32, put_i32
from ..values.variants import FIRST_WORD, SIZE, variant

GUARD_FIELDS = 5
COUNT = 0  # kinds of guards, as in grammar/rules.py
ADD = 1
CHECK = 2
ANOTHER = -1  # the member without a name
NO_BOUND = 2**31 - 1


@kernel
def passes(grammar, guard, parameter):
    """Whether a guard lets a run with this parameter through."""
    if guard == 0:
        return True
    guards = block(grammar, GUARDS)
    at = guard * GUARD_FIELDS
    low = get_i32(guards, at + 1)
    high = get_i32(guards, at + 2)
    if get_i32(guards, at) == COUNT:
        return low <= parameter and parameter <= high
    return _passes_set(
        grammar, get_i32(guards, at), low, high, get_i32(guards, at + 3), get_i32(guards, at + 4), parameter
    )


@kernel
def _passes_set(grammar, kind, low, high, required, last, number):
    never_inline()
    size = list_item(grammar, SETS, number, SIZE)
    if kind == CHECK:
        if size < low or size > high or n_missing(grammar, number, required) != 0:
            return False
        return last == 0 or variant(grammar, last - 1, number) >= 0
    member = low
    if member != ANOTHER and _word(grammar, number, member >> 5) >> (member & 31) & 1 != 0:
        return False
    if high == NO_BOUND:
        return True
    missing = n_missing(grammar, number, required)
    if member != ANOTHER and _required_word(grammar, required, member >> 5) >> (member & 31) & 1 != 0:
        missing -= 1
    return size + 1 + missing <= high


@kernel
def behind(grammar, guard, parameter):
    """The parameter behind a guard that let it through."""
    if guard == 0:
        return parameter
    guards = block(grammar, GUARDS)
    at = guard * GUARD_FIELDS
    kind = get_i32(guards, at)
    if kind == COUNT:
        return min(parameter + get_i32(guards, at + 3), get_i32(guards, at + 4))
    if kind == CHECK:
        return parameter
    member = get_i32(guards, at + 1)
    if member == ANOTHER and list_item(grammar, SETS, parameter, SIZE) >= get_i32(guards, at + 4):
        return parameter
    return _with_member(grammar, parameter, member)


@kernel
def _with_member(grammar, number, member):
    """The set with one more member."""
    never_inline()
    n = list_length(grammar, SETS, number)
    n_after = n if member == ANOTHER else max(n, FIRST_WORD + (member >> 5) + 1)
    address = ensure(grammar, SET_IN_PROGRESS, n_after * 4)
    for i in range(n):
        put_i32(address, i, list_item(grammar, SETS, number, i))
    for i in range(n, n_after):
        put_i32(address, i, 0)
    put_i32(address, SIZE, get_i32(address, SIZE) + 1)
    if member != ANOTHER:
        at = FIRST_WORD + (member >> 5)
        put_i32(address, at, get_i32(address, at) | (1 << (member & 31)))
    return intern_list(grammar, SETS, address, 0, n_after)


@kernel
def _word(grammar, number, position):
    """A word of a set."""
    at = FIRST_WORD + position
    return list_item(grammar, SETS, number, at) if at < list_length(grammar, SETS, number) else 0


@kernel
def _required_word(grammar, required, position):
    lists = block(grammar, REQUIRED)
    return get_i32(lists, required + 2 + position) if position < get_i32(lists, required + 1) else 0


@kernel
def n_missing(grammar, number, required):
    """How many required members a set has not got; all edges of a row ask the same."""
    if grammar[MISSING_OF_SET] != number or grammar[MISSING_OF_REQUIRED] != required:
        grammar[MISSING_OF_SET] = number
        grammar[MISSING_OF_REQUIRED] = required
        grammar[MISSING_COUNT] = _count_missing(grammar, number, required)
    return grammar[MISSING_COUNT]


@kernel
def _count_missing(grammar, number, required):
    never_inline()
    n = 0
    for i in range(n_required_words(grammar, required)):
        n += count_bits(missing_word(grammar, number, required, i))
    return n


@kernel
def n_required_words(grammar, required):
    return get_i32(block(grammar, REQUIRED), required + 1)


@kernel
def missing_word(grammar, number, required, position):
    """A word of the required members that a set has not got."""
    return _required_word(grammar, required, position) & ~_word(grammar, number, position) & 0xFFFFFFFF
