"""The command line as a whole: help, exit codes, errors without a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import llmask
from llmask.cli import SUBCOMMANDS, main, make_parser


def test_help_fits_on_one_screen_and_shows_an_example_of_each_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = make_parser().format_help()
    assert len(text.splitlines()) <= 24
    for command in ("generate", "mask", "check", "explain", "rules", "tokenize", "bench", "warm-up"):
        assert f"\n  llmask {command}" in text


@pytest.mark.parametrize("subcommand", SUBCOMMANDS, ids=lambda module: module.__name__)
def test_every_command_explains_itself_with_an_example(subcommand: object, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(subcommand.__name__).rpartition(".")[2].replace("_", "-")  # type: ignore[attr-defined]
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    assert f"example: llmask {name}" in capsys.readouterr().out


def test_help_imports_neither_numba_nor_numpy() -> None:
    script = (
        "import sys; from llmask.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: sys.exit(bool({'numba', 'numpy', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_the_module_can_be_run() -> None:
    answer = subprocess.run([sys.executable, "-m", "llmask", "--help"], capture_output=True, text=True, check=False)
    assert answer.returncode == 0
    assert answer.stdout.startswith("usage: llmask")


def test_a_missing_file_is_told_with_where_it_was_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "absent.json"
    reason = f"llmask: error: No such file or directory: {missing}\n  it was looked for in {tmp_path}"
    assert main(["generate", "--schema", str(missing)]) == 1
    assert capsys.readouterr().err == f"{reason}\n"
    near = tmp_path / "absents.json"
    near.touch()
    assert main(["generate", "--schema", str(missing)]) == 1
    assert capsys.readouterr().err == f"{reason}; did you mean {near}?\n"
    nowhere = tmp_path / "none" / "a.json"
    assert main(["generate", "--schema", str(nowhere)]) == 1
    assert capsys.readouterr().err.endswith(f"{nowhere}\n  it was looked for in {nowhere.parent}\n")
    assert main(["generate", "--schema", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"llmask: error: Is a directory: {tmp_path}\n  give the name of a file in it\n"


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out == make_parser().format_help()


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"llmask {llmask.__version__}\n"


def test_the_version_tells_of_the_other_distribution_of_this_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The two have the same folder, so that each would replace the other's files without a word."""
    folder = tmp_path / "llmask-1.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: llmask\nVersion: 1.1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    told = capsys.readouterr()
    assert told.out == f"llmask {llmask.__version__}\n"
    assert told.err.startswith("llmask: the distribution llmask 1.1.0 is installed, too, and has the same folder")
    assert told.err.endswith("pip uninstall llmask llmask-engine\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["generate", "--regex", "a", "--n", "x"], "llmask generate: error: argument --n: invalid integer value: 'x'"),
        (["mask", "--regex", "a", "--schema", "b"], "llmask mask: error: argument --schema: not allowed with argument"),
        (["check"], "llmask check: error: one of the arguments SCHEMA --schema --regex "),
        (["tokenize", "--split", "0"], "llmask tokenize: error: --split 0: a chunk has at least one token"),
        (["rules", "--regex", "a", "--nonsense"], "llmask rules: error: unrecognized arguments: --nonsense (see"),
        (
            ["mask", "--regex", "a", "--prefx", "a"],
            "llmask mask: error: unrecognized arguments: --prefx a; did you mean --prefix? (see",
        ),
        (["generat"], "llmask: error: there is no command generat; did you mean generate? (see llmask --help)"),
        (["xyz"], "llmask: error: there is no command xyz; the commands are generate, mask, check, explain, rules, "),
        (["--nonsense"], "llmask: error: the following arguments are required: COMMAND"),
    ],
)
def test_a_wrong_command_line_is_one_line_with_a_hint(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    text = capsys.readouterr().err
    assert text.startswith(message)
    assert text.endswith(f" (see {message.partition(': error')[0]} --help)\n")
    assert text.count("\n") == 1
