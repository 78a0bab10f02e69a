"""The table of keywords (docs/json_schema.md) is the recorded measurement, and its words mean what they say."""

from __future__ import annotations

import json
from pathlib import Path

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


def test_a_type_is_named_beside_keywords_of_one_type(tmp_path: Path) -> None:
    folder = tmp_path / "draft7"
    folder.mkdir()
    tests = [{"description": "", "data": data, "valid": True} for data in (True, 4, 1.5, "a")]
    for file in ("maximum", "enum"):
        (folder / f"{file}.json").write_text(json.dumps([{"description": "", "schema": {file: 3}, "tests": tests}]))
    (case,) = typed_cases(tmp_path, ("draft7",), ("required",))
    assert (case.file, case.schema["type"], [data for _, data, _ in case.tests]) == ("maximum.json", "number", [4, 1.5])
