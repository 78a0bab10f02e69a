"""Canonical matchers: everything a matcher does, with fewer tokens; what is taken out of masks is remembered."""

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


def texts(matcher: llmask.Matcher) -> set[bytes]:
    tokenizer = matcher.grammar.tokenizer
    return {tokenizer.token_bytes(token) for token in read_mask(matcher, tokenizer.vocab_size)}


def test_a_beginning_that_cannot_go_on_is_refused(compiler: llmask.Compiler) -> None:
    matcher = compiler.regex('name"').matcher()
    assert texts(matcher) == {b"name"}


def test_positions_are_remembered(compiler: llmask.Compiler) -> None:
    grammar = compiler.choice(["one hundred", "two"])
    tokens = compiler.tokenizer.encode("one hundred")
    grammar.matcher().accept_tokens(tokens)
    n_positions = grammar._loaded.generation.table.view.n_positions
    other = grammar.matcher()
    for token in tokens:
        read_mask(other, compiler.tokenizer.vocab_size)
        other.accept_token(token)
    assert grammar._loaded.generation.table.view.n_positions == n_positions == len(tokens) + 1


def test_searches_that_are_given_up_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "BUDGET", 0)
    monkeypatch.setattr(states, "INSIDE_BUDGET", 0)
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    grammar = compiler.choice(["name"])
    matcher = grammar.matcher()
    assert {b"n", b"na", b"name"} <= texts(matcher)
    assert grammar._loaded.n_cut == 1
    assert compiler.choice(["1"])._loaded.n_cut == 0


@pytest.mark.long
def test_masks_behind_pairs_are_the_same_the_first_time_and_again() -> None:
    """Two grammars get ranges of incompatible tokens, the others a mask where they are many; all refuse them."""
    compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True, cache_bytes=0)
    tok = compiler.tokenizer
    n_many = 0
    for text in ("n", "in", "the", " ", ")", "é", "pri"):
        tokens = tok.encode('"' + text)
        before, found, matchers = tokens[-1], [], []
        for number in range(4):
            matcher = compiler.json_schema({"type": "string", "title": str(number)}).matcher()
            matcher.accept_tokens(tokens)
            matchers.append(matcher)
            found.append([read_mask(matcher, tok.vocab_size) for _ in range(2)])
        assert found[0] == found[1] == found[2] == found[3]
        allowed = found[0][0]
        refused = [token for token in range(tok.vocab_size) if token not in allowed and tok.token_bytes(token)]
        n_refused = 0
        for token in refused:
            data = tok.token_bytes(token)
            if data.isalpha() and tok.token_bytes(before).isalpha():  # one word, so the merges decide
                assert not tok.compatible(before, token), data
                n_refused += 1
                for matcher in (matchers[0], matchers[3]):
                    with pytest.raises(llmask.TokenRejected):
                        matcher.accept_token(token)
        n_many += n_refused > 400
    assert n_many > 1


def test_what_is_found_for_all_grammars_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without room in the store's table the grammars keep what they need, and the masks are the same."""
    schema = {"type": "array", "items": {"type": "string", "maxLength": 6}}
    masks = []
    for size in (states.SHARED_BYTES, 0):
        monkeypatch.setattr(states, "SHARED_BYTES", size)
        compiler = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
        matcher = compiler.json_schema(schema).matcher()
        found = []
        for token in compiler.tokenizer.encode('["abc d","  12",  "日本"]'):
            found.append(read_mask(matcher, compiler.tokenizer.vocab_size))
            matcher.accept_token(token)
        masks.append(found)
    assert masks[0] == masks[1]


def test_limits_are_named(compiler: llmask.Compiler) -> None:
    limits = llmask.Limits(max_grammar_bytes=200_000)
    matcher = llmask.Compiler(compiler.tokenizer, limits=limits, canonical=True).json_schema(True).matcher()
    tokens = compiler.tokenizer.encode("[" * 3000)
    with pytest.raises(llmask.LimitExceeded, match="max_grammar_bytes"):
        matcher.accept_tokens(tokens)


def test_a_free_string_allows_what_can_go_on(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = compiler.json_schema({"type": "string"}).matcher()
    matcher.accept_tokens(tok.encode('"'))
    assert tok.encode("abc")[0] in read_mask(matcher, tok.vocab_size)
    matcher.accept_tokens(tok.encode("  "))
    found = texts(matcher)
    assert b"  " not in found
    assert b" a" in found
    assert b"a" not in found


def test_numbers_that_begin_alike_are_not_taken_for_each_other(compiler: llmask.Compiler) -> None:
    """A number of at least 1 begins with the same tokens as one of at least 256; "40" was allowed for both."""
    free = compiler.json_schema({"type": "number", "minimum": 1}, numbers="plain").matcher()
    assert b"40" in texts(free)
    matcher = compiler.json_schema({"type": "number", "minimum": 256}, numbers="plain").matcher()
    assert not {b"1", b"40"} & texts(matcher)
    assert {b"256", b"400"} <= texts(matcher)


def test_a_string_that_a_token_fills_is_not_taken_for_a_free_one() -> None:
    """Both have the same grammatical mask; but behind the longest token, blanks, only one of them has room."""
    tok = llmask.Tokenizer.default()
    token = max(range(tok.vocab_size), key=lambda token: len(tok.token_bytes(token)))
    blanks = tok.token_bytes(token)
    assert blanks == b" " * len(blanks)
    compiler = llmask.Compiler(tok, canonical=True)
    for schema in ({"type": "string"}, {"type": "string", "maxLength": len(blanks)}):
        matcher = compiler.json_schema(schema).matcher()
        matcher.accept_tokens(tok.encode('"'))
        assert (token in read_mask(matcher, tok.vocab_size)) == ("maxLength" not in schema)


@pytest.mark.long
@pytest.mark.parametrize(("behind_a", "behind_others"), [("up}", "}"), ("}", "ion"), ("ing", "}")])
def test_two_lexemes_with_other_texts_behind_them(behind_a: str, behind_others: str) -> None:
    """Three letters and an "s" come first: what may be the first token depends on what comes behind that lexeme."""
    tok = llmask.Tokenizer.default()
    grammar = f'start: A "{behind_a}" | B "{behind_others}"\nA: /a[a-z][a-z]s/\nB: /[b-z][a-z][a-z]s/'
    plain, canonical = [llmask.Compiler(tok, canonical=flag).lark(grammar).matcher() for flag in (False, True)]
    words = {token: tok.token_bytes(token).decode() for token in read_mask(plain, tok.vocab_size)}
    texts = {
        token: f"{word}s{behind_a if word[0] == 'a' else behind_others}"
        for token, word in words.items()
        if len(word) == 3
    }
    expected = {token for token, text in texts.items() if tok.encode(text)[0] == token}
    assert read_mask(canonical, tok.vocab_size) & texts.keys() == expected
    assert 100 < len(expected) < len(texts)
