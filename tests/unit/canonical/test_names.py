"""Names of user-defined tokens in a text."""

from __future__ import annotations

import itertools
import random

import pytest

import llmask
from llmask.canonical import names
from llmask.canonical.names import COMPLETE, name_table


def classes(text: str) -> list[int]:
    return ["ab<>".index(character) for character in text]


def test_the_table_reads_texts_up_to_a_name() -> None:
    rng = random.Random(3)
    n_apart = n_found = 0
    for _ in range(300):
        some = sorted({"".join(rng.choices("ab<>", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 4))})
        table = name_table([classes(name) for name in some], 4)
        # one is a part of another, or one ends as another begins
        overlaps = any(one != other and one in other for one in some for other in some) or any(
            one.endswith(other[:n]) and n < len(one) for one in some for other in some for n in range(1, len(other))
        )
        assert (table is None) == overlaps, some
        if table is None:
            continue
        n_apart += 1
        for text in map("".join, itertools.product("ab<>", repeat=5)):
            state = 0
            for end, number in enumerate(classes(text), 1):
                state = int(table[state, number])
                is_name = any(text[:end].endswith(name) for name in some)
                assert (state == COMPLETE) == is_name, (some, text[:end])
                if is_name:
                    n_found += 1
                    break
    assert n_apart > 20
    assert n_found > 1000


def test_names_that_are_alike_share_states() -> None:
    digits = "[]0123456789"
    some = [f"[{number}]" for number in range(10_000, 13_000)]
    table = name_table([[digits.index(character) for character in name] for name in some], len(digits))
    assert table is not None
    assert len(table) < 20


def test_long_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MOST_CHARACTERS", 5)
    with pytest.raises(llmask.LimitExceeded, match="more than 5 characters"):
        name_table([[0, 1, 2], [3, 2, 1]], 4)
