"""Regular expressions over bytes, and their derivatives: this is kernels/regex.

    D(S, b)       = the empty string, where b is in the set S         D(not r, b) = not D(r, b)
    D(r s, b)     = D(r, b) s, or D(s, b) where r is nullable         D(r{l,h}, b) = D(r, b) r{l-1,h-1}
    D(r or s, b)  = D(r, b) or D(s, b)                                and so for `and`

J. Brzozowski, "Derivatives of regular expressions", JACM 11 (1964). Unions and intersections are sets, concatenation
leans to the right: so an expression has finitely many derivatives, and whether it matches nothing is found by looking
at them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar


class Regex:
    """A word that says what it is, and its parts. Equal expressions are one object, so comparing them is quick."""

    known: ClassVar[dict[tuple[Any, ...], Regex]] = {}
    kind: str
    parts: tuple[Any, ...]

    def __new__(cls, *said: Any) -> Regex:
        if said not in cls.known:
            made = cls.known[said] = super().__new__(cls)
            made.kind, *made.parts = said
        return cls.known[said]


@dataclass(eq=False)
class Automaton:
    """The state after another by the class of a byte, -1 where nothing follows, and whether a string may end there."""

    class_of_byte: Sequence[int]
    after: Sequence[Sequence[int]]
    ends: Sequence[bool]


EMPTY = Regex("or", frozenset())
EPSILON = Regex("epsilon")
ALL = Regex("not", EMPTY)


def byte_set(members: Iterable[int]) -> Regex:
    """One byte of some."""
    found = frozenset(members)
    return Regex("set", found) if found else EMPTY


def automaton(made: Automaton, state: int) -> Regex:
    """What leads from a state to one where a string may end."""
    return EMPTY if state < 0 else Regex("automaton", made, state)


def then(one: Regex, other: Regex) -> Regex:
    """One after the other."""
    if EMPTY in (one, other):
        return EMPTY
    if one == EPSILON:
        return other
    if one.kind == "then":
        return then(one.parts[0], then(one.parts[1], other))
    return one if other == EPSILON else Regex("then", one, other)


def either(parts: Iterable[Regex]) -> Regex:
    """Any of some."""
    members = _members("or", parts) - {EMPTY}
    if ALL in members:
        return ALL
    sets = [member.parts[0] for member in members if member.kind == "set"]
    if len(sets) > 1:
        members = {member for member in members if member.kind != "set"} | {byte_set(frozenset().union(*sets))}
    return members.pop() if len(members) == 1 else Regex("or", frozenset(members))


def both(parts: Iterable[Regex]) -> Regex:
    """All of some."""
    members = _members("and", parts) - {ALL}
    if EMPTY in members:
        return EMPTY
    if not members:
        return ALL
    return members.pop() if len(members) == 1 else Regex("and", frozenset(members))


def _members(kind: str, parts: Iterable[Regex]) -> set[Regex]:
    return {member for part in parts for member in (part.parts[0] if part.kind == kind else (part,))}


def negated(one: Regex) -> Regex:
    """Every string that is none of its own."""
    return one.parts[0] if one.kind == "not" else Regex("not", one)


def repeated(one: Regex, low: int, high: int | None) -> Regex:
    """From `low` to `high` times, None: without end."""
    if high == 0 or one in (EMPTY, EPSILON):
        return EPSILON if low == 0 or one == EPSILON else EMPTY
    if is_nullable(one):
        low = 0
    return one if (low, high) == (1, 1) else Regex("repeat", one, low, high)


@lru_cache(None)
def is_nullable(one: Regex) -> bool:
    """Whether the empty string is one of its own."""
    kind, parts = one.kind, one.parts
    if kind in ("or", "and"):
        return (any if kind == "or" else all)(map(is_nullable, parts[0]))
    if kind == "then":
        return is_nullable(parts[0]) and is_nullable(parts[1])
    if kind == "not":
        return not is_nullable(parts[0])
    if kind == "automaton":
        return parts[0].ends[parts[1]]
    return kind == "epsilon" or (kind == "repeat" and parts[1] == 0)


@lru_cache(None)
def derivative(one: Regex, byte: int) -> Regex:
    """What may follow a byte."""
    kind, parts = one.kind, one.parts
    if kind == "set":
        return EPSILON if byte in parts[0] else EMPTY
    if kind == "then":
        after = then(derivative(parts[0], byte), parts[1])
        return either([after, derivative(parts[1], byte)]) if is_nullable(parts[0]) else after
    if kind in ("or", "and"):
        return (either if kind == "or" else both)(derivative(part, byte) for part in parts[0])
    if kind == "not":
        return negated(derivative(parts[0], byte))
    if kind == "repeat":
        inner, low, high = parts
        return then(derivative(inner, byte), repeated(inner, max(low - 1, 0), None if high is None else high - 1))
    if kind == "automaton":
        made, state = parts
        return automaton(made, made.after[state][made.class_of_byte[byte]])
    return EMPTY


@lru_cache(None)
def letters(one: Regex) -> frozenset[int]:
    """A byte of each class: two bytes that no set of the expression tells apart have the same derivative."""
    sets = _sets(one)
    return frozenset({tuple(byte in members for members in sets): byte for byte in range(256)}.values())


@lru_cache(None)
def _sets(one: Regex) -> frozenset[frozenset[int]]:
    """The sets that the first byte is looked for in."""
    kind, parts = one.kind, one.parts
    if kind == "set":
        return frozenset(parts)
    if kind == "automaton":
        classes = parts[0].class_of_byte
        return frozenset(frozenset(byte for byte in range(256) if classes[byte] == one) for one in set(classes))
    if kind == "then" and not is_nullable(parts[0]):
        return _sets(parts[0])
    inner = parts[0] if kind in ("or", "and") else parts
    return frozenset().union(*(_sets(part) for part in inner if isinstance(part, Regex)))


@lru_cache(None)
def is_empty(one: Regex) -> bool:
    """Whether no string is one of its own."""
    seen, waiting = {one}, [one]
    while waiting:
        here = waiting.pop()
        if is_nullable(here):
            return False
        found = {derivative(here, byte) for byte in letters(here)} - seen
        seen |= found
        waiting += found
    return True
