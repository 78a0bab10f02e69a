"""Text around triggers against its definition, over all short texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.regex import free_text as module
from llmask.regex.free_text import free_text

CASES: list[tuple[list[str], list[str]]] = [
    ([], []),
    ([], ["ab"]),
    (["ab"], []),
    (["aa"], []),
    (["ab", "aab"], []),
    (["a", "ab"], []),
    (["ab", "bc"], ["ca"]),
    (["bc", "abcd"], []),
    (["bc", "bcb"], ["abca"]),
    (["ab"], ["ab"]),
    (["ab"], ["b"]),
    (["a", "b", "c"], []),
    (["é"], ["éa"]),
    (["aé"], ["é"]),
]


def is_text(text: str, triggers: Sequence[str], excluded: Sequence[str]) -> bool:
    return not any(word in text for word in (*triggers, *excluded))


def trigger_at_end(text: str, triggers: Sequence[str], excluded: Sequence[str]) -> str | None:
    """The trigger whose node matches a text."""
    ending = [word for word in triggers if text.endswith(word)]
    if not ending or any(word in text for word in excluded):
        return None
    longest = max(ending, key=len)
    first = min(n for n in range(len(text) + 1) if any(text[:n].endswith(word) for word in triggers))
    return longest if len(text) - len(longest) < first else None


def check(nodes: Any, triggers: Sequence[str], excluded: Sequence[str], texts: Sequence[str]) -> None:
    found = free_text(nodes, [word.encode() for word in triggers], [word.encode() for word in excluded])
    for text in texts:
        said = text, triggers, excluded
        assert nodes.matches(found.text, text.encode()) == is_text(text, triggers, excluded), said
        end = trigger_at_end(text, triggers, excluded)
        assert [
            word for word, node in zip(triggers, found.until, strict=True) if nodes.matches(node, text.encode())
        ] == ([] if end is None else [end]), said


@pytest.mark.parametrize(("triggers", "excluded"), CASES)
def test_texts_are_those_of_the_definition(nodes: Any, triggers: list[str], excluded: list[str]) -> None:
    texts = ["".join(letters) for n in range(6) for letters in product("abc", repeat=n)]
    texts += ["".join(letters) for n in range(4) for letters in product("aéd€😀", repeat=n)]
    check(nodes, triggers, excluded, texts)


def test_random_strings(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    texts = ["".join(letters) for n in range(7) for letters in product("ab", repeat=n)]
    for _ in range(scaled(30)):
        words = {"".join(rng.choices("ab", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 5))}
        triggers = sorted(word for word in words if rng.random() < 0.7)
        check(nodes, triggers, sorted(words - set(triggers)), texts)


@pytest.mark.parametrize("data", [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80"])
def test_only_utf8_is_text(nodes: Any, data: bytes) -> None:
    found = free_text(nodes, [b"<t>"])
    assert not nodes.matches(found.text, data)
    assert not nodes.matches(found.until[0], data + b"<t>")


@pytest.mark.parametrize(
    "text", ["\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]
)
def test_every_length_of_utf8_is_text(nodes: Any, text: str) -> None:
    assert nodes.matches(free_text(nodes, ["｜".encode()]).text, text.encode())


def test_a_trigger_that_is_excluded_is_empty(nodes: Any) -> None:
    assert free_text(nodes, [b"ab", b"cd"], [b"b"]).until[0] == nodes.EMPTY


def test_too_many_strings_meet_a_limit(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 100)
    with pytest.raises(LimitExceeded, match="1 triggers and 1 excluded strings of 5 bytes"):
        free_text(nodes, [b"xyz"], [b"12"])
