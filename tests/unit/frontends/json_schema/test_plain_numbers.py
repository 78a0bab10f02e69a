"""`numbers="plain"`: no exponents, integers without a fraction, listed numbers as short as can be."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import UnsatisfiableSchema
from tests.unit.frontends.json_schema import small_worlds

# schema, texts that plain numbers allow, texts that they do not and the default does, texts that neither allows
TABLE: list[tuple[Any, list[str], list[str], list[str]]] = [
    (True, ["1", "-0.5", "0", "10.25", '{"a":[1,2.5]}'], ["1e3", "-2.5E-1", "[0e0]", '{"a":1e2}'], ["01", ".5", "1."]),
    ({"type": "number"}, ["1", "1.0", "-0.50"], ["1e0", "1E+2"], ['"1"']),
    ({"type": "integer"}, ["0", "12", "-7", "1000000000000000000000"], ["1.0", "-7.00"], ["1.5", "1e-1"]),
    ({"type": "integer", "minimum": 3}, ["3", "33"], ["3.0"], ["2", "3.5"]),
    ({"type": "integer", "maximum": 20, "multipleOf": 5}, ["20", "0", "-5"], ["20.0", "5.00"], ["3", "25"]),
    ({"type": "number", "maximum": 1.5}, ["1.5", "1.50", "-2"], [], ["1.51", "2", "1e0"]),
    ({"enum": [2, 2.5, 1e3]}, ["2", "2.5", "1000"], ["2.0", "2.50", "1000.0"], ["1e3", "3"]),
    ({"const": 1.0}, ["1"], ["1.0", "1.000"], ["10", "2"]),
    ({"const": [1, {"a": 0.5}]}, ['[1,{"a":0.5}]'], ['[1.0,{"a":0.5}]', '[1,{"a":0.50}]'], ["[1]"]),
    ({"not": {"const": 2}, "type": "integer"}, ["1", "22"], ["1.0"], ["2", "2.0"]),
    ({"type": "integer", "not": {"multipleOf": 2}}, ["1", "-3"], ["3.0"], ["2", "4.0"]),
]


@pytest.mark.parametrize(("schema", "plain", "other", "neither"), TABLE, ids=[str(row[0]) for row in TABLE])
def test_plain_numbers(judge: Any, schema: Any, plain: list[str], other: list[str], neither: list[str]) -> None:
    narrow, wide = judge.grammar(schema, numbers="plain"), judge.grammar(schema)
    assert [text for text in plain if not (narrow.accepts(text) and wide.accepts(text))] == []
    assert [text for text in other if narrow.accepts(text) or not wide.accepts(text)] == []
    assert [text for text in neither if narrow.accepts(text) or wide.accepts(text)] == []


def test_items_differ_by_value_in_plain_numbers_too(judge: Any) -> None:
    grammar = judge.grammar({"type": "array", "uniqueItems": True}, numbers="plain")
    assert grammar.accepts("[1,1.5,10]")
    for text in ("[1,1]", "[1,1.0]", "[0.5,0.50]", "[0,-0]", "[1,1e1]"):
        assert not grammar.accepts(text), text


def test_a_number_without_a_plain_writing_is_none(judge: Any) -> None:
    """Draft 4 tells 1.0 from the integer 1; plain integers have no fraction, and numbers may have one."""
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    both = {**draft, "type": "number", "not": {"type": "integer"}, "minimum": 1, "maximum": 1}
    assert judge.grammar(both).accepts("1.0")
    with pytest.raises(UnsatisfiableSchema):
        judge.grammar({**both, "type": "integer"}, numbers="plain")


@small_worlds.cases(60, schema=small_worlds.schemas(2020, 1), definition=small_worlds.schemas(2020, 0))
def test_plain_grammars_allow_every_value_in_some_writing(judge: Any, schema: Any, definition: Any) -> None:
    root = small_worlds.rooted(schema, definition, 2020)
    found = small_worlds.verdicts(judge, root, numbers="plain")
    if found is None:
        return
    valid = small_worlds.valid_values(root, 2020)
    assert not found[0] - valid, f"allows {small_worlds.shown(found[0] - valid)}"
    missing = valid - found[0]
    assert all(".0" in small_worlds.shown(frozenset([at])) for at in missing), f"refuses {small_worlds.shown(missing)}"
    assert small_worlds.assert_exactly(judge, root, valid)
    assert small_worlds.dead_end(judge, root, most=100, numbers="plain") is None
