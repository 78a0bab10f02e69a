"""Faults planted in the kernels, one at a time: which tests find them.

An operator at a place that a random generator chooses is turned (`<` is `<=`, `+` is `-`, `and` is `or`) in a clone of
the last commit; the library is built again, and the smoke tests run, then README's where these find nothing. What
nothing finds has to be read by somebody: some change nothing that a test could see, as the seed of a hash does.

In: a seed; the packages with which libraries are built. Out: a line a fault, and counts. Cost: a minute a fault that is
found at once, three for others.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TURNED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "and": "or", "or": "and",
    ">>": "<<", "<<": ">>",
}  # fmt: skip
OPERATOR = re.compile(r"\W*?(<<|>>|[<>=!]=|[<>+-]|\band\b|\bor\b)\W*$")


def faults_of(path: Path) -> Iterator[tuple[int, int, int, str]]:
    """Every operator of a file's kernels: its line, where it begins and ends, and what takes its place."""
    lines = path.read_text(encoding="utf-8").splitlines()
    functions = [node for node in ast.parse("\n".join(lines)).body if isinstance(node, ast.FunctionDef)]
    for node in (node for function in functions if function.decorator_list for node in ast.walk(function)):
        sides: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            sides = [node.left, node.right]
        elif isinstance(node, ast.BoolOp):
            sides = node.values[:2]
        elif isinstance(node, ast.Compare):
            sides = [node.left, node.comparators[0]]
        if sides and sides[0].end_lineno == sides[1].lineno:
            begin, end = sides[0].end_col_offset or 0, sides[1].col_offset
            found = OPERATOR.match(lines[sides[1].lineno - 1][begin:end])
            if found:
                yield sides[1].lineno - 1, begin + found.start(1), begin + found.end(1), TURNED[found[1]]


def run(root: Path, *words: str) -> tuple[int, str]:
    """A command of Python in a clone; its exit code, and the last failure or line that it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "LLMASK_SHARED"}
    environment["PYTHONPATH"] = str(root)
    command = [sys.executable, "-m", *words]
    try:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, errors="replace", timeout=600)
    except subprocess.TimeoutExpired:
        return 1, "no end"
    lines = done.stdout.splitlines() or [""]
    return done.returncode, ([line for line in lines if line.startswith(("FAILED", "ERROR"))] or lines)[-1][:100]


def found_by(root: Path) -> str:
    """What finds the fault in a clone; tests/house compares libraries with sources."""
    for what, words in (("building", []), ("smoke", ["tests/smoke"]), ("README", ["--ignore=tests/house"])):
        code, said = run(root, *(["pytest", "-q", "-x", *words] if words else ["llmask.prebuilt.build"]))
        if code != 0:
            return f"{what}: {said}"
    return "nothing"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=20, help="faults, each in a file of its own")


def main(options: argparse.Namespace) -> int:
    """Run and print; 1 where a fault is found by nothing."""
    counts: Counter[str] = Counter()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "llmask"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
        build = root / "llmask/prebuilt/build.py"  # of the libraries the one that runs here is enough
        others = "aarch64" if platform.machine() == "x86_64" else "x86_64"
        build.write_text(re.sub(rf'    "linux-{others}".*\n', "", build.read_text(encoding="utf-8")), encoding="utf-8")
        found_in = {path: faults for path in (root / "llmask/kernels").rglob("*.py") if (faults := [*faults_of(path)])}
        for path, faults in rng.sample(sorted(found_in.items()), options.size):
            line, begin, end, turned = rng.choice(faults)
            lines = (text := path.read_text(encoding="utf-8")).splitlines()
            before = lines[line]
            lines[line] = before[:begin] + turned + before[end:]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            found = found_by(root)
            path.write_text(text, encoding="utf-8")
            counts[found.split(":")[0]] += 1
            print(f"{path.relative_to(root)}:{line + 1}:{begin}: {before.strip()} | {turned} | {found}", flush=True)
    print(dict(counts))
    return int(counts["nothing"] > 0)
