"""Rules of a grammar as small automata, the form every frontend writes and the parser reads.

A rule is a recursive transition network: states joined by edges. An edge *scans* a lexeme (a regular expression over
bytes), *calls* another rule, or *skips* (takes nothing). Compared with dotted productions, n optional properties of a
JSON object cost O(n) states and edges instead of O(n^2) productions. Source: W. A. Woods, "Transition network grammars
for natural language analysis", CACM 13 (1970).

    rule array:  start -"["-> first -item-> more -"]"-> end (final)
                              first -"]"-> end    more -","-> next    next -item-> more

Each run through a rule carries one parameter. A guard on an edge (or on a final state) reads it, and changes it after
the edge. Most rules *count*, from 0, which keeps `maxItems: 10000` at four states:

    guard            passes iff low <= count <= high                               count = min(count + add, cap)

Others carry a *set* of small numbers, empty on entry, which keeps an object whose n properties come in any order at a
few states and n edges. A rule does one or the other, never both:

    add_guard        passes iff member is not in the set, and there is room:       the set with member
                     |set + member| + |required - set - member| <= high
    check_guard      passes iff required is part of the set, low <= |set| <= high  the set
    more_guard       passes iff one more may come, and those required with it      the set

    object:  start -"{"-> first; first -"}"-> end [check required]; first, next -key_i [add i]-> named;
             named -":"-> value; value -> after; after -","-> next [check high]; after -"}"-> end [check required]

What is required may be a *condition* on the members that a set has at its end (diagrams.py): then an add_guard passes
where some members to come fulfil it, and a check_guard where it is fulfilled. How many there may be is part of it.

A set may also remember the texts of values, what it takes for arrays without repetition: an edge that *calls for a new
value* takes a value of a rule whose text is not in the run's set, and the set has it as one more member afterwards. How
values are left out of a rule is the frontend's business: the grammar is given a function that writes the rule's
*variant* without some texts when a sequence first needs it (llmask/store/generation.py). Masks ask for fewer variants
where a rule is *plain*: different texts of it are different values. A plain rule is *open* where what is not yet a
value, if it can become one at all, can become one in infinitely many ways (`RegexNodes.is_open`); then the rule itself
is called, and a value that is in the set is refused at its last byte.

An open rule may also derive objects that have some open members and some others: then skips follow the values of the
set that an object may still become, once no open member can come any more (`follow_guard`).

An edge beside such an edge, out of the same state and of the same rule, may call for a value that is in the set; the
set stays as it is. The rule need not be open then, as every value is taken by one of the two.

    array:   start -"["-> first; first -new item-> after; after -","[another item]-> next; next -new item-> after;
             first, after -"]"-> end

Guards must not lead into dead ends: wherever a run gets to, it can get on to a final state if it could without guards,
because unproductive rules are found without looking at them (`{"minItems": 1}` writes its first item outside the loop).

In: calls of a frontend. Out: flat `array('i')` columns. Cost: about half a microsecond an edge.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .diagrams import NODE_FIELDS, Condition, condition_at
from .kinds import (
    ADD,
    ANOTHER,
    CALL,
    CALL_AGAIN,
    CALL_NEW,
    CALL_OPEN,
    CALL_PLAIN,
    CHECK,
    CONDITION,
    COUNT,
    EDGE_FIELDS,
    FOLLOW,
    GUARD_FIELDS,
    MORE,
    NESTED,
    NO_GUARD,
    OTHERS,
    PRIORITY_FIELDS,
    SCAN,
    SKIP,
    SKIP_LATE,
    UNBOUNDED,
    GuardId,
    RuleId,
    StateId,
    pack_edge,
)

if TYPE_CHECKING:
    from llmask.grammar.notation import Network

MOST_WRITTEN = 500  # copies of a rule that are remembered, of 1.2 KB for the one of any JSON value
MakeLate = Callable[[int], int]
MakeVariant = Callable[[RuleId, list[bytes]], RuleId | None]
"""Writes the rule that derives what a rule does without some texts into the same `Rules`, and returns it; None where
nothing is left. Rules, states and guards are only added. For the same rule and texts (their order aside) it may be
asked again and returns the rule that it wrote before."""


class Terminal(NamedTuple):
    """A lexeme as the author of a grammar wrote it: its node, its text, its name where it has one."""

    node: int
    text: str
    name: str | None = None


class Rules:
    """The rules of one grammar while a frontend writes them.

    Attributes
    ----------
    start : the rule that derives whole documents; set by the frontend, 0 unless changed.
    ignored : regex node that may stand between any two lexemes (JSON white space), or None.
    ignored_repeats : whether it may be matched twice in a row. Where it is not, a bounded repetition stays bounded,
        and it must not be taken together with other lexemes.
    ignored_priority : priority of `ignored`, see `scan`.
    values_are_json : whether the texts of values are JSON, so that escapes in strings are resolved before texts are
        compared or handed to a frontend (kernels/values/texts.py). White space (`ignored`) is no part of texts.
    chained : rules whose runs may wait in chains for each other's end, see tails.py; empty where values are new.
    needs_variants : whether a function that makes variants is needed.
    ignored_at_ends : whether `ignored` may also stand before the first and after the last lexeme.
    late_names, late_states : of late skips by their numbers: what they stand for, and the states written for them.

    `str(rules)` is the rules as people write them (notation.py), lexemes by the numbers of their nodes; `readable`
    gives the same rules with the texts of lexemes.
    """

    def __init__(self) -> None:
        self.start: RuleId = RuleId(0)
        self.ignored: int | None = None
        self.ignored_at_ends = False
        self.ignored_repeats = False
        self.ignored_priority = 0
        self.names: list[str] = []
        self.rule_starts = array("i")
        self.state_rules = array("i")
        self.edges = array("i")  # EDGE_FIELDS numbers an edge
        self.finals = array("i")  # state, guard
        self.priorities = array("i")  # PRIORITY_FIELDS numbers an edge; zeros for edges that are not there
        self.guards = array("i", [COUNT, 0, UNBOUNDED, 0, UNBOUNDED])  # GUARD_FIELDS numbers a guard; 0 is NO_GUARD
        self.required = array("i", [0, 0])  # sets: size, number of words, words of 32 members; an empty one at 0
        self.chained = array("i")
        self.values_are_json = False
        self.needs_variants = False
        self.n_members = 0  # one more than the largest named member
        self.late_names: list[str] = []
        self.late_states: dict[int, StateId] = {}
        self.terminals: tuple[Terminal, ...] = ()
        self._node_text: Callable[[int], str] = "node {}".format
        self._lexeme_texts: dict[int, str] = {}
        self._guard_ids: dict[tuple[int, ...], GuardId] = {}
        self._required_places: dict[frozenset[int] | Condition, int] = {}
        self._last_condition: tuple[Condition | None, int] = (None, 0)

    def rule(self, name: str) -> RuleId:
        """Declare a rule and its start state; edges may call it before it has any."""
        rule = RuleId(len(self.names))
        self.names.append(name)
        self.rule_starts.append(len(self.state_rules))
        self.state_rules.append(rule)
        return rule

    def start_state(self, rule: RuleId) -> StateId:
        """State in which `rule` begins."""
        return StateId(self.rule_starts[rule])

    def state(self, rule: RuleId) -> StateId:
        """Add a state to `rule`."""
        self.state_rules.append(rule)
        return StateId(len(self.state_rules) - 1)

    def scan(
        self,
        state: StateId,
        lexeme: int,
        next_state: StateId,
        guard: GuardId = NO_GUARD,
        priority: int = 0,
        is_bare: bool = False,
    ) -> None:
        """Edge over a lexeme, a regex node id. Where the node matches the empty string, the lexeme does not.

        Of the lexemes that are expected in one place and end at the same byte, only the ones of the highest priority
        are taken. Something is always taken, so priorities lead into no dead end.

        Where only lexemes are expected that are `is_bare`, nothing ignored may stand. (The parts of a grammar that
        was put into another one have their own white space.)
        """
        if priority or is_bare:
            self.priorities.extend((len(self.edges) // EDGE_FIELDS, priority, int(is_bare)))
        self.edges.frombytes(pack_edge(state, SCAN, lexeme, next_state, guard))

    def call(self, state: StateId, rule: RuleId, next_state: StateId, guard: GuardId = NO_GUARD) -> None:
        """Edge over everything that `rule` derives."""
        self.edges.frombytes(pack_edge(state, CALL, rule, next_state, guard))

    def call_new(
        self, state: StateId, rule: RuleId, next_state: StateId, guard: GuardId = NO_GUARD, kind: int = CALL_NEW
    ) -> None:
        """Edge over a value of `rule` whose text is not in the run's set, which has it afterwards.

        Parameters
        ----------
        rule : derives the values; the empty text is never taken.
        guard : none, one of `check_guard`, or `add_guard(ANOTHER, high, required)` for the room that it asks for: the
            member that is added is the text.
        kind : CALL_PLAIN where `rule` is plain, CALL_OPEN where it is open, see the module's text. Of open rules no
            variants are needed.
        """
        assert kind in (CALL_NEW, CALL_PLAIN, CALL_OPEN)
        self.edges.frombytes(pack_edge(state, kind, rule, next_state, guard))
        self.needs_variants |= kind != CALL_OPEN

    def call_again(self, state: StateId, rule: RuleId, next_state: StateId) -> None:
        """Edge over a value of `rule` whose text is in the run's set, beside `call_new` with CALL_OPEN of that rule."""
        self.edges.frombytes(pack_edge(state, CALL_AGAIN, rule, next_state, NO_GUARD))

    def call_as(self, kind: int, state: StateId, rule: RuleId, next_state: StateId, guard: GuardId) -> None:
        """Edge of one of the kinds in CALLS, for those who copy rules."""
        self.edges.frombytes(pack_edge(state, kind, rule, next_state, guard))
        self.needs_variants |= kind in (CALL_NEW, CALL_PLAIN)

    def skip(self, state: StateId, next_state: StateId, guard: GuardId = NO_GUARD) -> None:
        """Edge that takes nothing."""
        self.edges.frombytes(pack_edge(state, SKIP, 0, next_state, guard))

    def skip_late(self, state: StateId, number: int) -> None:
        """Edge that takes nothing and leads to a state of the same rule that is written when a run first gets here.

        Who gives the number vouches that something is derived from there; where the rule may end without more, `state`
        has to be final, too. Guards and counts are not for such rules.
        """
        self.edges.frombytes(pack_edge(state, SKIP_LATE, number, state, NO_GUARD))

    def final(self, state: StateId, guard: GuardId = NO_GUARD) -> None:
        """The rule may end in `state`."""
        self.finals.extend((state, guard))

    def guard(self, low: int = 0, high: int = UNBOUNDED, add: int = 0, cap: int = UNBOUNDED) -> GuardId:
        """Number of a guard for rules that count (see the module's text); equal guards share one.

        Choose `cap` as low as the grammar allows: a count that stops growing lets the parser's rows repeat.
        """
        return self._guard(COUNT, low, min(high, UNBOUNDED), add, min(cap, UNBOUNDED))

    def add_guard(
        self,
        member: int = ANOTHER,
        high: int = UNBOUNDED,
        required: Iterable[int] | Condition = (),
        cap: int = UNBOUNDED,
        passed: int = 0,
    ) -> GuardId:
        """Number of a guard that adds a member to the set, for rules that carry one (see the module's text).

        Parameters
        ----------
        member : a number from 0, which must not be in the set yet, or ANOTHER, which never is. A set takes memory for
            its largest member: number them from 0.
        high : members that the set may have at its end, so that there is room left for those required; not beside a
            condition.
        required : members that are still to come where they are not in the set.
        cap : ANOTHER is not added to a set that has `cap` members. Choose it as low as the grammar allows: a set that
            stops growing lets the parser's rows repeat. Without bounds on the size, use no guard for such members.
        passed : no member below it is still to come: for conditions, and members that come in order.
        """
        self.n_members = max(self.n_members, member + 1)
        last = min(cap, UNBOUNDED) if member == ANOTHER else passed
        return self._guard(ADD, member, min(high, UNBOUNDED), self._required(required), last)

    def more_guard(self, condition: Condition, passed: int = 0) -> GuardId:
        """Number of a guard that asks whether one more member may come, and those that a condition asks for then."""
        return self._guard(MORE, passed, UNBOUNDED, self._required(condition), 0)

    def check_guard(
        self,
        low: int = 0,
        high: int = UNBOUNDED,
        required: Iterable[int] | Condition = (),
        another_of: RuleId | None = None,
    ) -> GuardId:
        """Number of a guard that asks for a set of `low` to `high` members with all required ones.

        Parameters
        ----------
        another_of : a rule that must derive a value which is not in the set, for rules with finitely many values: the
            guard of the comma before `call_new`.
        """
        self.needs_variants |= another_of is not None
        rule = 0 if another_of is None else another_of + 1
        return self._guard(CHECK, low, min(high, UNBOUNDED), self._required(required), rule)

    def follow_guard(
        self, number: int = NESTED, required: Iterable[int] = (), endless: Iterable[int] = (), whose: int = OTHERS
    ) -> GuardId:
        """Number of a guard of a skip, of a rule whose values are called for as open ones that are not in a set.

        Where the run's set has all required members and all endless ones but one, and the value may still become one of
        those in the set for which it is called, the run goes on in a state that is written for these: `MakeVariant` is
        asked for it, with FIRST_FOLLOWING + `number` in place of a rule and, as one more text, an array of lists: what
        was read of the value, and of each that goes on in it, keys before their values (if it is an array, an object
        that has it). Rules of its members may have such skips, too: the edges that call them have the guard NESTED.

        With OWN the state is the one for the texts in the run's own set, which has them no longer: they were members of
        it, and with OWN_COUNTED still are. The target of the skip is one of the ways to go on after any texts.
        """
        self.needs_variants = True
        return self._guard(FOLLOW, number, whose, self._required(required), self._required(endless))

    def copied_guard(self, other: Rules, row: tuple[int, ...]) -> GuardId:
        """Number of a guard of other rules, given as its fields, that asks for no other value."""
        kind, *fields = row
        if kind == COUNT:
            return self._guard(*row)
        assert kind == ADD or fields[3] == 0, "the guard asks for another value"
        return self._guard(kind, *fields[:2], self._required(other.asked(fields[2])), fields[3])

    def _guard(self, *row: int) -> GuardId:
        found = self._guard_ids.get(row)
        if found is None:
            found = self._guard_ids[row] = GuardId(len(self.guards) // GUARD_FIELDS)
            self.guards.extend(row)
        return found

    def _required(self, members: Iterable[int] | Condition) -> int:
        """Place of a set in `required`, or of a condition."""
        if isinstance(members, Condition):
            return self._condition(members)
        wanted = frozenset(members)
        if not wanted:
            return 0
        place = self._required_places.get(wanted)
        if place is None:
            place = self._required_places[wanted] = len(self.required)
            words = np.zeros(max(wanted) // 32 + 1, np.uint32)
            for member in wanted:
                words[member // 32] |= np.uint32(1 << member % 32)
            self.required.extend((len(wanted), len(words), *words.view(np.int32).tolist()))
        return place

    def _condition(self, condition: Condition) -> int:
        last, place = self._last_condition  # a guard of each member asks, and a hash takes 2 ns a number
        if condition is not last:
            place = self._required_places.setdefault(condition, len(self.required))
            self._last_condition = condition, place
            if place == len(self.required):
                self.required.extend((CONDITION, len(condition.nodes) // NODE_FIELDS, *condition.nodes))
        return place

    def members(self, place: int) -> list[int]:
        """Members of a set in `required`; none of a condition."""
        if self.required[place] == CONDITION:
            return []
        size, n_words = self.required[place : place + 2]
        words = self.required[place + 2 : place + 2 + n_words]
        found = [32 * n + bit for n, word in enumerate(words) for bit in range(32) if word >> bit & 1]
        assert len(found) == size
        return found

    def asked(self, place: int) -> list[int] | Condition:
        """Members of a set in `required`, or the condition there."""
        return condition_at(self.required, place) or self.members(place)

    def __str__(self) -> str:
        return rules_text(self)

    def readable(self, node_text: Callable[[int], str], terminals: Iterable[Terminal] = ()) -> Rules:
        """The same rules, also as more of them are written, whose `str` has the texts of their lexemes.

        Parameters
        ----------
        node_text : of a regex node.
        terminals : what the author of the grammar calls some nodes.
        """
        other = copy(self)
        other._node_text = node_text
        other.terminals = tuple(terminals)
        other._lexeme_texts = {terminal.node: terminal.name or terminal.text for terminal in other.terminals}
        return other

    def lexeme_text(self, node: int) -> str:
        """How a lexeme is printed."""
        return self._lexeme_texts.get(node) or self._node_text(node)

    def columns(self) -> tuple[array[int], ...]:
        """All that is written, in the order in which kernels load it (kernels/parser/load_rules.py)."""
        return (
            *(self.rule_starts, self.state_rules, self.edges, self.finals),
            *(self.guards, self.required, self.priorities, self.chained),
        )

    def sizes(self) -> tuple[int, ...]:
        """How much is written: the lengths of the columns."""
        return tuple(map(len, self.columns()))

    def cut(self, sizes: tuple[int, ...]) -> None:
        """Forget what was written since the columns had these lengths; nothing may use any of it."""
        for column, size in zip(self.columns(), sizes, strict=True):
            del column[size:]
        del self.names[len(self.rule_starts) :]
        n_guards = len(self.guards) // GUARD_FIELDS
        self._guard_ids = {row: number for row, number in self._guard_ids.items() if number < n_guards}
        places = self._required_places.items()
        self._last_condition = (None, 0)
        self._required_places = {members: place for members, place in places if place < len(self.required) - 1}

    def without_rules(self) -> Rules:
        """Rules with the same guards, by the same numbers, and nothing else."""
        other = copy(self)
        other.start = RuleId(0)
        other.names = []
        other.rule_starts, other.state_rules, other.edges = array("i"), array("i"), array("i")
        other.finals, other.priorities, other.chained = array("i"), array("i"), array("i")
        other.late_names, other.late_states = [], {}
        return other


def each_edge(edges: array[int]) -> Iterator[tuple[int, ...]]:
    """State, kind, symbol, next state and guard of each edge."""
    return zip(*(edges[field::EDGE_FIELDS] for field in range(EDGE_FIELDS)), strict=True)


def compares_values(rules: Rules) -> bool:
    """Whether rules call for new values, whose texts are compared."""
    return any(kind >= CALL_NEW for kind in rules.edges[1::EDGE_FIELDS])


def one_lexeme(node: int, is_nullable: bool, name: str = "start") -> Rules:
    """Rules whose documents are the strings of one regex node; `name` is that of the rule."""
    rules = Rules()
    start = rules.start_state(rules.rule(name))
    end = rules.state(rules.start)
    rules.scan(start, node, end)
    rules.final(end)
    if is_nullable:
        rules.final(start)
    return rules


class RuleTemplate:
    """One rule as it was written, to be copied into other grammars of the same store.

    Parameters
    ----------
    rules, rule : where it was written, as the last rule; it calls none but itself, counts nothing, and ends in the
        state after its first.
    first_edge : length of `rules.edges` before it was written.
    """

    def __init__(self, rules: Rules, rule: RuleId, first_edge: int) -> None:
        start = rules.rule_starts[rule]
        edges = np.array(rules.edges[first_edge:], np.int32).reshape(-1, EDGE_FIELDS)
        calls = edges[:, 1] == CALL
        assert rule == len(rules.names) - 1
        assert (edges[calls, 2] == rule).all()
        assert (edges[:, 4] == NO_GUARD).all()
        self._n_states = len(rules.state_rules) - start
        self._of_state = np.zeros_like(edges)
        self._of_state[:, (0, 3)] = 1
        self._of_rule = np.zeros_like(edges)
        self._of_rule[calls, 2] = 1
        self._edges = edges - self._of_state * start - self._of_rule * rule
        self._written: dict[tuple[int, int], bytes] = {}  # by start and rule

    def write(self, rules: Rules, rule: RuleId) -> None:
        """Write a copy as `rule`, which was declared just before."""
        start = rules.rule_starts[rule]
        assert start == len(rules.state_rules) - 1
        rules.state_rules.extend(array("i", [rule]) * (self._n_states - 1))
        edges = self._written.get((start, rule))
        if edges is None:
            if len(self._written) >= MOST_WRITTEN:
                self._written.clear()
            edges = (self._edges + self._of_state * start + self._of_rule * rule).tobytes()
            self._written[start, rule] = edges
        rules.edges.frombytes(edges)
        rules.final(StateId(start + 1))


def network_of(rules: Rules, lexeme: Callable[[int], str]) -> Network:
    """The network of rules as a frontend has written them so far."""
    from llmask.grammar.notation import Edge, Network, guard_text, rule_names

    names = rule_names(rules.names)
    states: list[list[int]] = [[] for _ in rules.names]
    for state, rule in enumerate(rules.state_rules):
        states[rule].append(state)
    guards = [
        guard_text(rules.guards[at : at + GUARD_FIELDS], rules.members, names.__getitem__)
        for at in range(0, len(rules.guards), GUARD_FIELDS)
    ]
    said = rules.priorities
    priorities = {said[at]: (said[at + 1], said[at + 2] != 0) for at in range(0, len(said), PRIORITY_FIELDS)}
    edges: dict[int, list[Edge]] = {}
    for number, (state, kind, symbol, target, guard) in enumerate(each_edge(rules.edges)):
        follows = rules.late_states.get(symbol) if kind == SKIP_LATE else target
        edge = Edge(kind, symbol, follows, guards[guard], *priorities.get(number, ()))
        edges.setdefault(state, []).append(edge)
    finals = {state: guards[guard] for state, guard in zip(rules.finals[::2], rules.finals[1::2], strict=True)}
    return Network(
        rules.names, rules.rule_starts, states, edges, finals, lexeme, lambda number: rules.late_names[number]
    )


def rules_text(rules: Rules) -> str:
    """All rules, the start first, then the terminals that have names and what is ignored; see `Rules.readable`."""
    from llmask.grammar.notation import RuleText

    text = RuleText(network_of(rules, rules.lexeme_text))
    order = sorted(range(len(rules.names)), key=lambda rule: rule != rules.start)
    lines = [text.rule(rule) for rule in order]
    used = {symbol for _, kind, symbol, _, _ in each_edge(rules.edges) if kind == SCAN}
    known = {one.name: one.text for one in rules.terminals if one.name is not None and one.node in used}
    below = [f"{name}: {text}" for name, text in known.items()]
    if rules.ignored is not None:
        below.append(f"%ignore {rules.lexeme_text(rules.ignored)}")
    return "\n".join([*lines, *([""] if below else []), *below])
