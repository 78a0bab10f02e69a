"""Odd spellings mean what they are spellings of."""

from __future__ import annotations

import json
import random

from tests.generators.judge import identity, read
from tests.generators.schemas import random_value
from tests.generators.spellings import number, spelled, string


def test_a_spelling_is_read_as_the_value() -> None:
    rng = random.Random(1)
    texts = set()
    for _ in range(2000):
        value = random_value(rng)
        text = spelled(value, rng, repeats=rng.random() < 0.5)
        texts.add(text)
        assert identity(read(text)) == identity(read(json.dumps(value))), text
    assert any(text.count('"a"') > 1 for text in texts)
    assert any("\\u" in text for text in texts)
    assert any("e-" in text.lower() for text in texts)


def test_numbers_and_strings_have_several_spellings() -> None:
    rng = random.Random(2)
    assert {"1", "1.0", "10e-1"} <= {number(1, rng) for _ in range(500)}
    assert len({string("a😀", rng) for _ in range(100)}) > 3
