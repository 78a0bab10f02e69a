"""Compiled grammars: what they tell, when they die, and rules that derive nothing."""

from __future__ import annotations

import gc
import random
import weakref
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import UNBOUNDED
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.definition import read_mask
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes

TOKENIZER = "tiny_tokenizer"  # of `store`
NOTHING = (
    "no document fulfils the grammar\n  look for contradictory bounds, or for a part that requires itself without end"
)


def call_itself(rules: Rules, a: int) -> None:
    rule = rules.rule("start")
    end = rules.state(rule)
    middle = rules.state(rule)
    rules.scan(rules.start_state(rule), a, middle)
    rules.call(middle, rule, end)
    rules.final(end)


def scan_nothing(rules: Rules, a: int) -> None:
    rule = rules.rule("start")
    end = rules.state(rule)
    rules.scan(rules.start_state(rule), 0, end)
    rules.final(end)


def never_end(rules: Rules, a: int) -> None:
    rule = rules.rule("start")
    rules.scan(rules.start_state(rule), a, rules.start_state(rule))


def call_each_other(rules: Rules, a: int) -> None:
    first, second = rules.rule("first"), rules.rule("second")
    for rule, other in ((first, second), (second, first)):
        end = rules.state(rule)
        rules.call(rules.start_state(rule), other, end)
        rules.final(end)


@pytest.mark.parametrize("write", [call_itself, scan_nothing, never_end, call_each_other])
def test_a_grammar_of_nothing_is_refused(store: Store, write: Any) -> None:
    nodes, rules, same = RegexNodes(), Rules(), Rules()
    write(rules, store.nodes.literal(b"a"))
    write(same, nodes.literal(b"a"))
    assert Engine(same, nodes.expressions).start() is None
    with pytest.raises(llmask.UnsatisfiableSchema) as caught:
        MadeGrammar(store, rules)
    assert str(caught.value) == NOTHING


def test_a_grammar_needs_a_start_rule(store: Store) -> None:
    with pytest.raises(llmask.GrammarError) as caught:
        MadeGrammar(store, Rules())
    assert str(caught.value) == "the start rule is number 0 of 0\n  declare it with Rules.rule"


def test_parts_that_derive_nothing_are_left_out(store: Store, tiny_tokenizer: Any) -> None:
    # start -> "a" | "b" nothing;  nothing -> "c" nothing
    rules = Rules()
    start, nothing = rules.rule("start"), rules.rule("nothing")
    end, middle, stuck = rules.state(start), rules.state(start), rules.state(nothing)
    a, b, c = (store.nodes.literal(letter) for letter in (b"a", b"b", b"c"))
    rules.scan(rules.start_state(start), a, end)
    rules.scan(rules.start_state(start), b, middle)
    rules.call(middle, nothing, end)
    rules.scan(rules.start_state(nothing), c, stuck)
    rules.call(stuck, nothing, stuck)
    rules.final(end)
    allowed = read_mask(MadeGrammar(store, rules).matcher(), tiny_tokenizer.vocab_size)
    assert {tiny_tokenizer.token_bytes(token) for token in allowed} == {b"a"}


def test_the_empty_document_is_a_document(store: Store, tiny_tokenizer: Any) -> None:
    rules = Rules()
    rules.final(rules.start_state(rules.rule("start")))
    matcher = MadeGrammar(store, rules).matcher()
    assert matcher.is_accepting()
    assert read_mask(matcher, tiny_tokenizer.vocab_size) == set(tiny_tokenizer.eos_ids)


def test_a_counted_loop_keeps_its_bounds(store: Store, tiny_tokenizer: Any) -> None:
    # start -> "a" ("a")*, 3 to 5 in all
    rules = Rules()
    start = rules.rule("start")
    loop = rules.state(start)
    a = store.nodes.literal(b"a")
    rules.scan(rules.start_state(start), a, loop, rules.guard(add=1, cap=6))
    rules.scan(loop, a, loop, rules.guard(high=4, add=1, cap=6))
    rules.final(loop, rules.guard(low=3, high=UNBOUNDED))
    matcher = MadeGrammar(store, rules).matcher()
    ends = []
    for _ in range(5):
        matcher.accept_bytes(b"a")
        ends.append(matcher.is_accepting())
    assert ends == [False, False, True, True, True]
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_bytes(b"a")


def test_warnings_and_ledger(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    grammar = compiler.json_schema({"type": "array", "maxItems": 2, "not": {"uniqueItems": True}}, unsupported="ignore")
    assert len(grammar.warnings) == 1
    assert "uniqueItems" in grammar.warnings[0]
    assert any("uniqueItems" in str(entry) for entry in grammar.ledger)
    entries = zip(grammar.ledger, grammar.ledger, strict=True)  # the list is the caller's, and made once all the same
    assert all(one is again for one, again in entries)
    assert compiler.regex("a").warnings == []
    assert compiler.regex("a").ledger == []
    assert grammar.tokenizer is tiny_tokenizer


def test_rows_and_masks_are_counted(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).json_schema(True)
    before = grammar.bytes_used
    matcher = grammar.matcher()
    for byte in b'{"a": [1, {"b": [null]}]}':
        read_mask(matcher, tiny_tokenizer.vocab_size)
        matcher.accept_bytes(bytes([byte]))
    assert grammar.bytes_used > before > 0


def test_a_grammar_dies_with_its_last_matcher_without_the_collector(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
    grammar = compiler.json_schema({"type": "object"})
    matcher = grammar.matcher()
    reference = weakref.ref(grammar._loaded)
    gc.disable()
    try:
        del grammar
        assert reference() is not None
        matcher.accept_bytes(b"{")
        del matcher
        assert reference() is None
    finally:
        gc.enable()


def test_a_matcher_outlives_compiler_and_grammar(tiny_tokenizer: Any) -> None:
    matcher = llmask.Compiler(tiny_tokenizer).json_schema({"type": "array"}).matcher()
    gc.collect()
    for byte in b'[1, {"a": "b"}]':
        read_mask(matcher, tiny_tokenizer.vocab_size)
        matcher.accept_bytes(bytes([byte]))
    assert matcher.is_accepting()


@pytest.mark.parametrize("is_canonical", [False, True])
def test_whole_documents_are_accepted_and_nothing_else(default_tokenizer: Any, is_canonical: bool) -> None:
    grammar = llmask.Compiler(default_tokenizer, canonical=is_canonical).regex("é+|a")
    for text in ("a", "éé", "é".encode(), bytearray(b"a"), memoryview(b"a")):
        assert grammar.accepts(text) is True
    for text in ("", "b", "aa", "é\n", "é".encode()[:1], b"\xff", "\ud800", "a\udc80", b"a\x00"):
        assert grammar.accepts(text) is False


def test_documents_of_a_schema_are_accepted_as_they_are_spelled(byte_tokenizer: Any) -> None:
    grammar = llmask.Compiler(byte_tokenizer).json_schema({"properties": {"a": {"type": "integer"}, "b": {}}})
    assert grammar.accepts('{"a": 1, "b": null}')
    assert not grammar.accepts('{"b": null, "a": 1}')
    assert not grammar.accepts('{"a": 1')
    assert not grammar.accepts('{"a": 1} ')


def test_max_tokens_and_named_tokens_do_not_hinder_accepting(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    assert compiler.lark('start: a "."\na[max_tokens=3]: /[a-z]+/').accepts("abcdefg.")
    named = compiler.lark('start: "a" <[65]> | "b"')
    assert [named.accepts(text) for text in ("a", "b", "aA", "a<[65]>")] == [False, True, False, False]


@pytest.mark.parametrize("text", [None, 1, ["a"], {"a": 1}])
def test_only_texts_are_asked_for(byte_tokenizer: Any, text: Any) -> None:
    with pytest.raises(llmask.LlmaskError, match=f"a text is str or bytes, not {type(text).__name__}"):
        llmask.Compiler(byte_tokenizer).regex("a").accepts(text)


def test_what_takes_too_long_to_read_is_no_verdict(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer, limits=llmask.Limits(max_lexer_states=100))
    grammar = compiler.regex("[ab]*a[ab]{20}")
    letters = "".join(random.Random(1).choices("ab", k=9000))
    with pytest.raises(llmask.LimitExceeded):
        grammar.accepts(letters)
    assert grammar.accepts("b" * 9000) is False


def test_a_matcher_may_be_made_of_a_compiled_grammar(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).regex("ab")
    matcher = llmask.Matcher(grammar)  # type: ignore[arg-type]
    matcher.accept_bytes(b"ab")
    assert matcher.is_accepting()
