"""Names are found in one pass, as if they were looked for one after the other."""

from __future__ import annotations

import pickle

import pytest

from llmask.encoders.names import FEW, LONGEST, NameFinder


@pytest.mark.parametrize("n_names", [0, 1, FEW, FEW + 1, 60])
def test_names_are_those_that_the_text_contains(n_names, rng, scaled):
    names: list[str] = []
    while len(names) < n_names:
        name = "".join(rng.choices("ab<é日", k=rng.randint(1, 5)))
        if name not in names:
            names.append(name)
    finder = NameFinder(names)
    for copy in (finder, pickle.loads(pickle.dumps(finder))):
        for _ in range(scaled(100)):
            text = "".join(rng.choices("abc<>é日", k=rng.randrange(8)))
            expected = [number for number, name in enumerate(names) if name in text]
            assert copy.find(text.encode()) == expected, (names, text)
            assert copy.occur_in(text.encode()) == bool(expected), (names, text)


def test_names_that_are_very_long_are_found_too():
    long = "x" * (LONGEST + 1)
    finder = NameFinder([*(f"<{i}>" for i in range(2 * FEW)), long])
    assert finder.longest == LONGEST + 1
    assert finder.find(f"a {long} <3>".encode()) == [3, 2 * FEW]
    assert finder.find(long.encode()) == [2 * FEW]
    assert finder.occur_in(long.encode())
    assert not finder.occur_in(long[1:].encode())


def test_bytes_that_are_no_text_name_nothing():
    finder = NameFinder([chr(0xC0 + i) for i in range(2 * FEW)])
    assert finder.find(b"\xc3\xff\x80") == []
    assert finder.find(b"\xff\xc3\x80") == [0]
