"""Regular expressions over bytes as hash-consed nodes: the plain-Python twin of `llmask.regex.nodes.RegexNodes`.

Written from the definition: the derivative of a language L by a byte b is { w : b w in L }, and a string belongs to L
when the language left after all its bytes contains the empty string. Equal expressions get equal ids. Unions and
intersections are kept as sorted sets (associative, commutative, idempotent), which is what makes the derivatives of
every expression finitely many, and so emptiness decidable by trying them all.
Source: J. A. Brzozowski, "Derivatives of Regular Expressions", JACM 11 (1964), theorems 3.1, 4.1 and 5.2;
S. Owens, J. Reppy, A. Turon, "Regular-expression derivatives re-examined", JFP 19 (2009), section 4.2 (byte classes).

In: the same calls as the compiled nodes. Out: node ids. Cost: no care is taken; it is an oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import reduce
from typing import Any

BYTES, CONCAT, UNION, INTERSECT, COMPLEMENT, REPEAT, DFA = range(3, 10)
EVERY_BYTE = 2**256 - 1


class RegexNodes:
    """All expressions made so far.

    Attributes
    ----------
    parts : what each node is: a kind followed by its parts. The first three are EMPTY, EPSILON and ALL; then
        (BYTES, mask), (CONCAT, head, tail), (UNION, ids), (INTERSECT, ids), (COMPLEMENT, id),
        (REPEAT, id, low, high or None), (DFA, automaton, state).
    nullable : whether each node accepts the empty string.
    memo : a place for frontends to remember what they built.
    variant_key : what the memo is about, see `variant`.
    """

    EMPTY = 0
    EPSILON = 1
    ALL = 2

    def __init__(self) -> None:
        self.parts: list[tuple[Any, ...]] = [(self.EMPTY,), (self.EPSILON,), (self.ALL,)]
        self.nullable: list[bool] = [False, True, True]
        self.memo: dict[Any, Any] = {}
        self.variant_key: Any = None
        self._ids: dict[tuple[Any, ...], int] = {}
        self._automata: list[tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[bool, ...]]] = []
        self._derivatives: dict[tuple[int, int], int] = {}
        self._classes: dict[int, list[int]] = {}
        self._emptiness: dict[int, bool] = {0: True, 1: False, 2: False}

    @property
    def n_nodes(self) -> int:
        return len(self.parts)

    def remembered(self, key: Any) -> dict[Any, Any]:
        """A part of the memo."""
        found: dict[Any, Any] = self.memo.setdefault(key, {})
        return found

    def variant(self, key: Any) -> RegexNodes:
        """The same nodes with another memo."""
        other = copy(self)
        other.memo = self.remembered(("variant", key))
        other.variant_key = key
        return other

    # --- building

    def byte_set(self, mask: int) -> int:
        """One byte; bit b of `mask` allows byte b."""
        return self._node((BYTES, mask), False) if mask else self.EMPTY

    def literal(self, data: bytes) -> int:
        return self.concat([self.byte_set(1 << byte) for byte in data])

    def words(self, words: Iterable[bytes]) -> int:
        """Any of `words`."""
        return self.union([self.literal(word) for word in words])

    def concat(self, ids: Sequence[int]) -> int:
        return reduce(lambda tail, head: self._concat(head, tail), reversed(ids), self.EPSILON)

    def union(self, ids: Iterable[int]) -> int:
        members = self._flat(UNION, ids) - {self.EMPTY}
        if self.ALL in members:
            return self.ALL
        members = self._merge_byte_sets(members, lambda one, other: one | other)
        if any(self.nullable[member] for member in members - {self.EPSILON}):
            members -= {self.EPSILON}
        if any(self.complement(member) in members for member in members):
            return self.ALL
        return self._set(UNION, members, self.EMPTY, any(self.nullable[member] for member in members))

    def intersect(self, ids: Iterable[int]) -> int:
        members = self._flat(INTERSECT, ids) - {self.ALL}
        is_nullable = all(self.nullable[member] for member in members)
        if self.EPSILON in members:
            return self.EPSILON if is_nullable else self.EMPTY
        members = self._merge_byte_sets(members, lambda one, other: one & other)
        if self.EMPTY in members or any(self.complement(member) in members for member in members):
            return self.EMPTY
        return self._set(INTERSECT, members, self.ALL, is_nullable)

    def complement(self, node: int) -> int:
        """Every byte string that `node` does not accept."""
        if node in (self.EMPTY, self.ALL):
            return self.ALL if node == self.EMPTY else self.EMPTY
        if self.parts[node][0] == COMPLEMENT:
            return self.parts[node][1]
        return self._node((COMPLEMENT, node), not self.nullable[node])

    def without(self, node: int, others: Iterable[int]) -> int:
        """What `node` accepts and none of `others`."""
        return self.intersect([node, self.complement(self.union(others))])

    def name(self, node: int, name: str) -> int:
        """Nothing is printed here."""
        return node

    def mark_character(self, node: int) -> None:
        """See the real one; nothing here is counted."""

    def name_characters(self, node: int, members: Any) -> None:
        """Nothing is printed here."""

    def mark_units(self, node: int, are_all: bool) -> None:
        """Nothing follows from it here."""

    def repeat(self, node: int, low: int, high: int | None = None) -> int:
        """`low` to `high` times; None means without end."""
        if low < 0 or (high is not None and high < low):
            raise ValueError(f"cannot repeat {low} to {high} times")
        if high == 0 or node == self.EPSILON or (node == self.EMPTY and low == 0):
            return self.EPSILON
        if self.nullable[node]:
            low = 0
        if node in (self.EMPTY, self.ALL) or (low, high) == (1, 1):
            return node
        if (low, high) == (0, None) and self.parts[node] == (BYTES, EVERY_BYTE):
            return self.ALL
        if self.parts[node][0] == REPEAT and self.parts[node][2:] == (0, None):
            return node
        return self._node((REPEAT, node, low, high), low == 0)

    def dfa(self, class_of_byte: Any, next_state: Any, accepting: Any) -> int:
        """A finite automaton that starts in state 0; -1 is the dead state."""
        rows = tuple(tuple(int(state) for state in row) for row in next_state)
        automaton = (tuple(int(c) for c in class_of_byte), rows, tuple(bool(final) for final in accepting))
        if automaton not in self._automata:
            self._automata.append(automaton)
        return self._state(self._automata.index(automaton), 0)

    # --- asking

    def is_nullable(self, node: int) -> bool:
        return self.nullable[node]

    def is_empty(self, node: int) -> bool:
        """Whether no string at all is accepted: no derivative by any string is nullable."""
        if node not in self._emptiness:
            seen, waiting = {node}, [node]
            while waiting and not self.nullable[waiting[-1]] and self._emptiness.get(waiting[-1], True):
                state = waiting.pop()
                successors = {self.derivative(state, lowest_bit(mask)) for mask in self.byte_classes(state)}
                waiting += sorted(successors - seen)
                seen |= successors
            if waiting:
                self._emptiness[node] = False
            else:
                self._emptiness.update(dict.fromkeys(seen, True))
        return self._emptiness[node]

    def is_open(self, node: int) -> bool:
        """Whether every beginning that leads on leads on without end."""
        live: dict[int, set[int]] = {}
        waiting = [node]
        while waiting:
            state = waiting.pop()
            if state not in live:
                targets = {self.derivative(state, byte) for byte in range(256)}
                live[state] = {target for target in targets if not self.is_empty(target)}
                waiting += live[state]
        endless = {state for state in live if live[state]}
        while any(not live[state] & endless for state in endless):  # take out what ends after so many steps
            endless = {state for state in endless if live[state] & endless}
        return node in endless and all(state in endless for state in live if live[state])

    def extensions(self, one: int, other: int) -> tuple[int, bool]:
        """Bytes by which a string of `one` goes on to a string of `other`, and whether some string is in both."""
        found, may_both_end = 0, False
        waiting = [(self.derivative(one, byte), self.derivative(other, byte)) for byte in range(256)]
        seen: set[tuple[int, int]] = set()
        while waiting:
            left, right = waiting.pop()
            if (left, right) in seen or self.is_empty(left) or self.is_empty(right):
                continue
            seen.add((left, right))
            if self.nullable[left]:
                may_both_end |= self.nullable[right]
                found |= sum(1 << byte for byte in range(256) if not self.is_empty(self.derivative(right, byte)))
            waiting += [(self.derivative(left, byte), self.derivative(right, byte)) for byte in range(256)]
        return found, may_both_end

    def names_tokens(self, node: int) -> bool:
        """No grammar over these nodes names tokens."""
        del node
        return False

    def is_lazy(self, node: int) -> bool:
        """There are no lazy expressions here."""
        return False

    def put_extensions_of_words(self, node: int, words: Iterable[bytes]) -> None:
        """Nothing is remembered here."""

    def first_bytes(self, node: int) -> int:
        """Bytes that a string may begin with."""
        return sum(1 << byte for byte in range(256) if not self.is_empty(self.derivative(node, byte)))

    def derivative(self, node: int, byte: int) -> int:
        """What may follow after `byte`."""
        key = (node, byte)
        if key not in self._derivatives:
            self._derivatives[key] = self._derivative(node, byte)
        return self._derivatives[key]

    def matches(self, node: int, data: bytes) -> bool:
        return self.nullable[reduce(self.derivative, data, node)]

    def byte_classes(self, node: int) -> list[int]:
        """Masks that part all bytes so that the derivatives by two bytes of one part are equal."""
        if node not in self._classes:
            kind, *rest = self.parts[node]
            if kind == BYTES:
                masks = [rest[0]]
            elif kind == DFA:
                of_byte = self._automata[rest[0]][0]
                masks = [sum(1 << b for b in range(256) if of_byte[b] == c) for c in set(of_byte)]
            else:
                children = rest[0] if kind in (UNION, INTERSECT) else rest[:1] if rest else []
                if kind == CONCAT and self.nullable[rest[0]]:
                    children = rest
                masks = [mask for child in children for mask in self.byte_classes(child)]
            classes = [EVERY_BYTE]
            for mask in set(masks):
                classes = [part for whole in classes for part in (whole & mask, whole & ~mask) if part]
            self._classes[node] = classes
        return self._classes[node]

    # --- inside

    def _derivative(self, node: int, byte: int) -> int:
        kind, *rest = self.parts[node]
        if kind == self.ALL:
            return self.ALL
        if kind == BYTES:
            return self.EPSILON if rest[0] >> byte & 1 else self.EMPTY
        if kind == CONCAT:
            head, tail = rest
            first = self._concat(self.derivative(head, byte), tail)
            return self.union([first, self.derivative(tail, byte)]) if self.nullable[head] else first
        if kind == UNION:
            return self.union([self.derivative(member, byte) for member in rest[0]])
        if kind == INTERSECT:
            return self.intersect([self.derivative(member, byte) for member in rest[0]])
        if kind == COMPLEMENT:
            return self.complement(self.derivative(rest[0], byte))
        if kind == REPEAT:
            body, low, high = rest
            others = self.repeat(body, max(low - 1, 0), None if high is None else high - 1)
            return self._concat(self.derivative(body, byte), others)
        if kind == DFA:
            class_of_byte, next_state, _ = self._automata[rest[0]]
            return self._state(rest[0], next_state[rest[1]][class_of_byte[byte]])
        return self.EMPTY

    def _concat(self, head: int, tail: int) -> int:
        """Chains lean to the right: (ab)c is a(bc). What must first match the empty language matches nothing."""
        if self.EMPTY in (head, tail):
            return self.EMPTY
        if head == self.EPSILON or tail == self.EPSILON:
            return tail if head == self.EPSILON else head
        heads = []
        while self.parts[head][0] == CONCAT:
            _, first, head = self.parts[head]
            heads.append(first)
        for first in [head, *reversed(heads)]:
            if first == self.ALL and (tail == self.ALL or self.parts[tail][:2] == (CONCAT, self.ALL)):
                continue
            tail = self._node((CONCAT, first, tail), self.nullable[first] and self.nullable[tail])
        return tail

    def _flat(self, kind: int, ids: Iterable[int]) -> set[int]:
        members: set[int] = set()
        for node in ids:
            members |= set(self.parts[node][1]) if self.parts[node][0] == kind else {node}
        return members

    def _merge_byte_sets(self, members: set[int], merge: Any) -> set[int]:
        masks = [self.parts[member][1] for member in members if self.parts[member][0] == BYTES]
        others = {member for member in members if self.parts[member][0] != BYTES}
        return others | {self.byte_set(reduce(merge, masks))} if masks else others

    def _set(self, kind: int, members: set[int], of_none: int, is_nullable: bool) -> int:
        if len(members) < 2:
            return members.pop() if members else of_none
        return self._node((kind, tuple(sorted(members))), is_nullable)

    def _state(self, automaton: int, state: int) -> int:
        if state < 0:
            return self.EMPTY
        _, next_state, accepting = self._automata[automaton]
        reachable, waiting = {state}, [state]
        while waiting:
            successors = set(next_state[waiting.pop()]) - reachable - {-1}
            reachable |= successors
            waiting += successors
        if not any(accepting[other] for other in reachable):
            return self.EMPTY
        return self._node((DFA, automaton, state), accepting[state])

    def _node(self, parts: tuple[Any, ...], is_nullable: bool) -> int:
        if parts not in self._ids:
            self._ids[parts] = len(self.parts)
            self.parts.append(parts)
            self.nullable.append(is_nullable)
        return self._ids[parts]


def lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
