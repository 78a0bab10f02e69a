"""The order of folders is the order of imports; every module has its tests; no word that is out of place."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

# The largest frontend, from top to bottom; a module that is not listed stands below all others.
JSON_SCHEMA = [
    [f"llmask.frontends.json_schema.{name}" for name in names.split()]
    for names in (
        "formats keywords misspelled number_automata number_machines options owned pointers satisfiable types uris "
        "vocabularies",
        "counts documents hints inputs matching ledger listed_numbers scientific_numbers",
        "numbers strings synthetic unsupported",
        "arrays contained dynamic_scopes evaluated lexemes ranges references scalars spacing",
        "context negation conjunction names",
        "object_layout counted_objects instances",
        "marks values choices discriminators",
        "alternatives finite new_values",
        "different_objects divided_items equal_items set_objects stricter_items",
        "unique_arrays unique_counted_arrays objects",
        "translation",
    )
]
# From top to bottom: a module may import what stands above it and what lies beside it.
IMPORT_ORDER = (
    ("llmask.errors", "llmask.limits", "llmask.work", "llmask.arguments", "llmask.forks", "llmask.copying"),
    ("llmask.kernels",),
    ("llmask.vocabulary",),
    ("llmask.trie",),
    ("llmask.encoders",),
    (
        "llmask.tokenizer.token_table",
        "llmask.tokenizer.token_sources",
        "llmask.tokenizer.chunks",
        "llmask.tokenizer.text_batches",
        "llmask.tokenizer.tokenizer",
    ),
    ("llmask.tokenizer.stream_decoder", "llmask.tokenizer.counting", "llmask.defaults"),
    ("llmask.regex",),
    ("llmask.grammar",),
    ("llmask.frontends",),
    *JSON_SCHEMA,
    ("llmask.frontends.json_schema",),
    ("llmask.frontends.lark", "llmask.frontends.structural_tags"),
    ("llmask.frontends.tools",),
    ("llmask.lexer",),
    ("llmask.parser",),
    ("llmask.store",),
    ("llmask.mask",),
    (
        *(
            "llmask.compiling.algebra",
            "llmask.compiling.ambiguity",
            "llmask.compiling.sentences",
            "llmask.compiling.ready",
            "llmask.store.rule_source",
            "llmask.compiling.statistics",
            "llmask.compiling.compiled",
            "llmask.compiling.grammar_cache",
            "llmask.compiling.dead_ends",
            "llmask.matching.history",
            "llmask.matching.sequence",
            "llmask.matching.expected",
            "llmask.matching.forced",
            "llmask.matching.finish",
            "llmask.matching.budget",
            "llmask.matching.matcher",
        ),
        *(
            "llmask.matching.healing",
            "llmask.matching.max_tokens",
            "llmask.matching.captures",
            "llmask.canonical",
            "llmask.matching.workers",
            "llmask.matching.batch",
        ),
        *("llmask.compiling.compiler", "llmask.compiling.tags"),
    ),
    ("llmask",),
    ("llmask.samplers",),
    ("llmask.cli", "llmask.__main__"),
)
MAX_LINES = 600  # past it look for the second topic inside; a topic is never cut to fit
FRAMEWORKS = {
    "torch", "transformers", "llama_cpp", "tiktoken", "tokenizers", "sentencepiece", "numba", "lark", "gguf",
    "pydantic",
    "referencing", "jsonschema_specifications",
}  # fmt: skip


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted((root / "llmask").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def layer(name: str) -> int:
    """Place of a module in IMPORT_ORDER; the longest prefix counts."""
    places = {entry: number for number, entries in enumerate(IMPORT_ORDER) for entry in entries}
    while name not in places or name == "llmask":
        if name == "llmask":
            return places["llmask"]
        name = name.rpartition(".")[0]
    return places[name]


def for_types(tree: ast.Module) -> set[int]:
    """Lines that stand under `if TYPE_CHECKING`."""
    blocks = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    return {line for block in blocks for line in range(block.lineno, (block.end_lineno or block.lineno) + 1)}


def imported(path: Path, known: dict[str, Path]) -> list[tuple[str, int]]:
    """Modules of the package that a file imports, with the line; imports for type checking only are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = for_types(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names if alias.name.split(".")[0] == "llmask"]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "llmask":
            for alias in node.names:
                deeper = f"{node.module}.{alias.name}"
                found.append((deeper if deeper in known else node.module, node.lineno))
    return [(name, line) for name, line in found if line not in skipped]


def test_a_folder_imports_only_what_stands_above_it(project_root: Path) -> None:
    known = modules(project_root)
    wrong = []
    for name, path in known.items():
        if name == "llmask":
            continue
        for target, line in imported(path, known):
            if layer(target) > layer(name):
                wrong.append(f"{path.relative_to(project_root)}:{line} imports {target}")
    assert not wrong, "\n".join(wrong)


def test_only_kernels_and_late_imports_name_frameworks(project_root: Path) -> None:
    wrong = []
    for name, path in modules(project_root).items():
        if name.startswith("llmask.kernels"):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:  # the module's top level
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wrong += [f"{name}:{node.lineno} imports {found}" for found in names if found.split(".")[0] in FRAMEWORKS]
    assert not wrong, "\n".join(wrong)


# What a test file of another name covers, with the reason.
TESTED_ELSEWHERE = {
    "llmask.errors": "tests/unit/test_errors.py holds the table of messages of the whole package",
}


def test_every_module_has_a_file_of_tests(project_root: Path) -> None:
    missing = []
    for name, path in modules(project_root).items():
        if (
            path.name in ("__init__.py", "__main__.py")
            or name in TESTED_ELSEWHERE
            or name.startswith("llmask.kernels.")
        ):
            continue
        inner = path.relative_to(project_root / "llmask")
        here = project_root / "tests" / "unit" / inner.parent
        candidates = [here / f"test_{inner.stem}.py", project_root / "tests" / "contract" / f"test_{inner.stem}.py"]
        if not any(candidate.exists() for candidate in candidates):
            missing.append(f"{inner} has no {candidates[0].relative_to(project_root)}")
    assert not missing, "\n".join(missing)


def test_files_stay_readable(project_root: Path) -> None:
    long = [
        f"{path.relative_to(project_root)}: {n_lines} lines"
        for path in modules(project_root).values()
        if (n_lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    ]
    assert not long, "\n".join(long)


def test_modules_say_what_goes_in_and_out(project_root: Path) -> None:
    silent = []
    for name, path in modules(project_root).items():
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if not text or (path.name not in ("__init__.py", "__main__.py") and "In:" not in text and name not in PLAIN):
            silent.append(name)
    assert not silent, silent


PLAIN = ("llmask.errors", "llmask.limits", "llmask.kernels.machine.constants")  # declarations: nothing goes in or out


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK", "lorem ipsum"])
def test_no_unfinished_business(project_root: Path, word: str) -> None:
    found = subprocess.run(
        ["git", "grep", "-nIw", word, "--", ".", ":!tests/house"],
        cwd=project_root,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode > 1:
        pytest.skip("not a checkout of the repository")
    assert not found.stdout, found.stdout


def test_no_paths_of_one_machine(project_root: Path) -> None:
    patterns = [r"/home/[a-z]", r"C:\\Users"]
    arguments = [argument for pattern in patterns for argument in ("-e", pattern)]
    found = subprocess.run(
        ["git", "grep", "-nIE", *arguments, "--", ".", ":!tests/house"],
        cwd=project_root,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode > 1:
        pytest.skip("not a checkout of the repository")
    assert not found.stdout, found.stdout
