"""Bulk generation on Dask: a compiled grammar is an argument like any other.

    python examples/bulk_dask.py

Grammars are pickled on their way. A pickle is self-contained: it holds the tokenizer once, and of the grammar its
source and options; where it arrives, grammars of the same tokenizer share their tables. On Ray it is the same with
`ray.remote(write).remote(grammar, seed)`. Needs: dask[distributed].

Prints:

    40 documents from 2 workers, all valid
"""

from __future__ import annotations

import llmask

SCHEMAS = [
    {"type": "object", "properties": {key: {"type": "integer", "minimum": 0}}, "required": [key]}
    for key in ("apples", "pears", "plums", "figs")
]


def write(grammar: llmask.CompiledGrammar, seed: int) -> str:
    """A document; a model would write it in earnest."""
    return grammar.sample(seed).decode()


def main() -> None:
    """Send grammars, and check what comes back."""
    from distributed import Client, LocalCluster

    compiler = llmask.Compiler(llmask.Tokenizer.default())
    grammars = [compiler.json_schema(schema) for schema in SCHEMAS]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        sent = client.scatter(grammars, broadcast=True)
        texts = client.gather([client.submit(write, grammar, seed) for grammar in sent for seed in range(10)])
    assert all(grammars[number // 10].accepts(text) for number, text in enumerate(texts))
    print(len(texts), "documents from 2 workers, all valid")


if __name__ == "__main__":
    main()
