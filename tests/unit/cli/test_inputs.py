"""Grammar and tokenizer from arguments; an error in a schema names the file."""

from __future__ import annotations

import argparse
import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from bench.sentencepiece_files import model_bytes
from llmask import Compiler
from llmask.cli.inputs import (
    add_grammar_arguments,
    add_tokenizer_argument,
    compile_grammar,
    is_json,
    load_tokenizer,
    of_file,
    schema_options,
    tool_options,
)
from llmask.errors import GrammarError, LlmaskError, TokenRejected, UnsatisfiableSchema


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_grammar_arguments(parser)
    return parser.parse_args(arguments)


@pytest.mark.parametrize("arguments", [(), ("--schema", "a.json", "--regex", "a")])
def test_exactly_one_grammar_must_be_given(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(*arguments)
    assert "--schema" in capsys.readouterr().err


def test_a_regex_is_compiled(byte_tokenizer: Any) -> None:
    assert compile_grammar(byte_tokenizer, parse("--regex", "ab?")).accepts(b"ab")


@pytest.mark.parametrize("option", ["--gbnf", "--ebnf"])
def test_a_grammar_is_read_from_its_file(byte_tokenizer: Any, tmp_path: Path, option: str) -> None:
    path = tmp_path / "a.bnf"
    path.write_text('root ::= "é" | "b" root', encoding="utf-8")
    assert compile_grammar(byte_tokenizer, parse(option, str(path))).accepts("bé".encode())
    path.write_bytes(b'root ::= "\xff"')
    with pytest.raises(GrammarError, match="not UTF-8"):
        compile_grammar(byte_tokenizer, parse(option, str(path)))
    path.write_text("root ::= other")
    with pytest.raises(GrammarError) as caught:
        compile_grammar(byte_tokenizer, parse(option, str(path)))
    assert str(caught.value.where).startswith(f"{path}: line 1, column 10")


def test_lark_grammars_take_a_lexer_and_warn_on_standard_error(
    byte_tokenizer: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.lark"
    path.write_text('start: NAME "in" NAME\nNAME: /[a-z]+/')
    with pytest.raises(UnsatisfiableSchema, match=r'NAME takes the beginning of "in"(.|\n)*--lexer exact') as caught:
        compile_grammar(byte_tokenizer, parse("--lark", str(path)))
    assert str(caught.value.where).startswith(f"{path}: line 1, column 1")
    assert compile_grammar(byte_tokenizer, parse("--lark", str(path), "--lexer", "exact")).shortest()
    assert capsys.readouterr().err == ""
    path.write_text('start: NAME "in" | "1"\nNAME: /[a-z]+/')
    grammar = compile_grammar(byte_tokenizer, parse("--lark", str(path)))
    assert capsys.readouterr().err == f"llmask: warning: {grammar.warnings[0]}\n"


def test_a_ready_grammar_is_found_by_its_name(byte_tokenizer: Any) -> None:
    assert compile_grammar(byte_tokenizer, parse("--grammar", "arithmetic")).accepts(b"1 + x")
    with pytest.raises(GrammarError, match="there is no ready grammar"):
        compile_grammar(byte_tokenizer, parse("--grammar", "aritmetic"))


def test_a_lark_grammar_imports_files_beside_it(byte_tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.lark"
    path.write_text('%import .words.WORD\nstart: WORD "!"\n')
    (tmp_path / "words.lark").write_text('WORD: "é"+\n', encoding="utf-8")
    assert compile_grammar(byte_tokenizer, parse("--lark", str(path))).accepts("éé!".encode())
    path.write_text("start: WORT\n")
    with pytest.raises(GrammarError) as caught:
        compile_grammar(byte_tokenizer, parse("--lark", str(path)))
    assert str(caught.value.where).startswith(f"{path}: line 1, column 8")


@pytest.mark.parametrize(("whitespace", "text"), [("compact", b'{"a":1}'), ("flexible", b'{ "a" : 1 }')])
def test_a_schema_is_read_from_its_file(byte_tokenizer: Any, tmp_path: Path, whitespace: str, text: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"properties": {"a": {"const": 1}}, "required": ["a"], "type": "object"}')
    assert compile_grammar(byte_tokenizer, parse("--schema", str(path), "--whitespace", whitespace)).accepts(text)


def test_every_option_of_a_schema_has_an_argument(byte_tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '{"type": "object", "properties": {"é": {"const": "é"}, "z": {"format": "zip"}, "d": {"format": "date"},'
        ' "n": {"type": "string", "nullable": true}}}'
    )
    cases = {
        (): b'{"\xc3\xa9":"\xc3\xa9", "z":"1"}',
        ("--whitespace", " "): b'{ "z" : "1" }',
        ("--max-whitespace", "1"): b'{ "z":"1"}',
        ("--indent", "2"): b'{\n  "z": "1"\n}',
        ("--indent", "\\t"): b'{\n\t"z": "1"\n}',
        ("--property-order", "any"): b'{"d":"2024-01-31","z":"1"}',
        ("--format", "annotate"): b'{"d":"x"}',
        ("--format-pattern", "zip=^[0-9]$", "--format-pattern", "date=^=$"): b'{"z":"1","d":"="}',
        ("--escapes", "u"): b'{"z":"\\u0022"}',
        ("--literals", "any"): b'{"\\u00e9":"\\u00E9"}',
        ("--unsupported", "ignore"): b'{"z":"1"}',
        ("--closed",): b'{"z":"1"}',
        ("--dialect", "openapi-3.0"): b'{"n":null}',
    }
    for arguments, text in cases.items():
        assert compile_grammar(byte_tokenizer, parse("--schema", str(path), *arguments)).accepts(text)


def test_references_may_name_registered_files(byte_tokenizer: Any, tmp_path: Path) -> None:
    schema, named, unnamed = tmp_path / "s.json", tmp_path / "named.json", tmp_path / "unnamed.json"
    named.write_text('{"$id": "https://example.org/named", "const": 1}')
    unnamed.write_text('{"$schema": "http://json-schema.org/draft-07/schema#", "const": 2}')
    schema.write_text(
        json.dumps({"enum": [1, 2, 3], "anyOf": [{"$ref": "https://example.org/named"}, {"$ref": f"{unnamed}"}]})
    )
    registered = ("--registry", str(named), "--registry", str(unnamed))
    for text, is_allowed in ((b"1", True), (b"2", True), (b"3", False)):
        matcher = compile_grammar(byte_tokenizer, parse("--schema", str(schema), *registered)).matcher()
        if is_allowed:
            matcher.accept_bytes(text)
        else:
            with pytest.raises(TokenRejected):
                matcher.accept_bytes(text)
    with pytest.raises(GrammarError):
        compile_grammar(byte_tokenizer, parse("--schema", str(schema)))
    named.write_text("{")
    with pytest.raises(GrammarError, match="the document is not JSON") as caught:
        compile_grammar(byte_tokenizer, parse("--schema", str(schema), *registered))
    assert str(named) in str(caught.value.where)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[1]", "the document is no schema"),
        ('{"$id": 5}', '"\\$schema" and "\\$id" must be strings'),
        ('{"$schema": 5}', '"\\$schema" and "\\$id" must be strings'),
        ('{"$schema": "http://json-schema.org/draft-04/schema", "id": []}', '"\\$schema" and "\\$id" must be strings'),
    ],
)
def test_a_registered_document_that_is_no_schema_is_an_error(byte_tokenizer: Any, document: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message) as caught:
        compile_grammar(byte_tokenizer, parse("--schema", '{"$ref": "x"}', "--registry", document))
    assert "the text of --registry" in str(caught.value.where)


def test_options_that_nothing_reads_are_named(byte_tokenizer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    tools = '[{"name": "f"}]'
    for given, n_warnings in (
        (("--regex", "a", "--closed", "--tool-choice", "none", "--lexer", "exact"), 3),
        (("--tools", tools, "--numbers", "plain", "--format-pattern", "a=b", "--tool-choice", "none"), 2),
        (("--schema", "true", "--closed", "--indent", "2", "--one-tool-call"), 1),
        (("--response-format", '{"type": "json_object"}', "--whitespace", "compact"), 0),
        (("--regex", "a", "--numbers", "json"), 0),  # what is the default is not told apart from what is left out
    ):
        compile_grammar(byte_tokenizer, parse(*given))
        assert len(capsys.readouterr().err.splitlines()) == n_warnings
    compile_grammar(byte_tokenizer, parse("--regex", "a", "--max-whitespace", "1"))
    said = "llmask: warning: --max-whitespace is read for --schema and --response-format only\n"
    assert capsys.readouterr().err == said


def test_a_limit_that_a_schema_meets_names_the_file(byte_tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"type": "integer", "multipleOf": 20001}')
    with pytest.raises(LlmaskError) as caught:
        compile_grammar(byte_tokenizer, parse("--schema", str(path)))
    assert str(caught.value.where).startswith(f"{path}: #")
    path.write_text("[" * 100_000)
    with pytest.raises(LlmaskError) as caught:
        compile_grammar(byte_tokenizer, parse("--schema", str(path)))
    assert caught.value.where == str(path)


@pytest.mark.parametrize("given", ["", " "])
def test_a_file_without_a_name_is_an_error(byte_tokenizer: Any, given: str) -> None:
    for option in ("--schema", "--lark", "--tools", "--response-format"):
        with pytest.raises(FileNotFoundError) as caught:
            compile_grammar(byte_tokenizer, parse(option, given))
        assert of_file(caught.value) == "the name of the file is empty"


@pytest.mark.parametrize("given", ["zip", "=a"])
def test_a_format_needs_a_name_and_a_pattern(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("--regex", "a", "--format-pattern", given)
    assert f"must be NAME=PATTERN, not {given}" in capsys.readouterr().err


def test_the_options_are_those_of_the_compiler() -> None:
    parameters = set(inspect.signature(Compiler.json_schema).parameters)
    assert parameters - set(schema_options(parse("--regex", "a"))) == {"self", "schema"}


def test_an_error_in_a_schema_names_the_file_and_the_place(byte_tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"properties": {"a": false}, "required": ["a"], "type": "object"}')
    with pytest.raises(UnsatisfiableSchema) as caught:
        compile_grammar(byte_tokenizer, parse("--schema", str(path)))
    assert str(caught.value.where).startswith(str(path))
    path.write_text("{")
    with pytest.raises(GrammarError) as malformed:
        compile_grammar(byte_tokenizer, parse("--schema", str(path)))
    assert str(malformed.value.where).startswith(str(path))


def tokenizer_of(*arguments: str) -> Any:
    parser = argparse.ArgumentParser()
    add_tokenizer_argument(parser)
    return load_tokenizer(parser.parse_args(arguments))


def test_the_tokenizer_of_the_package_is_the_default(default_tokenizer: Any) -> None:
    assert tokenizer_of().vocab_size == default_tokenizer.vocab_size
    assert tokenizer_of().eos_ids == default_tokenizer.eos_ids
    assert tokenizer_of("--vocab-size", "40000").vocab_size == 40_000
    assert tokenizer_of("--eos", "7").eos_ids == [7]


def test_a_tokenizer_is_that_of_the_file(tmp_path: Path) -> None:
    pieces = tmp_path / "pieces"
    pieces.write_bytes(model_bytes([(b"<unk>", 0.0, 2), (b"</s>", 0.0, 3), ("\u2581a".encode(), -1.0, 1)]))
    tokenizer = tokenizer_of("--tokenizer", str(pieces), "--vocab-size", "8")
    assert (tokenizer.encode("a"), tokenizer.vocab_size) == ([2], 8)


def test_structural_tags_and_tools_are_read_from_files(byte_tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    tag = {"type": "tag", "begin": "<", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": ">"}
    path.write_text(json.dumps({"type": "structural_tag", "format": tag}))
    assert compile_grammar(byte_tokenizer, parse("--structural-tag", str(path))).accepts(b"<12>")
    path.write_text(json.dumps([{"name": "now"}, {"name": "then"}]))
    options = ("--tool-model", "qwen-3", "--tool-choice", "now", "--one-tool-call", "--reasoning", "open")
    assert compile_grammar(byte_tokenizer, parse("--tools", str(path), *options)).accepts(
        b'Hm.</think>\n\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
    )
    path.write_text("[{}]")
    with pytest.raises(GrammarError) as caught:
        compile_grammar(byte_tokenizer, parse("--tools", str(path)))
    assert caught.value.where == f"{path}: #/0"
    path.write_text("[")
    with pytest.raises(GrammarError, match="the file is not JSON"):
        compile_grammar(byte_tokenizer, parse("--tools", str(path)))


def test_tools_may_be_the_answer_of_a_server(byte_tokenizer: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"tools": [{"name": "now", "inputSchema": {"type": "object"}}]}))
    assert compile_grammar(byte_tokenizer, parse("--tools", str(path))).accepts(b'{"name": "now", "parameters": {}}')


SCHEMA = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}
LARK = {"type": "grammar", "syntax": "lark", "definition": 'start: "a" | "b"'}


@pytest.mark.parametrize(
    ("document", "text", "json_only"),
    [
        ({"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, b'{"a":1}', True),
        ({"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}, b'{"a":1}', True),
        ({"type": "json_object"}, b'{"b":1}', True),
        ({"type": "text"}, b"a\nb", False),
        ({"type": "custom", "name": "n", "format": LARK}, b"b", False),
    ],
)
def test_response_formats_are_read_from_files(
    byte_tokenizer: Any, tmp_path: Path, document: Any, text: bytes, json_only: bool
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    arguments = parse("--response-format", str(path), "--whitespace", "compact")
    matcher = compile_grammar(byte_tokenizer, arguments).matcher()
    matcher.accept_bytes(text)
    assert matcher.is_accepting()
    assert is_json(arguments) == json_only
    if json_only:  # the options of schemas count
        matcher.reset()
        assert matcher.validate_tokens(list(b'{ "')) == 1


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"type": "json"}', "#/type"),
        ('{"type": "json_schema", "schema": {"type": "x"}}', "#/schema/type"),
        ('{"type": "json_schema", "json_schema": {"schema": {"type": "x"}}}', "#/json_schema/schema/type"),
        ("[1]", "#"),
        ("{", "line 1, column 2"),
    ],
)
def test_an_error_in_a_response_format_names_the_file_and_the_place(
    byte_tokenizer: Any, tmp_path: Path, text: str, where: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    arguments = parse("--response-format", str(path))
    is_json(arguments)  # says nothing about what is malformed
    with pytest.raises(GrammarError) as caught:
        compile_grammar(byte_tokenizer, arguments)
    assert caught.value.where == f"{path}: {where}"


def test_only_schemas_and_response_formats_are_known_to_be_json(tmp_path: Path) -> None:
    assert is_json(parse("--schema", "a.json"))
    assert not is_json(parse("--regex", "a"))
    assert not is_json(parse("--response-format", str(tmp_path / "none.json")))


def test_the_options_of_tools_are_those_of_the_compiler() -> None:
    parameters = set(inspect.signature(Compiler.tools).parameters)
    assert parameters == {"self", "tools", *tool_options(parse("--regex", "a"))}
