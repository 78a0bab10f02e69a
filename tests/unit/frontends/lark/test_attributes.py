"""llmask/frontends/lark/attributes.py: what stands in brackets behind a rule's name; errors are in bad_grammars.py."""

from __future__ import annotations

import pytest

import llmask
from llmask.grammar.expressions import Attributes


def said(compiler: llmask.Compiler, text: str) -> dict[str, Attributes]:
    lowered = compiler.lark(text).lowered
    assert lowered is not None
    assert lowered.grammar is not None
    return {name: found._replace(ending=None) for name, found in lowered.grammar.attributes.items()}


def test_attributes_are_kept_by_rule(compiler: llmask.Compiler) -> None:
    text = 'start: a b c\na[capture]: "x" "y"\nb[capture="z", temperature=0.5]: /b+/\nc[max_tokens=3]: C\nC: /c*/'
    assert said(compiler, text) == {
        "a": Attributes(capture="a"),
        "b": Attributes(capture="z", temperature=0.5),
        "c": Attributes(max_tokens=3),
    }


def test_endings_name_body_and_suffix(compiler: llmask.Compiler) -> None:
    lowered = compiler.lark('start: a\na[suffix=END, stop_capture="e"]: /[a-z]*/\nEND: "."').lowered
    assert lowered is not None
    assert lowered.grammar is not None
    ending = lowered.grammar.attributes["a"].ending
    assert ending is not None
    nodes = compiler.store().nodes
    assert (nodes.matches(ending.body, b"abc"), nodes.matches(ending.suffix, b".")) == (True, True)
    assert ending.capture == "e"


@pytest.mark.parametrize("terminal", ["/.*/", "/(.|\\n){0,100}/", "/[a-zé]+/", "/[^<]*/"])
def test_terminals_that_may_end_everywhere_can_be_limited(compiler: llmask.Compiler, terminal: str) -> None:
    assert said(compiler, f'start: a "<"\na[max_tokens=3]: {terminal}') == {"a": Attributes(max_tokens=3)}


@pytest.mark.parametrize("terminal", ["/[a-z]{2,9}/", "/(ab)*/", '"x"? "yz"', "/é*e/"])
def test_terminals_that_must_go_on_cannot(compiler: llmask.Compiler, terminal: str) -> None:
    with pytest.raises(llmask.GrammarError, match="max_tokens"):
        compiler.lark(f"start: a\na[max_tokens=3]: A\nA: {terminal}")


@pytest.mark.parametrize("attribute", ["max_tokens=3", "temperature=0.5"])
def test_exact_lexing_knows_no_terminals(compiler: llmask.Compiler, attribute: str) -> None:
    with pytest.raises(llmask.GrammarError, match="exact lexing knows no terminals"):
        compiler.lark(f"start: a\na[{attribute}]: /a*/", lexer="exact")
