"""All items by all writers, and tables with standard errors: `python -m bench.quality --out results.jsonl`.

In: command line. Out: a line a document in the file, tables. Cost: one to two hours on one core; `--limit 5` minutes.
`--part 1/2` and `--part 2/2` in two processes halve that; `--table` reads what both wrote.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np

import llmask
from bench.quality.items import Item, all_items
from bench.quality.reading import Reading, model_path
from bench.quality.writers import WRITERS, Refused, Writer, writer
from bench.tables import markdown, progress
from llmask.samplers.numpy_llama import NumpyLlama

MAX_TOKENS = 128
CHAT = "<|im_start|>system\n{}<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
KINDS = ("tools", "extractions", "classifications")


def encoded(tokenizer: llmask.Tokenizer, item: Item) -> list[int]:
    """The prompt of an item, in the model's chat template."""
    return tokenizer.encode(CHAT.format(item.system, item.prompt), parse_special=True)


def write(reading: Reading, by: Writer, item: Item, eos: frozenset[int]) -> tuple[list[int], bool]:
    """The tokens of one document without its end, and whether it ended."""
    tokens: list[int] = []
    by.begin(item.schema, MAX_TOKENS)
    while len(tokens) < MAX_TOKENS:
        allowed = by.allowed()
        logits = reading.logits(tokens)
        if allowed is not None:
            logits = np.where(allowed[: len(logits)], logits, -np.inf)
        token = int(logits.argmax())
        if token in eos:
            return tokens, True
        by.accept(token)
        tokens.append(token)
    return tokens, False


def value_in(text: str, is_document: bool) -> Any:
    """The value of a document, or the first JSON object in a text that nothing constrained.

    Raises
    ------
    ValueError : there is none.
    """
    if is_document:
        return json.loads(text)
    begin = text.find("{")
    if begin < 0:
        raise ValueError("no object")
    return json.JSONDecoder().raw_decode(text, begin)[0]


def verdict(item: Item, text: str, has_ended: bool, is_document: bool) -> tuple[bool, bool]:
    """Whether a text is valid, and whether it is right."""
    try:
        value = value_in(text, is_document and has_ended)
        jsonschema.Draft202012Validator(item.schema, format_checker=jsonschema.FormatChecker()).validate(value)
    except (ValueError, jsonschema.ValidationError):
        return False, False
    is_valid = has_ended or not is_document
    return is_valid, is_valid and item.is_right(value)


def measured(
    items: Iterable[Item],
    writers: list[Writer],
    reading: Reading,
    tokenizer: llmask.Tokenizer,
    report: Callable[[str], None],
) -> Iterable[dict[str, Any]]:
    """A row for each item and writer."""
    eos = frozenset(tokenizer.eos_ids)
    for n, item in enumerate(items):
        report(f"{n} items, {reading.n_read} tokens read")
        reading.begin(encoded(tokenizer, item))
        for by in writers:
            row: dict[str, Any] = {"id": item.id, "kind": item.kind, "writer": by.name}
            try:
                tokens, has_ended = write(reading, by, item, eos)
            except Refused as error:
                yield row | {"refused": str(error)[:200]}
                continue
            text = tokenizer.decode(tokens)
            is_valid, is_right = verdict(item, text, has_ended, by.is_masked)
            yield row | {"valid": is_valid, "right": is_right, "ended": has_ended, "tokens": len(tokens), "text": text}


def with_error(shares: list[float]) -> str:
    """The mean of numbers as a percentage, and its standard error."""
    n = len(shares)
    mean = sum(shares) / n
    variance = sum((share - mean) ** 2 for share in shares) / max(n - 1, 1)
    return f"{100 * mean:.1f} ± {100 * math.sqrt(variance / n):.1f}"


def table(rows: list[dict[str, Any]], kind: str) -> str:
    """How each writer did in one kind of items."""
    by_writer: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["kind"] == kind:
            by_writer.setdefault(row["writer"], {})[row["id"]] = row
    base = by_writer.get("llmask", {})
    lines = []
    for name, of_items in by_writer.items():
        found = [*of_items.values()]
        written = [row for row in found if "refused" not in row]
        shares = {word: [float(row.get(word, False)) for row in found] for word in ("valid", "right", "ended")}
        wrong = [float(row.get("valid", False) and not row["right"]) for row in found]
        pairs = [(row.get("right", False), base[item].get("right", False)) for item, row in of_items.items() if base]
        lines.append(
            [
                name,
                len(found) - len(written),
                with_error(shares["valid"]),
                with_error(shares["right"]),
                with_error(wrong),
                with_error([1 - share for share in shares["ended"]]),
                f"{sum(row['tokens'] for row in written) / max(len(written), 1):.1f}",
                "-" if not pairs or name == "llmask" else with_error([float(one) - float(two) for one, two in pairs]),
            ]
        )
    headings = ("refused", "valid, %", "right, %", "valid, wrong, %", "not ended, %", "tokens", "right less llmask's")
    return markdown((f"{kind}, {max(map(len, by_writer.values()), default=0)}", *headings), lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="quality.jsonl", help="file of the documents, a line each")
    parser.add_argument("--writers", default=";".join(WRITERS), help=f"some of {'; '.join(WRITERS)}, with ; between")
    parser.add_argument("--limit", type=int, help="so many items of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS), help="some of them, with a comma between")
    parser.add_argument("--part", default="1/1", help="2/3: every third item, from the second on")
    parser.add_argument("--seed", type=int, default=1, help="of the draw of tool calls")
    parser.add_argument("--table", nargs="+", metavar="FILE", help="no run: the tables of these files")
    options = parser.parse_args()
    if options.table:
        lines = [line for name in options.table for line in Path(name).read_text(encoding="utf-8").splitlines()]
        rows = [json.loads(line) for line in lines]
    else:
        part, n_parts = map(int, options.part.split("/"))
        items = [item for item in all_items(options.seed, options.limit) if item.kind in options.kinds.split(",")]
        path = model_path()
        tokenizer = llmask.Tokenizer.from_gguf(path)
        writers = [writer(name.strip(), tokenizer) for name in options.writers.split(";")]
        rows = []
        with open(options.out, "w", encoding="utf-8") as out:
            for row in measured(items[part - 1 :: n_parts], writers, Reading(NumpyLlama(path)), tokenizer, progress):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
                rows.append(row)
    for kind in dict.fromkeys(row["kind"] for row in rows):
        sys.stdout.write(table(rows, kind) + "\n\n")


if __name__ == "__main__":
    main()
