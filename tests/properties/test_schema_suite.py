"""The official test suite, as far as it speaks of references and documents, judged before any grammar is made.

Every instance is validated by `tests/reference/schema_validator.py`, which follows references as the package does; a
reference to the wrong place, or with the wrong dynamic scope, shows as a wrong verdict.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7, DRAFT201909, DRAFT202012

from tests.reference.schema_validator import SchemaValidator

DRAFTS = {
    "draft4": ("http://json-schema.org/draft-04/schema#", DRAFT4),
    "draft6": ("http://json-schema.org/draft-06/schema#", DRAFT6),
    "draft7": ("http://json-schema.org/draft-07/schema#", DRAFT7),
    "draft2019-09": ("https://json-schema.org/draft/2019-09/schema", DRAFT201909),
    "draft2020-12": ("https://json-schema.org/draft/2020-12/schema", DRAFT202012),
}
FILES = (
    "ref", "refRemote", "anchor", "id", "defs", "definitions", "dynamicRef", "recursiveRef", "unknownKeyword",
    "infinite-loop-detection", "optional/anchor", "optional/id", "optional/cross-draft", "optional/dynamicRef",
    "optional/refOfUnknownKeyword", "optional/unknownKeyword", "unevaluatedItems", "unevaluatedProperties",
    "vocabulary",
)  # fmt: skip


@pytest.fixture(scope="module")
def suite(shared_dir: Path) -> Path:
    folder = shared_dir / "data" / "json-schema-test-suite"
    if not folder.is_dir():
        pytest.skip(f"no test suite at {folder}")
    return folder


@pytest.fixture(scope="module")
def remotes(suite: Path) -> Any:
    """The documents of the suite under the addresses that its schemas use."""
    found = []
    for path in (suite / "remotes").rglob("*.json"):
        inner = path.relative_to(suite / "remotes")
        contents = json.loads(path.read_text(encoding="utf-8"))
        draft = DRAFTS.get(inner.parts[0])
        resource = draft[1].create_resource(contents) if draft else Resource.opaque(contents)
        found.append((f"http://localhost:1234/{inner.as_posix()}", resource))
    return Registry().with_resources(found)


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_reference_leads_where_the_suite_says(draft: str, suite: Path, remotes: Any) -> None:
    if not (suite / draft).is_dir():
        pytest.skip(f"no tests of {draft} at {suite}")
    n_tests, wrong = 0, []
    for path in (suite / draft / f"{name}.json" for name in FILES):
        if not path.exists():
            continue  # not every draft has every file
        for case in json.loads(path.read_text(encoding="utf-8")):
            schema = case["schema"]
            if type(schema) is dict:
                schema = {"$schema": DRAFTS[draft][0], **schema}
            validator = SchemaValidator(schema, remotes)
            for test in case["tests"]:
                n_tests += 1
                if validator.is_valid(test["data"]) is not test["valid"]:
                    wrong.append((path.name, case["description"], test["description"]))
    assert not wrong
    assert n_tests > 50
