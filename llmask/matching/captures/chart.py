"""The positional parse: every item remembers how it was reached first, or with the shortest last part.

    item     (state, count, origin) at a unit
    reached  (item before, the unit where the last part began, the item that completed that part, if it is a rule)

Source: J. Earley, "An efficient context-free parsing algorithm", CACM 13 (1970), section 6, on derivations.

A way that is found later replaces the first one only where its last part begins later, so no item is reached by way of
itself. The derivation is read off backwards. Of a document that is not complete it is that of the first item that
waits for another unit, and of the runs around it.

In: units and networks. Out: captures in the order of their ends. Cost: 3 us an item.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar.exact.fusing import IGNORED, woven
from llmask.grammar.expressions import Grammar, Inclusion, TokenSet
from llmask.grammar.token_ranges import included
from llmask.matching.captures.network import CALL, INCLUDE, SCAN, SKIP, TOKEN, Network
from llmask.matching.captures.units import ANY_BYTE, Unit, byte_units, lexeme_units
from llmask.matching.sequence import ALL_TAKEN, Sequence
from llmask.regex.utf8 import literal_word
from llmask.store.loaded_grammar import LoadedGrammar

if TYPE_CHECKING:
    from llmask.grammar.expressions import Attributes, Ending

Item = tuple[int, int, int]
Reached = tuple["Item | None", int, "tuple[Item, int] | None"]
MOST_ITEMS = 2_000_000


class Capture(NamedTuple):
    """What a run of a rule derived: a name, and the bytes `begin` to `end` of the text."""

    name: str
    begin: int
    end: int


def find_captures(sequence: Sequence) -> list[Capture]:
    """Captures of the runs that have ended, in the order of their ends, inner ones first.

    Raises
    ------
    LimitExceeded : the text is too long and too ambiguous.
    """
    lowered = sequence.grammar.lowered
    if sequence.grammar.groups is not None:
        return [Capture(*group) for group in sequence.grammar.groups(sequence.text())]
    if lowered is None or lowered.grammar is None:
        return []
    grammar = lowered.grammar
    if not any(said.capture or (said.ending and said.ending.capture) for said in grammar.attributes.values()):
        return []
    if lowered.is_exact:
        return _Chart(sequence, woven(sequence.grammar.store.nodes, grammar), byte_units(sequence), None).captures(
            grammar
        )
    ignored = lowered.rules.ignored
    return _Chart(sequence, grammar, lexeme_units(sequence, ignored), ignored).captures(grammar)


class _Chart:
    """Items by unit."""

    def __init__(self, sequence: Sequence, grammar: Grammar, units: list[Unit], ignored: int | None) -> None:
        self.sequence = sequence
        self.text = sequence.text()
        self.nodes = sequence.grammar.store.nodes
        self.grammar = grammar
        self.units = units
        self.ignored = ignored
        self.network = Network(self.nodes, grammar)
        self.rows: list[dict[Item, Reached]] = [{} for _ in range(len(units) + 1)]
        self.waiting: list[dict[object, list[tuple[Item, int]]]] = [{} for _ in self.rows]  # for a network to end
        self.ahead: list[list[tuple[Item, Reached]]] = [[] for _ in self.rows]  # reached by parts of several units
        self._included = cache(partial(included, sequence.grammar.tokenizer))
        self.n_items = 0

    # --- forwards

    def fill(self) -> int:
        """Parse; returns the last unit that something was reached after."""
        start = (self.network.start_of(self.grammar.start), 0, 0)
        self.ahead[0].append((start, (None, 0, None)))
        for at in range(len(self.rows)):
            row = self.rows[at]
            for item, reached in self.ahead[at]:
                self._add(row, item, reached, at)
            self._close(at)
            if not row and not any(self.ahead[at:]):
                return at - 1
        return len(self.units)

    def _add(self, row: dict[Item, Reached], item: Item, reached: Reached, at: int) -> bool:
        known = row.get(item)
        if known is None:
            self.n_items += 1
            if self.n_items > MOST_ITEMS:
                raise LimitExceeded(
                    f"captures take more than {MOST_ITEMS} items of the parser",
                    help="make the grammar less ambiguous, or its lists left-recursive",
                )
        elif reached[1] <= known[1] or known[1] == at:
            return False
        row[item] = reached
        return known is None

    def _close(self, at: int) -> None:
        """Predict, complete and scan from the items of a row."""
        row, network = self.rows[at], self.network
        order = list(row)
        ended: dict[object, Item] = {}  # networks that derived nothing here
        for item in order:  # it grows
            state, count, origin = item
            owner = network.owner[state]
            counter = network.counters.get(owner)
            may_end = network.ends[owner] == state and (counter is None or count >= counter.low)
            if may_end:
                if origin == at:
                    ended.setdefault(owner, item)
                for caller, target in list(self.waiting[origin].get(owner, ())):
                    self._step_over(order, caller, target, origin, item, at)
            if counter is not None and counter.high is not None and count >= counter.high:
                continue
            for edge in network.edges[state]:
                after = (edge.target, count, origin)
                if edge.kind == SKIP:
                    if self._add(row, after, (item, at, None), at):
                        order.append(after)
                elif edge.kind == CALL:
                    start = (network.start_of(edge.what), 0, at)
                    self.waiting[at].setdefault(edge.what, []).append((item, edge.target))
                    if self._add(row, start, (None, at, None), at):
                        order.append(start)
                    if edge.what in ended:
                        self._step_over(order, item, edge.target, at, ended[edge.what], at)
                else:
                    for end in self._ends(edge.kind, edge.what, at):
                        self.ahead[end].append((after, (item, at, None)))
            if at < len(self.units) and self.ignored is not None and self.ignored in self.units[at].nodes:
                self.ahead[at + 1].append((item, (item, at, None)))

    def _step_over(self, order: list[Item], caller: Item, target: int, begin: int, completed: Item, at: int) -> None:
        """The item after a call whose network was completed."""
        state, count, origin = caller
        counter = self.network.counters.get(self.network.owner[state])
        if counter is not None:
            if begin == at:
                return  # an empty copy
            count = count + 1 if counter.high is not None else min(count + 1, counter.low)
        item = (target, count, origin)
        if self._add(self.rows[at], item, (caller, begin, (completed, at)), at):
            order.append(item)

    def _ends(self, kind: int, what: object, at: int) -> list[int]:
        """Units after which a terminal or an inclusion that begins here may end."""
        if at == len(self.units):
            return []
        unit = self.units[at]
        if kind == TOKEN:
            assert isinstance(what, TokenSet)
            return [at + 1] if any(low <= unit.token <= high for low, high in self._included(what)) else []
        if unit.token >= 0:
            return []
        if kind == INCLUDE:
            assert isinstance(what, Inclusion)
            return self._ends_of_inclusion(what, at)
        assert kind == SCAN
        assert isinstance(what, int)
        if unit.nodes is not ANY_BYTE:
            return [at + 1] if what in unit.nodes or self.network.not_empty(what) in unit.nodes else []
        found = []
        left = what
        for end in range(at, len(self.units)):
            if self.units[end].token >= 0:
                break
            left = self.nodes.derivative(left, self.text[self.units[end].begin])
            if left == self.nodes.EMPTY:
                break
            if self.nodes.is_nullable(left):
                found.append(end + 1)
        return found

    def _ends_of_inclusion(self, inclusion: Inclusion, at: int) -> list[int]:
        inside = Sequence(LoadedGrammar(self.sequence.store, inclusion.rules))
        found = []
        for end in range(at, len(self.units)):
            unit = self.units[end]
            if unit.token >= 0 or (end > at and unit.begin != self.units[end - 1].end):
                break
            if inside.take_bytes(self.text[unit.begin : unit.end]) != ALL_TAKEN:
                break
            if inside.is_accepting():
                found.append(end + 1)
        return found

    # --- backwards

    def captures(self, grammar: Grammar) -> list[Capture]:
        """Parse, and read the captures of this grammar off the derivation."""
        last = self.fill()
        end = (self.network.ends[self.grammar.start], 0, 0)
        is_whole = last == len(self.units) and end in self.rows[last]
        unread = [(end, last, True)] if is_whole else [(item, at, False) for item, at in self._open_runs(last)]
        runs: list[tuple[int, int, object]] = []
        is_ignored = [False] * len(self.units)
        while unread:
            item, at, has_ended = unread.pop()
            owner = self.network.owner[item[0]]
            if has_ended:
                runs.append((item[2], at, owner))
            if owner == IGNORED:
                is_ignored[item[2] : at] = [True] * (at - item[2])
            here: Item | None = item
            while here is not None:
                before, begin, child = self.rows[at][here]
                if before == here:
                    is_ignored[begin] = True
                if child is not None:
                    unread.append((*child, True))
                here, at = before, begin
        made: list[Capture] = []
        runs.reverse()  # inner ones are found after those around them
        runs.sort(key=lambda run: (run[1], -run[0]))
        for begin, stop, owner in runs:
            said = grammar.attributes.get(owner) if isinstance(owner, str) else None
            if said is None:
                continue
            units = [self.units[n] for n in range(begin, stop) if not is_ignored[n]]
            first = units[0].begin if units else self._place(begin)
            made += self._captured(said, first, units[-1].end if units else first)
        return made

    def _open_runs(self, last: int) -> list[tuple[Item, int]]:
        """The first item after the last unit that waits for another one, and those in which runs around it wait."""
        found = []
        waiting = (
            item
            for item in self.rows[last]
            if any(edge.kind in (SCAN, TOKEN, INCLUDE) for edge in self.network.edges[item[0]])
        )
        item, at = next(waiting, next(iter(self.rows[last]))), last
        while True:
            found.append((item, at))
            state, _, origin = item
            owner = self.network.owner[state]
            if owner == self.grammar.start and origin == 0:
                return found
            item, at = self.waiting[origin][owner][0][0], origin

    def _place(self, unit: int) -> int:
        """Where in the text a unit begins."""
        if unit < len(self.units):
            return self.units[unit].begin
        return self.units[-1].end if self.units else 0

    def _captured(self, said: Attributes, begin: int, end: int) -> list[Capture]:
        body_end = end if said.ending is None else begin + self._end_of_body(said.ending, self.text[begin:end])
        found = []
        if said.ending is not None and said.ending.capture is not None:
            found.append(Capture(said.ending.capture, body_end, end))
        if said.capture is not None:
            found.append(Capture(said.capture, begin, body_end))
        return found

    def _end_of_body(self, ending: Ending, text: bytes) -> int:
        """Where the suffix begins: after the shortest body."""
        suffix = literal_word(self.nodes, ending.suffix)
        if suffix is not None:
            return len(text) - len(suffix)
        left = ending.body
        for n in range(len(text) + 1):
            if self.nodes.is_nullable(left) and self.nodes.matches(ending.suffix, text[n:]):
                return n
            left = self.nodes.derivative(left, text[n]) if n < len(text) else left
        return len(text)
