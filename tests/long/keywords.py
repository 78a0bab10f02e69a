"""The table of keywords in docs/json_schema.md: `python -m tests.long keywords RESULTS`.

JSON-Schema-Test-Suite has a file for every keyword, so the files' counts (`suite.by_file`), in the order of the
vocabularies of 2020-12, say keyword by keyword what an engine does. A document counts whatever the order of its keys
and whichever of its spellings is accepted: that is policy and not the keyword's. Schemas of the suite rarely name a
`type`; an engine that does better beside one (`suite --typed`) is told with both.

What llama.cpp says of itself comes from grammars/README.md of ggml-org/llama.cpp at commit 363a490: its list of known
limitations, and what its examples show. It is not measured.

In: `files-ENGINE.json` and `files-ENGINE-typed.json`. Out: a table in Markdown. Cost: none.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

ENGINES = ("llmask", "llguidance", "xgrammar", "outlines-core")
HEADINGS = ("keyword", "llmask", "llguidance 1.9.1", "XGrammar 0.2.8", "outlines-core 0.2.14", "llama.cpp (documented)")
NEW, OLD = "draft2020-12", "draft7"
SHOWN, NO, SILENT = "in its examples", "no", "-"
# A vocabulary's rows: keywords, files of the suite (a folder for all in it), what llama.cpp's documentation says.
VOCABULARIES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "core": (
        ("`$ref`", f"{NEW}/ref.json", "not nested"),
        ("`$ref` to other documents", f"{NEW}/refRemote.json", "not in C++"),
        ("`$ref` in circles", f"{NEW}/infinite-loop-detection.json", SILENT),
        ("`$defs`", f"{NEW}/defs.json", SHOWN),
        ("`$anchor`", f"{NEW}/anchor.json", NO),
        ("`$dynamicRef`, `$dynamicAnchor`", f"{NEW}/dynamicRef.json", SILENT),
        ("`$vocabulary`", f"{NEW}/vocabulary.json", SILENT),
        ("`true`, `false`", f"{NEW}/boolean_schema.json", SILENT),
    ),
    "applicator": (
        ("`allOf`", f"{NEW}/allOf.json", SILENT),
        ("`anyOf`", f"{NEW}/anyOf.json", "not beside `properties`"),
        ("`oneOf`", f"{NEW}/oneOf.json", "not beside `properties`"),
        ("`not`", f"{NEW}/not.json", NO),
        ("`if`, `then`, `else`", f"{NEW}/if-then-else.json", NO),
        ("`dependentSchemas`", f"{NEW}/dependentSchemas.json", NO),
        ("`prefixItems`", f"{NEW}/prefixItems.json", "broken"),
        ("`items`", f"{NEW}/items.json", SHOWN),
        ("`contains`", f"{NEW}/contains.json", NO),
        ("`properties`", f"{NEW}/properties.json", SHOWN),
        ("`patternProperties`", f"{NEW}/patternProperties.json", NO),
        ("`additionalProperties`", f"{NEW}/additionalProperties.json", "`false` by default"),
        ("`propertyNames`", f"{NEW}/propertyNames.json", SILENT),
    ),
    "unevaluated": (
        ("`unevaluatedItems`", f"{NEW}/unevaluatedItems.json", SILENT),
        ("`unevaluatedProperties`", f"{NEW}/unevaluatedProperties.json", SILENT),
    ),
    "validation": (
        ("`type`", f"{NEW}/type.json", SHOWN),
        ("`enum`", f"{NEW}/enum.json", SILENT),
        ("`const`", f"{NEW}/const.json", SILENT),
        ("`multipleOf`", f"{NEW}/multipleOf.json", SILENT),
        ("`maximum`", f"{NEW}/maximum.json", "integers"),
        ("`exclusiveMaximum`", f"{NEW}/exclusiveMaximum.json", "integers"),
        ("`minimum`", f"{NEW}/minimum.json", "integers"),
        ("`exclusiveMinimum`", f"{NEW}/exclusiveMinimum.json", "integers"),
        ("`maxLength`", f"{NEW}/maxLength.json", SHOWN),
        ("`minLength`", f"{NEW}/minLength.json", SHOWN),
        ("`pattern`", f"{NEW}/pattern.json", "only from `^` to `$`"),
        ("`maxItems`", f"{NEW}/maxItems.json", SHOWN),
        ("`minItems`", f"{NEW}/minItems.json", SHOWN),
        ("`uniqueItems`", f"{NEW}/uniqueItems.json", NO),
        ("`maxContains`", f"{NEW}/maxContains.json", SILENT),
        ("`minContains`", f"{NEW}/minContains.json", NO),
        ("`maxProperties`", f"{NEW}/maxProperties.json", SILENT),
        ("`minProperties`", f"{NEW}/minProperties.json", SILENT),
        ("`required`", f"{NEW}/required.json", SHOWN),
        ("`dependentRequired`", f"{NEW}/dependentRequired.json", SILENT),
    ),
    "format": (
        ("`format`, asserted", f"{NEW}/optional/format/", "not `uri`, `email`"),
        ("`format`, an annotation", f"{NEW}/format.json", SILENT),
    ),
    "content": (
        ("`contentEncoding`, `contentMediaType`, `contentSchema`: annotations", f"{NEW}/content.json", SILENT),
    ),
    "meta-data": (
        ("`title`, `default`, `examples`: annotations (one test is of `maximum`)", f"{NEW}/default.json", SILENT),
    ),
    "of draft 7": (
        ("`definitions`", f"{OLD}/definitions.json", SILENT),
        ("`dependencies`", f"{OLD}/dependencies.json", SILENT),
        ("`items` as a list", f"{OLD}/items.json", SILENT),
        ("`additionalItems`", f"{OLD}/additionalItems.json", SILENT),
    ),
    "required tests": (
        ("all of 2020-12", f"{NEW}/", ""),
        ("all of draft 7", f"{OLD}/", ""),
    ),
}  # fmt: skip

Counts = dict[str, dict[str, int]]


def counted(counts: Counts, place: str) -> Counter[str]:
    """The counts of a file, or of all files right in a folder."""
    folder = place.endswith("/")
    found: Counter[str] = Counter()
    for file, count in counts.items():
        if file == place or (folder and file.startswith(place) and "/" not in file[len(place) :]):
            found.update(count)
    return found


def words(count: Counter[str]) -> str:
    """What became of the counted tests."""
    n_tests, n_right = count["tests"], count["right"]
    if not n_tests:
        return "not asked"
    if n_right == n_tests:
        return "yes"
    if count["refused"] == n_tests:
        return "refused"
    if is_ignored(count):
        return f"ignored: {count['permissive']} invalid accepted" + _rest(count, ("refused", "failed", "strict"))
    return f"{n_right} of {n_tests}" + _rest(count, ("permissive", "refused", "failed", "strict"))


def is_ignored(count: Counter[str]) -> bool:
    """Whether every invalid document was accepted that an answer came for."""
    return bool(count["permissive"]) and not count["caught"]


def _rest(count: Counter[str], kinds: tuple[str, ...]) -> str:
    names = {"permissive": "too permissive", "strict": "too strict", "failed": "over 10 s"}
    return "".join(f", {count[kind]} {names.get(kind, kind)}" for kind in kinds if count[kind])


def cell(plain: Counter[str], typed: Counter[str]) -> str:
    """The words of a row; those for schemas with a type as well, where the engine does more there."""
    text, with_type = words(plain), words(typed)
    if not typed or text == "yes" or with_type == "refused" or is_ignored(typed):
        return text
    if with_type == "yes" or is_ignored(plain) or text == "refused":
        return f"{with_type} beside `type`, else {text}"
    return text


def load(folder: Path, name: str) -> Counts:
    """The counts of an engine, none when it was not asked."""
    path = folder / f"files-{name}.json"
    found: Counts = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def table(folder: Path) -> str:
    """All rows, in Markdown."""
    measured = {name: (load(folder, name), load(folder, f"{name}-typed")) for name in ENGINES}
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for vocabulary, rows in VOCABULARIES.items():
        lines.append(f"| **{vocabulary}** |" + " |" * (len(HEADINGS) - 1))
        for label, place, documented in rows:
            cells = [cell(counted(plain, place), counted(typed, place)) for plain, typed in measured.values()]
            if vocabulary == "required tests":
                cells = [words(counted(plain, place)) for plain, _ in measured.values()]
            lines.append("| " + " | ".join([label, *cells, documented]) + " |")
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"), help="folder of files-ENGINE.json")


def main(options: Any) -> int:
    """Print the table."""
    print(table(options.results))
    return 0
