"""Objects: their order, and how many keys there may be; which values are valid is for test_small_worlds.py."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.compiling.compiler import Compiler
from llmask.grammar.kinds import EDGE_FIELDS
from llmask.limits import Limits
from llmask.tokenizer.tokenizer import Tokenizer


def test_properties_keep_the_order_of_the_schema(judge: Any) -> None:
    grammar = judge.grammar({"properties": {"b": {}, "a": {}}, "required": ["z", "a", "y"]})
    assert judge.accepts(grammar, {"b": 1, "a": 2, "z": 3, "y": 4, "free": 5})
    assert not judge.accepts(grammar, {"a": 2, "b": 1, "z": 3, "y": 4})
    assert not judge.accepts(grammar, {"a": 2, "y": 4, "z": 3})
    assert not judge.accepts(grammar, {"free": 5, "a": 2, "z": 3, "y": 4})


def test_a_declared_key_has_one_spelling_and_is_no_free_key_in_any(judge: Any) -> None:
    grammar = judge.grammar({"type": "object", "properties": {"né": {"type": "integer"}}})
    assert grammar.accepts('{"né":1}')
    for key in ("n\\u00e9", "\\u006eé", "\\u006E\\u00E9"):
        assert not grammar.accepts(f'{{"{key}":1}}')
        assert not grammar.accepts(f'{{"{key}":"x"}}')
    assert grammar.accepts('{"n\\u00e9e":"x"}')


@pytest.mark.parametrize("additional", [False, True])
@pytest.mark.parametrize("n_required", [0, 1, 3])
def test_many_optional_properties_keep_their_order(
    judge: Any, rng: random.Random, scaled: Callable[[int], int], n_required: int, additional: bool
) -> None:
    names = [f"{chr(97 + at % 26)}{at}" for at in range(120)]
    required = sorted(rng.sample(names[:40], n_required), key=names.index)
    schema = {
        "type": "object",
        "properties": {key: {"const": 1} for key in names},
        "required": required,
        "additionalProperties": additional,
    }
    grammar = judge.grammar(schema)
    assert judge.accepts(grammar, dict.fromkeys(names, 1))
    assert judge.accepts(grammar, dict.fromkeys(required, 1))
    assert judge.accepts(grammar, {**dict.fromkeys(required, 1), "free": 2}) == additional
    for _ in range(scaled(60)):
        n = rng.choice((1, 2, 3, 10, 60))
        chosen = sorted({*required, *rng.sample(names, n)}, key=names.index)
        assert judge.accepts(grammar, dict.fromkeys(chosen, 1))
        if len(chosen) > 1:
            at = rng.randrange(len(chosen) - 1)
            swapped = [*chosen[:at], chosen[at + 1], chosen[at], *chosen[at + 2 :]]
            assert not judge.accepts(grammar, dict.fromkeys(swapped, 1))
        repeated = [*chosen[: len(chosen) // 2 + 1], *chosen[len(chosen) // 2 :]]
        text = ", ".join(f'"{name}": 1' for name in repeated)
        assert not grammar.accepts(f"{{{text}}}")


def test_many_optional_properties_are_few_items() -> None:
    """50,000 of them went over `max_items`: the parser held one item for each."""
    tokenizer = Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b"<eos>"], eos=256)
    names = [f"k{at}" for at in range(2000)]
    schema = {"type": "object", "properties": {key: {"type": "null"} for key in names}, "additionalProperties": False}
    grammar = Compiler(tokenizer, Limits(max_items=120)).json_schema(schema)
    assert grammar.accepts(b'{"k0": null, "k7": null, "k1999": null}')


@pytest.mark.parametrize("n", [100, 200])
def test_edges_grow_with_the_properties(judge: Any, n: int) -> None:
    for required in ([], ["k7"], [f"k{at}" for at in range(n)]):
        schema = {"type": "object", "properties": {f"k{at}": {} for at in range(n)}, "required": required}
        assert len(judge.translate(schema).rules.edges) <= EDGE_FIELDS * (7 * n + 100)
