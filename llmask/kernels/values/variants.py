"""Recorded values of a set, and the rules that derive other values.

    set        [size, its texts (text_sets.py), words of named members]      see guards.py
    variant    VARIANTS maps (rule, set of texts) to a rule that derives the same without those texts, or to
               DERIVES_NOTHING; without texts the rule itself

A variant that is not there yet is requested: the operation stops as at a limit, Python has it made and loaded
(llmask/compiling/compiled.py), and the operation runs again. Only regular expressions can leave values out byte by
byte, and only frontends know how a value may be spelled, so kernels do not make variants themselves.

A set may hold UNKNOWN_TEXT: that of a value whose text is not looked at (goto.py). Which values are left then is not
decided. But where different texts are different values (CALL_PLAIN), most of what begins like a value of the variant
without the known texts can still become one: it takes two ways to go on (mask/boundary_walk.py). The rule is then
tentative.

States of rules that are written when a run first gets there (grammar/rules.py, `skip_late`) are requested likewise.

In: a grammar's table, sets. Out: sets, rules. Cost: 10 ns a look-up; a set with one more text 0.3 us.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..tables.grammar_layout import (
    MAX_UNIQUE,
    REQUESTED_RULE,
    REQUESTED_TEXTS,
    RULE_FLAGS,
    SET_IN_PROGRESS,
    SETS,
    UNDECIDED,
    VARIANTS,
)
from ..tables.interning import MISSING, intern_list, list_item, list_length, map_get
from ..tables.memory import block, ensure, exceed, get_i32, put_i32
from ..tables.store_layout import LIMIT_UNIQUE, NEEDS_VARIANT
from .text_sets import NO_TEXTS, add_text, has_unknown_text, init_text_sets, is_text_in, n_texts, without_unknown

SIZE = 0  # fields of a set
TEXTS_OF_SET = 1
FIRST_WORD = 2
DERIVES_NOTHING = -2
IN_SET_ALREADY = -1
LATE = -1  # REQUESTED_TEXTS where REQUESTED_RULE is the number of a late skip
PRODUCTIVE = 1  # flags of rules
RULE_NULLABLE = 2
CHAINED = 4  # its runs may end in a link, see parser/leo_items.py


@kernel
def init_sets(grammar):
    """Make the empty set of texts and the empty set."""
    never_inline()
    init_text_sets(grammar)
    address = ensure(grammar, SET_IN_PROGRESS, 8)
    put_i32(address, 0, 0)
    put_i32(address, 1, NO_TEXTS)
    intern_list(grammar, SETS, address, 0, 2)


@kernel
def texts_of(grammar, number):
    return list_item(grammar, SETS, number, TEXTS_OF_SET)


@kernel
def has_unknown(grammar, number):
    return has_unknown_text(grammar, texts_of(grammar, number))


@kernel
def has_text(grammar, number, text):
    """Whether a text is in a set."""
    return is_text_in(grammar, texts_of(grammar, number), text)


@kernel
def with_text(grammar, number, text):
    """The set with one more text, or IN_SET_ALREADY."""
    never_inline()
    texts = texts_of(grammar, number)
    if is_text_in(grammar, texts, text):
        return IN_SET_ALREADY
    if n_texts(grammar, texts) >= grammar[MAX_UNIQUE]:
        exceed(grammar, LIMIT_UNIQUE)
        return IN_SET_ALREADY
    texts = add_text(grammar, texts, text)
    n = list_length(grammar, SETS, number)
    address = ensure(grammar, SET_IN_PROGRESS, n * 4)
    for i in range(n):
        put_i32(address, i, list_item(grammar, SETS, number, i))
    put_i32(address, SIZE, get_i32(address, SIZE) + 1)
    put_i32(address, TEXTS_OF_SET, texts)
    return intern_list(grammar, SETS, address, 0, n)


@kernel
def late_state(grammar, number):
    """The state that a late skip leads to; requests it where it is not written yet, MISSING."""
    never_inline()
    known = map_get(grammar, VARIANTS, late_key(number))
    if known == MISSING:
        grammar[REQUESTED_RULE] = number
        grammar[REQUESTED_TEXTS] = LATE
        exceed(grammar, NEEDS_VARIANT)
    return known


@kernel
def late_key(number):
    """Key in VARIANTS of a late skip: sets of texts are smaller than its lower half."""
    return (number << 32) | 0xFFFFFFFF


@kernel
def is_productive(grammar, rule):
    """Whether a rule derives something."""
    return get_i32(block(grammar, RULE_FLAGS), rule) & PRODUCTIVE != 0


@kernel
def variant(grammar, rule, number):
    """The rule that derives what `rule` does without the texts of a set, DERIVES_NOTHING, or MISSING.

    Requests what is missing; notes in UNDECIDED where a text is not known.
    """
    texts = texts_of(grammar, number)
    if has_unknown_text(grammar, texts):
        grammar[UNDECIDED] = 1
        return DERIVES_NOTHING
    return variant_without(grammar, rule, texts)


@kernel
def tentative_variant(grammar, rule, number):
    """As `variant`, the unknown text not left out."""
    texts = texts_of(grammar, number)
    if has_unknown_text(grammar, texts):
        texts = without_unknown(grammar, texts)
    return variant_without(grammar, rule, texts)


@kernel
def variant_without(grammar, rule, texts):
    """The rule that derives what `rule` does without known texts, DERIVES_NOTHING, or MISSING."""
    never_inline()
    if texts == NO_TEXTS:
        return rule if is_productive(grammar, rule) else DERIVES_NOTHING
    known = map_get(grammar, VARIANTS, (rule << 32) | texts)
    if known == MISSING:
        grammar[REQUESTED_RULE] = rule
        grammar[REQUESTED_TEXTS] = texts
        exceed(grammar, NEEDS_VARIANT)
    return known
