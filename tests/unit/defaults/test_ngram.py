"""Scores of the language model: probabilities by the formula in its docstring, back-off, cost."""

from __future__ import annotations

import time

import numpy as np
import pytest

from llmask.defaults.ngram import DISCOUNT, UNIFORM_SHARE, NgramModel, unpack_orders
from tools.training.train_ngram import count_ngrams

VOCAB_SIZE = 6
END = 5


REPRESENTATIVES = np.array([0, 1, 2, 2, 4, END])  # tokens 2 and 3 are alike


def make_model(ids: list[int], least: tuple[int, ...]) -> NgramModel:
    arrays = count_ngrams(np.array(ids, np.int64), REPRESENTATIVES, least)
    return NgramModel(unpack_orders(arrays), REPRESENTATIVES, END)


def probability(ids: list[int], least: tuple[int, ...], context: tuple[int, ...], word: int) -> float:
    """The definition, from the text itself."""
    alike = REPRESENTATIVES[ids].tolist()

    def count(gram: tuple[int, ...], last: list[int]) -> int:
        n = len(gram) - 1
        return sum((*alike[i : i + n], last[i + n]) == gram for i in range(len(ids) - n))

    def is_kept(gram: tuple[int, ...]) -> bool:
        needed = (1, *least)[len(gram) - 1]
        return (len(gram) == 1 or is_kept(gram[:-1])) and max(count(gram, ids), count(gram, alike)) >= needed

    p = (1 - UNIFORM_SHARE) * count((word,), ids) / len(ids) + UNIFORM_SHARE / VOCAB_SIZE
    for n in range(1, len(context) + 1):
        shorter = tuple(REPRESENTATIVES[list(context[len(context) - n :])].tolist())
        if not is_kept(shorter) or (n == 1 and not count(shorter, alike)):
            break
        seen = {w: count((*shorter, w), ids) for w in range(VOCAB_SIZE) if is_kept((*shorter, w))}
        if not seen:
            continue
        total = max(count(shorter, alike), sum(seen.values()))
        shares = {w: max(c - DISCOUNT, 0) / total for w, c in seen.items()}
        p = (1 - sum(shares.values())) * p + shares.get(word, 0)
    return p


def test_scores_follow_the_formula(rng):
    for _ in range(15):
        ids = [END] + [rng.choice((0, 0, 1, 2, 3, END)) for _ in range(rng.randrange(5, 60))]
        least = (1, 2, 2)
        model = make_model(ids, least)
        for length in range(6):
            start = rng.randrange(len(ids))
            context = ids[start : start + length]
            expected = [probability(ids, least, tuple([END, *context][-3:]), w) for w in range(VOCAB_SIZE)]
            assert np.exp(model.logits(context)) == pytest.approx(expected, rel=1e-4)


@pytest.fixture(scope="module")
def shipped() -> NgramModel:
    return NgramModel.load_default()


def test_scores_are_finite_and_sum_to_one(shipped, default_tokenizer):
    assert shipped.vocab_size == default_tokenizer.vocab_size
    for text in ("", "{", '{"name": "', "The function returns", "日本語 😀", "\x00\x01"):
        scores = shipped.logits(default_tokenizer.encode(text))
        assert scores.dtype == np.float32
        assert scores.shape == (default_tokenizer.vocab_size,)
        assert np.isfinite(scores).all()
        assert np.exp(scores.astype(np.float64)).sum() == pytest.approx(1, abs=1e-3)


def test_it_has_learned_json(shipped, default_tokenizer):
    def best(text: str) -> bytes:
        return default_tokenizer.token_bytes(int(shipped.logits(default_tokenizer.encode(text)).argmax()))

    assert best('{"name": "Anna", "age') == b'":'
    assert best('{"is_active":') in (b" true", b" false")
    assert best("") == b'{"'


def test_scores_belong_to_the_caller(shipped):
    first = shipped.logits([1, 2])
    expected = first.copy()
    first[:] = 0
    assert (shipped.logits([1, 2]) == expected).all()


def test_a_call_takes_little_time(shipped, default_tokenizer):
    ids = default_tokenizer.encode('{"name": "Anna", "age": 30, "email": "a@example.com"}')
    started = time.perf_counter()
    for n_ids in range(len(ids)):
        shipped.logits(ids[:n_ids])
    assert (time.perf_counter() - started) / len(ids) < 0.005  # 60 us on an idle machine
