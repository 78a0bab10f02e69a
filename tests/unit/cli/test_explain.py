"""`llmask explain`: tokens, texts, ends and prefixes; exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from llmask.cli import main

SCHEMA = {"properties": {"n": {"type": "integer", "maximum": 5}}, "type": "object", "required": ["n"]}
ARGUMENTS = ["explain", "--schema", json.dumps(SCHEMA)]


@pytest.mark.parametrize(
    ("arguments", "code", "lines"),
    [
        (
            ["--prefix", '{"n": ', "--text", "6"],
            1,
            ["refused at byte 6: found '6'", "  /n: too large (maximum 5), #/properties/n/maximum"],
        ),
        (["--prefix", '{"n": ', "--token", "54"], 1, ["refused at byte 6: found '6'"]),
        (["--prefix", '{"n": ', "--token", "49"], 0, ["allowed"]),
        (["--prefix", '{"n": 6'], 1, ["refused at byte 6: found '6'"]),
        (["--prefix", "{", "--end"], 1, ["refused at byte 1: the document ends", "  the document is not complete"]),
        (["--prefix", '{"n": 5}', "--end"], 0, ["allowed"]),
        (
            ["--prefix", '{"n": '],
            0,
            [
                "allowed so far; the document may not end here",
                "  between values at /n, 0 bytes so far, depth 1",
                "  schema #/properties/n",
            ],
        ),
    ],
)
def test_what_is_explained(
    capfdbinary: pytest.CaptureFixture[bytes], arguments: list[str], code: int, lines: list[str]
) -> None:
    assert main([*ARGUMENTS, *arguments]) == code
    assert capfdbinary.readouterr().out.decode().splitlines()[: len(lines)] == lines


def test_grammars_of_other_notations(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["explain", "--regex", "a+b", "--prefix", "aac"]) == 1
    assert "  the rules there:" in capfdbinary.readouterr().out.decode().splitlines()


def test_bytes_of_a_character_may_come_apart(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    # Python hands a byte that is no UTF-8 over as a lone surrogate
    character = ["explain", "--schema", '{"type": "string"}', "--prefix", '"\udcc3', "--text"]
    assert main([*character, "\udca9"]) == 0
    assert main([*character, "\udcff"]) == 1
    assert b"refused at byte 2: found '\\xff'" in capfdbinary.readouterr().out


def test_what_is_wrong_with_the_grammar_is_no_refusal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["--schema", '{"type": "x"}'],
        ["--schema", str(tmp_path / "none")],
        ["--regex", "("],
        ["--regex", "a", "--tokenizer", str(tmp_path / "none")],
    ):
        assert main(["explain", *arguments, "--prefix", "1"]) == 2
        captured = capfd.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("llmask: error: ")


def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--token", "x"], ["--token", "1", "--end"]):
        with pytest.raises(SystemExit) as ended:
            main([*ARGUMENTS, *arguments])
        assert ended.value.code == 2
    capsys.readouterr()
