"""Input of the benchmarks: MaskBench's rows, the Llama-3 vocabulary as a list of bytes, instances as token ids.

Nothing here goes through llmask, so that a mistake in its vocabulary or encoder cannot flatter it: the GGUF file is
read with the `gguf` package (slow, hence cached), text is split by tiktoken with Llama 3's published pattern.
Everything derived lies in a folder for temporary files and is made again when its source changes.

In: the folder of shared data. Out: plain lists. Cost: about half a minute the first time, a second afterwards.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("LLMASK_SHARED", ROOT.parent / "shared"))
CACHE = Path(tempfile.gettempdir()) / "llmask-bench"

LLAMA3_VOCABULARY = SHARED / "data" / "vocab" / "llama-bpe.gguf"
LLAMA3_EOS = 128001  # <|end_of_text|>
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MASKBENCH = SHARED / "data" / "maskbench" / "maskbench.jsonl.gz"
SEPARATORS = {"flexible": (", ", ": "), "compact": (",", ":")}


class Vocabulary(NamedTuple):
    """What every engine gets: the bytes of each token, the special ids and the end of sequence."""

    tokens: list[bytes]
    special_ids: list[int]
    eos: int


class Instance(NamedTuple):
    """One document of a schema, as text and as token ids."""

    is_valid: bool
    data: Any
    token_ids: list[int]


class Row(NamedTuple):
    """One schema of MaskBench with its documents."""

    id: str
    schema: Any
    instances: list[Instance]


def _cached(name: str, sources: list[Path], make: Callable[[], Any]) -> Any:
    stamp = " ".join(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in [*sources, Path(__file__)])
    path = CACHE / f"{name}-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}.pickle"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(pickle.dumps(make(), protocol=5))
        partial.replace(path)
    return pickle.loads(path.read_bytes())


def byte_alphabet() -> dict[str, int]:
    """The printable characters that byte-level BPE writes for each byte (GPT-2's `bytes_to_unicode`, turned round)."""
    kept = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in kept]
    return {chr(byte): byte for byte in kept} | {chr(256 + place): byte for place, byte in enumerate(others)}


def _read_vocabulary() -> Vocabulary:
    from gguf import GGUFReader

    fields = GGUFReader(str(LLAMA3_VOCABULARY)).fields
    texts = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    alphabet = byte_alphabet()
    special_ids = [token for token, kind in enumerate(types) if kind in (3, 4)]
    tokens = [
        text.encode() if types[token] in (3, 4) else bytes(alphabet[character] for character in text)
        for token, text in enumerate(texts)
    ]
    return Vocabulary(tokens, special_ids, LLAMA3_EOS)


def llama3_vocabulary() -> Vocabulary:
    """Llama 3's tokens: the byte-level alphabet undone; types 3 and 4 of the file are special."""
    found: Vocabulary = _cached("llama3", [LLAMA3_VOCABULARY], _read_vocabulary)
    return found


def llama3_encode() -> Callable[[str], list[int]]:
    """Encoder of ordinary text as Llama 3 does it: token ids are merge ranks, whole pieces first."""
    import tiktoken

    vocabulary = llama3_vocabulary()
    special = set(vocabulary.special_ids)
    ranks = {data: token for token, data in enumerate(vocabulary.tokens) if token not in special}
    encoding = tiktoken.Encoding("llama3", pat_str=LLAMA3_PATTERN, mergeable_ranks=ranks, special_tokens={})
    return encoding.encode_ordinary


def instance_text(data: Any, whitespace: str = "flexible") -> str:
    """The document as MaskBench feeds it (`json.dumps`, characters unescaped), or without white space."""
    return json.dumps(data, ensure_ascii=False, separators=SEPARATORS[whitespace])


def _read_rows(whitespace: str) -> list[Row]:
    encode = llama3_encode()
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


def maskbench_rows(whitespace: str = "flexible") -> list[Row]:
    """All rows of the shared part of MaskBench, in the file's order."""
    found: list[Row] = _cached(
        f"maskbench-{whitespace}", [MASKBENCH, LLAMA3_VOCABULARY], lambda: _read_rows(whitespace)
    )
    return found
