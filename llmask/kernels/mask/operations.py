"""The operations of `engine.build` on rules, configurations and masks.

In: tables, an operation and its numbers. Out: see tables/operations.py.
"""

from ..lexeme_masks.slices import count_characters, write_rest
from ..machine.jit import kernel
from ..parser.load_rules import load_rules
from ..parser.token_terminals import named_ranges
from ..tables.memory import has_stopped, load_i64
from ..tables.operations import Operation
from ..values.called_rules import init_sets, put_late, put_variant
from ..values.texts import init_texts
from .advance import live_bytes, take_bytes, take_token, walk_all
from .assemble import build_mask
from .configurations import first_configuration, init_configurations
from .open_rules import close_lexeme, ending, nodes_of_set, open_rules, trace_bytes

REST, MAIN, WORDS, NODES, N_NODES = range(0, 40, 8)  # of the int64[5] of WRITE_REST, see slices.write_rest


@kernel
def _load(store, grammar, data):
    init_texts(grammar)
    init_sets(grammar)
    result = load_rules(store, grammar, data)
    if result < 0:
        return result
    init_configurations(grammar)
    return first_configuration(store, grammar)


@kernel
def _read_tokens(store, grammar, configuration, ticks, tokens):
    """Take tokens of texts and build the masks before and after each, until one is refused, or so much work is done.

    How many were taken is written in place of the first.
    """
    n = tokens.shape[0]
    for i in range(n):
        build_mask(store, grammar, configuration)
        configuration = take_token(store, grammar, configuration, tokens[i])
        if configuration < 0 or has_stopped(store, grammar) or store.work + grammar.work > ticks:
            tokens[0] = i + 1
            return configuration
    build_mask(store, grammar, configuration)
    tokens[0] = n
    return configuration


@kernel
def run(store, grammar, operation, a, b, c, data):
    """Run an operation."""
    if operation == Operation.BUILD_MASK:
        build_mask(store, grammar, a)
    if operation == Operation.ACCEPT:
        if c != 0:
            build_mask(store, grammar, a)
        return take_token(store, grammar, a, b)
    if operation == Operation.READ:
        return _read_tokens(store, grammar, a, b, data)
    if operation == Operation.ADVANCE:
        return take_bytes(store, grammar, a, data)
    if operation == Operation.LIVE_BYTES:
        return live_bytes(store, grammar, a, data)
    if operation == Operation.LOAD_RULES:
        return _load(store, grammar, data)
    if operation == Operation.LOAD_MORE:
        load_rules(store, grammar, data)
    if operation == Operation.PUT_VARIANT:
        put_variant(grammar, a, b, c)
    if operation == Operation.PUT_LATE:
        put_late(grammar, a, b)
    if operation == Operation.COUNT_CHARACTERS:
        count_characters(store, a, data)
    if operation == Operation.WRITE_REST:
        rest, main = load_i64(a + REST), load_i64(a + MAIN)
        return write_rest(store, data, rest, main, load_i64(a + WORDS), load_i64(a + NODES), load_i64(a + N_NODES))
    if operation == Operation.NAMED_RANGES:
        naming = grammar.configurations[a].naming
        return named_ranges(store, grammar, naming - 1, data) if naming != 0 else 0
    if operation == Operation.TRACE:
        return trace_bytes(store, grammar, a, data)
    if operation == Operation.LEXEMES_OF:
        return nodes_of_set(store, a, data)
    if operation == Operation.ENDING:
        return ending(store, grammar, a)
    if operation == Operation.OPEN_RULES:
        return open_rules(store, grammar, a, b, data)
    if operation == Operation.CLOSE:
        return close_lexeme(store, grammar, a)
    if operation == Operation.WALK_ALL:
        return walk_all(store, grammar, a)
    return 0
