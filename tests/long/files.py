"""Damaged model files: every one is refused with a VocabularyError or makes a tokenizer that works.

All forms of the vocabularies at hand are damaged: GGUF, tokenizer.json, `.model` and `.tiktoken` files of the tokenizer
in the package, and of some in the shared data. Bytes are flipped and copied, files are cut, counts are huge, types are
foreign; in JSON values are replaced by others, too.

In: damaged files. Out: counts, the slowest, growth of memory. Cost: as loading them, 5 to 500 ms.
"""

from __future__ import annotations

import random
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.vocabularies import ROOT, SHARED
from bench.vocabulary_files import write_all
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from tests.long.harness import Tally

OWN = ROOT / "llmask" / "defaults" / "tokenizer.gguf"
MODELS = ("llama-spm", "gpt-2", "bert-bge", "llama-bpe")
EOS = 102  # of files that name none
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


def run(tally: Tally) -> None:
    """Damage `tally.size` files."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [OWN, *write_all(OWN, Path(folder))]
        for name in MODELS:
            path = SHARED / "data" / "vocab" / f"{name}.gguf"
            if path.exists() and tally.size >= 10 * len(paths):
                paths += [path, *write_all(path, Path(folder))]
        paths = [path for path in paths if _is_whole(path)]
        before = peak_bytes()
        for number, rng in enumerate(tally.cases()):
            path = paths[number % len(paths)]
            tally.done += 1
            try:
                ((works, seconds),) = try_mutations(path, 1, rng.randrange(2**32), EOS)
            except AssertionError as error:
                tally.fault("neither refused nor working", error)
                continue
            tally.sums[f"{path.name}: {'works' if works else 'refused'}"] += 1
            tally.most("ms", 1000 * seconds, path.name)
            tally.sums[f"more than {MAX_SECONDS:g} s"] += seconds > MAX_SECONDS
        grown = peak_bytes() - before
        tally.most("memory grew by MB", grown / 1e6, "")
        if grown > MAX_BYTES:
            tally.fault("memory", f"grew by {grown:,} bytes")


def _is_whole(path: Path) -> bool:
    """Whether the undamaged file makes a tokenizer: not every form can hold every vocabulary."""
    try:
        use(load(path, EOS))
    except VocabularyError:
        return False
    return True
