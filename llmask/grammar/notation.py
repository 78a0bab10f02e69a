r"""Rules as people write them, and the places in them: `str(rules)`, and the dotted items of `llmask/debug.py`.

A rule is a network. What is a straight line or a choice of it is written as such; a state has a number and a line of
its own where several edges lead to it (a loop, a shared end) or where it chooses between longer ways:

    #: "[" ("]" | -> 1)
      1: (INTEGER | "null") ("," -> 1 | "]")

    %ignore /[\t\n\r ]{1,64}/

    a b            a and then b
    a | b          one of them
    ""             nothing: the rule may end here
    -> 2           go on in state 2 of the same rule; what ends without an arrow ends the rule
    a{count<=3, +1}  where the rule's count is at most 3, which is one more afterwards; see guards in rules.py
    new(a)         a value of `a` that is not in the rule's set; `new_plain`, `new_open` are the kinds of rules.py;
                   again(a): one that is in it
    []             no text: nothing is derived from here on
    late(a::3)     to a state that is written when a run first gets there
    <#/items>      a rule whose name is no plain word; the second of a name is <#/items>~2

Lexemes are written as in llmask/regex/notation.py, or as the author of a grammar called them; these are listed
below the rules. An item is the line that its state is in, with a dot: `#.1: (INTEGER | "null") • ("," -> 1 | "]")`.

In: a network, the texts of its lexemes. Out: text. Cost: about 30 us an edge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from llmask.grammar import kinds

MOST_COLUMNS = 100  # longer lines have an alternative a line
MOST_INLINE = 4  # alternatives that stand in parentheses
PLAIN_NAME = re.compile(r"[\w#$@%][\w#$@%.:/~^-]*")
CALL_WORDS = {
    kinds.CALL_NEW: "new",
    kinds.CALL_PLAIN: "new_plain",
    kinds.CALL_OPEN: "new_open",
    kinds.CALL_AGAIN: "again",
}
DOT = "•"
NOTHING = "[]"

FREE = (kinds.COUNT, 0, kinds.UNBOUNDED, 0, kinds.UNBOUNDED)


class Edge(NamedTuple):
    """An edge, its guard written out.

    kind, symbol, target  as in rules.py; a late skip leads to None where nothing is written yet
    guard                 see `guard_text`
    priority, is_bare     see `Rules.scan`
    """

    kind: int
    symbol: int
    target: int | None
    guard: str = ""
    priority: int = 0
    is_bare: bool = False


class Network(NamedTuple):
    """What is printed: that of `Rules`, or the tables that a kernel reads (llmask/debug.py).

    names   of the rules
    starts  start state of each rule
    states  the states of each rule
    edges   by state
    finals  by state where a rule may end, the guard there
    lexeme  the text of a lexeme, the symbol of edges that scan
    late    the text of a late skip's symbol
    """

    names: Sequence[str]
    starts: Sequence[int]
    states: Sequence[Sequence[int]]
    edges: Mapping[int, Sequence[Edge]]
    finals: Mapping[int, str]
    lexeme: Callable[[int], str]
    late: Callable[[int], str]


class Alternative(NamedTuple):
    """One way on from the state of a line: symbols, each with the state before it, and how it goes on or ends."""

    steps: tuple[tuple[int, str], ...]
    last: int | None
    tail: str

    def text(self) -> str:
        """How it is written."""
        return " ".join(part for part in (*(symbol for _, symbol in self.steps), self.tail) if part) or '""'


def guard_text(row: Sequence[int], members: Callable[[int], list[int]], name: Callable[[int], str]) -> str:
    """A guard in braces, "" for none: see guards in rules.py."""
    kind, one, two, three, four = row
    if kind == kinds.COUNT:
        if tuple(row) == FREE:
            return ""
        bounds = _between("count", one, two)
        more = f"+{three}" + (f" up to {four}" if four != kinds.UNBOUNDED else "") if three else ""
        return "{" + ", ".join(part for part in (bounds, more) if part) + "}"
    if kind == kinds.ADD:
        parts = ["another" if one == kinds.ANOTHER else f"add {one}"]
        if two != kinds.UNBOUNDED:
            required = members(three)
            parts.append(f"size<={two}" + (f" with {' '.join(map(str, required))}" if required else ""))
        if one == kinds.ANOTHER and four != kinds.UNBOUNDED:
            parts.append(f"up to {four}")
        return "{" + ", ".join(parts) + "}"
    if kind == kinds.FOLLOW:
        return "{known values are followed}"
    if kind == kinds.MORE:
        return "{another one may come}"
    parts = [_between("size", one, two)]
    required = members(three)
    parts += [f"has {' '.join(map(str, required))}"] if required else []
    parts += [f"another {name(four - 1)} is left"] if four else []
    return "{" + ", ".join(part for part in parts if part) + "}"


def _between(what: str, low: int, high: int) -> str:
    if low == high:
        return f"{what}=={low}"
    below = f"<={high}" if high != kinds.UNBOUNDED else ""
    if low > 0:
        return f"{low}<={what}{below}"
    return f"{what}{below}" if below else ""


def rule_names(names: Sequence[str]) -> list[str]:
    """The names of rules, each different from all others."""
    found: list[str] = []
    used: set[str] = set()
    for name in names:
        plain = name if PLAIN_NAME.fullmatch(name) else f"<{name}>"
        other, number = plain, 1
        while other in used:
            number += 1
            other = f"{plain}~{number}"
        used.add(other)
        found.append(other)
    return found


class RuleText:
    """The lines of a network's rules, and where each state is in them."""

    def __init__(self, network: Network) -> None:
        self.network = network._replace(lexeme=cache(network.lexeme))
        self.names = rule_names(network.names)
        self._labels: dict[int, str] = {}  # states with a line of their own: "" for the start of a rule
        self._rule_of = {state: rule for rule, states in enumerate(network.states) for state in states}
        self._lines: dict[int, list[Alternative]] = {}
        self._place: dict[int, tuple[int, int, int]] = {}  # a state within a line: its head, alternative and step
        self._heads_of: dict[int, list[int]] = {}  # by rule, the states with a line of their own, the start first

    def rule(self, rule: int) -> str:
        """A rule: its line, and one for each state that has one."""
        lines = []
        for state in self._heads(rule):
            label = self._labels[state]
            head = f"  {label}: " if label else f"{self.names[rule]}: "
            texts = [alternative.text() for alternative in self._lines[state]] or [NOTHING]
            line = head + " | ".join(texts)
            if len(line) > MOST_COLUMNS and len(texts) > 1:
                line = head + f"\n{' ' * (len(head) - 2 if label else 2)}| ".join(texts)
            lines.append(line)
        return "\n".join(lines)

    def item(self, state: int) -> str:
        """The line of a state with a dot where the state is."""
        rule = self._rule_of[state]
        self._heads(rule)
        head, number, step = self._place.get(state, (state, -1, 0))
        if head not in self._labels:  # ends of rules have no place
            return f"{self.names[rule]}: ... {DOT}"
        label = self._labels[head]
        name = f"{self.names[rule]}.{label}" if label else self.names[rule]
        if number < 0:
            return f"{name}: {DOT} " + " | ".join([one.text() for one in self._lines[head]] or [NOTHING])
        alternative = self._lines[head][number]
        symbols = [symbol for _, symbol in alternative.steps]
        before, after = symbols[:step], symbols[step:]
        return f"{name}: " + " ".join(part for part in (*before, DOT, *after, alternative.tail) if part)

    def state(self, state: int) -> str:
        """Short name of a state: that of its rule, with its number where it has a line of its own."""
        rule = self._rule_of[state]
        self._heads(rule)
        label = self._labels.get(state, f"state {state}")
        return f"{self.names[rule]}.{label}" if label else self.names[rule]

    def _heads(self, rule: int) -> list[int]:
        """States of a rule that have a line of their own, the start first; their lines are made."""
        found = self._heads_of.get(rule)
        if found is not None:
            return found
        start = self.network.starts[rule]
        reached = self._reached(rule)
        sources: dict[int, int] = {start: 2}
        named = {start}  # what late skips lead to has a line, to tell it from what is not written yet
        for state in reached:
            for target, edges in self._groups(state):
                sources[target] = sources.get(target, 0) + 1
                named |= {target for edge in edges if edge.kind == kinds.SKIP_LATE}
        heads = [
            state
            for state in reached
            if state in named or not (self._ends(state) or (sources[state] == 1 and self._is_inline(state, sources)))
        ]
        self._labels.update((state, str(number) if number else "") for number, state in enumerate(heads))
        for state in heads:
            self._write(state)
        self._heads_of[rule] = heads
        return heads

    def _reached(self, rule: int) -> list[int]:
        """States of a rule that its start leads to, in the order in which a reader meets them."""
        start = self.network.starts[rule]
        found: dict[int, None] = {}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if state in found:
                continue
            found[state] = None
            new = [target for target, _ in self._groups(state) if target not in found]
            waiting += reversed(new)
        return list(found)

    def _groups(self, state: int) -> Iterator[tuple[int, list[Edge]]]:
        """The edges of a state by the state they lead to."""
        groups: dict[int, list[Edge]] = {}
        for edge in self.network.edges.get(state, ()):
            if edge.target is not None:
                groups.setdefault(edge.target, []).append(edge)
        yield from groups.items()

    def _ends(self, state: int) -> bool:
        """Whether the rule ends in a state, and nothing leads on."""
        return state in self.network.finals and not self.network.edges.get(state)

    def _is_inline(self, state: int, sources: Mapping[int, int]) -> bool:
        """Whether what leads on from a state is written where the state is reached: one way, or a small choice."""
        groups = list(self._groups(state))
        is_final = state in self.network.finals
        if any(edge.target is None for edge in self.network.edges.get(state, ())):
            return False
        if len(groups) == 1 and not is_final:
            return groups[0][0] != state
        return len(groups) + is_final <= MOST_INLINE and all(
            self._ends(target) or sources[target] > 1 for target, _ in groups
        )

    def _write(self, head: int) -> None:
        self._lines[head] = list(self._alternatives(head))
        for number, alternative in enumerate(self._lines[head]):
            for step, (state, _) in enumerate(alternative.steps):
                if step > 0:
                    self._place[state] = head, number, step
            if alternative.last is not None:
                self._place[alternative.last] = head, number, len(alternative.steps)

    def _alternatives(self, head: int) -> Iterator[Alternative]:
        for target, edges in self._groups(head):
            is_long = target in self._labels and len(self._symbols(edges)) > MOST_COLUMNS
            if is_long or (
                self._ends(target) and target not in self._labels
            ):  # a choice that is all there is needs no parentheses
                tail = self._tail(target)
                yield from (Alternative(((head, self._symbol(edge)),), None, tail) for edge in edges)
                continue
            steps = [(head, self._symbols(edges))]
            state = target
            while state not in self._labels and not self._ends(state):
                groups = list(self._groups(state))
                if len(groups) != 1 or state in self.network.finals:
                    break
                steps.append((state, self._symbols(groups[0][1])))
                state = groups[0][0]
            if state in self._labels or self._ends(state):
                yield Alternative(tuple(steps), None, self._tail(state))
            else:
                choices = [
                    Alternative(((state, self._symbols(edges)),), None, self._tail(target)).text()
                    for target, edges in self._groups(state)
                ]
                choices += self._end_of(state)
                yield Alternative(tuple(steps), state, f"({' | '.join(choices)})" if choices else NOTHING)
        for edge in self.network.edges.get(head, ()):
            if edge.target is None:
                yield Alternative(((head, self._symbol(edge)),), None, "")
        for text in self._end_of(head):
            yield Alternative((), None, text)

    def _end_of(self, state: int) -> list[str]:
        """The alternative that the rule ends in a state."""
        return [f'""{self.network.finals[state]}'] if state in self.network.finals else []

    def _tail(self, state: int) -> str:
        if state in self._labels:
            return f"-> {self._labels[state] or self.names[self._rule_of[state]]}"
        guard = self.network.finals[state]
        return f'""{guard}' if guard else ""

    def _symbols(self, edges: Sequence[Edge]) -> str:
        texts = [self._symbol(edge) for edge in edges]
        return texts[0] if len(texts) == 1 else "(" + " | ".join(text or '""' for text in texts) + ")"

    def _symbol(self, edge: Edge) -> str:
        said = [edge.guard[1:-1]] if edge.guard else []
        said += [f"priority {edge.priority}"] if edge.priority else []
        said += ["nothing ignored before"] if edge.is_bare else []
        text = ""
        if edge.kind == kinds.SCAN:
            text = self.network.lexeme(edge.symbol)
        elif edge.kind == kinds.CALL:
            text = self.names[edge.symbol]
        elif edge.kind in CALL_WORDS:
            text = f"{CALL_WORDS[edge.kind]}({self.names[edge.symbol]})"
        elif edge.kind == kinds.SKIP_LATE:
            text = f"late({self.network.late(edge.symbol)})"
        return text + ("{" + ", ".join(said) + "}" if said else "")
