"""`llmask rules`: the rules that a grammar is compiled to.

    $ llmask rules --schema grammars/person.schema.json
    #: "{" '"name"' ":" /"<CHAR>{1,40}"/ "," '"age"' ":" INTEGER(>=0, <=120) "," -> 1
      1: '"email"' ":" ...

The notation is that of llmask/grammar/notation.py. Rules that are written only while documents are read are not there.

In: a grammar. Out: its rules, as text. Cost: compiling the grammar.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from llmask.cli.inputs import add_grammar_arguments, compile_grammar, load_tokenizer


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "rules",
        help="show the rules that a schema or a grammar becomes",
        description='Print the rules that a grammar becomes, much as in BNF: "-> 2" goes on in state 2 of the rule, '
        "and what has no arrow ends it.",
        epilog="example: llmask rules --schema grammars/person.schema.json",
    )
    add_grammar_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the rules."""
    grammar = compile_grammar(load_tokenizer(arguments), arguments)
    sys.stdout.buffer.write(f"{grammar.rules()}\n".encode("utf-8", "backslashreplace"))
    return 0
