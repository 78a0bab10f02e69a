"""Bounds of configurations, and where the tokens of their masks lead."""

from __future__ import annotations

import gc
import random
import weakref
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.kernels.tables.operations import Operation
from llmask.matching.finish import ends_of
from tests.reference.definition import read_mask

TOKENIZER = "tiny_tokenizer"  # of `compiler`
SCHEMAS: list[Any] = [
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]},
    {"type": "array", "items": {"type": ["string", "null"]}, "maxItems": 3, "uniqueItems": True},
    {"type": "string", "pattern": "^(ab|cd)*é?$", "maxLength": 12},
    {"anyOf": [{"type": "number"}, {"enum": [[], {}, "x"]}]},
]


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(SCHEMAS)))
def test_a_reach_has_every_token_of_the_mask_and_its_configuration(
    compiler: llmask.Compiler, number: int, rng: random.Random
) -> None:
    grammar = compiler.json_schema(SCHEMAS[number])
    size = compiler.tokenizer.vocab_size
    for _ in range(10):
        matcher = grammar.matcher()
        while not matcher.is_terminated():
            allowed = read_mask(matcher, size)
            generation, configuration = matcher._sequence.generation, matcher._sequence.configuration
            ends = ends_of(generation)
            reach = ends.reach(configuration)
            in_groups = {}
            for group, behind in enumerate(reach.reached.tolist()):
                inside = ends.inside(reach.state)
                tokens = inside.tokens[inside.first[group] : inside.first[group + 1]]
                in_groups.update(dict.fromkeys(tokens.tolist(), behind))
            alone = dict(zip(reach.tokens.tolist(), reach.after.tolist(), strict=True))
            assert set(in_groups) | set(alone) == allowed - set(compiler.tokenizer.eos_ids)
            # where something is recorded one token stands for all of its group
            found = alone if reach.is_recorded else {**in_groups, **alone}
            for token, behind in found.items():
                assert generation.run(Operation.ACCEPT, configuration, token) == behind
            matcher.accept_token(rng.choice(sorted(allowed)))


def test_the_bound_of_a_path_is_its_length(compiler: llmask.Compiler) -> None:
    for schema in SCHEMAS:
        generation = compiler.json_schema(schema)._loaded.generation
        path = ends_of(generation).path(generation.start)
        assert ends_of(generation).bound(generation.start) == len(path) + 1
        ends_of(generation).keep(generation.start, path)
        assert ends_of(generation).bound(generation.start) == len(path) + 1


def test_a_kept_path_lowers_bounds_for_good(compiler: llmask.Compiler) -> None:
    """Of three words the one with the fewest bytes is found; another one takes fewer tokens."""
    generation = compiler.regex("name|xyz")._loaded.generation
    ends = ends_of(generation)
    assert ends.bound(generation.start) == 4
    reach = ends.reach(generation.start)
    assert reach.least == 1
    assert ends.search(generation.start) == 2
    assert ends.bound(generation.start) == 2
    assert compiler.tokenizer.decode_bytes(ends.path(generation.start)) == b"name"


def test_lists_are_forgotten_and_made_again(compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.matching.finish.KEPT_BYTES", 0)
    grammar = compiler.json_schema(SCHEMAS[0])
    size = compiler.tokenizer.vocab_size
    matcher = grammar.matcher()
    budget = matcher.least_budget() + 5
    first = read_mask(matcher, size, budget)
    matcher.accept_token(min(first))
    read_mask(matcher, size, budget - 1)
    matcher.rollback(1)
    assert read_mask(matcher, size, budget) == first
    ends = ends_of(grammar._loaded.generation)
    ends.reach(matcher._sequence.configuration)
    assert len(ends._reaches) == 1


def test_what_is_kept_is_counted_and_bounded(default_tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was in no figure: after budgets 149 grammars took 356 MiB that nobody counted."""
    compiler = llmask.Compiler(default_tokenizer)
    grammar = compiler.json_schema({"type": "object", "properties": {name: {"type": "string"} for name in "abcdef"}})
    matcher, size = grammar.matcher(), default_tokenizer.vocab_size
    store, before = compiler._newest_store(), grammar.bytes_used
    tables = grammar._loaded.generation.table.bytes_used
    for budget in range(12, 0, -1):
        matcher.accept_token(max(read_mask(matcher, size, budget)))
        if matcher.is_terminated():
            break
    generation = grammar._loaded.generation
    reaches = [reach for _, reach in ends_of(generation)._reaches.values()]
    assert generation.kept_bytes >= sum(reach.n_bytes for reach in reaches) > 0
    assert grammar.bytes_used == generation.table.bytes_used + generation.kept_bytes > before - tables
    assert grammar.statistics()["bytes"] == grammar.bytes_used
    arrays = [array for reach in reaches for array in reach if isinstance(array, np.ndarray)]
    assert all(array.base is None or array.base.nbytes <= 2 * array.nbytes + 16 for array in arrays)  # no buffer stays
    assert store.kept_bytes == sum(inside.n_bytes for inside in store.notes["ends"].values()) > 0
    assert store.bytes_used > store.table.bytes_used + store.kept_bytes
    monkeypatch.setattr("llmask.matching.finish.KEPT_INSIDE_BYTES", 0)
    other = compiler.json_schema({"type": "string", "maxLength": 3}).matcher()
    other.accept_token(min(read_mask(other, size, 9)))
    read_mask(other, size, 8)
    assert len(store.notes["ends"]) == 1
    assert store.kept_bytes == next(iter(store.notes["ends"].values())).n_bytes


def test_a_least_budget_is_told_without_a_search(compiler: llmask.Compiler) -> None:
    matcher = compiler.regex("(name|xyz)").matcher()
    assert matcher.least_budget() == 4  # xyz, and the end
    assert read_mask(matcher, compiler.tokenizer.vocab_size, 2)  # what is less is searched for before it is refused
    assert matcher.least_budget(exact=True) == matcher.least_budget() == 2  # and is known from then on


def test_what_is_known_dies_with_the_tables(tiny_tokenizer: Any) -> None:
    grammar = llmask.Compiler(tiny_tokenizer).regex("a{3}")
    grammar.matcher().least_budget()
    dead = weakref.ref(grammar._loaded.generation)
    gc.collect()
    gc.disable()
    try:
        del grammar
        assert dead() is None  # no cycle holds it
    finally:
        gc.enable()


def test_bounds_of_many_configurations_at_once(compiler: llmask.Compiler) -> None:
    generation = compiler.regex("a{0,9}")._loaded.generation
    run = generation.run
    places = [generation.start]
    for _ in range(9):
        places.append(run(Operation.ADVANCE, places[-1], data=np.array([ord("a")], np.int32)))
    assert ends_of(generation).bounds(np.array(places, np.int32)).tolist() == [1] * 10


@pytest.mark.long
def test_a_search_that_takes_too_much_work_ends_with_what_it_has_found(default_tokenizer: Any) -> None:
    # it went on for seconds, and held the store's lock meanwhile
    schema = {"type": "array", "items": {"enum": ["zzzzzz", "something longer"]}, "minItems": 6}
    bounds = []
    for most_work in (10, 10**9):
        generation = llmask.Compiler(default_tokenizer).json_schema(schema)._loaded.generation
        ends, start = ends_of(generation), generation.start
        first = ends.bound(start)
        ends._most_work = most_work
        bounds.append(ends.search(start))
        assert bounds[-1] <= first
    assert bounds[1] < bounds[0] == first


NAMES = [f"key_number_{n}" for n in range(20)]
LARGE = {"type": "object", "properties": {name: {"type": "boolean"} for name in NAMES}, "required": NAMES}


@pytest.mark.parametrize(
    ("make", "least", "most"),
    [
        (lambda c: c.regex("x|(ab){500}"), 1000, 1100),
        (lambda c: c.regex("[ab]{3}|c(d|e{200})f"), 200, 300),
        (lambda c: c.json_schema({"properties": {"a": LARGE}}), 300, 700),
        (lambda c: c.json_schema({"properties": {"a": LARGE}}, property_order="any"), 300, 700),
        (
            lambda c: c.json_schema({"anyOf": [{"type": "array", "minItems": 30, "items": {"const": "word"}}, {}]}),
            200,
            500,
        ),
        (lambda c: c.json_object(), 16, 60),
    ],
)
def test_a_jump_is_what_a_token_may_open(compiler: llmask.Compiler, make: Any, least: int, most: int) -> None:
    """And no more: a budget is looked at once less than the end and a jump is left."""
    matcher = make(compiler).matcher()
    ends = ends_of(matcher._sequence.generation)
    bound = matcher.least_budget()
    assert least <= ends.jump() <= most
    configuration = matcher._sequence.configuration
    assert ends.far(configuration) == bound + ends.jump()
    mask = llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size)
    matcher.fill_bitmask(mask, budget=ends.far(configuration) + 1)
    assert configuration not in ends._reaches
    matcher.fill_bitmask(mask, budget=ends.far(configuration))
    assert configuration in ends._reaches
    assert ends.far(configuration) == ends._reaches[configuration][1].most


def test_what_is_opened_late_is_closed_in_time(compiler: llmask.Compiler, rng: random.Random) -> None:
    """Whatever is written, the large optional object is begun only where there is room for it."""
    grammar = compiler.json_schema({"properties": {"a": LARGE, "b": {"type": "string"}}, "additionalProperties": False})
    size, wanted = compiler.tokenizer.vocab_size, compiler.tokenizer.encode('{"a":{')
    least = grammar.matcher().least_budget()
    opened = {}
    for budget in (least, 20, 200, 450, 700, 2000):
        matcher, left = grammar.matcher(), budget
        while not matcher.is_terminated():
            allowed = read_mask(matcher, size, left)
            n = len(matcher.tokens)
            is_followed = n < len(wanted) and wanted[n] in allowed
            matcher.accept_token(wanted[n] if is_followed else rng.choice(sorted(allowed)))
            left -= 1
        assert left >= 0
        opened[budget] = matcher.text().startswith(b'{"a":{')
    assert (opened[20], opened[2000]) == (False, True)
