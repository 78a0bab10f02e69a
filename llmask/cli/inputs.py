"""Arguments that several subcommands share: the grammar (`--schema`, `--regex`) and the tokenizer.

In: parsed arguments. Out: a tokenizer and a compiled grammar. Cost: reading the file, compiling the grammar.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llmask import Tokenizer
    from llmask.compiled import CompiledGrammar


def add_grammar_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--schema FILE` and `--regex PATTERN`, of which exactly one must be given, and `--whitespace`."""
    grammar = parser.add_mutually_exclusive_group(required=True)
    grammar.add_argument("--schema", metavar="FILE", type=Path, help="JSON schema that the text must fulfil")
    grammar.add_argument("--regex", metavar="PATTERN", help="regular expression that the whole text must match")
    parser.add_argument(
        "--whitespace",
        choices=("compact", "flexible"),
        default="flexible",
        help="with --schema: white space between the parts of a document, or none (default: flexible)",
    )


def add_tokenizer_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--tokenizer FILE.gguf`."""
    parser.add_argument(
        "--tokenizer",
        metavar="FILE.gguf",
        type=Path,
        help="take the vocabulary of this model file (default: the tokenizer in the package)",
    )


def load_tokenizer(path: Path | None) -> Tokenizer:
    """Load the tokenizer of a model file; None: the one in the package."""
    from llmask import Tokenizer

    return Tokenizer.default() if path is None else Tokenizer.from_gguf(str(path))


def compile_grammar(tokenizer: Tokenizer, arguments: argparse.Namespace) -> CompiledGrammar:
    """Compile what `--schema` or `--regex` names; errors in a schema say which file it is."""
    from llmask import Compiler
    from llmask.errors import GrammarError

    compiler = Compiler(tokenizer)
    if arguments.regex is not None:
        return compiler.regex(arguments.regex)
    try:
        return compiler.json_schema(arguments.schema.read_text(encoding="utf-8"), whitespace=arguments.whitespace)
    except GrammarError as error:
        error.where = str(arguments.schema) if error.where is None else f"{arguments.schema}: {error.where}"
        raise
