"""llmask/frontends/lark/named_grammars.py: `@name` is what another grammar, or a schema, derives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import llmask

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
