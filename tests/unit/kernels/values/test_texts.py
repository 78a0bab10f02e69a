"""Texts of recorded values: spellings of one JSON string are one text, and nothing else is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import CALL_OPEN
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.json_spellings import spell

CHARACTERS = 'ab"\\/\b\f\n\r\t\x00\x1f\x7fé߿ࠀ￿\ud7ff\ue000😀\U0010ffff'


def different_strings(store: Store, values_are_json: bool = True) -> Rules:
    """Strings, one behind the other, no two the same; what stands between the quotes is not looked at."""
    nodes, rules = store.nodes, Rules()
    rules.values_are_json = values_are_json
    value, start = rules.rule("value"), rules.rule("start")
    rules.start = start
    end = rules.state(value)
    everything = 2**256 - 1
    plain = nodes.byte_set(everything ^ (1 << ord('"')) ^ (1 << ord("\\")))
    escape = nodes.concat([nodes.literal(b"\\"), nodes.byte_set(everything)])
    body = nodes.repeat(nodes.union([plain, escape]), 0, None)
    rules.scan(rules.start_state(value), nodes.concat([nodes.literal(b'"'), body, nodes.literal(b'"')]), end)
    rules.final(end)
    rules.call_new(rules.start_state(start), value, rules.start_state(start), kind=CALL_OPEN)
    rules.final(rules.start_state(start))
    return rules


def takes(matcher: Any, data: bytes) -> bool:
    try:
        matcher.accept_bytes(data)
    except llmask.TokenRejected:
        return False
    return True


def test_spellings_of_one_string_are_one_value(store: Store, rng: random.Random, scaled: Callable[[int], int]) -> None:
    grammar = MadeGrammar(store, different_strings(store))
    n_same = 0
    for _ in range(scaled(200)):
        matcher, seen = grammar.matcher(), set()
        for _ in range(8):
            text = "".join(rng.choices(rng.sample(CHARACTERS, 3), k=rng.randint(0, 3)))
            data = b'"' + spell(rng, text) + b'"'
            assert json.loads(data) == text
            assert takes(matcher, data) == (text not in seen), (data, seen)
            n_same += text in seen
            seen.add(text)
    assert n_same > scaled(200)


def test_masks_refuse_the_last_byte_of_another_spelling(store: Store) -> None:
    matcher = MadeGrammar(store, different_strings(store)).matcher()
    matcher.accept_bytes(b'"a\\n\xc3\xa9"')
    mask = llmask.allocate_bitmask(1, store.tokenizer.vocab_size)
    for data in (b'"\\u0061\\u000A\\u00e9', b'"a\\n\\u00E9', b'"a\\n\xc3\xa9'):
        reader = matcher.fork()
        for byte in data:
            reader.fill_bitmask(mask)
            assert mask[0, byte >> 5] >> (byte & 31) & 1
            reader.accept_token(byte)
        reader.fill_bitmask(mask)
        assert not mask[0, 1] >> (ord('"') & 31) & 1
        assert mask[0, 2] >> (ord("A") & 31) & 1
        reader.accept_bytes(b"!")
        reader.fill_bitmask(mask)
        assert mask[0, 1] >> (ord('"') & 31) & 1


def test_other_grammars_compare_bytes(store: Store) -> None:
    matcher = MadeGrammar(store, different_strings(store, values_are_json=False)).matcher()
    matcher.accept_bytes(b'"a""\\u0061""\\u0041"')
    for again in (b'"a"', b'"\\u0061"'):
        assert not takes(matcher.fork(), again)


def test_long_texts_are_told_apart_at_their_end(store: Store) -> None:
    matcher = MadeGrammar(store, different_strings(store)).matcher()
    body = b"x" * 5000
    matcher.accept_bytes(b'"' + body + b'"')
    assert not takes(matcher, b'"' + body + b'"')
    assert takes(matcher, b'"' + body[:-1] + b'y"')
    assert takes(matcher, b'"' + body + b'x"')


def test_an_escape_that_is_no_unicode_does_no_harm(store: Store) -> None:
    matcher = MadeGrammar(store, different_strings(store)).matcher()
    for data in (b'"\\ud800"', b'"\\ud800\\u0041"', b'"\\uzzzz"', b'"\\u12"', b'"\\ud800ab"'):
        assert takes(matcher, data)
