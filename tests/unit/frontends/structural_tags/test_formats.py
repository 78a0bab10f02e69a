"""Formats: what they derive, and whole messages. XGrammar itself is asked in tests/contract."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.errors import LimitExceeded
from llmask.frontends.structural_tags import formats
from tests.contract.structural_tag_specs import CASES

from .bad_tags import BAD


@pytest.mark.parametrize("name", CASES)
def test_texts_are_derived_or_not(compiler: llmask.Compiler, name: str) -> None:
    case = CASES[name]
    grammar = compiler.structural_tag({"type": "structural_tag", "format": case.format})
    assert [text for text in case.accepted if not grammar.accepts(text)] == []
    assert [text for text in case.refused if grammar.accepts(text)] == []


@pytest.mark.parametrize("name", BAD)
def test_errors_say_where_and_how_to_mend(compiler: llmask.Compiler, name: str) -> None:
    document, message = BAD[name]
    with pytest.raises(llmask.GrammarError) as error:
        compiler.structural_tag(document)
    assert str(error.value) == message


def test_the_older_form_is_read(compiler: llmask.Compiler) -> None:
    structures = [
        {"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"},
        {"begin": "<f=b>", "schema": '{"type": "boolean"}', "end": "</f>"},
    ]
    grammar = compiler.structural_tag({"type": "structural_tag", "structures": structures, "triggers": ["<f="]})
    assert grammar.accepts("so <f=a>12</f> and <f=b>true</f>.")
    assert not grammar.accepts("so <f=a>true</f>")


def test_the_older_form_may_ask_for_a_tag(compiler: llmask.Compiler) -> None:
    structures = [{"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"}]
    for at_least_one, is_accepted in ((True, False), (False, True), (None, True)):
        grammar = compiler.structural_tag({"structures": structures, "triggers": ["<f="], "at_least_one": at_least_one})
        assert grammar.accepts("no call") == is_accepted
        assert grammar.accepts("<f=a>12</f> and more")


def test_warnings_name_the_place(compiler: llmask.Compiler) -> None:
    rules = [["ab", {"type": "json_schema", "json_schema": {"type": "string", "format": "new"}}]]
    grammar = compiler.structural_tag({"format": {"type": "dispatch", "rules": rules, "excludes": ["b"]}})
    assert grammar.warnings[0].startswith("#/format/rules/0/1/json_schema: ")
    assert grammar.warnings[1] == '#/format: the trigger "ab" is never complete, because "b" is excluded'


def test_the_grammar_prints_itself(compiler: llmask.Compiler) -> None:
    tag = {"begin": "<f=a>", "content": {"type": "json_schema", "json_schema": {"type": "integer"}}, "end": "</f>"}
    grammar = compiler.structural_tag({"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": [tag]}})
    assert str(grammar) == (
        'start: (/(?s:(?!<f=).)*<f=/ "a>" tag_0)* /(?s:(?!<f=).)*/\ntag_0: %json {"type": "integer"} "</f>"'
    )


def test_deep_and_many_formats_meet_a_limit(compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    form: dict[str, Any] = {"type": "any_text"}
    for _ in range(formats.MAX_DEPTH):
        form = {"type": "optional", "content": form}
    with pytest.raises(LimitExceeded, match="formats nest deeper than 60"):
        compiler.structural_tag({"format": form})
    compiler.structural_tag({"format": form["content"]})
    itself: dict[str, Any] = {"type": "star"}
    itself["content"] = itself
    with pytest.raises(LimitExceeded, match="formats nest deeper than 60"):
        compiler.structural_tag({"format": itself})
    monkeypatch.setattr(formats, "MOST_FORMATS", 10)
    with pytest.raises(LimitExceeded, match="or are more than 10"):
        compiler.structural_tag({"format": {"type": "or", "elements": [{"type": "any_text"}] * 11}})


def test_counts_are_bounded(compiler: llmask.Compiler) -> None:
    one = {"type": "const_string", "value": "a"}
    grammar = compiler.structural_tag({"format": {"type": "repeat", "min": 0, "max": 2**31, "content": one}})
    assert grammar.accepts("a" * 100)
    with pytest.raises(llmask.GrammarError, match="more than 1000000000 copies"):
        compiler.structural_tag({"format": {"type": "repeat", "min": 2**31, "max": -1, "content": one}})
