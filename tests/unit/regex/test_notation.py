"""Expressions as text: exactly these, and texts that mean what the nodes match."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.regex import compile_pattern
from llmask.store.store import Store

ALPHABET = b"ab.\\\n\xc3"


PATTERNS = {
    "if": '"if"',
    'say "hi"': "'say \"hi\"'",
    'it\'s "so"': '"it\'s \\"so\\""',
    "\\n\\t\\\\": r'"\n\t\\"',
    "é": '"é"',
    "[0-9]+": "/[0-9]+/",
    "[^x]*": "/[^x]*/",
    "[a-cé]": "/[a-cé]/",
    "(?:ab|cd){2,5}e?": "/(?:ab|cd){2,5}e?/",
    "(ab)*": "/(?:ab)*/",
    "a/b|c": r"/c|a\/b/",
    "a.": "/a[^\\n]/",
    "x{3}": "/x{3}/",
    "": "/(?:)/",
    "(?!x)[a-z]+": "/(?:[a-z]+&~(?:x(?s:.*)))/",
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(store: Store, pattern: str) -> None:
    assert store.nodes.text(compile_pattern(store.nodes, pattern)) == PATTERNS[pattern]


def test_what_is_no_pattern(store: Store) -> None:
    nodes = store.nodes
    assert nodes.text(nodes.EMPTY) == "/[]/"
    assert nodes.text(nodes.ALL) == "/(?s:.*)/"
    assert nodes.text(nodes.tokens([(3, 3), (10, 12)], True)) == "<tokens 3,10-12>"
    assert nodes.text(nodes.lazy(nodes.literal(b"<>"))) == r"/\<\><lazy>/"
    assert nodes.text(nodes.byte_set(1 << 0xFF | 1 << 0x61)) == r"/[a\xff]/"
    assert nodes.text(nodes.literal(b"\xff")) == r'"\xff"'


def test_names_stand_for_what_they_name(store: Store) -> None:
    nodes = store.nodes
    digits = nodes.name(nodes.repeat(nodes.byte_set(3 << 0x36), 2, 9), "DIGITS")
    assert nodes.name(digits, "OTHER") == digits
    assert nodes.text(digits) == "DIGITS"
    assert nodes.text(nodes.concat([nodes.literal(b"#"), digits])) == "/#<DIGITS>/"
    nodes.name(nodes.literal(b"lit"), "LITERAL")
    assert nodes.text(nodes.literal(b"lit")) == '"lit"'


def test_long_texts_are_cut_and_say_which_node_it_is(store: Store) -> None:
    node = compile_pattern(store.nodes, "|".join(f"word{number}" for number in range(500)))
    text = store.nodes.text(node)
    assert text.startswith("/word")
    assert text.endswith(f".../ (node {node})")
    assert len(text) < 160
    deep = store.nodes.literal(b"a")
    for _ in range(2000):
        deep = store.nodes.repeat(store.nodes.concat([deep, store.nodes.literal(b"b")]), 2, 3)
    assert store.nodes.text(deep).count("(?:") < 100


def drawn(nodes: Any, rng: random.Random, size: int) -> int:
    """A random node over bytes, without complements and intersections, which Python's `re` does not know."""
    if size <= 1:
        if rng.random() < 0.5:
            return int(nodes.literal(bytes(rng.choices(ALPHABET, k=rng.randint(1, 3)))))
        members = sum(1 << byte for byte in rng.sample(ALPHABET, rng.randint(1, 4)))
        return int(nodes.byte_set(members if rng.random() < 0.7 else 2**256 - 1 & ~members))
    kind = rng.choice(("concat", "union", "repeat"))
    if kind == "repeat":
        low = rng.randint(0, 2)
        return int(nodes.repeat(drawn(nodes, rng, size - 1), low, rng.choice((None, low + rng.randint(0, 2)))))
    left = rng.randint(1, size - 1)
    parts = [drawn(nodes, rng, left), drawn(nodes, rng, size - left)]
    return int(nodes.concat(parts) if kind == "concat" else nodes.union(parts))


def test_the_text_is_read_by_re_as_what_it_means(
    store: Store, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_matched = 0
    for _ in range(scaled(300)):
        node = drawn(store.nodes, rng, rng.randint(1, 6))
        text = store.nodes.text(node)
        if text.endswith(")"):
            continue  # cut
        inner = text[1:-1] if text[0] == "/" else re.escape(text[1:-1].encode().decode("unicode_escape"))
        pattern = re.compile(inner.encode("latin-1"), re.DOTALL)
        for _ in range(30):
            data = bytes(rng.choices(ALPHABET + b"c", k=rng.randint(0, 5)))
            is_matched = store.nodes.matches(node, data)
            n_matched += is_matched
            assert (pattern.fullmatch(data) is not None) == is_matched, (text, data)
    assert n_matched > 100
