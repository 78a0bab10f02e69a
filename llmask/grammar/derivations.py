"""Leftmost derivations, step by step: where it is, what it can do next, how many bytes it takes at least.

    place    a state, what its run counts or carries, and the place after the call; None where all is derived

Places are numbers; equal ones are the same. Guards are followed as rules.py says, except that a set has only the
number of its texts: which values are left, the engine knows.

`Rests` knows how many bytes a rule takes at least from each of its states to its end.
A rule takes what its lexemes and the rules that it calls take on the least way: what is called is settled first, and
rules that call each other go on until nothing falls. Within a rule the states are swept over, back and forth, as most
edges lead to a later state. Source: D. Knuth, "A generalization of Dijkstra's algorithm", Information Processing
Letters 6 (1977), whose values these are; R. Bellman's sweeps find them where each rule has few states that lead back.

Guards may ask for more. A run that lacks members, or items, has to get to an edge that adds one, and to write each of
them, the last one on a way to the end, the others on ways to the next such edge.

    object   "{" -> choose -key [add]-> ... value -> after -","-> choose    after -"}"-> end [check required]
    a run in `after` that lacks b and c:   ","  +  b with its value and ","  +  c with its value and "}"

That is no more than it takes, and as much where keys come in any order.

In: `Rules`, and the length of each lexeme. Out: steps; a number for each state. Cost: about 5 us a step; 0.5 us an
edge, three times as much in rules with guards that ask for more.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from math import inf
from typing import NamedTuple

from llmask.errors import LlmaskError
from llmask.grammar.diagrams import condition_at
from llmask.grammar.kinds import (
    ADD,
    ANOTHER,
    CALL_AGAIN,
    CALL_NEW,
    CHECK,
    COUNT,
    FOLLOW,
    GUARD_FIELDS,
    MORE,
    NO_GUARD,
    SCAN,
    SKIP,
    SKIP_LATE,
    UNBOUNDED,
)
from llmask.grammar.rules import Rules
from llmask.grammar.tails import Network, components

Value = int | tuple[frozenset[int], int]  # what a run carries: a count, or named members and how many others
NOTHING = -1  # the place where all is derived
NO_LEXEME = -1
NO_RULE = -1  # an edge that calls none; the last of the rules' costs, 0, is its
Way = tuple[int, int, int, int]  # state, target, bytes of a lexeme, rule that is called


class Rests:
    """The bytes that a run of a rule takes at least, by its state and what it carries.

    Attributes
    ----------
    ends : by state, the same whatever guards ask for; inf where no end is reached.
    """

    def __init__(self, network: Network, lexeme_length: Callable[[int], int]) -> None:
        self._rules = rules = network.rules
        n_states = len(network.edges)
        asked = [self._n_asked(guard) for guard in range(len(rules.guards) // GUARD_FIELDS)]
        self._guards: dict[int, int] = {}  # by rule, the one that asks for most
        for state, edges in enumerate(network.edges if any(asked) else ()):
            rule = rules.state_rules[state]
            for guard in (*network.finals[state], *(edge.guard for edge in edges)):
                if asked[guard] > asked[self._guards.get(rule, NO_GUARD)]:
                    self._guards[rule] = guard
        self.ends: list[float] = [inf] * n_states
        self._free: list[float] = [inf] * n_states  # the same past another guard than that which asks for most
        self._to_adding: list[float] = [inf] * n_states  # bytes to an edge that adds something
        # of the edges that add a member to a rule: bytes to the next such edge, to the end, and the difference
        self._to_next: dict[int, dict[int, float]] = {rule: {} for rule in self._guards}
        self._to_end: dict[int, dict[int, float]] = {rule: {} for rule in self._guards}
        self._excess: dict[int, dict[int, float]] = {}
        self._costs: list[float] = [inf] * len(rules.names) + [0]  # of calling each rule
        self._steps: list[list[Way]] = [[] for _ in rules.names]
        self._free_steps: dict[int, list[Way]] = {rule: [] for rule in self._guards}
        self._adds: dict[int, list[tuple[int, Way]]] = {rule: [] for rule in self._guards}
        self._callers: list[set[int]] = [set() for _ in rules.names]
        self._read(network, lexeme_length)
        calls = [[rule for *_, rule in steps if rule != NO_RULE] for steps in self._steps]
        for members in components(calls):
            if len(members) > 1 or members[0] in calls[members[0]]:
                self._settle_all(members, False)
            self._settle_all(members, True)

    def at(self, state: int, value: Value) -> float | None:
        """Bytes until a run in a state has ended; None where it never does."""
        end = self.ends[state]
        if end == inf:
            return None
        found = self._asked(state, value)
        return found if found < inf else end

    def _asked(self, state: int, value: Value) -> float:
        """The same, inf where what a guard asks for cannot be told."""
        end = self.ends[state]
        guard = self._guards.get(self._rules.state_rules[state])
        if guard is None:
            return end
        members, n_others = self._lacking(guard, value)
        if not members and n_others <= 0:
            return end
        return max(end, min(self._free[state], self._with(state, members, n_others)))

    def _read(self, network: Network, lexeme_length: Callable[[int], int]) -> None:
        """Read the edges of all rules, and in each rule the edges of the last state first."""
        lengths: dict[int, int] = {}
        added = [self._added_by(guard) for guard in range(len(self._rules.guards) // GUARD_FIELDS)]
        for rule, states in enumerate(network.states):
            steps, guarded_by = self._steps[rule], self._guards.get(rule)
            for state in reversed(states):
                if network.finals[state]:
                    self.ends[state] = 0
                    if any(guard != guarded_by for guard in network.finals[state]):
                        self._free[state] = 0
                for kind, symbol, target, guard, _, _ in network.edges[state]:
                    n_bytes, called = 0, NO_RULE
                    if kind == SCAN:
                        if symbol not in lengths:
                            lengths[symbol] = lexeme_length(symbol)
                        n_bytes = lengths[symbol]
                    elif kind != SKIP:
                        called = symbol
                        self._callers[called].add(rule)
                    step = state, target, n_bytes, called
                    steps.append(step)
                    if guarded_by is not None:
                        if guard != guarded_by:
                            self._free_steps[rule].append(step)
                        member = ANOTHER if added[guard] is None and CALL_NEW <= kind < CALL_AGAIN else added[guard]
                        if member is not None:
                            self._adds[rule].append((member, step))
                            self._to_adding[state] = 0

    def _settle_all(self, members: list[int], gives_up: bool) -> None:
        """Find the costs of rules that call each other, or of one that does not.

        They fall from inf on. What is not told about a guard may be told once the costs of others are known, so only
        then it is given up.
        """
        inside, waiting = set(members), set(members)
        while waiting:
            for rule in members:
                if rule in waiting:
                    waiting.remove(rule)
                    if self._settle(rule, gives_up):
                        waiting |= self._callers[rule] & inside

    def _settle(self, rule: int, gives_up: bool) -> bool:
        """Lower all values of a rule; whether its cost fell."""
        self._lower(self.ends, self._steps[rule])
        if rule in self._guards:
            self._lower(self._free, self._free_steps[rule])
            self._lower(self._to_adding, self._steps[rule])
            to_next, to_end = self._to_next[rule], self._to_end[rule]
            for member, (_, target, least, called) in self._adds[rule]:
                n_bytes = least + self._costs[called]
                for key in (member, ANOTHER):
                    to_next[key] = min(to_next.get(key, inf), n_bytes + self._to_adding[target])
                    to_end[key] = min(to_end.get(key, inf), n_bytes + self.ends[target])
            self._excess[rule] = {key: to_end[key] - n_bytes for key, n_bytes in to_next.items() if n_bytes < inf}
        start = self._rules.rule_starts[rule]
        cost = self._asked(start, 0)
        if cost == inf and gives_up:
            cost = self.ends[start]
        is_lower = cost < self._costs[rule]
        self._costs[rule] = min(cost, self._costs[rule])
        return is_lower

    def _lower(self, values: list[float], steps: list[Way]) -> None:
        """Lower the values of states to what their edges lead to, until nothing falls."""
        costs = self._costs
        is_lower = True
        while is_lower:
            is_lower = False
            for state, target, n_bytes, rule in steps:
                value = values[target] + n_bytes + costs[rule]
                if value < values[state]:
                    values[state] = value
                    is_lower = True
            steps.reverse()

    def _n_asked(self, guard: int) -> int:
        kind, low, _, place, _ = self._rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
        if kind == CHECK:
            is_condition = condition_at(self._rules.required, place) is not None
            return max(low, len(self._rules.members(place)), int(is_condition))
        return low if kind == COUNT else 0

    def _lacking(self, guard: int, value: Value) -> tuple[frozenset[int], float]:
        """The members that a run lacks to pass a guard, and how many others."""
        kind, low, _, place, _ = self._rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
        if kind == COUNT:
            return frozenset(), low - value if isinstance(value, int) else 0
        members, n_others = (frozenset[int](), 0) if isinstance(value, int) else value
        condition = condition_at(self._rules.required, place)
        lacks = low - len(members) - n_others
        if condition is not None:
            return frozenset(), max(lacks, condition.n_to_come(members))
        missing = frozenset(self._rules.members(place)) - members
        return missing, lacks - len(missing)

    def _with(self, state: int, members: frozenset[int], n_others: float) -> float:
        """Bytes of a run that adds some members and `n_others` others."""
        rule = self._rules.state_rules[state]
        to_next = self._to_next[rule]
        if n_others > UNBOUNDED or ANOTHER not in to_next:
            return inf
        wanted = [*members, ANOTHER] if n_others > 0 else members
        found = self._to_adding[state] + (to_next[ANOTHER] * (n_others - 1) if n_others > 1 else 0)
        among = sum(map(to_next.get, wanted, repeat(inf)))
        if among < inf:
            return found + among + min(map(self._excess[rule].__getitem__, wanted))
        last = [member for member in wanted if to_next.get(member, inf) == inf]
        if len(last) > 1:
            return inf  # an order that is not understood
        among = sum(to_next[member] for member in wanted if member != last[0])
        return found + among + self._to_end[rule].get(last[0], inf)

    def _added_by(self, guard: int) -> int | None:
        """What a guard adds to what a run carries: a member, ANOTHER, or None."""
        kind, first, _, more, _ = self._rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
        if kind == ADD:
            return first
        return ANOTHER if kind == COUNT and more > 0 else None


class Step(NamedTuple):
    """What may come next: a lexeme (or NO_LEXEME), the place after it, and the bytes that both take at least."""

    lexeme: int
    place: int
    rest: float


class Derivations:
    """Places of the derivations of one grammar.

    Attributes
    ----------
    start : the first place.
    rest : for each place, the bytes that it takes at least.

    Raises
    ------
    LlmaskError : there are rules with a parameter, or terminals that are no text.
    """

    def __init__(self, rules: Rules, lexeme_length: Callable[[int], int]) -> None:
        self.rules = rules
        self.network = Network(rules)
        if any(edge.kind == SKIP_LATE for edges in self.network.edges for edge in edges):
            raise LlmaskError(
                "the grammar has rules with a parameter, which are written only while it is read",
                help="its sentences are not searched for; write the rules out for the values that you need",
            )
        self._length = lexeme_length
        self._rests = Rests(self.network, lexeme_length)
        self._states: list[tuple[int, Value, int]] = []
        self.rest: list[float] = []
        self._known: dict[tuple[int, Value, int], int] = {}
        self._steps: dict[int, list[Step]] = {}
        start = self._place(rules.rule_starts[rules.start], 0, NOTHING)
        assert start is not None, "compiling has seen to it"
        self.start = start

    def rest_of(self, place: int) -> float:
        """The bytes that a place takes at least."""
        return 0 if place == NOTHING else self.rest[place]

    def rules_at(self, place: int) -> tuple[int, ...]:
        """The rules that are being read at a place, the innermost first."""
        found = []
        while place != NOTHING:
            state, _, place = self._states[place]
            found.append(self.rules.state_rules[state])
        return tuple(found)

    def steps(self, place: int) -> list[Step]:
        """What may come next at a place that is not NOTHING."""
        found = self._steps.get(place)
        if found is None:
            found = self._steps[place] = self._find_steps(*self._states[place])
        return found

    def _place(self, state: int, value: Value, place_after: int) -> int | None:
        """Number of a place; None where no end is reached."""
        key = state, value, place_after
        found = self._known.get(key)
        if found is None:
            end = self._rests.at(state, value)
            if end is None:
                return None
            found = self._known[key] = len(self._states)
            self._states.append(key)
            self.rest.append(end + self.rest_of(place_after))
        return found

    def _find_steps(self, state: int, value: Value, place_after: int) -> list[Step]:
        found = []
        for guard in self.network.finals[state]:
            if value_after(self.rules, guard, value) is not None:
                found.append(Step(NO_LEXEME, place_after, self.rest_of(place_after)))
        for edge in self.network.edges[state]:
            after = value_after(self.rules, edge.guard, value, CALL_NEW <= edge.kind < CALL_AGAIN)
            place = None if after is None else self._place(edge.target, after, place_after)
            if place is not None and edge.kind not in (SCAN, SKIP):
                place = self._place(self.rules.rule_starts[edge.symbol], 0, place)
            if place is None:
                continue
            is_lexeme = edge.kind == SCAN
            n_bytes = self._length(edge.symbol) if is_lexeme else 0
            found.append(Step(edge.symbol if is_lexeme else NO_LEXEME, place, n_bytes + self.rest[place]))
        return found


def value_after(rules: Rules, guard: int, value: Value, adds_text: bool = False) -> Value | None:
    """What a run counts or carries after a guard, None where it does not pass."""
    if guard == NO_GUARD and not adds_text:
        return value
    kind, *fields = rules.guards[guard * GUARD_FIELDS : (guard + 1) * GUARD_FIELDS]
    if kind == COUNT and not adds_text:
        low, high, add, cap = fields
        assert isinstance(value, int)
        return min(value + add, cap) if low <= value <= high else None
    members, n_others = (frozenset[int](), 0) if isinstance(value, int) else value
    size = len(members) + n_others
    if kind == COUNT:
        return members, n_others + 1
    if kind == ADD:
        member, high, required, cap = fields
        added = members if member == ANOTHER else members | {member}
        missing = _n_missing(rules, required, added, 0 if member == ANOTHER else cap)
        if (member != ANOTHER and member in members) or size + 1 + missing > high:
            return None
        return added, n_others + int(member == ANOTHER and size < cap)
    low, high, required, _ = fields
    if kind == FOLLOW:
        return value
    if kind == MORE:
        return value if size + _n_missing(rules, required, members, low, one_more=True) <= high else None
    return (members, n_others) if low <= size <= high and not _n_missing(rules, required, members) else None


def _n_missing(rules: Rules, place: int, members: frozenset[int], passed: int = 0, one_more: bool = False) -> float:
    condition = condition_at(rules.required, place)
    if condition is not None:
        return condition.n_to_come(members, passed, one_more)
    return len(frozenset(rules.members(place)) - members)
