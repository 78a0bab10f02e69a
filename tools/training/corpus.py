"""Text to train on that is free and lies on every machine with Python.

    docstrings  of the standard library's modules, classes and functions, and the texts of `pydoc_data.topics`
    sources     of the standard library, without its tests and character tables
    documents   generated JSON (`documents.py`)

The standard library is under the PSF licence, which allows derived works; the documents are made here.

In: a Python installation and a seed. Out: lists of texts, in a fixed order. Cost: 5 s.
"""

from __future__ import annotations

import ast
import inspect
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .documents import generate_documents

SEED = 20240501
DOCUMENT_BYTES = 8_000_000
SOURCE_BYTES = 12_000_000
SKIPPED_FOLDERS = {
    "test", "tests", "idle_test", "site-packages", "dist-packages", "lib2to3", "idlelib", "turtledemo", "ensurepip",
    "encodings", "__pycache__", "pydoc_data", "tkinter", "_pyrepl", "__phello__",
}  # fmt: skip
MAX_SOURCE_FILE = 300_000


class Corpus(NamedTuple):
    """Texts by origin."""

    docstrings: list[str]
    sources: list[str]
    documents: list[str]


def gather(seed: int = SEED) -> Corpus:
    """All texts; the same on machines with the same standard library."""
    docstrings, sources = [], []
    source_bytes = 0
    for text in _standard_library():
        docstrings += _docstrings(text)
        if source_bytes < SOURCE_BYTES:
            sources.append(text)
            source_bytes += len(text)
    unique = list(dict.fromkeys(docstrings + _topics()))
    return Corpus(unique, sources, list(generate_documents(seed, DOCUMENT_BYTES)))


def _standard_library() -> Iterator[str]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        folders = set(path.relative_to(root).parts[:-1])
        # build settings of one machine are not part of the library
        if folders & SKIPPED_FOLDERS or path.name.startswith(("_sysconfigdata", "__phello__")):
            continue
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if len(text) <= MAX_SOURCE_FILE:
            yield text


def _docstrings(source: str) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old sources have escapes that newer versions warn about
        try:
            tree = ast.parse(source)
        except SyntaxError:
            return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node, clean=False)
            if text and len(text) > 40:
                found.append(inspect.cleandoc(text))
    return found


def _topics() -> list[str]:
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some distributions ship it apart
        return []
    return [topics[name] for name in sorted(topics)]
