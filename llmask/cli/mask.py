"""`llmask mask`: which tokens may follow a text.

    $ llmask mask --schema grammars/person.schema.json --prefix '{"'
    4 of 32768 tokens are allowed; the text may not end here
        110  "n"
        298  "name"
    ...

In: a grammar, a text, a tokenizer. Out: the allowed tokens, number and text, in the order of their ids. Cost: one mask.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from llmask.cli.check import refusal, verdict
from llmask.cli.inputs import add_grammar_arguments, compile_grammar, load_tokenizer
from llmask.cli.tokenize import spell


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "mask",
        help="show which tokens may follow a text",
        description="Print how many tokens may follow a text, and the first of them.",
        epilog="example: llmask mask --schema grammars/person.schema.json --prefix '{\"'",
    )
    add_grammar_arguments(parser)
    parser.add_argument("--prefix", metavar="TEXT", default="", help="what has been written so far (default: nothing)")
    parser.add_argument("--first", metavar="N", type=int, default=20, help="tokens to print (default: 20; 0: all)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the mask after the prefix."""
    import llmask
    from llmask.cli.sampling import allowed_tokens
    from llmask.errors import TokenRejected

    tokenizer = load_tokenizer(arguments)
    grammar = compile_grammar(tokenizer, arguments)
    prefix = arguments.prefix.encode("utf-8", "surrogateescape")
    matcher = grammar.matcher()
    try:
        matcher.accept_bytes(prefix)
    except TokenRejected:
        raise TokenRejected(f"--prefix is {refusal(verdict(grammar, 'the prefix', prefix, may_go_on=True))}") from None
    bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    matcher.fill_bitmask(bitmask)
    allowed = allowed_tokens(bitmask[0], tokenizer.vocab_size).tolist()
    ending = "may" if matcher.is_accepting() else "may not"
    lines = [f"{len(allowed)} of {tokenizer.vocab_size} tokens are allowed; the text {ending} end here"]
    shown = allowed[: arguments.first] if arguments.first > 0 else allowed
    lines += [f"{token:7d}  {_spell(tokenizer, token)}" for token in shown]
    if len(shown) < len(allowed):
        lines.append(f"    ...  {len(allowed) - len(shown)} more (--first 0 prints all)")
    sys.stdout.buffer.write("\n".join([*lines, ""]).encode())
    return 0


def _spell(tokenizer: Any, token: int) -> str:
    """A token's text as `spell` has it; special tokens, and the end of sequence, in parentheses."""
    if token in tokenizer.eos_ids:
        return "(end of sequence)"
    return spell(tokenizer, token) if tokenizer.token_bytes(token) else f"({tokenizer.token_name(token)})"
