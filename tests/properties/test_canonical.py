"""Canonical masks equal their definition: a token is allowed if the encoding of some document begins so."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import llmask
from bench.canonical import Walker, chosen_rows, instances
from llmask.encoders.bpe import BYTE_OF_CHARACTER
from llmask.kernels.canonical.slots import CANON
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, from_bytes
from tests.properties.test_bpe import random_merges
from tests.properties.test_healing import SPACED, spaced_tokenizer
from tests.reference.definition import read_mask
from tests.reference.engine.canonical import Encodings

SEVERAL = (  # patterns that cut the words of those before
    (r"\p{N}", r" ?[^\s\p{N}]+|\p{N}+|\s+(?!\S)|\s+"),
    (r"a+", r"[0-9][0-9][0-9]"),
    (r"\s?b+", r"\s+$", r"[0-9]+"),
    (r"aab|1", r"\s+(?!\S)|\s+|b1?"),
)

CUT = "ÀÁĀa "  # C3 80, C3 81, C4 80


def with_names(rng: random.Random, tokenizer: llmask.Tokenizer, names: list[str]) -> llmask.Tokenizer:
    """The same vocabulary with user-defined tokens, which are cut out of texts before these are split."""
    vocabulary = tokenizer._parts.vocabulary
    tokens = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size - 1)]
    tokens = [*(data for data in tokens if data.decode() not in names), *(name.encode() for name in names)]
    made = from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=vocabulary.encoder)
    types = made.types.copy()
    types[len(tokens) - len(names) : len(tokens)] = TokenType.USER_DEFINED
    return llmask.Tokenizer(replace(made, types=types))


def cut_tokenizer(rng: random.Random, characters: str) -> llmask.Tokenizer:
    """A tokenizer with merges of bytes at random, which end inside of characters."""
    data = bytes(sorted(set(characters.encode())))
    letters = "ABCDEFGHIJ"[: len(data)]
    spelled = bytes.maketrans(letters.encode(), data)
    merges = [(left.translate(spelled), right.translate(spelled)) for left, right in random_merges(rng, letters)]
    alphabet = {byte: chr(character).encode() for character, byte in BYTE_OF_CHARACTER.items()}
    texts = [b" ".join(b"".join(alphabet[byte] for byte in half) for half in pair) for pair in merges]
    tokens = sorted({bytes([byte]) for byte in data} | {left + right for left, right in merges})
    encoder = EncoderData(kind="bpe", merges=make_table(texts), patterns=SPACED, ignore_merges=rng.random() < 0.5)
    return llmask.Tokenizer(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=encoder))


@pytest.mark.parametrize("kind", ["one pattern", "several", "names", "characters"])
def test_masks_are_those_of_the_encodings(costly: Any, rng: random.Random, kind: str) -> None:
    n_narrower = n_ends = 0
    for _ in range(costly(32)):
        if kind == "one pattern":
            tokenizer = spaced_tokenizer(rng, "ab ")
        elif kind == "characters":
            tokenizer = cut_tokenizer(rng, CUT)
        else:
            tokenizer = spaced_tokenizer(rng, "ab 1", rng.choice(SEVERAL))
        if kind == "names":
            tokenizer = with_names(rng, tokenizer, rng.choice([["ab"], ["a1b", "a11"], [" b"], ["1", "aab"]]))
        if isinstance(tokenizer._parts.encoder_between_names(), str):
            continue  # merges that make a name, which is no token to them
        letters = {"one pattern": "ab  ", "characters": CUT}.get(kind, "ab  11")
        canonical, plain = llmask.Compiler(tokenizer, canonical=True), llmask.Compiler(tokenizer)
        for _ in range(3):
            choices = sorted({"".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 6))})
            encodings = Encodings(choices, tokenizer.encode, tokenizer.eos_ids[0])
            matcher, other = canonical.choice(choices).matcher(), plain.choice(choices).matcher()
            while not matcher.is_terminated():
                expected = encodings.allowed(matcher.tokens)
                allowed = read_mask(matcher, tokenizer.vocab_size)
                assert allowed == expected, (choices, matcher.text(), tokenizer._parts.vocabulary.encoder.merges)
                every = range(tokenizer.vocab_size)
                assert {token for token in every if matcher.validate_tokens([token])} == expected
                assert matcher.is_accepting() == (tokenizer.eos_ids[0] in expected)
                n_narrower += allowed < read_mask(other, tokenizer.vocab_size)
                token = rng.choice(sorted(allowed))
                matcher.accept_token(token)
                other.accept_token(token)
            n_ends += 1
    assert n_narrower > 0.8 * costly(32)
    assert n_ends > 0.8 * costly(32)


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.default(), canonical=True)


STRING = {"type": "string"}
TEXTS = [
    "",
    "naïve café",
    "日本語のテキスト",
    "1234567",
    "  two\n\n  lines ",
    "it's we'll 'RE",
    "😀 👩‍👩‍👧",
    "\u00a0\u3000x",
    "a\\b",
]


@pytest.mark.long
@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_documents_as_encoded_are_accepted(compiler: llmask.Compiler, indent: Any) -> None:
    tok = compiler.tokenizer
    schema = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}}
    grammar = compiler.json_schema(schema, indent=indent)
    text = json.dumps([*TEXTS, [], [1, 22.5, 333, 1e20], [[]][0]], ensure_ascii=False, indent=indent)
    matcher = grammar.matcher()
    for token in tok.encode(text):
        assert token in read_mask(matcher, tok.vocab_size), (tok.token_bytes(token), matcher.text())
        matcher.accept_token(token)
    assert matcher.is_accepting()


def test_a_token_at_a_time_nothing_else_is_allowed_where_the_text_is_fixed(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    for text in [*TEXTS[1:], '{\n    "name": [1, 2, 345],\n    "a": "b"\n}', "x\n   1", "\n\n     y", "don't", "   .5"]:
        matcher = compiler.choice([text]).matcher()
        ids = tok.encode(text)
        for token in ids:
            assert read_mask(matcher, tok.vocab_size) == {token}, (text, matcher.text())
            matcher.accept_token(token)
        assert read_mask(matcher, tok.vocab_size) == set(tok.eos_ids)


def test_random_sequences_are_canonical(compiler: llmask.Compiler, scaled: Any, rng: random.Random) -> None:
    tok = compiler.tokenizer
    patterns = [
        r"( ?[a-z]{1,3}){3}",
        r"\s{1,6}[0-9]{1,5}\s{0,3}",
        r"[\"'\\.,:;{}\[\]]{1,8}",
        r"(é|日|😀|a){1,4}\n{0,3} x",
    ]
    n_done = 0
    for number in range(scaled(80)):
        matcher = compiler.regex(patterns[number % len(patterns)]).matcher()
        while not matcher.is_terminated():
            matcher.accept_token(rng.choice(sorted(read_mask(matcher, tok.vocab_size))))
        ids = matcher.tokens[:-1]
        assert tok.encode(matcher.text().decode()) == ids
        n_done += 1
    assert n_done > 20


PARTED = [  # schemas whose masks are of many tokens, most of them behind the end of a lexeme
    {"type": "array", "items": {"type": ["string", "integer", "boolean"]}},
    {"type": "object", "properties": {"naïve": STRING, "na": {"type": "object"}}, "additionalProperties": STRING},
    {"type": "array", "items": {"type": "string", "maxLength": 3}},
    {"type": "array", "items": {"type": "string", "pattern": "^[a-z ]{2,9}$"}},
    {"type": "array", "items": {"type": "object", "propertyNames": {"pattern": "^x-"}}, "uniqueItems": True},
]


@pytest.mark.long
@pytest.mark.parametrize("least", [1, 40])
def test_masks_are_the_same_whatever_is_a_part(
    compiler: llmask.Compiler, scaled: Any, rng: random.Random, least: int
) -> None:
    """What lexer states say of parts of the trie (kernels/mask/crossing.py) against every token looked at."""
    tok = compiler.tokenizer
    parted, whole = (llmask.Compiler(tok, canonical=True) for _ in range(2))
    parted.json_schema(True)._loaded.store.table.view.least_part = least
    whole.json_schema(True)._loaded.store.table.view.least_part = 1 << 30
    for number in range(scaled(12)):
        schema = PARTED[number % len(PARTED)]
        options: dict[str, Any] = rng.choice([{}, {"indent": 2}, {"whitespace": "compact"}, {"max_whitespace": 3}])
        grammars = [made.json_schema(schema, **options) for made in (parted, whole)]
        matchers = [grammar.matcher() for grammar in grammars]
        for _ in range(25):
            masks = [read_mask(matcher, tok.vocab_size) for matcher in matchers]
            assert masks[0] == masks[1], (schema, options, matchers[0].text())
            if matchers[0].is_terminated():
                break
            token = rng.choice(sorted(masks[0]))
            for matcher in matchers:
                matcher.accept_token(token)
        assert grammars[0]._loaded.n_cut == grammars[1]._loaded.n_cut


NAMES = ["[PAD151700]", "x[PAD102000]y", "[PAD 1]", "[PAD15", "þ ö", "<|im_start|>"]


WIDE = [
    *({"type": "string", "maxLength": most} for most in (1, 2, 3, 5, 8, 12, 13, 14, 20, 60)),
    *({"type": "string", "minLength": n, "maxLength": n} for n in (1, 4, 13)),
    *({"type": "string", "pattern": pattern} for pattern in (r"^[0-9a-zA-Z_-]{1,40}$", r"^[^/#]+/[^/#]+$", r"^.k.$")),
    {"type": "string", "pattern": "^[ -~日本é😀]{1,9}$"},  # characters that few bytes complete
    *({"type": "string", "pattern": pattern} for pattern in (r"^[\w\s-]+$", r"^(?:\S+\s+){0,3}\S+$", r"^é?.+é$")),
    *({"type": "string", "format": name} for name in ("email", "hostname", "uri", "date-time")),
    {"type": "string", "maxLength": 9, "pattern": "^[a-z].*$"},
    {"type": "object", "properties": {"ab": True}, "additionalProperties": {"type": "string", "minLength": 1}},
]


@pytest.mark.long
def test_masks_are_the_same_if_lexer_states_with_one_mask_share_no_answer(scaled: Any, rng: random.Random) -> None:
    quick = llmask.Compiler(llmask.Tokenizer.default(), canonical=True)
    slow = llmask.Compiler(quick.tokenizer, canonical=True)
    table = slow.json_schema(True)._loaded.store.canonical_table
    table.slots[CANON.longest_token] = 1 << 40  # so nowhere is there room for it
    n_tokens, every = quick.tokenizer.vocab_size, 0
    for schema in WIDE:
        grammars = quick.json_schema(schema), slow.json_schema(schema)
        for _ in range(scaled(1)):
            matchers = [grammar.matcher() for grammar in grammars]
            for _ in range(10):
                allowed = read_mask(matchers[0], n_tokens)
                assert allowed == read_mask(matchers[1], n_tokens), (schema, matchers[0].text())
                letters = sorted(token for token in allowed if quick.tokenizer.token_bytes(token)[:1].isalnum())
                token = rng.choice(letters if letters and rng.random() < 0.5 else sorted(allowed))
                for matcher in matchers:
                    matcher.accept_token(token)
                every += 1
                if matchers[0].is_terminated():
                    break
    assert every > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "before"),
    [
        (None, "-"),
        pytest.param(None, "a ", marks=pytest.mark.slow),
        pytest.param("llama-bpe", "", marks=pytest.mark.slow),
    ],
)
def test_tokens_that_end_inside_of_the_last_character(request: Any, model: str | None, before: str) -> None:
    """Behind the character only a quote may come, which belongs to its word or not."""
    tokenizer = llmask.Tokenizer.default()
    if model is not None:
        shared = request.getfixturevalue("shared_dir")
        tokenizer = llmask.Tokenizer.from_gguf(str(shared / "data" / "vocab" / f"{model}.gguf"))
    length = len(before) + 1
    schema = {"type": "string", "minLength": length, "maxLength": length}
    matcher = llmask.Compiler(tokenizer, canonical=True).json_schema(schema).matcher()
    ids = tokenizer.encode(f'"{before}')
    matcher.accept_tokens(ids)
    characters = [chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code < 0xE000]
    n, every = len(ids), tokenizer.encode_batch([f'"{before}{character}"' for character in characters])
    expected = {encoded[n] for encoded in every if encoded[:n] == ids and is_cut_off(tokenizer.token_bytes(encoded[n]))}
    allowed = {token for token in read_mask(matcher, tokenizer.vocab_size) if is_cut_off(tokenizer.token_bytes(token))}
    assert allowed == expected
    assert len(allowed) > 50


def is_cut_off(data: bytes) -> bool:
    """Whether bytes begin a character that they do not end."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


@pytest.mark.slow
@pytest.mark.parametrize("model", ["qwen2", "falcon", "starcoder", "deepseek-llm", "gpt-2"])
def test_vocabularies_of_models(shared_dir: Path, model: str) -> None:
    """Several patterns, tokens that are cut out of texts: documents as encoded are accepted, walks are canonical."""
    tok = llmask.Tokenizer.from_gguf(str(shared_dir / "data" / "vocab" / f"{model}.gguf"))
    grammar = llmask.Compiler(tok, canonical=True).json_schema(
        {"type": "array", "items": {"type": ["string", "number"]}}
    )
    matcher = grammar.matcher()
    for token in tok.encode(json.dumps([*TEXTS, *NAMES, 12345, -0.5], ensure_ascii=False)):
        assert token in read_mask(matcher, tok.vocab_size), (tok.token_bytes(token), matcher.text())
        matcher.accept_token(token)
    assert matcher.is_accepting()
    walker = Walker(tok, 12, 60)
    for seed in range(8):
        walker.walk(grammar, random.Random(seed))
    assert walker.counts["dead ends"] == walker.counts["not canonical"] == grammar._loaded.n_cut == 0


LETTERS = ["a", "b", "na", ":"]
FINITE = {  # schemas with the documents that fulfil them
    "unique strings": (
        {"type": "array", "uniqueItems": True, "items": {"enum": LETTERS}, "maxItems": 3},
        [list(some) for n in range(4) for some in itertools.permutations(LETTERS, n)],
    ),
    "unique arrays": (
        {"type": "array", "uniqueItems": True, "items": {"enum": [[], [1], ["na", 1], [1, [1]]]}, "maxItems": 2},
        [list(some) for n in range(3) for some in itertools.permutations([[], [1], ["na", 1], [1, [1]]], n)],
    ),
    "free keys": (
        {"type": "object", "propertyNames": {"enum": LETTERS}, "additionalProperties": {"enum": [1, "}"]}},
        [
            dict(zip(keys, values, strict=True))
            for n in range(len(LETTERS) + 1)
            for keys in itertools.permutations(LETTERS, n)
            for values in itertools.product([1, "}"], repeat=n)
        ],
    ),
    "items in unique objects": (
        {
            "type": "array",
            "uniqueItems": True,
            "maxItems": 2,
            "items": {
                "type": "object",
                "properties": {"id": {"enum": LETTERS}, "na": {"enum": [12, "me"]}},
                "required": ["id", "na"],
                "additionalProperties": False,
            },
        },
        [
            [dict(sorted({"id": first, "na": second}.items(), reverse=turned)) for (first, second), turned in some]
            for n in range(3)
            for pairs in itertools.permutations(list(itertools.product(LETTERS, [12, "me"])), n)
            for some in itertools.product(*(((pair, False), (pair, True)) for pair in pairs))
        ],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FINITE)
def test_masks_of_recorded_values_are_those_of_all_documents(
    compiler: llmask.Compiler, rng: random.Random, name: str
) -> None:
    """What was read before decides what may follow: every document, token by token."""
    tok = compiler.tokenizer
    schema, values = FINITE[name]
    grammar = compiler.json_schema(
        schema, property_order="any", whitespace="compact", unique_keys=True, numbers="plain", escapes="minimal"
    )
    texts = [json.dumps(value, separators=(",", ":")) for value in values]
    encodings = Encodings(texts, tok.encode, tok.eos_ids[0])
    for ids in rng.sample(encodings.written, min(len(texts), 150)):
        matcher = grammar.matcher()
        for n, token in enumerate(ids):
            assert read_mask(matcher, tok.vocab_size) == encodings.allowed(ids[:n]), matcher.text()
            matcher.accept_token(token)
        assert matcher.is_terminated()
    assert grammar._loaded.n_cut == 0


DISTINCT = {  # schemas of values that must differ, and documents where they do from their first characters on
    "strings": (STRING, ["alpha", "beta", "Gamma ray", "d"]),
    "strings or objects": ({"type": ["string", "object"]}, ["alpha", {"b": [1, {}]}, "gamma"]),
    "arrays": ({"type": "array", "items": STRING}, [["alpha", "beta"], ["b"], ["c", ""]]),
    "objects": ({"type": "object", "additionalProperties": STRING}, [{"a": "alpha"}, {"b": "beta", "c": ""}]),
}


@pytest.mark.long
@pytest.mark.parametrize("name", DISTINCT)
@pytest.mark.parametrize("around", ["", "object", "array"])
def test_masks_of_distinct_values_are_those_without_uniqueness(
    compiler: llmask.Compiler, name: str, around: str
) -> None:
    """Recording alone changes no mask: long masks, the end of the document behind the values, and objects around."""
    tok = compiler.tokenizer
    items, values = DISTINCT[name]
    document: Any = {"object": {"ab": values}, "array": [values], "": values}[around]
    matchers = []
    for unique in (False, True):
        schema: dict[str, Any] = {"type": "array", "items": items, "uniqueItems": unique}
        if around == "object":
            schema = {"type": "object", "patternProperties": {".": schema}, "additionalProperties": False}
        elif around == "array":
            schema = {"type": "array", "items": schema}
        matchers.append(compiler.json_schema(schema, unique_keys=False).matcher())
    for token in [*tok.encode(json.dumps(document)), tok.eos_ids[0]]:
        expected = read_mask(matchers[0], tok.vocab_size)
        assert token in expected
        assert read_mask(matchers[1], tok.vocab_size) == expected, matchers[1].text()
        for matcher in matchers:
            matcher.accept_token(token)
    assert matchers[0].grammar.n_cut == matchers[1].grammar.n_cut == 0


@pytest.mark.slow
def test_documents_of_schemas_that_record_values(shared_dir: Path) -> None:
    """Every document of MaskBench whose values must differ is accepted as it is encoded."""
    tok = llmask.Tokenizer.from_gguf(str(shared_dir / "data" / "vocab" / "llama-bpe.gguf"))
    plain, canonical = llmask.Compiler(tok), llmask.Compiler(tok, canonical=True)
    rows = [row for row in chosen_rows(100_000, 0) if "uniqueItems" in json.dumps(row.schema)]
    n_documents = 0
    for schema, documents in instances(rows, tok):
        try:
            pair = plain.json_schema(schema), canonical.json_schema(schema)
        except llmask.LlmaskError:
            continue
        for ids in documents:
            if pair[0].matcher().validate_tokens(ids) == len(ids):
                assert pair[1].matcher().validate_tokens(ids) == len(ids), schema
                n_documents += 1
    assert n_documents > 200
