"""Kernels can be read: few names to know in a module, and features beside the core."""

from __future__ import annotations

import ast
import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

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


# where a number in an index names no field, or one place says what the numbers are: (module, function)
ACCESSORS = {
    ("parser/items.py", "_item_at"),
    ("parser/items.py", "_write_item"),
    ("parser/rows.py", "_found"),
    ("parser/token_terminals.py", "token_range"),
}
BYTES_OF_A_TEXT = {  # the next ones, of a character or a vector
    ("encoders/charsmap_rules.py", "after_blanks"),
    ("encoders/charsmap_rules.py", "is_space_mark"),
    ("encoders/charsmap_rules.py", "normalize"),
    ("encoders/pretokenize_scan.py", "character_at"),
    ("vocabulary/vocabulary_scan.py", "byte_of_name"),
    ("vocabulary/vocabulary_scan.py", "string_length"),
    ("vocabulary/vocabulary_scan.py", "undo_space_mark"),
}
ARITHMETIC = {
    ("parser/load_rules.py", "_group_edges"),  # a counting sort: ends are counted two further on
    ("regex/class_maps.py", "next_of_class"),  # rows of 256 numbers, one a byte
    ("regex/class_maps.py", "_link_classes"),
}


@pytest.mark.parametrize(
    "access", ["a[at + 3]", "a[4 * edge + 1]", "a[2 * i]", "load_i32(base + 8 * i + 4)", "list_item(lists, n, at + 2)"]
)
def test_a_bare_offset_is_found(access: str) -> None:
    assert names_a_field(ast.parse(access, mode="eval").body)


@pytest.mark.parametrize(
    "access",
    ["a[i + 1]", "a[at + FIELD]", "a[3]", "load_i32(base + 4 * i)", "load_i32(links + i * ENTRY_BYTES + NEXT)"],
)
def test_an_index_without_fields_is_left_alone(access: str) -> None:
    assert not names_a_field(ast.parse(access, mode="eval").body)


def test_no_number_stands_for_a_field(project_root: Path) -> None:
    found = {
        (name, function): access
        for name, path in modules(project_root).items()
        if not name.startswith("machine/")
        for function, access in bare_offsets(path)
    }
    known = ACCESSORS | BYTES_OF_A_TEXT | ARITHMETIC
    assert {where: access for where, access in found.items() if where not in known} == {}
    assert known <= set(found), "what is no exception any more"


def bare_offsets(path: Path) -> Iterator[tuple[str, str]]:
    """Accesses with a number that could name a field, `a[at + 3]` or `a[4 * edge + 1]`; with their functions."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            yield from ((function.name, ast.unparse(node)) for node in ast.walk(function) if names_a_field(node))


def names_a_field(node: ast.AST) -> bool:
    """Whether the index, or address, of an access has a number that is neither 1, the next one, nor an item's size."""
    index, is_address = None, False
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
        index = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        is_address = node.func.id.startswith(("load_", "store_"))
        index = node.args[0] if is_address else node.args[2] if node.func.id == "list_item" else None
    if index is None:
        return False
    numbers, terms = split_sum(index)
    is_scaled = any(
        isinstance(term, ast.BinOp)
        and isinstance(term.op, ast.Mult)
        and any(isinstance(factor, ast.Constant) for factor in (term.left, term.right))
        for term in terms
    )
    is_offset = bool(terms) and any(abs(number) > 1 for number in numbers)
    return is_offset or (is_scaled and not is_address)


def split_sum(index: ast.expr) -> tuple[list[int], list[ast.expr]]:
    """The numbers, and the other terms, of a sum."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add | ast.Sub):
        numbers, terms = split_sum(index.left)
        more_numbers, more_terms = split_sum(index.right)
        return numbers + more_numbers, terms + more_terms
    if isinstance(index, ast.Constant) and isinstance(index.value, int):
        return [index.value], []
    return [], [index]
