"""`llmask rules`: every kind of grammar is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmask.cli import main

GRAMMARS = {
    "--schema": ('{"enum": ["a"]}', "#: '\"a\"'\n\n%ignore /[\\t\\n\\r ]{1,64}/\n"),
    "--lark": (
        'start: "a" NAME*\nNAME: /[b-d]/',
        'start: "a"{priority 1} (-> 1 | "")\n  1: NAME (-> 1 | "")\n\nNAME: /[b-d]/\n',
    ),
    "--gbnf": ('root ::= "a" root "b" | [0-9]+', 'root: "a" root "b" | /[0-9]+/\n'),
    "--response-format": (
        '{"type": "grammar", "syntax": "lark", "definition": "start: \\"a\\" NAME\\nNAME: /[b-d]/"}',
        'start: "a" NAME\n\nNAME: /[b-d]/\n',
    ),
    "--ebnf": ('root ::= [a-c] "é"', "root: /[a-c]é/\n"),
}


@pytest.mark.parametrize("option", GRAMMARS)
def test_rules_of_files(option: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, expected = GRAMMARS[option]
    file = tmp_path / "grammar"
    file.write_text(text, encoding="utf-8")
    assert main(["rules", option, str(file)]) == 0
    assert capfd.readouterr().out == expected


def test_rules_of_a_pattern(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--regex", "[a-c]*"]) == 0
    assert capfd.readouterr().out == 'start: /[a-c]*/ | ""\n'


def test_options_of_schemas_count(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"enum": [[]]}')
    assert main(["rules", "--schema", str(file), "--whitespace", "compact"]) == 0
    assert capfd.readouterr().out == '#: "[" -> 1\n  1: "]" | []\n'


def test_an_error_is_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "grammar"
    file.write_text("start: a")
    assert main(["rules", "--lark", str(file)]) == 1
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("llmask: error: ")
    assert str(file) in captured.err
