"""Ready grammars: the files of the folder `grammars/`, by name.

    NAME.lark, NAME.gbnf, NAME.schema.json      the grammar; opens with its language, version and departures
    NAME.samples.json                           texts to accept and to reject

A Lark grammar with a line `// lexer: exact` before its first rule is compiled with `lexer="exact"`.

In: a name. Out: a compiled grammar. Cost: that of compiling it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..errors import GrammarError
from ..frontends.places import similar

if TYPE_CHECKING:
    from .compiled import CompiledGrammar
    from .compiler import Compiler

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


class ReadyGrammars:
    """What a `Compiler` can do with ready grammars."""

    def grammar(self, name: str) -> CompiledGrammar:
        """Compile a ready grammar, one of the folder `grammars/`.

        Raises
        ------
        GrammarError : there is none of that name.

        Examples
        --------
        >>> import llmask
        >>> grammar = llmask.Compiler(llmask.Tokenizer.default()).grammar("arithmetic")
        """
        known = files()
        if not isinstance(name, str) or name not in known:
            raise GrammarError(
                f"there is no ready grammar {name!r}", help=similar(str(name), known, f"there are {', '.join(known)}")
            )
        path = known[name]
        text = path.read_text(encoding="utf-8")
        compiler = cast("Compiler", self)
        if path.suffix == ".gbnf":
            return compiler.gbnf(text)
        if path.suffix == ".lark":
            is_exact = EXACT in text.splitlines()
            return compiler.lark(text, lexer="exact" if is_exact else "greedy")
        return compiler.json_schema(text)
