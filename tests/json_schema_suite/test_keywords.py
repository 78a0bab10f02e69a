"""The table of keywords (docs/json_schema.md) is the recorded measurement, and its words mean what they say."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.long import keywords, suite
from tests.long.cases import Case, typed_cases

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "bench" / "recorded" / "suite"


def test_the_table_of_the_documentation_is_what_was_recorded() -> None:
    assert keywords.table(RECORDED) in (ROOT / "docs" / "json_schema.md").read_text(encoding="utf-8")


def test_a_file_is_counted_by_what_became_of_its_tests() -> None:
    case = Case(
        "draft7", "required", "enum.json", 0, "", {}, "annotate", [("", 1, True), ("", 2, False), ("", 3, True)]
    )
    refused = {"verdicts": [suite.REFUSED, suite.RIGHT, suite.REFUSED], "refusal": "GrammarError: no"}
    answered = {"verdicts": [suite.ORDER, suite.FALSE, suite.REJECTED]}
    failed = {"verdicts": [suite.FAILED] * 3, "failure": "timeout"}
    assert suite.by_file([(case, refused), (case, answered), (case, failed)]) == {
        "draft7/enum.json": {
            "tests": 9, "invalid": 3, "refused": 3, "right": 1, "caught": 0, "permissive": 1, "strict": 1, "failed": 3,
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("count", "text"),
    [
        ({}, "not asked"),
        ({"tests": 5, "right": 5, "caught": 2}, "yes"),
        ({"tests": 5, "refused": 5}, "refused"),
        ({"tests": 5, "right": 3, "permissive": 2}, "ignored: 2 invalid accepted"),
        ({"tests": 9, "right": 5, "caught": 2, "permissive": 1, "refused": 3}, "5 of 9, 1 too permissive, 3 refused"),
        ({"tests": 4, "right": 2, "caught": 1, "strict": 1, "failed": 1}, "2 of 4, 1 over 10 s, 1 too strict"),
    ],
)
def test_counts_become_words(count: dict[str, int], text: str) -> None:
    assert keywords.words(Counter(count)) == text


def test_a_cell_says_when_an_engine_does_more_beside_a_type() -> None:
    ignored = Counter({"tests": 2, "right": 1, "permissive": 1})
    right = Counter({"tests": 2, "right": 2, "caught": 1})
    assert keywords.cell(ignored, right) == "yes beside `type`, else ignored: 1 invalid accepted"
    assert keywords.cell(right, ignored) == "yes"
    assert keywords.cell(ignored, ignored) == "ignored: 1 invalid accepted"
    assert keywords.cell(ignored, Counter()) == "ignored: 1 invalid accepted"


def test_a_folder_counts_its_own_files_only() -> None:
    counts = {"draft7/a.json": {"tests": 1}, "draft7/b.json": {"tests": 2}, "draft7/optional/c.json": {"tests": 4}}
    assert keywords.counted(counts, "draft7/") == Counter({"tests": 3})
    assert keywords.counted(counts, "draft7/optional/") == Counter({"tests": 4})


def test_a_type_is_named_beside_keywords_of_one_type(tmp_path: Path) -> None:
    folder = tmp_path / "draft7"
    folder.mkdir()
    tests = [{"description": "", "data": data, "valid": True} for data in (True, 4, 1.5, "a")]
    for file in ("maximum", "enum"):
        (folder / f"{file}.json").write_text(json.dumps([{"description": "", "schema": {file: 3}, "tests": tests}]))
    (case,) = typed_cases(tmp_path, ("draft7",), ("required",))
    assert (case.file, case.schema["type"], [data for _, data, _ in case.tests]) == ("maximum.json", "number", [4, 1.5])
