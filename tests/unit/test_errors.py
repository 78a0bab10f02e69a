"""One table of bad input: the whole message of each, its class, and a state that is as it was before.

What a compiler is given is in tests/contract/mistakes, vocabulary files next to what reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.errors import (
    GrammarError,
    LimitExceeded,
    LlmaskError,
    TokenRejected,
    UnsatisfiableSchema,
    UnsupportedSchema,
    VocabularyError,
)
from tests.reference.definition import read_mask

A, B, C, X = 100, 101, 102, 123  # tokens of one byte in the tiny vocabulary, whose ids are the byte + 3
EOS, SPECIAL, EMPTY = 1, 0, 2
N_WORDS = 10

ALLOCATE = "\n  make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)"
BITMASK = (
    "a bitmask is a writable int32 array of one or two dimensions, the words of a row side by side, not {}" + ALLOCATE
)
ASK_THE_MASK = "\n  fill_bitmask tells which tokens may come next, explain why"
AFTER_AB = "\n  at token 2, after 'ab'" + ASK_THE_MASK
INT = "\n  give it as an int"
IDS = "token ids are a sequence of integers, not {}\n  for one token use a list of one"


def zeros(*shape: int, dtype: Any = np.int32) -> Any:
    return np.zeros(shape, dtype)


def read_only() -> Any:
    array = zeros(1, N_WORDS)
    array.flags.writeable = False
    return array


def unaligned() -> Any:
    return np.frombuffer(bytearray(4 * N_WORDS + 1), np.uint8)[1:].view(np.int32).reshape(1, N_WORDS)


# What is done to a matcher of `[ab]*c` that has accepted the tokens `a` and `b`, with each of these, and what is said:
# {} is the type of what was given.
WRONG: list[tuple[Callable[[Any, Any], Any], list[Any], str]] = [
    (
        lambda m, token: m.accept_token(token),
        ["a", b"a", 1.0, np.float32(1), None, True, [A]],
        "a token id is an integer, not {}" + INT,
    ),
    (lambda m, token: m.accept_tokens([A, B, token]), [1.0, "ab"], "a token id is an integer, not {}" + INT),
    (lambda m, token: m.validate_tokens([A, token]), [1.0], "a token id is an integer, not {}" + INT),
    (lambda m, tokens: m.accept_tokens(tokens), [A, None], IDS),
    (lambda m, tokens: m.validate_tokens(tokens), [A], IDS),
    (lambda m, tokens: m.accept_tokens(tokens), ["ab"], "a token id is an integer, not str" + INT),
    (
        lambda m, text: m.accept_bytes(text),
        ["a", 3, None, [97]],
        "text is given as bytes, not as {}\n  encode it as UTF-8 first",
    ),
    (lambda m, n: m.rollback(n), [1.0, True, None], "the number of tokens to roll back is an integer, not {}" + INT),
    (lambda m, mask: m.fill_bitmask(mask), [None, [[0] * N_WORDS], [], "mask"], BITMASK),
    (lambda m, row: m.fill_bitmask(zeros(2, 10), row), [1.0, True, None, "0"], "a row is an integer, not {}" + INT),
    (
        lambda m, threads: llmask.fill_bitmasks([m], zeros(2, 10), threads=threads),
        ["2"],
        "the number of threads is an integer, not {}" + INT,
    ),
    (
        lambda m, rows: llmask.fill_bitmasks([m], zeros(2, 10), rows=rows),
        [0],
        "rows are a sequence, not {}\n  give a list",
    ),
    (lambda m, row: llmask.fill_bitmasks([m], zeros(2, 10), rows=[row]), [0.5], "a row is an integer, not {}" + INT),
    *(
        (lambda m, mask: m.fill_bitmask(mask), [mask], BITMASK.format(given))
        for mask, given in [
            (zeros(1, N_WORDS, dtype=np.int64), f"int64[1, {N_WORDS}]"),
            (zeros(1, N_WORDS, dtype=np.uint32), f"uint32[1, {N_WORDS}]"),
            (zeros(1, N_WORDS, dtype=">i4"), f">i4[1, {N_WORDS}]"),
            (zeros(1, N_WORDS, dtype=object), f"object[1, {N_WORDS}]"),
            (zeros(), "int32[]"),
            (zeros(1, 1, N_WORDS), f"int32[1, 1, {N_WORDS}]"),
            (np.asfortranarray(zeros(2, N_WORDS)), f"int32[2, {N_WORDS}], 8 bytes from word to word"),
            (zeros(1, 2 * N_WORDS)[:, ::2], f"int32[1, {N_WORDS}], 8 bytes from word to word"),
            (read_only(), f"int32[1, {N_WORDS}], read-only"),
            (unaligned(), f"int32[1, {N_WORDS}], unaligned"),
        ]
    ),
    *(
        (
            lambda m, given: m.fill_bitmask(zeros(*given[0]), given[1]),
            [(shape, row)],
            f"row {row} of a bitmask of shape {shape} cannot hold 10 words" + ALLOCATE,
        )
        for shape, row in [((1, 9), 0), ((0, 10), 0), ((2, 10), -1), ((2, 10), 2), ((2, 10), 2**70)]
    ),
    *(
        (
            lambda m, n: m.rollback(n),
            [n],
            f"cannot roll back {n} tokens: 2 were accepted\n  give a number between 0 and that",
        )
        for n in (3, -1)
    ),
    (
        lambda m, other: llmask.fill_bitmasks([m, None, other], zeros(3, 10)),
        [3],
        "a matcher is a Matcher, not {}\n  give what g.matcher() made",
    ),
    (
        lambda m, rows: llmask.fill_bitmasks([m], zeros(2, 10), rows=rows),
        [[0, 1]],
        "1 matchers, but 2 rows\n  give one row for each matcher",
    ),
]
REFUSED: list[tuple[Callable[[Any, Any], Any], Any, str]] = [
    *(
        (lambda m, token: m.accept_token(token), token, f"token {told} cannot come next; expected 'a'..'c'" + AFTER_AB)
        for token, told in [(np.int64(X), "123 'x'"), (SPECIAL, "0 (<s>)"), (EMPTY, "2 (special, it has no text)")]
    ),
    (
        lambda m, tokens: m.accept_tokens(tokens),
        [A, X],
        "token 123 'x' cannot come next; expected 'a'..'c'\n  at token 3, after 'aba'" + ASK_THE_MASK,
    ),
]
MATCHER = [
    *(
        (act, given, LlmaskError, text.format(type(given).__name__) if "{}" in text else text)
        for act, values, text in WRONG
        for given in values
    ),
    *((act, given, TokenRejected, text) for act, given, text in REFUSED),
]


def seen(matcher: Any) -> tuple[Any, ...]:
    vocab_size = matcher.grammar.tokenizer.vocab_size
    return (
        matcher.tokens,
        matcher.text(),
        matcher.is_accepting(),
        matcher.is_terminated(),
        read_mask(matcher, vocab_size),
    )


@pytest.mark.long
@pytest.mark.parametrize(("act", "given", "kind", "message"), MATCHER)
@pytest.mark.parametrize("is_warm", [False, True], ids=["before the first mask", "after a mask"])
def test_bad_input_to_a_matcher(
    tiny_tokenizer: Any,
    act: Callable[[Any, Any], Any],
    given: Any,
    kind: type[LlmaskError],
    message: str,
    is_warm: bool,
) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).regex("[ab]*c").matcher()
    matcher.accept_tokens([A, B])
    if is_warm:
        seen(matcher)
    with pytest.raises(LlmaskError) as caught:
        act(matcher, given)
    assert type(caught.value) is kind
    assert str(caught.value) == message
    fresh = llmask.Compiler(tiny_tokenizer).regex("[ab]*c").matcher()
    fresh.accept_tokens([A, B])
    assert seen(matcher) == seen(fresh)
    matcher.accept_token(C)
    assert matcher.is_accepting()


def test_a_number_of_bytes_is_none_below_0(tiny_tokenizer: Any) -> None:
    with pytest.raises(LlmaskError) as caught:
        llmask.Compiler(tiny_tokenizer, cache_bytes=-1)
    assert str(caught.value) == "cache_bytes is a number of bytes, not -1\n  give 0 for no cache"


def test_a_byte_that_no_token_spells_is_an_error_of_the_vocabulary() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"</s>"], eos=2)
    matcher = llmask.Compiler(tokenizer).regex("ab*c").matcher()
    matcher.accept_token(0)
    bitmask = llmask.allocate_bitmask(1, 3)
    matcher.fill_bitmask(bitmask)
    stuck = llmask.Compiler(tokenizer).regex("ac").matcher()
    stuck.accept_token(0)
    with pytest.raises(VocabularyError) as caught:
        stuck.fill_bitmask(bitmask)
    assert str(caught.value) == (
        "the grammar goes on here, but no token of the vocabulary spells what may come next\n  at token 1, after 'a'\n"
        "  use a vocabulary with a token for every byte, or a grammar within its alphabet"
    )
    assert stuck.tokens == [0]


def test_every_class_has_the_parents_that_callers_catch() -> None:
    for kind in (GrammarError, LimitExceeded, TokenRejected, VocabularyError):
        assert issubclass(kind, LlmaskError)
    for kind in (UnsupportedSchema, UnsatisfiableSchema):
        assert issubclass(kind, GrammarError)
    for kind in (GrammarError, TokenRejected, VocabularyError):
        assert issubclass(kind, ValueError)
    assert issubclass(LimitExceeded, RuntimeError)


def test_the_three_parts_are_attributes_and_lines() -> None:
    error = LlmaskError("what", where="where", help="how")
    assert (error.message, error.where, error.help) == ("what", "where", "how")
    assert str(error) == "what\n  at where\n  how"
    assert str(LlmaskError("what")) == "what"
    assert str(LlmaskError("what", help="how")) == "what\n  how"


def test_an_error_about_a_lone_surrogate_can_be_printed() -> None:
    assert str(llmask.GrammarError("refused", "#/\ud800")) == "refused\n  at #/\\ud800"


@pytest.mark.parametrize(
    "compile_now",
    [
        lambda compiler, name: compiler.lark(f"%import common.{name.upper()}\nstart: {name.upper()}"),
        lambda compiler, name: compiler.lark(f"start: {name}"),
        lambda compiler, name: compiler.lark(f"start: <{name}>"),
        lambda compiler, name: compiler.gbnf(f"root ::= {name}"),
        lambda compiler, name: compiler.ebnf(f"root ::= {name}"),
        lambda compiler, name: compiler.json_schema({"properties": {name: 3}}),
        lambda compiler, name: compiler.json_schema({"$ref": f"#/{name}"}),
        lambda compiler, name: compiler.structural_tag({"type": "structural_tag", "format": {"type": name}}),
        lambda compiler, name: compiler.tools([{"name": name, "inputSchema": {}}], "hermes"),
        lambda compiler, name: compiler.response_format({"type": "text", name: 1}),
    ],
)
def test_what_is_quoted_is_shortened(compile_now: Callable[[Any, str], object], tiny_tokenizer: Any) -> None:
    # the message repeated a name of 117,000 characters
    with pytest.raises(LlmaskError) as caught:
        compile_now(llmask.Compiler(tiny_tokenizer), "ab" * 20_000)
    assert max(len(caught.value.message), len(caught.value.help or ""), len(str(caught.value)) // 3) <= 1010


def test_the_place_stays_whole_for_programs() -> None:
    error = GrammarError("m" * 5000, "#/" + "w" * 5000, "h" * 5000)
    assert len(error.where or "") == 5002
    assert len(error.message) == len(error.help or "") == 1000
    assert "mmm...mmm" in error.message
    assert len(str(error)) < 3020
    assert GrammarError(error.message, None, error.help).message == error.message
