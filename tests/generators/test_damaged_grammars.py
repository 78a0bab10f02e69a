"""Damaged grammars: the same case is the same grammar, and swapped elements are of the same kind."""

from __future__ import annotations

import random

import pytest

from tests.generators.damaged_grammars import DRAW, SEEDS, swap_elements


@pytest.mark.parametrize("language", DRAW)
def test_a_case_is_drawn_again(language: str) -> None:
    texts = [[DRAW[language](random.Random(f"{language} {n}")).text for n in range(20)] for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 10


def test_swapped_elements_are_of_the_same_kind(rng: random.Random) -> None:
    texts = {swap_elements(rng, 'root ::= "a" [b]', 1) for _ in range(300)}
    assert 'root ::= "é" [b]' in texts
    assert 'root ::= "a" [^a]' in texts
    assert all("::=" in text and text.startswith("root") for text in texts)
    assert any(swap_elements(rng, text, 3) != text for text in SEEDS["lark"])
