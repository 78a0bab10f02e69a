"""What the README and the pages of docs/ show is true: their Python code runs, their links lead somewhere, the README
stays short, and what it prints is what is printed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 170  # of the README
MAX_COLUMNS = 160  # outside tables and code
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
ROOT_PAGES = sorted(path.name for path in ROOT.glob("*.md"))
MAPS = ["llmask/README.md", "llmask/kernels/README.md", "llmask/frontends/json_schema/README.md"]
FOLDERS = ["examples/README.md", "tests/README.md", "grammars/README.md"]
LINKED = [*ROOT_PAGES, *PAGES, *MAPS, *FOLDERS, "bench/README.md", "llmask/defaults/README.md"]
MODEL = re.compile(r'^name = "[^"]+"', re.MULTILINE)  # the model that is downloaded


def fences(text: str) -> Iterator[tuple[str, str]]:
    """Language and content of every fenced block."""
    return ((block[1], block[2]) for block in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(language: str, *pages: str) -> list[tuple[str, int]]:
    """Every block of a language: its page, its number there."""
    found = [(page, number, name) for page in pages for number, (name, _) in enumerate(fences(read(page)))]
    return [(page, number) for page, number, name in found if name == language]


def block(page: str, number: int) -> str:
    return list(fences(read(page)))[number][1]


def run_python(code: str) -> str:
    """What the code prints in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Frameworks that a block of code may need, by the words in it: what has to be installed, and how
FRAMEWORKS = {
    "transformers": (("torch", "transformers"), "transformers"),
    "llama_cpp": (("llama_cpp",), "llama-cpp"),
    "mlx": (("torch", "transformers", "mlx_lm"), "mlx,transformers"),
    "jax": (("jax",), "jax"),
    "outlines": (("outlines",), "outlines"),
}


@pytest.mark.parametrize(("page", "number"), blocks("python", "README.md", *PAGES, *MAPS))
def test_python_code_runs(page: str, number: int, tmp_path: Path) -> None:
    """Where code names a model, one with random weights takes its place, and what it prints is a person."""
    code = block(page, number)
    if re.search(r"^(import|from) vllm\b", code, re.MULTILINE):
        compile(code, page, "exec")  # an engine needs a model and a GPU; tests/servers/ has what can be run without
        return
    for framework, (modules, extra) in FRAMEWORKS.items():
        if re.search(rf"^(import|from) .*\b{framework}", code, re.MULTILINE):
            for module in modules:
                pytest.importorskip(module, reason=f"{module} is not installed: pip install '.[{extra}]'")
    if not MODEL.search(code):
        run_python(code)
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
    document = json.loads(run_python(local))
    assert isinstance(document["name"], str)
    assert isinstance(document["age"], int)


def test_there_is_python_code_to_run() -> None:
    assert len(blocks("python", "README.md")) == 1
    assert len(blocks("python", *PAGES)) >= 5


@pytest.mark.parametrize(("page", "number"), blocks("text", "README.md"))
def test_what_the_readme_prints_is_printed(page: str, number: int) -> None:
    command, _, expected = block(page, number).partition("\n")
    words = shlex.split(command.removeprefix("$ llmask "))
    done = subprocess.run(
        [sys.executable, "-m", "llmask", *words], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.stdout + done.stderr == expected


def test_the_readme_is_short() -> None:
    assert len(read("README.md").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("page", [*ROOT_PAGES, *PAGES, *MAPS, *FOLDERS])
def test_lines_can_be_read_without_scrolling(page: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    long = [line for line in prose.splitlines() if len(line) > MAX_COLUMNS and not line.startswith("|")]
    assert long == []


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
    assert f"]({page})" in read("README.md")


def test_the_license_is_the_standard_text() -> None:
    digest = hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest()
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # LICENSE-2.0.txt of apache.org
