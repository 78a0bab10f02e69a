"""The data of the figures, from a checkout of MaskBench: `python -m bench.fetch PATH`.

MaskBench is the folder `maskbench/` of https://github.com/guidance-ai/jsonschemabench: a file for each schema, some
11,000 of them, in `maskbench/data/`. **The figures count 40 % of them, drawn by name**: those whose file name has a
SHA-256 that is below 40 modulo 100, in the order of the names. 4,435 schemas were so, with 14,206 documents; where
upstream has changed, this says that the data are not those of the recorded figures.

Llama 3's vocabulary is not in MaskBench. `--vocabulary` takes any file of it: `models/ggml-vocab-llama-bpe.gguf` of a
checkout of llama.cpp, the GGUF file of a model, or a tokenizer.json. Without it MaskBench is measured on the tokenizer
of the package.

The benchmark finds what is written to the default folder by itself, where neither `LLMASK_SHARED` nor a folder of
shared data beside the checkout says otherwise.

In: a checkout. Out: data/maskbench/maskbench.jsonl.gz and data/vocab/llama-bpe.gguf in a folder. Cost: ten seconds.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.vocabularies import FETCHED, SHARED, SOURCES, Vocabulary, read_vocabulary
from llmask import Tokenizer
from llmask.errors import LlmaskError, VocabularyError

UPSTREAM = "https://github.com/guidance-ai/jsonschemabench"
DATA = Path("maskbench", "data")  # in a checkout
MASKBENCH_FILE = Path("data", "maskbench", "maskbench.jsonl.gz")
VOCABULARY_FILE = Path("data", "vocab", "llama-bpe.gguf")
PERCENT = 40
# of the recorded figures: schemas, and `digest_of` them; `vocabulary_digest` of Llama 3's tokens
N_SCHEMAS = 4_435
SCHEMAS_DIGEST = "2d53a57e5902108e22ae039018f7d5fcb49bfc903520815a58bc54f3efc3c94a"
VOCABULARY_DIGEST = "c90a788501bc4e2aa263a18a6cfa4318cbe58561b20604c167695e95ee0245c3"


def is_counted(name: str) -> bool:
    """Whether the figures count the schema of a file, by its name."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 100 < PERCENT


def read_checkout(checkout: Path) -> Iterator[dict[str, Any]]:
    """The schemas that are counted, with their documents, in the order of their files.

    Raises
    ------
    LlmaskError : the folder is no checkout, or a file is none of MaskBench's.
    """
    folder = checkout / DATA
    if not folder.is_dir():
        raise LlmaskError(
            f"{checkout} is no checkout of guidance-ai/jsonschemabench",
            where=f"{folder} is not there",
            help=f"git clone {UPSTREAM}, and give its folder",
        )
    for path in sorted(folder.glob("*.json"), key=lambda path: path.name):
        if is_counted(path.name):
            yield _read_file(path)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        entry = json.loads(path.read_bytes())
        return {
            "id": path.stem,
            "schema": entry["schema"],
            "tests": [{"valid": bool(test["valid"]), "data": test["data"]} for test in entry["tests"]],
            "features": entry.get("meta", {}).get("features", []),
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LlmaskError(
            f"not a schema of MaskBench ({type(error).__name__}: {error})",
            where=str(path),
            help="is the checkout complete? git status tells",
        ) from None


def digest_of(rows: list[dict[str, Any]]) -> str:
    """A digest of schemas and documents, which has to be that of the figures."""
    found = hashlib.sha256()
    for row in rows:
        found.update(json.dumps([row["id"], row["schema"], row["tests"]]).encode() + b"\n")
    return found.hexdigest()


def vocabulary_digest(vocabulary: Vocabulary) -> str:
    """A digest of token bytes and special ids."""
    found = hashlib.sha256()
    for token in vocabulary.tokens:
        found.update(len(token).to_bytes(4, "little") + token)
    found.update(repr(vocabulary.special_ids).encode())
    return found.hexdigest()


def write_rows(rows: list[dict[str, Any]], path: Path) -> None:
    """One JSON line a schema; the same rows give the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def write_vocabulary(source: Path, path: Path) -> None:
    """Llama 3's vocabulary without weights.

    Raises
    ------
    VocabularyError : the file has another vocabulary.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    try:
        Tokenizer.load(source).save_gguf(partial)
        if vocabulary_digest(read_vocabulary(SOURCES["llama3"]._replace(path=partial))) != VOCABULARY_DIGEST:
            raise VocabularyError(
                f"{source} has another vocabulary than that of Llama 3",
                help="give a file of Llama 3, for example models/ggml-vocab-llama-bpe.gguf of llama.cpp",
            )
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def fetch(checkout: Path, vocabulary: Path | None, folder: Path) -> str:
    """Write the data, and say what they are."""
    rows = list(read_checkout(checkout))
    if not rows:
        raise LlmaskError("no schema of the checkout is counted", where=str(checkout / DATA), help="is it complete?")
    if vocabulary is not None:
        write_vocabulary(vocabulary, folder / VOCABULARY_FILE)
    write_rows(rows, folder / MASKBENCH_FILE)
    lines = [f"{folder / MASKBENCH_FILE}: {len(rows):,} schemas, {sum(len(row['tests']) for row in rows):,} documents"]
    if digest_of(rows) == SCHEMAS_DIGEST:
        lines.append("They are those of the recorded figures.")
    else:
        lines.append(f"They are not those of the recorded figures ({N_SCHEMAS:,} schemas): upstream has changed since.")
    if not (folder / VOCABULARY_FILE).exists():
        lines.append(
            "Llama 3's vocabulary is not there: give a file of it with --vocabulary, as the figures are of it."
        )
    if folder.resolve() != SHARED.resolve():
        lines.append(f"The benchmark reads {SHARED}: LLMASK_SHARED={folder} has it read these data.")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", metavar="PATH", type=Path, help=f"a checkout of {UPSTREAM}")
    parser.add_argument("--vocabulary", metavar="FILE", type=Path, help="a file of Llama 3's tokenizer")
    parser.add_argument("--output", metavar="FOLDER", type=Path, default=FETCHED, help=f"default: {FETCHED}")
    options = parser.parse_args()
    try:
        print(fetch(options.checkout, options.vocabulary, options.output))
    except (LlmaskError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
