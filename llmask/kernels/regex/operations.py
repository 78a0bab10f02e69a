"""The operations of `engine.build` on regular expressions.

In: a store's table, one that keeps what is not done, an operation and its numbers. Out: see tables/operations.py.
"""

from ..machine.jit import kernel
from ..tables.operations import Operation
from .constructors import (
    add_automaton,
    add_literal,
    init_nodes,
    make_bytes,
    make_concat,
    make_not,
    make_repeat,
    make_tokens,
    put_numbers,
)
from .derivatives import derivative, matches
from .emptiness import is_empty_in_parts
from .nodes import Node, push
from .products import extensions, is_open
from .set_operations import intersection_of, make_and, make_union
from .word_trees import make_words


@kernel
def _push_all(store, data):
    first = store.scratch_top
    for i in range(data.shape[0]):
        push(store, data[i])
    return first


@kernel
def _concat(store, data):
    result = Node.EPSILON
    for i in range(data.shape[0] - 1, -1, -1):
        result = make_concat(store, data[i], result)
    return result


@kernel
def run(store, kept, operation, a, b, c, data):
    """Run an operation."""
    if operation == Operation.LITERAL:
        return add_literal(store, data)
    if operation == Operation.CONCAT:
        return _concat(store, data)
    if operation == Operation.UNION:
        return make_union(store, _push_all(store, data))
    if operation == Operation.REPEAT:
        return make_repeat(store, a, b, c)
    if operation == Operation.BYTE_SET:
        return make_bytes(store, _push_all(store, data))
    if operation == Operation.INTERSECT:
        return make_and(store, _push_all(store, data))
    if operation == Operation.COMPLEMENT:
        return make_not(store, a)
    if operation == Operation.EXCEPT:
        return intersection_of(store, a, make_not(store, make_union(store, _push_all(store, data))))
    if operation == Operation.WORDS:
        return make_words(store, kept, data)
    if operation == Operation.TOKENS:
        return make_tokens(store, _push_all(store, data))
    if operation == Operation.PUT_NUMBERS:
        return put_numbers(store, a, b, data)
    if operation == Operation.DFA:
        return add_automaton(store, a, b, c, data)
    if operation == Operation.DERIVATIVE:
        return derivative(store, a, b)
    if operation == Operation.IS_NULLABLE:
        return 1 if store.nodes[a].nullable else 0
    if operation == Operation.IS_EMPTY:
        return 1 if is_empty_in_parts(store, kept, a) else 0
    if operation == Operation.IS_OPEN:
        return 1 if is_open(store, a) else 0
    if operation == Operation.MATCHES:
        return 1 if matches(store, a, data) else 0
    if operation == Operation.EXTENSIONS:
        return extensions(store, a, b, data)
    if operation == Operation.MARK:
        store.nodes[a].flags |= b
    if operation == Operation.INIT_STORE:
        init_nodes(store)
    return 0
