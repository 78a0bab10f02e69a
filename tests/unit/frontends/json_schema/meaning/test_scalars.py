"""The lexemes of scalar types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.lexical.number_machines import MAY, MUST, NEVER
from llmask.frontends.json_schema.lexical.numbers import NumberRange
from llmask.frontends.json_schema.meaning.choices import settle
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of
from llmask.frontends.json_schema.meaning.place import Part
from llmask.frontends.json_schema.meaning.scalars import fraction_of, range_of
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.json_schema.writing.translation import Translation
from tests.unit.frontends.json_schema.small_worlds import DRAFTS, assert_exactly, cases, rooted, some_of, valid_values


def parts_of(judge: Any, schema: Any) -> tuple[Translation, list[Part]]:
    translation = Translation(judge.nodes, schema, SchemaOptions())
    return translation, settle(translation, conjunction_of(translation, [(schema, ROOT)])).parts


def range_here(judge: Any, schema: Any, kind: str = "number") -> NumberRange | None:
    return range_of(*parts_of(judge, schema), kind)


def test_nothing_is_asked_of_most_numbers(judge: Any) -> None:
    assert range_here(judge, {"type": "number"}) is None
    assert range_here(judge, {"type": "integer", "minLength": 2}, "integer") is None


@pytest.mark.parametrize(
    ("draft", "schema", "kind", "fraction"),
    [
        (4, {"type": "integer"}, "integer", NEVER),
        (4, {"type": "number"}, "number", MAY),
        (4, {"type": "number", "not": {"type": "integer"}}, "number", MUST),
        (4, {"type": "integer", "not": {"type": "integer"}}, "integer", None),
        (7, {"type": "integer"}, "integer", MAY),
        (7, {"type": "number", "not": {"type": "integer"}}, "number", MAY),
    ],
    ids=str,
)
def test_draft_4_knows_integers_by_how_they_are_written(
    judge: Any, draft: int, schema: Any, kind: str, fraction: str | None
) -> None:
    _, parts = parts_of(judge, {"$schema": DRAFTS[draft], **schema})
    assert fraction_of(parts, kind) == fraction


BOUND = st.sampled_from((-1, 0, 0.5, 1, 2))
NUMBER = some_of(
    ("type", st.sampled_from(("integer", "number"))),
    ("minimum", BOUND),
    ("maximum", BOUND),
    ("exclusiveMinimum", BOUND),
    ("exclusiveMaximum", BOUND),
    ("multipleOf", st.sampled_from((0.5, 1, 2))),
    ("enum", st.lists(st.sampled_from((-1, 0, 0.5, 1, "a")), min_size=1, max_size=3)),
)


@cases(150, one=NUMBER, other=NUMBER, third=NUMBER)
def test_random_ranges_agree(judge: Any, one: Any, other: Any, third: Any) -> None:
    schema = {"type": ["number", "string"], "allOf": [one, {"not": other}, {"not": third}]}
    root = rooted(schema, True, 2020)
    assert assert_exactly(judge, root, valid_values(root, 2020))


def test_halves_of_pairs_in_the_classes_of_a_pattern_are_read_as_before(judge: Any) -> None:
    # json.loads gives these for "^([\\ud800-\\udbff][\\udc00-\\udfff]|a)$", which real schemas write
    grammar = judge.grammar({"type": "string", "pattern": "^([\ud800-\udbff][\udc00-\udfff]|a)$"})
    assert judge.accepts(grammar, "a")
    assert not judge.accepts(grammar, "b")


def test_named_formats_of_the_caller_go_first(judge: Any) -> None:
    schema = {"type": "array", "items": {"type": "string", "format": "date"}}
    grammar = judge.grammar(schema, formats={"date": "^[0-9]{4}$"})
    assert judge.accepts(grammar, ["2024"])
    assert not judge.accepts(grammar, ["2024-01-01"])
    assert judge.accepts(judge.grammar(schema, format="annotate"), ["whenever"])
    assert judge.accepts(judge.grammar(schema), ["2024-01-01"])
    annotated = judge.grammar(schema, format="annotate", formats={"date": "^[0-9]{4}$"})
    assert not judge.accepts(annotated, ["whenever"])


def test_free_strings_take_every_escape_and_patterns_see_the_text(judge: Any) -> None:
    grammar = judge.grammar({"type": "string", "pattern": "^é?/$", "maxLength": 2})
    for text in ('"é/"', '"\\u00e9\\/"', '"\\u00E9\\u002f"', '"/"'):
        assert grammar.accepts(text)
    assert not grammar.accepts('"\\ud800"')
    surrogates = judge.grammar({"type": "string", "maxLength": 1, "minLength": 1})
    assert surrogates.accepts('"\\ud83d\\ude00"')
    assert not surrogates.accepts('"\\ud83d"')


def test_what_a_pattern_asks_for_is_not_escaped_as_no_program_does(judge: Any) -> None:
    schema = {"type": "array", "items": {"type": "string", "format": "uri", "pattern": "^h"}}
    grammar = judge.grammar(schema)
    for text in ('["http://a/<"]', '["http:\\/\\/a"]', '["http:\\u002f\\u002fa?b\\u0026c"]', '["h:\\u0027"]'):
        assert grammar.accepts(text) is judge.grammar(schema, escapes="all").accepts(text)
    assert grammar.accepts('["http:\\/\\/a?b\\u0026c"]')
    for text in ('["\\u0068ttp://a"]', '["http\\u003a//a"]', '["http://\\u0031"]', '["http://a\\u002d"]'):
        assert not grammar.accepts(text)
        assert judge.grammar(schema, escapes="all").accepts(text)
    escaped = '{"a": "\\u0061", "\\u0062": "\\u0030"}'  # free strings and free keys
    assert judge.grammar({"type": "object"}).accepts(escaped)
    assert judge.grammar({"type": "object", "additionalProperties": {"maxLength": 1}}).accepts(escaped)
    assert judge.grammar({"patternProperties": {"^b$": {"const": "0"}}}).accepts('{"\\u0062": "0"}')


def test_a_backslash_before_an_escape_is_text(judge: Any) -> None:
    grammar = judge.grammar({"type": "string", "pattern": r"^\\u0030$"})
    assert grammar.accepts(r'"\\u0030"')
    assert not grammar.accepts(r'"\u0030"')


def test_keys_with_delete_match_patterns(judge: Any) -> None:
    # the key was spelled raw for the question whether the pattern finds it, which no string matches
    schema = {"properties": {"\x7f": {}}, "patternProperties": {"^.$": {"type": "integer"}}}
    grammar = judge.grammar(schema)
    assert grammar.accepts('{"\\u007f":1}')
    assert not grammar.accepts('{"\\u007f":"a"}')
