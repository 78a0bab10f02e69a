"""How methods are compared: which words differ, on vocabularies of every kind."""

from __future__ import annotations

import pytest

from llmask import Tokenizer
from llmask.cli.methods import as_table, compare, methods_of, words_differing


@pytest.fixture
def tok() -> Tokenizer:
    return Tokenizer.from_bytes([b"a", b"b", b" ", b"ab", b" a", b"ba", b"<end>"], eos=6)


def test_a_word_differs_when_one_of_its_tokens_is_missing(tok: Tokenizer) -> None:
    a, b, space, ab, space_a, ba = range(6)
    exact = [ab, a, space_a, b, space, ba]  # "aba", " ab", " ba"
    assert words_differing(tok, exact, exact) == 0.0
    assert words_differing(tok, exact, [a, ba, space_a, b, space, ba]) == pytest.approx(1 / 3)
    assert words_differing(tok, exact, [ab, a, space, ab, space, b, a]) == pytest.approx(2 / 3)
    assert words_differing(tok, [space, space, ab], [space, space, a, b]) == 1.0
    assert words_differing(tok, [], []) == 0.0


def test_other_texts_cannot_be_compared(tok: Tokenizer) -> None:
    assert words_differing(tok, [0], [1]) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "methods"),
    [
        ("llama-bpe", ["exact", "greedy", "minimal", "table", "heap", "dropout"]),
        ("llama-spm", ["exact", "greedy", "minimal"]),
        ("nomic-bert-moe", ["exact", "greedy", "minimal"]),
        ("bert-bge", ["exact"]),
    ],
)
def test_every_kind_of_vocabulary_can_be_compared(shared_dir, name: str, methods: list[str]) -> None:
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert methods_of(tok) == methods
    rows = compare(tok, "The quick brown fox ﬁnds unbelievable words, twice.\n" * 20)
    exact = rows[0]
    assert [row.method for row in rows] == methods
    assert (exact.more_tokens, exact.words_differing) == (0.0, 0.0)
    for row in rows:
        assert row.n_tokens > 0 < row.mb_per_second
        assert row.words_differing is not None
        assert row.method not in ("table", "heap") or row.words_differing == 0.0
        assert row.method != "minimal" or row.n_tokens <= exact.n_tokens
    assert len(as_table(rows)) == len(methods) + 1
