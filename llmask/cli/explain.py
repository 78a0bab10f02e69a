"""`llmask explain`: where a text is in its grammar, and why a token or a text cannot come next.

    $ llmask explain --schema '{"properties": {"n": {"type": "integer", "maximum": 5}}}' --prefix '{"n": ' --text 6
    refused at byte 6: found '6'
      /n: too large (maximum 5), #/properties/n/maximum
      ...

In: a grammar, a text, a token. Out: text. Cost: compiling the grammar; some milliseconds.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from llmask.cli.inputs import add_grammar_arguments, compile_grammar, load_tokenizer, of_file

ALLOWED, REFUSED, WRONG = 0, 1, 2


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "explain",
        help="show why a text or a token is refused",
        description="Say which keyword of a schema refuses a token or a text, where, and what may come instead; where "
        "nothing is refused, which schemas hold and which rules are being read.",
        epilog="example: llmask explain --schema grammars/person.schema.json --prefix '{\"name\": ' --text 1; "
        "exit codes: 0 allowed; 1 refused; 2 the grammar or the command line is wrong",
    )
    add_grammar_arguments(parser)
    parser.add_argument("--prefix", metavar="TEXT", default="", help="what has been written so far (default: nothing)")
    following = parser.add_mutually_exclusive_group()
    following.add_argument("--token", metavar="ID", type=int, help="a token id that is to come next")
    following.add_argument("--text", metavar="TEXT", help="a text that is to come next")
    following.add_argument("--end", action="store_true", help="the document is to end")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the explanation; what is wrong with the grammar is no refusal, and has an exit code of its own."""
    from llmask.errors import LlmaskError

    try:
        lines, is_allowed = _explain(arguments)
    except (OSError, LlmaskError) as error:
        sys.stderr.write(f"llmask: error: {of_file(error) if isinstance(error, OSError) else error}\n")
        return WRONG
    sys.stdout.buffer.write("\n".join([*lines, ""]).encode("utf-8", "backslashreplace"))
    return ALLOWED if is_allowed else REFUSED


def _explain(arguments: argparse.Namespace) -> tuple[list[str], bool]:
    """Lines of the explanation, and whether all is allowed."""
    tokenizer = load_tokenizer(arguments)
    grammar = compile_grammar(tokenizer, arguments)
    matcher = grammar.matcher()
    prefix = arguments.prefix.encode("utf-8", "surrogateescape")  # bytes that are no UTF-8 stay what they are
    found = matcher.explain(prefix)
    if found.is_allowed:
        matcher.accept_bytes(prefix)
        if arguments.token is not None:
            found = matcher.explain(arguments.token)
        elif arguments.text is not None:
            found = matcher.explain(arguments.text.encode("utf-8", "surrogateescape"))
        elif arguments.end:
            found = grammar.explain(prefix)
    lines = [str(found)]
    if found.is_allowed and arguments.token is None and arguments.text is None and not arguments.end:
        position = matcher.position()
        lines = [f"allowed so far; the document {'may' if matcher.is_accepting() else 'may not'} end here"]
        lines += [f"  {position}", *(f"  schema {place}" for place in position.places)]
        lines += [f"  rule {rule}" for rule in position.rules]
    return lines, found.is_allowed
