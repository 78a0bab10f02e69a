"""Lexemes that end as soon as they can, beside others, against the definition: every token followed byte by byte."""

from __future__ import annotations

from itertools import product

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.errors import TokenRejected
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.definition import read_mask

TOKENS = [bytes(text) for n in range(1, 4) for text in product(b"a<>;", repeat=n)]
EOS = len(TOKENS)


@pytest.fixture(scope="module")
def store() -> Store:
    tokenizer = llmask.Tokenizer.from_bytes([*TOKENS, b"<eos>"], eos=EOS, special=[EOS])
    return Store(tokenizer, llmask.Limits())


def free_text(store: Store, with_rest: bool) -> MadeGrammar:
    """Text up to `<>`, as short as can be, then `;` once or twice; or text without end."""
    nodes = store.nodes
    text = nodes.repeat(nodes.byte_set(sum(1 << byte for byte in b"a<>;")), 0, None)
    rules = Rules()
    start = rules.start_state(rules.rule("start"))
    after, end = rules.state(rules.start), rules.state(rules.start)
    rules.scan(start, nodes.lazy(nodes.concat([text, nodes.literal(b"<>")])), after)
    rules.scan(after, nodes.repeat(nodes.literal(b";"), 1, 2), end)
    rules.skip(end, start)
    rules.final(end)
    if with_rest:
        rules.scan(start, text, end)
        rules.final(start)
    return MadeGrammar(store, rules)


def is_live(text: bytes, with_rest: bool) -> tuple[bool, bool]:
    """Whether a text may go on, and whether it may end, from the definition."""
    while True:
        _, found, rest = text.partition(b"<>")
        if not found:
            return True, with_rest
        n = len(rest) - len(rest.lstrip(b";"))
        if n == 0:
            return not rest, False
        if n <= 2 and not rest[n:]:
            return True, True
        text = rest[min(n, 2) :]


@pytest.mark.parametrize("with_rest", [False, True])
def test_masks_of_text_before_a_trigger(store: Store, with_rest: bool) -> None:
    grammar = free_text(store, with_rest)
    n_read = 0
    for prefix in (b"", b"a", b"<", b"a<a", b"<>", b"a<>", b"<>;", b"<>;;", b"<<>;a", b"<>;;;<", b"<>;<>;"):
        matcher = grammar.matcher()
        matcher.accept_bytes(prefix)
        allowed = {n for n, token in enumerate(TOKENS) if is_live(prefix + token, with_rest)[0]}
        allowed |= {EOS} if is_live(prefix, with_rest)[1] or (with_rest and not prefix) else set()
        assert read_mask(matcher, EOS + 1) == allowed, prefix
        n_read += len(allowed)
    assert n_read > 300


def test_a_lazy_lexeme_is_not_the_plain_one(store: Store) -> None:
    nodes = store.nodes
    plain = nodes.literal(b"<>")
    assert nodes.lazy(plain) != plain
    assert nodes.matches(nodes.lazy(plain), b"<>")
    assert not nodes.matches(nodes.lazy(plain), b"<>a")


def test_a_text_that_must_not_end_yet_is_refused(store: Store) -> None:
    matcher = free_text(store, False).matcher()
    matcher.accept_bytes(b"a<>")
    with pytest.raises(TokenRejected):
        matcher.accept_bytes(b"a")
