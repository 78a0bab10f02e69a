"""Options: what they mean, and that they are checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from llmask.errors import GrammarError, LlmaskError
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.reading.options import SameObject, options_within
from llmask.limits import Limits


def test_white_space_stands_between_lexemes_in_runs_of_limited_length(judge: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array"}}}
    grammar = judge.grammar(schema, max_whitespace=3)
    assert grammar.accepts('{ \n\t"a"\r :   [ 1 ,2 ] }')
    assert not grammar.accepts('{    "a":[]}')
    assert not grammar.accepts(' {"a":[]}')
    assert not grammar.accepts('{"a":[]} ')
    for options in ({"whitespace": "compact"}, {"max_whitespace": 0}):
        compact = judge.grammar(schema, **options)
        assert compact.accepts('{"a":[1,2]}')
        assert not compact.accepts('{"a": [1,2]}')


INDENT = "None, a number from 0 to 64 or as many blanks"
ESCAPES = '"free", "all", "minimal" or letters of "/\\bfnrtu'


@pytest.mark.parametrize(
    ("option", "value", "kinds"),
    [
        ("whitespace", 3, '"flexible", "compact" or a pattern'),
        ("format", True, '"assert" or "annotate"'),
        ("unsupported", "warn", '"error" or "ignore"'),
        ("property_order", "none", '"schema" or "any" or "any_or_schema"'),
        ("unique_keys", "yes", "False or True"),
        ("unique_keys", 0, "False or True"),
        ("numbers", "any", '"json" or "typed" or "plain"'),
        ("literals", "some", '"json" or "any"'),
        ("max_whitespace", -1, "a number of bytes"),
        ("max_whitespace", True, "a number of bytes"),
        *(("indent", value, INDENT) for value in (-1, True, "--")),
        *(("escapes", value, ESCAPES) for value in ("x", 7)),
    ],
)
def test_options_are_checked(option: str, value: Any, kinds: str) -> None:
    with pytest.raises(GrammarError) as caught:
        SchemaOptions(**{option: value})
    assert caught.value.message == f"the option {option} must be {kinds}, not {value!r}"
    assert caught.value.help


def test_options_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(GrammarError) as caught:
        SchemaOptions(indent=2, whitespace="compact")
    assert str(caught.value) == (
        "the options indent and whitespace exclude each other\n  leave one of them at its default"
    )


def test_options_that_come_again_are_one_object_and_no_two_are_taken_for_one() -> None:
    options = options_within(Limits())
    chosen: dict[str, Any] = {"formats": None, "registry": None, "escapes": "all"}
    assert options(**chosen, closed=False) is options(**chosen, closed=False)
    assert options(**chosen, closed=True).closed
    assert options(**{**chosen, "escapes": {"n"}}).escapes == "n"
    assert options(**{**chosen, "formats": {"a": "b"}}).formats == {"a": "b"}
    assert options(**{**chosen, "registry": chosen}).registry is chosen
    for closed in (0, [], {}):  # 0 equals False
        with pytest.raises(GrammarError, match="the option closed must be False or True"):
            options(**chosen, closed=closed)


def test_a_bad_pattern_names_its_format_though_no_schema_does(judge: Any) -> None:
    with pytest.raises(LlmaskError) as caught:
        judge.translate(True, formats={"zip": "^[0-9]{5}$", "plate": "(a"})
    assert str(caught.value).splitlines()[0] == 'the format "plate": this group is not closed'
    assert caught.value.where == "column 1 of the pattern (a"


def test_formats_are_added_or_replaced(judge: Any) -> None:
    schema = {"properties": {"z": {"format": "zip"}, "d": {"format": "date"}}}
    grammar = judge.grammar(schema, formats={"zip": "^[0-9]{5}$", "date": "^d$"})
    assert judge.accepts(grammar, {"z": "12345", "d": "d"})
    assert not judge.accepts(grammar, {"z": "1234"})
    assert not judge.accepts(grammar, {"d": "2020-01-31"})


def test_letters_of_escapes_have_one_order() -> None:
    assert SchemaOptions(escapes={"n", "b"}).escapes == SchemaOptions(escapes="nbn").escapes == "bn"
    assert SchemaOptions(escapes=set()).style == SchemaOptions(escapes="minimal").style
    assert SchemaOptions(escapes='"/\\bfnrtu').style == SchemaOptions().style


def test_keys_are_equal_exactly_when_the_choices_are() -> None:
    registry: list[int] = []
    choices: list[dict[str, Any]] = [
        {},
        {"whitespace": "compact"},
        {"whitespace": " *"},
        {"max_whitespace": 1},
        {"indent": 0},
        {"indent": ""},
        {"indent": 1},
        {"format": "annotate"},
        {"formats": {"a": "b"}},
        {"formats": {"a": "c"}},
        {"unsupported": "ignore"},
        {"property_order": "any"},
        {"numbers": "plain"},
        {"unique_keys": True},
        {"closed": True},
        {"escapes": "minimal"},
        {"escapes": "u"},
        {"literals": "any"},
        {"registry": registry},
        {"registry": []},
        {"dialect": "openapi-3.0"},
    ]
    named = {name for choice in choices for name in choice}
    # limits belong to the compiler
    assert named == {field.name for field in dataclasses.fields(SchemaOptions)} - {"limits"}
    assert len({SchemaOptions(**choice).key for choice in choices}) == len(choices)
    for choice in choices:
        assert SchemaOptions(**choice).key == SchemaOptions(**choice).key
    twice = [SchemaOptions(formats=formats).key for formats in ({"a": "b", "c": "d"}, {"c": "d", "a": "b"})]
    assert twice[0] == twice[1]


def test_an_object_is_its_own_key() -> None:
    one: list[int] = []
    assert SameObject(one) == SameObject(one)
    assert hash(SameObject(one)) == hash(SameObject(one))
    assert SameObject(one) != SameObject([])
    assert SameObject(one) != one
