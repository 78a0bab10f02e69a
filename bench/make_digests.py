"""Write the expected digests of masks: `python -m bench.make_digests`.

Every case of `bench/cases` gets the token ids of its documents and a digest for each position, by the package's
tokenizer; a sample of MaskBench gets digests at some positions, in the vocabularies of `SAMPLES`. All masks come from
the twin. A case is written by hand as

    {"about": ..., "kind": "schema" | "regex" | "choice", "grammar": ..., "documents": [{"valid": ..., "text": ...}]}

and is completed here. A document that is not valid has digests until the place where its token is refused.

In: command line. Out: files in `bench/cases`. Cost: a minute; MaskBench's sample needs the shared data.
"""

from __future__ import annotations

import argparse
import json
import random
from typing import Any

from bench.data import CASES, maskbench_rows
from bench.expected import sample_file
from bench.masks import chosen_positions, digest
from bench.twin import TokenOrder, TooLarge, TwinMasks
from bench.vocabularies import encoder, vocabulary
from llmask.errors import LlmaskError

SAMPLES = (("llama3", "flexible", 120), ("llama3", "compact", 40), ("qwen2", "flexible", 40), ("qwen2", "compact", 20))
MAX_DOCUMENTS, MAX_POSITIONS = 3, 10  # of one schema, of one document
SEED = 11


def masks_of(twin: TwinMasks, token_ids: list[int], wanted: set[int]) -> dict[int, str]:
    """Digests at the wanted positions, as far as the document is taken."""
    found: dict[int, str] = {}
    place, tokens = twin.start, twin.trie.vocabulary.tokens
    for number in range(len(token_ids) + 1):
        if number in wanted:
            found[number] = digest(twin.words(place), len(tokens))
        if number < len(token_ids):
            place = twin.after(place, tokens[token_ids[number]])
            if twin.is_dead(place):
                break
    return found


def complete_cases() -> None:
    """Fill in token ids and digests of our own cases."""
    order, encode = TokenOrder(vocabulary("default")), encoder("default")
    for path in sorted(CASES.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        twin = TwinMasks(case["grammar"], case["kind"], case.get("whitespace", "flexible"), order)
        for document in case["documents"]:
            document["tokens"] = encode(document["text"])
            masks = masks_of(twin, document["tokens"], set(range(len(document["tokens"]) + 1)))
            document["masks"] = list(masks.values())
        path.write_text(as_text(case), encoding="utf-8")


def as_text(case: dict[str, Any]) -> str:
    """JSON with a line for each part of the case and each part of a document."""
    lines = []
    for key, value in case.items():
        if key != "documents":
            lines.append(f"{_text(key)}: {_text(value)}")
    documents = []
    for document in case["documents"]:
        parts = ",\n   ".join(f"{_text(key)}: {_text(value)}" for key, value in document.items())
        documents.append(f"  {{{parts}}}")
    lines.append('"documents": [\n' + ",\n".join(documents) + "\n ]")
    return "{" + ",\n ".join(lines) + "}\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def make_sample(vocabulary_name: str, whitespace: str, n_schemas: int) -> None:
    """Digests of some schemas of MaskBench, drawn with a seed; the sample of a file that is there is kept."""
    order = TokenOrder(vocabulary(vocabulary_name))
    rows = [row for row in maskbench_rows(whitespace, vocabulary_name) if row.instances]
    random.Random(SEED).shuffle(rows)
    path = sample_file(vocabulary_name, whitespace)
    if path.exists():
        drawn = json.loads(path.read_text(encoding="utf-8"))["schemas"]
        rows = [row for row in rows if row.id in drawn]
    schemas: dict[str, list[str]] = {}
    too_large: list[str] = []
    for row in rows:
        if len(schemas) == n_schemas:
            break
        try:
            twin = TwinMasks(row.schema, row.kind, whitespace, order)
            documents = [
                masks_of(twin, instance.token_ids, set(chosen_positions(len(instance.token_ids), MAX_POSITIONS)))
                for instance in row.instances[:MAX_DOCUMENTS]
            ]
        except LlmaskError:
            continue
        except TooLarge:
            too_large.append(row.id)
            continue
        schemas[row.id] = [_text({str(place): text for place, text in masks.items()}) for masks in documents]
    entries = [f"{_text(name)}: [\n   " + ",\n   ".join(texts) + "]" for name, texts in sorted(schemas.items())]
    path.parent.mkdir(exist_ok=True)
    left_out = f'{{"left out, too large for the twin": {_text(too_large)},\n'
    path.write_text(left_out + '"schemas": {\n ' + ",\n ".join(entries) + "}}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("own", "maskbench"), help="only our own cases, or only MaskBench's sample")
    options = parser.parse_args()
    if options.only != "maskbench":
        complete_cases()
    if options.only != "own":
        for sample in SAMPLES:
            make_sample(*sample)


if __name__ == "__main__":
    main()
