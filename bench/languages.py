"""Masks for programming languages beside llguidance: `python -m bench.languages`.

Grammars are the ready ones for Python, SQL and C, written without templates, so that both engines read one text.
Sources are the standard library's files for Python, with one of 5,000 lines made of them (`--long`); for C the headers
of the interpreter and C files of installed packages; for SQL the SELECT statements in .sql files of the system, where
there are some, and random sentences (`grammar.sample`). A source counts to where the grammar ends to accept it; what is
shorter than 50 tokens does not count. All are in tokens of the Llama-3 vocabulary.

A step is a mask and the token after it. The first run of an engine over the sources is cold; in the second its tables
hold what the first one found. For each: mean, median, p99, worst of the time of a step, in microseconds, and the last
tenth of the longest source beside its first: a ratio near 1 is flat. With `--cpu` the clock is that of the thread, for
machines on which other programs run: both engines make a mask in the thread that asks for it.

In: languages, a number of sources. Out: a table. Cost: about two minutes.
"""

from __future__ import annotations

import argparse
import random
import re
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.engines import adapter
from bench.engines.base import Engine
from bench.vocabularies import encoder
from llmask import Compiler, Tokenizer
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.sources import ready_files
from llmask.grammar.expressions import Choice, Expression, Reference, Repeat, Sequence, choice, sequence, written

LANGUAGES = ("python", "sql", "c")
ENGINES = ("llmask", "llguidance")
LONG_LINES = 5000
FEWEST_TOKENS = 50
MOST_TOKENS = 4000  # of a source, but of the long one
SQL_FOLDERS = ("/usr/share", "/usr/lib")


class Source(NamedTuple):
    """One text, as far as the grammar accepts it, in token ids."""

    name: str
    ids: list[int]


# --- grammars


def plain_text(grammar: CompiledGrammar, path: Path) -> str:
    """A ready grammar without templates: the rules as they are written out, the terminals as they stand in the file."""
    names = {
        name: re.sub(r"\W+", "_", f"r{number}_{name}").lower()
        for number, name in enumerate(grammar._loaded.grammar.rules)
    }
    names[grammar._loaded.grammar.start] = "start"

    def renamed(expression: Expression) -> Expression:
        if isinstance(expression, Reference):
            return Reference(names[expression.name])
        if isinstance(expression, Sequence):
            return sequence(map(renamed, expression.parts))
        if isinstance(expression, Choice):
            return choice(map(renamed, expression.options))
        return (
            Repeat(renamed(expression.part), expression.low, expression.high)
            if isinstance(expression, Repeat)
            else expression
        )

    rules = [f"{names[name]}: {written(renamed(rule))}" for name, rule in grammar._loaded.grammar.rules.items()]
    text = re.sub(r"(?m)^//.*$", "", path.read_text(encoding="utf-8")).replace("\n    |", " |")
    return "\n".join([*rules, *re.findall(r"(?m)^(?:[A-Z_]\w*|%ignore)\b.*$", text), ""])


# --- sources


def texts_of(language: str, n_wanted: int, grammar: CompiledGrammar) -> Iterator[tuple[str, str]]:
    """Names and texts, in a fixed random order."""
    rng = random.Random(7)
    if language == "python":
        paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
        rng.shuffle(paths)
        yield from ((path.name, _read(path)) for path in paths)
        return
    if language == "c":
        folders = [sysconfig.get_paths()[name] for name in ("include", "purelib")]
        paths = sorted(path for folder in folders for end in ("h", "c") for path in Path(folder).rglob(f"*.{end}"))
        rng.shuffle(paths)
        yield from ((path.name, _read(path)) for path in paths[:2000])
    if language == "sql":
        paths = sorted(path for folder in SQL_FOLDERS for path in Path(folder).rglob("*.sql"))
        for path in paths:
            for number, found in enumerate(re.findall(r"(?ims)\b(?:select|with)\b[^;]{100,4000};", _read(path))):
                yield f"{path.name}:{number}", found
    for seed in range(10 * n_wanted):
        yield f"sample {seed}", grammar.sample(seed, max_bytes=2000).decode()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def sources_of(
    engine: Engine, grammar: Any, language: str, n_wanted: int, ready_grammar: CompiledGrammar, with_long: bool
) -> list[Source]:
    """Sources, shortened to what the engine accepts; for Python one that is long."""
    encode = encoder("llama3")
    found: list[Source] = []
    whole: list[str] = []
    n_lines = 0
    for name, text in texts_of(language, n_wanted, ready_grammar):
        ids = encode(text)[:MOST_TOKENS]
        n_accepted = accepted(engine, grammar, ids)
        if n_accepted >= FEWEST_TOKENS and len(found) < n_wanted:
            found.append(Source(name, ids[:n_accepted]))
        if with_long and n_lines < LONG_LINES and n_accepted == len(ids) < MOST_TOKENS:
            whole.append(text)
            n_lines += text.count("\n")
        if len(found) == n_wanted and (not with_long or n_lines >= LONG_LINES):
            break
    if whole:
        ids = encode("".join(whole))
        found.append(Source(f"{n_lines} lines", ids[: accepted(engine, grammar, ids)]))
    return found


def accepted(engine: Engine, grammar: Any, ids: list[int]) -> int:
    """How many leading tokens the engine accepts."""
    sequence = engine.start(grammar)
    for number, token in enumerate(ids):
        if not engine.accept(sequence, token):
            return number
    return len(ids)


# --- measuring


class Run(NamedTuple):
    """Times of steps by source, in microseconds, how many sources ended early, and the numbers of allowed tokens."""

    times: list[np.ndarray]
    n_early: int
    allowed: list[int]


def run(engine: Engine, grammar: Any, sources: list[Source], counts: bool, clock: Callable[[], int]) -> Run:
    """One run over the sources; `counts`: outside the clock, count what every tenth mask allows."""
    times, allowed, n_early = [], [], 0
    for source in sources:
        sequence = engine.start(grammar)
        found = []
        for number, token in enumerate(source.ids):
            begin = clock()
            engine.fill(sequence)
            is_taken = engine.is_allowed(token) and engine.accept(sequence, token)
            found.append((clock() - begin) / 1000)
            if counts and number % 10 == 0:
                bits = np.unpackbits(engine.words[0].view(np.uint8), bitorder="little")
                bits[list(engine.vocabulary.eos_ids)] = 0  # some engines know only one of them
                allowed.append(int(bits.sum()))
            if not is_taken:
                n_early += 1
                break
        times.append(np.array(found))
    return Run(times, n_early, allowed)


def line(name: str, found: Run) -> str:
    """A line of the table."""
    every = np.concatenate(found.times)
    p50, p99 = np.percentile(every, (50, 99))
    longest = max(found.times, key=len)
    tenth = max(len(longest) // 10, 1)
    flat = np.median(longest[-tenth:]) / np.median(longest[:tenth])
    times = f"{every.mean():8.1f} {p50:8.1f} {p99:8.1f} {every.max():9.0f}"
    return f"{name:24s} {len(every):7d} {times} {flat:6.2f} {found.n_early:5d}"


def main() -> None:
    """Print a table for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES, action="append", help="only this one")
    parser.add_argument("--sources", type=int, default=20, metavar="N", help="sources of each language (default: 20)")
    parser.add_argument("--long", action="store_true", help="a Python file of 5,000 lines, too")
    parser.add_argument("--cpu", action="store_true", help="count the time of the thread, not that of the wall")
    arguments = parser.parse_args()
    clock = time.thread_time_ns if arguments.cpu else time.perf_counter_ns
    engines = {name: adapter(name)("flexible", "llama3") for name in ENGINES}
    tokenizer = Tokenizer.default()
    for language in arguments.language or LANGUAGES:
        ready_grammar = Compiler(tokenizer).grammar(language)
        text = plain_text(ready_grammar, ready_files()[language])
        grammars = {}
        print(f"{language}: {len(text)} characters of grammar")
        for name, engine in engines.items():
            begin = time.perf_counter()
            grammars[name] = engine.compile(text, "lark")
            print(f"    {name} compiles it in {1000 * (time.perf_counter() - begin):.0f} ms")
        sources = sources_of(
            engines["llmask"],
            grammars["llmask"],
            language,
            arguments.sources,
            ready_grammar,
            arguments.long and language == "python",
        )
        print(f"    {len(sources)} sources, the longest of {max(len(source.ids) for source in sources)} tokens")
        print(f"{'':24s} {'steps':>7s} {'mean':>8s} {'p50':>8s} {'p99':>8s} {'worst':>9s} {'flat':>6s} {'early':>5s}")
        counted = {}
        for name, engine in engines.items():
            fresh = engine.compile(text, "lark")  # what finding the sources filled does not count
            for temperature in ("cold", "warm"):
                found = run(engine, fresh, sources, temperature == "warm", clock)
                print(line(f"{name}, {temperature}", found))
            counted[name] = found.allowed
        same = [one == other for one, other in zip(*counted.values(), strict=False)]
        print(f"    masks that allow as many tokens: {sum(same)} of {len(same)}\n")


if __name__ == "__main__":
    main()
