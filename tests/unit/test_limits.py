"""Every budget is met by some hostile input, is named in the message, and leaves everything else as it was."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.kinds import CALL_OPEN
from llmask.grammar.rules import Rules
from llmask.kernels.tables import grammar_layout, store_layout
from llmask.limits import Limits
from tests.reference.definition import read_mask

SIMPLER = "\n  simplify the grammar (shorter repetitions, fewer alternatives) or raise the limit"
LETTERS = bytes(random.Random(1).choices(b"ab", k=4000))
STEP = 400  # letters given to `accept_bytes` at once: "one call"


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def products(n_factors: int) -> dict[str, Any]:
    """2 ** n_factors combinations of bounds."""
    return {"allOf": [{"anyOf": [{"minLength": n}, {"maxLength": 1000 - n}]} for n in range(n_factors)]}


def lengths_apart(n_patterns: int) -> dict[str, Any]:
    """Strings in which every pattern is found, at distances that all differ."""
    return {"type": "string", "allOf": [{"pattern": f"a.{{{n}}}b"} for n in range(2, n_patterns)]}


def remembering(compiler: Any) -> Any:
    """Which of the last 21 letters were `a`: 2^21 lexer states, a few of them new at every letter."""
    return compiler.regex("(a|b)*a(a|b){20}")


def names_in_any_order(compiler: Any) -> Any:
    """Letters, each at most once."""
    store, rules = compiler._newest_store(), Rules()
    start = rules.start_state(rules.rule("letters"))
    for member in range(5):
        rules.scan(start, store.nodes.literal(b"%c" % (97 + member)), start, rules.add_guard(member))
    rules.final(start)
    return MadeGrammar(store, rules)


def words_that_differ(compiler: Any) -> Any:
    """Runs of `a`, no two the same."""
    store, rules = compiler._newest_store(), Rules()
    word, rules.start = rules.rule("word"), rules.rule("words")
    end, start = rules.state(word), rules.start_state(rules.start)
    letters = store.nodes.repeat(store.nodes.literal(b"a"), 1, None)
    rules.scan(rules.start_state(word), store.nodes.concat([letters, store.nodes.literal(b".")]), end)
    rules.final(end)
    rules.call_new(start, word, start, kind=CALL_OPEN)
    rules.final(start)
    return MadeGrammar(store, rules)


# field, its value, how a grammar is made, the bytes to feed with a mask before each step, the whole message
Case = tuple[str, int, Callable[[Any], Any], bytes, str]
CASES: list[Case] = [
    (
        "max_tracked_names",
        4,
        names_in_any_order,
        b"",
        "a set of 5 names is more than 4 (limits.max_tracked_names)\n"
        "  track fewer names in one rule or raise the limit",
    ),
    (
        "max_schema_bytes",
        51,
        lambda compiler: compiler.regex("a" * 52),
        b"",
        "the pattern has 52 characters, the limit is 51 (limits.max_schema_bytes)\n"
        "  split the pattern or raise the limit",
    ),
    (
        "max_schema_nodes",
        100,
        lambda compiler: compiler.json_schema(lengths_apart(8)),
        b"",
        "the patterns of the schema make more than 100 expressions (limits.max_schema_nodes)\n"
        "  Combine or negate fewer patterns, use shorter repetitions, or raise the limit.",
    ),
    (
        "max_regex_nodes",
        400,
        lambda compiler: compiler.regex("(?=(a|b)*a(a|b){20}$)(?=(a|b)*b(a|b){22}$)[ab]*"),
        LETTERS,
        "one call needs more than 400 new regex nodes (limits.max_regex_nodes)" + SIMPLER,
    ),
    (
        "max_lexer_states",
        100,
        remembering,
        LETTERS,
        "one call needs more than 100 new lexer states (limits.max_lexer_states)" + SIMPLER,
    ),
    (
        "max_rows",
        60,
        lambda compiler: compiler.json_schema(True),
        b"[" * 100,
        "this grammar needs more than 60 rows (limits.max_rows)" + SIMPLER,
    ),
    (
        "max_items",
        30,
        lambda compiler: compiler.json_schema({"anyOf": [nested(n) for n in range(1, 30)]}),
        b"[[[[[[",
        "one row of the parser needs more than 30 items (limits.max_items)" + SIMPLER,
    ),
    (
        "max_unique_values",
        3,
        words_that_differ,
        b"a.aa.aaa.aaaa.",
        "an array or object needs more than 3 values that differ (limits.max_unique_values)" + SIMPLER,
    ),
    (
        "max_nodes_walked",
        100,
        lambda compiler: compiler.regex("[^x]*x"),
        b"a",
        "one mask needs more than 100 trie nodes visited (limits.max_nodes_walked)" + SIMPLER,
    ),
    (
        "max_emptiness_steps",
        50,
        lambda compiler: compiler.regex("(?=(a|b)*a(a|b){12}c$)(?=(a|b)*b(a|b){12}c$)[abc]*"),
        b"",
        "deciding whether a pattern is empty needs more than 50 derivatives (limits.max_emptiness_steps)" + SIMPLER,
    ),
    (
        "max_compile_work",
        2000,
        lambda compiler: compiler.json_schema(products(20)),
        b"",
        "compiling this takes more than 2000 units of work (limits.max_compile_work; a unit is about a microsecond)\n"
        "  simplify the grammar (shorter repetitions, fewer alternatives that multiply) or raise the limit",
    ),
    (
        "max_step_work",
        40,
        remembering,
        LETTERS,
        "one step takes more than 40 units of work (limits.max_step_work; a unit is about a microsecond)\n"
        "  simplify the grammar (shorter repetitions, fewer alternatives that multiply) or raise the limit",
    ),
    (
        "max_store_bytes",
        1_500_000,
        remembering,
        LETTERS,
        "the tables shared by all grammars need more than 1500000 bytes (limits.max_store_bytes)" + SIMPLER,
    ),
    (
        "max_grammar_bytes",
        60_000,
        lambda compiler: compiler.json_schema(True),
        b'{"a":[' * 400,
        "the tables of this grammar need more than 60000 bytes (limits.max_grammar_bytes)" + SIMPLER,
    ),
]


def test_every_field_has_a_case() -> None:
    elsewhere = {"renew_store_bytes", "renew_grammar_bytes"}  # no errors: see test_store.py and test_generation.py
    elsewhere |= {"max_schema_depth", "max_schema_keywords", "max_schema_cases"}  # tests/contract/mistakes/bounds.py
    assert {case[0] for case in CASES} == {field.name for field in dataclasses.fields(Limits)} - elsewhere


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}={case[1]}" for case in CASES])
def test_a_hostile_input_meets_the_limit_and_spoils_nothing(tiny_tokenizer: Any, case: Case) -> None:
    field, value, make, data, message = case
    compiler = llmask.Compiler(tiny_tokenizer, limits=dataclasses.replace(Limits(), **{field: value}), cache_bytes=0)
    if not data:
        with pytest.raises(llmask.LimitExceeded) as caught:
            make(compiler)
    else:
        matcher = make(compiler).matcher()
        with pytest.raises(llmask.LimitExceeded) as caught:
            feed(matcher, data, tiny_tokenizer)
        text = matcher.text()
        assert data.startswith(text)
        assert len(text) < len(data)
        assert len(text) == len(matcher.tokens) * STEP
        oracle = make(llmask.Compiler(tiny_tokenizer)).matcher()
        oracle.accept_bytes(text)
        assert matcher.is_accepting() == oracle.is_accepting()
        assert not matcher.is_terminated()
        matcher.reset()
        assert matcher.text() == b""
    error = caught.value
    # where in a schema the work was too much depends on the order of compiling: the frontend's tests look at that
    assert str(llmask.LimitExceeded(error.message, help=error.help)) == message
    assert field in message
    if field not in ("max_store_bytes", "max_nodes_walked"):  # these two hold for every grammar of the compiler
        healthy = compiler.regex("a|bb").matcher()
        healthy.accept_bytes(b"bb")
        assert healthy.is_accepting()
        assert read_mask(healthy, tiny_tokenizer.vocab_size) == set(tiny_tokenizer.eos_ids)


def feed(matcher: Any, data: bytes, tokenizer: Any) -> None:
    for first in range(0, len(data), STEP):
        read_mask(matcher, tokenizer.vocab_size)
        matcher.accept_bytes(data[first : first + STEP])


def test_a_store_past_its_limit_is_replaced_for_the_next_grammar(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=Limits(max_store_bytes=2_000_000))
    hostile = remembering(compiler)
    with pytest.raises(llmask.LimitExceeded):
        feed(hostile.matcher(), LETTERS, tiny_tokenizer)
    healthy = compiler.regex("a|bb")
    assert healthy._loaded.store is not hostile._loaded.store
    assert healthy.accepts(b"bb")


GRAMMARS: list[Callable[[Any], Any]] = [
    lambda compiler: compiler.regex("(a|b)*a(a|b){8}"),
    lambda compiler: compiler.regex("((a|b){1,5}c){2,9}|[ab]{3,40}x"),
    lambda compiler: compiler.regex("(?=.*a)(?=.*b)[abc]{3,6}"),
    lambda compiler: compiler.json_schema(True),
    lambda compiler: compiler.json_schema(
        {
            "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "maximum": 129}},
            "additionalProperties": {"items": {"type": "number"}},
        }
    ),
]
STORE_BUDGETS = {
    store_layout.STORE.states_per_call: (1, 12),
    store_layout.STORE.nodes_per_call: (1, 40),
    store_layout.STORE.max_emptiness: (1, 30),
    store_layout.STORE.max_walked: (100, 2000),
}
GRAMMAR_BUDGETS = {grammar_layout.GRAMMAR.max_rows: (1, 20), grammar_layout.GRAMMAR.max_items: (2, 30)}


def until_done(question: Callable[[], Any]) -> Any:
    """The answer once nothing is missing any more, or None where a limit stops every attempt."""
    for _ in range(20):
        try:
            return question()
        except llmask.LimitExceeded:
            pass
    return None


@pytest.mark.long
def test_what_was_built_before_a_limit_is_right(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    # A limit stops in the middle of building; the next call goes on from there. Whatever it answers is the truth.
    free = llmask.Compiler(tiny_tokenizer)
    n_limits = 0
    for _ in range(scaled(120)):
        make = rng.choice(GRAMMARS)
        grammar = make(llmask.Compiler(tiny_tokenizer))
        budgets = rng.choice((STORE_BUDGETS, GRAMMAR_BUDGETS))
        slot, bounds = rng.choice(sorted(budgets.items()))
        loaded = grammar._loaded
        table = loaded.store.table if budgets is STORE_BUDGETS else loaded.generation.table
        table.slots[slot] = rng.randint(*bounds)
        matcher, oracle = grammar.matcher(), make(free).matcher()
        for _ in range(20):
            allowed = read_mask(oracle, tiny_tokenizer.vocab_size)
            mask = until_done(partial(read_mask, matcher, tiny_tokenizer.vocab_size))
            assert mask in (None, allowed)
            n_limits += mask is None
            for token in [rng.choice(sorted(allowed)), *rng.sample(range(tiny_tokenizer.vocab_size), 3)]:
                assert until_done(partial(matcher.validate_tokens, [token])) in (None, int(token in allowed))
            token = rng.choice(sorted(allowed))
            before = matcher.tokens
            until_done(partial(matcher.accept_token, token))
            if matcher.tokens == before:
                break
            assert matcher.tokens == [*before, token]
            oracle.accept_token(token)
            if matcher.is_terminated():
                break
    assert n_limits > 0


@pytest.mark.parametrize("value", ["9", 0, True, 1.5, 2**62])
def test_limits_are_positive_integers(tiny_tokenizer: Any, value: Any) -> None:
    with pytest.raises(llmask.LlmaskError) as caught:
        llmask.Compiler(tiny_tokenizer, limits=Limits(max_rows=value))
    assert str(caught.value) == f"limits.max_rows is a positive integer, not {value!r}\n  it is below 2**62"


def test_limits_too_low_for_any_grammar_are_told_at_once(tiny_tokenizer: Any) -> None:
    with pytest.raises(llmask.LimitExceeded) as caught:
        llmask.Compiler(tiny_tokenizer, limits=Limits(max_regex_nodes=10))
    assert str(caught.value) == "one call needs more than 10 new regex nodes (limits.max_regex_nodes)" + SIMPLER
