"""Texts that tokenizers get wrong: all scripts, marks, emoji, malformed spacing, long repetitions, names of tokens."""

from __future__ import annotations

import random

RANGES = (
    *[(0x20, 0x7F)] * 4,
    (0x00, 0x20), (0x80, 0x100), (0x100, 0x250), (0x300, 0x370), (0x370, 0x400), (0x400, 0x530), (0x590, 0x700),
    (0x900, 0xE80), (0x1100, 0x1200), (0x1E00, 0x2100), (0x2100, 0x2600), (0x2580, 0x2590), (0x3000, 0x3100),
    (0x3130, 0x3190), (0x3200, 0x3400), (0x4E00, 0x4F00), (0xAC00, 0xAD00), (0xF900, 0xFB50), (0xFB50, 0xFE00),
    (0xFE00, 0x10000), (0x1D400, 0x1D800), (0x1F300, 0x1F700), (0x10000, 0x110000), (0xE0000, 0xE0080),
)  # fmt: skip
SPACES = (
    " ", "  ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2581", "\u2581\u2581", " \u2581", "\u200b", "\u2028",
    "\ufeff", "\x00", "\x7f",
)  # fmt: skip
WORDS = (
    "Größe", "été", "naïve", "日本語", "東京", "한국어", "привет", "мир", "γειά", "שלום", "مرحبا", "नमस्ते", "ไทย",
    "the", "self", "return", "tokenizer", "ab", "def f(x):", "ﬁne", "①", "Ｆｕｌｌ", "㍿", "ﷺ", "e\u0301a",
    "x\u0323\u0307", "½", "…", "😀", "👩\u200d👩\u200d👧", "<unk>", "<s>", "</s>", "<0x41>", "<tool>",
    "a" * 40, "ab" * 30, "=" * 45, "日" * 30,
)  # fmt: skip


def strange_text(rng: random.Random, max_parts: int = 13) -> str:
    """A text of some parts: white space, words, and characters of one script each."""
    parts = []
    for _ in range(rng.randrange(max_parts + 1)):
        kind = rng.random()
        if kind < 0.3:
            parts.append(rng.choice(SPACES))
        elif kind < 0.6:
            parts.append(rng.choice(WORDS))
        else:
            low, high = rng.choice(RANGES)
            codes = (rng.randrange(low, high) for _ in range(rng.randrange(1, 6)))
            parts.append("".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000))
    return "".join(parts)


def training_lines(rng: random.Random, source: str, n_lines: int) -> list[str]:
    """Lines to train a model on: those of a source, and random rows of words in all scripts."""
    lines = [line.strip()[:2000] for line in source.splitlines() if line.strip()]
    return lines + [" ".join(rng.choices(WORDS, k=rng.randrange(1, 9))) for _ in range(n_lines)]
