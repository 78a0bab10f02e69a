"""Leaps over the bytes of a token within a lexeme: they lead where the bytes lead, one after the other."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.matching.sequence import ALL_TAKEN
from tests.reference.definition import read_mask

LETTERS = "abn\u00e9"
PATTERNS = ["(ab|n[ab]*){2,4}b", "[a-n]{3,7}", "a.{0,3}n|[^n]{2,}", "(?!ab)[abn]+", "abnab(nab)?|ab+"]


def random_grammar(rng: random.Random, words: list[str]) -> tuple[Callable[[Any], Any], str]:
    """What compiles a grammar of keys, words or patterns, and a text of pieces that it may have."""
    kind = rng.choice(["open", "open", "closed", "pattern", "exact", "greedy", "lazy"])
    if kind == "pattern":
        pattern = rng.choice(PATTERNS)
        return lambda compiler: compiler.regex(pattern), "".join(rng.choices(LETTERS, k=40))
    if kind == "lazy":
        text = f'start: (lazy | "{words[0]}" "b")+\nlazy[lazy]: /[abn]+bn/\n'
        return lambda compiler: compiler.lark(text), "abnabnbnaabnb" + words[0] + "bn"
    if kind in ("exact", "greedy"):
        rules = " | ".join(f'"{word}"' for word in words)
        text = f'start: ({rules} | NAME ";")+\nNAME: /[abn]{{1,9}}/\n'
        return lambda compiler: compiler.lark(text, lexer=kind), "".join(words) + ";" + words[0] + ";"
    schema: dict[str, Any] = {"type": "object", "properties": {word: {"type": "integer"} for word in words}}
    schema["additionalProperties"] = kind == "open"
    if rng.random() < 0.3:
        schema["propertyNames"] = {"maxLength": 6}
    return lambda compiler: compiler.json_schema(schema), "".join(f'{{"{word}": 1, "{word}' for word in words)


def n_leaps(matcher: Any) -> int:
    return matcher._sequence.store.table.view.leaps.count


def n_states(matcher: Any) -> int:
    return matcher._sequence.store.table.view.state_keys.count


@pytest.mark.long
def test_a_token_leads_where_its_bytes_lead(rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_over, n_places = 0, 0
    for _ in range(scaled(60)):
        words = list(dict.fromkeys("".join(rng.choices(LETTERS, k=rng.randrange(1, 9))) for _ in range(6)))
        compiles, text = random_grammar(rng, words)
        data = text.encode()
        pieces = {data[at : at + rng.randrange(2, 9)] for at in (rng.randrange(len(data)) for _ in range(90))}
        texts = [bytes([byte]) for byte in range(256)] + sorted(piece for piece in pieces if len(piece) > 1)
        tokenizer = llmask.Tokenizer.from_bytes([*texts, b""], eos=len(texts), special=[])
        try:
            by_token, by_byte = (compiles(llmask.Compiler(tokenizer)).matcher() for _ in range(2))
        except llmask.UnsatisfiableSchema:
            continue
        for _ in range(12):
            here = by_byte._sequence
            longer = [token for token in range(256, len(texts)) if here.fork().take_bytes(texts[token]) == ALL_TAKEN]
            for token in range(256, len(texts)):
                taken = by_token.fork()
                assert taken.accept(token) == (token in longer), (by_token.text(), texts[token])
            allowed = read_mask(by_token, tokenizer.vocab_size)
            assert allowed == read_mask(by_byte, tokenizer.vocab_size), by_token.text()
            token = rng.choice(longer or sorted(allowed))
            if token == len(texts):
                break
            by_token.accept_token(token)
            by_byte.accept_bytes(texts[token])
            n_places += 1
        n_over += n_leaps(by_token)
    assert n_places > 100
    assert n_over > 100


def matcher_of(texts: list[bytes], compile_it: Callable[[Any], Any]) -> Any:
    tokens = [*texts, *(bytes([byte]) for byte in range(256)), b""]
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=len(tokens) - 1, special=[])
    return compile_it(llmask.Compiler(tokenizer)).matcher()


@pytest.mark.parametrize("is_open", [True, False])
def test_one_state_is_made_for_a_token(is_open: bool) -> None:
    schema = {"type": "object", "properties": {"averylongname": {}, "avoid": {}}, "additionalProperties": is_open}
    matcher = matcher_of([b"averylo"], lambda compiler: compiler.json_schema(schema))
    matcher.accept_bytes(b'{"')
    before = n_states(matcher)
    matcher.accept_token(0)
    assert n_states(matcher) - before <= 2  # of one lexeme there is an anonymous twin
    assert n_leaps(matcher) == 1
    matcher.rollback(1)
    matcher.accept_token(0)
    assert n_leaps(matcher) == 1
    matcher.accept_bytes(b'ngname"')
    assert matcher.text() == b'{"averylongname"'


@pytest.mark.parametrize(
    ("begun", "token"),
    [(b'{"', b'name": 1'), (b'{"na', b'me"'), (b'{"name": ', b"1 ,"), (b"", b'{"na'), (b'{"', b'n"')],
)
def test_where_a_lexeme_ends_on_the_way(begun: bytes, token: bytes) -> None:
    schema = {"type": "object", "properties": {"name": {}, "nail": {}}, "additionalProperties": {"type": "integer"}}
    one, other = (matcher_of([token], lambda compiler: compiler.json_schema(schema)) for _ in range(2))
    one.accept_bytes(begun + token)
    other.accept_bytes(begun)
    other.accept_token(0)
    n = one.grammar.tokenizer.vocab_size
    assert read_mask(one, n) == read_mask(other, n)


def test_what_may_end_on_the_way_is_read_byte_by_byte() -> None:
    """A lazy lexeme ends where it first can, within a token, too. Compiling looks 400 bytes far."""
    grammar = 'start: /[x]{450}/ (lazy "b"* | "cabc")\nlazy[lazy]: /[ab]+a/\n'
    matcher = matcher_of([b"baba", b"bbba", b"cab"], lambda compiler: compiler.lark(grammar))
    matcher.accept_bytes(b"x" * 450)
    assert not matcher.accept(0)
    assert matcher.accept(1)
    matcher.rollback(1)
    assert n_leaps(matcher) == 0
    assert matcher.accept(2)


def test_a_leap_is_of_its_place_in_a_token() -> None:
    """The same state may be come to within several tokens, and the rests of these differ."""
    matcher = matcher_of([b";abx", b";;aby", b"abx"], lambda compiler: compiler.regex(";*(abx[0-3]|aby[4-7])"))
    n = matcher.grammar.tokenizer.vocab_size
    for token, digit in ((0, b"0"), (1, b"4"), (2, b"1"), (1, b"7")):
        matcher.accept_token(token)
        digits = {chr(byte) for byte in b"01234567" if matcher._sequence.fork().take_bytes(bytes([byte])) == ALL_TAKEN}
        assert digits == set("0123" if digit < b"4" else "4567")
        assert len(read_mask(matcher, n)) == 4
        matcher.rollback(1)
    assert n_leaps(matcher) > 1


def test_text_that_excludes_some() -> None:
    """`string and not names` taken by many bytes at once is as by each: also what is a name is no other key."""
    names = ["name", "names", "na\u00efve", 'q"uote']
    schema = {"properties": {name: {"const": len(name)} for name in names}, "additionalProperties": {"type": "null"}}
    texts = [json.dumps(name, ensure_ascii=False).encode()[1:] for name in names]
    matcher = matcher_of(
        [*texts, b"name", b"nam", b"nai"], lambda compiler: compiler.json_schema(schema, property_order="any")
    )
    for token, name in enumerate(names):
        one = matcher.fork()
        one.accept_bytes(b'{"')
        one.accept_token(token)
        assert one._sequence.fork().take_bytes(b": null") != ALL_TAKEN, name
        assert one._sequence.fork().take_bytes(f": {len(name)}".encode()) == ALL_TAKEN, name
    for token in (4, 5, 6):
        one = matcher.fork()
        one.accept_bytes(b'{"')
        one.accept_token(token)
        assert one._sequence.fork().take_bytes(b'x": null') == ALL_TAKEN
        assert one._sequence.fork().take_bytes(b'x": 1') != ALL_TAKEN
