"""Named groups: what `re` says they match, without its exponential time."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.frontends.regex import groups
from llmask.frontends.regex.groups import named_groups
from tests.generators.patterns import Patterns

CASES = [
    (r"(?P<day>\d+)-(?P<month>\d+)", "24-12"),
    (r"(?P<all>(?P<first>\w)\w*)", "größe"),
    (r"(?P<x>a?)*", "aa"),
    (r"(?P<x>a?)*?", "aa"),
    (r"(?P<x>a|ab)(?P<y>c|bcd)(?P<z>d*)", "abcd"),
    (r"(?P<x>a*)(?P<y>a*)", "aaa"),
    (r"(?P<x>a*?)(?P<y>a*)", "aaa"),
    (r"(?P<x>a)|(?P<y>b)", "b"),
    (r"(?:(?P<x>a)|b)*", "ab"),
    (r"(?P<x>ab|a)(?=(?P<y>b?c))b?c", "abc"),
    (r"(?P<x>.)(?<=(?P<y>é))\b.*", "é x"),
    (r"(?!(?P<x>b))(?P<y>.)", "a"),
    (r"(?P<x>[a-z]{2,3}){2,3}", "abcdefg"),
    (r"(?P<x>)(?P<y>$)", ""),
    (r"(?i)(?P<x>STRASSE)\n?", "strasse\n"),
    (r"(?m)(?P<x>^b$)|a\n(?P<y>^b$)\n", "a\nb\n"),
]


def of_re(pattern: str, is_search: bool, text: str) -> dict[str, tuple[int, int]]:
    compiled = re.compile(pattern)
    found = compiled.search(text) if is_search else compiled.fullmatch(text)
    if found is None:
        return {}
    bounds = {name: found.span(name) for name in compiled.groupindex if found.start(name) >= 0}
    return {name: (len(text[:begin].encode()), len(text[:end].encode())) for name, (begin, end) in bounds.items()}


def of_ours(pattern: str, is_search: bool, text: str) -> dict[str, tuple[int, int]]:
    return {name: (begin, end) for name, begin, end in named_groups(pattern, is_search, text.encode())}


@pytest.mark.parametrize(("pattern", "text"), CASES)
@pytest.mark.parametrize("is_search", [False, True])
def test_groups_match_what_they_match_in_re(pattern: str, text: str, is_search: bool) -> None:
    for around in ("{}", "xx{}", "{}.", "b{}b"):
        assert of_ours(pattern, is_search, around.format(text)) == of_re(pattern, is_search, around.format(text))


@pytest.mark.long
def test_groups_of_random_patterns_match_what_they_match_in_re(
    rng: random.Random, scaled: Callable[[int], int]
) -> None:
    # Atomic groups aside: where one is left, Python 3.11 forgets to take back what groups in it have matched.
    n_found = 0
    for _ in range(scaled(2500)):
        drawn = Patterns(rng).pattern()
        if "(?P<" not in drawn.pattern or "(?>" in drawn.pattern or re.search(r"[*+?}]\+", drawn.pattern):
            continue
        text = drawn.text(rng)
        for is_search in (False, True):
            wanted = of_re(drawn.pattern, is_search, text)
            assert of_ours(drawn.pattern, is_search, text) == wanted, (drawn.pattern, text)
            n_found += len(wanted)
    assert n_found > 50


def test_atomic_groups_keep_their_first_match() -> None:
    assert of_ours(r"(?>(?P<x>a|ab))(?P<y>b?)", False, "ab") == {"x": (0, 1), "y": (1, 2)}
    assert of_ours(r"(?P<x>a)++", False, "aaa") == {"x": (2, 3)}
    assert of_ours(r"(?>(?P<x>a*))ab", False, "aab") == {}


def test_what_re_takes_exponential_time_for_takes_some_steps() -> None:
    assert of_ours(r"(?:a|a)*(?P<x>b)", False, "a" * 200 + "c") == {}
    assert of_ours(r"(?:(?:a|a)*)*(?P<x>b)", False, "a" * 200 + "b") == {"x": (200, 201)}


def test_the_limit_says_what_it_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST_STEPS", 1000)
    with pytest.raises(llmask.LimitExceeded, match="what the groups of the pattern match takes more than 1000 steps"):
        named_groups(r"(?P<x>(?:a?){900})", False, b"a" * 900)


def test_a_text_that_is_no_utf8_has_no_groups() -> None:
    assert named_groups("(?P<x>.)", False, "é".encode()[:1]) == []


def test_captures_of_a_pattern_are_its_named_groups(byte_tokenizer: Any) -> None:
    matcher = llmask.Compiler(byte_tokenizer).regex(r"(?P<year>\d{4})-(?P<month>\d\d)(-(?P<day>\d\d))?").matcher()
    matcher.accept_bytes(b"2024-1")
    assert matcher.captures() == {}
    matcher.accept_bytes(b"2")
    assert matcher.captures() == {"year": b"2024", "month": b"12"}
    matcher.accept_bytes(b"-31")
    assert [(found.name, found.begin, found.end) for found in matcher.capture_spans()] == [
        ("year", 0, 4),
        ("month", 5, 7),
        ("day", 8, 10),
    ]
    searched = llmask.Compiler(byte_tokenizer).regex(r"(?P<number>\d+)", method="search").matcher()
    searched.accept_bytes("für 12 und 13".encode())
    assert searched.captures() == {"number": b"12"}
    assert llmask.Compiler(byte_tokenizer).regex("(a)").matcher().grammar.groups is None
