"""What the model is asked: a prompt, the schema of the answer, and who knows whether it is right.

    tools             100 simple and 100 multiple of the Berkeley leaderboard (`pip install --no-deps
                      bfcl-eval==2026.3.23`, Apache-2.0), drawn with a seed: {"name": ..., "arguments": {...}}
    extractions       a sentence to an object (extractions.jsonl, our own)
    classifications   a text to one of some labels (classifications.jsonl, our own)

The leaderboard's types become JSON Schema's (`dict` is an object, `float` a number, `tuple` an array, `any` anything).
Objects with properties are closed, so that all engines are asked for the same, whatever they take for the default.

In: a seed. Out: `Item`s. Cost: milliseconds.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from bench.quality.answers import are_arguments, is_answer

HERE = Path(__file__).resolve().parent
PACKAGE = "bfcl_eval"
INSTALL = "pip install --no-deps bfcl-eval==2026.3.23"
TYPES = {"dict": "object", "float": "number", "tuple": "array"}
CATEGORIES = ("simple_python", "multiple")
KEPT = ("enum", "required")


class Item(NamedTuple):
    """One question.

    id         of its file
    kind       "tools", "extractions" or "classifications"
    system     the system message
    prompt     the user's
    schema     of the answer
    is_right   of a value that is valid
    """

    id: str
    kind: str
    system: str
    prompt: str
    schema: dict[str, Any]
    is_right: Callable[[Any], bool]


def as_json_schema(described: dict[str, Any]) -> dict[str, Any]:
    """A type of the leaderboard as a JSON schema."""
    kind = described.get("type", "any")
    schema: dict[str, Any] = {} if kind == "any" else {"type": TYPES.get(kind, kind)}
    schema |= {word: described[word] for word in KEPT if word in described}
    if "properties" in described:
        schema["properties"] = {name: as_json_schema(one) for name, one in described["properties"].items()}
        schema["additionalProperties"] = False
    if "items" in described:
        schema["items"] = as_json_schema(described["items"])
    return schema


def call_schema(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The schema of a call of one function."""
    return closed({"name": {"const": name}, "arguments": arguments})


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of these properties, all required."""
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def leaderboard_item(row: dict[str, Any], answer: dict[str, Any]) -> Item:
    """A row of the leaderboard's files, with its answer."""
    functions = [{**function, "parameters": as_json_schema(function["parameters"])} for function in row["function"]]
    schemas = [call_schema(function["name"], function["parameters"]) for function in functions]
    shown = "\n".join(
        json.dumps({**function, "parameters": original["parameters"]}, ensure_ascii=False)
        for function, original in zip(functions, row["function"], strict=True)
    )
    [(name, possible)] = answer["ground_truth"][0].items()
    return Item(
        row["id"],
        "tools",
        f"You call a function to answer the user. The functions are:\n{shown}\n"
        "Answer with one JSON object and nothing else: "
        '{"name": "the function", "arguments": {"an argument": "a value"}}',
        row["question"][0][-1]["content"],
        schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
        lambda value: value["name"] == name and are_arguments(value["arguments"], possible),
    )


def leaderboard_items(seed: int, n_each: int) -> Iterator[Item]:
    """Some of each category, drawn with a seed.

    Raises
    ------
    SystemExit : the package is not installed.
    """
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"the tool calls are those of bfcl-eval, which is not installed: {INSTALL}")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    for category in CATEGORIES:
        rows = lines_of(folder / f"BFCL_v4_{category}.json")
        answers = {row["id"]: row for row in lines_of(folder / "possible_answer" / f"BFCL_v4_{category}.json")}
        for row in random.Random(seed).sample(rows, min(n_each, len(rows))):
            yield leaderboard_item(row, answers[row["id"]])


def extraction_items() -> Iterator[Item]:
    """Sentences to objects."""
    for row in lines_of(HERE / "extractions.jsonl"):
        fields = ", ".join(row["schema"]["properties"])
        yield Item(
            row["id"],
            "extractions",
            f"You read facts from a text. Answer with one JSON object with these fields: {fields}.",
            row["text"],
            row["schema"],
            lambda value, row=row: is_answer(value, row["answer"], row.get("also", {})),
        )


def classification_items() -> Iterator[Item]:
    """Texts to labels."""
    for row in lines_of(HERE / "classifications.jsonl"):
        yield Item(
            row["id"],
            "classifications",
            f'{row["question"]} Answer with one JSON object: {{"label": one of {", ".join(row["labels"])}}}.',
            row["text"],
            closed({"label": {"enum": row["labels"]}}),
            lambda value, row=row: value == {"label": row["answer"]},
        )


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def spread(items: list[Item], n: int) -> list[Item]:
    """`n` of them, evenly from the beginning to the end: neighbours are alike."""
    return [items[i * len(items) // n] for i in range(min(n, len(items)))]


def all_items(seed: int, limit: int | None = None) -> list[Item]:
    """All items, or at most `limit` of each kind."""
    if limit is None:
        return [*leaderboard_items(seed, 100), *extraction_items(), *classification_items()]
    tools = [*leaderboard_items(seed, -(-limit // 2))][:limit]
    return tools + spread([*extraction_items()], limit) + spread([*classification_items()], limit)
