"""Pickles of tokenizers, compilers, grammars and matchers: the same there, the tokenizer once, the store shared."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import random
import threading
import warnings
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from tests.processes import side_by_side
from tests.reference.definition import read_mask
from tests.unit.compiling.saved_grammars import KINDS, OBJECT, imported, same, walk_together

TOKENIZER = "tiny_tokenizer"  # of `compiler`

pytestmark = pytest.mark.filterwarnings("ignore::llmask.GrammarWarning")


def sent(value: Any, protocol: int | None = None) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


@pytest.fixture(scope="module")
def canonical(default_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(default_tokenizer, canonical=True)


@pytest.fixture
def fresh() -> llmask.Compiler:
    """A compiler whose tokenizer no other test has sent."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc", b"</s>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=258))


@pytest.mark.parametrize("kind", KINDS)
def test_a_grammar_is_the_same_where_it_arrives(compiler: Any, kind: str) -> None:
    grammar = KINDS[kind](compiler)
    there = sent(grammar)
    assert there._loaded.store is not grammar._loaded.store
    same(grammar, there)
    same(grammar, sent(there))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_will_do(compiler: Any, protocol: int) -> None:
    matcher = compiler.json_schema(OBJECT).matcher()
    matcher.accept_bytes(b'{"')
    there = sent({"in": [compiler, compiler.tokenizer, compiler.limits, matcher.grammar, matcher]}, protocol)["in"]
    assert there[2] == compiler.limits
    assert there[3] is there[4].grammar
    assert there[0].tokenizer is there[1] is there[3].tokenizer
    walk_together(matcher, there[4], random.Random(protocol), 20)


def test_files_of_imports_travel(compiler: Any, tmp_path: Path) -> None:
    grammar = imported(compiler, tmp_path)
    same(grammar, sent(grammar))


def test_the_tokenizer_travels_once(canonical: Any, default_tokenizer: Any) -> None:
    plain = llmask.Compiler(default_tokenizer)
    grammars = [plain.regex(f"a{{{n}}}") for n in range(50)]
    parts = [plain, canonical, *grammars, *(grammar.matcher() for grammar in grammars), canonical.regex("b+")]
    alone = len(pickle.dumps(default_tokenizer))
    assert alone < 1_200_000
    assert len(pickle.dumps(parts)) < alone + 600 * len(parts)


def test_what_was_built_over_a_tokenizer_stays_behind() -> None:
    tokenizer = llmask.Tokenizer.default()
    before = pickle.dumps(tokenizer)
    llmask.Compiler(tokenizer, canonical=True).regex("[a-z]+").matcher().forced_tokens()
    tokenizer.warm()
    tokenizer.encode("some text", method="greedy")
    assert pickle.dumps(tokenizer) == before


def test_a_tokenizer_is_the_same_where_it_arrives(default_tokenizer: Any) -> None:
    there = sent(default_tokenizer)
    text = 'It\'s {"a": [1, 2.5e3]}, 日本 \u00e9\n\n  and more. <tool>'
    ids = default_tokenizer.encode(text)
    for tokenizer in (default_tokenizer, there):
        assert tokenizer.encode(text) == ids
        assert tokenizer.decode(ids) == text
        assert tokenizer.is_canonical(ids)
        assert not tokenizer.is_canonical(list(text.encode()))
    assert (there.digest, there.eos_ids, there.special_ids, there.vocab_size, repr(there)) == (
        *(default_tokenizer.digest, default_tokenizer.eos_ids, default_tokenizer.special_ids),
        *(default_tokenizer.vocab_size, repr(default_tokenizer)),
    )


@pytest.mark.parametrize("name", ["llama-spm", "llama-bpe", "bert-bge", "nomic-bert-moe"])
def test_tokenizers_of_every_encoder_travel(shared_dir: Path, name: str) -> None:
    path = shared_dir / "data" / "vocab" / f"{name}.gguf"
    if not path.exists():
        pytest.skip(f"there is no {path.name}")
    tokenizer = llmask.Tokenizer.from_gguf(path)
    data = pickle.dumps(tokenizer)
    there = pickle.loads(data)
    assert len(data) < 12_000_000
    for text in ("Hello  world, it's 2024!\n", "\u00e9t\u00e9 日本 😀", ""):
        ids = tokenizer.encode(text)
        assert there.encode(text) == ids
        assert there.decode(ids) == tokenizer.decode(ids)
        assert there.is_canonical(ids) == tokenizer.is_canonical(ids)
    there_too = pickle.loads(data)
    assert there_too is there


def test_a_tokenizer_of_a_class_of_its_own_keeps_what_it_has() -> None:
    tokenizer = Named.default()
    tokenizer.name = "mine"
    there = sent(tokenizer)
    assert (type(there), there.name) == (Named, "mine")
    assert there.encode("text") == tokenizer.encode("text")


class Named(llmask.Tokenizer):
    name = ""


# --- what is shared


def test_all_that_arrives_shares_a_store(fresh: Any) -> None:
    first, second = sent(fresh.regex("a+")), sent(fresh.json_object())
    assert first._loaded.store is second._loaded.store
    assert first.tokenizer is second.tokenizer
    assert str(first.union(second)) == str(fresh.regex("a+").union(fresh.json_object()))
    there = sent(fresh)
    assert there._newest_store() is first._loaded.store
    assert there.choice(["x"]).concat(first).shortest() == b"xa"


def test_other_settings_have_another_store(fresh: Any) -> None:
    tokenizer = fresh.tokenizer
    others = [
        llmask.Compiler(tokenizer, limits=llmask.Limits(max_rows=5000)),
        llmask.Compiler(tokenizer, slices=["[^*]+"]),
        llmask.Compiler(tokenizer, cache_bytes=0),
    ]
    there = sent([compiler.regex("a") for compiler in (fresh, *others)])
    assert len({id(grammar._loaded.store) for grammar in there}) == 3
    assert there[0]._loaded.store is there[3]._loaded.store
    assert [grammar._loaded.store.limits.max_rows for grammar in there][:2] == [1_000_000, 5000]
    assert there[2]._loaded.store.slices == ("[^*]+",)
    settings = sent(others[1])
    assert settings.statistics()["cache_grammars"] == 0
    assert settings.regex("a") is settings.regex("a")


def test_a_store_dies_with_the_last_that_arrived(fresh: Any) -> None:
    grammar = sent(fresh.regex("a+"))
    store, tokenizer = weakref.ref(grammar._loaded.store), weakref.ref(grammar.tokenizer)
    matcher = sent(fresh.regex("b+").matcher())
    del grammar
    gc.collect()
    assert matcher.grammar.store is store()
    del matcher
    gc.collect()
    assert (store(), tokenizer()) == (None, None)


def test_threads_may_unpickle_side_by_side(fresh: Any) -> None:
    matchers = [fresh.regex(f"[a-c]{{{n}}}").matcher() for n in range(1, 9)]
    for matcher in matchers:
        matcher.accept_bytes(b"a")
    data = [pickle.dumps(matcher) for matcher in matchers]
    found: list[Any] = []
    errors: list[BaseException] = []
    begin = threading.Barrier(8)

    def load(seed: int) -> None:
        begin.wait()
        try:
            for number in random.Random(seed).sample(range(8), 8):
                found.append((number, pickle.loads(data[number])))
        except BaseException as error:
            errors.append(error)

    side_by_side(load, range(8))
    assert not errors
    assert len({id(matcher.grammar.store) for _, matcher in found}) == 1
    assert len({id(matcher.grammar.tokenizer) for _, matcher in found}) == 1
    for number, matcher in found:
        assert read_mask(matcher, 259) == read_mask(matchers[number], 259)


def test_no_warning_is_told_again(compiler: Any) -> None:
    with pytest.warns(llmask.GrammarWarning):
        grammar = compiler.lark('start: "x" | A B\nA: /a+/\nB: /ab/\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there = sent(grammar)
    assert there.warnings == grammar.warnings != []


def test_what_a_warm_store_allowed_arrives_in_an_empty_one(default_tokenizer: Any) -> None:
    # work that a store knows already costs nothing: limits met there must not be met here
    schema = {"type": "string", "pattern": "^a.*b$", "not": {"pattern": "c{3,9}"}}
    parts = [{"type": "string", "pattern": "^a.*b$"}, {"type": "string", "not": {"pattern": "c{3,9}"}}]
    compiler = llmask.Compiler(default_tokenizer)
    work = [compiler.statistics()["work"]]
    for part in (*parts, schema):
        compiler.json_schema(part)
        work.append(compiler.statistics()["work"])
    limits = llmask.Limits(max_compile_work=max(after - before for before, after in pairwise(work)))
    with pytest.raises(llmask.LimitExceeded):
        llmask.Compiler(default_tokenizer, limits=limits).json_schema(schema)
    warm = llmask.Compiler(default_tokenizer, limits=limits)
    grammar = [warm.json_schema(part) for part in (*parts, schema)][-1]
    same(grammar, sent(grammar), n_tokens=5)


# --- what cannot be sent


def test_what_cannot_be_sent_says_what_and_what_to_do(compiler: Any) -> None:
    grammars = {
        "a builtin_function_or_method": compiler.json_schema({"type": "string", "default": print}),
        "made of rules of this process": llmask.CompiledGrammar(
            MadeGrammar(compiler._newest_store(), compiler.regex("a")._loaded.own_rules)
        ),
    }
    for message, grammar in grammars.items():
        for one in (grammar, grammar.matcher()):
            with pytest.raises(llmask.LlmaskError, match=message) as caught:
                pickle.dumps([one])
            assert caught.value.help


# --- matchers


def taken(matcher: Any, *parts: Any) -> Any:
    """A matcher that took tokens, texts of tokens and bytes."""
    for part in parts:
        if isinstance(part, bytes):
            matcher.accept_bytes(part)
        elif isinstance(part, str):
            matcher.accept_tokens(matcher.grammar.tokenizer.encode(part))
        else:
            matcher.accept_token(part)
    return matcher


def check_midway(matcher: Any, seed: int = 0) -> Any:
    """Assert that a matcher arrives in its state, can go on and go back from there; what arrived."""
    there = sent(matcher)
    assert type(there) is type(matcher)
    assert there.tokens == matcher.tokens
    assert there.text() == matcher.text()
    assert there._sequence.on_limit == matcher._sequence.on_limit
    assert there.is_terminated() == matcher.is_terminated()
    assert there.is_accepting() == matcher.is_accepting()
    one, other = matcher.fork(), there.fork()
    walk_together(one, other, random.Random(seed), 12)
    for steps in range(1, len(matcher.tokens) + 1):
        one, other = matcher.fork(), there.fork()
        one.rollback(steps)
        other.rollback(steps)
        assert read_mask(one, one.grammar.tokenizer.vocab_size) == read_mask(other, one.grammar.tokenizer.vocab_size)
    return there


def test_a_matcher_arrives_midway(compiler: Any) -> None:
    eos = compiler.tokenizer.eos_ids[0]
    check_midway(compiler.json_object().matcher())
    check_midway(taken(compiler.json_schema(OBJECT).matcher(), '{"', b"z", b"ip", '": "', b"\xc3\xa9"[:1]))
    check_midway(taken(compiler.choice(["yes"]).matcher(), "y", b"es", eos))
    check_midway(taken(compiler.json_schema({"type": "array", "uniqueItems": True}).matcher(), '["a", ', b'"b", "'))
    captured = taken(compiler.regex("(?P<word>[a-c]+)1").matcher(), "ab", b"1")
    assert check_midway(captured).captures() == {"word": b"ab"}


def test_a_matcher_with_a_prefix_arrives_midway(compiler: Any) -> None:
    for parts in ((), ("na",), (b"n",), ("name", b'"'), ("nam", "e", '"x')):
        matcher = taken(compiler.json_schema({"type": "string"}).matcher(prefix=b"name"), *parts)
        there = check_midway(matcher)
        assert there._sequence.rest == matcher._sequence.rest


def test_a_matcher_with_max_tokens_arrives_midway(compiler: Any) -> None:
    grammar = compiler.lark('start: thought "\\n" /[ab]+/\nthought[max_tokens=3]: /.*/')
    for parts in ((), ("a",), ("a", b"bcd"), ("a", "b", b"c", "\n", "ab")):
        check_midway(taken(grammar.matcher(), *parts))


@pytest.mark.long
def test_a_canonical_matcher_arrives_midway(canonical: Any) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    grammar = canonical.json_schema(schema)
    for parts in ((), ('{"name": "he sa',), ('{"name"', b': "', "hello")):
        check_midway(taken(grammar.matcher(), *parts))
    behind = taken(grammar.matcher(prefix=b" "), ' {"name":')
    there = check_midway(behind)
    assert str(there.grammar) == str(behind.grammar)


def test_a_matcher_that_finishes_goes_on_to_finish(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_step_work=10))
    grammar = compiler.json_schema({"type": "string", "pattern": "^(?=.*a.{6})(?=.*b.{6})[abc]{24}$"})
    matcher = grammar.matcher(on_limit="finish")
    assert sent(matcher)._sequence.on_limit == "finish"
    n_vocab = tiny_tokenizer.vocab_size
    while not grammar.statistics()["finished"]:
        matcher.accept_token(max(read_mask(matcher, n_vocab)))
    there = sent(matcher)
    assert there.grammar.statistics()["finished"] == 0
    while not there.is_terminated():
        mask = read_mask(there, n_vocab)
        assert len(mask) == 1
        there.accept_token(*mask)
    one, other = matcher.fork(), sent(matcher)
    for again in (one, other):
        again.rollback(1)  # to before the limit: what it finds there is another matter
    assert one.tokens == other.tokens


def test_long_texts_arrive(compiler: Any) -> None:
    matcher = compiler.regex("(ab|[0-9])*").matcher()
    matcher.accept_tokens(compiler.tokenizer.encode("ab0123") * 1500)
    there = sent(matcher)
    assert there.tokens == matcher.tokens
    there.rollback(5000)
    matcher.rollback(5000)
    assert there.text() == matcher.text()


# --- another process


def answer(parts: Any, bitmask: Any) -> Any:
    """What a worker finds out of what was sent to it."""
    compiler, matchers = parts
    masks = [read_mask(matcher, matcher.grammar.tokenizer.vocab_size) for matcher in matchers]
    is_one = len({id(matcher.grammar.store) for matcher in matchers} | {id(compiler._newest_store())}) == 1
    matchers[0].accept_bytes(b"1")
    return masks, is_one, matchers, compiler.load(bitmask).shortest()


@pytest.mark.long
def test_a_spawned_process_says_the_same(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    matchers = [
        taken(compiler.json_schema(OBJECT).matcher(), '{"', "ö"),
        taken(compiler.regex("[a-z]+[0-9]").matcher(), "abc"),
        taken(compiler.gbnf('root ::= "a" root "b" | "c"').matcher(), b"aa"),
    ]
    matchers.reverse()
    matchers = [matchers[1], matchers[0], matchers[2]]
    saved = compiler.choice(["one"]).save()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        masks, is_one, back, text = pool.apply(answer, ((compiler, matchers), saved))
    assert masks == [read_mask(matcher, default_tokenizer.vocab_size) for matcher in matchers]
    assert is_one
    assert text == b"one"
    assert back[0].text() == b"abc1"
    assert back[1].tokens == matchers[1].tokens


def test_stop_tokens_and_how_it_ends_travel(compiler: Any) -> None:
    grammar = compiler.regex("(ab|c)*")
    letters = {letter: compiler.tokenizer.encode(letter)[0] for letter in "abc"}
    for prefix in (b"", b"a"):
        matcher = grammar.matcher(prefix, stop_tokens=[letters["c"], letters["b"]], terminate_at_end=True)
        for letter in "a" * len(prefix):
            matcher.accept_token(letters[letter])
        there = sent(matcher)
        assert there._sequence.stop_tokens == matcher._sequence.stop_tokens
        assert there._sequence.terminates_at_end
        assert read_mask(there, compiler.tokenizer.vocab_size) == read_mask(matcher, compiler.tokenizer.vocab_size)
        for each in (matcher, there):
            each.accept_token(letters["c"])
            assert each.is_terminated()
        assert sent(matcher).is_terminated()


def test_what_a_response_format_makes_travels(compiler: Any) -> None:
    for form in (
        {"type": "json_schema", "name": "n", "schema": OBJECT},
        {"type": "grammar", "syntax": "lark", "definition": 'start: "a" /[a-z]+/'},
        {"type": "text"},
    ):
        grammar = compiler.response_format(form)
        same(grammar, sent(grammar))
        same(grammar, compiler.load(grammar.save()))
