"""Bulk generation with multiprocessing: every worker makes its tokenizer once, and gets each grammar as its
source and some 200 bytes.

    python examples/bulk_processes.py

`grammar.save()` is the source of a grammar, its options and a digest of the tokenizer; `compiler.load` compiles it
again in the worker, or finds it in its cache. Pickles of grammars and matchers work, too: they bring the tokenizer.

Prints:

    sent: fewer than 500 bytes a grammar
    40 documents from 2 processes, all valid
"""

from __future__ import annotations

import json
import multiprocessing

import llmask

SCHEMAS = [
    {"type": "object", "properties": {key: {"type": "integer", "minimum": 0}}, "required": [key]}
    for key in ("apples", "pears", "plums", "figs")
]
compilers: list[llmask.Compiler] = []  # one in each worker


def begin() -> None:
    """Runs once in every worker."""
    compilers.append(llmask.Compiler(llmask.Tokenizer.default()))


def write(task: tuple[bytes, int]) -> str:
    """A document of a saved grammar; a model would write it in earnest."""
    saved, seed = task
    return compilers[0].load(saved).sample(seed).decode()


def main() -> None:
    """Send grammars, and check what comes back."""
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    grammars = [compiler.json_schema(schema) for schema in SCHEMAS]
    saved = [grammar.save() for grammar in grammars]
    assert max(map(len, saved)) < 500
    print("sent: fewer than 500 bytes a grammar")
    tasks = [(data, seed) for data in saved for seed in range(10)]
    with multiprocessing.get_context("spawn").Pool(2, begin) as pool:
        texts = pool.map(write, tasks, chunksize=5)
    for number, text in enumerate(texts):
        assert grammars[number // 10].accepts(text)
        assert isinstance(json.loads(text), dict)
    print(len(texts), "documents from 2 processes, all valid")


if __name__ == "__main__":
    main()
