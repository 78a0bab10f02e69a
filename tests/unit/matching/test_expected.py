"""Tokens that a grammar names by their ids, in everything that a matcher does."""

from __future__ import annotations

import pytest

import llmask
from llmask.errors import TokenRejected
from llmask.matching.expected import named_ranges, named_tokens
from llmask.vocabulary.vocabulary import from_bytes
from tests.reference.definition import read_mask

LETTERS = [bytes([byte]) for byte in b"abcdefgh "]
A, B = 0, 1
AB, EOS, CALL, DONE, EOM = range(len(LETTERS), len(LETTERS) + 5)
N_TOKENS = EOM + 1


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    tokens = [*LETTERS, b"ab", b"<eos>", b"<call>", b"<done>", b"<eom>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=[EOS, EOM], special=[CALL, DONE]))


def mask(matcher: llmask.Matcher) -> set[int]:
    return read_mask(matcher, N_TOKENS)


def test_special_tokens_are_allowed_only_where_they_are_named(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: "a"+ <call> "b" <[11-12]>?').matcher()
    assert mask(matcher) == {A}
    matcher.accept_token(A)
    assert mask(matcher) == {A, CALL}
    matcher.accept_tokens([CALL, B])
    assert mask(matcher) == {EOS, EOM, CALL, DONE}
    assert matcher.text() == b"ab"
    matcher.accept_token(DONE)
    assert mask(matcher) == {EOS, EOM}
    matcher.accept_token(EOS)
    assert matcher.is_terminated()


def test_a_token_that_ends_a_lexeme_is_allowed_where_the_lexeme_may_end(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark("start: /[ab]*b/ <call>").matcher()
    matcher.accept_token(A)
    assert CALL not in mask(matcher)
    matcher.accept_token(AB)
    assert mask(matcher) == {A, B, AB, CALL}


def test_bytes_never_spell_a_special_token(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: <call> "a"').matcher()
    with pytest.raises(TokenRejected):
        matcher.accept_bytes(b"<call>")
    with pytest.raises(TokenRejected):
        matcher.accept_bytes(b"a")
    matcher.accept_token(CALL)
    matcher.accept_bytes(b"a")
    assert matcher.is_accepting()


def test_rollback_forks_and_validation(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: (<call> "a")+ <done>').matcher()
    assert matcher.validate_tokens([CALL, A, CALL, A, DONE, EOS, A]) == 6
    matcher.accept_tokens([CALL, A])
    twin = matcher.fork()
    twin.accept_token(DONE)
    assert mask(matcher) == {CALL, DONE}
    assert mask(twin) == {EOS, EOM}
    twin.rollback(2)
    assert mask(twin) == {A}
    with pytest.raises(TokenRejected):
        matcher.accept_tokens([CALL, DONE])
    assert matcher.tokens == [CALL, A]


def test_batches_are_filled_alike(compiler: llmask.Compiler) -> None:
    grammar = compiler.lark('start: (<call> "a")+ <[^10]>')
    matchers = [grammar.matcher() for _ in range(3)]
    matchers[1].accept_token(CALL)
    matchers[2].accept_tokens([CALL, A])
    bitmask = llmask.allocate_bitmask(3, N_TOKENS)
    llmask.fill_bitmasks(matchers, bitmask)
    expected = [{CALL}, {A}, set(range(N_TOKENS)) - {EOS, EOM}]
    found = [{token for token in range(N_TOKENS) if bitmask[row, token >> 5] >> (token & 31) & 1} for row in range(3)]
    assert found == [mask(matcher) for matcher in matchers] == expected


def test_an_ordinary_token_that_is_named_is_not_read_as_text(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark(f'start: "abc" | <[{AB}]> "d"').matcher()
    assert mask(matcher) == {A, AB}
    matcher.accept_token(AB)
    assert mask(matcher) == {LETTERS.index(b"d")}
    matcher.rollback(1)
    matcher.accept_tokens([A, B])
    assert mask(matcher) == {LETTERS.index(b"c")}


def test_all_tokens_but_some_are_all_but_these_and_the_ends(compiler: llmask.Compiler) -> None:
    matcher = compiler.gbnf("root ::= (!<done>)* <done>").matcher()
    every = set(range(N_TOKENS))
    assert mask(matcher) == every - {EOS, EOM}
    matcher.accept_tokens([AB, CALL, A, DONE])
    assert mask(matcher) == {EOS, EOM}
    matcher = compiler.lark("start: <[*]>+").matcher()
    assert mask(matcher) == every - {EOS, EOM}
    matcher.accept_token(CALL)
    bitmask = llmask.allocate_bitmask(1, N_TOKENS)
    assert not matcher.fill_bitmask(bitmask), "every token is allowed"
    assert mask(matcher) == every


def test_an_end_of_sequence_that_is_named_ends_the_document_where_nothing_follows(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: "a" <eom>').matcher()
    matcher.accept_token(A)
    assert mask(matcher) == {EOM}, "the document must not end without it"
    with pytest.raises(TokenRejected):
        matcher.accept_token(EOS)
    matcher.accept_token(EOM)
    assert matcher.is_terminated()
    matcher.rollback(1)
    assert not matcher.is_terminated()
    matcher = compiler.lark('start: ("a" <eom>)+').matcher()
    matcher.accept_tokens([A, EOM])
    assert not matcher.is_terminated()
    assert mask(matcher) == {A, EOS, EOM}
    matcher.accept_tokens([A, EOM, EOM])
    assert matcher.is_terminated()


def test_a_single_special_token_is_forced(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: <call> <done> ("a" | "b") <call>').matcher()
    assert matcher.forced_bytes() == b""
    assert matcher.forced_tokens() == [CALL, DONE]
    matcher.accept_tokens([CALL, DONE, A])
    assert matcher.forced_tokens() == [CALL]
    assert compiler.lark("start: <call> | <done>").matcher().forced_tokens() == []
    assert compiler.lark('start: <call> | "a"').matcher().forced_tokens() == []
    assert compiler.lark("start: <call>?").matcher().forced_tokens() == []


def with_specials() -> llmask.Tokenizer:
    """The default vocabulary with two special tokens more."""
    vocabulary = llmask.Tokenizer.default().vocabulary
    tokens = [*vocabulary.tokens.strings(), b"<call>", b"<done>"]
    special = [len(tokens) - 2, len(tokens) - 1]
    return llmask.Tokenizer(from_bytes(tokens, eos=vocabulary.eos_ids, special=special, encoder=vocabulary.encoder))


def test_forced_text_and_tokens_alternate() -> None:
    tokenizer = with_specials()
    matcher = llmask.Compiler(tokenizer).lark('start: "one hundred" <call> "two hundred" ("a" | "b")').matcher()
    call = tokenizer.special_ids[-2]
    text = tokenizer.encode("one hundred")
    forced = matcher.forced_tokens()
    assert forced[: len(text) + 2] == [*text, call, *tokenizer.encode("two")[:1]]
    matcher.accept_tokens(forced)
    matcher.rollback(len(forced) - len(text) - 2)
    assert matcher.forced_tokens() == forced[len(text) + 2 :]


def test_forced_bytes_stop_before_a_named_token(compiler: llmask.Compiler) -> None:
    assert compiler.lark('start: "ab" <call>? "cd"').matcher().forced_bytes() == b"ab"


def test_messages_name_the_tokens(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: "a" | <call> | <[0-8]>').matcher()
    with pytest.raises(TokenRejected) as caught:
        matcher.accept_token(DONE)
    assert caught.value.message == f"token {DONE} (<done>) cannot come next; expected 'a', <[0-8]>, <call>"
    configuration = matcher._sequence.configuration
    assert named_ranges(matcher._sequence, configuration) == [(0, 8), (CALL, CALL)]
    assert named_tokens(matcher._sequence, configuration) == ["<[0-8]>", "<call>"]


def test_a_prefix_is_spelled_before_named_tokens(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: "b"? <call> "c"').matcher(prefix=b"a")
    assert mask(matcher) == {A, AB}
    matcher.accept_token(A)
    assert mask(matcher) == {B, CALL}
    matcher.accept_token(CALL)
    assert mask(matcher) == {LETTERS.index(b"c")}
    matcher.rollback(2)
    matcher.accept_token(AB)
    assert mask(matcher) == {CALL}


def test_sequences_move_to_new_tables_with_their_special_tokens() -> None:
    tokens = [*LETTERS, b"ab", b"<eos>", b"<call>", b"<done>", b"<eom>"]
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=[EOS, EOM], special=[CALL, DONE])
    compiler = llmask.Compiler(tokenizer, limits=llmask.Limits(renew_grammar_bytes=1))
    grammar = compiler.lark('start: "(" start ")" | <call> start <done> | /[a-d]{1,9}/ | "e" <eom>')
    matcher = grammar.matcher()
    first = grammar.generation
    for n in range(300):
        matcher.accept_token(CALL)
        matcher.forced_bytes()
        assert mask(matcher) >= {A, AB, CALL}, n
    matcher.accept_token(A)
    matcher.accept_tokens([DONE] * 300)
    assert matcher.is_accepting()
    assert grammar.generation is not first
    assert matcher.tokens == [CALL] * 300 + [A] + [DONE] * 300


@pytest.mark.long
@pytest.mark.parametrize("text", ['start: <call> "abc" <done> "ab"', 'start: (<call> ("abc" | "ab") <done>)+'])
def test_canonical_masks_end_texts_at_special_tokens(text: str) -> None:
    tokenizer = with_specials()
    call, done = tokenizer.special_ids[-2:]
    matcher = llmask.Compiler(tokenizer, canonical=True).lark(text).matcher()
    for token in [call, *tokenizer.encode("abc"), done]:
        allowed = read_mask(matcher, tokenizer.vocab_size)
        assert token in allowed
        assert {call, done} & allowed == {call, done} & {token}
        matcher.accept_token(token)
    assert matcher.is_accepting() == ("+" in text)
    matcher.rollback(1)
    with pytest.raises(TokenRejected):
        matcher.accept_token(call)


@pytest.mark.long
def test_canonical_masks_look_behind_ordinary_tokens_that_are_named() -> None:
    """Behind `na` there is no `me`, which would merge with it, but a digit; the name leads elsewhere than the bytes."""
    tokenizer = with_specials()
    compiler = llmask.Compiler(tokenizer, canonical=True)
    na, one = tokenizer.encode("na")[0], tokenizer.encode("1")[0]
    size = tokenizer.vocab_size
    assert na not in read_mask(compiler.lark(f'start: <[{na}]> "me" | "xy"').matcher(), size)
    matcher = compiler.lark(f'start: <[{na}]> "1" | "name"').matcher()
    assert read_mask(matcher, size) == {na, *tokenizer.encode("name")}
    matcher.accept_token(na)
    assert read_mask(matcher, size) == {one}
    matcher = compiler.lark(f'start: "a" | <[{na}]> "me"').matcher()
    matcher.accept_tokens([*tokenizer.encode("a"), *tokenizer.eos_ids[:1]])
    assert matcher.is_terminated()


@pytest.mark.long
def test_a_canonical_dead_end_leaves_the_grammatical_mask() -> None:
    """Only `na` may come and only `me` behind it: nothing canonical follows, and the text begins anew behind `na`."""
    tokenizer = with_specials()
    na, me = tokenizer.encode("na")[0], tokenizer.encode("me")[0]
    grammar = llmask.Compiler(tokenizer, canonical=True).lark(f'start: <[{na}]> "me"')
    matcher = grammar.matcher()
    assert read_mask(matcher, tokenizer.vocab_size) == {na}
    assert grammar.n_cut == 1
    matcher.accept_token(na)
    assert me in read_mask(matcher, tokenizer.vocab_size)
    matcher.accept_tokens([me, tokenizer.eos_ids[0]])
    assert matcher.is_terminated()
