"""Damaged model files: every one is refused with a VocabularyError or makes a tokenizer that works.

The damages are those of `bench.corrupt`, on all forms of the vocabularies at hand: GGUF, tokenizer.json, `.model` and
`.tiktoken` files of the tokenizer in the package, and of some in the shared data.

In: damaged files. Out: counts, the slowest, growth of memory. Cost: as loading them, 5 to 500 ms.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.attack.harness import Tally
from bench.corrupt import MAX_BYTES, MAX_SECONDS, load, peak_bytes, try_mutations, use
from bench.vocabularies import ROOT, SHARED
from bench.vocabulary_files import write_all
from llmask.errors import VocabularyError

OWN = ROOT / "llmask" / "defaults" / "tokenizer.gguf"
MODELS = ("llama-spm", "gpt-2", "bert-bge", "llama-bpe")
EOS = 102  # of files that name none


def run(tally: Tally) -> None:
    """Damage so many files."""
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
