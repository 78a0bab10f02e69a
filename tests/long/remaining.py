"""How many bytes a document still needs at least: a lower bound for each configuration, from the grammar's tables.

    lexer state     for each lexeme that is being read the shortest rest (`derivations.py`)
    rule            for each state the way to the rule's end over the shortest lexemes and calls; where keys or items
                    are counted, or keys required, what is missing of them, each with its own cost, whatever the order
    row             its items' ways to the end of their rules, then on from where these were called, out to the end

Guards are obeyed as far as they ask for more; that they may forbid, and that values must differ, is left out, so the
bound may be too low and is never too high. A way from one edge that adds to the next costs at least its bytes: k
missing keys cost k such ways, the way to the first of them, and what the last takes more to get to the end.

In: a matcher, numbers of configurations of its tables. Out: bytes. Cost: 0.2 ms a hundred edges once, 10 us a new row.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import NamedTuple

from llmask.kernels.lexer.states import START_MARK
from llmask.kernels.parser.guards import ANOTHER, CONDITION
from llmask.kernels.parser.rows import FIRST_ROW
from llmask.kernels.tables.grammar_layout import GRAMMAR
from llmask.kernels.tables.kinds import EdgeKind, GuardKind
from llmask.kernels.tables.store_layout import STORE
from llmask.kernels.values.called_rules import FIRST_WORD, SIZE, TEXTS_OF_SET
from llmask.kernels.values.parse_states import FIRST_TRACKED
from llmask.matching.matcher import Matcher
from llmask.store.generation import Generation

from .blocks import Blocks
from .lengths import NEVER, Lengths

EMPTY_KEY = b'""'
_GUARD_FIELDS = GRAMMAR.record("guards").n_fields


class _Run(NamedTuple):
    """What a run carries: a count, or a set's size, its named members as bits, and whether the key "" is in it."""

    size: int = 0
    members: int = 0
    has_empty: bool = False


class _Edge(NamedTuple):
    kind: int
    symbol: int
    target: int
    guard: int


class _Counted(NamedTuple):
    """What a rule that counts still asks for, by its states.

    low        the least count at the end
    required   members that must be there at the end, as bits
    able       members that edges from here on add, as bits: where keys have an order, those before it are gone
    first      bytes to the next edge that adds
    each       bytes from such an edge, by its member, to the next one or the end
    sorted     the same as pairs (bytes, member), the least first
    free       the least of those that add no named member, as often as one likes
    is_empty_1 whether only one text is the least of those: the key ""
    last       bytes that the last of them takes more, to get to the end
    """

    low: dict[int, int]
    required: dict[int, int]
    able: dict[int, int]
    first: dict[int, float]
    each: dict[int, float]
    sorted: list[tuple[float, int]]
    free: float
    is_empty_1: bool
    last: float


class _Rules:
    """The rules of a grammar as they are loaded now, and what is known of their lengths."""

    def __init__(self, generation: Generation, blocks: Blocks, lengths: Lengths, roots: Blocks) -> None:
        self._generation = generation
        self._with_empty: dict[int, bool] = {}  # by set of texts
        self._blocks = blocks
        self._lengths = lengths
        self._roots = roots
        self.of_state: list[int] = []
        self.edges: list[_Edge] = []
        self._out: list[list[_Edge]] = []  # by state
        self._guards: list[list[int]] = []
        self._finals: list[int] = []
        self._starts: list[int] = []  # by rule
        self._states: dict[int, list[int]] = defaultdict(list)
        self._callers: dict[int, set[int]] = defaultdict(set)
        self.whole: list[float] = []  # by rule
        self._rest: dict[int, float] = {}  # by state, nothing counted
        self._counted: dict[int, _Counted] = {}  # by rule
        self.load()

    def is_current(self) -> bool:
        """Whether no rules were added since."""
        return len(self.of_state) == self._blocks.number(GRAMMAR.n_rtn_states)

    def load(self) -> None:
        """Read the rules that are new."""
        blocks = self._blocks
        first_state, first_rule = len(self.of_state), len(self.whole)
        n_states, n_rules = blocks.number(GRAMMAR.n_rtn_states), blocks.number(GRAMMAR.n_rules)
        new = range(first_state, n_states)
        self.of_state += blocks.ints(GRAMMAR.state_rules, first_state, len(new))
        self._finals += blocks.ints(GRAMMAR.state_finals, first_state, len(new))
        flat = blocks.ints(GRAMMAR.guards, 0, blocks.number(GRAMMAR.n_guards) * _GUARD_FIELDS)
        self._guards = [flat[at : at + _GUARD_FIELDS] for at in range(0, len(flat), _GUARD_FIELDS)]
        flat = blocks.ints(GRAMMAR.edges, 4 * len(self.edges), 4 * (blocks.number(GRAMMAR.n_edges) - len(self.edges)))
        self.edges += [_Edge(*flat[at : at + 4]) for at in range(0, len(flat), 4)]
        places = blocks.ints(GRAMMAR.edge_first, first_state, len(new) + 1)
        self._out += [self.edges[places[at] : places[at + 1]] for at in range(len(new))]
        for state in new:
            rule = self.of_state[state]
            self._states[rule].append(state)
            for edge in self._out[state]:
                if edge.kind not in (EdgeKind.SCAN, EdgeKind.SKIP):
                    self._callers[edge.symbol].add(rule)
        self.whole += [NEVER] * (n_rules - first_rule)
        waiting = dict.fromkeys(range(first_rule, n_rules))
        self._starts = blocks.ints(GRAMMAR.rule_starts, 0, n_rules)
        while waiting:
            rule, _ = waiting.popitem()
            self._measure(rule)
            length = self.rest(self._starts[rule], _Run())
            if length < self.whole[rule]:
                self.whole[rule] = length
                waiting.update(dict.fromkeys(caller for caller in self._callers[rule] if caller >= first_rule))

    def lexeme(self, number: int) -> float:
        """Bytes of the shortest text of a lexeme, which is never empty."""
        return max(1, self._lengths.of(self._roots.at(STORE.lexemes, number)))

    def rest(self, state: int, run: _Run) -> float:
        """Bytes to the end of the rule."""
        counted = self._counted.get(self.of_state[state])
        rest = self._rest[state]
        if counted is None:
            return rest
        missing = counted.required[state] & ~run.members
        n_more = max(0, counted.low[state] - run.size - missing.bit_count())
        if not missing and not n_more:
            return rest
        least = counted.first[state] + counted.last
        taken = run.members | missing
        while missing:
            member = missing.bit_length() - 1
            least += counted.each.get(member, 0)
            missing ^= 1 << member
        for length, member in counted.sorted:
            if n_more == 0 or length >= counted.free:
                break
            if counted.able[state] & ~taken & 1 << member:
                least += length
                n_more -= 1
        if n_more:
            least += n_more * counted.free
            # "" is one key; a named one may stand in for any other
            if counted.is_empty_1 and (not counted.sorted or counted.sorted[0][0] > counted.free):
                least += n_more - (not run.has_empty)
        return max(rest, least)

    def after(self, edge: _Edge, run: _Run) -> _Run:
        """What an edge makes of the run's count or set."""
        kind, one, _, three, four = self._guards[edge.guard]
        if edge.kind >= EdgeKind.CALL_NEW:
            return run._replace(size=run.size + 1)
        if kind == GuardKind.COUNT:
            return run._replace(size=min(run.size + three, four)) if edge.guard else run
        if kind == GuardKind.ADD:
            if one != ANOTHER:
                return run._replace(size=run.size + 1, members=run.members | 1 << one)
            return run._replace(size=run.size + 1) if run.size < four else run
        return run

    def run(self, state: int, parameter: int) -> _Run:
        """The parameter of a run that is in a state."""
        if parameter == 0 or self.of_state[state] not in self._counted:
            return _Run()
        if self._is_count(self.of_state[state]):
            return _Run(parameter)
        items = self._blocks.items(GRAMMAR.sets, parameter)
        members = sum((word & 0xFFFFFFFF) << 32 * at for at, word in enumerate(items[FIRST_WORD:]))
        return _Run(items[SIZE], members, self._has_empty(items[TEXTS_OF_SET]))

    def _has_empty(self, texts: int) -> bool:
        if texts not in self._with_empty:
            numbers = self._generation.texts_in(texts)
            self._with_empty[texts] = any(self._generation.text_of(number) == EMPTY_KEY for number in numbers)
        return self._with_empty[texts]

    def _is_count(self, rule: int) -> bool:
        for state in self._states[rule]:
            for guard in [edge.guard for edge in self._out[state]] + [max(0, self._finals[state] - 1)]:
                if guard:
                    return self._guards[guard][0] == GuardKind.COUNT
        return False

    def _cost(self, edge: _Edge) -> float:
        if edge.kind == EdgeKind.SKIP:
            return 0
        return self.lexeme(edge.symbol) if edge.kind == EdgeKind.SCAN else self.whole[edge.symbol]

    def _adds(self, edge: _Edge) -> int:
        """How much an edge adds to the count or the set."""
        kind, _, _, three, _ = self._guards[edge.guard]
        if edge.kind >= EdgeKind.CALL_NEW or kind == GuardKind.ADD:
            return 1
        return three if kind == GuardKind.COUNT and edge.guard else 0

    def _is_of_strings(self, rule: int) -> bool:
        """Whether the rule is one lexeme that begins with a quote: then only one text has two bytes."""
        out = self._out[self._starts[rule]]
        if [edge.kind for edge in out] != [EdgeKind.SCAN]:
            return False
        root = self._roots.at(STORE.lexemes, out[0].symbol)
        return all(self._lengths.after(root, byte) == NEVER for byte in b"[{-0123456789tfn")

    def _measure(self, rule: int) -> None:
        """Lengths of a rule's states, from what is known of the rules that it calls."""
        states = self._states[rule]
        costs = {state: [(self._cost(edge), edge) for edge in self._out[state]] for state in states}
        self._rest |= _distances(costs, {state for state in states if self._finals[state]})
        adding = {state for state in states if any(self._adds(edge) for edge in self._out[state])}
        if not adding:
            return
        first = _distances(costs, adding)
        on = _distances(costs, adding | {state for state in states if self._finals[state]})
        each: dict[int, float] = {}
        free = last = NEVER
        is_empty_1 = False
        for state in adding:
            for cost, edge in costs[state]:
                if not self._adds(edge):
                    continue
                length = cost + on[edge.target]
                if length < NEVER:
                    last = min(last, self._rest[edge.target] - on[edge.target])
                kind, member = self._guards[edge.guard][:2]
                if kind == GuardKind.ADD and member != ANOTHER and edge.kind < EdgeKind.CALL_NEW:
                    each[member] = min(each.get(member, NEVER), length)
                elif length / self._adds(edge) < free:
                    free = length / self._adds(edge)
                    is_empty_1 = (
                        edge.kind >= EdgeKind.CALL_NEW and cost == len(EMPTY_KEY) and self._is_of_strings(edge.symbol)
                    )
        low, required = self._asked(states)
        pairs = sorted((length, member) for member, length in each.items())
        able = self._able(states)
        self._counted[rule] = _Counted(low, required, able, first, each, pairs, free, is_empty_1, last)

    def _able(self, states: list[int]) -> dict[int, int]:
        """By state the members that edges on some way from it add: a least fixed point."""
        able = dict.fromkeys(states, 0)
        is_changed = True
        while is_changed:
            is_changed = False
            for state in reversed(states):
                found = able[state]
                for edge in self._out[state]:
                    kind, member = self._guards[edge.guard][:2]
                    if kind == GuardKind.ADD and member != ANOTHER and edge.kind < EdgeKind.CALL_NEW:
                        found |= 1 << member
                    found |= able[edge.target]
                if found != able[state]:
                    able[state], is_changed = found, True
        return able

    def _asked(self, states: list[int]) -> tuple[dict[int, int], dict[int, int]]:
        """By state the least count and the members that every way to the end asks for: a greatest fixed point."""
        unknown = -1
        low, required = dict.fromkeys(states, unknown), dict.fromkeys(states, unknown)
        is_changed = True
        while is_changed:
            is_changed = False
            for state in reversed(states):
                ways = [self._asked_by(self._finals[state] - 1)] if self._finals[state] else []
                for edge in self._out[state]:
                    if low[edge.target] != unknown:
                        least, members = self._asked_by(edge.guard)
                        ways.append((max(least, low[edge.target]), members | required[edge.target]))
                if not ways:
                    continue
                found = min(least for least, _ in ways), _common([members for _, members in ways])
                if found != (low[state], required[state]):
                    is_changed = True
                    low[state], required[state] = found
        return {state: max(0, n) for state, n in low.items()}, {state: max(0, n) for state, n in required.items()}

    def _asked_by(self, guard: int) -> tuple[int, int]:
        kind, one, two, three, _ = self._guards[guard]
        if guard == 0 or kind in (GuardKind.ADD, GuardKind.MORE, GuardKind.FOLLOW):
            return 0, 0
        if kind == GuardKind.COUNT:
            return one, 0
        assert kind == GuardKind.CHECK, kind
        del two
        if self._blocks.at(GRAMMAR.required, three) == CONDITION:
            return one, 0  # what it asks for is not looked at: a bound may be too low
        n = self._blocks.at(GRAMMAR.required, three + 1)
        words = self._blocks.ints(GRAMMAR.required, three + 2, n)
        return one, sum((word & 0xFFFFFFFF) << 32 * at for at, word in enumerate(words))


def _common(sets: list[int]) -> int:
    found = sets[0]
    for members in sets:
        found &= members
    return found


def _distances(costs: dict[int, list[tuple[float, _Edge]]], goals: set[int]) -> dict[int, float]:
    """By state the least cost of a way to one of the goals (E. W. Dijkstra, Numerische Mathematik 1, 1959)."""
    into: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for state, ways in costs.items():
        for cost, edge in ways:
            if cost < NEVER:
                into[edge.target].append((cost, state))
    found = dict.fromkeys(costs, NEVER)
    waiting = [(0.0, state) for state in goals]
    while waiting:
        length, state = heapq.heappop(waiting)
        if length >= found[state]:
            continue
        found[state] = length
        for cost, before in into[state]:
            heapq.heappush(waiting, (length + cost, before))
    return found


class Remaining:
    """The bound for configurations of one matcher's tables."""

    def __init__(self, matcher: Matcher, lengths: Lengths) -> None:
        self._grammar = Blocks(matcher._sequence.generation.table)
        self._store = Blocks(matcher._sequence.store.table)
        self._views, self._store_views = matcher._sequence.generation.table.view, matcher._sequence.store.table.view
        self._lengths = lengths
        self._rules = _Rules(matcher._sequence.generation, self._grammar, lengths, self._store)
        self._start = self._grammar.number(GRAMMAR.start_rule)
        ignored = self._store.items(STORE.lexeme_sets, self._grammar.number(GRAMMAR.ignored))
        self._ignored = ignored[0] if ignored else None
        self._known: dict[tuple[int, int], float] = {}  # by row and lexer state
        self._scans: dict[int, dict[int, float]] = {}  # by row, lexeme
        self._waits: dict[int, dict[int, list[tuple[_Edge, int, int]]]] = {}  # by row, rule
        self._outside: dict[tuple[int, int], float] = {}  # by row and rule
        self._kinds: dict[int, tuple[int, ...]] = {}  # by row

    def of(self, configuration: int) -> float:
        """Bytes that are needed at least."""
        here = self._views.configurations[configuration]
        if here.accepts:
            return 0
        row, state = self._row_of(here.parse_state), here.state
        found = self._known.get((row, state))
        if found is None:
            if not self._rules.is_current():
                self._rules.load()
            found = self._known[row, state] = self._from(row, state)
        return found

    def kind(self, configuration: int) -> tuple[tuple[int, ...], int]:
        """What a configuration shares with those that differ only in callers, and in what was counted or recorded."""
        here = self._views.configurations[configuration]
        row = self._row_of(here.parse_state)
        if row not in self._kinds:
            entries = (*self._scans_of(row), *self._waits_of(row))
            self._kinds[row] = tuple(sorted({edge.target for _, edge, _, _ in entries}))
        return self._kinds[row], here.state

    def classes(self, configuration: int) -> bytes:
        """For each byte the number of its class: bytes of one class are the same to the lexeme that is being read."""
        state = self._store_views.states[self._views.configurations[configuration].state]
        return self._store.raw(STORE.class_maps + 1, 256 * state.map, 256)

    def _row_of(self, place: int) -> int:
        return place if place < FIRST_TRACKED else int(self._views.parse_states.entries[place - FIRST_TRACKED].high)

    def _from(self, row: int, state: int) -> float:
        """From a row on, its lexeme read up to a lexer state."""
        key = self._store.items(STORE.state_keys, state)
        is_start = key[-1] == START_MARK
        scans = self._after_scans(row)
        least = NEVER
        for at in range(0, len(key) & -2, 2):
            lexeme, node = key[at : at + 2]
            rest = self._lengths.of(node)
            if lexeme == self._ignored:
                after = self._bare(row) if not is_start else NEVER
            else:
                after = scans.get(lexeme, NEVER)
                rest = max(rest, int(is_start))
            least = min(least, rest + after)
        return least

    def _bare(self, row: int) -> float:
        """From a row on, nothing of it read."""
        if self._views.rows[row].accepts:
            return 0
        return min(
            (self._rules.lexeme(lexeme) + after for lexeme, after in self._after_scans(row).items()), default=NEVER
        )

    def _scans_of(self, row: int) -> list[tuple[int, _Edge, int, int]]:
        here = self._views.rows[row]
        return self._entries(here.scans, here.n_scans)

    def _waits_of(self, row: int) -> list[tuple[int, _Edge, int, int]]:
        here = self._views.rows[row]
        return self._entries(here.waits, here.n_waits)

    def _entries(self, first: int, n: int) -> list[tuple[int, _Edge, int, int]]:
        flat = self._grammar.ints(GRAMMAR.row_entries, 4 * first, 4 * n)
        edges = self._rules.edges
        return [(flat[at], edges[flat[at + 1]], flat[at + 2], flat[at + 3]) for at in range(0, len(flat), 4)]

    def _after_scans(self, row: int) -> dict[int, float]:
        """For each lexeme that a row expects, what comes behind it."""
        found = self._scans.get(row)
        if found is None:
            found = self._scans[row] = {}
            for lexeme, edge, parameter, origin in self._scans_of(row):
                length = self._behind(edge, parameter) + self._out_of(origin, self._rules.of_state[edge.target])
                found[lexeme] = min(found.get(lexeme, NEVER), length)
        return found

    def _behind(self, edge: _Edge, parameter: int) -> float:
        rules = self._rules
        return rules.rest(edge.target, rules.after(edge, rules.run(edge.target, parameter)))

    def _out_of(self, row: int, rule: int) -> float:
        """From the end of a rule that began in a row to the end of the document."""
        goal = (FIRST_ROW, self._start)
        source = (row, rule)
        if source in self._outside:
            return self._outside[source]
        waiting, closed = [(0.0, False, source)], set()
        while waiting:
            length, is_whole, place = heapq.heappop(waiting)
            if is_whole or place == goal:
                self._outside[source] = length
                return length
            if place in closed:
                continue
            closed.add(place)
            if place in self._outside:
                heapq.heappush(waiting, (length + self._outside[place], True, place))
                continue
            for edge, parameter, origin in self._waiting_for(*place):
                beyond = length + self._behind(edge, parameter)
                if beyond < NEVER:
                    heapq.heappush(waiting, (beyond, False, (origin, self._rules.of_state[edge.target])))
        self._outside[source] = NEVER
        return NEVER

    def _waiting_for(self, row: int, rule: int) -> list[tuple[_Edge, int, int]]:
        if row not in self._waits:
            by_rule: dict[int, list[tuple[_Edge, int, int]]] = defaultdict(list)
            for called, edge, parameter, origin in self._waits_of(row):
                by_rule[called].append((edge, parameter, origin))
            self._waits[row] = by_rule
        return self._waits[row].get(rule, [])
