"""The cases of JSON-Schema-Test-Suite: schemas with documents, by draft and group.

A schema without `$schema` is read as the draft of its folder. Where it is an object that draft's `$schema` is added at
the root (also beside `$ref`: the drafts that ignore what stands there still learn the dialect from it); `true` and
`false` mean the same in every draft that has them. Schemas of `no-schema.json` are about the default: 2020-12, so those
of this draft stay as they are. Everything in `remotes/` is found under http://localhost:1234/, and the meta-schemas
under their own names.

In: the suite's folder (with `draft7/` or `tests/draft7/` in it). Out: `Case`s, a registry. Cost: a second.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bench.vocabularies import SHARED

DIRECTORY = SHARED / "data" / "json-schema-test-suite"
DIALECTS = {
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
}
TYPES = {
    "string": "minLength maxLength pattern format content",
    "number": "multipleOf minimum maximum exclusiveMinimum exclusiveMaximum",
    "array": "items additionalItems prefixItems contains minContains maxContains minItems maxItems uniqueItems "
    "unevaluatedItems",
    "object": "properties patternProperties additionalProperties propertyNames required minProperties maxProperties "
    "dependencies dependentRequired dependentSchemas unevaluatedProperties",
}  # what the keywords constrain
TYPE_OF = {keyword: name for name, keywords in TYPES.items() for keyword in keywords.split()}
GROUPS = ("required", "optional", "format")
REMOTE = "http://localhost:1234/"


class Case(NamedTuple):
    """One schema of the suite with its documents.

    draft, group   keys of DIALECTS, one of GROUPS
    file, number   the file below the draft's folder, the place of the case in it
    asserted       "assert" or "annotate": what `format` has to do here
    tests          description, document, whether it is valid
    """

    draft: str
    group: str
    file: str
    number: int
    description: str
    schema: Any
    asserted: str
    tests: list[tuple[str, Any, bool]]

    @property
    def place(self) -> str:
        return f"{self.draft}/{self.file}#{self.number}"


def folder_of(directory: Path, draft: str) -> Path | None:
    """Where the files of a draft are, if they are there."""
    found = [path for path in (directory / draft, directory / "tests" / draft) if path.is_dir()]
    return found[0] if found else None


def _group(path: Path) -> str:
    if "optional" not in path.parts:
        return "required"
    return "format" if "format" in path.parts else "optional"


def _cases_of_file(folder: Path, path: Path, draft: str) -> Iterator[Case]:
    inner = path.relative_to(folder)
    group = _group(inner)
    is_asserted = group == "format" or path.stem == "format-assertion"
    for number, entry in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        schema = entry["schema"]
        is_about_default = path.stem == "no-schema" and draft == "draft2020-12"
        if isinstance(schema, dict) and "$schema" not in schema and not is_about_default:
            schema = {"$schema": DIALECTS[draft], **schema}
        tests = [(test["description"], test["data"], test["valid"]) for test in entry["tests"]]
        asserted = "assert" if is_asserted else "annotate"
        yield Case(draft, group, str(inner), number, entry["description"], schema, asserted, tests)


@cache
def cases(directory: Path, drafts: tuple[str, ...] = tuple(DIALECTS), groups: tuple[str, ...] = GROUPS) -> list[Case]:
    """All cases of the drafts that the folder has, in a fixed order."""
    found = []
    for draft in drafts:
        folder = folder_of(directory, draft)
        for path in sorted(folder.rglob("*.json")) if folder else ():
            found += [case for case in _cases_of_file(folder, path, draft) if case.group in groups]
    return found


@cache
def typed_cases(directory: Path, drafts: tuple[str, ...], groups: tuple[str, ...]) -> list[Case]:
    """Those about keywords of one type, with that `type` at the root and only its documents.

    Schemas of the suite rarely name a type, and some engines read keywords only beside one.
    """
    found = []
    for case in cases(directory, drafts, groups):
        name = "string" if case.group == "format" else TYPE_OF.get(Path(case.file).stem)
        if name is None or not isinstance(case.schema, dict) or "type" in case.schema:
            continue
        kind = {"string": str, "number": (int, float), "array": list, "object": dict}[name]
        tests = [test for test in case.tests if isinstance(test[1], kind) and not isinstance(test[1], bool)]
        if tests:
            found.append(case._replace(schema={**case.schema, "type": name}, tests=tests))
    return found


@cache
def registry(directory: Path, draft: str) -> Any:
    """A `referencing.Registry` of `remotes/` and the meta-schemas; what names no draft is of this one."""
    from jsonschema_specifications import REGISTRY
    from referencing import Resource
    from referencing.jsonschema import specification_with

    default = specification_with(DIALECTS[draft])
    folder = directory / "remotes"
    resources = []
    for path in sorted(folder.rglob("*.json")):
        if "draft3" not in path.parts:
            contents = json.loads(path.read_text(encoding="utf-8"))
            resource = Resource.from_contents(contents, default_specification=default)
            resources.append((REMOTE + path.relative_to(folder).as_posix(), resource))
    return REGISTRY.with_resources(resources)
