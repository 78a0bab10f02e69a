"""Keys of SGLang's requests."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from llmask import Compiler
from llmask.errors import GrammarError, LlmaskError
from llmask.integrations.sglang.requests import KINDS, compile_key, format_of, json_options

FLEXIBLE = {"whitespace": "flexible"}


@pytest.fixture(scope="module")
def compiler(default_tokenizer: Any) -> Compiler:
    return Compiler(default_tokenizer)


def serving(pattern: str | None = None, is_compact: bool = False, most: int | None = None) -> Any:
    return SimpleNamespace(
        constrained_json_whitespace_pattern=pattern,
        constrained_json_disable_any_whitespace=is_compact,
        constrained_json_max_whitespace_cnt=most,
    )


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), FLEXIBLE),
        ((None, True), {"whitespace": "compact"}),
        (("[ ]?", True), {"whitespace": "[ ]?"}),
        ((None, False, 3), {"whitespace": "flexible", "max_whitespace": 3}),
    ],
)
def test_arguments_of_the_server_become_options(arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    assert json_options(serving(*arguments)) == options


@pytest.mark.parametrize(
    ("kind", "text", "shortest"),
    [
        ("json", '{"const": "a"}', b'"a"'),
        ("json", "$$ANY$$", b"0"),
        ("regex", "a{3}", b"aaa"),
        ("ebnf", 'root ::= "ab"', b"ab"),
        ("ebnf", 'start: "ab"', b"ab"),
        ("full_assistant_ebnf", 'root ::= "ab"', b"ab"),
        ("structural_tag", '{"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}', b"x"),
    ],
)
def test_each_kind_has_its_grammar(compiler: Compiler, kind: str, text: str, shortest: bytes) -> None:
    assert kind in KINDS
    assert len(compile_key(compiler, kind, text, FLEXIBLE).shortest()) == len(shortest)


def test_options_are_those_of_json(compiler: Compiler) -> None:
    text = '{"properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}'
    for whitespace, is_accepted in (("flexible", True), ("compact", False)):
        matcher = compile_key(compiler, "json", text, {"whitespace": whitespace}).matcher()
        tokens = compiler.tokenizer.encode('{"a": 1}')
        assert (matcher.validate_tokens(tokens) == len(tokens)) == is_accepted


@pytest.mark.parametrize(
    "form",
    [
        {"structures": [{"begin": "<a>", "schema": None, "end": "</a>"}], "triggers": ["<a>"], "at_least_one": True},
        {
            "format": {
                "type": "tag",
                "begin": "<a>",
                "content": {"type": "json_schema", "json_schema": None},
                "end": "</a>",
            }
        },
        {"format": {"type": "sequence", "elements": [{"type": "json_schema"}]}},
        {"format": {"type": "qwen_xml_parameter", "json_schema": None}},
    ],
)
def test_a_tool_without_parameters_takes_what_it_gets(compiler: Compiler, form: dict[str, Any]) -> None:
    text = json.dumps(form)
    grammar = compile_key(compiler, "structural_tag", text, FLEXIBLE)
    assert grammar.shortest().removeprefix(b"<a>").removesuffix(b"</a>") in (b"0", b"1", b'""', b"{}", b"[]", b"")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '"a"',
        "{}",
        '{"structures": null}',
        '{"format": [null]}',
        '{"structures": [null], "triggers": ["a"]}',
    ],
)
def test_odd_tags_are_refused(compiler: Compiler, text: str) -> None:
    with pytest.raises(LlmaskError):
        compile_key(compiler, "structural_tag", text, FLEXIBLE)


def test_other_kinds_are_refused(compiler: Compiler) -> None:
    with pytest.raises(GrammarError, match='no request of kind "choice"'):
        compile_key(compiler, "choice", "[]", FLEXIBLE)


def test_keys_have_a_form_within_a_tag(compiler: Compiler) -> None:
    for kind, text, options in (
        ("json", '{"const": "ab"}', FLEXIBLE),
        ("json", "$$ANY$$", {"whitespace": "compact"}),
        ("json", "{}", {"whitespace": "flexible", "max_whitespace": 2}),
        ("regex", "a{3}", FLEXIBLE),
        ("ebnf", 'root ::= "ab"', FLEXIBLE),
    ):
        form = {"format": format_of(kind, text, options)}
        inside, alone = compiler.structural_tag(form), compile_key(compiler, kind, text, options)
        for seed in range(5):
            for one, other in ((inside, alone), (alone, inside)):
                document = one.sample(seed, max_bytes=2000)
                matcher = other.matcher()
                matcher.accept_bytes(document)
                assert matcher.is_accepting()


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        ("json", "{}", {"whitespace": "[ ]?"}),
        ("ebnf", 'start: "a"', FLEXIBLE),
        ("ebnf", "root ::= .", FLEXIBLE),
        ("structural_tag", "{}", FLEXIBLE),
        ("full_assistant_ebnf", 'root ::= "a"', FLEXIBLE),
    ],
)
def test_others_have_none(kind: str, text: str, options: dict[str, Any]) -> None:
    assert format_of(kind, text, options) is None
