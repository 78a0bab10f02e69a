"""Beginnings of documents that nothing completes: what greedy lexing can do to a grammar.

A lexeme takes every byte that it can, so `A: /a+/  B: /ab/  start: A B` accepts `a`, `aa`, ... and no document: the
`a` of B is always taken by A. Three looks, each for what the one before leaves open:

    blocked        lexemes that never end before what has to follow them, and whether anything is left without them
    no dead ends   conditions that are quick to see: most grammars fulfil them
    a search       configurations are followed from the first one, shortest texts first, by every byte; one from which
                   no end is reached, though all that follows it was seen, is a dead end

What was not seen within the limits of the search is taken to have an end, so whatever is reported is true, and deep
dead ends are not found. Nor are dead ends after tokens that the grammar names by their ids, or of grammars with
max_tokens, which closes a terminal that would take all.

In: a grammar. Out: warnings, or an error where it has no document at all. Cost: some us an edge and lexeme; the search
2 us a byte that may follow, up to MAX_STEPS of them.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ..errors import LimitExceeded, UnsatisfiableSchema
from ..grammar import overlaps
from ..grammar.blocked import Blocked, blocked, has_no_dead_ends, is_plain
from ..grammar.expressions import Lexeme, leaves, written
from ..grammar.kinds import EDGE_FIELDS
from ..grammar.overlaps import Overlaps
from ..grammar.tails import Network, reached
from ..kernels import engine
from ..kernels.mask.configurations import REFUSED
from ..kernels.tables.operations import Operation
from ..regex.strings import Strings
from ..store.generation import Generation
from ..store.loaded_grammar import LoadedGrammar

SHOWN = 200  # bytes of a text that the warning shows
MAX_CONFIGURATIONS = 400
MAX_STEPS = 10_000
MOST_EDGES_NAMED = 1000  # of grammars whose pairs of lexemes are compared for a message
MOST_STEPS_NAMED = 20_000
ALL_BYTES = [np.array([byte], np.int32) for byte in range(256)]
REMEDY = (
    "let something ignored stand between such terminals (%ignore), let them begin and end with different characters, "
    'or use lexer="exact" (--lexer exact)'
)


def dead_end_warnings(grammar: LoadedGrammar) -> list[str]:
    """Warnings, where a text may be written that begins no document, or a part is in no document.

    Raises
    ------
    UnsatisfiableSchema : there is no document.
    """
    if grammar.limited_rules:
        return []
    store = grammar.store
    strings = Strings(store.nodes, store.table, store.lock)
    network = Network(grammar.own_rules)
    found, is_empty = blocked(store.nodes, strings, network)
    text: bytes | None = None
    if not is_empty:
        if not found and has_no_dead_ends(store.nodes, strings, network):
            return []
        with suppress(LimitExceeded):
            text = dead_end(grammar.new_generation())  # its rows are no use to sequences
    if text is None and not found:
        return []
    cause = _said(grammar, found[0]) if found else _guessed(grammar)
    is_exact = grammar.lowered is not None and grammar.lowered.is_exact
    remedy = REMEDY.partition(", or use")[0] if is_exact else REMEDY
    if is_empty or text == b"":
        where = grammar.grammar.places.get(grammar.own_rules.names[found[0].rule]) if found else None
        raise UnsatisfiableSchema(f"no document fulfils the grammar: {cause}", where, remedy)
    if text is None:
        return [f"a part of the grammar is in no document: {cause}; {remedy}"]
    shown = repr(text[:SHOWN].decode("utf-8", "backslashreplace"))
    return [f"no document begins with {shown}, though it may be written: {cause}; {remedy}"]


def _said(grammar: LoadedGrammar, pair: Blocked) -> str:
    """What a lexeme does to the one that has to follow it."""
    names = _names(grammar)
    rule = grammar.own_rules.names[pair.rule]
    other = f'a lexeme of rule "{rule}"'
    taker, needed = names.get(pair.lexeme, other), names.get(pair.needed, other)
    return f'{taker} takes the beginning of {needed}, which has to follow it in rule "{rule}"'


def _guessed(grammar: LoadedGrammar) -> str:
    """The pair of terminals that is most likely at fault: one that goes on with another one, which may follow."""
    names = _names(grammar)
    pairs: list[tuple[bool, str, str]] = []
    nodes, rules = grammar.store.nodes, grammar.own_rules
    if len(rules.edges) <= MOST_EDGES_NAMED * EDGE_FIELDS and is_plain(nodes, Network(rules)):
        look = Overlaps(nodes, rules, overlaps.MOST_STEPS - MOST_STEPS_NAMED)
        for lexeme, taker in (look.find() if look.is_whole else None) or ():
            for needed in look.followers(lexeme, taker):
                if needed != taker and taker in names and needed in names:
                    pairs.append((lexeme != taker, names[taker], names[needed]))
    if not pairs:
        return "a terminal takes what another one needs"
    _, taker_name, needed_name = min(pairs)
    return f"{taker_name} may go on with the beginning of {needed_name}, where that may come, too"


def _names(grammar: LoadedGrammar) -> dict[int, str]:
    """How lexemes are written in the grammar, by their nodes."""
    found = {} if grammar.own_rules.ignored is None else {grammar.own_rules.ignored: "what is ignored"}
    for rule in grammar.grammar.rules.values():
        for leaf in leaves(rule):
            if isinstance(leaf, Lexeme):
                found.setdefault(leaf.node, written(leaf))
    return found


def dead_end(generation: Generation) -> bytes | None:
    """The shortest text that may be written and is the beginning of no document, if one is seen; see the module."""
    texts: dict[int, bytes] = {generation.start: b""}
    into: dict[int, list[int]] = {}
    unseen: list[int] = []
    order = [generation.start]
    n_steps = 0
    for here in order:
        if len(texts) > MAX_CONFIGURATIONS or n_steps > MAX_STEPS:
            unseen.append(here)
            continue
        for byte in generation.live_bytes(here):
            after = generation.run(Operation.ADVANCE, here, data=ALL_BYTES[byte])
            n_steps += 1
            if after == REFUSED:
                continue
            if after not in texts:
                texts[after] = texts[here] + bytes([byte])
                order.append(after)
            into.setdefault(after, []).append(here)
    address = generation.table.address
    ends = [here for here in order if engine.is_accepting(address, here) or engine.names_tokens(address, here)]
    with_end = set(reached(ends + unseen, lambda here: into.get(here, ())))
    return next((texts[here] for here in order if here not in with_end), None)
