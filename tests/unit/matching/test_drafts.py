"""Trees of drafts: each node's mask is that of a matcher which took its tokens; what is no tree is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.kernels.tables.operations import Operation

TOKENIZER = "default_tokenizer"  # of `compiler`
UNTOUCHED = 0x1234567
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 9},
        "kind": {"enum": ["a", "ab", "b"]},
        "sizes": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    },
    "required": ["name", "kind"],
    "additionalProperties": False,
}
Tree = tuple[list[int], list[int], list[int]]


def batch_for(matcher: Any, n_rows: int) -> Any:
    return np.full((n_rows, matcher._sequence.store.n_words), UNTOUCHED, np.int32)


def expected_masks(matcher: Any, tree: Tree, node: int, words: Any) -> int:
    """The same by definition: fork, accept, fill, from the last node to the first."""
    next_token, next_sibling, tokens = tree
    n_allowed = 0
    after = matcher.fork()
    if node == 0 or after.accept(tokens[node]):
        after.fill_bitmask(words, node)
        n_allowed = 1
        if next_token[node] >= 0:
            n_allowed += expected_masks(after, tree, next_token[node], words)
    if next_sibling[node] >= 0:
        n_allowed += expected_masks(matcher, tree, next_sibling[node], words)
    return n_allowed


def random_tree(rng: random.Random, matcher: Any) -> Tree:
    """A tree whose nodes are numbered at random; most tokens are allowed where they stand, others are any ids."""
    n_nodes = rng.randint(1, 24)
    vocab_size = matcher.grammar.tokenizer.vocab_size
    numbers = [0, *rng.sample(range(1, n_nodes), n_nodes - 1)]
    next_token, next_sibling, tokens = [-1] * n_nodes, [-1] * n_nodes, [rng.randrange(vocab_size)] * n_nodes
    states = {0: matcher.fork()}
    words = batch_for(matcher, 1)
    for place in range(1, n_nodes):
        node, parent = numbers[place], numbers[rng.randrange(place)]
        tokens[node] = rng.choice([-1, vocab_size, 2**40, rng.randrange(vocab_size)])
        before = states[parent]
        if rng.random() < 0.85 and before is not None:
            before.fill_bitmask(words)
            allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
            tokens[node] = int(rng.choice(allowed[:50] if rng.random() < 0.5 else allowed))
        after = before and before.fork()
        states[node] = after if after and after.accept(tokens[node]) else None
        next_sibling[node], next_token[parent] = next_token[parent], node
    return next_token, next_sibling, tokens


def matchers(compiler: Any, tokenizer: Any) -> dict[str, Callable[[], Any]]:
    """New matchers of every kind."""
    lark = 'start: "<" inner ">"\ninner[max_tokens=3]: /[a-z ]*/'
    tokens = tokenizer.encode('{"name": "a')
    return {
        "schema": compiler.json_schema(SCHEMA).matcher,
        "any order": compiler.json_schema(SCHEMA, property_order="any").matcher,
        "choice": compiler.choice(["yes", "yet", "no"]).matcher,
        "regex": compiler.regex("(ab|a)*c{2,9}").matcher,
        "finish": lambda: compiler.json_schema(SCHEMA).matcher(on_limit="finish"),
        "prefix": lambda: compiler.json_schema(SCHEMA).matcher(b" {"),
        "max_tokens": compiler.lark(lark).matcher,
        "canonical": llmask.Compiler(tokenizer, canonical=True).json_schema(SCHEMA).matcher,
        "midway": lambda: advanced(compiler.json_schema(SCHEMA).matcher(), tokens),
    }


def advanced(matcher: Any, tokens: list[int]) -> Any:
    matcher.accept_tokens(tokens)
    return matcher


def test_random_trees_equal_forks(
    compiler: Any, default_tokenizer: Any, rng: random.Random, costly: Callable[[int], int]
) -> None:
    kinds = matchers(compiler, default_tokenizer)
    for number in range(costly(2_000)):
        name = rng.choice(list(kinds))
        matcher = kinds[name]()
        tree = random_tree(rng, matcher)
        n_nodes = len(tree[0])
        if rng.random() < 0.5:  # else its masks and steps are known
            matcher = kinds[name]()
        row = rng.randrange(3)
        wide = np.full((n_nodes + 3, matcher._sequence.store.n_words + 2), UNTOUCHED, np.int32)
        bitmask = wide if rng.random() < 0.5 else wide[:, :-2]
        state = matcher.tokens
        n_allowed = matcher.fill_tree(bitmask, *tree, row)
        assert matcher.tokens == state
        expected = np.full(wide.shape, UNTOUCHED, np.int32)
        view = expected[row : row + n_nodes, : bitmask.shape[1]]
        assert n_allowed == expected_masks(matcher, tree, 0, view), (number, name)
        assert np.array_equal(wide, expected), (number, name)


def test_what_is_not_built_is_built_by_the_walk(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    text = '{"name": "some", "kind": "ab", "sizes": [1, 12, -3]}'
    tokens = [*default_tokenizer.encode(text), min(default_tokenizer.eos_ids)]
    matcher = compiler.json_schema(SCHEMA).matcher()
    bitmask = batch_for(matcher, len(tokens) + 1)
    assert matcher.fill_drafts(bitmask, tokens) == len(tokens)
    other = llmask.Compiler(default_tokenizer).json_schema(SCHEMA).matcher()
    for row, token in enumerate([*tokens, None]):
        words = batch_for(matcher, 1)
        other.fill_bitmask(words)
        assert np.array_equal(words[0], bitmask[row])
        if token is not None:
            other.accept_token(token)


def test_tables_that_are_renewed_during_a_walk(default_tokenizer: Any) -> None:
    limits = llmask.Limits(renew_grammar_bytes=20_000)
    matcher = llmask.Compiler(default_tokenizer, limits=limits).json_schema(SCHEMA).matcher()
    twin = llmask.Compiler(default_tokenizer).json_schema(SCHEMA).matcher()
    rng = random.Random(5)
    n_renewed = 0
    for _ in range(60):
        tree = random_tree(rng, twin)
        before = matcher._sequence.generation
        found, expected = batch_for(matcher, len(tree[0])), batch_for(twin, len(tree[0]))
        assert matcher.fill_tree(found, *tree) == twin.fill_tree(expected, *tree)
        assert np.array_equal(found, expected)
        n_renewed += before is not matcher._sequence.generation
    assert n_renewed > 0


def test_rows_behind_a_refused_draft_stay(compiler: Any, default_tokenizer: Any) -> None:
    matcher = compiler.choice(["yes", "no"]).matcher()
    y, e, s = (default_tokenizer.encode(letter)[0] for letter in "yes")
    bitmask = batch_for(matcher, 7)
    assert matcher.fill_drafts(bitmask, [y, e, y, s], row=1) == 2
    assert (bitmask[[0, 4, 5, 6]] == UNTOUCHED).all()
    assert not (bitmask[1:4] == UNTOUCHED).all(axis=1).any()
    assert matcher.fill_drafts(bitmask, []) == 0
    assert matcher.fill_drafts(bitmask, np.array([y, -1, e], np.int32)) == 1
    assert matcher.tokens == []


def test_a_limit_stops_a_walk_or_finishes(default_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = llmask.Compiler(default_tokenizer).json_schema(SCHEMA)
    tokens = default_tokenizer.encode('{"name": "a')
    build = type(grammar._loaded.generation).run

    def limited(generation: Any, operation: int, *arguments: Any, **more: Any) -> int:
        if operation == Operation.BUILD_MASK:
            raise llmask.LimitExceeded("too much")
        return build(generation, operation, *arguments, **more)

    monkeypatch.setattr(type(grammar._loaded.generation), "run", limited)
    matcher = grammar.matcher()
    with pytest.raises(llmask.LimitExceeded):
        matcher.fill_drafts(batch_for(matcher, len(tokens) + 1), tokens)
    assert matcher.tokens == []
    matcher = grammar.matcher(on_limit="finish")
    bitmask = batch_for(matcher, len(tokens) + 1)
    assert matcher.fill_drafts(bitmask, tokens) == len(tokens)
    assert (np.unpackbits(bitmask.view(np.uint8), axis=1).sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (([1, -1], [-1, -1], [0]), "a tree has 2 next_token, 2 next_sibling and 1 draft_tokens"),
        (([], [], []), "a tree of drafts has no node"),
        (([2, -1], [-1, -1], [0, 0]), "a tree of 2 nodes has no node 2 after another one"),
        (([-2, -1], [-1, -1], [0, 0]), "a tree of 2 nodes has no node -2 after another one"),
        (([1, 0], [-1, -1], [0, 0]), "a tree of 2 nodes has no node 0 after another one"),
        (([1, 1], [-1, -1], [0, 0]), "node 1 of a tree is named twice"),
        (([1, -1, -1], [-1, 1, -1], [0, 0, 0]), "node 1 of a tree is named twice"),
        (([-1, -1], [1, -1], [0, 0]), "node 0 of a tree has a sibling"),
        (([1.0, -1], [-1, -1], [0, 0]), "next_token is int64[n], not list"),
        (([1, -1], [[-1], [-1]], [0, 0]), "next_sibling is int64[n], not list"),
        (([1, -1], [-1, -1], ["a", "b"]), "draft_tokens is int64[n], not list"),
        (([1, -1], [-1, -1], None), "draft_tokens is int64[n], not NoneType"),
        (([1, -1], [-1, -1], [0, 2**70]), "draft_tokens is int64[n], not list"),
    ],
)
def test_what_is_no_tree_is_refused(compiler: Any, tree: Any, message: str) -> None:
    matcher = compiler.regex("a*").matcher()
    bitmask = batch_for(matcher, 4)
    with pytest.raises(llmask.LlmaskError) as caught:
        matcher.fill_tree(bitmask, *tree)
    assert caught.value.message == message
    assert (bitmask == UNTOUCHED).all()


def test_rows_that_do_not_exist_are_refused(compiler: Any) -> None:
    matcher = compiler.regex("a*").matcher()
    bitmask = batch_for(matcher, 3)
    for wrong in (
        lambda: matcher.fill_drafts(bitmask, [1, 2, 3]),
        lambda: matcher.fill_drafts(bitmask, [1], row=2),
        lambda: matcher.fill_drafts(bitmask, [1], row=-1),
        lambda: matcher.fill_drafts(bitmask[:, :-1].copy(), [1]),
        lambda: matcher.fill_drafts(bitmask.tolist(), [1]),
        lambda: matcher.fill_drafts(bitmask, [1], row="0"),  # type: ignore[arg-type]
    ):
        with pytest.raises(llmask.LlmaskError):
            wrong()
    assert (bitmask == UNTOUCHED).all()
