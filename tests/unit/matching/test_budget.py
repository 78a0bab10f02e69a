"""Masks within a budget: every document ends in time, whatever is chosen."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import llmask
from bench import budgets
from llmask.matching.finish import Ends, ends_of
from tests.reference.definition import read_mask

TOKENIZER = "default_tokenizer"  # of `compiler`
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 40},
        "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2},
        "next": {"$ref": "#"},
        "n": {"type": "integer"},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}
UNIQUE = {"type": "array", "items": {"type": "string"}, "minItems": 3, "uniqueItems": True}
ANY_ORDER = {**SCHEMA, "properties": {key: SCHEMA["properties"][key] for key in ("name", "tags", "n")}}
REQUIRED = {
    "type": "object",
    "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "long name": {"type": "string", "minLength": 9}},
    "required": ["long name", "other"],
}

UNIQUE_OBJECTS = {
    "type": "array",
    "items": {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]},
    "uniqueItems": True,
}


def nested(n_levels: int) -> dict[str, Any]:
    """An object whose three keys are required, the first of them again such an object."""
    inner: dict[str, Any] = {"type": "string"} if n_levels == 1 else nested(n_levels - 1)
    properties = {"a": inner, "b": {"type": "string"}, "c": {"type": "integer"}}
    return {"type": "object", "properties": properties, "required": ["a", "b", "c"]}


def written(matcher: Any, budget: int, rng: random.Random) -> int:
    """Write random tokens within a budget to the end; how many."""
    size = matcher.grammar.tokenizer.vocab_size
    n = 0
    while not matcher.is_terminated():
        matcher.accept_token(rng.choice(sorted(read_mask(matcher, size, budget - n))))
        n += 1
    return n


GRAMMARS: dict[str, Callable[[llmask.Compiler], Any]] = {
    "schema": lambda compiler: compiler.json_schema(SCHEMA),
    "any order": lambda compiler: compiler.json_schema(ANY_ORDER, property_order="any"),
    "any order, unique keys": lambda compiler: compiler.json_schema(REQUIRED, property_order="any", unique_keys=True),
    "any order, unique keys, many": lambda compiler: compiler.json_schema(
        {**REQUIRED, "minProperties": 4, "maxProperties": 5}, property_order="any", unique_keys=True
    ),
    "unique": lambda compiler: compiler.json_schema(UNIQUE),
    "unique enum": lambda compiler: compiler.json_schema(
        {"type": "array", "items": {"enum": [1, "two", 3]}, "minItems": 3, "uniqueItems": True}
    ),
    "unique objects": lambda compiler: compiler.json_schema(UNIQUE_OBJECTS, property_order="any"),
    "unique objects without required keys": lambda compiler: compiler.json_schema(
        {"type": "array", "items": {"type": "object"}, "minItems": 4, "uniqueItems": True}
    ),
    "required keys, ten levels, any order": lambda compiler: compiler.json_schema(nested(10), property_order="any"),
    "any json": lambda compiler: compiler.json_object(),
    "regex": lambda compiler: compiler.regex(r"[a-z]{3,9}( [a-z]+){2,}"),
    "negated": lambda compiler: compiler.json_schema(
        {"type": "string", "not": {"enum": ["", "a", " "]}, "pattern": "^[a ]*$"}
    ),
    "format": lambda compiler: compiler.json_schema({"type": "string", "format": "email"}),
    "gbnf": lambda compiler: compiler.gbnf('root ::= "(" root ")" root | "x"{2,4}'),
    "lark": lambda compiler: compiler.lark(
        'start: sum\nsum: sum "+" n | n\nn: "(" sum ")" | /[0-9]{2,4}/\n%ignore " "'
    ),
    "counted": lambda compiler: compiler.json_schema(
        {"type": "array", "minItems": 3, "items": {"type": "array", "minItems": 3, "items": {"type": "boolean"}}}
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "any order, unique keys" else name for name in GRAMMARS],
)
def test_every_document_ends_within_its_budget(
    compiler: llmask.Compiler, name: str, rng: random.Random, costly: Callable[[int], int]
) -> None:
    grammar = GRAMMARS[name](compiler)
    known = grammar.matcher().least_budget()
    assert written(grammar.matcher(), known, rng) <= known
    least = grammar.matcher().least_budget(exact=True)
    assert least <= known
    for budget in (least, least + 10, least + 1, least + 3, least + 30, least)[: costly(2)]:
        matcher = grammar.matcher()
        assert written(matcher, budget, rng) <= budget
    if least > 1:
        with pytest.raises(llmask.BudgetError) as caught:
            read_mask(grammar.matcher(), compiler.tokenizer.vocab_size, least - 1)
        assert caught.value.least == least


def test_the_end_that_is_counted_on_is_allowed_among_values_that_differ(
    compiler: llmask.Compiler, costly: Callable[[int], int]
) -> None:
    r"""The token of the bound could be one of those that were guessed, 64 more: then no token kept the budget.

    A token more was allowed in the first item already: `[{"${":[{" ..."\t:{},"s":"` took 21 tokens of 20.
    """
    grammar = GRAMMARS["unique objects"](compiler)
    chooser = budgets.Chooser(compiler.tokenizer)
    for seed in range(costly(60)):
        for budget in (20, 40):
            assert budgets.walk(grammar, budget, chooser, random.Random(seed), seed % 2 == 1).n_tokens <= budget


@pytest.mark.parametrize(
    "begun",
    [
        b'[{"k":0},',  # the end that costs least would repeat
        b'[{"k":0},{"k":1},{"k":2},{"k":3},{"k":4},{"k":5},{"k":6},{"k":7},{"k":8},{"k":9},{"k":',
    ],
)
def test_an_end_is_found_among_values_that_differ(compiler: llmask.Compiler, begun: bytes) -> None:
    items = {"type": "object", "properties": {"k": {"type": "integer"}}, "required": ["k"]}
    matcher = compiler.json_schema({"type": "array", "uniqueItems": True, "items": items}).matcher()
    matcher.accept_bytes(begun)
    assert matcher.least_budget() <= 12
    assert read_mask(matcher, compiler.tokenizer.vocab_size, 60)


def test_who_asks_again_for_too_little_is_refused_without_a_search(
    compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each document searched anew, for seconds."""
    searches = []
    search = Ends._search
    monkeypatch.setattr(Ends, "_search", lambda ends, configuration: (searches.append(1), search(ends, configuration)))
    grammar = compiler.json_schema(nested(3), property_order="any")
    for _ in range(3):
        with pytest.raises(llmask.BudgetError):
            read_mask(grammar.matcher(), compiler.tokenizer.vocab_size, 9)
    assert len(searches) == 1


@pytest.mark.parametrize("step_work", [1000, 3000, 10_000])
def test_within_a_budget_only_the_first_mask_meets_a_limit(step_work: int, rng: random.Random) -> None:
    """Later the way to the end begins, which the budget has kept open: a document was cut off by `LimitExceeded`."""
    tokenizer = llmask.Tokenizer.default()
    n_finished = n_begun = 0
    for name in ("schema", "any order", "any json", "lark", "regex"):
        compiler = llmask.Compiler(tokenizer, limits=llmask.Limits(max_step_work=step_work))
        grammar = GRAMMARS[name](compiler)
        for stop_tokens in ([], [], tokenizer.eos_ids):
            matcher = grammar.matcher(stop_tokens=stop_tokens)
            try:
                read_mask(matcher, tokenizer.vocab_size, 60)
            except llmask.LimitExceeded:
                continue
            n_begun += 1
            assert written(matcher, 60, rng) <= 60
        n_finished += grammar.statistics()["finished"]
    assert n_begun > 3
    assert n_finished > 0 or step_work > 1000


def test_free_keys_do_not_stand_for_required_ones(compiler: llmask.Compiler) -> None:
    """In any order and with keys that must differ, a free key was taken to give what a required one gives.

    `""` is shorter than `"a"`, so the search wrote free keys for ever: "no end of the document was found".
    """
    schema = {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]}
    ends = {}
    for unique_keys in (False, True):
        matcher = compiler.json_schema(schema, property_order="any", unique_keys=unique_keys).matcher()
        ends[unique_keys] = b"".join(map(compiler.tokenizer.token_bytes, matcher.finishing_tokens()))
    assert ends == {False: b'{"a":null}', True: b'{"a":null}'}


@pytest.mark.long
def test_a_far_budget_changes_no_mask(compiler: llmask.Compiler, rng: random.Random) -> None:
    size = compiler.tokenizer.vocab_size
    for name in ("schema", "any json", "lark", "regex"):
        matcher = GRAMMARS[name](compiler).matcher()
        for _ in range(30):
            plain = read_mask(matcher, size)
            for _ in range(2):  # the second time it is known how far is far
                assert read_mask(matcher, size, 100_000) == plain
            matcher.accept_token(rng.choice(sorted(plain)))
            if matcher.is_terminated():
                break


def test_a_smaller_budget_allows_fewer_tokens(compiler: llmask.Compiler, rng: random.Random) -> None:
    size = compiler.tokenizer.vocab_size
    matcher = GRAMMARS["schema"](compiler).matcher()
    for _ in range(40):
        least = len(matcher.finishing_tokens()) + 1
        masks = [read_mask(matcher, size, least + more) for more in (0, 1, 2, 5, 20)]
        assert all(one <= other for one, other in pairwise(masks))
        matcher.accept_token(rng.choice(sorted(masks[-1])))
        if matcher.is_terminated():
            break


@pytest.mark.long
def test_lowered_midway_the_mask_follows_the_shortest_way(compiler: llmask.Compiler, rng: random.Random) -> None:
    size = compiler.tokenizer.vocab_size
    for name in GRAMMARS:
        matcher = GRAMMARS[name](compiler).matcher()
        for _ in range(12):
            matcher.accept_token(rng.choice(sorted(read_mask(matcher, size) - set(compiler.tokenizer.eos_ids)) or [0]))
            if not read_mask(matcher, size) - set(compiler.tokenizer.eos_ids):
                break
        known = ends_of(matcher._sequence.generation).bound(matcher._sequence.configuration)
        n = 0
        while not matcher.is_terminated():
            matcher.accept_token(rng.choice(sorted(read_mask(matcher, size, 1))))
            n += 1
        assert n <= known, name


@pytest.mark.long
def test_rollback_and_forks_keep_a_budget(compiler: llmask.Compiler, rng: random.Random) -> None:
    size = compiler.tokenizer.vocab_size
    grammar = GRAMMARS["schema"](compiler)
    matcher = grammar.matcher()
    budget = matcher.least_budget() + 8
    masks = []
    while not matcher.is_terminated():
        masks.append(read_mask(matcher, size, budget - len(masks)))
        twin = matcher.fork()
        assert read_mask(twin, size, budget - len(masks) + 1) == masks[-1]
        assert written(twin, budget - len(masks) + 1, rng) + len(masks) - 1 <= budget
        matcher.accept_token(rng.choice(sorted(masks[-1])))
    assert len(masks) <= budget
    while matcher.tokens:
        matcher.rollback(1)
        assert read_mask(matcher, size, budget - len(matcher.tokens)) == masks.pop()


def test_after_the_end_every_budget_allows_the_end(compiler: llmask.Compiler) -> None:
    matcher = compiler.choice(["a"]).matcher()
    matcher.accept_tokens([*compiler.tokenizer.encode("a"), compiler.tokenizer.eos_ids[0]])
    assert read_mask(matcher, compiler.tokenizer.vocab_size, 1) == set(compiler.tokenizer.eos_ids)
    assert matcher.least_budget() == 1
    assert matcher.finishing_tokens() == []


def test_finishing_tokens_end_the_document(compiler: llmask.Compiler, rng: random.Random) -> None:
    size = compiler.tokenizer.vocab_size
    for name in GRAMMARS:
        matcher = GRAMMARS[name](compiler).matcher()
        for _ in range(8):
            allowed = read_mask(matcher, size) - set(compiler.tokenizer.eos_ids)
            if not allowed:
                break
            matcher.accept_token(rng.choice(sorted(allowed)))
        tokens = matcher.finishing_tokens()
        before = matcher.tokens
        assert len(tokens) + 1 <= 10_000
        matcher.accept_tokens(tokens)
        assert matcher.is_accepting(), name
        matcher.rollback(len(tokens))
        assert matcher.tokens == before


@pytest.mark.long
def test_batches_take_a_budget_for_each_row(compiler: llmask.Compiler) -> None:
    size = compiler.tokenizer.vocab_size
    grammar = GRAMMARS["schema"](compiler)
    least = grammar.matcher().least_budget()
    matchers = [grammar.matcher() for _ in range(4)]
    budgets = [None, least, least + 2, 10_000]
    mask = llmask.allocate_bitmask(4, size)
    found = llmask.fill_bitmasks(matchers, mask, budgets=budgets)
    for row, budget in enumerate(budgets):
        alone = llmask.allocate_bitmask(1, size)
        assert matchers[row].fill_bitmask(alone, budget=budget) == found[row]
        assert (alone[0] == mask[row]).all()
    with pytest.raises(llmask.LlmaskError, match="4 matchers, but 1 budgets"):
        llmask.fill_bitmasks(matchers, mask, budgets=[3])
    with pytest.raises(llmask.LlmaskError, match="at least 1, not 0"):
        llmask.fill_bitmasks(matchers, mask, budgets=[3, 3, 3, 0])
    with pytest.raises(llmask.BudgetError):
        llmask.fill_bitmasks(matchers, mask, budgets=[None, None, None, 2])


def test_a_prefix_counts(compiler: llmask.Compiler, rng: random.Random) -> None:
    tok = compiler.tokenizer
    grammar = compiler.regex("name( [a-z]{2,5}){1,20}")
    for prefix in (b"the ", b"zq", b"n"):
        matcher = grammar.matcher(prefix=prefix)
        least = matcher.least_budget(exact=True)
        assert least >= grammar.matcher().least_budget(exact=True)
        with pytest.raises(llmask.BudgetError) as caught:
            read_mask(matcher, tok.vocab_size, least - 1)
        assert caught.value.least == least
        for budget in (least, least + 1, least + 7):
            matcher = grammar.matcher(prefix=prefix)
            assert written(matcher, budget, rng) <= budget
            assert matcher.text().startswith(prefix + b"name")
        matcher = grammar.matcher(prefix=prefix)
        ids = matcher.finishing_tokens()
        assert len(ids) + 1 <= least
        matcher.accept_tokens(ids)
        assert matcher.is_accepting()
        matcher.rollback(len(ids))
        assert read_mask(matcher, tok.vocab_size, 10_000) == read_mask(matcher, tok.vocab_size)


def test_each_of_several_ends_counts() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"", b"", b"a", b"aa"], eos=[0, 1])
    matcher = llmask.Compiler(tokenizer).regex("a{2,}").matcher()
    assert matcher.least_budget() == 2
    assert read_mask(matcher, 4, 2) == {3}
    assert read_mask(matcher, 4, 3) == {2, 3}
    matcher.accept_token(3)
    assert read_mask(matcher, 4, 1) == {0, 1}
    assert read_mask(matcher, 4, 2) == {0, 1, 2, 3}


def test_a_token_that_the_grammar_names_is_one_token() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"", b"<a>", b"b", b"c", b"<b>"], eos=0, special=[1, 4])
    matcher = llmask.Compiler(tokenizer).lark('start: /b+/ <[1]> | /c+/ "bbbb"').matcher()
    assert matcher.least_budget() == 3
    assert read_mask(matcher, 5, 3) == {2}
    assert read_mask(matcher, 5, 6) == {2, 3}
    matcher.accept_token(2)
    assert read_mask(matcher, 5, 2) == {1}
    assert matcher.finishing_tokens() == [1]


@pytest.mark.long
def test_grammars_that_take_no_budget_say_so() -> None:
    tokenizer = llmask.Tokenizer.default()
    canonical = llmask.Compiler(tokenizer, canonical=True).choice(["name"])
    closing = llmask.Compiler(tokenizer).lark('start: a "!"\na[max_tokens=3]: /[a-z]+/')
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    for grammar, message in ((canonical, "a canonical grammar takes no"), (closing, "with max_tokens takes no budget")):
        assert not grammar.takes_budget
        matcher = grammar.matcher()
        matcher.fill_bitmask(mask)
        for ask in (
            lambda matcher=matcher: matcher.fill_bitmask(mask, budget=9),
            matcher.least_budget,
            matcher.finishing_tokens,
        ):
            with pytest.raises(llmask.LlmaskError, match=message):
                ask()
    assert llmask.Compiler(tokenizer).choice(["a"]).takes_budget


@pytest.mark.long
def test_sequences_that_move_to_other_tables_keep_their_budget(tiny_tokenizer: Any, rng: random.Random) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(renew_grammar_bytes=60_000))
    grammar = compiler.json_schema(SCHEMA)
    n_generations = 0
    generation = None
    for _ in range(40):
        matcher = grammar.matcher()
        budget = 60
        assert written(matcher, budget, rng) <= budget
        n_generations += matcher._sequence.generation is not generation
        generation = matcher._sequence.generation
    assert n_generations > 2


def test_a_vocabulary_without_all_bytes_is_searched_for_an_end() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"", b"ab", b"ba", b"c"], eos=0)
    matcher = llmask.Compiler(tokenizer).regex("(a|b)*c?d?").matcher()
    assert matcher.least_budget() == 1
    matcher = llmask.Compiler(tokenizer).regex("a[ab]{3}c").matcher()
    assert matcher.least_budget() == 4
    assert read_mask(matcher, 4, 4) == {1}
    matcher = llmask.Compiler(tokenizer).regex("a{2}").matcher()
    with pytest.raises(llmask.LimitExceeded, match="no end of the document was found"):
        matcher.least_budget()
