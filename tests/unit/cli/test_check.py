"""`llmask check`: the ledger, verdicts with their places, exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from llmask import Compiler
from llmask.cli import main
from llmask.cli.check import table, verdict

SCHEMA = {
    "title": "t",
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
ARGUMENTS = ["check", json.dumps(SCHEMA)]


@pytest.fixture(scope="module")
def grammar(byte_tokenizer: Any) -> Any:
    return Compiler(byte_tokenizer).json_schema(SCHEMA)


def test_every_keyword_is_a_line(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(ARGUMENTS) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[:-1] == [
        "#                  title                 annotation",
        "#                  type                  enforced",
        "#                  properties            enforced: properties are written in this order",
        "#                  required              enforced",
        "#                  additionalProperties  enforced",
        "#/properties/name  type                  enforced",
        "#/properties/name  maxLength             enforced",
        "#/properties/age   type                  enforced: integers are written without exponent",
    ]
    assert lines[-1].startswith("grammar: ")
    assert " edges, " in lines[-1]


def test_an_empty_ledger_is_no_line() -> None:
    assert table([]) == []


@pytest.mark.parametrize(
    ("document", "byte", "line", "column", "after", "found", "expected"),
    [
        (b'{"name": "x",\n "age": "1"}', 22, 2, 9, '{"name": "x",\n "age": ', '"', "a number"),
        (b'{"age": 1, "name": "x"}', 2, 1, 3, '{"', "a", '"name"'),
        (b'{"name": "x"', 12, 1, 13, '{"name": "x"', "", "a comma"),
        (b"", 0, 1, 1, "", "", "an object"),
        (b"[]", 0, 1, 1, "", "[", "an object"),
        (b'{"name":"x","age":1} ', 20, 1, 21, '{"name":"x","age":1}', " ", "the end of the document"),
        ('{"name":"éé\n"}'.encode(), 13, 1, 12, '{"name":"éé', "\n", None),
        (b'{"name":"\xff', 9, 1, 10, '{"name":"', r"\xff", None),
        (b'{"name":"' + b"x" * 10, 18, 1, 19, '{"name":"' + "x" * 9, "x", "the end of the string"),
    ],
)
def test_a_refused_document_has_a_place_and_a_reason(
    grammar: Any, document: bytes, byte: int, line: int, column: int, after: str, found: str, expected: str | None
) -> None:
    refused = verdict(grammar, "d", document)
    assert refused[:6] == ("d", byte, line, column, after, found)
    if expected is not None:
        assert refused.expected == expected


def test_the_place_is_the_first_byte_that_no_document_has(grammar: Any) -> None:
    document = b'{ "name" : "a\\u00e9b", "age" : -12 }'
    assert verdict(grammar, "d", document).byte is None
    for at in range(len(document)):
        wrong = document[:at] + b"\x01" + document[at + 1 :]
        assert verdict(grammar, "d", wrong).byte == at
        assert verdict(grammar, "d", document[:at]).byte == at


def test_instances_are_tested_and_the_exit_code_tells(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(b'{"name": "x", "age": 1}\r\n')
    bad.write_bytes(b'{"name": 1}\n')
    assert main([*ARGUMENTS, "--instance", str(good)]) == 0
    assert capfdbinary.readouterr().out.decode().splitlines()[-1] == f"{good}: allowed"
    assert main([*ARGUMENTS, "--instance", str(good), "--instance", str(bad)]) == 1
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[-4:] == [
        f"{good}: allowed",
        f"{bad}: refused at byte 9 (line 1, column 10), after '{{\"name\": ': found '1', "
        "expected a string of at most 9 characters",
        '  /name: another type (type "string"), #/properties/name/type',
        '  also the document: a key is missing (required ["name", "age"]), #/required',
    ]


def test_json_for_programs(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"name": "x"}')
    schema = {**SCHEMA, "x-é": 1, "format": "odd"}
    assert main(["check", json.dumps(schema), "--instance", str(path), "--json"]) == 1
    report = json.loads(capfdbinary.readouterr().out)
    assert report["ledger"][0] == {"pointer": "#", "keyword": "title", "fate": "annotation"}
    assert [entry["keyword"] for entry in report["ledger"]][5] == "x-é"
    assert report["warnings"] == []
    assert report["edges"] > 3
    assert report["bytes"] > 0
    assert report["instances"] == [
        {
            "is_allowed": False,
            "name": str(path),
            "byte": 12,
            "line": 1,
            "column": 13,
            "after": '{"name": "x"',
            "found": "}",
            "expected": "a comma",
            "instance_pointer": "",
            "schema_pointer": "#/required",
            "keyword": "required",
            "relaxed": {},
            "why": ['the document: a key is missing (required ["name", "age"]), #/required'],
        }
    ]


def test_a_bad_schema_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"type": "strin"}')
    assert main(["check", str(path)]) == 2
    assert f"  at {path}: #/type" in capsys.readouterr().err
    assert main(["check", '{"type": "strin"}', "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["where"]) == ("GrammarError", "#/type")
    assert main(["check", "true", "--indent", "x"]) == 2
    assert "the option indent" in capsys.readouterr().err
    assert main(["check", str(tmp_path / "absent.json")]) == 2
    assert "No such file" in capsys.readouterr().err
    for option in ("--instance", "--registry", "--tokenizer"):
        assert main(["check", "true", option, str(tmp_path / "absent")]) == 2
        assert "No such file" in capsys.readouterr().err


def test_warnings_are_printed(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["check", '{"type": "string", "format": "odd"}']) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[1] == '#  format  ignored: the format "odd" is unknown, so it is an annotation'
    assert lines[2].startswith('warning: "format" at #/format is not enforced: ')


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    give(b'{"name": "x", "age": 3}\n')
    assert main([*ARGUMENTS, "--instance", "-"]) == 0
    give(b'{"type": "strin"}')
    assert main(["check", "-"]) == 2
    with pytest.raises(SystemExit) as caught:
        main(["check", "-", "--instance", "-"])
    assert caught.value.code == 2
    assert "standard input can be read once only" in capsys.readouterr().err


def test_grammars_of_every_notation_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bnf, lark, good, bad = (tmp_path / name for name in ("a.bnf", "a.lark", "good", "bad"))
    bnf.write_text('root ::= "a" root | "b"')
    lark.write_text('start: "a" start | "b"')
    good.write_text("aab\n")
    bad.write_text("ac")
    for option, given in (("lark", lark), ("gbnf", bnf), ("ebnf", bnf), ("regex", "a*b")):
        grammar = [f"--{option}", str(given)]
        assert main(["check", *grammar, "--instance", str(good)]) == 0
        assert capfd.readouterr().out.splitlines()[-1] == f"{good}: allowed"
        assert main(["check", *grammar, "--instance", str(bad)]) == 1
        said = capfd.readouterr().out.splitlines()
        line = said.index(f"{bad}: refused at byte 1 (line 1, column 2), after 'a': found 'c', expected 'a'..'b'")
        assert said[line + 1] == "  the rules there:"
        assert all("•" in rule for rule in said[line + 2 :])
    assert main(["check", "--grammar", "arithmetic", "--instance", str(good)]) == 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'start: "x"')))
    assert main(["check", "--lark", "-"]) == 0
    bnf.write_text("root ::= other")
    assert main(["check", "--gbnf", str(bnf)]) == 2
    assert f"  at {bnf}: line 1, column 10" in capfd.readouterr().err


def test_the_line_end_of_a_file_counts_where_the_grammar_asks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a\n")
    assert [main(["check", "--regex", pattern, "--instance", str(path)]) for pattern in ("a", r"a\n", "ab")] == [
        0,
        0,
        1,
    ]


def test_texts_are_taken_for_files(capfd: pytest.CaptureFixture[str]) -> None:
    tools = '[{"name": "f", "parameters": {"type": "object"}}]'
    tag = '{"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}'
    assert main(["check", "--schema", ' {"type": "object"}', "--instance", ' {"a": 1}\n']) == 1
    said = capfd.readouterr().out.splitlines()
    assert said[-2].startswith("the instance: refused at byte 0 ")
    assert said[-1] == "  there is white space before or after the document"
    assert main(["check", "--schema", "\n{}", "--instance", '{"a": 1}']) == 0
    for arguments in (
        ["--tools", tools],
        ["--structural-tag", tag],
        ["--response-format", '{"type": "json_object"}'],
        ['{"$ref": "https://e.org/a"}', "--registry", '{"$id": "https://e.org/a", "type": "null"}'],
    ):
        assert main(["check", *arguments]) == 0
    capfd.readouterr()
    assert main(["check", "--tools", "[}]"]) == 2
    assert "  at the text of --tools: line 1, column 2\n" in capfd.readouterr().err
    assert main(["check", "[a].json"]) == 2
    missing = f"No such file or directory: [a].json\n  it was looked for in {Path.cwd()}"
    assert capfd.readouterr().err.startswith(f"llmask: error: {missing}")


def test_quiet_prints_errors_only(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text("1")
    assert main(["check", "true", "--quiet", "--instance", str(path)]) == 0
    assert main(["check", "false", "--quiet"]) == 2
    assert capfd.readouterr().err != ""
    assert main(["check", '{"type": "null", "format": "odd"}', "--quiet", "--instance", str(path)]) == 1
    assert capfd.readouterr() == ("", "")
