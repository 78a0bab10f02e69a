r"""A lexeme byte by byte: its automaton as rules over lexemes of one byte.

    "if"        "i" "f"
    /a*b/       rule: "a" rule | "b"

States with one way on are written in a row, others are rules; a rule that ends with itself is a loop (tails.py).

In: a node. Out: an expression, and rules. Cost: 256 derivatives a state, about 0.3 ms; MOST_STATES bounds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import LimitExceeded
from llmask.grammar.expressions import EMPTY, Expression, Lexeme, Reference, choice, sequence

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

MOST_STATES = 1000


class Spelled(NamedTuple):
    """A lexeme byte by byte; it may be the empty string. Names of rules have blanks, which those of frontends do not.

    Raises
    ------
    LimitExceeded : the automaton has too many states.
    """

    start: Expression
    rules: dict[str, Expression]


def spelled(nodes: RegexNodes, node: int) -> Spelled:
    """What a node matches, byte by byte.

    Raises
    ------
    LimitExceeded : its automaton has more than MOST_STATES states.
    """
    key = (__name__, node)
    found: Spelled | None = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _spell(nodes, node)
    return found


def _spell(nodes: RegexNodes, root: int) -> Spelled:
    ways: dict[int, dict[int, int]] = {}  # for each state, the bytes that lead to each next one
    entered = {root: 2}  # how many states lead to each, two at least for those that become rules
    waiting = [root]
    while waiting:
        node = waiting.pop()
        ways[node] = _ways(nodes, node)
        for target in ways[node]:
            entered[target] = entered.get(target, 0) + 1
            if entered[target] == 1:
                waiting.append(target)
        if len(entered) > MOST_STATES:
            raise LimitExceeded(
                f"a lexeme that may be mistaken for another one has more than {MOST_STATES} states",
                help="shorten its repetitions, or keep the two apart by a separator",
            )
    names = {
        node: f"{root} {number}"
        for number, node in enumerate(ways)
        if (entered[node] > 1 or len(ways[node]) != 1 or nodes.is_nullable(node))
        and (node != root or entered[root] > 2)
    }
    rules = {name: _expression(nodes, ways, names, node) for node, name in names.items() if ways[node]}
    return Spelled(Reference(names[root]) if root in names else _expression(nodes, ways, names, root), rules)


def _ways(nodes: RegexNodes, node: int) -> dict[int, int]:
    found: dict[int, int] = {}
    first = nodes.first_bytes(node)
    for byte in range(256):
        if first >> byte & 1:
            target = nodes.derivative(node, byte)
            if not nodes.is_empty(target):
                found[target] = found.get(target, 0) | 1 << byte
    return found


def _expression(nodes: RegexNodes, ways: dict[int, dict[int, int]], names: dict[int, str], node: int) -> Expression:
    """What a state matches, with the names of states that have one."""
    options: list[Expression] = [EMPTY] if nodes.is_nullable(node) else []
    for target, mask in ways[node].items():
        row: list[Expression] = [_one_byte(nodes, mask)]
        here = target
        while here not in names:
            ((target_of_here, mask),) = ways[here].items()
            row.append(_one_byte(nodes, mask))
            here = target_of_here
        if ways[here]:  # else nothing is left
            row.append(Reference(names[here]))
        options.append(sequence(row))
    return choice(options) if options else EMPTY


def _one_byte(nodes: RegexNodes, mask: int) -> Lexeme:
    return Lexeme(nodes.byte_set(mask), f"{mask:x}")
