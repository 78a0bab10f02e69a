"""The order of folders is the order of imports; every module has its tests; no word that is out of place."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

# The order of imports, from the ground up, which is that of the code map in llmask/README.md. What stands together in
# one entry is a folder or file; inside of some folders their parts are in an order, too.
ORDER = (
    *("errors.py", "limits.py", "work.py", "arguments.py", "forks.py"),
    *("kernels", "vocabulary", "trie", "encoders", "tokenizer", "counting", "defaults"),
    *("regex", "grammar", "frontends"),
    *("store", "mask", "matching", "canonical", "debug.py", "explaining", "asking", "compiling", "samplers"),
    *("deprecated.py", "integrations", "cli", "prebuilt"),
)
INSIDE = {
    "kernels": (
        *("machine", "tables", "vocabulary", "encoders", "regex", "lexer", "lexeme_masks", "values", "parser", "mask"),
        *("finish", "canonical", "engine.py", "table.py"),
    ),
    "grammar": ("", "exact"),
    "frontends": (
        *("places.py", "regex", "bnf", "json_schema", "documents.py", "lark", "structural_tags"),
        *("response_formats.py", "tools"),
    ),
    "frontends/json_schema": ("reading", "lexical", "formats", "meaning", "writing", "ledger.py", "__init__.py"),
    "matching": (
        *(
            "history.py",
            "mask_numbers.py",
            "features.py",
            "expected.py",
            "forced.py",
            "finish.py",
            "budget.py",
            "sequence.py",
            "captures",
            "drafts.py",
        ),
        *("json_reader.py", "partial.py", "notebook.py", "explanation.py"),
        *(
            "matcher.py",
            "healing.py",
            "stops.py",
            "max_tokens.py",
            "workers.py",
            "ahead.py",
            "batch.py",
            "reasoning.py",
        ),
    ),
    "asking": (
        *("algebra.py", "likely.py", "documents.py", "sentences.py", "ambiguity.py", "dead_ends.py", "warming.py"),
    ),
    "compiling": (
        *("tool_calls.py", "notices.py", "sources.py", "recipes.py", "made_grammar.py", "compiled_grammar.py"),
        "making.py",
        *("stores.py", "grammar_cache.py", "compiler.py", "first_uses.py"),
    ),
}
# Folders that are parts of another and in no order there.
WITHIN = {"integrations/sglang", "integrations/vllm"}
LOOSE = 7  # modules beside the folders of llmask/, at most; one of them goes with the names that it keeps alive
MOST_FILES = 30  # modules of one folder
MAX_LINES = 600  # past it look for the second topic inside; a topic is never cut to fit
FRAMEWORKS = {
    "torch", "triton", "transformers", "llama_cpp", "tiktoken", "tokenizers", "sentencepiece", "numba", "lark", "gguf",
    "pydantic",
    "referencing", "jsonschema_specifications",
    "vllm", "sglang", "mlx", "mlx_lm", "jax", "outlines",
}  # fmt: skip


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted((root / "llmask").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path, name: str, known: dict[str, Path]) -> list[tuple[str, int]]:
    """Modules of the package that a file imports, with the line; for type checking and late ones, too."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *((node.module or "").split(".") if node.module else ())])
            for alias in node.names:
                found.append((f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base, node.lineno))
    return [(target, line) for target, line in found if target in known and target != name]


def upward(order: tuple[str, ...], folder: str, known: dict[str, Path], root: Path) -> list[str]:
    """Imports that do not go to what is above in the order of a folder, and parts that are not in it."""
    prefix = f"llmask/{folder}/" if folder else "llmask/"

    def place(path: Path) -> int | None:
        inner = path.relative_to(root).as_posix()
        if not inner.startswith(prefix):
            return None
        part = inner.removeprefix(prefix).split("/")[0]
        if part not in order and part.endswith(".py") and "" in order:
            part = ""  # the modules of the folder itself
        return order.index(part) if part in order else -1

    wrong = []
    for name, path in known.items():
        own = place(path)
        is_face = path.name in ("__init__.py", "__main__.py") and path.parent == root / prefix
        if own is None or (is_face and own == -1):
            continue
        if own == -1:
            wrong.append(f"{path.relative_to(root)} is not in the order of {prefix}")
            continue
        for target, line in imported(path, name, known):
            there = place(known[target])
            if there is not None and there > own:
                wrong.append(f"{path.relative_to(root)}:{line} imports {target}")
    return wrong


@pytest.mark.long
@pytest.mark.parametrize(("folder", "order"), [("", ORDER), *INSIDE.items()])
def test_a_folder_imports_only_what_is_above_it(folder: str, order: tuple[str, ...], project_root: Path) -> None:
    wrong = upward(order, folder, modules(project_root), project_root)
    assert not wrong, "\n".join(wrong)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import each other, directly or not: what is left when those without imports are taken off."""
    left = {name: set(targets) for name, targets in graph.items()}
    while True:
        free = {name for name, targets in left.items() if not targets & left.keys()}
        if not free:
            return [sorted(left)] if left else []
        for name in free:
            del left[name]


@pytest.mark.long
def test_no_files_import_each_other(project_root: Path) -> None:
    """Annotations and late imports counted; the face of the package and its command look down on all others."""
    known = modules(project_root)
    graph = {name: {target for target, _ in imported(path, name, known)} for name, path in known.items()}
    found = circles(graph)
    assert not found, "these files, or some of them, import each other:\n" + "\n".join(found[0] if found else [])


def test_the_map_of_the_package_is_its_order(project_root: Path) -> None:
    text = (project_root / "llmask" / "README.md").read_text(encoding="utf-8")
    assert tuple(row.rstrip("/") for row in re.findall(r"^\| `([\w./]+)` \|", text, re.MULTILINE)) == ORDER
    there = {
        path.name for path in (project_root / "llmask").iterdir() if path.suffix == ".py" or any(path.glob("*.py"))
    }
    assert there - {"__init__.py", "__main__.py"} == set(ORDER)


@pytest.mark.parametrize("folder", ["kernels", "frontends/json_schema"])
def test_the_map_of_a_folder_is_its_order(project_root: Path, folder: str) -> None:
    text = (project_root / "llmask" / folder / "README.md").read_text(encoding="utf-8")
    parts = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    assert parts == [part for part in INSIDE[folder] if not part.endswith(".py")]


def test_every_folder_is_in_the_tree(project_root: Path) -> None:
    package = project_root / "llmask"
    there = {path.parent.relative_to(package).as_posix() for path in package.rglob("*.py")} - {"."}
    listed = {*ORDER, *WITHIN, *(f"{folder}/{part}" for folder, parts in INSIDE.items() for part in parts if part)}
    assert there == {name for name in listed if not name.endswith(".py")}


def test_folders_are_small_and_say_what_they_are(project_root: Path) -> None:
    package = project_root / "llmask"
    folders = {path.parent for path in package.rglob("*.py")}
    crowded = {str(folder): n for folder in folders if (n := len(list(folder.glob("*.py")))) > MOST_FILES}
    assert not crowded
    silent = [
        str(folder)
        for folder in folders
        if not (folder / "__init__.py").read_text(encoding="utf-8").startswith(('"""', 'r"""'))
    ]
    assert not silent
    assert len([name for name in ORDER if name.endswith(".py")]) <= LOOSE


# What numba, tiktoken, vLLM and SGLang keep behind an underscore, and has no other name.
OF_OTHERS = {
    *("_CacheLocator", "_compiler", "_compile_core", "_customize_flags", "_cache"),
    *("_ensure_finalized", "_get_module_for_linking", "_final_module", "_linking_libraries"),
    *("_mergeable_ranks", "_special_tokens", "_pat_str"),
    *("_backend", "_validate_structured_outputs", "_create_grammar", "_grammar", "_apply_request_reasoning_config"),
}
OF_TUPLES = {"_replace", "_asdict", "_fields"}
# The one member of a public class that holds what the engine has of it: the package reads it, users do not see it.
OF_FACES = {"_loaded", "_parts", "_sequence"}


def members(one: ast.ClassDef) -> set[str]:
    """Names that a class gives to what it has."""
    found = set()
    for node in ast.walk(one):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # a slot
    return found


def private_reads(path: Path) -> list[str]:
    """Places where a member with an underscore is used that the class around has not.

    A table beside a class may name its functions: `Formats._regex`.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    around = {}
    for one in classes:  # inner ones come later
        around |= dict.fromkeys(map(id, ast.walk(one)), members(one))
    faces = {"self", "cls", *(one.name for one in classes)}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
            continue
        is_own = isinstance(node.value, ast.Name) and node.value.id in faces
        is_inherited = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "super"
        if not (is_own or is_inherited or node.attr in around.get(id(node), set()) | OF_OTHERS | OF_TUPLES | OF_FACES):
            found.append(f"{path}:{node.lineno} reads {ast.unparse(node)}")
    return found


@pytest.mark.long
def test_nothing_outside_a_class_reads_its_underscored_members(project_root: Path) -> None:
    found = [place for path in modules(project_root).values() for place in private_reads(path)]
    assert not found, "\n".join(found)


def test_every_kernel_stage_has_tests_of_its_own(project_root: Path) -> None:
    tests = project_root / "tests" / "unit" / "kernels"
    missing = [part for part in INSIDE["kernels"] if "." not in part and not any((tests / part).glob("test_*.py"))]
    assert not missing, missing


def test_only_kernels_and_late_imports_name_frameworks(project_root: Path) -> None:
    wrong = []
    for name, path in modules(project_root).items():
        if name.startswith("llmask.kernels") or name == "llmask.mask.apply_triton":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:  # the module's top level
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wrong += [f"{name}:{node.lineno} imports {found}" for found in names if found.split(".")[0] in FRAMEWORKS]
    assert not wrong, "\n".join(wrong)


# What a test file of another name covers, with the reason.
TESTED_ELSEWHERE = {
    "llmask.grammar.kinds": "constants and types",
    "llmask.frontends.json_schema.writing.writer": "abstract: test_translation.py beside it goes through it",
    "llmask.integrations.sglang.backend": "tests/servers/test_sglang.py drives it by SGLang's own classes",
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
        candidates = [here / f"test_{inner.stem}.py"]
        candidates += [project_root / "tests" / folder / f"test_{inner.stem}.py" for folder in ("contract", "servers")]
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
    assert not lines_with(project_root, "-w", "-e", word)


def test_no_paths_of_one_machine(project_root: Path) -> None:
    assert not lines_with(project_root, "-E", "-e", r"/home/[a-z]", "-e", r"C:\\Users")


def lines_with(root: Path, *what: str) -> str:
    """What `git grep` finds outside of these tests."""
    command = ["git", "grep", "-nI", *what, "--", ".", ":!tests/house"]
    found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if found.returncode > 1:
        pytest.skip("not a checkout of the repository")
    return found.stdout
