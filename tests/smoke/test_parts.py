"""Parts that worlds and calls do not reach, or not in every way; conftest.py names more, in other folders."""

from __future__ import annotations

import random
from typing import Any

from tests.properties import test_bpe


def test_merges_in_any_order(rng: random.Random) -> None:
    test_bpe.test_merge_lists_in_any_order(lambda n: n // 30, rng)


def test_no_other_tokens_are_fewer(default_tokenizer: Any, rng: random.Random) -> None:
    known = {default_tokenizer.token_bytes(token) for token in range(default_tokenizer.vocab_size)}
    for _ in range(100):
        text = "".join(rng.choices("aeinrst .", k=rng.randrange(1, 40)))
        least = [0]
        for end in range(1, len(text) + 1):
            least.append(1 + min(least[begin] for begin in range(end) if text[begin:end].encode() in known))
        assert len(default_tokenizer.encode(text, method="minimal")) == least[-1]
