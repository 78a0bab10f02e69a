"""Whether tests notice each change of the reference engine: `python -m bench.reference`, or `... earley.py mask.py`.

One change at a time: a comparison or a condition turned around, `and` for `or`, another operator, a number one larger,
a statement left out. A change is noticed if a test of tests/exhaustive/test_reference_engine.py fails, or if they take
far longer than without it. What is not noticed is printed: it makes no difference, or a test is missing.

In: the sources, or some of them. Out: what survives. Cost: a second or two a change, a quarter of an hour in all.
"""

from __future__ import annotations

import ast
import copy
import math
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import llmask

ROOT = Path(__file__).parent.parent
ENGINE = Path("tests/reference/engine")
TESTS = "tests/exhaustive/test_reference_engine.py"
LONGEST = 3.0  # times as long as without a change
COMPARISONS: dict[type, type] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Mult: ast.Add,
}  # fmt: skip


def changes(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, what is changed, and the module with it."""
    told_only = {id(part) for node in ast.walk(tree) for note in _annotations(node) for part in ast.walk(note)}
    for number, node in enumerate(ast.walk(tree)):
        for told, change in _changes_of(node) if id(node) not in told_only else ():
            other = copy.deepcopy(tree)
            change(list(ast.walk(other))[number])
            yield getattr(node, "lineno", 0), told, ast.fix_missing_locations(other)


def _annotations(node: Any) -> list[ast.expr]:
    """The types that a statement tells readers."""
    found = [getattr(node, "returns", None), getattr(node, "annotation", None)]
    return [note for note in found if note is not None]


def _changes_of(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        kind = COMPARISONS[type(node.ops[0])]
        yield kind.__name__, lambda other: other.ops.__setitem__(0, kind())
    elif isinstance(node, ast.BoolOp):
        swapped = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield swapped.__name__, lambda other: setattr(other, "op", swapped())
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPERATORS:
        operator = OPERATORS[type(node.op)]
        yield operator.__name__, lambda other: setattr(other, "op", operator())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield str(value), lambda other: setattr(other, "value", value)
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "not", lambda other: setattr(other, "test", ast.UnaryOp(ast.Not(), other.test))
    if isinstance(node, (ast.FunctionDef, ast.If, ast.For, ast.While)):
        for place, statement in enumerate(node.body):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign, ast.Continue)) and not is_text:
                yield "left out", lambda other, at=place: other.body.__setitem__(at, ast.Pass())


def is_noticed(root: Path, longest: float = math.inf) -> bool:
    """Whether a test fails in a copy of the project, or takes longer than `longest` seconds. A fork has read llmask."""
    child = os.fork()
    if child == 0:
        os.chdir(root)
        sys.path.insert(0, str(root))
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        os._exit(pytest.main(["-q", "-x", "-n", "0", "-p", "no:cacheprovider", TESTS]) != pytest.ExitCode.OK)
    began = time.monotonic()
    while time.monotonic() - began < longest:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status != 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def main(names: list[str]) -> int:
    n_changes = 0
    survivors = []
    llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b""], eos=1)).regex("a").matcher()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in ("llmask", "bench", "pyproject.toml"):
            (root / name).symlink_to(ROOT / name)
        shutil.copytree(ROOT / "tests", root / "tests", ignore=shutil.ignore_patterns("__pycache__", "unit"))
        began = time.monotonic()
        assert not is_noticed(root), "the tests fail as it is"
        longest = 5 + LONGEST * (time.monotonic() - began)
        paths = [ROOT / ENGINE / name for name in names] or sorted((ROOT / ENGINE).glob("*.py"))
        for path in paths:
            source = path.read_text(encoding="utf-8")
            lines = source.splitlines()
            for line, told, changed in changes(ast.parse(source)):
                n_changes += 1
                _write(root / ENGINE / path.name, ast.unparse(changed), n_changes)
                if not is_noticed(root, longest):
                    survivors.append(f"{path.name}:{line}: {told}: {lines[line - 1].strip() if line else ''}")
                    print(survivors[-1], flush=True)
            _write(root / ENGINE / path.name, source, n_changes + 1)
            print(f"{path.name} is done, {n_changes} changes so far", flush=True)
    print(f"{n_changes - len(survivors)} of {n_changes} changes are noticed")
    return 0


def _write(path: Path, source: str, number: int) -> None:
    """Write a module, dated so that what Python keeps of the one before is not taken for it."""
    path.write_text(source, encoding="utf-8")
    os.utime(path, (number, number))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
