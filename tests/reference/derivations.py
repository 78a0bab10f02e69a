"""What the rules of a grammar derive, by brute force on sets of strings.

For every rule R, state s and parameter c (see llmask/grammar/rules.py) three sets are grown to their least fixed point:

    derives(s, c)     some string leads from here to a final state
    yields(s, c)      the strings of at most `max_bytes` that do so
    begins(s, c)      the byte strings of at most `max_bytes` that one of them starts with, however long it is

    begins(s, c)  =  {""} if derives(s, c)
                   | prefixes(w) | w begins(s', c')              for a scan of w            if derives(s', c')
                   | begins(R, 0) | yields(R, 0) begins(s', c')   for a call of R            if derives both
                   | begins(s', c')                              for a skip

so `begins` needs no bound on completions: it is exact. White space is put before every lexeme, and what starts with
white space is taken out again at the end; where it may stand at the ends of documents, it is put behind them instead.
So no lexeme may start with a byte that starts white space. No part of this is Earley's algorithm.

In: `Rules` and the finite set of strings of every lexeme. Out: `Language`. Cost: sets of a few hundred strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from llmask.grammar.kinds import CALL, EDGE_FIELDS, SCAN
from llmask.grammar.rules import Rules
from tests.reference.definition import Language
from tests.reference.guards import Parameter, parameter_behind

Place = tuple[int, Parameter]


class Derivations:
    """Fixed points over the places of `rules`.

    Parameters
    ----------
    rules : the grammar; its lexemes are keys of `lexemes`.
    lexemes : the strings of every lexeme, finitely many.
    max_bytes : length up to which strings are known.
    use_guards : False lets every guard pass.
    """

    def __init__(
        self, rules: Rules, lexemes: Mapping[int, Iterable[bytes]], max_bytes: int, use_guards: bool = True
    ) -> None:
        self.rules = rules
        self.use_guards = use_guards
        self.max_bytes = max_bytes
        spaces = {b""} if rules.ignored is None else {b"", *lexemes[rules.ignored]}
        while (
            rules.ignored_repeats
            and (longer := {a + b for a in spaces for b in spaces if len(a + b) <= max_bytes}) > spaces
        ):
            spaces = longer
        self.spaces = spaces - {b""}
        self.scans = {
            node: sorted({space + word for space in spaces for word in words if word})
            for node, words in lexemes.items()
        }
        self.edges: dict[int, list[tuple[int, int, int, int]]] = {}
        for first in range(0, len(rules.edges), EDGE_FIELDS):
            state, kind, symbol, target, guard = rules.edges[first : first + EDGE_FIELDS]
            self.edges.setdefault(state, []).append((kind, symbol, target, guard))
        self.finals: dict[int, list[int]] = {}
        for first in range(0, len(rules.finals), 2):
            self.finals.setdefault(rules.finals[first], []).append(rules.finals[first + 1])
        self.derives: set[Place] = set()
        self.yields: dict[Place, set[bytes]] = {}
        self.begins: dict[Place, set[bytes]] = {}
        self.places = self._reachable()
        while self._grow_derives():
            pass
        while self._grow_strings():
            pass

    def _advance(self, parameter: Parameter, guard: int) -> Parameter | None:
        if not self.use_guards:
            return 0
        return parameter_behind(self.rules, guard, parameter)

    def _moves(self, place: Place) -> Iterable[tuple[int, int, Place]]:
        for kind, symbol, target, guard in self.edges.get(place[0], []):
            parameter = self._advance(place[1], guard)
            if parameter is not None:
                yield kind, symbol, (target, parameter)

    def _is_final(self, place: Place) -> bool:
        return any(self._advance(place[1], guard) is not None for guard in self.finals.get(place[0], []))

    def start_of(self, rule: int) -> Place:
        return self.rules.rule_starts[rule], 0

    def _reachable(self) -> list[Place]:
        places = [self.start_of(self.rules.start)]
        for place in places:
            for kind, symbol, target in self._moves(place):
                for other in (target, self.start_of(symbol)) if kind == CALL else (target,):
                    if other not in places:
                        places.append(other)
        return places

    def _grow_derives(self) -> bool:
        grown = False
        for place in self.places:
            if place not in self.derives and (
                self._is_final(place)
                or any(
                    target in self.derives
                    and (kind != CALL or self.start_of(symbol) in self.derives)
                    and (kind != SCAN or bool(self.scans[symbol]))
                    for kind, symbol, target in self._moves(place)
                )
            ):
                self.derives.add(place)
                grown = True
        return grown

    def _grow_strings(self) -> bool:
        grown = False
        for place in self.places:
            if place not in self.derives:
                continue
            yields = self.yields.setdefault(place, set())
            begins = self.begins.setdefault(place, {b""})
            before = len(yields), len(begins)
            if self._is_final(place):
                yields.add(b"")
            for kind, symbol, target in self._moves(place):
                if target not in self.derives:
                    continue
                heads: Iterable[bytes]
                if kind == SCAN:
                    heads = self.scans[symbol]
                    begins.update(word[:end] for word in heads for end in range(min(len(word), self.max_bytes) + 1))
                elif kind == CALL:
                    if self.start_of(symbol) not in self.derives:
                        continue
                    heads = list(self.yields.get(self.start_of(symbol), ()))
                    begins |= self.begins.get(self.start_of(symbol), set())
                else:
                    heads = (b"",)
                for tails, into in ((self.yields.get(target, ()), yields), (self.begins.get(target, ()), begins)):
                    by_length: dict[int, list[bytes]] = {}
                    for tail in tails:
                        by_length.setdefault(len(tail), []).append(tail)
                    for head in heads:
                        for n_bytes in range(self.max_bytes - len(head) + 1):
                            into.update([head + tail for tail in by_length.get(n_bytes, ())])
            grown |= before != (len(yields), len(begins))
        return grown

    def language(self) -> Language | None:
        """Live strings and sentences; None when nothing is derived."""
        start = self.start_of(self.rules.start)
        if start not in self.derives:
            return None
        live, sentences = self.begins[start], self.yields[start]
        if self.rules.ignored_at_ends:
            live = live | {s + space[:end] for s in sentences for space in self.spaces for end in range(len(space) + 1)}
            sentences = sentences | {s + space for s in sentences for space in self.spaces}
            live, sentences = ({s for s in some if len(s) <= self.max_bytes} for some in (live, sentences))
        elif self.spaces:
            first_bytes = tuple({space[:1] for space in self.spaces})
            live = {string for string in live if not string.startswith(first_bytes)}
            sentences = {string for string in sentences if not string.startswith(first_bytes)}
        return Language(frozenset(live), frozenset(sentences), self.max_bytes)


def guards_never_strand(rules: Rules, lexemes: Mapping[int, Iterable[bytes]]) -> bool:
    """Whether every place that can be reached derives something if it would without guards: what frontends promise."""
    guarded = Derivations(rules, lexemes, 0)
    free = Derivations(rules, lexemes, 0, use_guards=False)
    return all((place in guarded.derives) == ((place[0], 0) in free.derives) for place in guarded.places)
