"""The table of docs/loops.md: which two features of a sequence go together. What does is compared with a definition.

sequence   thoughts + X, if it thinks, then the answer, then an end
answer     tokens that spell prefix + sentence; none of them is a stop token
max_tokens at most two of them have bytes of the letters before ";"
canonical  they are what the tokenizer writes for the text
"""

from __future__ import annotations

import itertools
import pickle
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.reference.definition import read_mask

FEATURES = ("healing", "max_tokens", "stop tokens", "reasoning", "canonical", "drafts", "fork", "pickle")
TEXTS = [b"a", b"b", b"c", b";", b"ab", b"ca", b"b;"]
X, STOP, EOS = range(len(TEXTS), len(TEXTS) + 3)
N_TOKENS, AB = EOS + 1, TEXTS.index(b"ab")
PREFIX, MOST_THOUGHTS, MOST_TOKENS = b"ca", 3, 2
PAGE = Path(__file__).parents[3] / "docs" / "loops.md"


def table() -> dict[frozenset[str], str]:
    """What the page says of each pair."""
    rows = re.findall(r"^\| \*\*([a-z_ ]+)\*\* \|(.*)\|$", PAGE.read_text("utf-8"), re.MULTILINE)
    said = {}
    for number, (name, cells) in enumerate(rows):
        for other, cell in zip(FEATURES[:number], cells.split("|"), strict=False):
            said[frozenset({name, other})] = cell.strip()
    assert tuple(name for name, _ in rows) == FEATURES
    return said


PAIRS = [frozenset(pair) for pair in itertools.combinations(FEATURES, 2)]
REFUSED = {frozenset({"max_tokens", "canonical"}), frozenset({"stop tokens", "canonical"})}


@cache
def compiler(is_canonical: bool) -> llmask.Compiler:
    encoder = EncoderData(kind="bpe", merges=make_table([b"a b", b"c a", b"b ;"]), patterns=(r"[abc;]+",))
    tokens = [*TEXTS, b"<x>", b"<stop>", b"<end>"]
    vocabulary = from_bytes(tokens, eos=EOS, special=[X, STOP, EOS], encoder=encoder)
    return llmask.Compiler(llmask.Tokenizer(vocabulary), canonical=is_canonical)


def begun(kinds: frozenset[str], stops: list[int]) -> llmask.Matcher:
    """A matcher with some features, at its beginning."""
    made = compiler("canonical" in kinds)
    is_limited = "max_tokens" in kinds
    grammar = (
        made.lark(f'start: a ";"\na[max_tokens={MOST_TOKENS}]: /[ab]*/') if is_limited else made.regex("[ab]{0,3};")
    )
    options: dict[str, Any] = {"prefix": PREFIX} if "healing" in kinds else {}
    if "stop tokens" in kinds:
        options["stop_tokens"] = stops
    thinking = llmask.Reasoning(grammar, [X], MOST_THOUGHTS) if "reasoning" in kinds else None
    return grammar.matcher(**options) if thinking is None else thinking.matcher(**options)


@cache
def answers(kinds: frozenset[str], stops: tuple[int, ...]) -> frozenset[tuple[int, ...]]:
    """All answers, without what ends them, and the beginnings of these."""
    prefix = PREFIX if "healing" in kinds else b""
    found: set[tuple[int, ...]] = set()
    for n in range(6):
        for letters in itertools.product(b"ab", repeat=n):
            text = prefix + bytes(letters) + b";"
            if "canonical" in kinds:
                ways = [tuple(compiler(True).tokenizer.encode(text.decode()))]
            else:
                ways = [way for way in spellings(text) if not {*way} & {*stops}]
            if "max_tokens" in kinds:
                ways = [way for way in ways if n_limited(way, len(prefix), n) <= MOST_TOKENS]
            elif n > 3:
                ways = []
            found.update(ways)
    return frozenset(found)


def spellings(text: bytes) -> list[tuple[int, ...]]:
    if not text:
        return [()]
    begins = [token for token, data in enumerate(TEXTS) if text.startswith(data)]
    return [(token, *rest) for token in begins for rest in spellings(text[len(TEXTS[token]) :])]


def n_limited(way: tuple[int, ...], begin: int, n_letters: int) -> int:
    """How many tokens have bytes of the letters."""
    ends = list(itertools.accumulate(len(TEXTS[token]) for token in way))
    return sum(
        end > begin and end - len(TEXTS[token]) < begin + n_letters for token, end in zip(way, ends, strict=True)
    )


def defined(kinds: frozenset[str], tokens: list[int], stops: list[int]) -> set[int]:
    """What may follow some tokens."""
    ends = {EOS, *stops}
    if "reasoning" in kinds:
        if X not in tokens:
            others = {*range(N_TOKENS)} - ends if len(tokens) + 2 <= MOST_THOUGHTS else set()
            return others | {X}
        tokens = tokens[tokens.index(X) + 1 :]
    if tokens and tokens[-1] in ends:
        return ends
    whole, here = answers(kinds, tuple(stops)), tuple(tokens)
    allowed = {way[len(here)] for way in whole if way[: len(here)] == here and len(way) > len(here)}
    return allowed | (ends if here in whole else set())


def check(kinds: frozenset[str], stops: list[int]) -> None:
    """Random sequences, each step of them compared with the definition."""
    rng = random.Random(str(sorted(kinds)))
    stops = stops if "stop tokens" in kinds else []
    for _ in range(25):
        matcher, tokens = begun(kinds, stops), list[int]()
        for _ in range(12):
            expected = defined(kinds, tokens, stops)
            assert read_mask(matcher, N_TOKENS) == expected, (tokens, matcher)
            has_ended = matcher.is_terminated()
            for token in range(-1, N_TOKENS + 1):
                assert matcher.validate_tokens([token]) == (token in expected and not has_ended), (tokens, token)
            if "drafts" in kinds:
                check_drafts(kinds, matcher, tokens, stops, rng)
            if has_ended:
                break
            token = rng.choice(sorted(expected))
            if "fork" in kinds:
                before, matcher = matcher, matcher.fork()
            matcher.accept_token(token)
            if "fork" in kinds:
                assert (before.tokens, read_mask(before, N_TOKENS)) == (tokens, expected)
            tokens.append(token)
            if "pickle" in kinds:
                matcher = pickle.loads(pickle.dumps(matcher))
            assert matcher.tokens == tokens
            back = rng.randrange(len(tokens) + 1) if rng.random() < 0.2 else 0
            matcher.rollback(back)
            del tokens[len(tokens) - back :]


def check_drafts(
    kinds: frozenset[str], matcher: llmask.Matcher, tokens: list[int], stops: list[int], rng: random.Random
) -> None:
    drafts, expected = list[int](), [defined(kinds, tokens, stops)]
    ends = {EOS, *stops}
    while len(drafts) < 4 and not {*tokens[-1:], *drafts} & ends:
        drafts.append(rng.choice(sorted(expected[-1])))
        expected.append(defined(kinds, [*tokens, *drafts], stops))
    wrong = sorted({*range(N_TOKENS)} - expected[-1]) or [-1]
    words = llmask.allocate_bitmask(len(drafts) + 2, N_TOKENS)
    assert matcher.fill_drafts(words, [*drafts, wrong[0]]) == len(drafts)
    for row, allowed in enumerate(expected):
        assert {*np.flatnonzero(np.unpackbits(words[row].view(np.uint8), bitorder="little")).tolist()} == allowed


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: " and ".join(sorted(pair)))
def test_a_pair_is_what_the_page_says(pair: frozenset[str]) -> None:
    said = table()[pair]
    if pair in REFUSED:
        assert said == "no"
        with pytest.raises(llmask.LlmaskError) as caught:
            begun(pair, [STOP])
        assert all(name in caught.value.message for name in pair)
        return
    assert said == "yes"
    check(pair, [STOP, AB])


@pytest.mark.parametrize("without", [{"max_tokens", "stop tokens"}, {"canonical"}])
def test_all_that_goes_together_goes_together(without: set[str]) -> None:
    check(frozenset(FEATURES) - without, [STOP, AB])


def test_a_feature_by_itself_changes_nothing() -> None:
    from llmask.matching.features import Feature
    from llmask.matching.matcher import Matcher

    grammar = compiler(False).regex("[ab]{0,3};")
    plain, other = grammar.matcher(), Matcher(grammar, (Feature(),))
    for token in (0, AB, TEXTS.index(b";"), EOS):
        assert read_mask(other, N_TOKENS) == read_mask(plain, N_TOKENS)
        assert [other.validate_tokens([one]) for one in range(N_TOKENS)] == [
            plain.validate_tokens([one]) for one in range(N_TOKENS)
        ]
        assert (other.least_budget(), other.finishing_tokens()) == (plain.least_budget(), plain.finishing_tokens())
        plain.accept_token(token)
        other.accept_token(token)
    assert other.text() == plain.text()


def test_ways_to_the_end_have_thoughts_and_prefix() -> None:
    for kinds in (frozenset({"reasoning"}), frozenset({"healing"}), frozenset({"reasoning", "healing", "stop tokens"})):
        matcher = begun(kinds, [STOP])
        for _ in range(4):
            way = matcher.finishing_tokens()
            assert matcher.validate_tokens([*way, EOS]) == len(way) + 1
            assert matcher.least_budget() == len(way) + 1
            words = llmask.allocate_bitmask(1, N_TOKENS)
            matcher.finish(words)
            assert {*np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()} >= {*way[:1]}
            assert read_mask(matcher, N_TOKENS, matcher.least_budget()) >= {*way[:1]}
            if way:
                matcher.accept_token(way[0])


def test_bytes_are_no_thoughts() -> None:
    matcher = begun(frozenset({"reasoning", "healing"}), [])
    with pytest.raises(llmask.LlmaskError, match="the thinking is told by its tokens"):
        matcher.accept_bytes(b"a")
    assert matcher.forced_bytes() == b""
    matcher.accept_token(X)
    matcher.accept_bytes(b"caab")
    assert (matcher.text(), matcher.partial(), len(matcher)) == (b"caab", "ab", 2)
    matcher.rollback(2)
    assert matcher.is_thinking
