"""JAX: masks under jit, and grammars inside of compiled loops, with a model of random weights."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
import jax.numpy as jnp

from llmask import Compiler, Tokenizer
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError
from llmask.integrations.jax import GrammarMasks, apply_bitmask
from tests.contract.conformance import AdapterConformance, Allowed, Driver, Row, kept, random_scores, spread
from tests.contract.tiny_models import MAX_TOKENS, PIECES, is_valid


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    tokens = [bytes([byte]) for byte in range(256)] + [piece.encode() for piece in PIECES] + [b""]
    return Compiler(Tokenizer.from_bytes(tokens, eos=len(tokens) - 1))


@partial(jax.jit, static_argnames=("masks", "n_rows", "capacity"))
def write(masks: GrammarMasks, weights: Any, seed: int, n_rows: int, capacity: int) -> Any:
    """Sample rows in one compiled loop: the logits depend on the last token."""

    def step(state: tuple[Any, Any], n_tokens: Any) -> Any:
        tokens, key = state
        key, now = jax.random.split(key)
        last = jnp.where(n_tokens > 0, tokens[:, n_tokens - 1], 0)
        logits = apply_bitmask(weights[last], masks(tokens, n_tokens))
        return (tokens.at[:, n_tokens].set(jax.random.categorical(now, logits)), key), None

    start = jnp.zeros((n_rows, capacity), jnp.int32), jax.random.key(seed)
    return jax.lax.scan(step, start, jnp.arange(capacity))[0][0]


def texts_of(compiler: Compiler, rows: Any) -> list[str]:
    eos = compiler.tokenizer.eos_ids[0]
    return [compiler.tokenizer.decode([token for token in row if token != eos]) for row in np.asarray(rows).tolist()]


def test_two_hundred_documents(compiler: Compiler, grammar: CompiledGrammar) -> None:
    weights = jax.random.normal(jax.random.key(0), (compiler.tokenizer.vocab_size + 13,) * 2)
    masks = GrammarMasks(grammar, max_tokens=MAX_TOKENS)
    texts = []
    for seed in range(5):
        texts += texts_of(compiler, write(masks, weights, seed, 40, MAX_TOKENS))
    assert len(texts) == 200
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) > 100


def test_documents_end_within_their_budget(compiler: Compiler, grammar: CompiledGrammar) -> None:
    weights = jax.random.normal(jax.random.key(0), (compiler.tokenizer.vocab_size,) * 2)
    texts = texts_of(compiler, write(GrammarMasks(grammar, max_tokens=30), weights, 0, 20, 30))
    assert [text for text in texts if not is_valid(text)] == []


def test_rows_have_their_own_grammars(compiler: Compiler, grammar: CompiledGrammar) -> None:
    weights = jax.random.normal(jax.random.key(0), (compiler.tokenizer.vocab_size,) * 2)
    masks = GrammarMasks([compiler.choice(["yes", "no"]), grammar], max_tokens=MAX_TOKENS)
    texts = texts_of(compiler, write(masks, weights, 0, 6, MAX_TOKENS))
    assert set(texts[:3]) <= {"yes", "no"}
    assert all(map(is_valid, texts[3:]))


@pytest.mark.parametrize("n_logits", [1, 31, 32, 33, 64, 70])
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_bits_are_those_of_the_mask(n_logits: int, leading: tuple[int, ...], dtype: str) -> None:
    mask = np.random.default_rng(n_logits).integers(-(2**31), 2**31, (*leading, 2)).astype(np.int32)
    logits = jnp.asarray(np.random.default_rng(0).normal(size=(*leading, n_logits)), dtype)
    wanted = spread(mask.reshape(-1, 2), n_logits).reshape(logits.shape)
    for run in (apply_bitmask, jax.jit(apply_bitmask)):
        masked = run(logits, mask)
        assert masked.dtype == logits.dtype
        assert (kept(logits, masked) == wanted).all()


def test_it_can_be_mapped_and_differentiated() -> None:
    logits, masks = jnp.ones((2, 3, 40)), np.broadcast_to(np.array([5, 0], np.int32), (2, 3, 2))
    plain = apply_bitmask(logits, masks)
    assert (jax.vmap(apply_bitmask)(logits, masks) == plain).all()
    assert (apply_bitmask(logits, masks[:1, :1]) == plain).all()
    assert (apply_bitmask(logits, masks[0, 0]) == plain).all()
    gradient = jax.grad(lambda given: jax.nn.logsumexp(apply_bitmask(given, masks)))(logits)
    assert np.flatnonzero(gradient[0, 0]).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("logits", "mask"),
    [
        (jnp.zeros((2, 40)), np.zeros((3, 2), np.int32)),
        (jnp.zeros(40), np.zeros((1, 2), np.int32)),
        (jnp.zeros((2, 40)), np.zeros((2, 2), np.uint8)),
        (jnp.zeros((2, 40), jnp.int32), np.zeros((2, 2), np.int32)),
        (jnp.zeros(()), np.zeros(2, np.int32)),
    ],
)
def test_what_does_not_fit_is_an_error(logits: Any, mask: Any) -> None:
    for run in (apply_bitmask, jax.jit(apply_bitmask)):
        with pytest.raises(LlmaskError, match=r"does not fit|masks of"):
            run(logits, mask)


def test_masks_of_arrays_that_do_not_fit_are_an_error(compiler: Compiler, grammar: CompiledGrammar) -> None:
    masks = GrammarMasks([grammar, grammar], max_tokens=math.inf)
    for tokens, n_tokens in (
        (jnp.zeros(4, jnp.int32), 1),
        (jnp.zeros((2, 4)), 1),
        (jnp.zeros((2, 4), jnp.int32), jnp.zeros(3, jnp.int32)),
        (jnp.zeros((2, 4), jnp.int32), 0.5),
    ):
        with pytest.raises(LlmaskError, match=re.escape("integers of shapes [n_rows, capacity] and [] or [n_rows]")):
            masks(tokens, n_tokens)
    with pytest.raises(LlmaskError, match="3 rows cannot be shared out among 2 grammars"):
        masks(jnp.zeros((3, 4), jnp.int32), 1)


def test_a_budget_that_no_document_keeps_is_said(grammar: CompiledGrammar) -> None:
    with pytest.raises(Exception, match="3 tokens") as caught:
        GrammarMasks(grammar, max_tokens=3)(jnp.zeros((1, 4), jnp.int32), 0).block_until_ready()
    assert "BudgetError" in repr(caught.value) or "BudgetError" in str(caught.value)


def test_masks_can_be_mapped(compiler: Compiler) -> None:
    """Two batches at once, the first grammar for the first row of each."""
    masks = GrammarMasks([compiler.choice(["aa"]), compiler.choice(["bb"])], max_tokens=math.inf)
    tokens = jnp.array([[[97, 0], [98, 0]], [[97, 97], [98, 98]]], jnp.int32)
    counts = jnp.array([1, 2])
    wanted = jnp.stack([masks(tokens[0], 1), masks(tokens[1], 2)])
    assert (jax.vmap(masks)(tokens, counts) == wanted).all()
    assert (jax.vmap(masks, in_axes=(None, 0))(tokens[1], counts) == jnp.stack([masks(tokens[1], 1), wanted[1]])).all()
    assert not (wanted[0] == wanted[1]).all()


# --- the suite of adapters


class Arrays(Driver):
    """Rows in arrays of fixed size, of which a part counts, under jit."""

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        given: Any = grammars if any(grammar is not grammars[0] for grammar in grammars) else grammars[0]
        self.masks = GrammarMasks(given, max_tokens=math.inf)
        self.n_logits = n_logits
        self.run = jax.jit(lambda tokens, n_tokens, logits: apply_bitmask(logits, self.masks(tokens, n_tokens)))

    def allowed(self, rows: list[Row]) -> Allowed:
        n_tokens = len(rows[0])
        scores = random_scores(len(rows), self.n_logits)
        tokens = np.full((len(rows), 300), 7, np.int32)
        tokens[:, :n_tokens] = rows
        return kept(scores, self.run(tokens, n_tokens, scores))


class TestArrays(AdapterConformance):
    kind = Arrays
