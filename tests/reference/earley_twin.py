"""Recognition of documents by a grammar's rules: the plain-Python twin of the parser, the lexer and the matcher.

Written from the definitions in `llmask.grammar.rules` and not from the compiled parser: an Earley set is a set of
items (state, parameter, origin), closed under predict, skip and complete until nothing is new; the lexer follows all
lexemes that are expected at one place, and a lexeme ends where no expected lexeme can take the next byte (greedy
lexing). Of those that end together only the ones of the highest priority count. Rules and states from which nothing can
be derived are left out first, guards not looked at.

A new value (`Rules.call_new`) is a run of the rule's variant without the texts in the set; of an open rule it is a run
of the rule itself that ends only with a text that is not in the set. The variant is written by a function given to the
twin, into the twin's own rules, and everything that was known of the rules is found anew.

Source: J. Earley, "An Efficient Context-Free Parsing Algorithm", CACM 13 (1970), with automata in place of dotted
rules.

In: rules, nodes, bytes. Out: yes or no, or the bytes that may follow. Cost: no care is taken; it is an oracle.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llmask.grammar.kinds import (
    CALL,
    CALL_AGAIN,
    CALL_MANY,
    CALL_NEW,
    CALL_OPEN,
    CALL_PLAIN,
    EDGE_FIELDS,
    SCAN,
    SKIP,
    RuleId,
)
from llmask.grammar.rules import Rules
from tests.reference.guards import Parameter, members_of, parameter_behind

LEFT_OUT = (CALL_NEW, CALL_PLAIN, CALL_MANY)  # calls of rules without the values of the set

Item = tuple[int, Parameter, int]


class Place(NamedTuple):
    """Where a document stands: what the parser and the lexer know after some bytes.

    rows           the Earley sets so far, the last one is the current one
    lexemes        what is left of each lexeme in hand, by the lexeme's node; empty before its first byte
    after_ignored  whether the lexeme before was the ignored one
    text           the bytes of all lexemes before, ignored ones left out
    lengths        how long it was at each row
    lexeme         the bytes of the lexemes in hand
    """

    rows: tuple[frozenset[Item], ...]
    lexemes: tuple[tuple[int, int], ...] = ()
    after_ignored: bool = False
    text: bytes = b""
    lengths: tuple[int, ...] = (0,)
    lexeme: bytes = b""


class EarleyTwin:
    """Recogniser of one grammar.

    Parameters
    ----------
    rules : the grammar.
    nodes : the regular expressions that its lexemes name; compiled or twin.
    make_variant : see `llmask.compiling.compiled.MakeVariant`; writes into `rules`.
    """

    def __init__(self, rules: Rules, nodes: Any, make_variant: Any = None) -> None:
        self.rules = rules
        self.nodes = nodes
        self.make_variant = make_variant
        self.variants: dict[tuple[int, frozenset[bytes]], int | None] = {}
        self._find_useful()

    def _find_useful(self) -> None:
        """Edges and final states, those from which nothing can be derived left out."""
        rules, nodes = self.rules, self.nodes
        self.edges: dict[int, list[tuple[int, int, int, int]]] = {}
        self.finals: dict[int, list[int]] = {}
        priority_of = dict(zip(rules.priorities[::3], rules.priorities[1::3], strict=True))
        is_bare = dict(zip(rules.priorities[::3], rules.priorities[2::3], strict=True))
        self.priorities: dict[tuple[int, ...], list[tuple[int, bool]]] = {}  # and whether it is bare; of every copy
        for at in range(0, len(rules.finals), 2):
            self.finals.setdefault(rules.finals[at], []).append(rules.finals[at + 1])
        edges = [tuple(rules.edges[at : at + EDGE_FIELDS]) for at in range(0, len(rules.edges), EDGE_FIELDS)]
        productive = self.productive = self._productive_states(edges)
        self.bare = set(edges) - {edge for number, edge in enumerate(edges) if not is_bare.get(number)}
        for number, edge in enumerate(edges):
            self.priorities.setdefault(edge, []).append((priority_of.get(number, 0), bool(is_bare.get(number))))
        for state, kind, symbol, next_state, guard in edges:
            is_useful = kind in (SCAN, SKIP) or rules.rule_starts[symbol] in productive
            is_useful &= kind != SCAN or not nodes.is_empty(symbol)
            if is_useful and next_state in productive:
                self.edges.setdefault(state, []).append((kind, symbol, next_state, guard))
        self.is_empty = rules.rule_starts[rules.start] not in productive

    def _productive_states(self, edges: list[Any]) -> set[int]:
        """States from which a final state of their rule can be reached."""
        productive = set(self.finals)
        size = -1
        while size != len(productive):
            size = len(productive)
            for state, kind, symbol, next_state, _ in edges:
                derives = kind in (SCAN, SKIP) or self.rules.rule_starts[symbol] in productive
                derives &= kind != SCAN or not self.nodes.is_empty(symbol)
                if derives and next_state in productive:
                    productive.add(state)
        return productive

    # --- Earley sets

    def _pass(self, guard: int, parameter: Parameter, text: bytes | None = None) -> Parameter | None:
        """The parameter behind the guard, or None where it does not let through."""
        return parameter_behind(self.rules, guard, parameter, text, self._has_another)

    def _variant(self, rule: int, texts: frozenset[bytes]) -> int | None:
        """The rule that derives what `rule` does without some texts, None where that is nothing."""
        key = (rule, texts)
        if not texts:
            self.variants[key] = rule
        elif key not in self.variants:
            self.variants[key] = self.make_variant(RuleId(rule), sorted(texts))
            self._find_useful()
        found = self.variants[key]
        return found if found is not None and self.rules.rule_starts[found] in self.productive else None

    def _has_another(self, rule: int, texts: frozenset[bytes]) -> bool:
        return self._variant(rule, texts) is not None

    def _called(self, kind: int, rule: int, parameter: Parameter) -> int | None:
        """The rule that an edge calls in a run with this parameter."""
        return self._variant(rule, members_of(parameter).texts) if kind in LEFT_OUT else rule

    def _closed(
        self, rows: tuple[frozenset[Item], ...], kernel: set[Item], lengths: tuple[int, ...], text: bytes
    ) -> frozenset[Item]:
        here = len(rows)
        items = set(kernel)
        size = -1
        while size != len(items):
            size = len(items)
            for state, parameter, origin in list(items):
                for kind, symbol, next_state, guard in self.edges.get(state, ()):
                    after = self._pass(guard, parameter)
                    if after is None or kind == SCAN:
                        continue
                    if kind == SKIP:
                        items.add((next_state, after, origin))
                        continue
                    called = self._called(kind, symbol, parameter)
                    if called is not None:
                        items.add((self.rules.rule_starts[called], 0, here))
                if any(self._pass(guard, parameter) is not None for guard in self.finals.get(state, ())):
                    rule = self.rules.state_rules[state]
                    for other, other_parameter, other_origin in list(items if origin == here else rows[origin]):
                        for kind, symbol, next_state, guard in self.edges.get(other, ()):
                            if kind in (SCAN, SKIP) or self._pass(guard, other_parameter) is None:
                                continue
                            if self._called(kind, symbol, other_parameter) != rule:
                                continue
                            value = None
                            if kind == CALL_AGAIN:
                                if text[lengths[origin] :] in members_of(other_parameter).texts:
                                    items.add((next_state, other_parameter, other_origin))
                                continue
                            if kind != CALL:
                                value = text[lengths[origin] :]
                                if not value or value in members_of(other_parameter).texts:
                                    continue
                            after = self._pass(guard, other_parameter, value)
                            assert after is not None
                            items.add((next_state, after, other_origin))
        return frozenset(items)

    def _scans(self, row: frozenset[Item], lexemes: set[int]) -> list[tuple[int, bool, Item]]:
        """Priority and target of every edge from a row over one of the lexemes, and whether it is bare."""
        return [
            (priority, is_bare, (next_state, after, origin))
            for state, parameter, origin in row
            for kind, symbol, next_state, guard in self.edges.get(state, ())
            if kind == SCAN and symbol in lexemes and (after := self._pass(guard, parameter)) is not None
            for priority, is_bare in self.priorities[state, kind, symbol, next_state, guard]
        ]

    def _scanned(self, place: Place, lexemes: set[int], text: bytes, least: dict[bool, int]) -> Place:
        """The place behind lexemes of at least this priority, of bare ones another; `text` as it is then."""
        scans = self._scans(place.rows[-1], lexemes)
        kernel = {item for priority, is_bare, item in scans if priority >= least[is_bare]}
        lengths = (*place.lengths, len(text))
        return Place((*place.rows, self._closed(place.rows, kernel, lengths, text)), text=text, lengths=lengths)

    def _expected(self, row: frozenset[Item]) -> set[int]:
        return {
            symbol
            for state, parameter, _ in row
            for kind, symbol, _, guard in self.edges.get(state, ())
            if kind == SCAN and self._pass(guard, parameter) is not None
        }

    def _are_bare(self, row: frozenset[Item]) -> bool:
        """Whether nothing ignored may stand before any lexeme that is expected."""
        scans = [
            (state, *edge)
            for state, parameter, _ in row
            for edge in self.edges.get(state, ())
            if edge[0] == SCAN and self._pass(edge[3], parameter) is not None
        ]
        return bool(scans) and all(edge in self.bare for edge in scans)

    def _is_document(self, row: frozenset[Item]) -> bool:
        return any(
            origin == 0
            and self.rules.state_rules[state] == self.rules.start
            and any(self._pass(guard, parameter) is not None for guard in self.finals.get(state, ()))
            for state, parameter, origin in row
        )

    # --- bytes

    def start(self) -> list[Place]:
        """Places before the first byte."""
        if self.is_empty:
            return []
        return [Place((self._closed((), {(self.rules.rule_starts[self.rules.start], 0, 0)}, (0,), b""),))]

    def _first_byte(self, place: Place, byte: int) -> tuple[tuple[int, int], ...]:
        """The lexemes of the current row that begin with `byte`."""
        lexemes = self._expected(place.rows[-1])
        ignored = self.rules.ignored
        is_end = len(place.rows) == 1 or not lexemes
        may_stand = not place.after_ignored and (self.rules.ignored_at_ends or not is_end)
        may_stand &= self._is_document(place.rows[-1]) or not self._are_bare(place.rows[-1])
        if ignored is not None and may_stand:
            lexemes.add(ignored)
        return self._alive([(lexeme, lexeme) for lexeme in sorted(lexemes)], byte)

    def _alive(self, lexemes: Any, byte: int) -> tuple[tuple[int, int], ...]:
        left = [(lexeme, self.nodes.derivative(rest, byte)) for lexeme, rest in lexemes]
        return tuple((lexeme, rest) for lexeme, rest in left if not self.nodes.is_empty(rest))

    def _ended(self, place: Place) -> list[Place]:
        """Places after the lexeme in hand, if it may end here."""
        whole = {lexeme for lexeme, rest in place.lexemes if self.nodes.is_nullable(rest)}
        ended = []
        others = whole - {self.rules.ignored}
        scans = self._scans(place.rows[-1], others)
        ignored = {self.rules.ignored_priority} if self.rules.ignored in whole else set()
        least = {
            is_bare: max({priority for priority, bare, _ in scans if bare == is_bare} | ignored, default=-(2**31))
            for is_bare in (False, True)
        }
        if self.rules.ignored in whole and self.rules.ignored_priority >= max(least.values()):
            ended.append(place._replace(lexemes=(), after_ignored=not self.rules.ignored_repeats, lexeme=b""))
        if any(priority >= least[is_bare] for priority, is_bare, _ in scans):
            ended.append(self._scanned(place, others, place.text + place.lexeme, least))
        return ended

    def step(self, places: list[Place], byte: int) -> list[Place]:
        """Places after one more byte; none when it cannot follow."""
        following = []
        for place in places:
            longer = self._alive(place.lexemes, byte)
            if longer:
                following.append(place._replace(lexemes=longer, lexeme=place.lexeme + bytes([byte])))
                continue
            for fresh in self._ended(place) if place.lexemes else [place]:
                lexemes = self._first_byte(fresh, byte)
                if lexemes:
                    following.append(fresh._replace(lexemes=lexemes, lexeme=bytes([byte])))
        return [place for place in following if not self._is_refused(place)]

    def _is_refused(self, place: Place) -> bool:
        """Whether the lexeme in hand must end here, with a value that is in its set."""
        if not any(CALL_OPEN in (edge[0] for edge in edges) for edges in self.edges.values()):
            return False
        if any(self._alive(place.lexemes, byte) for byte in range(256)):
            return False
        rows = [end.rows[-1] for end in self._ended(place)]
        return not any(self._expected(row) or self._is_document(row) for row in rows)

    def read(self, data: bytes) -> list[Place]:
        """Places after `data`."""
        places = self.start()
        for byte in data:
            places = self.step(places, byte)
        return places

    def may_end(self, places: list[Place]) -> bool:
        """Whether the document may end at one of the places."""
        ends = [end for place in places for end in (self._ended(place) if place.lexemes else [place])]
        return any(
            self._is_document(end.rows[-1]) and (self.rules.ignored_at_ends or not end.after_ignored) for end in ends
        )


def accepts(rules: Rules, nodes: Any, data: bytes) -> bool:
    """Whether `data` is a whole document of the grammar."""
    twin = EarleyTwin(rules, nodes)
    return twin.may_end(twin.read(data))


def is_live_prefix(rules: Rules, nodes: Any, data: bytes) -> bool:
    """Whether the lexer and the parser can take `data`, so that a document may go on or end there."""
    twin = EarleyTwin(rules, nodes)
    places = twin.read(data)
    return twin.may_end(places) or any(place.lexemes or twin._expected(place.rows[-1]) for place in places)


def next_bytes(rules: Rules, nodes: Any, data: bytes) -> set[int]:
    """Bytes that may follow `data`."""
    twin = EarleyTwin(rules, nodes)
    places = twin.read(data)
    return {byte for byte in range(256) if twin.step(places, byte)}
