"""The page on errors says what the functions themselves say that they raise."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import llmask

ROW = re.compile(r"^\| `([\w.]+)` \| ((?:`\w+`(?:, )?)+) \|", re.MULTILINE)
EXCEPTION = re.compile(r"\b(?:\w+Error|LimitExceeded|TokenRejected|U\w+Schema)\b")
PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
KINDS, CALLS = PAGE.read_text(encoding="utf-8").split("## When a request arrives")
API = (PAGE.parent / "api.md").read_text(encoding="utf-8")
ROWS = [(name, re.findall(r"\w+", raised)) for name, raised in ROW.findall(CALLS)]


def called(name: str) -> Any:
    found: Any = llmask
    for part in name.split("."):
        found = getattr(found, part)
    return found


def is_an_error(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, (Exception, Warning))


@pytest.mark.parametrize(("name", "raised"), ROWS, ids=[name for name, _ in ROWS])
def test_each_call_raises_what_its_row_has(name: str, raised: list[str]) -> None:
    text = inspect.getdoc(called(name)) or ""
    section = re.search(r"^Raises\n-+\n(.*?)(?:\n\n\w|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section, f"{name} does not say what it raises"
    said = set(EXCEPTION.findall(re.sub(r"^ {4,}.*$", "", section[1], flags=re.MULTILINE)))
    assert said == set(raised)


def test_the_page_has_every_public_call_that_says_what_it_raises() -> None:
    """The names are those of docs/api.md, with the members that it has of a class."""
    found = re.findall(r"^::: llmask\.([\w.]+)(?:\n +options:\n +members: \[([^]]*)\])?", API, re.MULTILINE)
    public = {f"{name}.{member}" for name, members in found for member in re.findall(r"\w+", members)}
    public |= {name for name, _ in found if not is_an_error(called(name))}
    raising = {name for name in public if "\nRaises\n---" in (inspect.getdoc(called(name)) or "")}
    assert len(raising) > 50
    assert raising - {name for name, _ in ROWS} == set()


def test_the_exceptions_are_what_the_page_says() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \|", KINDS, re.MULTILINE)
    assert len(rows) == 7
    for name, base in rows:
        bases = getattr(llmask, name).__mro__
        assert base in [kind.__name__ for kind in bases]
        assert llmask.LlmaskError in bases
