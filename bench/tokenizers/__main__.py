"""How fast encoders are: `python -m bench.tokenizers [--output FOLDER]`.

One thread, all encoders in one process, in turn, the least processor time of `--repeat`; "same" says whether the ids
are the exact ones. Then the worst cases (texts without a place to split) by growing size, growing texts, intervals, two
threads, and what longest match changes. With `--output` the figures go to `tokenizers.json`, the worst cases to a plot.

In: command line. Out: tables. Cost: a minute.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # tokenizers: one thread
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from bench.data import LLAMA3_VOCABULARY
from bench.tokenizers import peers, texts
from llmask import AppendableEncoder, IntervalCounter, Tokenizer

Figures = dict[str, Any]
SIZES = (125_000, 250_000, 500_000, 1_000_000)
TOO_SLOW = 20.0  # seconds: a larger text is not tried


def least(function: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Least seconds of some runs, and the result. Processor time, so that other programs do not count."""
    seconds, result = float("inf"), None
    for _ in range(repeat):
        result = None  # freeing the last one is not counted
        started = time.process_time()
        result = function()
        seconds = min(seconds, time.process_time() - started)
    return seconds, result


def compare(tok: Tokenizer, others: dict[str, Callable[[str], list[int]]], n_bytes: int, repeat: int) -> Figures:
    """Throughput of all encoders on mixed text."""
    text = texts.mixed(n_bytes)
    size = len(text.encode())
    runs: dict[str, Callable[[], Any]] = {"exact": lambda: tok.encode(text), "count": lambda: tok.count(text)}
    for method in ("table", "heap", "greedy", "minimal", "dropout"):
        runs[method] = lambda method=method: tok.encode(text, method=method)  # type: ignore[misc]
    runs.update((name, lambda encode=encode: encode(text)) for name, encode in others.items())
    seconds: dict[str, float] = dict.fromkeys(runs, float("inf"))
    results: dict[str, Any] = {}
    for turn in range(repeat):
        for name, run in runs.items():
            if turn < 2 or seconds[name] < 1:
                least_of_one, results[name] = least(run, 1)
                seconds[name] = min(seconds[name], least_of_one)
    print(
        f"\nmixed text, {size / 1e6:.1f} MB, {tok!r}\n{'encoder':<12}{'MB/s':>9}{'M tokens/s':>12}{'tokens':>10}  same"
    )
    figures: Figures = {"bytes": size}
    for name, result in results.items():
        n_tokens = result if name == "count" else len(result)
        same = result == results["exact"] if name != "count" else n_tokens == len(results["exact"])
        figures[name] = {"seconds": seconds[name], "tokens": n_tokens, "same": same}
        print(f"{name:<12}{size / seconds[name] / 1e6:9.1f}{n_tokens / seconds[name] / 1e6:12.1f}{n_tokens:10}  {same}")
    for name in others:
        print(f"exact is {seconds[name] / seconds['exact']:.1f} times as fast as {name}")
    figures["greedy differs"] = differing_share(results["exact"], results["greedy"], tok)
    print(f"longest match: {figures['greedy differs']:.2%} of the exact tokens are missing, "
          f"{1 - len(results['greedy']) / len(results['exact']):.2%} fewer tokens")  # fmt: skip
    return figures


def differing_share(exact: list[int], other: list[int], tok: Tokenizer) -> float:
    """Share of the exact tokens that are not in the other encoding, at the same place."""
    return len(spans(exact, tok) - spans(other, tok)) / max(len(exact), 1)


def spans(ids: list[int], tok: Tokenizer) -> set[tuple[int, int]]:
    """Where each token begins, and which it is."""
    offsets = tok._parts.token_offsets.tolist()
    found, place = set(), 0
    for token in ids:
        found.add((place, token))
        place += offsets[token + 1] - offsets[token]
    return found


def worst_cases(tok: Tokenizer, others: dict[str, Callable[[str], list[int]]]) -> Figures:
    """Milliseconds on texts without a place to split, by size."""
    figures: Figures = {}
    print(f"\nworst cases, ms at {', '.join(f'{size // 1000} KB' for size in SIZES)}")
    for kind, make in texts.WORST.items():
        for name, encode in {"exact": tok.encode, **others}.items():
            row: list[float | None] = []
            for size in SIZES:
                if row and (row[-1] is None or row[-1] > TOO_SLOW / 4):
                    row.append(None)
                    continue
                text = make(size)
                try:
                    row.append(least(lambda: encode(text), 2)[0])  # noqa: B023
                except BaseException as error:
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    row.append(None)
            figures[f"{kind}: {name}"] = row
            shown = "".join(f"{'fails' if s is None else f'{s * 1e3:.1f}':>10}" for s in row)
            print(f"{kind:<16}{name:<12}{shown}")
    return figures


def growing(tok: Tokenizer, repeat: int) -> Figures:
    """Counting after every byte, pushing, and intervals."""
    text = texts.mixed(300_000)
    data = text.encode()
    once = least(lambda: tok.encode(text), repeat)[0]
    every = least(lambda: AppendableEncoder(tok).push_counts(data), repeat)[0]

    def push() -> int:
        growing_text = AppendableEncoder(tok)
        for i in range(50_000):
            growing_text.push(data[i : i + 1])
            growing_text.count()
        return growing_text.count()

    pushed = least(push, 2)[0] / 50_000
    counter, rng = IntervalCounter(tok, text), random.Random(1)
    pairs = [sorted((rng.randrange(len(text)), rng.randrange(len(text)))) for _ in range(20_000)]

    def count_all() -> None:
        for start, end in pairs:
            counter.count(start, end)

    interval = least(count_all, 3)[0] / len(pairs)
    figures = {"once": once, "count after every byte": every, "push and count": pushed, "interval": interval}
    print(f"\nencoding at once {once / len(data) * 1e9:.0f} ns a byte, a count after every byte "
          f"{every / len(data) * 1e9:.0f} ns ({every / once:.1f} times), push and count {pushed * 1e6:.2f} us"
          f"\ninterval of {len(data) // 1000} KB: {interval * 1e6:.2f} us")  # fmt: skip
    return figures


def two_threads(tok: Tokenizer, repeat: int) -> Figures:
    """A batch by one thread and by two, in turn.

    Counting the same texts is the same compiled code without the lists, which one thread at a time makes.
    """
    batch = [texts.mixed(30_000)] * 60

    def count_half(_: int) -> None:
        for text in batch[::2]:
            tok.count(text)

    def encoding(threads: int) -> None:
        tok.encode_batch(batch, threads=threads)

    def counting(threads: int) -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(count_half, range(2)))

    jobs = {"encode_batch": encoding, "count": counting}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    for _ in range(4 * repeat):
        for name, job in jobs.items():
            job(2)
            clock = []
            for threads in (1, 2):
                started = time.perf_counter()
                job(threads)
                clock.append(time.perf_counter() - started)
            seconds[name].append((clock[0], clock[1]))
    figures: Figures = {}
    print()
    for name, pairs in seconds.items():
        one, two = (min(pair[i] for pair in pairs) for i in (0, 1))
        median = statistics.median(pair[0] / pair[1] for pair in pairs)
        figures[name] = {"one": one, "two": two, "median of pairs": median}
        print(f"{name} of {len(batch)} texts: {one * 1e3:.1f} ms by one thread, {two * 1e3:.1f} ms by two: "
              f"{one / two:.2f} times, in pairs of runs {median:.2f} times")  # fmt: skip
    return figures


def loading(path: Path) -> Figures:
    """From a file to the first ids."""
    seconds = []
    for _ in range(5):
        started = time.process_time()
        Tokenizer.from_gguf(path).encode("ready")
        seconds.append(time.process_time() - started)
    first, later = seconds[0], statistics.median(seconds[1:])
    print(f"\nfrom file to first ids: {later:.3f} s, the first time, with loading the kernels, {first:.3f} s")
    return {"load": later, "first": first}


def plot(figures: Figures, path: Path) -> None:
    """Worst cases as a drawing."""
    from matplotlib import pyplot

    _, axes = pyplot.subplots(2, 3, figsize=(13, 7))
    for axis, kind in zip(axes.flat, texts.WORST, strict=False):
        for name, row in figures.items():
            if name.startswith(f"{kind}: "):
                points = [(size, value) for size, value in zip(SIZES, row, strict=True) if value is not None]
                axis.plot([size / 1e3 for size, _ in points], [v * 1e3 for _, v in points], "o-", label=name)
        axis.set(title=kind, xlabel="KB", ylabel="ms", yscale="log")
        axis.legend(fontsize=7)
    pyplot.tight_layout()
    pyplot.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gguf", type=Path, default=LLAMA3_VOCABULARY)
    parser.add_argument("--bytes", type=int, default=3_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--without-worst", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    figures: Figures = {"loading": loading(options.gguf)}
    tok = Tokenizer.from_gguf(options.gguf)
    others = peers.encoders(tok)
    figures["mixed"] = compare(tok, others, options.bytes, options.repeat)
    figures["growing"] = growing(tok, options.repeat)
    figures["threads"] = two_threads(tok, options.repeat)
    if not options.without_worst:
        figures["worst"] = worst_cases(tok, others)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "tokenizers.json").write_text(json.dumps(figures, indent=1))
        if "worst" in figures:
            plot(figures["worst"], options.output / "tokenizers-worst.svg")


if __name__ == "__main__":
    main()
