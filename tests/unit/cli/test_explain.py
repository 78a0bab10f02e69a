"""`llmask explain`: tokens, texts, ends and prefixes; exit codes."""

from __future__ import annotations

import json

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


def test_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--token", "x"], ["--token", "1", "--end"]):
        with pytest.raises(SystemExit) as ended:
            main([*ARGUMENTS, *arguments])
        assert ended.value.code == 2
    capsys.readouterr()
