"""Twin of the trie builder: dictionaries, written from the drawing in `llmask/trie/layout.py`.

In: a list of bytes. Out: plain lists. Cost: O(total bytes), in Python.
"""

from __future__ import annotations


def build_trie(tokens: list[bytes], include: list[bool] | None = None) -> dict[str, list]:
    """Fields of the trie, unpacked, keyed by the names of `TokenTrie`."""
    lowest: dict[bytes, int] = {}
    duplicates = []
    for token, data in enumerate(tokens):
        if not data or (include is not None and not include[token]):
            continue
        if data in lowest:
            duplicates.append([lowest[data], token])
        else:
            lowest[data] = token
    prefixes = {b""} | {data[:n] for data in lowest for n in range(len(data) + 1)}
    ordered = sorted(prefixes)
    return {
        "byte": [prefix[-1] if prefix else 0 for prefix in ordered],
        "depth": [len(prefix) for prefix in ordered],
        "token": [lowest.get(prefix, -1) for prefix in ordered],
        "subtree_end": [_end(ordered, i) for i in range(len(ordered))],
        "children": [[i for i, p in enumerate(ordered) if p and p[:-1] == prefix] for prefix in ordered],
        "duplicates": sorted(duplicates),
    }


def _end(ordered: list[bytes], node: int) -> int:
    return next((i for i in range(node + 1, len(ordered)) if not ordered[i].startswith(ordered[node])), len(ordered))
