"""Tags and what ends them; texts are in tests/contract/structural_tag_specs.py, tokens in test_tokens.py."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from tests.conftest import tiny_vocabulary
from tests.reference.definition import read_mask

TEXT = {"type": "any_text"}


def test_the_same_content_is_one_rule(compiler: llmask.Compiler) -> None:
    tags: list[Any] = [{"begin": begin, "content": TEXT, "end": ">"} for begin in ("<a:", "<b:")]
    form = {"type": "triggered_tags", "triggers": ["<"], "tags": tags, "at_least_one": True}
    assert str(compiler.structural_tag({"format": form})).count("tag_0:") == 1


def test_formats_in_rules_end_with_the_tag_around_them(compiler: llmask.Compiler) -> None:
    rules = [["x", {"type": "sequence", "elements": [TEXT, {"type": "const_string", "value": "!"}]}]]
    tag = {"type": "tag", "begin": "<", "content": {"type": "dispatch", "rules": rules, "excludes": [">"]}, "end": ">"}
    grammar = compiler.structural_tag({"format": tag})
    assert grammar.accepts("<axb!>")
    assert not grammar.accepts("<axb>!>")


def test_several_ends_are_all_excluded(compiler: llmask.Compiler) -> None:
    grammar = compiler.structural_tag({"format": {"type": "tag", "begin": "", "content": TEXT, "end": ["A", "B", ""]}})
    assert grammar.accepts("xB")
    assert grammar.accepts("x")
    assert not grammar.accepts("xAyB")


TOKENS, EOS, SPECIAL = tiny_vocabulary()
TOOL = TOKENS.index(b"<|tool|>")
ONE = TOKENS.index(b"name")
ANY = {token for token in range(len(TOKENS)) if token != EOS}


@pytest.fixture(scope="module")
def special(tiny_tokenizer: Any) -> llmask.Compiler:
    return llmask.Compiler(tiny_tokenizer)


def masks(compiler: llmask.Compiler, form: Any, tokens: list[int]) -> list[set[int]]:
    """The masks before and behind each token."""
    matcher = compiler.structural_tag({"format": form}).matcher()
    found = [read_mask(matcher, len(TOKENS))]
    for token in tokens:
        matcher.accept_token(token)
        found.append(read_mask(matcher, len(TOKENS)))
    return found


@pytest.mark.parametrize("name", ["<|tool|>", TOOL])
def test_a_token_is_named_by_its_text_or_id(special: llmask.Compiler, name: Any) -> None:
    assert masks(special, {"type": "token", "token": name}, [TOOL]) == [{TOOL}, {EOS}]


def test_any_token_but_some(special: llmask.Compiler) -> None:
    form = {"type": "exclude_token", "exclude_tokens": ["name", TOOL]}
    assert masks(special, form, [ONE - 1]) == [ANY - {ONE, TOOL}, {EOS}]
    form = {"type": "any_tokens", "exclude_tokens": [TOOL], "max_tokens": 2}
    assert masks(special, form, [ONE, ONE]) == [ANY - {TOOL} | {EOS}, ANY - {TOOL} | {EOS}, {EOS}]


def test_a_tag_of_tokens_ends_where_its_token_is(special: llmask.Compiler) -> None:
    one, end = {"type": "token", "token": "name"}, {"type": "token", "token": "<|tool|>"}
    form = {"type": "tag", "begin": one, "content": {"type": "any_tokens"}, "end": end}
    assert masks(special, form, [ONE, ONE, TOOL]) == [{ONE}, ANY, ANY, {EOS}]
    form = {"type": "tag", "begin": "a", "content": {"type": "exclude_token"}, "end": end}
    assert masks(special, form, [3 + ord("a"), ONE])[1:] == [ANY - {TOOL}, {TOOL}]


def test_tags_may_begin_with_tokens(special: llmask.Compiler) -> None:
    tag = {
        "begin": {"type": "token", "token": TOOL},
        "content": {"type": "const_string", "value": "a"},
        "end": {"type": "token", "token": "name"},
    }
    form = {"type": "token_triggered_tags", "trigger_tokens": ["<|tool|>"], "tags": [tag]}
    letter = {token for token, data in enumerate(TOKENS) if data == b"a"}
    assert masks(special, form, [ONE, TOOL, min(letter), ONE]) == [ANY | {EOS}, ANY | {EOS}, letter, {ONE}, ANY | {EOS}]
    assert masks(special, {**form, "stop_after_first": True}, [TOOL, min(letter), ONE])[-1] == {EOS}
    assert masks(special, {**form, "at_least_one": True}, [TOOL, min(letter), ONE])[::3] == [{TOOL}, ANY | {EOS}]
    both = {**form, "at_least_one": True, "stop_after_first": True, "exclude_tokens": ["name"]}
    assert masks(special, both, [TOOL, min(letter), ONE])[::3] == [{TOOL}, {EOS}]
    assert masks(special, {**form, "exclude_tokens": ["name"]}, [])[0] == (ANY | {EOS}) - {ONE}


def test_tokens_lead_to_formats(special: llmask.Compiler) -> None:
    rules = [[TOOL, {"type": "const_string", "value": "b"}], ["name", {"type": "token", "token": TOOL}]]
    form = {"type": "token_dispatch", "rules": rules, "loop": False}
    letter = {token for token, data in enumerate(TOKENS) if data == b"b"}
    assert masks(special, form, [5, TOOL, min(letter)]) == [ANY | {EOS}, ANY | {EOS}, letter, {EOS}]
    assert masks(special, {**form, "loop": True}, [ONE, TOOL]) == [ANY | {EOS}, {TOOL}, ANY | {EOS}]


BAD = [
    ({"type": "token", "token": "<|tol|>"},
     "the vocabulary has no token <|tol|>\n  at #/format/token\n  did you mean <|tool|>?"),
    ({"type": "token", "token": 100_000}, "this is 100000, where a token is needed\n  at #/format/token\n  "),
    ({"type": "token", "token": True}, "this is True, where a token is needed\n  at #/format/token\n  "),
    ({"type": "tag", "begin": {"type": "any_text"}, "content": {"type": "any_text"}, "end": ""},
     "a tag begins with a string or a token, and with no other format\n  at #/format/begin\n  write a string, or put "),
    (
        {"type": "token_triggered_tags", "trigger_tokens": [5, 6], "tags": [
            {"begin": {"token": 5}, "content": {"type": "any_text"}, "end": ""}]},
        "no tag begins with this trigger\n  at #/format/trigger_tokens/1\n",
    ),
    (
        {"type": "token_triggered_tags", "trigger_tokens": [5], "tags": [
            {"begin": {"token": 6}, "content": {"type": "any_text"}, "end": ""}]},
        "the tag begins with a token that is no trigger\n  at #/format/tags/0/begin\n",
    ),
    (
        {"type": "token_triggered_tags", "trigger_tokens": [5], "tags": [
            {"begin": "a", "content": {"type": "any_text"}, "end": ""}]},
        "the tag begins with a string\n  at #/format/tags/0/begin\n",
    ),
    ({"type": "token_dispatch", "rules": [[5]]}, "a rule is a pair of a token and a format\n  at #/format/rules/0\n"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "message"), BAD)
def test_errors_say_where(special: llmask.Compiler, form: Any, message: str) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        special.structural_tag({"format": form})
    assert str(error.value).startswith(message)
