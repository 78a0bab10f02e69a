"""The vocabularies that engines are measured on: bytes of every token, and an encoder that is none of theirs.

Nothing here goes through llmask, so that a mistake in its vocabulary or encoder cannot flatter it: GGUF files are read
with the `gguf` package (slow, hence cached) and text is split by tiktoken with the pattern that the model's authors
published. Control tokens (type 3 of the file) are special; user-defined ones (type 4) are text, as in llama.cpp.

    llama3    128,256 tokens   shared data, or bench.fetch
    qwen2     151,936 tokens   shared data
    default    32,768 tokens   the tokenizer in the package

In: a name. Out: `Vocabulary`, an encoder. Cost: about half a minute the first time, a second afterwards.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FETCHED = ROOT / "bench" / "fetched"  # what bench.fetch writes


def shared_folder(named: str | None, beside: Path) -> Path:
    """Where the data are: what LLMASK_SHARED names, a folder beside the checkout, or what bench.fetch wrote."""
    if named:
        return Path(named)
    return beside if (beside / "data").is_dir() else FETCHED


SHARED = shared_folder(os.environ.get("LLMASK_SHARED"), ROOT.parent / "shared")
CACHE = Path(tempfile.gettempdir()) / "llmask-bench"
CONTROL, USER_DEFINED = 3, 4  # types of a token in a GGUF file

_START = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
_END = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


class Source(NamedTuple):
    """Where a vocabulary comes from.

    path      GGUF file
    pattern   how the model's encoder splits text into words
    eos_ids   every id that ends a sequence; engines that take only one get the first
    """

    path: Path
    pattern: str
    eos_ids: tuple[int, ...]


LLAMA3_PATTERN = _START + r"\p{N}{1,3}" + _END
SOURCES = {
    "llama3": Source(SHARED / "data" / "vocab" / "llama-bpe.gguf", LLAMA3_PATTERN, (128001, 128009)),
    "qwen2": Source(SHARED / "data" / "vocab" / "qwen2.gguf", _START + r"\p{N}" + _END, (151643, 151645)),
    "default": Source(ROOT / "llmask" / "defaults" / "tokenizer.gguf", LLAMA3_PATTERN, (32767,)),
}


class Vocabulary(NamedTuple):
    """What every engine gets: the bytes of each token, the special ids and the ids that end a sequence."""

    tokens: list[bytes]
    special_ids: list[int]
    eos_ids: tuple[int, ...]

    @property
    def eos(self) -> int:
        """For engines that take only one."""
        return self.eos_ids[0]


def cached(name: str, sources: list[Path], make: Callable[[], Any]) -> Any:
    """What `make` returns, kept in a folder for temporary files and made again when a source or this file changes."""
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


def read_vocabulary(source: Source) -> Vocabulary:
    """The tokens of a GGUF file."""
    from gguf import GGUFReader

    fields = GGUFReader(str(source.path)).fields
    texts = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    alphabet = byte_alphabet()
    tokens = [
        text.encode() if types[token] in (CONTROL, USER_DEFINED) else bytes(alphabet[character] for character in text)
        for token, text in enumerate(texts)
    ]
    special_ids = [token for token, kind in enumerate(types) if kind == CONTROL]
    return Vocabulary(tokens, special_ids, source.eos_ids)


def vocabulary(name: str = "llama3") -> Vocabulary:
    """The tokens of one of `SOURCES`."""
    source = SOURCES[name]
    found: Vocabulary = cached(name, [source.path], lambda: read_vocabulary(source))
    return found


def encoder(name: str = "llama3") -> Callable[[str], list[int]]:
    """Encoder of ordinary text: token ids are merge ranks, whole pieces first."""
    import tiktoken

    found = vocabulary(name)
    # User-defined tokens follow after all merged ones and control tokens; no text reaches their ranks.
    special = set(found.special_ids)
    ranks = {data: token for token, data in enumerate(found.tokens) if token not in special}
    encoding = tiktoken.Encoding(name, pat_str=SOURCES[name].pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.encode_ordinary
