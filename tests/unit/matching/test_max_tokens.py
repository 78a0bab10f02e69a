"""max_tokens: terminals that are closed after so many tokens; temperatures."""

from __future__ import annotations

import pytest

import llmask
from tests.reference.definition import read_mask

TOKENS = [b"a", b"b", b";", b"ab", b"a;", b";a", b"a;a", "é".encode()[:1], "é".encode()[1:], b"<eos>"]
A, B, SEMICOLON, AB, A_SEMICOLON, SEMICOLON_A, A_SEMICOLON_A, E1, E2, EOS = range(10)


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=EOS))


def mask(matcher: llmask.Matcher) -> set[int]:
    return read_mask(matcher, len(TOKENS))


def test_a_terminal_is_closed_after_its_tokens(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: a ";"\na[max_tokens=2, capture]: /[abé]*/').matcher()
    assert mask(matcher) == {A, B, AB, A_SEMICOLON, SEMICOLON, E1}
    matcher.accept_token(AB)
    assert A in mask(matcher)
    matcher.accept_token(A)
    assert mask(matcher) == {SEMICOLON}
    matcher.rollback(1)
    assert A in mask(matcher)
    matcher.accept_tokens([B, SEMICOLON, EOS])
    assert matcher.captures() == {"a": b"abb"}


def test_inside_of_a_character_it_goes_on(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: a ";"\na[max_tokens=2]: /[abé]*/').matcher()
    matcher.accept_tokens([A, E1])
    assert mask(matcher) == {E2}
    matcher.accept_token(E2)
    assert mask(matcher) == {SEMICOLON}


def test_every_run_is_counted_anew(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: (a ";")* a\na[max_tokens=2]: /[ab]+/').matcher()
    matcher.accept_tokens([A, A_SEMICOLON_A])
    assert A in mask(matcher), "the token began the second run"
    matcher.accept_token(A)
    assert mask(matcher) == {SEMICOLON, SEMICOLON_A, EOS}
    assert matcher.validate_tokens([SEMICOLON_A, B, B]) == 2
    twin = matcher.fork()
    twin.accept_tokens([SEMICOLON_A, B])
    assert mask(twin) == {SEMICOLON, SEMICOLON_A, EOS}
    assert mask(matcher) == {SEMICOLON, SEMICOLON_A, EOS}


def test_a_terminal_without_limit_is_not_closed(compiler: llmask.Compiler) -> None:
    text = '%llguidance {}\nstart: a ";" | b\na[max_tokens=1]: /[ab]+/\nb: /a+/'
    matcher = compiler.lark(text).matcher()
    matcher.accept_tokens([A, A, A])
    assert mask(matcher) >= {A, SEMICOLON, EOS}
    matcher.accept_token(B)
    assert mask(matcher) == {SEMICOLON}


def test_bytes_count_as_one_token_and_batches_know_it(compiler: llmask.Compiler) -> None:
    grammar = compiler.lark('start: a ";"\na[max_tokens=2]: /[ab]*/')
    matchers = [grammar.matcher(), grammar.matcher()]
    for matcher in matchers:
        matcher.accept_bytes(b"abab")
    matchers[1].accept_token(A)
    bitmask = llmask.allocate_bitmask(2, len(TOKENS))
    llmask.fill_bitmasks(matchers, bitmask)
    assert [int(row[0]) for row in bitmask] == [
        sum(1 << token for token in (A, B, AB, A_SEMICOLON, SEMICOLON)),
        1 << SEMICOLON,
    ]


def test_moving_to_new_tables_keeps_the_counts() -> None:
    tokenizer = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS)
    compiler = llmask.Compiler(tokenizer, limits=llmask.Limits(renew_grammar_bytes=1))
    grammar = compiler.lark('start: "b" start "."? | (a ";")* a\na[max_tokens=2]: /a+/')
    matcher, first = grammar.matcher(), grammar.generation
    for _ in range(200):
        matcher.accept_token(B)
        mask(matcher)
    matcher.accept_tokens([A, A, SEMICOLON, A])
    assert grammar.generation is not first
    matcher._sequence.move(grammar.generation)
    assert A in mask(matcher)
    matcher.accept_token(A)
    assert mask(matcher) == {SEMICOLON, SEMICOLON_A, EOS}


def test_the_temperature_is_that_of_the_terminal_in_hand(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: a ";" b\na[temperature=0.5]: /a+/\nb[temperature=0]: /b+/').matcher()
    found = [matcher.temperature]
    for token in (A, SEMICOLON, B):
        matcher.accept_token(token)
        found.append(matcher.temperature)
    assert found == [0.5, 0.5, 0.0, 0.0]
    assert compiler.lark('start: "a"').matcher().temperature is None
    matcher = compiler.lark('start: ";" b ";"\nb[temperature=1.5]: %lark { start: "a" /b+/ "a" }').matcher()
    found = [matcher.temperature]
    for token in (SEMICOLON, A, B, A):
        matcher.accept_token(token)
        found.append(matcher.temperature)
    assert found == [None, 1.5, 1.5, 1.5, None]
