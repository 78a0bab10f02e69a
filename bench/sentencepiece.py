"""SentencePiece vocabularies: our encoders beside the sentencepiece library and llama.cpp.

    python -m bench.sentencepiece model.gguf ... [--text FILE ...] [--megabytes 1] [--rounds 7]

For each GGUF file with an SPM or UGM vocabulary: seconds from the file to the first ids (kernels loaded), megabytes a
second on one long text and on its lines, and seconds for long texts without a place to cut. The library runs the same
vocabulary, written as a model file on the spot. All take turns in one process, on one thread; the best round counts, in
processor time. Without --text the project's own sources are the text. A program that is not installed is left out.

In: files. Out: a table, with how often the ids differ. Cost: a minute a file.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.sentencepiece_files import model_of
from llmask.tokenizer.tokenizer import Tokenizer

Encode = Callable[[str], list[int]]
WORST = {"ab": "ab" * 500_000, "blanks": " " * 1_000_000, "one emoji": "😀" * 250_000, "日": "日" * 333_333}


def encoders(path: Path, tok: Tokenizer) -> dict[str, Encode]:
    """Text to ids, by program."""
    found: dict[str, Encode] = {"llmask": tok.encode}
    try:
        import sentencepiece

        model = sentencepiece.SentencePieceProcessor(model_proto=model_of(tok._parts.vocabulary))
        found["sentencepiece"] = model.encode
    except ImportError:
        print("sentencepiece is not installed")
    try:
        import llama_cpp

        llama = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
        found["llama.cpp"] = lambda text: llama.tokenize(text.encode(), add_bos=False, special=False)
    except ImportError:
        print("llama-cpp-python is not installed")
    return found


def best_seconds(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Processor seconds of the best of some rounds, in which all take turns; without collecting garbage, as timeit."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            gc.collect()
            gc.disable()
            started = time.thread_time()
            call()
            best[name] = min(best[name], time.thread_time() - started)
            gc.enable()
    return best


def share_of_differing(ours: list[int], theirs: list[int]) -> float:
    """Share of tokens by which two lists differ in length, or 1 token when only their values do."""
    if ours == theirs:
        return 0.0
    same = sum(left == right for left, right in zip(ours, theirs, strict=False))
    return 1 - same / max(len(ours), len(theirs))


def row(label: str, numbers: dict[str, float], unit: str, is_rate: bool) -> None:
    """One line of the table; the last column is ours over the best of the others."""
    others = [number for name, number in numbers.items() if name != "llmask"]
    ratio = ""
    if others:
        ours = numbers["llmask"]
        ratio = f"{ours / max(others) if is_rate else min(others) / ours:6.2f} x"
    columns = "".join(f"{name} {number:8.3f} {unit}   " for name, number in numbers.items())
    print(f"  {label:18} {columns}{ratio}", flush=True)


def measure(path: Path, text: str, rounds: int) -> None:
    Tokenizer.from_gguf(path).encode("a")  # loads the kernels, or compiles them on the first start
    started = time.process_time()
    tok = Tokenizer.from_gguf(path)
    tok.encode("a")
    ready = time.process_time() - started
    print(f"{path.name}: {tok}, ready in {ready:.2f} s")
    if tok.encoder_name not in ("spm", "ugm"):
        raise SystemExit(f"{path} has a vocabulary of another kind: {tok.encoder_name}")
    programs = encoders(path, tok)
    n_megabytes = len(text.encode()) / 1e6
    expected = tok.encode(text)
    for name, encode in programs.items():
        share = share_of_differing(expected, encode(text))
        if share:
            print(f"  {name}: ids of the text differ in {share:.4%} of places")
    seconds = best_seconds({name: lambda e=encode: e(text) for name, encode in programs.items()}, rounds)
    row("one text", {name: n_megabytes / number for name, number in seconds.items()}, "MB/s", is_rate=True)
    lines = text.splitlines(keepends=True)
    seconds = best_seconds(
        {name: lambda e=encode: [e(line) for line in lines] for name, encode in programs.items()}, rounds
    )
    row("its lines", {name: n_megabytes / number for name, number in seconds.items()}, "MB/s", is_rate=True)
    for label, worst in WORST.items():
        quick = {name: encode for name, encode in programs.items() if name != "llama.cpp" or label != "one emoji"}
        seconds = best_seconds({name: lambda e=encode, w=worst: e(w) for name, encode in quick.items()}, min(rounds, 3))
        row(label, seconds, "s", is_rate=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--text", nargs="+", type=Path, help="files whose text is encoded")
    parser.add_argument("--megabytes", type=float, default=1.0)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    sources = options.text or [
        root / "README.md",
        *sorted(root.glob("llmask/**/*.py")),
        *sorted(root.glob("tests/**/*.py")),
    ]
    text = "".join(path.read_text("utf-8") for path in sources)
    text = text.encode()[: round(options.megabytes * 1e6)].decode("utf-8", "ignore")
    for path in options.files:
        measure(path, text, options.rounds)


if __name__ == "__main__":
    main()
