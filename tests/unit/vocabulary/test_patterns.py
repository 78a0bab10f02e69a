"""Every pattern that a vocabulary may name can be run, and splits as its model does."""

from __future__ import annotations

import pytest

from llmask.vocabulary.patterns import PATTERNS
from tools.training.train_bpe import split_words


@pytest.mark.parametrize("name", PATTERNS)
def test_words_joined_are_the_text(name):
    if name in ("tiny_aya", "cohere2moe", "superbpe", "jais-2", "afmoe"):
        pytest.importorskip("regex", reason="the package regex is not installed")
    text = "it's 12345 Zoë's\n\n\t x  ﷽ \u3000日本語!? \x1c\x85 e\u0301 ½ 😀\n"
    words = split_words(PATTERNS[name], text)
    assert "".join(words) == text
    assert all(words)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama-bpe", ["I", "'LL", " take", " ", "123", "45", "$,\n", "  ", " ok"]),
        ("qwen2", ["I", "'LL", " take", " ", "1", "2", "3", "4", "5", "$,\n", "  ", " ok"]),
        ("gpt-2", ["I", "'", "LL", " take", " 12345", "$,", "\n  ", " ok"]),
        ("starcoder", ["I", "'", "LL", " take", " ", "1", "2", "3", "4", "5", "$,", "\n  ", " ok"]),
        ("mellum", ["I", "'", "LL", " take", " 12345", "$,", "\n  ", " ok"]),
        ("kimi-k2", ["I'LL", " take", " ", "123", "45", "$,\n", "  ", " ok"]),
        ("ufakzeka", ["I", "'LL", " take", " ", "1", "2", "3", "4", "5", "$,\n", "  ", " ok"]),
        ("exaone-moe", ["I", "'LL", " take", " ", "1", "2", "3", "4", "5", "$,\n", "  ", " ok"]),
        ("minicpm5", ["I", "'LL", " take", " ", "123", "45", "$,\n", "  ", " ok"]),
        ("youtu", ["I'LL", " take", " ", "1", "2", "3", "4", "5", "$,\n", "  ", " ok"]),
        ("spark2_5", ["I", "'LL", " take", " ", "1", "2", "3", "4", "5", "$,", "\n", "  ", " ok"]),
        ("laguna", ["I", "'LL", " take", " ", "1", "2", "3", "4", "5", "$,", "\n", "  ", " ok"]),
        ("chameleon", ["I", "'", "LL", " take", " ", "1", "2", "3", "4", "5", "$", ",", "\n", "  ", " ok"]),
        ("falcon", ["I", "'", "LL", " take", " ", "123", "45", "$,", "\n  ", " ok"]),
    ],
)
def test_samples(name, expected):
    assert split_words(PATTERNS[name], "I'LL take 12345$,\n   ok") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'LL take 12345$,\n   ok", ["I", "'LL", " take", " ", "12", "345", "$,\n", "  ", " ok"]),
        ("1234567", ["1", "234", "567"]),
        ("123456", ["123", "456"]),
        ("a  12b3456c", ["a", " ", " ", "12", "b", "3", "456", "c"]),  # the blanks and "12" are one piece at first
        ("x\u0663\u0664\u0665\u0666", ["x", "\u0663", "\u0664\u0665\u0666"]),
        ("日本語 text", ["日本語", " text"]),
        ("don't ... ok", ["don", "'t", " ...", " ok"]),
    ],
)
def test_afmoe_groups_digits_from_the_right(text, expected):
    pytest.importorskip("regex", reason="the package regex is not installed")
    assert split_words(PATTERNS["afmoe"], text) == expected
