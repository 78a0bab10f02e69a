"""The operations of `engine.build` for ends of documents: bounds, and where the tokens of a mask lead.

In: tables, an operation and its numbers. Out: see tables/operations.py. Cost: see finish/paths.py and successors.py.
"""

from ..machine.jit import kernel
from ..mask.advance import take_text, take_token
from ..mask.tracked_masks import untracked_configuration
from ..tables.operations import Operation
from ..values.parse_states import FIRST_TRACKED
from .estimates import greatest_cost
from .paths import bound_of, finishing_token, lower_bound
from .successors import list_crossing, list_inside


@kernel
def _answer(store, grammar, operation, a, item):
    """What an operation says of one of the items that it is given."""
    if operation == Operation.BOUNDS:
        return bound_of(store, grammar, item)
    if operation == Operation.AFTER_TOKENS:
        return take_token(store, grammar, a, item)
    if operation == Operation.AFTER_TEXTS:
        return take_text(store, grammar, a, item)
    is_tracked = grammar.configurations[item].parse_state >= FIRST_TRACKED
    return untracked_configuration(store, grammar, item) if is_tracked else item


@kernel
def run(store, grammar, operation, a, b, data):
    """Run an operation."""
    if operation == Operation.LOWER_BOUND:
        lower_bound(grammar, a, b, data[0])
    elif operation == Operation.FINISHING_TOKEN:
        return finishing_token(grammar, a)
    elif operation == Operation.ANONYMOUS_OF:
        return store.states[grammar.configurations[a].state].anonymous
    elif operation == Operation.LIST_INSIDE:
        return list_inside(store, grammar, a, data)
    elif operation == Operation.LIST_CROSSING:
        return list_crossing(store, grammar, a, data)
    elif operation == Operation.GREATEST_COST:
        return greatest_cost(store, grammar)
    else:  # items in the first half of `data`, answers in the second
        n = data.shape[0] // 2
        for i in range(n):
            data[n + i] = _answer(store, grammar, operation, a, data[i])
    return 0
