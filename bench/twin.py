"""Masks made slowly and from the definition, for engines to be compared with.

    token t is allowed after p   iff   the lexer and the parser can take p + bytes(t)
    end of sequence is allowed   iff   p is a document

Regular expressions, lexer and parser are the plain-Python twins in `tests/reference`; only the frontend, which turns a
schema or pattern into `Rules`, is the package's own. Nothing compiled takes part. Every place of the twin gets a number
and every step from it is remembered, so that a token costs a look-up a byte; tokens are walked in the order of a trie
that is nothing but the sorted list of their bytes.

In: `Rules` over twin nodes, a vocabulary, token ids. Out: masks as int32 words. Cost: a quarter of a second a mask of
128,256 tokens, and seconds where the lexer has many states.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.vocabularies import Vocabulary
from llmask.frontends.json_schema import SchemaOptions, compile_schema
from llmask.frontends.regex import compile_pattern
from llmask.grammar.rules import Rules
from tests.reference.earley_twin import EarleyTwin, Place
from tests.reference.regex_nodes import RegexNodes

MAX_NODES = 100_000  # regular expressions of one grammar: a length and a pattern together can have millions


class TooLarge(Exception):
    """The grammar is beyond the twin's patience."""


class _BoundedNodes(RegexNodes):
    """The twin of the regular expressions, which gives up at some size."""

    def _node(self, parts: tuple[Any, ...], is_nullable: bool) -> int:
        if len(self.parts) > MAX_NODES:
            raise TooLarge
        return super()._node(parts, is_nullable)


class _Remembering(EarleyTwin):
    """The twin with its answers kept; what it answers is unchanged."""

    def __init__(self, rules: Rules, nodes: Any) -> None:
        super().__init__(rules, nodes)
        self._kept_ends: dict[Place, list[Place]] = {}
        self._kept_expected: dict[frozenset[Any], set[int]] = {}

    def _ended(self, place: Place) -> list[Place]:
        if place not in self._kept_ends:
            self._kept_ends[place] = super()._ended(place)
        return self._kept_ends[place]

    def _expected(self, row: frozenset[Any]) -> set[int]:
        if row not in self._kept_expected:
            self._kept_expected[row] = super()._expected(row)
        return set(self._kept_expected[row])


class TwinMasks:
    """Masks of one grammar.

    Parameters
    ----------
    grammar, kind, whitespace : as `bench.engines.base.Engine.compile` takes them.
    trie : the vocabulary's `TokenOrder`.

    Raises
    ------
    TooLarge : when the regular expressions become too many, here or later.
    LlmaskError : the frontend refuses the grammar.
    """

    def __init__(self, grammar: Any, kind: str, whitespace: str, trie: TokenOrder) -> None:
        nodes = _BoundedNodes()
        self.twin = _Remembering(rules_of(nodes, grammar, kind, whitespace), nodes)
        self.trie = trie
        self._numbers: dict[tuple[Place, ...], int] = {}
        self._places: list[tuple[Place, ...]] = []
        self._steps: list[dict[int, int]] = []
        self.start = self._number(self.twin.start())

    def _number(self, places: list[Place]) -> int:
        key = tuple(places)
        if key not in self._numbers:
            self._numbers[key] = len(self._places)
            self._places.append(key)
            self._steps.append({})
        return self._numbers[key]

    def step(self, number: int, byte: int) -> int:
        """Number of the places after one more byte."""
        steps = self._steps[number]
        if byte not in steps:
            steps[byte] = self._number(self.twin.step(list(self._places[number]), byte))
        return steps[byte]

    def is_dead(self, number: int) -> bool:
        return not self._places[number]

    def after(self, number: int, data: bytes) -> int:
        """Number of the places after `data`."""
        for byte in data:
            number = self.step(number, byte)
        return number

    def words(self, number: int) -> np.ndarray:
        """The mask of the places `number`: int32[ceil(n_vocab / 32)]."""
        trie, steps, dead = self.trie, self._steps, self._number([])
        allowed: list[int] = []
        at_depth = [number] * (trie.max_depth + 1)
        node, n_nodes = 0, len(trie.byte)
        while node < n_nodes:
            depth, byte = trie.depth[node], trie.byte[node]
            before = at_depth[depth - 1]
            after = steps[before].get(byte)
            if after is None:
                after = self.step(before, byte)
            if after == dead:
                node = trie.end[node]
                continue
            at_depth[depth] = after
            allowed += trie.ids[node]
            node += 1
        if self.twin.may_end(list(self._places[number])):
            allowed += trie.vocabulary.eos_ids
        bits = np.zeros((len(trie.vocabulary.tokens) + 31) // 32 * 32, np.uint8)
        bits[allowed] = 1
        return np.packbits(bits, bitorder="little").view(np.int32)


class TokenOrder:
    """All prefixes of all tokens in sorted order, as plain lists.

    byte, depth   last byte and length of each prefix
    ids           the tokens that end there
    end           the first prefix after it that does not start with it
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        special = set(vocabulary.special_ids)
        ids: dict[bytes, list[int]] = {}
        for token, data in enumerate(vocabulary.tokens):
            if data and token not in special:
                ids.setdefault(data, []).append(token)
        prefixes = sorted({data[:n] for data in ids for n in range(1, len(data) + 1)})
        self.byte = [prefix[-1] for prefix in prefixes]
        self.depth = [len(prefix) for prefix in prefixes]
        self.ids = [ids.get(prefix, []) for prefix in prefixes]
        self.max_depth = max(self.depth)
        self.end = [0] * len(prefixes)
        open_nodes: list[int] = []
        for node, depth in enumerate([*self.depth, 0]):
            while open_nodes and self.depth[open_nodes[-1]] >= depth:
                self.end[open_nodes.pop()] = node
            open_nodes.append(node)


def rules_of(nodes: Any, grammar: Any, kind: str, whitespace: str) -> Rules:
    """The package's frontend on the twin's nodes."""
    if kind == "schema":
        return compile_schema(nodes, grammar, SchemaOptions(whitespace=whitespace)).rules
    if kind == "regex":
        node = compile_pattern(nodes, grammar)
    else:
        node = nodes.union([nodes.literal(text.encode()) for text in grammar])
    rules = Rules()
    start = rules.start_state(rules.rule("start"))
    end = rules.state(rules.start)
    rules.scan(start, nodes.intersect([node, nodes.complement(nodes.EPSILON)]), end)
    rules.final(end)
    if nodes.is_nullable(node):
        rules.final(start)
    return rules
