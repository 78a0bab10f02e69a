"""Whether a grammar is ambiguous, as far as a bounded search tells: a sentence with two derivations.

In general that cannot be decided (D. Cantor, "On the ambiguity problem of Backus systems", Journal of the ACM 9, 1962),
so what is found is certain, and where nothing is found nothing is said. Derivations are gone through from the shortest
on, each lexeme as its shortest string. Two of one text are different where, at some lexeme, other rules are being read:

    sum: sum "+" sum | "1"        "1+1+1"        (1 + 1) + 1  and  1 + (1 + 1)

Options that are equal, and empty parts in one place, are no ambiguity here. In greedy grammars both derivations have to
have the same lexemes; in others it also counts where one lexeme ends and the next begins.

In: a grammar. Out: a sentence or None. Cost: up to MOST_STEPS steps, about half a second.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from ..errors import LimitExceeded
from ..grammar.derivations import NO_LEXEME, NOTHING, Derivations
from ..grammar.expressions import Inclusion
from ..grammar.lower import lower
from ..regex.strings import Strings

if TYPE_CHECKING:
    from ..store.loaded_grammar import LoadedGrammar

MOST_STEPS = 30_000
MOST_BYTES = 200  # of a sentence
MOST_LEXEMES = 40


class _Node(NamedTuple):
    """A derivation so far.

    place    what is still to be derived
    lexemes  what was read: texts, and their nodes
    traces   the rules that were being read at each lexeme, innermost first
    """

    place: int
    lexemes: tuple[tuple[bytes, int], ...]
    traces: tuple[tuple[int, ...], ...]


def ambiguous_sentence(grammar: LoadedGrammar) -> bytes | None:
    """A sentence with two derivations, if one is found; see the module."""
    store = grammar.store
    strings = Strings(store.nodes, store.table, store.lock)
    whole = grammar.grammar
    is_own = isinstance(whole.rules[whole.start], Inclusion)
    rules = grammar.own_rules if is_own else lower(store.nodes, whole).rules
    try:
        return _search(Derivations(rules, strings.lexeme_length), strings, grammar.is_greedy)
    except LimitExceeded:
        return None  # a lexeme has no short string


def _search(derivations: Derivations, strings: Strings, same_lexemes: bool) -> bytes | None:
    known: dict[object, tuple[object, ...]] = {}
    texts: dict[int, bytes] = {}
    waiting = [(derivations.rest_of(derivations.start), 0, 0)]
    nodes = [_Node(derivations.start, (), ())]
    n_bytes = [0]
    for _ in range(MOST_STEPS):
        if not waiting:
            return None
        _, n_silent, number = heappop(waiting)
        node = nodes[number]
        if node.place == NOTHING:
            text = b"".join(part for part, _ in node.lexemes)
            trace = (*node.traces, *(() if same_lexemes else (part for part, _ in node.lexemes)))
            if known.setdefault(node.lexemes if same_lexemes else text, trace) != trace:
                return text
            continue
        for step in derivations.steps(node.place):
            after, length = node._replace(place=step.place), n_bytes[number]
            if step.lexeme != NO_LEXEME:
                if step.lexeme not in texts:
                    texts[step.lexeme] = strings.shortest(step.lexeme)
                lexeme = texts[step.lexeme], step.lexeme
                trace = derivations.rules_at(node.place)
                after = _Node(step.place, (*node.lexemes, lexeme), (*node.traces, trace))
                length += len(lexeme[0])
            if length + step.rest <= MOST_BYTES and len(after.lexemes) <= MOST_LEXEMES:
                silent = 0 if step.lexeme != NO_LEXEME else n_silent + 1
                rest = derivations.rest_of(step.place)
                heappush(waiting, (length + rest + silent, silent, len(nodes)))
                nodes.append(after)
                n_bytes.append(length)
    return None
