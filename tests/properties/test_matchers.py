"""Laws of the matcher: every way to a sequence of tokens leads to the same state; what is refused changes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from tests.reference.definition import read_mask

SCHEMAS: tuple[Any, ...] = (
    {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"]},
    {"type": "array", "items": {"enum": ["aa", "ab", "ba"]}, "minItems": 1, "maxItems": 4},
    {"anyOf": [{"type": "array", "items": {"type": "boolean"}}, {"type": "string", "maxLength": 3}]},
    {
        "$ref": "#/$defs/t",
        "$defs": {"t": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/t"}, {"const": 12}]}}},
    },
    True,
)
PATTERNS = (r"(a|b){2,5}", r"(ab|a)*(ba)?c?", r"[^\"]{0,3}", r"\d{1,3}(\.\d+)?(e[+-]\d)?", r"(é|😀|日本)+")


@pytest.fixture(scope="module")
def grammars(tiny_tokenizer: Any) -> list[Any]:
    compiler = llmask.Compiler(tiny_tokenizer)
    found = [compiler.json_schema(schema) for schema in SCHEMAS]
    found += [compiler.regex(pattern) for pattern in PATTERNS]
    return [*found, compiler.choice(["yes", "no", "name", "nab", ""])]


class Walker:
    """Tokens drawn from the masks of one grammar, and what the masks say, computed once a prefix."""

    def __init__(self, grammar: Any, tokenizer: Any) -> None:
        self.grammar = grammar
        self.tokenizer = tokenizer
        self.known: dict[tuple[int, ...], tuple[frozenset[int], bool]] = {}

    def fresh(self, tokens: list[int]) -> Any:
        """A new matcher that took the tokens one by one."""
        matcher = self.grammar.matcher()
        for token in tokens:
            matcher.accept_token(token)
        return matcher

    def state(self, tokens: list[int]) -> tuple[frozenset[int], bool]:
        """Mask and acceptance after the tokens, found from the start."""
        key = tuple(tokens)
        if key not in self.known:
            self.known[key] = observed(self.fresh(tokens), self.tokenizer)
        return self.known[key]

    def continued(self, rng: random.Random, tokens: list[int], n_tokens: int) -> list[int]:
        """Up to `n_tokens` more tokens, each allowed where it stands."""
        more: list[int] = []
        for _ in range(n_tokens):
            if (tokens + more)[-1:] == self.tokenizer.eos_ids[:1]:
                break
            allowed, _ = self.state(tokens + more)
            short = [token for token in allowed if len(self.tokenizer.token_bytes(token)) <= 2]
            more.append(rng.choice(sorted(allowed if rng.random() < 0.5 or not short else short)))
        return more


def observed(matcher: Any, tokenizer: Any) -> tuple[frozenset[int], bool]:
    return frozenset(read_mask(matcher, tokenizer.vocab_size)), matcher.is_accepting()


def test_drafts_equal_token_by_token_from_the_start(
    grammars: list[Any], tiny_tokenizer: Any, rng: random.Random, costly: Callable[[int], int]
) -> None:
    walkers = [Walker(grammar, tiny_tokenizer) for grammar in grammars]
    for _ in range(costly(2500)):
        walker = rng.choice(walkers)
        tokens = walker.continued(rng, [], rng.randint(0, 4))
        matcher = walker.grammar.matcher()
        matcher.accept_tokens(tokens)
        draft = walker.continued(rng, tokens, rng.randint(0, 4))
        n_good = len(draft)
        if rng.random() < 0.5:
            allowed, _ = walker.state(tokens + draft)
            refused = sorted(set(range(tiny_tokenizer.vocab_size)) - allowed)
            draft = [*draft, rng.choice(refused), *draft[:1]]
        assert matcher.validate_tokens(draft) == n_good
        assert observed(matcher, tiny_tokenizer) == walker.state(tokens)
        if n_good < len(draft):
            with pytest.raises(llmask.TokenRejected):
                matcher.accept_tokens(draft)
            assert observed(matcher, tiny_tokenizer) == walker.state(tokens)
        matcher.accept_tokens(draft[:n_good])
        tokens = tokens + draft[:n_good]
        assert observed(matcher, tiny_tokenizer) == walker.state(tokens)
        n_back = rng.randint(0, len(tokens))
        matcher.rollback(n_back)
        tokens = tokens[: len(tokens) - n_back]
        assert observed(matcher, tiny_tokenizer) == walker.state(tokens)
        more = walker.continued(rng, tokens, 2)
        for token in more:
            matcher.accept_token(token)
        assert observed(matcher, tiny_tokenizer) == walker.state(tokens + more)


def test_forks_go_their_own_ways(
    grammars: list[Any], tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    walkers = [Walker(grammar, tiny_tokenizer) for grammar in grammars]
    for _ in range(scaled(300)):
        walker = rng.choice(walkers)
        family: list[tuple[Any, list[int]]] = [(walker.grammar.matcher(), [])]
        for _ in range(12):
            matcher, tokens = rng.choice(family)
            action = rng.random()
            if action < 0.3:
                family.append((matcher.fork(), list(tokens)))
            elif action < 0.5:
                n_back = rng.randint(0, len(tokens))
                matcher.rollback(n_back)
                del tokens[len(tokens) - n_back :]
            elif action < 0.55:
                matcher.reset()
                tokens.clear()
            else:
                more = walker.continued(rng, tokens, rng.randint(1, 3))
                matcher.accept_tokens(more)
                tokens += more
            for other, its_tokens in family:
                assert observed(other, tiny_tokenizer) == walker.state(its_tokens)


def test_long_sequences_fork_and_roll_back(tiny_tokenizer: Any) -> None:
    # The history lies in chunks of 1,024: the ends of a chunk are the places to break.
    grammar = llmask.Compiler(tiny_tokenizer).regex("[ab]*c[ab]*")
    a, c = (
        next(t for t in range(tiny_tokenizer.vocab_size) if tiny_tokenizer.token_bytes(t) == x) for x in (b"a", b"c")
    )
    matcher = grammar.matcher()
    before = observed(matcher, tiny_tokenizer)
    for n_tokens in (1023, 1024, 1025, 2048, 2049, 5000):
        matcher.accept_tokens([a] * n_tokens)
        other = matcher.fork()
        other.accept_token(c)
        after = observed(other, tiny_tokenizer)
        assert observed(matcher, tiny_tokenizer) == before != after
        other.rollback(n_tokens)
        assert observed(other, tiny_tokenizer) == before
        other.rollback(1)
        other.accept_tokens([a] * 3000 + [c])
        assert observed(other, tiny_tokenizer) == after
        matcher.rollback(n_tokens)
        assert observed(matcher, tiny_tokenizer) == before


def test_bytes_and_tokens_lead_to_the_same_state(
    grammars: list[Any], tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    walkers = [Walker(grammar, tiny_tokenizer) for grammar in grammars]
    for _ in range(scaled(500)):
        walker = rng.choice(walkers)
        tokens = [token for token in walker.continued(rng, [], 6) if token not in tiny_tokenizer.eos_ids]
        matcher = walker.grammar.matcher()
        data = b"".join(map(tiny_tokenizer.token_bytes, tokens))
        cut = rng.randint(0, len(data))
        matcher.accept_bytes(data[:cut])
        matcher.accept_bytes(data[cut:])
        assert observed(matcher, tiny_tokenizer) == walker.state(tokens)


def test_after_the_end_only_the_end_is_allowed(grammars: list[Any], tiny_tokenizer: Any, rng: random.Random) -> None:
    eos = tiny_tokenizer.eos_ids[0]
    n_ended = 0
    for grammar in grammars:
        walker = Walker(grammar, tiny_tokenizer)
        for _ in range(40):
            tokens = walker.continued(rng, [], rng.randint(0, 8))
            matcher = walker.fresh(tokens)
            if tokens[-1:] == [eos]:
                matcher.rollback(1)
            allowed, is_accepting = observed(matcher, tiny_tokenizer)
            assert (eos in allowed) == is_accepting
            assert not matcher.is_terminated()
            if not is_accepting:
                with pytest.raises(llmask.TokenRejected):
                    matcher.accept_token(eos)
                continue
            n_ended += 1
            matcher.accept_token(eos)
            assert matcher.is_terminated()
            assert read_mask(matcher, tiny_tokenizer.vocab_size) == set(tiny_tokenizer.eos_ids)
            for token in (eos, 3, 100):
                with pytest.raises(llmask.TokenRejected):
                    matcher.accept_token(token)
            assert matcher.validate_tokens([eos]) == 0
            assert matcher.fork().is_terminated()
            matcher.rollback(1)
            assert not matcher.is_terminated()
            assert observed(matcher, tiny_tokenizer) == (allowed, is_accepting)
    assert n_ended > 50


def test_special_empty_and_impossible_ids_are_refused(grammars: list[Any], tiny_tokenizer: Any) -> None:
    empty = [t for t in range(tiny_tokenizer.vocab_size) if not tiny_tokenizer.token_bytes(t)]
    ids = {*tiny_tokenizer.special_ids, *empty} - set(tiny_tokenizer.eos_ids)
    for grammar in grammars:
        matcher = grammar.matcher()
        before = observed(matcher, tiny_tokenizer)
        assert not before[0] & ids
        for token in (*sorted(ids), -1, tiny_tokenizer.vocab_size, 2**31, 2**40):
            with pytest.raises(llmask.LlmaskError):
                matcher.accept_token(token)
            assert matcher.validate_tokens([token]) == 0
            assert observed(matcher, tiny_tokenizer) == before


def test_a_batch_of_masks_equals_masks_one_by_one(grammars: list[Any], tiny_tokenizer: Any, rng: random.Random) -> None:
    matchers = []
    for grammar in grammars * 3:
        walker = Walker(grammar, tiny_tokenizer)
        matchers.append(walker.fresh(walker.continued(rng, [], rng.randint(0, 5))))
    rows = rng.sample(range(len(matchers) + 5), k=len(matchers))
    batch = llmask.allocate_bitmask(len(matchers) + 5, tiny_tokenizer.vocab_size)
    for threads in (None, 1, 2):
        batch[:] = 0x1234567
        llmask.fill_bitmasks(matchers, batch, rows=rows, threads=threads)
        single = llmask.allocate_bitmask(1, tiny_tokenizer.vocab_size)
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.fill_bitmask(single)
            assert np.array_equal(batch[row], single[0])
        untouched = sorted(set(range(len(batch))) - set(rows))
        assert (batch[untouched] == 0x1234567).all()
