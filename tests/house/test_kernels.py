"""Kernels can be read: few names to know in a module, and features beside the core."""

from __future__ import annotations

import ast
import contextlib
import re
from collections import defaultdict
from pathlib import Path
from statistics import median

MOST_NAMES, MOST_IN_A_MODULE, MEDIAN = 1700, 40, 14
FEATURES = re.compile("unique|transcript|variant|canonical", re.IGNORECASE)
CORE = (
    *("regex", "lexer", "parser/items.py", "parser/rows.py", "parser/goto.py", "parser/earley_step.py"),
    *("mask/configurations.py", "mask/boundary_walk.py", "mask/assemble.py"),
)


def modules(root: Path) -> dict[str, Path]:
    """The modules of kernels by their path, those of canonical masks left out."""
    kernels = root / "llmask" / "kernels"
    found = {path.relative_to(kernels).as_posix(): path for path in kernels.rglob("*.py")}
    return {name: path for name, path in found.items() if not name.startswith("canonical/")}


def imported_names(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    return [alias.name for node in froms for alias in node.names]


def test_a_module_of_kernels_asks_for_few_names(project_root: Path) -> None:
    counts = {name: len(imported_names(path)) for name, path in modules(project_root).items()}
    assert {name: count for name, count in counts.items() if count > MOST_IN_A_MODULE} == {}
    assert median(counts.values()) <= MEDIAN
    assert sum(counts.values()) < MOST_NAMES


def test_the_core_can_be_read_without_its_features(project_root: Path) -> None:
    """Values that are compared, and canonical masks, have modules of their own."""
    core = {name: path for name, path in modules(project_root).items() if name.startswith(CORE)}
    assert len(core) > 15
    found = {name: FEATURES.findall(path.read_text(encoding="utf-8")) for name, path in core.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_constant_has_one_value(project_root: Path) -> None:
    """Who knows a name from one module knows it in all."""
    values: dict[str, set[int]] = defaultdict(set)
    for path in modules(project_root).values():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
                with contextlib.suppress(Exception):  # what is no plain number
                    value = eval(compile(ast.Expression(node.value), "", "eval"), {"__builtins__": {}})
                    if isinstance(value, int):
                        values[node.targets[0].id].add(value)
    assert len(values) > 100
    assert {name: found for name, found in values.items() if len(found) > 1} == {}


# where a number in an index names no field: (module, functions or "": all) -> why
INDEX_IS_ARITHMETIC = {
}


def bare_offsets(path: Path) -> Iterator[tuple[str, str]]:
    """Accesses whose index has a number that could name a field, `at + 3` or `4 * edge + 1`; with their functions."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                index = accessed_at(node)
                if index is not None and names_a_field(index):
                    yield function.name, ast.unparse(node)


def accessed_at(node: ast.AST) -> ast.expr | None:
    """The index or address of a subscript, or of a call that reads or writes memory."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
        return node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id.startswith(("load_", "store_")) and node.args:
            return node.args[0]
        if node.func.id == "list_item":
            return node.args[2]
    return None


def names_a_field(index: ast.expr) -> bool:
    """Whether something is added to a variable that is neither a name nor 1, the next one, or a number multiplies it."""
    numbers, terms = split_sum(index)
    is_scaled = any(
        isinstance(term, ast.BinOp)
        and isinstance(term.op, ast.Mult)
        and any(isinstance(factor, ast.Constant) for factor in (term.left, term.right))
        for term in terms
    )
    return bool(terms) and (any(abs(number) > 1 for number in numbers) or (is_scaled and len(numbers + terms) > 1))


def split_sum(index: ast.expr) -> tuple[list[int], list[ast.expr]]:
    """The numbers, and the other terms, of a sum."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add | ast.Sub):
        numbers, terms = split_sum(index.left)
        more_numbers, more_terms = split_sum(index.right)
        return numbers + more_numbers, terms + more_terms
    if isinstance(index, ast.Constant) and isinstance(index.value, int):
        return [index.value], []
    return [], [index]
