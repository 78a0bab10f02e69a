"""Small worlds: all expressions up to a size, a vocabulary that cuts strings in awkward places, ways into the engine.

An expression is a nested tuple over three letters; `c` stands for every byte that is neither `a` nor `b`, since no
expression tells those apart. It can be turned into an automaton (`automata.py`), into a node of the engine or of its
twin, and, where it has neither intersection nor complement, into a pattern of Python's `re`.

In: a size. Out: expressions. Cost: the number of expressions grows tenfold with each size.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from llmask.grammar.rules import Rules
from tests.reference import automata

Expression = tuple[Any, ...]

ALPHABET = b"abc"
EVERY_BYTE = 2**256 - 1
ATOMS: tuple[Expression, ...] = (("set", b"a"), ("set", b"b"), ("set", b"ab"), ("set", b"bc"))
BOUNDS = ((0, None), (0, 1), (1, 2), (2, None))
PLAIN = ("rep", "cat", "or")
ALL_KINDS = ("rep", "cat", "or", "and", "not")

# Every letter alone, multi-byte tokens, two ids with the same bytes, an empty token, a special one whose text is legal.
TOKENS = [b"</s>", b"a", b"b", b"c", b"d", b"aa", b"ab", b"ba", b"bb", b"abc", b"aab", b"bab", b"cc", b"ab", b"", b"a"]
EOS = 0
SPECIAL = [15]


@cache
def expressions(size: int, kinds: tuple[str, ...] = ALL_KINDS) -> tuple[Expression, ...]:
    """All expressions of exactly `size` atoms and operators."""
    if size == 1:
        return ATOMS
    found: list[Expression] = []
    for inner in expressions(size - 1, kinds):
        if "rep" in kinds:
            found += [("rep", inner, low, high) for low, high in BOUNDS]
        if "not" in kinds:
            found.append(("not", inner))
    for kind in ("cat", "or", "and"):
        if kind in kinds:
            for left_size in range(1, size - 1):
                for left in expressions(left_size, kinds):
                    found += [(kind, left, right) for right in expressions(size - 1 - left_size, kinds)]
    return tuple(found)


@cache
def to_dfa(expression: Expression) -> automata.Dfa:
    """The expression's minimal automaton."""
    kind, *parts = expression
    if kind == "set":
        return automata.byte_set(ALPHABET, parts[0])
    if kind == "not":
        return automata.complement(to_dfa(parts[0]))
    if kind == "rep":
        return automata.repeat(to_dfa(parts[0]), parts[1], parts[2])
    join = {"cat": automata.concat, "or": automata.union, "and": automata.intersect}[kind]
    return join(to_dfa(parts[0]), to_dfa(parts[1]))


def to_node(nodes: Any, expression: Expression) -> int:
    """The expression as a node id of `RegexNodes`, compiled or twin."""
    kind, *parts = expression
    if kind == "set":
        mask = sum(1 << letter for letter in parts[0])
        if b"c"[0] in parts[0]:
            mask |= EVERY_BYTE & ~sum(1 << letter for letter in b"ab")
        return nodes.byte_set(mask)
    if kind == "not":
        return nodes.complement(to_node(nodes, parts[0]))
    if kind == "rep":
        return nodes.repeat(to_node(nodes, parts[0]), parts[1], parts[2])
    join = {"cat": nodes.concat, "or": nodes.union, "and": nodes.intersect}[kind]
    return join([to_node(nodes, parts[0]), to_node(nodes, parts[1])])


def to_pattern(expression: Expression) -> str:
    """The expression in Python's syntax; it must have no complement and no intersection."""
    kind, *parts = expression
    if kind == "set":
        return {b"a": "a", b"b": "b", b"ab": "[ab]", b"bc": "[^a]"}[parts[0]]
    if kind == "rep":
        suffix = {(0, None): "*", (0, 1): "?", (1, 2): "{1,2}", (2, None): "{2,}"}[parts[1], parts[2]]
        return f"(?:{to_pattern(parts[0])}){suffix}"
    left, right = to_pattern(parts[0]), to_pattern(parts[1])
    return f"{left}{right}" if kind == "cat" else f"(?:{left}|{right})"


_LETTERS = bytes(byte if byte in b"ab" else ord("c") for byte in range(256))


def letters(data: bytes) -> bytes:
    """Every byte written as the letter of its class."""
    return data.translate(_LETTERS)


def allowed_tokens(dfa: automata.Dfa, state: int) -> set[int]:
    """The mask in `state`, from the definition; TOKENS, SPECIAL and EOS are those of this module."""
    live = dfa.live_states()
    allowed = {EOS} if dfa.accepting[state] else set()
    for token, data in enumerate(TOKENS):
        if data and token != EOS and token not in SPECIAL:
            after = state
            for letter in letters(data):
                after = dfa.step[after][ALPHABET.index(letter)]
            if after in live:
                allowed.add(token)
    return allowed


def prefixes(dfa: automata.Dfa, all_to: int, each_state: int) -> Iterator[bytes]:
    """Live strings: all of at most `all_to` bytes, and at least `each_state` ways, if there are, into every state."""
    live = dfa.live_states()
    n_seen = dict.fromkeys(live, 0)
    level = [(b"", 0)] if 0 in live else []
    while level:
        following = []
        for string, state in level:
            if len(string) > all_to and n_seen[state] >= each_state:
                continue
            n_seen[state] += 1
            yield string
            for letter, target in zip(dfa.alphabet, dfa.step[state], strict=True):
                if target in live:
                    following.append((string + bytes([letter]), target))
        level = following


def rules_of_node(nodes: Any, node: int) -> Rules:
    """A grammar whose sentences are the strings of `node`; a lexeme itself never matches the empty string."""
    rules = Rules()
    rule = rules.rule("start")
    start, end = rules.start_state(rule), rules.state(rule)
    lexeme = nodes.intersect([node, nodes.complement(nodes.EPSILON)])
    if not nodes.is_empty(lexeme):
        rules.scan(start, lexeme, end)
        rules.final(end)
    if nodes.is_nullable(node):
        rules.final(start)
    return rules
