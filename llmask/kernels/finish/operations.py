"""The operations about ends: tokens that suffice, and where the tokens of a mask lead.

They are some of those of `engine.build`, the door for everything that writes.

In: tables, an operation and its numbers. Out: what the table below says. Cost: see finish/paths.py and successors.py.
"""

from __future__ import annotations

from ..machine.jit import kernel, never_inline
from ..mask.advance import take_text, take_token
from .paths import bound_of, finishing_token, lower_bound
from .rule_costs import greatest_cost
from .successors import list_crossing, list_inside, twin_of, without_record

# operations; all others have smaller numbers
FIRST_FINISHING = 45
BOUNDS = 45  # data: configurations, then as many bounds to write   -> 0
LOWER_BOUND = 46  # a: configuration, b: bound; data: its token     -> 0
FINISHING_TOKEN = 47  # a: configuration                            -> token, NO_TOKEN where the document may end
TWIN_OF = 48  # a: configuration                                    -> lexer state, see successors.py
LIST_INSIDE = 49  # a: lexer state; data: pairs to write            -> how many numbers, also where they have no room
LIST_CROSSING = 50  # a: configuration; data: pairs to write        -> the same
AFTER_TOKENS = 51  # a: configuration; data: tokens, then as many configurations to write -> 0
AFTER_TEXTS = 53  # the same with the bytes of the tokens; a is not ENDED
WITHOUT_RECORDS = 52  # data: n configurations, then n to write, each with the row of one and no record -> 0
GREATEST_COST = 54  # -> the most bytes that ending a run of a rule takes


@kernel
def finish(store, grammar, operation, a, b, data):
    """Run an operation."""
    never_inline()
    if operation == BOUNDS:
        n = data.shape[0] // 2
        for i in range(n):
            data[n + i] = bound_of(store, grammar, data[i])
    elif operation == LOWER_BOUND:
        lower_bound(grammar, a, b, data[0])
    elif operation == FINISHING_TOKEN:
        return finishing_token(grammar, a)
    elif operation == TWIN_OF:
        return twin_of(store, grammar, a)
    elif operation == LIST_INSIDE:
        return list_inside(store, grammar, a, data)
    elif operation == LIST_CROSSING:
        return list_crossing(store, grammar, a, data)
    elif operation == AFTER_TOKENS:
        n = data.shape[0] // 2
        for i in range(n):
            data[n + i] = take_token(store, grammar, a, data[i])
    elif operation == AFTER_TEXTS:
        n = data.shape[0] // 2
        for i in range(n):
            data[n + i] = take_text(store, grammar, a, data[i])
    elif operation == WITHOUT_RECORDS:
        n = data.shape[0] // 2
        for i in range(n):
            data[n + i] = without_record(store, grammar, data[i])
    elif operation == GREATEST_COST:
        return greatest_cost(store, grammar)
    return 0
