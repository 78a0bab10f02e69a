"""`const` and `enum`: how they are written; which values are valid is for test_small_worlds.py."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import UnsatisfiableSchema, allocate_bitmask
from llmask.frontends.json_schema.writing import values


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_constants_as_alternatives_are_one_edge(judge: Any, keyword: str) -> None:
    constants = [{"const": "a", "title": "A"}, {"enum": [1, None]}, {"const": "b", "type": "string"}]
    schema = {keyword: [*constants, {"const": [1]}, {"type": "boolean"}, {"const": 3, "type": "string"}]}
    judge.agrees(schema, ["a", 1, None, "b", [1], True], ["c", 2, [], 3])
    n_edges = [len(judge.translate({keyword: constants[:n]}).rules.edges) for n in (2, 3)]
    assert n_edges[0] == n_edges[1]


def test_the_first_masks_of_a_long_list_are_made_with_the_grammar(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mask after the quote of 50,000 words took 20 ms of some document's step."""
    monkeypatch.setattr(values, "LONG", 100)
    words = [f"long/{at:03}" for at in range(110)]
    for listed in ({"enum": [*words, 7, None]}, {"anyOf": [{"const": word} for word in words]}):
        grammar = judge.grammar({"type": "object", "properties": {"a": listed}, "required": ["a"]})
        matcher = judge.after(grammar.matcher(), b'{"a":"lon')
        n_states = judge.store.table.view.state_keys.count
        matcher.accept_bytes(b"g/")
        matcher.fill_bitmask(allocate_bitmask(1, 257))
        # the state after the prefix is there with its mask; the lexer met nothing but it
        assert judge.store.table.view.state_keys.count - n_states <= 4
        matcher.accept_bytes(b'042"}')
        assert matcher.is_accepting()
    judge.agrees({"enum": words}, words[:3], ["long/", "long/111", "long/0420"])


def test_values_beside_many_alternatives_are_looked_at_one_by_one(judge: Any) -> None:
    """3^12 ways to fulfil the alternatives: they were refused, after 2,000,000 subschemas."""
    listed = [["a"], ["a", "b"], ["b"], [*"abcdefghijkl"], None, {"a": ["b"]}]
    alternatives = [
        {"anyOf": [{"contains": {"const": name}}, {"maxItems": 1}, {"minItems": n}]}
        for n, name in enumerate("abcdefghijkl", 2)
    ]
    taken = [["a"], ["b"], [*"abcdefghijkl"], None, {"a": ["b"]}]
    judge.agrees({"enum": listed, "allOf": alternatives}, taken, [["a", "b"], ["a", "c"], 3])
    judge.agrees({"enum": listed, "allOf": [*alternatives, {"type": "array"}]}, taken[:3], taken[3:])
    with pytest.raises(UnsatisfiableSchema, match="no value that is listed fulfils the alternatives beside it"):
        judge.grammar({"enum": [["a", "b"]], "allOf": alternatives})
