"""From nothing to the first of everything: `python -m bench.startup`.

Every figure is the median of fresh processes, `--repeat` of them. llmask is measured with the kernels that were
compiled when the package was built, and with those that its own compiler (numba) makes and keeps in a cache
(`LLMASK_PREBUILT=0`); a process says which of the two it used, and where nothing was built there is one column.

    README's command   `llmask generate --schema grammars/person.schema.json`, the whole process; with an empty
                       LLMASK_CACHE_DIR, and again
    import             the package alone, NumPy already imported
    start to mask      from the start of the process to the first mask of a JSON schema on a vocabulary read from GGUF
    first ...          one call in a process that has done nothing before but what it needs

llguidance does the same things on the same file, which llama-cpp-python reads for it: its way to a GGUF file.

In: command line. Out: a table. Cost: two minutes, with the compiler's cold start some more.
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from bench.vocabularies import ROOT, SOURCES

PREBUILT = "LLMASK_PREBUILT"  # "0": the compiler, else what was built
CACHE = "LLMASK_CACHE_DIR"
OWN = (PREBUILT, "PYTHONDONTWRITEBYTECODE")  # what a user has not set; pip leaves bytecode, and here it is made first
README_COMMAND = ["-m", "llmask", "generate", "--schema", "grammars/person.schema.json"]
PEER = "llguidance"
PEER_NEEDS = ("llguidance", "llama_cpp")

SCHEMA = '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}'
LARK = """start: "{" pair ("," pair)* "}"
pair: NAME "=" NUMBER
NAME: /[a-z]+/
NUMBER: /[0-9]+/"""
TEXT = "The quick brown fox jumps over 13 lazy dogs; naïve, isn't it?"

OURS = {
    "tokenizer": "tokenizer = llmask.Tokenizer.from_gguf(PATH)",
    "compiler": "compiler = llmask.Compiler(tokenizer)",
    "schema": "matcher = compiler.json_schema(SCHEMA).matcher()",
    "mask": "mask = llmask.allocate_bitmask(1, tokenizer.vocab_size); matcher.fill_bitmask(mask)",
    "lark": "compiler.lark(LARK).matcher()",
    "encode": "tokenizer.encode(TEXT)",
    "forced": "matcher.forced_tokens()",
    "budget": "matcher.least_budget()",
}
THEIRS = {
    "tokenizer": "import llama_cpp, llguidance.llamacpp; model = llama_cpp.Llama(PATH, vocab_only=True, verbose=False)",
    "compiler": "tokenizer = llguidance.llamacpp.lltokenizer_from_vocab(llama_cpp.llama_model_get_vocab(model.model), "
    "slices=llguidance.LLTokenizer.json_slices())",
    "schema": "matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(SCHEMA))",
    "mask": "matcher.compute_bitmask()",
    "lark": "llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(LARK))",
    "encode": "tokenizer.tokenize_str(TEXT)",
    "forced": "matcher.compute_ff_tokens()",
}
FIGURES = {  # row, the steps before the one that is timed
    "Compiler(tokenizer)": ("tokenizer", "compiler"),
    "first JSON schema": ("tokenizer", "compiler", "schema"),
    "first Lark grammar": ("tokenizer", "compiler", "lark"),
    "first encode": ("tokenizer", "compiler", "encode"),
    "first forced_tokens": ("tokenizer", "compiler", "schema", "forced"),
    "  after an encode": ("tokenizer", "compiler", "encode", "schema", "forced"),
    "first least_budget": ("tokenizer", "compiler", "schema", "budget"),
}
TO_MASK = ("tokenizer", "compiler", "schema", "mask")
WHICH = "from llmask.kernels.machine import jit; print(getattr(jit, 'PREBUILT', False))"


class Column(NamedTuple):
    """What is measured side by side: a package, and the environment of its processes."""

    name: str
    package: str
    variables: dict[str, str]


def program(package: str, steps: tuple[str, ...], path: Path) -> str | None:
    """Code that takes the steps and prints the seconds of the import and of each; None: the package lacks one."""
    known = OURS if package == "llmask" else THEIRS
    if not all(step in known for step in steps):
        return None
    constants = {"PATH": str(path), "SCHEMA": SCHEMA, "LARK": LARK, "TEXT": TEXT}
    lines = ["import time, numpy", *(f"{name} = {value!r}" for name, value in constants.items())]
    for line in (f"import {package}", *(known[step] for step in steps)):
        lines += ["started = time.perf_counter()", line, "print(time.perf_counter() - started)"]
    return "\n".join(lines)


def run(arguments: list[str], variables: dict[str, str]) -> tuple[float, str]:
    """Seconds from start to end of a fresh process, and what it printed."""
    environment = {name: value for name, value in os.environ.items() if name not in OWN} | variables
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, done.stdout


def columns(peer: bool) -> list[Column]:
    """The ways of llmask that differ, and the peer."""
    compiled = Column("compiled (JIT)", "llmask", {PREBUILT: "0"})
    built = Column("prebuilt", "llmask", {})
    uses_built = [run(["-c", WHICH], column.variables)[1].split() == ["True"] for column in (built, compiled)]
    if uses_built[1]:
        raise RuntimeError(f"{PREBUILT}=0 loads prebuilt kernels all the same")
    found = [built, compiled] if uses_built[0] else [compiled]
    return found + ([Column(PEER, PEER, {})] if peer else [])


def measure(column: Column, path: Path, repeat: int, cold: int, say: Callable[[str], None]) -> dict[str, float]:
    """Seconds of each figure of a column, medians."""
    found: dict[str, float] = {}
    if column.package == "llmask":
        say("README's command")
        if cold:
            found["README's command, empty cache"] = statistics.median(_cold(column) for _ in range(cold))
        run(README_COMMAND, column.variables)
        found["README's command"] = statistics.median(run(README_COMMAND, column.variables)[0] for _ in range(repeat))
    say("start to mask")
    code = program(column.package, TO_MASK, path)
    assert code is not None
    run(["-c", code], column.variables)  # the file is in the system's cache, kernels in llmask's
    runs = [run(["-c", code], column.variables) for _ in range(repeat)]
    parts = [[float(line) for line in text.splitlines()] for _, text in runs]
    found["import"] = statistics.median(part[0] for part in parts)
    found["process start to first mask"] = statistics.median(seconds for seconds, _ in runs)
    for number, step in enumerate(TO_MASK, 1):
        found[f"  of which {step}"] = statistics.median(part[number] for part in parts)
    for name, steps in FIGURES.items():
        code = program(column.package, steps, path)
        if code is not None:
            say(name)
            run(["-c", code], column.variables)
            texts = [run(["-c", code], column.variables)[1] for _ in range(repeat)]
            found[name] = statistics.median(float(text.split()[-1]) for text in texts)
    return found


def _cold(column: Column) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return run(README_COMMAND, column.variables | {CACHE: folder})[0]


def written(seconds: float | None) -> str:
    """With its unit; "-" where there is no figure."""
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 0.9995 else f"{seconds * 1000:.3g} ms"


def table(figures: dict[str, dict[str, float]]) -> str:
    """Figures as rows of a table in Markdown, columns side by side."""
    names = list(dict.fromkeys(name for found in figures.values() for name in found))
    lines = [f"| | {' | '.join(figures)} |", "|---|" + "---:|" * len(figures)]
    for name in names:
        cells = [written(found.get(name)) for found in figures.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="processes of each figure (default: 5)")
    parser.add_argument(
        "--cold", type=int, default=1, help="processes with an empty cache, minutes for the JIT; 0: none (default: 1)"
    )
    parser.add_argument("--vocabulary", choices=SOURCES, help="default: llama3; default, without shared data")
    options = parser.parse_args()
    default = "llama3" if SOURCES["llama3"].path.exists() else "default"
    path = SOURCES[options.vocabulary or default].path
    has_peer = all(find_spec(name) for name in PEER_NEEDS)
    found = columns(has_peer)
    if len([column for column in found if column.package == "llmask"]) == 1:
        print("No prebuilt kernels are there: both ways of llmask are the compiler's.")
    if not has_peer:
        print(f"{PEER} is left out: it needs {' and '.join(PEER_NEEDS)}.")
    compileall.compile_dir(ROOT / "llmask", quiet=2)
    figures = {}
    for column in found:
        figures[column.name] = measure(
            column,
            path,
            options.repeat,
            options.cold,
            lambda text, name=column.name: print(f"{name}: {text}", file=sys.stderr, flush=True),
        )
    print(f"\n{path.name}, medians of {options.repeat}\n\n{table(figures)}")


if __name__ == "__main__":
    main()
