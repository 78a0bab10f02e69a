"""JSON-Schema-Test-Suite: no false acceptance, and at least as many right verdicts as before."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.long import suite
from tests.long.cases import cases, folder_of, registry

# (group, draft): right verdicts of all; raise them when the engine does better
LEAST_RIGHT = {
    ("required", "draft2020-12"): (1299, 1299),
    ("required", "draft7"): (927, 927),
    ("optional", "draft2020-12"): (161, 162),
    ("optional", "draft7"): (113, 118),
    ("format", "draft2020-12"): (737, 764),
    ("format", "draft7"): (649, 676),
}
# Optional in draft 7, and an annotation in all later ones: what a string encodes.
NOT_ASSERTED = {"draft7/optional/content.json#0", "draft7/optional/content.json#1", "draft7/optional/content.json#2"}


@pytest.fixture(scope="module")
def directory(shared_dir: Path) -> Path:
    found = shared_dir / "data" / "json-schema-test-suite"
    if not found.is_dir():
        pytest.skip(f"no shared data at {found}")
    return found


@pytest.mark.parametrize("draft", ["draft2020-12", "draft7"])
def test_the_suite_finds_no_false_acceptance_and_no_fewer_right_verdicts(directory: Path, draft: str) -> None:
    handler = suite.make_handler("llmask", directory, (draft,), ("required", "optional", "format"))
    all_cases = cases(directory, (draft,), ("required", "optional", "format"))
    results = [(case, handler(number)) for number, case in enumerate(all_cases)]
    wrong = [entry for entry in suite.failures(results) if entry["verdict"] == suite.FALSE]
    assert {entry["place"] for entry in wrong} <= NOT_ASSERTED, json.dumps(wrong, indent=1)
    found = {key: (verdicts[suite.RIGHT], sum(verdicts.values())) for key, verdicts in suite.counts(results).items()}
    for key, (n_right, n_tests) in found.items():
        assert n_tests == LEAST_RIGHT[key][1], "the suite itself has changed"
        assert n_right >= LEAST_RIGHT[key][0], f"{key}: {n_right} right, before {LEAST_RIGHT[key][0]}"


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A suite of a few cases whose verdicts are known."""
    contents = {
        "tests/draft4/type.json": [
            {"description": "a number", "schema": {"const": 1, "maximum": 3}, "tests": [
                {"description": "const is younger", "data": 2, "valid": True},
                {"description": "too large", "data": 4, "valid": False},
                {"description": "wrongly called invalid", "data": 3, "valid": False},
                {"description": "wrongly called valid", "data": 5, "valid": True},
            ]},
        ],
        "tests/draft2020-12/optional/format/date.json": [
            {"description": "nothing at all", "schema": False, "tests": [
                {"description": "anything", "data": "\u00e9", "valid": False},
            ]},
            {"description": "date", "schema": {"format": "date"}, "tests": [
                {"description": "asserted", "data": "2024-13-01", "valid": False},
            ]},
            {"description": "a broken schema", "schema": {"minimum": "1"}, "tests": [
                {"description": "is refused", "data": 1, "valid": True},
                {"description": "which is right for what is invalid", "data": 0, "valid": False},
            ]},
        ],
        "remotes/draft4/name.json": {"type": "string"},
        "remotes/nested/any.json": True,
    }  # fmt: skip
    for name, content in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return tmp_path


def test_cases_are_read_as_the_draft_of_their_folder(tiny: Path) -> None:
    found = {case.place: case for case in cases(tiny)}
    case = found["draft4/type.json#0"]
    assert case.schema == {"$schema": "http://json-schema.org/draft-04/schema#", "const": 1, "maximum": 3}
    assert (case.group, case.asserted) == ("required", "annotate")
    boolean = found["draft2020-12/optional/format/date.json#0"]
    assert (boolean.schema, boolean.group, boolean.asserted) == (False, "format", "assert")
    assert folder_of(tiny, "draft7") is None


def test_remote_documents_have_the_draft_of_the_case(tiny: Path) -> None:
    found = registry(tiny, "draft4")
    resolved = found.resolver().lookup("http://localhost:1234/draft4/name.json")
    assert resolved.contents == {"type": "string"}
    assert found.resolver().lookup("http://localhost:1234/nested/any.json").contents is True
    assert "properties" in found.resolver().lookup("http://json-schema.org/draft-07/schema#").contents


@pytest.mark.long
def test_every_verdict_is_counted_where_it_belongs(tiny: Path) -> None:
    results = suite.run("llmask", tiny, ("draft4", "draft2020-12"))
    assert suite.counts(results) == {
        ("required", "draft4"): Counter({suite.RIGHT: 2, suite.FALSE: 1, suite.REJECTED: 1}),
        ("format", "draft2020-12"): Counter({suite.RIGHT: 3, suite.REFUSED: 1}),
    }
    text = suite.report("llmask", results)
    assert "draft4/type.json#0 a number: wrongly called invalid: 3" in text
    assert "GrammarError" in text
