"""The site of docs/: every page is found, says what it is for and is short, and links lead somewhere there, too."""

from __future__ import annotations

import importlib.util
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import llmask
from tests.house.conftest import loaded

from .test_readme import PAGES, ROOT, anchors, dead_links, read

FIRST_LINES = 12  # of a page: a screen
MIN_WORDS = 8  # of what says what a page is for


hooks = loaded("hooks")


def in_navigation(entry: Any) -> Iterator[str]:
    """The pages of an entry of `nav`."""
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from in_navigation(below)


NAVIGATION = list(in_navigation(yaml.safe_load(read("mkdocs.yml"))["nav"]))


def purpose(text: str) -> str:
    """The first paragraph, where it is on the first screen and neither a heading, nor a table, a list or code."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(text.splitlines()[:FIRST_LINES]))
    first = next((paragraph for paragraph in paragraphs if not paragraph.startswith("# ")), "")
    return "" if re.match(r"#|\||[-*] |\d+\. |```|    ", first) else first


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(NAVIGATION) == sorted(set(NAVIGATION))
    assert {hooks.place(page) for page in PAGES} <= set(NAVIGATION)


@pytest.mark.parametrize("place", NAVIGATION)
def test_the_navigation_leads_to_what_is_there(place: str) -> None:
    assert (ROOT / hooks.origin(place)).is_file()
    assert hooks.place(hooks.origin(place)) == place


@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_the_first_screen_says_what_a_page_is_for(page: str) -> None:
    """In the first paragraph, before any table, list, code or further heading, in a whole sentence."""
    first = purpose(read(page))
    assert len(first.split()) >= MIN_WORDS, first
    assert re.search(r"[.:]( |\n|$)", first), first


def test_the_page_of_the_api_has_every_public_name() -> None:
    assert sorted(re.findall(r"^::: llmask\.(\w+)$", read("docs/api.md"), re.MULTILINE)) == sorted(llmask.__all__)


@pytest.mark.parametrize("name", re.findall(r"^::: llmask\.(\w+)\n +options", read("docs/api.md"), re.MULTILINE))
def test_the_page_of_the_api_names_members_that_are_there(name: str) -> None:
    found = re.search(rf"^::: llmask\.{name}\n +options:\n +members: \[([^]]*)\]", read("docs/api.md"), re.MULTILINE)
    assert found is not None
    members = re.findall(r"\w+", found[1])
    assert [member for member in members if member.startswith("_") or not hasattr(getattr(llmask, name), member)] == []


def test_llms_txt_has_every_page() -> None:
    targets = set(re.findall(r"\]\(([^)]+)\)", read("docs/llms.txt")))
    assert targets == {"../README.md", *(posixpath.relpath(page, "docs") for page in PAGES)}
    assert dead_links("docs/llms.txt") == []


def test_there_are_thirty_questions_and_each_leads_to_its_answer() -> None:
    questions = re.findall(r"^(\d+)\. \*.+\?\* (.+)$", read("docs/questions.md"), re.MULTILINE)
    assert [int(number) for number, _ in questions] == list(range(1, 31))
    assert all(re.search(r"\]\([\w/.#-]+\)\.?$", answer) for _, answer in questions)


@pytest.mark.parametrize(
    ("path", "link", "moved"),
    [
        ("docs/measured.md", "../bench/README.md#method", "repository/bench/README.md#method"),
        ("docs/measured/loop.md", "../../bench/recorded/a.svg", "../repository/bench/recorded/a.svg"),
        ("docs/budgets.md", "measured/budgets.md", "measured/budgets.md"),
        ("docs/integrations/vllm.md", "../limits.md", "../limits.md"),
        ("docs/integrations/vllm.md", "../../bench/README.md", "../repository/bench/README.md"),
        ("docs/measured.md", "../README.md#compared", "index.md#compared"),
        ("README.md", "docs/loops.md#in-one-call", "loops.md#in-one-call"),
        ("README.md", "bench/recorded/peers.svg", "repository/bench/recorded/peers.svg"),
        ("llmask/README.md", "kernels/README.md", "kernels/README.md"),
        ("bench/README.md", "../docs/measured.md", "../../measured.md"),
        ("bench/README.md", "../docs/measured/attacks.md", "../../measured/attacks.md"),
        ("SECURITY.md", "docs/measured/attacks.md", "../measured/attacks.md"),
    ],
)
def test_links_are_moved_to_where_the_site_has_their_files(path: str, link: str, moved: str) -> None:
    assert hooks.rewritten(f"see [`a[0]`]({link}), ![picture]({link})", path) == (
        f"see [`a[0]`]({moved}), ![picture]({moved})"
    )


@pytest.mark.parametrize(
    "text", ["[a](https://example.com/b.md)", "[a](#b)", "`[a](../b.md)`", "```\n[a](../b.md)\n```\n"]
)
def test_other_links_and_code_stay(text: str) -> None:
    assert hooks.rewritten(text, "docs/a.md") == text


@pytest.mark.parametrize("page", [*PAGES, "README.md", "bench/README.md"])
def test_headings_have_the_names_that_links_use(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    assert {hooks.anchor(heading, "-") for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)} == anchors(
        read(page)
    )


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for place in NAVIGATION:  # the page, and its Markdown for programs
        assert (site / place).is_file()
    targets = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert len(targets) > len(PAGES)
    assert [target for target in targets if not (site / target).is_file()] == []
    pages = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.html"))
    assert "fonts.googleapis.com" not in pages
    assert re.findall(r'<(?:script|img|iframe)[^>]* src="https?:[^"]*', pages) == []


def test_descriptions_are_not_taken_for_types() -> None:
    """Our docstrings say `name : what it is`, where NumPy's have the type."""
    if importlib.util.find_spec("griffe") is None:
        pytest.skip("griffe is not installed: pip install '.[docs]'")
    text = "Do.\n\nParameters\n----------\na : ids: it.\n    More.\nb, c : two.\n\n"
    text += "Returns\n-------\nA value.\n\nEnd : it.\n"
    assert loaded("docstrings").readable(text) == (
        "Do.\n\nParameters\n----------\na\n    ids: it.\n    More.\nb, c\n    two.\n\n"
        "**Returns:**\n\nA value.\n\nEnd : it.\n"
    )
