"""One table of bad input: the whole message of each, its class, and a state that is as it was before.

Schemas, patterns, limits and vocabulary files have tables of their own, next to what reads them.
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
CHOICES = 'choices are a sequence of str\n  for example ["yes", "no"]'
FORMATS = 'formats are a dict from names to patterns, both str\n  for example {"zip": "[0-9]{5}"}'


def zeros(*shape: int, dtype: Any = np.int32) -> Any:
    return np.zeros(shape, dtype)


def read_only() -> Any:
    array = zeros(1, N_WORDS)
    array.flags.writeable = False
    return array


def unaligned() -> Any:
    return np.frombuffer(bytearray(4 * N_WORDS + 1), np.uint8)[1:].view(np.int32).reshape(1, N_WORDS)


# what is done to a matcher of `[ab]*c` that has accepted the tokens `a` and `b`
MATCHER: list[tuple[str, Callable[[Any], Any], type[LlmaskError], str]] = [
    # --- token ids
    ("token str", lambda m: m.accept_token("a"), LlmaskError, "a token id is an integer, not str" + INT),
    ("token bytes", lambda m: m.accept_token(b"a"), LlmaskError, "a token id is an integer, not bytes" + INT),
    ("token float", lambda m: m.accept_token(1.0), LlmaskError, "a token id is an integer, not float" + INT),
    (
        "token NumPy float",
        lambda m: m.accept_token(np.float32(1)),
        LlmaskError,
        "a token id is an integer, not float32" + INT,
    ),
    ("token None", lambda m: m.accept_token(None), LlmaskError, "a token id is an integer, not NoneType" + INT),
    ("token bool", lambda m: m.accept_token(True), LlmaskError, "a token id is an integer, not bool" + INT),
    ("token list", lambda m: m.accept_token([A]), LlmaskError, "a token id is an integer, not list" + INT),
    (
        "token negative",
        lambda m: m.accept_token(-1),
        TokenRejected,
        "token -1 is not in the vocabulary of 304 tokens; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "token too large",
        lambda m: m.accept_token(304),
        TokenRejected,
        "token 304 is not in the vocabulary of 304 tokens; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "token beyond 64 bits",
        lambda m: m.accept_token(2**70),
        TokenRejected,
        f"token {2**70} is not in the vocabulary of 304 tokens; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "token refused",
        lambda m: m.accept_token(np.int64(X)),
        TokenRejected,
        "token 123 'x' cannot come next; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "token special",
        lambda m: m.accept_token(SPECIAL),
        TokenRejected,
        "token 0 (<s>) cannot come next; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "token empty",
        lambda m: m.accept_token(EMPTY),
        TokenRejected,
        "token 2 (special, it has no text) cannot come next; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "end too early",
        lambda m: m.accept_token(EOS),
        TokenRejected,
        "token 1 (end of sequence) cannot come next; expected 'a'..'c'" + AFTER_AB,
    ),
    (
        "second of two tokens",
        lambda m: m.accept_tokens([A, X]),
        TokenRejected,
        "token 123 'x' cannot come next; expected 'a'..'c'\n  at token 3, after 'aba'" + ASK_THE_MASK,
    ),
    ("tokens int", lambda m: m.accept_tokens(A), LlmaskError, IDS.format("int")),
    ("tokens None", lambda m: m.accept_tokens(None), LlmaskError, IDS.format("NoneType")),
    ("tokens str", lambda m: m.accept_tokens("ab"), LlmaskError, "a token id is an integer, not str" + INT),
    (
        "tokens with a float",
        lambda m: m.accept_tokens([A, B, 1.0]),
        LlmaskError,
        "a token id is an integer, not float" + INT,
    ),
    ("validated int", lambda m: m.validate_tokens(A), LlmaskError, IDS.format("int")),
    (
        "validated float",
        lambda m: m.validate_tokens([A, 1.0]),
        LlmaskError,
        "a token id is an integer, not float" + INT,
    ),
    # --- bytes
    (
        "bytes str",
        lambda m: m.accept_bytes("a"),
        LlmaskError,
        "text is given as bytes, not as str\n  encode it as UTF-8 first",
    ),
    (
        "bytes int",
        lambda m: m.accept_bytes(3),
        LlmaskError,
        "text is given as bytes, not as int\n  encode it as UTF-8 first",
    ),
    (
        "bytes None",
        lambda m: m.accept_bytes(None),
        LlmaskError,
        "text is given as bytes, not as NoneType\n  encode it as UTF-8 first",
    ),
    (
        "bytes list",
        lambda m: m.accept_bytes([97]),
        LlmaskError,
        "text is given as bytes, not as list\n  encode it as UTF-8 first",
    ),
    (
        "bytes refused",
        lambda m: m.accept_bytes(bytearray(b"bcx")),
        TokenRejected,
        "byte 2 of 'bcx' cannot come next; expected the end\n  at byte 4, after 'abbc'" + ASK_THE_MASK,
    ),
    # --- rollback
    (
        "rollback too far",
        lambda m: m.rollback(3),
        LlmaskError,
        "cannot roll back 3 tokens: 2 were accepted\n  give a number between 0 and that",
    ),
    (
        "rollback negative",
        lambda m: m.rollback(-1),
        LlmaskError,
        "cannot roll back -1 tokens: 2 were accepted\n  give a number between 0 and that",
    ),
    (
        "rollback float",
        lambda m: m.rollback(1.0),
        LlmaskError,
        "the number of tokens to roll back is an integer, not float" + INT,
    ),
    (
        "rollback bool",
        lambda m: m.rollback(True),
        LlmaskError,
        "the number of tokens to roll back is an integer, not bool" + INT,
    ),
    (
        "rollback None",
        lambda m: m.rollback(None),
        LlmaskError,
        "the number of tokens to roll back is an integer, not NoneType" + INT,
    ),
    # --- bitmasks
    *(
        (f"bitmask {name}", lambda m, make=make: m.fill_bitmask(make()), LlmaskError, BITMASK.format(given))
        for name, make, given in [
            ("None", lambda: None, "NoneType"),
            ("list", lambda: [[0] * N_WORDS], "list"),
            ("empty list", list, "list"),
            ("str", lambda: "mask", "str"),
            ("int64", lambda: zeros(1, N_WORDS, dtype=np.int64), f"int64[1, {N_WORDS}]"),
            ("uint32", lambda: zeros(1, N_WORDS, dtype=np.uint32), f"uint32[1, {N_WORDS}]"),
            ("other byte order", lambda: zeros(1, N_WORDS, dtype=">i4"), f">i4[1, {N_WORDS}]"),
            ("objects", lambda: zeros(1, N_WORDS, dtype=object), f"object[1, {N_WORDS}]"),
            ("no dimension", lambda: zeros(), "int32[]"),
            ("three dimensions", lambda: zeros(1, 1, N_WORDS), f"int32[1, 1, {N_WORDS}]"),
            (
                "columns first",
                lambda: np.asfortranarray(zeros(2, N_WORDS)),
                f"int32[2, {N_WORDS}], 8 bytes from word to word",
            ),
            (
                "every other word",
                lambda: zeros(1, 2 * N_WORDS)[:, ::2],
                f"int32[1, {N_WORDS}], 8 bytes from word to word",
            ),
            ("read-only", read_only, f"int32[1, {N_WORDS}], read-only"),
            ("unaligned", unaligned, f"int32[1, {N_WORDS}], unaligned"),
        ]
    ),
    (
        "bitmask too narrow",
        lambda m: m.fill_bitmask(zeros(1, 9)),
        LlmaskError,
        "row 0 of a bitmask of shape (1, 9) cannot hold 10 words" + ALLOCATE,
    ),
    (
        "bitmask without rows",
        lambda m: m.fill_bitmask(zeros(0, 10)),
        LlmaskError,
        "row 0 of a bitmask of shape (0, 10) cannot hold 10 words" + ALLOCATE,
    ),
    (
        "row negative",
        lambda m: m.fill_bitmask(zeros(2, 10), -1),
        LlmaskError,
        "row -1 of a bitmask of shape (2, 10) cannot hold 10 words" + ALLOCATE,
    ),
    (
        "row too large",
        lambda m: m.fill_bitmask(zeros(2, 10), 2),
        LlmaskError,
        "row 2 of a bitmask of shape (2, 10) cannot hold 10 words" + ALLOCATE,
    ),
    (
        "row beyond 64 bits",
        lambda m: m.fill_bitmask(zeros(2, 10), 2**70),
        LlmaskError,
        f"row {2**70} of a bitmask of shape (2, 10) cannot hold 10 words" + ALLOCATE,
    ),
    ("row float", lambda m: m.fill_bitmask(zeros(2, 10), 1.0), LlmaskError, "a row is an integer, not float" + INT),
    ("row bool", lambda m: m.fill_bitmask(zeros(2, 10), True), LlmaskError, "a row is an integer, not bool" + INT),
    ("row None", lambda m: m.fill_bitmask(zeros(2, 10), None), LlmaskError, "a row is an integer, not NoneType" + INT),
    ("row str", lambda m: m.fill_bitmask(zeros(2, 10), "0"), LlmaskError, "a row is an integer, not str" + INT),
    # --- batches
    (
        "batch of one matcher",
        lambda m: llmask.fill_bitmasks(m, zeros(2, 10)),
        LlmaskError,
        "matchers are a sequence, not Matcher\n  give a list",
    ),
    (
        "batch with a number",
        lambda m: llmask.fill_bitmasks([m, None, 3], zeros(3, 10)),
        LlmaskError,
        "a matcher is a Matcher, not int\n  give what g.matcher() made",
    ),
    (
        "batch with a grammar",
        lambda m: llmask.fill_bitmasks([llmask.CompiledGrammar(m.grammar)], zeros(2, 10)),
        LlmaskError,
        "a matcher is a Matcher, not CompiledGrammar\n  give what g.matcher() made",
    ),
    (
        "batch bitmask",
        lambda m: llmask.fill_bitmasks([m], zeros(1, 1, 10)),
        LlmaskError,
        BITMASK.format("int32[1, 1, 10]"),
    ),
    (
        "rows too many",
        lambda m: llmask.fill_bitmasks([m], zeros(2, 10), rows=[0, 1]),
        LlmaskError,
        "1 matchers, but 2 rows\n  give one row for each matcher",
    ),
    (
        "rows int",
        lambda m: llmask.fill_bitmasks([m], zeros(2, 10), rows=0),
        LlmaskError,
        "rows are a sequence, not int\n  give a list",
    ),
    (
        "rows float",
        lambda m: llmask.fill_bitmasks([m], zeros(2, 10), rows=[0.5]),
        LlmaskError,
        "a row is an integer, not float" + INT,
    ),
    (
        "rows twice",
        lambda m: llmask.fill_bitmasks([m, m.fork()], zeros(2, 10), rows=[1, 1]),
        LlmaskError,
        "a row is given twice: [1, 1]\n  give each matcher a row of its own",
    ),
    (
        "rows absent",
        lambda m: llmask.fill_bitmasks([m], zeros(2, 10), rows=[2]),
        LlmaskError,
        "row 2 is not in a bitmask of 2 rows\n  rows count from 0; give one for each matcher",
    ),
    (
        "threads str",
        lambda m: llmask.fill_bitmasks([m], zeros(2, 10), threads="2"),
        LlmaskError,
        "the number of threads is an integer, not str" + INT,
    ),
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
@pytest.mark.parametrize(("act", "kind", "message"), [row[1:] for row in MATCHER], ids=[row[0] for row in MATCHER])
@pytest.mark.parametrize("is_warm", [False, True], ids=["before the first mask", "after a mask"])
def test_bad_input_to_a_matcher(
    tiny_tokenizer: Any, act: Callable[[Any], Any], kind: type[LlmaskError], message: str, is_warm: bool
) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).regex("[ab]*c").matcher()
    matcher.accept_tokens([A, B])
    if is_warm:
        seen(matcher)
    with pytest.raises(LlmaskError) as caught:
        act(matcher)
    assert type(caught.value) is kind
    assert str(caught.value) == message
    fresh = llmask.Compiler(tiny_tokenizer).regex("[ab]*c").matcher()
    fresh.accept_tokens([A, B])
    assert seen(matcher) == seen(fresh)
    matcher.accept_token(C)
    assert matcher.is_accepting()


FINISHED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda m: m.accept_token(EOS), "token 1 (end of sequence) cannot come next; the document has ended"),
    (lambda m: m.accept_token(A), "token 100 'a' cannot come next; the document has ended"),
    (lambda m: m.accept_tokens([EOS, A]), "token 1 (end of sequence) cannot come next; the document has ended"),
    (lambda m: m.accept_bytes(b"a"), "byte 0 of 'a' cannot come next; the document has ended"),  # a place in bytes
]


@pytest.mark.parametrize(("act", "message"), FINISHED)
def test_a_finished_matcher_takes_nothing(tiny_tokenizer: Any, act: Callable[[Any], Any], message: str) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).regex("[ab]*c").matcher()
    matcher.accept_tokens([A, C, EOS])
    before = seen(matcher)
    with pytest.raises(TokenRejected) as caught:
        act(matcher)
    place = "byte 2" if message.startswith("byte") else "token 3"
    assert str(caught.value) == f"{message}\n  at {place}, after 'ac'{ASK_THE_MASK}"
    assert seen(matcher) == before == ([A, C, EOS], b"ac", True, True, {EOS})
    matcher.rollback(1)
    assert not matcher.is_terminated()


COMPILER: list[tuple[str, Callable[[Any], Any], type[LlmaskError], str]] = [
    ("pattern None", lambda c: c.regex(None), GrammarError, "a pattern is a str, not NoneType\n  decode bytes first"),
    (
        "pattern malformed",
        lambda c: c.regex("a("),
        GrammarError,
        "this group is not closed\n  at column 2 of the pattern a(\n"
        "  Add a closing parenthesis, or write \\( for the character.",
    ),
    (
        "pattern of nothing",
        lambda c: c.regex("a(?=b)c"),
        UnsatisfiableSchema,
        "no text matches the pattern\n  at the pattern a(?=b)c\n"
        "  look for a look-around, an anchor or an empty class that contradicts what is beside it",
    ),
    ("choices None", lambda c: c.choice(None), GrammarError, CHOICES),
    ("choices int", lambda c: c.choice([1]), GrammarError, CHOICES),
    ("choices bytes", lambda c: c.choice([b"a"]), GrammarError, CHOICES),
    (
        "choices surrogate",
        lambda c: c.choice(["a", "\ud800"]),
        GrammarError,
        "the choice '\\ud800' holds a lone surrogate, which is no text\n  take it out",
    ),
    (
        "schema list",
        lambda c: c.json_schema([]),
        GrammarError,
        "a schema must be an object or a boolean, not an empty list\n  at #\n"
        '  give one of them, or {"anyOf": [...]} where any may hold',
    ),
    (
        "schema bytes",
        lambda c: c.json_schema(b'{"a": "\xff"}'),
        GrammarError,
        "the schema is not UTF-8\n  at byte 7\n  give it as text",
    ),
    (
        "schema text",
        lambda c: c.json_schema("{"),
        GrammarError,
        "the schema is not JSON: Expecting property name enclosed in double quotes\n"
        "  at line 1, column 2\n"
        "  give a dict or JSON text",
    ),
    (
        "schema text key twice",
        lambda c: c.json_schema('{"properties": {"a": {"type": "null", "type": "null"}}}'),
        GrammarError,
        'the schema is not JSON: the key "type" stands twice in one object\n  at #/properties/a\n  keep one of them',
    ),
    (
        "schema text NaN",
        lambda c: c.json_schema('{"enum": [1, -Infinity]}'),
        GrammarError,
        "the schema is not JSON: -Infinity is no JSON number\n"
        "  at #/enum/1\n"
        "  leave the keyword out, or write a number",
    ),
    (
        "schema text exponent",
        lambda c: c.json_schema('{"maximum": 1e9999999999999999999}'),
        GrammarError,
        "the schema is not JSON: the exponent of 1e9999999999999999999 is too large\n"
        "  at #/maximum\n"
        "  write a smaller number",
    ),
    (
        "schema text digits",
        lambda c: c.json_schema('{"maximum": ' + "9" * 5000 + "}"),
        LimitExceeded,
        "the schema holds an integer of too many digits\n  write it with fewer",
    ),
    (
        "schema unsatisfiable",
        lambda c: c.json_schema({"type": "integer", "minimum": 3, "maximum": 2}),
        UnsatisfiableSchema,
        "no document fulfils the schema: no integer fulfils all of its keywords\n  at #\n"
        "  minimum is 3 and maximum is 2: lower the one, or raise the other",
    ),
    (
        "schema unsupported",
        lambda c: c.json_schema({"properties": {"u": {"not": {"uniqueItems": True}, "maxItems": 2}}}),
        UnsupportedSchema,
        'the negation of "uniqueItems" is not supported where the number of items has a limit'
        "\n  at #/properties/u/not/uniqueItems"
        '\n  Remove it, or pass unsupported="ignore" to accept that.',
    ),
    (
        "option",
        lambda c: c.json_schema(True, whitespace="wide"),
        GrammarError,
        'the option whitespace must be "flexible", "compact" or a pattern of JSON\'s white space, not \'wide\'\n'
        "  JSON's white space is [ \\t\\n\\r]",
    ),
    ("formats list", lambda c: c.json_schema(True, formats=["a"]), GrammarError, FORMATS),
    ("formats int", lambda c: c.json_schema(True, formats={"a": 1}), GrammarError, FORMATS),
]


@pytest.fixture(scope="module")
def compiler(tiny_tokenizer: Any) -> Any:
    return llmask.Compiler(tiny_tokenizer)


@pytest.mark.parametrize(("act", "kind", "message"), [row[1:] for row in COMPILER], ids=[row[0] for row in COMPILER])
def test_bad_input_to_a_compiler(
    compiler: Any, act: Callable[[Any], Any], kind: type[LlmaskError], message: str
) -> None:
    for _ in range(2):  # a failure is not cached as something else
        with pytest.raises(LlmaskError) as caught:
            act(compiler)
        assert type(caught.value) is kind
        assert str(caught.value) == message
    matcher = compiler.choice(["ab"]).matcher()
    matcher.accept_bytes(b"ab")
    assert matcher.is_accepting()


def test_a_compiler_wants_a_tokenizer(tiny_tokenizer: Any) -> None:
    with pytest.raises(LlmaskError) as caught:
        llmask.Compiler("gpt2")  # type: ignore[arg-type]
    assert str(caught.value) == (
        "a tokenizer is a llmask.Tokenizer, not str\n"
        "  make one with Tokenizer.from_huggingface, from_gguf, from_tiktoken or from_bytes"
    )
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
