"""Schemas and grammars inside a grammar, with white space of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import llmask

Accepts = Callable[..., bool]
Following = Callable[..., str]
SCHEMA = (
    '{"type": "object", "properties": {"k": {"type": "boolean"}}, "required": ["k"], "additionalProperties": false}'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "#a"),
        ("#;", "#a"),
        ("a", "{"),  # as in llguidance: nothing is ignored before the schema
        ("a{", '\t\n\r "'),
        ("a{ ", '\t\n\r "'),
        ('a{"k"', "\t\n\r :"),
        ('a{"k":true ', "\t\n\r }"),
        ('a{"k":true}', "#b"),
        ('a{"k":true}b', "#$"),
    ],
)
def test_a_schema_has_its_own_white_space(text: str, expected: str, following: Following) -> None:
    assert following(f'start: "a" %json {SCHEMA} "b"\n%ignore /#[a-z]*;/\n', text) == expected


def test_schemas_that_refer_to_themselves(accepts: Accepts) -> None:
    grammar = 'start: x ";"\nx: %json {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}\n'
    assert [accepts(grammar, text) for text in ("[];", "[ [ ], [[]] ];", "[[],[],[]];", " [];", "[] ;")] == [
        *(True, True, False, False, False),
    ]  # fmt: skip


def test_counts_are_copied(accepts: Accepts) -> None:
    grammar = 'start: "a" %json {"type": "array", "minItems": 2, "maxItems": 3, "items": {"enum": [1, "x"]}}\n'
    assert [accepts(grammar, f"a{text}") for text in ("[1]", '[1, "x"]', "[1,1,1]", "[1,1,1,1]")] == [
        *(False, True, True, False),
    ]  # fmt: skip


def test_a_grammar_has_its_own_names_and_white_space(accepts: Accepts) -> None:
    grammar = 'start: "<" %lark { start: x x\nx: "x"\n%ignore "_" } ">" x\nx: "y"\n%ignore " "\n'
    assert [accepts(grammar, text) for text in ("<xx>y", "< xx>y", "<x_x> y", "<x x>y", "<xx_>y", "<xx >y")] == [
        *(True, False, True, False, False, True),
    ]  # fmt: skip


def test_warnings_of_a_schema_come_with_its_place(compiler: llmask.Compiler) -> None:
    grammar = compiler.lark('start: "a" %json {"type": "string", "format": "unheard-of"}\n')
    assert grammar.warnings
    assert all(warning.startswith("%json at line 1, column 12: ") for warning in grammar.warnings)


@pytest.mark.parametrize("lexer", ["greedy", "exact"])
def test_what_is_ignored_may_stand_behind_a_schema(lexer: str, compiler: llmask.Compiler, following: Following) -> None:
    """Exact grammars ignored nothing there."""
    grammar = compiler.lark('start: %json {"type": "boolean"} ";"\n%ignore " "\n', lexer=lexer)
    assert following(grammar, "true") == following(grammar, "true ") == " ;"


def test_in_an_exact_grammar_all_derivations_of_a_grammar_inside_count(
    compiler: llmask.Compiler, accepts: Accepts
) -> None:
    """Strings went before patterns there, as in greedy grammars."""
    text = 'start: "[" %lark { start: "if" "x" | NAME "y"\n NAME: /[a-z]{2}/ } "]"\n'
    for lexer, expected in (("exact", [True, True, True]), ("greedy", [True, False, True])):
        grammar = compiler.lark(text, lexer=lexer)
        assert [accepts(grammar, text) for text in ("[ifx]", "[ify]", "[aby]")] == expected


def test_lazy_rules_inside_an_exact_grammar_are_refused(compiler: llmask.Compiler) -> None:
    """They ended what the grammar around them expects beside them: here `ac`."""
    with pytest.raises(llmask.GrammarError, match='rule "start" is lazy'):
        compiler.lark('start: %lark { start[lazy]: /a+/ } "b" | "ac"\n', lexer="exact")


GRAMMARS: dict[str, Any] = {
    "args": {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    "list": 'start: "[" @args ("," @args)* "]"\n%ignore "_"',
    "circle": 'start: "a" @other',
    "other": "start: @circle",
    "broken": 'start: "a" missing',
}


@pytest.mark.parametrize("text", ['call {"a": 1}', "call [{},{}]", "call [_{}_,{}]"])
def test_named_grammars_are_read(compiler: llmask.Compiler, accepts: Callable[[Any, str], bool], text: str) -> None:
    grammar = compiler.lark('start: "call " (@args | @list)', grammars=GRAMMARS)
    assert accepts(grammar, text)
    assert not accepts(grammar, text + "]")
    assert str(grammar) == 'start: "call " (@args | @list)'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("start: @arg", "there is no grammar @arg"),
        ("start: @circle", "@circle uses itself"),
        ("start: @broken", 'the rule "missing" is not defined'),
    ],
)
def test_what_cannot_be_read_is_refused(compiler: llmask.Compiler, text: str, message: str) -> None:
    with pytest.raises(llmask.GrammarError) as caught:
        compiler.lark(text, grammars=GRAMMARS)
    assert caught.value.message == message


def test_errors_name_the_grammar(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.GrammarError, match="@broken"):
        compiler.lark("start: @broken", grammars=GRAMMARS)


def test_a_temperature_is_that_of_one_use(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark("start: @args warm\nwarm[temperature=0.7]: @args", grammars=GRAMMARS).matcher()
    assert matcher.temperature is None
    matcher.accept_bytes(b'{"a": 1}')
    assert matcher.temperature == 0.7
    matcher.accept_bytes(b'{"a"')
    assert matcher.temperature == 0.7


def test_schemas_that_are_none_are_refused(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.GrammarError, match="no JSON schema"):
        compiler.lark("start: @x", grammars={"x": object()})
    with pytest.raises(llmask.GrammarError, match="a dict by name"):
        compiler.lark('start: "x"', grammars=["x"])  # type: ignore[arg-type]
