"""Corrupt vocabulary files: every one must end in a VocabularyError or in a tokenizer that works.

    python -m bench.corrupt --count 10000 model.gguf tokenizer.json m.model o200k_base.tiktoken

Each file is damaged `--count` times (flipped and copied bytes, truncation, huge counts, foreign types; in JSON also
values replaced by others), loaded and used. `bench.vocabulary_files` makes all forms of a GGUF file. The table says how
many were refused and how many still worked, the longest time with its case, and by how much memory grew; anything else
stops the run with the seed of the case.

In: files of vocabularies. Out: a table. Cost: as loading them `--count` times.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import llmask
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer

TEXT = "Hello, wörld!  日本語 ﬁ ﷺ\t😀 <tool> 123 </s> ▁"
NUMBERS = (0, 1, 0x7F, 0xFF, 2**31 - 1, 2**31, 2**32 - 1, 2**60, 2**63, 2**64 - 1)
JSON_VALUE = re.compile(rb'"(?:[^"\\\\]|\\\\.)*"|-?\d[\d.e+-]*|true|false|null|\[\]|\{\}')
JSON_VALUES = (
    b"null", b"true", b"false", b"0", b"-1", b"3", b"1e400", b"NaN", b"1.5", b"1152921504606846976", b"-9" * 30,
    b'""', b'"a"', b'" "', b'"\\ud800"', b'"\\u0000"', b"[]", b"[[]]", b"[1]", b"{}", b'{"type": "Sequence"}',
    b'{"type": "ByteLevel"}', b'{"type": "NFKC"}', b'{"type": "Metaspace"}', b'"Regex"', b'"("', b'"(a*)*b"',
)  # fmt: skip
MAX_SECONDS = 1.0
MAX_BYTES = 500_000_000


def mutate(rng: random.Random, block: bytes) -> bytes:
    """A block with one to four damages; half of the blocks keep their length, so that values are damaged, not forms."""
    data = bytearray(block)
    n_kinds = rng.choice((4, 7))
    for _ in range(rng.randrange(1, 5)):
        if not data:
            break
        # most of a file is token texts: half of the damages go to its first thousand bytes
        place = rng.randrange(min(len(data), rng.choice((1000, len(data)))))
        kind = rng.randrange(n_kinds)
        if kind == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[place : place + 4] = rng.choice(NUMBERS).to_bytes(8, "little")[: len(data[place : place + 4])]
        elif kind == 2:
            data[place : place + 8] = rng.choice(NUMBERS).to_bytes(8, "little")[: len(data[place : place + 8])]
        elif kind == 3:
            data[place : place + 4] = rng.randbytes(len(data[place : place + 4]))
        elif kind == 4:
            del data[place:]
        elif kind == 5:
            del data[place : place + rng.randrange(1, 40)]
        else:
            source = rng.randrange(len(data))
            data[place : place + 16] = data[source : source + rng.randrange(1, 64)]
    return bytes(data)


def mutate_values(rng: random.Random, block: bytes) -> bytes:
    """JSON with one to four values, or names, replaced; half of them among the first thousand bytes."""
    for _ in range(rng.randrange(1, 5)):
        found = JSON_VALUE.search(block, rng.randrange(min(len(block), rng.choice((1000, len(block))))))
        if found is not None:
            block = block[: found.start()] + rng.choice(JSON_VALUES) + block[found.end() :]
    return block


def load(path: Path, eos: int | None = None) -> Tokenizer:
    """The tokenizer of a file, by its ending; with an end of sequence where the file names none."""
    if path.suffix == ".gguf":
        return Tokenizer.from_gguf(path, eos)
    if path.suffix == ".json":
        return Tokenizer.from_huggingface(path, eos)
    if path.suffix == ".tiktoken":
        return Tokenizer.from_tiktoken(path, eos)
    return Tokenizer.from_sentencepiece(path, eos)


def use(tok: Tokenizer) -> None:
    """Everything that reads the vocabulary: the trie of masks, encoding, decoding."""
    assert tok._parts.trie.n_nodes > 0
    for parse_special in (False, True):
        ids = tok.encode(TEXT, parse_special=parse_special)
        assert all(0 <= token < tok.vocab_size for token in ids)
        tok.decode(ids)


def try_mutations(path: Path, count: int, seed: int, eos: int | None = None) -> Iterator[tuple[bool, float]]:
    """Whether each damaged file still works, and the processor seconds it took.

    Raises
    ------
    AssertionError : neither a refusal nor a result; names the case.
    """
    block = path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / path.name
        for number in range(count):
            name = f"{seed} {number}"
            rng = random.Random(name)
            is_by_value = path.suffix == ".json" and rng.random() < 0.7
            target.write_bytes((mutate_values if is_by_value else mutate)(rng, block))
            started = time.process_time()
            try:
                use(load(target, eos))
                works = True
            except VocabularyError:
                works = False
            except Exception as error:
                raise AssertionError(f"{path.name}, case {name!r}: {type(error).__name__}: {error}") from error
            yield works, time.process_time() - started


def peak_bytes() -> int:
    """The most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=10_000, help="damaged copies of each file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--eos", type=int, help="end of sequence of files that name none")
    options = parser.parse_args()
    llmask.warm()  # a damaged file may turn into one of another kind
    before = peak_bytes()
    print(f"{'file':30} {'refused':>8} {'worked':>8} {'longest':>9} {'case':>8} {'memory':>9}")
    for path in options.files:
        use(load(path, options.eos))
        results = [*try_mutations(path, options.count, options.seed, options.eos)]
        n_works = sum(works for works, _ in results)
        longest, case = max((seconds, number) for number, (_, seconds) in enumerate(results))
        memory = peak_bytes() - before
        print(
            f"{path.name:30} {len(results) - n_works:8} {n_works:8} {longest * 1000:6.0f} ms {case:8} "
            f"{memory / 1e6:6.0f} MB",
            flush=True,
        )
        if longest > MAX_SECONDS or memory > MAX_BYTES:
            raise SystemExit(f"more than {MAX_SECONDS} s or {MAX_BYTES} bytes")


if __name__ == "__main__":
    main()
