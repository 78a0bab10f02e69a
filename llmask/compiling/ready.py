"""Ready grammars: the files of the folder `grammars/`, by name.

    NAME.lark, NAME.gbnf, NAME.schema.json      the grammar; opens with its language, version and departures
    NAME.samples.json                           texts to accept and to reject

A Lark grammar with a line `// lexer: exact` before its first rule is compiled with `lexer="exact"`.

In: a name. Out: its text. Cost: reading a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import GrammarError
from ..frontends.places import similar

KINDS = (".lark", ".gbnf", ".schema.json")
EXACT = "// lexer: exact"


def folder() -> Path:
    """Where the files are: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "grammars"
    return installed if installed.is_dir() else package.parent / "grammars"


def files() -> dict[str, Path]:
    """The grammars by their names."""
    found = {}
    for kind in KINDS:
        for path in folder().glob(f"*{kind}"):
            found[path.name.removesuffix(kind)] = path
    return dict(sorted(found.items()))


def find(name: Any) -> tuple[str, str, bool]:
    """The kind of a ready grammar, its text, and whether its lexing is exact.

    Raises
    ------
    GrammarError : there is none of that name.
    """
    known = files()
    if not isinstance(name, str) or name not in known:
        raise GrammarError(
            f"there is no ready grammar {name!r}", help=similar(str(name), known, f"there are {', '.join(known)}")
        )
    text = known[name].read_text(encoding="utf-8")
    kind = next(kind for kind in KINDS if known[name].name.endswith(kind))
    return kind, text, EXACT in text.splitlines()
