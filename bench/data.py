"""Input of the benchmarks: the rows of MaskBench and our own cases, as schemas with documents in token ids.

Where MaskBench's data are absent (bench.fetch makes them), the cases in `bench/cases` take their place, on the
tokenizer of the package.

In: names of a corpus, a vocabulary, a kind of white space. Out: `Row`s. Cost: half a minute the first time a vocabulary
is used on MaskBench, a second afterwards.
"""

from __future__ import annotations

import gzip
import json
import random
from typing import Any, NamedTuple

from bench.vocabularies import ROOT, SHARED, SOURCES, Vocabulary, cached, encoder, vocabulary

LLAMA3_VOCABULARY = SOURCES["llama3"].path
LLAMA3_EOS = SOURCES["llama3"].eos_ids[0]  # <|end_of_text|>
MASKBENCH = SHARED / "data" / "maskbench" / "maskbench.jsonl.gz"
CASES = ROOT / "bench" / "cases"
SEPARATORS = {"flexible": (", ", ": "), "compact": (",", ":")}
CORPORA = ("maskbench", "own")


class Instance(NamedTuple):
    """One document of a schema, as data and as token ids."""

    is_valid: bool
    data: Any
    token_ids: list[int]


class Row(NamedTuple):
    """One schema with its documents; `kind` says what `schema` is: "schema", "regex" or "choice" (a list of texts)."""

    id: str
    schema: Any
    instances: list[Instance]
    kind: str = "schema"


def llama3_vocabulary() -> Vocabulary:
    """Llama 3's tokens."""
    return vocabulary("llama3")


def instance_text(data: Any, whitespace: str = "flexible") -> str:
    """The document as MaskBench feeds it (`json.dumps`, characters unescaped), or without white space."""
    return json.dumps(data, ensure_ascii=False, separators=SEPARATORS[whitespace])


def maskbench_schemas() -> dict[str, Any]:
    """The schemas of MaskBench's part by name, without documents."""
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        return {entry["id"]: entry["schema"] for entry in map(json.loads, lines)}


def _read_rows(whitespace: str, vocabulary_name: str) -> list[Row]:
    encode = encoder(vocabulary_name)
    rows = []
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            instances = [
                Instance(test["valid"], test["data"], encode(instance_text(test["data"], whitespace)))
                for test in entry["tests"]
            ]
            rows.append(Row(entry["id"], entry["schema"], instances))
    return rows


def maskbench_rows(whitespace: str = "flexible", vocabulary_name: str = "llama3") -> list[Row]:
    """All rows of the shared part of MaskBench, in the file's order."""
    found: list[Row] = cached(
        f"maskbench-{vocabulary_name}-{whitespace}",
        [MASKBENCH, SOURCES[vocabulary_name].path],
        lambda: _read_rows(whitespace, vocabulary_name),
    )
    return found


def own_rows(whitespace: str = "flexible") -> list[Row]:
    """The cases in `bench/cases` with this white space; token ids are those of the package's tokenizer.

    Schemas are flexible where the case does not say; to patterns and choices white space means nothing.
    """
    rows = []
    for path in sorted(CASES.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["kind"] != "schema" or case.get("whitespace", "flexible") == whitespace:
            instances = []
            for document in case["documents"]:
                is_json = case["kind"] == "schema" and document["valid"]  # an invalid one need not be JSON
                data = json.loads(document["text"]) if is_json else document["text"]
                instances.append(Instance(document["valid"], data, document["tokens"]))
            rows.append(Row(path.stem, case["grammar"], instances, case["kind"]))
    return rows


def corpus_rows(corpus: str, whitespace: str, vocabulary_name: str) -> list[Row]:
    """The rows of one of `CORPORA`."""
    return own_rows(whitespace) if corpus == "own" else maskbench_rows(whitespace, vocabulary_name)


def chosen_numbers(rows: list[Row], match: str = "", limit: int | None = None, seed: int = 1) -> list[int]:
    """Numbers of the rows whose id contains `match`; at most `limit`, drawn with a seed, in the file's order."""
    numbers = [number for number, row in enumerate(rows) if match in row.id]
    if limit is not None and limit < len(numbers):
        numbers = sorted(random.Random(seed).sample(numbers, limit))
    return numbers
