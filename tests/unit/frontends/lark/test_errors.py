"""Limits and arguments of Lark grammars; texts that are refused are in tests/contract/mistakes/lark_texts.py."""

from __future__ import annotations

import pytest

import llmask


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
