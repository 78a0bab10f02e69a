"""Stop tokens end a sequence where it may end, and nowhere else; sequences that end by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import llmask
from tests.reference.definition import read_mask

END = 256  # end of sequence of byte_tokenizer, where token id = byte
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


def mask_of(matcher: Any, budget: int | None = None) -> set[int]:
    return read_mask(matcher, matcher.grammar.tokenizer.vocab_size, budget)


def tokens_of(words: Any) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist())


@pytest.mark.parametrize("prefix", [b"", b"a"])
def test_masks_are_those_of_the_grammar_with_the_stop_tokens_at_the_ends(compiler: Any, prefix: bytes) -> None:
    grammar = compiler.regex("(ab|c)*")
    stops = {ord("c"), ord("x")}
    plain, stopping = grammar.matcher(prefix), grammar.matcher(prefix, stop_tokens=stops)
    for token in [*prefix, *b"ababab"]:
        expected = mask_of(plain)
        expected = expected | stops if plain.is_accepting() else expected - stops
        assert mask_of(stopping) == expected
        for stop in stops:
            assert stopping.fork().accept(stop) == plain.is_accepting()
        plain.accept_token(token)
        stopping.accept_token(token)
    text = stopping.text()
    stopping.accept_token(np.int64(ord("c")))
    assert stopping.is_terminated()
    assert stopping.text() == text
    assert mask_of(stopping) == {END, *stops}
    for token in (*stops, END, ord("a")):
        assert not stopping.accept(token)
    stopping.rollback(1)
    assert not stopping.is_terminated()
    assert stopping.text() == text
    stopping.accept_token(END)
    assert stopping.is_terminated()
    stopping.reset()
    assert mask_of(stopping) == mask_of(grammar.matcher(prefix, stop_tokens=stops))


def test_a_stop_token_without_a_text_keeps_budgets_and_finishes(tiny_tokenizer: Any) -> None:
    special = next(t for t in sorted(tiny_tokenizer.special_ids) if t not in tiny_tokenizer.eos_ids)
    grammar = llmask.Compiler(tiny_tokenizer).regex("a{2,9}")
    plain, stopping = grammar.matcher(), grammar.matcher(stop_tokens=[special], on_limit="finish")
    token = next(i for i in range(tiny_tokenizer.vocab_size) if tiny_tokenizer.token_bytes(i) == b"a")
    for left in range(6, 0, -1):
        expected = mask_of(plain, left) | ({special} if plain.is_accepting() else set())
        assert mask_of(stopping, left) == expected
        if token not in expected:
            break
        plain.accept_token(token)
        stopping.accept_token(token)
    assert stopping.least_budget() == plain.least_budget()
    assert stopping.accept(special)


@pytest.mark.parametrize("n", [3, 31, 32, 33, 64])
def test_masks_of_all_tokens_restrict_nothing(n: int) -> None:
    letters = [bytes([ord("a") + number % 26]) * (1 + number // 26) for number in range(n - 1)]
    grammar = llmask.Compiler(llmask.Tokenizer.from_bytes([*letters, b"</s>"], eos=n - 1)).regex("([a-z]{2})*")
    matcher = grammar.matcher(stop_tokens=[0])
    assert mask_of(matcher) == set(range(n))
    matcher.accept_token(1)
    assert mask_of(matcher) == set(range(1, n - 1))


def test_what_follows_ways_to_the_end_is_refused_where_a_stop_token_has_a_text(compiler: Any) -> None:
    matcher = compiler.regex("a*").matcher(stop_tokens=[ord("x")], on_limit="finish")
    words = llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size)
    for call in (
        lambda: matcher.fill_bitmask(words, budget=3),
        lambda: matcher.finish(words),
        matcher.least_budget,
        matcher.finishing_tokens,
        lambda: llmask.fill_bitmasks([matcher], words, budgets=[3]),
    ):
        with pytest.raises(llmask.LlmaskError, match="the stop token 120 has a text, and ways to the end would write"):
            call()


def test_what_follows_ways_to_the_end_is_refused_where_the_grammar_names_tokens(tiny_tokenizer: Any) -> None:
    special = next(t for t in sorted(tiny_tokenizer.special_ids) if t not in tiny_tokenizer.eos_ids)
    grammar = llmask.Compiler(tiny_tokenizer).lark(f'start: "a" (<[{special}]> | "ccc") "b"?')
    matcher = grammar.matcher(stop_tokens=[special])
    matcher.accept_bytes(b"a")
    assert special not in mask_of(matcher)
    assert not matcher.accept(special)
    with pytest.raises(llmask.LlmaskError, match="the grammar names tokens, and ways to the end might write"):
        mask_of(matcher, 3)  # the shortest way is the token, which may not be written: the mask was empty
    matcher.accept_bytes(b"ccc")
    assert special in mask_of(matcher)
    assert matcher.accept(special)


def test_nothing_but_a_stop_token_is_no_mask(compiler: Any) -> None:
    matcher = compiler.regex("ab").matcher(stop_tokens=[ord("a")])
    with pytest.raises(llmask.VocabularyError, match="only stop tokens spell what may come next"):
        mask_of(matcher)
    assert matcher.forced_tokens() == []
    assert not matcher.accept(ord("a"))


def test_batches_and_trees_have_stop_tokens(compiler: Any) -> None:
    grammar = compiler.regex("(ab|c)*")
    stops = [ord("c"), ord("b")]
    matchers = [grammar.matcher(), grammar.matcher(stop_tokens=stops), None, grammar.matcher(stop_tokens=stops)]
    matchers[3].accept_token(ord("a"))  # type: ignore[union-attr]
    words = llmask.allocate_bitmask(4, compiler.tokenizer.vocab_size)
    with pytest.raises(llmask.VocabularyError):
        llmask.fill_bitmasks(matchers, words)
    assert llmask.fill_bitmasks(matchers[:3], words) == [True, True, False]
    for row in range(2):
        assert tokens_of(words[row]) == mask_of(matchers[row])
    first = grammar.matcher(stop_tokens=[ord("c")])
    assert first.fill_drafts(words, [*b"abc"]) == 3
    assert tokens_of(words[3]) == {END, ord("c")}
    assert llmask.accept_batch([first, first], [ord("c"), ord("a")]) == [True, False]


def test_tables_that_are_renewed_keep_the_end(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer, limits=llmask.Limits(renew_grammar_bytes=20_000))
    matcher = compiler.json_schema(SCHEMA).matcher(stop_tokens=[ord("}")])
    matcher.accept_tokens(b'{"a":"b"')
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(ord("}"))  # it cannot stand for its text, and the document cannot end here
    matcher = compiler.json_schema({"type": "integer"}).matcher(stop_tokens=[ord("7")])
    matcher.accept_tokens(b"127")
    generation = matcher._sequence.generation
    matcher._sequence.move(matcher.grammar.new_generation())
    assert matcher._sequence.generation is not generation
    assert matcher.is_terminated()
    assert (matcher.text(), matcher.tokens) == (b"12", [*b"127"])


@pytest.mark.parametrize(
    ("stops", "message"),
    [
        (5, "token ids are a sequence of integers, not int"),
        (["x"], "a stop token is an integer, not str"),
        ([-1], "the stop token -1 is not in the vocabulary"),
        ([2**70], f"the stop token {2**70} is not in the vocabulary"),
        ([True, None], "a stop token is an integer, not "),
    ],
)
def test_other_stop_tokens_are_refused(compiler: Any, stops: Any, message: str) -> None:
    with pytest.raises(llmask.LlmaskError, match=message):
        compiler.regex("a").matcher(stop_tokens=stops)


def test_a_sequence_that_ends_by_itself(compiler: Any) -> None:
    for grammar, text, n_until in (
        (compiler.regex("a{2,3}"), b"aaa", 3),
        (compiler.json_schema(SCHEMA), b'{"a":"b"}', 9),
        (compiler.choice(["yes", "yesyes"]), b"yesyes", 6),
        (compiler.regex("a*"), b"aaaa", 5),
    ):
        matcher, plain = grammar.matcher(terminate_at_end=True), grammar.matcher()
        for place, token in enumerate(text):
            assert matcher.is_terminated() == (place >= n_until), text[:place]
            matcher.accept_token(token)
            plain.accept_token(token)
        assert matcher.is_terminated() == (len(text) >= n_until)
        assert not plain.is_terminated()
        assert mask_of(matcher) == mask_of(plain)
        assert matcher.fork().is_terminated() == matcher.is_terminated()
        if matcher.is_terminated():
            assert mask_of(matcher) == {END}
            matcher.accept_token(END)
            matcher.rollback(2)
            assert not matcher.is_terminated()
    named = compiler.lark('start: "a" "b"?')
    matcher = named.matcher(terminate_at_end=True)
    matcher.accept_token(ord("a"))
    assert not matcher.is_terminated()
    with pytest.raises(llmask.LlmaskError, match="terminate_at_end is True or False"):
        named.matcher(terminate_at_end=np.array([1, 2]))
