"""Items of many types that must differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.divided_items import item_parts
from llmask.frontends.json_schema.writing.translation import Translation
from tests.unit.frontends.json_schema.small_worlds import assert_exactly, cases, dead_end, rooted, valid_values

# schema, literals (null, false, true), whether numbers stand alone, types of the rest
PARTS: list[tuple[Any, Any]] = [
    ({}, ([0, 1, 2], True, ["string", "object", "array"])),
    ({"type": "number"}, ([], True, None)),
    ({"type": ["number", "null"]}, ([0], True, None)),
    ({"type": ["integer", "boolean"]}, ([1, 2], False, ["integer"])),
    ({"type": ["number", "null"], "minimum": 1}, ([0], False, ["number"])),
    ({"anyOf": [{"type": "string"}, {"enum": [True, None]}]}, ([0, 2], False, ["string", "number", "object", "array"])),
    ({"type": "string"}, None),
    ({"type": ["string", "object"]}, None),
    ({"type": "integer"}, None),
    (False, None),
]


@pytest.mark.parametrize(("schema", "expected"), PARTS, ids=str)
def test_parts(judge: Any, schema: Any, expected: Any) -> None:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    found = item_parts(translation, [(schema, ROOT)])
    if expected is None or found is None:
        assert found is expected
        return
    literals, has_numbers, rest = expected
    assert found.literals == literals
    assert (found.numbers is not None) == has_numbers
    assert (None if found.rest is None else found.rest[-1][0]["type"]) == rest


def test_numbers_are_compared_by_value_and_written_without_exponent(judge: Any) -> None:
    grammar = judge.grammar({"type": "array", "uniqueItems": True})
    for text in ("[0,1,0.5,-1,10]", "[1,1.25]", "[0.0,0.01]", '[1,"1",true,[1],{"a":1}]'):
        assert grammar.accepts(text)
    for text in ("[1,1.0]", "[0,-0.0]", "[1e1]", "[null,1,null]", '["a","\\u0061"]', '[{"a":1,"b":2},{"b":2,"a":1.0}]'):
        assert not grammar.accepts(text)


def test_a_number_that_was_read_can_go_on_but_not_end(judge: Any) -> None:
    matcher = judge.grammar({"type": "array", "uniqueItems": True}).matcher()
    matcher.accept_bytes(b"[0,1,0")
    assert matcher.validate_tokens(list(b",")) == 0
    assert matcher.validate_tokens(list(b".")) == 1


def test_many_items_of_any_type_ask_for_no_rules(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Translation, "make_variant", None)
    grammar = judge.grammar({"type": "array", "uniqueItems": True})
    items = ",".join(f'{at},"{at}",{{"a":{at}}},[{at}]' for at in range(100))
    assert grammar.accepts(f"[{items},null,false,true]")


TYPES = st.lists(st.sampled_from(("null", "boolean", "number", "string", "array")), min_size=1, max_size=4, unique=True)


@pytest.mark.long
@cases(80, types=TYPES, low=st.integers(0, 2), is_equal=st.booleans())
def test_random_arrays_agree(judge: Any, types: Any, low: int, is_equal: bool) -> None:
    wanted: Any = {"not": {"uniqueItems": True}} if is_equal else {"uniqueItems": True, "maxItems": 3}
    schema = {"type": "array", "items": {"type": types}, "minItems": low, **wanted}
    root = rooted(schema, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))
    assert dead_end(judge, schema) is None
