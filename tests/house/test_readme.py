"""What the README and the pages of docs/ show is true: their Python code runs and prints what they say, their links
lead somewhere, the README stays short. Command lines are in test_commands.py.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import re
import textwrap
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import fresh_python

ROOT = Path(__file__).resolve().parents[2]
MAX_PAGE_LINES = 250  # outside of tables
MAX_LINES = 170  # of the README
MAX_COLUMNS = 160  # outside tables and code
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
ROOT_PAGES = sorted(path.name for path in ROOT.glob("*.md"))
MAPS = ["llmask/README.md", "llmask/kernels/README.md", "llmask/frontends/json_schema/README.md"]
FOLDERS = ["examples/README.md", "tests/README.md", "grammars/README.md"]
LINKED = [*ROOT_PAGES, *PAGES, *MAPS, *FOLDERS]
LINKED += ["bench/README.md", "llmask/defaults/README.md", "llmask/prebuilt/README.md"]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)  # in a list, too
MODEL = re.compile(r'^name = "[^"]+"', re.MULTILINE)  # the model that is downloaded
ENGINE = re.compile(r"^(import|from) vllm\b", re.MULTILINE)  # what starts vLLM


def fences(text: str) -> Iterator[tuple[str, str]]:
    """Language and content of every fenced block."""
    return ((block[2], textwrap.dedent(block[3])) for block in FENCE.finditer(text))


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(language: str, *pages: str) -> list[tuple[str, int]]:
    """Every block of a language: its page, its number there."""
    found = [(page, number, name) for page in pages for number, (name, _) in enumerate(fences(read(page)))]
    return [(page, number) for page, number, name in found if name == language]


def block(page: str, number: int) -> str:
    return list(fences(read(page)))[number][1]


def shown(page: str, number: int) -> tuple[str, bool] | None:
    """What a page shows as printed by a block: the block of text after it; and whether it follows at once."""
    there = list(FENCE.finditer(read(page)))[number : number + 2]
    if len(there) < 2 or there[1][2] != "text" or there[1][3].startswith("$ "):
        return None
    between = there[0].string[there[0].end() : there[1].start()].strip()
    return None if "\n#" in between or between.startswith("#") else (textwrap.dedent(there[1][3]), not between)


def said_to_print(code: str) -> dict[int, str]:
    """Comments after a call of `print`, by the number of the line."""
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT and "print(" in token.line)
    return {comment.start[0]: comment.string.removeprefix("# ") for comment in comments}


class Printed(NamedTuple):
    """What a block of code printed: all of it, the text of each line that calls `print`, and how it failed."""

    text: str
    lines: dict[str, str]
    error: str


RUNNER = """
import builtins, contextlib, io, json, sys, traceback
def run(code):
    lines, output, error = {}, io.StringIO(), ""
    def record(*values, sep=" ", **options):
        lines.setdefault(sys._getframe(1).f_lineno, []).append(sep.join(map(str, values)))
        builtins.print(*values, sep=sep, **options)
    with contextlib.redirect_stdout(output):
        try:
            exec(compile(code, "page", "exec"), {"__name__": "__main__", "print": record})
        except BaseException:
            error = traceback.format_exc()
    return output.getvalue(), {line: "\\n".join(texts) for line, texts in lines.items()}, error
print("\\n" + json.dumps(list(map(run, json.load(sys.stdin)))))
"""


def run_python(codes: list[str]) -> list[Printed]:
    """What each code prints, all in one fresh interpreter, each with names of its own."""
    done = fresh_python("-c", RUNNER, given=json.dumps(codes))
    assert done.returncode == 0, done.stderr
    return [Printed(*printed) for printed in json.loads(done.stdout.splitlines()[-1])]


# Frameworks that a block of code may need, by the words in it: what has to be installed, and how
FRAMEWORKS = {
    "transformers": (("torch", "transformers"), "transformers"),
    "llama_cpp": (("llama_cpp",), "llama-cpp"),
    "mlx": (("torch", "transformers", "mlx_lm"), "mlx,transformers"),
    "jax": (("jax",), "jax"),
    "outlines": (("outlines",), "outlines"),
    "llguidance": (("llguidance",), "test"),
    "xgrammar": (("xgrammar",), "bench"),
}


def frameworks_of(code: str) -> Iterator[tuple[str, str]]:
    """Modules that code needs beside llmask, and the extra that brings each."""
    for framework, (modules, extra) in FRAMEWORKS.items():
        if re.search(rf"^(import|from) .*\b{framework}", code, re.MULTILINE):
            yield from ((module, extra) for module in modules)


def is_runnable(code: str) -> bool:
    """Whether code can be run here as it is: it names no model, and what it needs is installed."""
    missing = [module for module, _ in frameworks_of(code) if importlib.util.find_spec(module) is None]
    return not (missing or MODEL.search(code) or ENGINE.search(code))


@cache
def printed_on(page: str) -> dict[int, Printed]:
    """What the blocks of a page print that can be run here, by their numbers."""
    codes = {number: block(page, number) for _, number in blocks("python", page)}
    runnable = {number: code for number, code in codes.items() if is_runnable(code)}
    return dict(zip(runnable, run_python(list(runnable.values())), strict=True))


@pytest.mark.long
@pytest.mark.parametrize(("page", "number"), blocks("python", "README.md", *PAGES, *MAPS))
def test_python_code_runs(page: str, number: int, tmp_path: Path) -> None:
    """Where code names a model, one with random weights takes its place, and what it prints is a person. Else it prints
    what the page shows after it, where it does.
    """
    code = block(page, number)
    if ENGINE.search(code):
        compile(code, page, "exec")  # an engine needs a model and a GPU; tests/servers/ has what can be run without
        return
    for module, extra in frameworks_of(code):
        pytest.importorskip(module, reason=f"{module} is not installed: pip install '.[{extra}]'")
    if not MODEL.search(code):
        printed, expected = printed_on(page)[number], shown(page, number)
        assert printed.error == ""
        if expected is not None:
            text, is_all = expected
            assert text == printed.text if is_all else text in printed.text
        return
    from tests.contract.tiny_models import make_hf_model, make_hf_tokenizer, write_gguf

    model = tmp_path / "model.gguf"
    if "llama_cpp" in code:
        write_gguf(model)
    else:
        tokenizer = make_hf_tokenizer()
        tokenizer.save_pretrained(model)
        make_hf_model(tokenizer).save_pretrained(model)
    local, n_named = MODEL.subn(f"name = {str(model)!r}", code)
    assert n_named == 1
    printed = run_python([local])[0]
    assert printed.error == ""
    document = json.loads(printed.text)
    assert isinstance(document["name"], str)
    assert document["age"] == int(document["age"])  # -90.0 is an integer of JSON Schema


COMMENTED = [
    (page, number)
    for page, number in blocks("python", "README.md", *PAGES, *MAPS)
    if said_to_print(block(page, number))
    and not any(frameworks_of(block(page, number)))
    and not ENGINE.search(block(page, number))
]


@pytest.mark.parametrize(("page", "number"), COMMENTED)
def test_comments_beside_print_are_what_is_printed(page: str, number: int) -> None:
    """As a whole, or up to `...`, or up to a colon and what it means."""
    lines = printed_on(page)[number].lines
    for line, said in said_to_print(block(page, number)).items():
        text = lines[str(line)]
        assert text == said or said.startswith(f"{text}: ") or (said[-4:] == " ..." and text.startswith(said[:-4]))


def test_the_readme_is_short() -> None:
    lines = read("README.md").splitlines()
    assert len(lines) <= MAX_LINES
    assert [line for line in lines if len(line) > MAX_COLUMNS and not line.startswith("|")] == []  # code, too


@pytest.mark.parametrize("line", ["pip install . && llmask generate", "pip install '.[test]' && pytest"])
def test_the_first_line_that_ci_looks_for_is_one_of_a_block(line: str) -> None:
    text = read("README.md")
    found = next(one for one in text.splitlines() if line in one)
    assert found.startswith(line)
    assert any(found in block for block in re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


@pytest.mark.parametrize("page", [*ROOT_PAGES, *PAGES, *MAPS, *FOLDERS, "bench/README.md"])
def test_lines_can_be_read_without_scrolling(page: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    long = [line for line in prose.splitlines() if len(line) > MAX_COLUMNS and not line.startswith("|")]
    assert long == []


@pytest.mark.parametrize("page", [*PAGES, *MAPS, *FOLDERS, "bench/README.md"])
def test_pages_can_be_read_in_one_go(page: str) -> None:
    assert sum(not line.startswith("|") for line in read(page).splitlines()) <= MAX_PAGE_LINES


def anchors(text: str) -> set[str]:
    """The names that headings get: lower case, blanks as hyphens, punctuation dropped."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def dead_links(page: str) -> list[str]:
    """Links to files or headings that are not there."""
    path = ROOT / page
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    dead = []
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        there = (path.parent / file) if file else path
        if not there.exists() or (anchor and anchor not in anchors(there.read_text(encoding="utf-8"))):
            dead.append(target)
    return dead


@pytest.mark.parametrize("page", LINKED)
def test_links_to_files_and_headings_lead_somewhere(page: str) -> None:
    assert dead_links(page) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_readme_leads_to_every_page(page: str) -> None:
    """To a study by way of the list of studies."""
    if page.startswith("docs/measured/"):
        assert f"]({page.removeprefix('docs/')})" in read("docs/measured.md").partition("## The studies")[2]
        return
    assert f"]({page})" in read("README.md")


def test_the_license_is_the_standard_text() -> None:
    digest = hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest()
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # LICENSE-2.0.txt of apache.org
