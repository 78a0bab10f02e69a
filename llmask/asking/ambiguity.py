"""Whether a grammar is ambiguous, as far as a bounded search tells: a sentence with two derivations.

In general that cannot be decided (D. Cantor, "On the ambiguity problem of Backus systems", Journal of the ACM 9, 1962),
so what is found is certain, and where nothing is found nothing is said. Derivations are gone through from the shortest
on, each lexeme as its shortest string. Two of one text are different where, at some lexeme, other rules are being read:

    sum: sum "+" sum | "1"        "1+1+1"        (1 + 1) + 1  and  1 + (1 + 1)

Options that are equal, and empty parts in one place, are no ambiguity here. In greedy grammars both derivations have to
have the same lexemes; in others it also counts where one lexeme ends and the next begins.

Both derivations are shown as trees, a rule a line and what it derives further in; a lexeme is its text, after the name
or the pattern of its terminal where that is not the text itself.

In: a grammar. Out: a sentence with its trees, or None. Cost: up to MOST_STEPS steps, about half a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import LimitExceeded
from ..grammar.derivations import NO_LEXEME, NOTHING, Derivations
from ..grammar.expressions import Inclusion, Lexeme, leaves, written
from ..grammar.late import lower
from ..grammar.notation import rule_names
from ..regex.strings import Strings

if TYPE_CHECKING:
    from typing_extensions import Self

    from ..store.loaded_grammar import LoadedGrammar

MOST_STEPS = 30_000
MOST_BYTES = 200  # of a sentence
MOST_LEXEMES = 40
NO_NODE = -1


class Ambiguity(bytes):
    """A sentence with two derivations: its bytes. `str` is a text for people, with both.

    Attributes
    ----------
    trees : the derivations, two texts of a line for each rule and lexeme, indented.
    """

    trees: tuple[str, str]

    def __new__(cls, sentence: bytes, trees: tuple[str, str]) -> Self:
        """A sentence and its derivations."""
        made = super().__new__(cls, sentence)
        made.trees = trees
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return bytes(self), self.trees

    def __str__(self) -> str:
        return "\n\n".join([f"{_quoted(self)} has two derivations", *self.trees])


class _Node(NamedTuple):
    """A derivation so far.

    before   number of the node that it goes on from, or NO_NODE
    place    what is still to be derived
    lexemes  what was read: texts, and their nodes
    traces   the rules that were being read at each lexeme, innermost first
    """

    before: int
    place: int
    lexemes: tuple[tuple[bytes, int], ...]
    traces: tuple[tuple[int, ...], ...]


def ambiguous_sentence(grammar: LoadedGrammar) -> Ambiguity | None:
    """A sentence with two derivations, if one is found; see the module."""
    store = grammar.store
    strings = Strings(store.nodes, store.table, store.lock)
    whole = grammar.grammar
    is_own = isinstance(whole.rules[whole.start], Inclusion)
    rules = grammar.own_rules if is_own else lower(store.nodes, whole).rules
    try:
        derivations = Derivations(rules, strings.lexeme_length)
        nodes = [_Node(NO_NODE, derivations.start, (), ())]
        both = _search(derivations, strings, grammar.is_greedy, nodes)
    except LimitExceeded:
        return None  # a lexeme has no short string
    if both is None:
        return None
    found = [leaf for rule in whole.rules.values() for leaf in leaves(rule)]
    names = {leaf.node: written(leaf) for leaf in found if isinstance(leaf, Lexeme)}

    def terminal(lexeme: int) -> str:
        return names.get(lexeme) or f"/{store.nodes.text(lexeme)}/"

    one, other = (_tree(derivations, nodes, number, terminal) for number in both)
    return Ambiguity(b"".join(part for part, _ in nodes[both[0]].lexemes), (one, other))


def _search(
    derivations: Derivations, strings: Strings, same_lexemes: bool, nodes: list[_Node]
) -> tuple[int, int] | None:
    """The numbers of two whole derivations of one text; `nodes`, which begin with the first place, gain all."""
    known: dict[object, tuple[tuple[object, ...], int]] = {}
    texts: dict[int, bytes] = {}
    waiting = [(derivations.rest_of(derivations.start), 0, 0)]
    n_bytes = [0]
    for _ in range(MOST_STEPS):
        if not waiting:
            return None
        _, n_silent, number = heappop(waiting)
        node = nodes[number]
        if node.place == NOTHING:
            text = b"".join(part for part, _ in node.lexemes)
            trace = (*node.traces, *(() if same_lexemes else (part for part, _ in node.lexemes)))
            other, before = known.setdefault(node.lexemes if same_lexemes else text, (trace, number))
            if other != trace:
                return before, number
            continue
        for step in derivations.steps(node.place):
            after, length = node._replace(before=number, place=step.place), n_bytes[number]
            if step.lexeme != NO_LEXEME:
                if step.lexeme not in texts:
                    texts[step.lexeme] = strings.shortest(step.lexeme)
                lexeme = texts[step.lexeme], step.lexeme
                trace = derivations.rules_at(node.place)
                after = _Node(number, step.place, (*node.lexemes, lexeme), (*node.traces, trace))
                length += len(lexeme[0])
            if length + step.rest <= MOST_BYTES and len(after.lexemes) <= MOST_LEXEMES:
                silent = 0 if step.lexeme != NO_LEXEME else n_silent + 1
                rest = derivations.rest_of(step.place)
                heappush(waiting, (length + rest + silent, silent, len(nodes)))
                nodes.append(after)
                n_bytes.append(length)
    return None


def _tree(derivations: Derivations, nodes: list[_Node], number: int, terminal: Callable[[int], str]) -> str:
    """A whole derivation as a tree; `terminal` says how a lexeme is written in the grammar."""
    way = []
    while number != NO_NODE:
        way.append(nodes[number])
        number = nodes[number].before
    names = rule_names(derivations.rules.names)
    lines: list[tuple[int, str]] = []
    depth = n_lexemes = 0
    for node in reversed(way):
        for text, lexeme in node.lexemes[n_lexemes:]:
            spelled, pattern = _quoted(text), terminal(lexeme)
            lines.append((depth, spelled if spelled == pattern else f"{pattern} {spelled}"))
        reading = derivations.rules_at(node.place)
        if len(reading) > depth:
            lines.append((depth, names[reading[0]]))
        depth, n_lexemes = len(reading), len(node.lexemes)
    return "\n".join("  " * level + line for level, line in lines)


def _quoted(text: bytes) -> str:
    return json.dumps(text.decode("utf-8", "backslashreplace"), ensure_ascii=False)
