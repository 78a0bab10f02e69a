"""Every bad grammar of the table is refused with the whole message that stands there."""

from __future__ import annotations

import pytest

import llmask
from tests.unit.frontends.lark.bad_grammars import BAD_GRAMMARS


@pytest.mark.parametrize(("name", "kind", "grammar", "message"), BAD_GRAMMARS, ids=[row[0] for row in BAD_GRAMMARS])
def test_bad_grammars(compiler: llmask.Compiler, name: str, kind: str, grammar: str, message: str) -> None:
    with pytest.raises(llmask.LlmaskError) as caught:
        compiler.lark(grammar)
    assert str(caught.value) == message
    assert type(caught.value).__name__ == kind


def test_every_message_has_its_three_parts(compiler: llmask.Compiler) -> None:
    for name, _, grammar, _ in BAD_GRAMMARS:
        with pytest.raises(llmask.LlmaskError) as caught:
            compiler.lark(grammar)
        error = caught.value
        assert error.where is not None, name
        assert "line" in error.where, name
        assert "^" in error.where, name
        assert error.help, name


def test_a_grammar_has_a_limit(compiler: llmask.Compiler) -> None:
    with pytest.raises(llmask.LimitExceeded, match="more than 1048576"):
        compiler.lark('start: "a"\n' + "// much to say\n" * 80_000)


ARGUMENTS = [
    ({"text": b"start:"}, "a grammar is a str, not bytes\n  decode bytes first"),
    ({"text": "", "start": 1}, 'start is the name of a rule, not 1\n  for example start="start"'),
    ({"text": "", "lexer": "loose"}, 'lexer is "greedy" or "exact", not \'loose\'\n  leave it out'),
    ({"text": "", "ties": "none"}, 'ties is "first" or "all", not \'none\'\n  leave it out'),
]


@pytest.mark.parametrize(("arguments", "message"), ARGUMENTS)
def test_bad_arguments(compiler: llmask.Compiler, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(llmask.GrammarError) as caught:
        compiler.lark(**arguments)  # type: ignore[arg-type]
    assert str(caught.value) == message
