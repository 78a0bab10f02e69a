"""What a matcher tells of its document so far belongs to its tokens, whatever was taken back, forked or sent away."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import llmask
from llmask.matching.partial import MOST_KEPT
from tests.reference.partial_json import NO_VALUE, so_far
from tests.unit.interrupted import interrupted

TOKENIZER = "default_tokenizer"  # of `compiler`


def check(matcher: Any, lead: bytes = b"", has_ended: bool = False) -> None:
    """That a matcher of JSON tells what the twin reads from its text."""
    expected = so_far(matcher.text()[len(lead) :], has_ended)
    value = None if expected.value is NO_VALUE else expected.value
    assert repr(matcher.partial()) == repr(value), matcher.text()
    assert tuple(matcher.position()) == expected[1:], matcher.text()


def test_a_document_byte_by_byte(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_object().matcher()
    assert matcher.partial() is None
    assert matcher.position() == ("", "between", 0, 0)
    seen = []
    for byte in b'{"name": "Ada \\ud83d\\ude00", "born": [1815, true]}':
        matcher.accept_bytes(bytes([byte]))
        check(matcher)
        seen.append(str(matcher.position()))
    assert matcher.partial() == {"name": "Ada 😀", "born": [1815, True]}
    assert "in the value at /born/0, 1 byte so far, depth 2" in seen
    assert "in a key of the object at the root, 1 byte so far, depth 1" in seen
    assert any(text.startswith("between values at /born, 0 bytes") for text in seen)
    assert seen[-1] == "at the end of the document"


def test_a_number_at_the_root_counts_when_the_sequence_has_ended(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_schema({"type": "integer"}).matcher()
    matcher.accept_bytes(b"12")
    assert (matcher.partial(), matcher.position()) == (None, ("", "value", 2, 0))
    matcher.accept_token(compiler.tokenizer.eos_ids[0])
    assert (matcher.partial(), matcher.position()) == (12, ("", "end", 0, 0))
    matcher.rollback(1)
    assert matcher.partial() is None
    matcher.accept_bytes(b"3.0")
    check(matcher)


def test_taking_back_forking_and_asking_in_any_order(compiler: llmask.Compiler) -> None:
    rng = random.Random(7)
    texts = [
        '{"a": [1, 2, {"b": "x\\ny"}], "c": "é😀"}',
        '{"a": {"a": [[], {}, "zz"]}, "d": null}',
        '{"e": -1.5e3, "": ""}',
    ]
    grammar, eos = compiler.json_object(), compiler.tokenizer.eos_ids[0]
    family = [(grammar.matcher(), rng.choice(texts))]
    for _ in range(1500):
        number = rng.randrange(len(family))
        matcher, text = family[number]
        action = rng.random()
        left = text.encode()[len(matcher.text()) :]
        if action < 0.45 and left:
            matcher.accept_bytes(left[: rng.choice([1, 1, 2, 5, 9])])
        elif action < 0.5 and not left and not matcher.is_terminated():
            matcher.accept_token(eos)
        elif action < 0.7 and len(matcher):
            matcher.rollback(rng.randrange(1, min(len(matcher), 12) + 1))
            if not matcher.text():
                family[number] = matcher, rng.choice(texts)
        elif action < 0.75 and len(family) < 12:
            family.append((copy.copy(matcher), text))
        elif action < 0.77:
            matcher.reset()
            family[number] = matcher, rng.choice(texts)
        else:
            check(matcher, has_ended=matcher.is_terminated())
    for matcher, _ in family:
        check(matcher, has_ended=matcher.is_terminated())


def test_what_is_kept_is_bounded_and_rolls_back_any_way(compiler: llmask.Compiler) -> None:
    rng = random.Random(3)
    matcher = compiler.json_schema({"type": "array", "items": {"type": "integer"}}).matcher()
    n_steps = 3 * MOST_KEPT
    for number in range(n_steps):
        matcher.accept_bytes(b"1," if number else b"[0,")
        assert matcher.position() == ("", "between", 2 * number + 3, 1)
    assert len(matcher._sequence.readings) <= MOST_KEPT
    steps = [reading.n_tokens for reading in matcher._sequence.readings]
    assert steps == sorted(set(steps))
    assert steps[-100:] == list(range(n_steps - 99, n_steps + 1))
    while len(matcher):
        matcher.rollback(min(rng.choice([1, 10, 300, 900]), len(matcher)))
        twin = matcher.fork()
        if len(twin):
            assert twin.partial() == [0] + [1] * (len(matcher) - 1)
        matcher.position()
    assert matcher.partial() is None


def test_pickles_and_moves_to_new_tables(compiler: llmask.Compiler) -> None:
    limits = llmask.Limits(renew_grammar_bytes=1)
    for one in (compiler, llmask.Compiler(compiler.tokenizer, limits=limits)):
        matcher = one.json_object().matcher()
        for byte in b'{"a": [1, "two", {"three": 4}], "b": "':
            matcher.accept_bytes(bytes([byte]))
            check(matcher)
        twin = pickle.loads(pickle.dumps(matcher))
        assert twin._sequence.readings == []
        check(twin)


def test_interrupts_leave_what_belongs_to_the_tokens(compiler: llmask.Compiler) -> None:
    grammar = compiler.json_object()

    def begun() -> llmask.Matcher:
        matcher = grammar.matcher()
        matcher.accept_bytes(b'{"a": "')
        matcher.accept_bytes(b"one")
        matcher.position()
        return matcher

    def work(matcher: llmask.Matcher) -> None:
        matcher.rollback(1)
        matcher.accept_bytes(b"two")
        matcher.partial()

    for matcher in interrupted(begun, work):
        check(matcher)


def test_a_prefix_is_no_part_of_the_document(compiler: llmask.Compiler) -> None:
    canonical = llmask.Compiler(compiler.tokenizer, canonical=True)
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    for one in (compiler, canonical):
        prefix = b'{"x": '
        matcher = one.json_schema(schema).matcher(prefix=prefix)
        for token in one.tokenizer.encode('{"x": {"a": "b"}'):
            matcher.accept_token(token)
            if len(matcher.text()) < len(prefix):
                assert (matcher.partial(), matcher.position()) == (None, ("", "between", 0, 0))
            check(matcher, prefix)
        assert matcher.partial() == {"a": "b"}
    text = compiler.regex("[a-z]+").matcher(prefix=b"12")
    text.accept_bytes(b"12ab")
    assert (text.partial(), text.position()) == ("ab", (None, "text", 2, 0))


def test_a_stop_token_with_a_text_adds_none(compiler: llmask.Compiler) -> None:
    (stop,) = compiler.tokenizer.encode("]")
    matcher = compiler.json_schema({"type": "array"}).matcher(stop_tokens=[stop])
    matcher.accept_bytes(b"[1]")
    matcher.accept_token(stop)
    check(matcher, has_ended=True)
    number = compiler.json_schema({"type": "integer"}).matcher(stop_tokens=[stop])
    number.accept_bytes(b"1")
    number.accept_token(stop)
    assert number.partial() == 1


def test_thinking_is_no_part_of_the_answer(compiler: llmask.Compiler) -> None:
    tok = compiler.tokenizer
    matcher = llmask.Reasoning(compiler.json_object(), tok.encode("</think>")).matcher()
    for token in tok.encode('{"not": "this"'):
        assert matcher.accept(token)
    assert (matcher.partial(), matcher.position()) == (None, ("", "between", 0, 0))
    assert repr(matcher).endswith("tokens of thinking, the answer has not begun)")
    for token in [*tok.encode("</think>"), *tok.encode('{"a": "b')]:
        assert matcher.accept(token)
    assert (matcher.partial(), str(matcher.position().pointer)) == ({"a": "b"}, "/a")
    assert repr(matcher).endswith("in the value at /a, 2 bytes so far, depth 1)")


def test_grammars_that_are_no_json_have_a_text_and_no_pointer(compiler: llmask.Compiler) -> None:
    for grammar in (
        compiler.regex('\\{"é": 1\\}'),
        compiler.choice(['{"é": 1}']),
        compiler.gbnf('root ::= "{\\"é\\": 1}"'),
        compiler.lark('start: "{\\"é\\": 1}"'),
        compiler.lark('start: %json {"type": "object"}'),
        compiler.json_object().union(compiler.choice(["none"])),
        compiler.json_object().repeat(1, 2),
        compiler.json_object().optional(),
    ):
        matcher = grammar.matcher()
        assert (matcher.partial(), matcher.position()) == ("", (None, "text", 0, 0))
        matcher.accept_bytes('{"é'.encode()[:3])
        assert (matcher.partial(), matcher.position()) == ('{"', (None, "text", 3, 0))
    assert str(matcher.position()) == "in a text, 3 bytes so far"


def test_grammars_that_are_json(compiler: llmask.Compiler) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    one, two = compiler.json_schema(schema), compiler.json_schema({"type": "array"})
    for grammar in (
        *(one, compiler.json_object(), one.union(two), two.union(one).union(two), compiler.load(one.save())),
        *(pickle.loads(pickle.dumps(one)), compiler.response_format({"type": "json_object"})),
    ):
        assert grammar._loaded.is_json
        matcher = grammar.matcher()
        assert (matcher.partial(), matcher.position().pointer) == (None, "")
    assert one._loaded.lead == b""


def test_keys_that_need_escapes_in_a_pointer(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_object().matcher()
    matcher.accept_bytes(json.dumps({"a/b~": {"": [0, {"<script>\n": "x"}]}}).encode()[:-6])
    assert matcher.position().pointer == "/a~1b~0//1/<script>\n"
