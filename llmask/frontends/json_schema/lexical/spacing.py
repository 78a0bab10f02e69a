r"""White space between the lexemes of a document: allowed, demanded, or exactly that of `json.dumps(indent=...)`.

What is merely allowed is a lexeme that the parser ignores. What is demanded becomes part of the punctuation beside it:
two neighbours in JSON are never both values, so every gap has a bracket, comma or colon at its side. With `w` for the
white space and the depth `d` of the nearest bracket:

    "{" w(d)   w(d-1) "}"   "," w(d)   ": "      and "{" "}" for an object without members

As white space follows an opening bracket only where a member does, each opening edge is written twice, to a copy of
its target that can only close and to one that cannot close. Lines are indented by depth: rules are written once a
depth that they are called at (states within a rule know theirs, as brackets in a rule are balanced), down to
`MAX_DEPTH` or while the grammar has at most `MAX_EDGES`. Rules below are for all depths, with lines indented by that
many levels to twice as many.

In: rules of a schema, as written for no white space; options. Out: rules. Cost: nothing where white space is
allowed; about 2 us an edge and depth where it is demanded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from llmask.errors import GrammarError, LlmaskError, UnsupportedSchema
from llmask.frontends.regex import compile_pattern
from llmask.grammar.kinds import EDGE_FIELDS, SCAN, SKIP, GuardId, RuleId, StateId
from llmask.grammar.rules import Rules
from llmask.regex.nodes import RegexNodes

from ..reading.options import SchemaOptions
from .lexemes import punctuation_of, white_space

MAX_DEPTH = 32
MAX_EDGES = 100_000
# What stood before a state: anything else; an opening bracket without, or with, white space after it.
BETWEEN, EMPTY, FULL = 0, 1, 2

Place = tuple[int, int, int]  # state, depth, what stood before


def with_spacing(rules: Rules, nodes: RegexNodes, options: SchemaOptions) -> Rules:
    """`rules` with the white space that the options ask for; what is flexible or compact is in them.

    Raises
    ------
    GrammarError
        When the pattern for white space is malformed, matches something else, or only runs that are too long.
    """
    if options.indent is None and options.whitespace in ("flexible", "compact"):
        return rules
    rules.ignored = None
    if options.indent is not None:
        unit = b" " * options.indent if type(options.indent) is int else str(options.indent).encode()
        return _Spaced(rules, nodes, _indented(nodes, unit), MAX_DEPTH if unit else 0).rules
    most, gap = options.max_whitespace, _pattern(nodes, options)
    if not nodes.is_nullable(gap):
        return _Spaced(rules, nodes, lambda depth, is_exact: Gaps(gap, gap, gap, gap), 0).rules
    gap = nodes.intersect([gap, white_space(nodes, most)]) if most else nodes.EMPTY
    if not nodes.is_empty(gap):
        rules.ignored = gap
    return rules


def _pattern(nodes: RegexNodes, options: SchemaOptions) -> int:
    """Node of the white space that a pattern matches, in runs of at most `max_whitespace` bytes."""
    pattern, most = options.whitespace, options.max_whitespace
    try:
        node = compile_pattern(nodes, pattern)
    except LlmaskError as error:
        raise type(error)(f"the option whitespace: {error.message}", error.where, error.help) from None
    if not nodes.is_empty(nodes.intersect([node, nodes.complement(nodes.repeat(white_space(nodes, 1), 0))])):
        raise GrammarError(
            f'the option whitespace must be "flexible", "compact" or a pattern of JSON\'s white space, not {pattern!r}',
            help=r"JSON's white space is [ \t\n\r]",
        )
    bounded = nodes.intersect([node, nodes.union([nodes.EPSILON, white_space(nodes, most)]) if most else nodes.EPSILON])
    if nodes.is_empty(bounded):
        raise GrammarError(
            f"the option whitespace matches no white space of at most {most} bytes (max_whitespace): {pattern!r}",
            help="raise max_whitespace or change the pattern",
        )
    return bounded


class Gaps(NamedTuple):
    """Nodes of what is written around punctuation at one depth, that of the members of the nearest bracket.

    before_member  after an opening bracket or a comma
    after_colon    between a colon and the value
    before_close   between the last member and the closing bracket
    elsewhere      before a comma or colon, and between the brackets when there is no member
    """

    before_member: int
    after_colon: int
    before_close: int
    elsewhere: int


GapsAt = Callable[[int, bool], Gaps]  # of a depth; unless that is exact, of this or a greater one


def _indented(nodes: RegexNodes, unit: bytes) -> GapsAt:
    """Lines indented by depth; `unit` is the text of one level."""

    def line(depth: int, is_exact: bool) -> int:
        begin = nodes.literal(b"\n" + unit * depth)
        return begin if is_exact or not unit else nodes.concat([begin, nodes.repeat(nodes.literal(unit), 0, depth)])

    def gaps(depth: int, is_exact: bool) -> Gaps:
        return Gaps(line(depth, is_exact), nodes.literal(b" "), line(depth - 1, is_exact), nodes.EPSILON)

    return gaps


class _Spaced:
    """Writer of the rules of a document whose white space is demanded."""

    def __init__(self, written: Rules, nodes: RegexNodes, gaps: GapsAt, max_depth: int) -> None:
        if written.needs_variants:
            raise UnsupportedSchema(
                "keys or items that must differ, and may run out, are not supported where white space is demanded",
                help='Use whitespace="flexible" or "compact", or let there always be another key or item.',
            )
        self._written = written
        self._nodes = nodes
        self._gaps = gaps
        self._punctuation = punctuation_of(nodes)
        self._opening = (self._punctuation.open_object, self._punctuation.open_array)
        self._closing = (self._punctuation.close_object, self._punctuation.close_array)
        edges, finals = written.edges, written.finals
        self._edges: list[list[tuple[int, int, int, int]]] = [[] for _ in written.state_rules]
        for at in range(0, len(edges), EDGE_FIELDS):
            self._edges[edges[at]].append((edges[at + 1], edges[at + 2], edges[at + 3], edges[at + 4]))
        self._finals_of: dict[int, list[int]] = {}
        for at in range(0, len(finals), 2):
            self._finals_of.setdefault(finals[at], []).append(finals[at + 1])
        self._may_close = self._reaching(lambda kind, symbol: kind == SCAN and symbol in self._closing)
        self._may_go_on = self._reaching(lambda kind, symbol: kind != SCAN or symbol not in self._closing)
        self._exact_depths = max_depth
        self._lexemes: dict[tuple[int, bool], tuple[dict[int, int], dict[int, int]]] = {}
        self._rule_at: dict[tuple[int, int], RuleId] = {}
        self._waiting: deque[tuple[int, int]] = deque()
        self.rules = written.without_rules()
        self.rules.start = self._rule(written.start, 0)
        while self._waiting:
            rule, depth = self._waiting.popleft()
            self._write(rule, depth)
            if len(self.rules.edges) > MAX_EDGES * EDGE_FIELDS:
                self._exact_depths = min(self._exact_depths, depth + 1)

    def _reaching(self, is_wanted: Callable[[int, int], bool]) -> set[int]:
        """States from which a wanted edge (of its kind and symbol) can be taken without taking anything before it."""
        before: dict[int, list[int]] = {}
        found = set()
        for state, edges in enumerate(self._edges):
            for kind, symbol, next_state, _ in edges:
                if kind == SKIP:
                    before.setdefault(next_state, []).append(state)
                elif is_wanted(kind, symbol):
                    found.add(state)
        waiting = list(found)
        while waiting:
            for state in before.get(waiting.pop(), ()):
                if state not in found:
                    found.add(state)
                    waiting.append(state)
        return found

    def _rule(self, rule: int, depth: int) -> RuleId:
        """The copy of a rule for the values of a depth."""
        depth = min(depth, self._exact_depths)
        found = self._rule_at.get((rule, depth))
        if found is None:
            found = self._rule_at[rule, depth] = self.rules.rule(self._written.names[rule])
            self._waiting.append((rule, depth))
        return found

    def _write(self, rule: int, outside: int) -> None:
        """Write the copy of a rule for the values of the depth `outside`."""
        rules = self.rules
        copy = self._rule_at[rule, outside]
        is_exact = outside < self._exact_depths
        start: Place = (self._written.rule_starts[rule], outside, BETWEEN)
        states = {start: rules.start_state(copy)}
        waiting = [start]

        def reach(state: int, depth: int, before: int) -> StateId:
            place = state, depth, before
            found = states.get(place)
            if found is None:
                found = states[place] = rules.state(copy)
                waiting.append(place)
            return found

        while waiting:
            state, depth, before = place = waiting.pop()
            here = states[place]
            between, empty = self._lexemes_at(depth, is_exact)
            for kind, symbol, next_state, guard in self._edges[state]:
                if kind == SKIP:
                    if before == BETWEEN or next_state in (self._may_close if before == EMPTY else self._may_go_on):
                        rules.skip(here, reach(next_state, depth, before), GuardId(guard))
                elif kind != SCAN:
                    if before != EMPTY:
                        target = reach(next_state, depth, BETWEEN)
                        self.rules.call_as(kind, here, self._rule(symbol, depth), target, GuardId(guard))
                elif symbol in self._closing:
                    if before != FULL:
                        lexeme = (empty if before == EMPTY else between)[symbol]
                        rules.scan(here, lexeme, reach(next_state, depth - 1, BETWEEN), GuardId(guard))
                elif before == EMPTY:
                    continue
                elif symbol in self._opening:
                    inner, inner_empty = self._lexemes_at(depth + 1, is_exact)
                    if next_state in self._may_close:
                        rules.scan(here, inner_empty[symbol], reach(next_state, depth + 1, EMPTY), GuardId(guard))
                    if next_state in self._may_go_on:
                        rules.scan(here, inner[symbol], reach(next_state, depth + 1, FULL), GuardId(guard))
                else:
                    rules.scan(here, between.get(symbol, symbol), reach(next_state, depth, BETWEEN), GuardId(guard))
            if before == BETWEEN:
                for guard in self._finals_of.get(state, ()):
                    rules.final(here, GuardId(guard))

    def _lexemes_at(self, depth: int, is_exact: bool) -> tuple[dict[int, int], dict[int, int]]:
        """Punctuation with its white space at a depth, and the brackets of what has no members."""
        found = self._lexemes.get((depth, is_exact))
        if found is None:
            concat, marks = self._nodes.concat, self._punctuation
            if depth == 0:  # outside of all brackets
                found = {}, {}
            else:
                gaps = self._gaps(depth, is_exact)
                between = {mark: concat([mark, gaps.before_member]) for mark in self._opening}
                between |= {mark: concat([gaps.before_close, mark]) for mark in self._closing}
                between[marks.comma] = concat([gaps.elsewhere, marks.comma, gaps.before_member])
                between[marks.colon] = concat([gaps.elsewhere, marks.colon, gaps.after_colon])
                empty = {mark: concat([mark, gaps.elsewhere]) for mark in self._opening}
                found = between, empty | {mark: mark for mark in self._closing}
            self._lexemes[depth, is_exact] = found
        return found
