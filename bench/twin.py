"""Masks made slowly and from the definition, for engines to be compared with.

    token t is allowed after p   iff   the lexer and the parser can take p + bytes(t)
    end of sequence is allowed   iff   p is a document

Regular expressions, lexer and parser are the plain-Python engine in `tests/reference/engine`; only the frontend, which
turns a schema or pattern into `Rules`, is the package's own. Nothing compiled takes part. Every configuration gets a
number and every step from it is remembered, so that a token costs a look-up a byte; tokens are walked in the order of a
trie that is nothing but the sorted list of their bytes.

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
from tests.reference.engine.mask import Configuration, Engine
from tests.reference.engine.regex import Regex
from tests.reference.regex_nodes import RegexNodes

MAX_NODES = 100_000  # regular expressions of one grammar: a length and a pattern together can have millions


class TooLarge(Exception):
    """The grammar is beyond the twin's patience."""


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
        nodes = RegexNodes()
        self._most_nodes = len(Regex.known) + MAX_NODES
        self.engine = Engine(rules_of(nodes, grammar, kind, whitespace), nodes.expressions)
        self.trie = trie
        self._numbers: dict[Configuration | None, int] = {}
        self._places: list[Configuration | None] = []
        self._steps: list[dict[int, int]] = []
        self.start = self._number(self.engine.start())

    def _number(self, at: Configuration | None) -> int:
        if len(Regex.known) > self._most_nodes:
            raise TooLarge
        if at not in self._numbers:
            self._numbers[at] = len(self._places)
            self._places.append(at)
            self._steps.append({})
        return self._numbers[at]

    def step(self, number: int, byte: int) -> int:
        """Number of the configuration after one more byte."""
        steps = self._steps[number]
        if byte not in steps:
            at = self._places[number]
            steps[byte] = self._number(at and self.engine.step(at, byte))
        return steps[byte]

    def is_dead(self, number: int) -> bool:
        return self._places[number] is None

    def after(self, number: int, data: bytes) -> int:
        """Number of the configuration after `data`."""
        for byte in data:
            number = self.step(number, byte)
        return number

    def words(self, number: int) -> np.ndarray:
        """The mask of the configuration `number`: int32[ceil(n_vocab / 32)]."""
        trie, steps, dead = self.trie, self._steps, self._number(None)
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
        at = self._places[number]
        if at is not None and self.engine.may_end(at):
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
