"""Canonical matchers: everything a matcher does, with fewer tokens."""

from __future__ import annotations

import random
import threading

import pytest

import llmask
from llmask.canonical import states
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.reference.definition import read_mask


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.default(), canonical=True)


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}


def test_tokens_that_are_not_canonical_are_rejected(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = compiler.choice(["name"]).matcher()
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.encode("n")[0])
    assert matcher.tokens == []
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.vocab_size)
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.eos_ids[0])
    matcher.accept_tokens([*tok.encode("name"), tok.eos_ids[0]])
    assert matcher.is_terminated()
    assert read_mask(matcher, tok.vocab_size) == set(tok.eos_ids)
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_token(tok.eos_ids[0])


def test_rollback_and_forks(compiler: llmask.Compiler) -> None:
    rng = random.Random(3)
    size = compiler.tokenizer.vocab_size
    matcher = compiler.json_schema(SCHEMA).matcher()
    seen = []
    for _ in range(25):
        allowed = read_mask(matcher, size)
        seen.append(allowed)
        if matcher.is_terminated():
            break
        twin = matcher.fork()
        token = rng.choice(sorted(allowed))
        twin.accept_token(token)
        twin.rollback(1)
        assert read_mask(twin, size) == allowed
        matcher.accept_token(token)
    tokens = matcher.tokens
    while len(seen) > 1:
        seen.pop()
        if len(matcher.tokens) > len(seen) - 1:
            matcher.rollback(len(matcher.tokens) - (len(seen) - 1))
        assert read_mask(matcher, size) == seen[-1]
    matcher.reset()
    matcher.accept_tokens(tokens)
    assert matcher.tokens == tokens


def test_batches_are_the_masks_of_each(compiler: llmask.Compiler) -> None:
    rng = random.Random(5)
    size = compiler.tokenizer.vocab_size
    plain = llmask.Compiler(compiler.tokenizer).json_schema(SCHEMA).matcher()
    matchers = [*(compiler.json_schema(SCHEMA).matcher() for _ in range(6)), plain]
    for _ in range(8):
        mask = llmask.allocate_bitmask(len(matchers), size)
        llmask.fill_bitmasks(matchers, mask, threads=2)
        for row, matcher in enumerate(matchers):
            alone = llmask.allocate_bitmask(1, size)
            matcher.fill_bitmask(alone)
            assert (alone[0] == mask[row]).all()
            if not matcher.is_terminated():
                matcher.accept_token(rng.choice(sorted(read_mask(matcher, size))))


def test_bytes_are_a_text_of_their_own(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = compiler.choice(["name"]).matcher()
    matcher.accept_bytes(b"na")
    assert read_mask(matcher, tok.vocab_size) == {tok.encode("me")[0]}
    matcher.rollback(1)
    assert read_mask(matcher, tok.vocab_size) == {tok.encode("name")[0]}


def test_canonical_masks_forbid_more_and_never_less(compiler: llmask.Compiler) -> None:
    rng = random.Random(7)
    size = compiler.tokenizer.vocab_size
    plain = llmask.Compiler(compiler.tokenizer)
    for _ in range(4):
        matcher, other = compiler.json_schema(SCHEMA).matcher(), plain.json_schema(SCHEMA).matcher()
        for _ in range(20):
            allowed = read_mask(matcher, size)
            assert allowed
            assert allowed <= read_mask(other, size)
            token = rng.choice(sorted(allowed))
            matcher.accept_token(token)
            other.accept_token(token)
            if matcher.is_terminated():
                break


def test_sequences_move_to_new_tables() -> None:
    limits = llmask.Limits(renew_grammar_bytes=1)
    compiler = llmask.Compiler(llmask.Tokenizer.default(), limits=limits, canonical=True)
    tok = compiler.tokenizer
    matcher = compiler.json_schema(SCHEMA).matcher()
    ids = tok.encode('{"name": "some text", "n": 12345}')
    for token in ids:
        assert token in read_mask(matcher, tok.vocab_size)
        matcher.accept_token(token)
    assert matcher.is_accepting()


def test_two_threads_find_the_same_masks() -> None:
    """Both build what is missing, in the same tables; a third matcher then reads what they found."""
    tok = llmask.Tokenizer.default()
    compiler = llmask.Compiler(tok, canonical=True)
    documents = [
        tok.encode(f'{{"name": "{text}", "n": {n}}}') for n, text in enumerate(("é 日本", "a  b", "it's", "x\\n"))
    ]
    grammar = compiler.json_schema(SCHEMA)
    found: list[list[set[int]]] = [[], []]
    failures = []

    def walk(masks: list[set[int]], order: int) -> None:
        try:
            for ids in documents[::order]:
                matcher = grammar.matcher()
                for token in ids:
                    masks.append(read_mask(matcher, tok.vocab_size))
                    matcher.accept_token(token)
        except Exception as error:  # a thread must not swallow it
            failures.append(error)

    threads = [threading.Thread(target=walk, args=(found[i], (1, -1)[i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    again: list[set[int]] = []
    walk(again, 1)
    assert again == found[0]
    alone = compiler.json_schema({**SCHEMA, "title": "other tables"})
    for ids, masks in zip(documents, split_like(again, documents), strict=True):
        matcher = alone.matcher()
        for token, mask in zip(ids, masks, strict=True):
            assert read_mask(matcher, tok.vocab_size) == mask
            matcher.accept_token(token)
    assert sorted(map(sorted, found[1])) == sorted(map(sorted, found[0]))


def split_like(masks: list[set[int]], documents: list[list[int]]) -> list[list[set[int]]]:
    """One list of masks for each document."""
    rest = iter(masks)
    return [[next(rest) for _ in ids] for ids in documents]


def test_masks_of_a_batch_are_counted_where_the_look_ahead_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "BUDGET", 0)
    monkeypatch.setattr(states, "INSIDE_BUDGET", 0)
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    matchers = [compiler.choice(["name"]).matcher(), compiler.choice(["1"]).matcher()]
    mask = llmask.allocate_bitmask(2, compiler.tokenizer.vocab_size)
    for n in (1, 2):
        assert llmask.fill_bitmasks(matchers, mask) == [True, True]
        assert [matcher.grammar.n_cut for matcher in matchers] == [n, 0]


def test_a_mask_of_all_tokens_is_said_to_be_one() -> None:
    """Behind "a" each of the two tokens may come, and the end; behind "aa" only the end."""
    encoder = EncoderData(kind="bpe", merges=make_table([]), patterns=(r"[a-z]",))
    tokenizer = llmask.Tokenizer(from_bytes([b"a", b"b", b"<end>"], eos=2, encoder=encoder))
    matcher = llmask.Compiler(tokenizer, canonical=True).regex("a([ab])?").matcher()
    assert read_mask(matcher, 3) == {0}
    matcher.accept_token(0)
    assert read_mask(matcher, 3) == {0, 1, 2}
    assert not matcher.fill_bitmask(llmask.allocate_bitmask(1, 3))
    matcher.accept_token(1)
    assert read_mask(matcher, 3) == {2}
