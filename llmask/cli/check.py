"""`llmask check`: what a schema asks of a document, keyword by keyword, and whether documents fulfil it.

Documents are tested against grammars of all other notations, too; these have no ledger.

    $ echo -1 > n.json
    $ llmask check '{"type": "integer", "minimum": 1, "title": "n"}' --instance n.json
    #  type     enforced
    #  minimum  enforced: numbers are written without exponent
    #  title    annotation
    ...
    n.json: refused at byte 0 (line 1, column 1), after '': found '-', expected a number of at least 1
      the document: too small (minimum 1), #/minimum

An instance is judged as it is spelled, byte by byte, as a model would have to write it: `{"b": 1, "a": 2}` may be
valid and refused for the order of its keys. The line break at the end of a file is no part of its document, unless the
grammar asks for one there.

In: a schema or another grammar, instances. Out: the ledger and the verdicts, as text or JSON. Cost: compiling the
grammar; about 0.1 us a byte of an instance, a few milliseconds for one that is refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.cli.inputs import (
    add_grammar_arguments,
    compiled,
    is_text,
    load_tokenizer,
    name_of_grammar,
    of_file,
    read_given,
    warn_of_unread,
)

if TYPE_CHECKING:
    from llmask.compiling.compiled_grammar import CompiledGrammar
    from llmask.errors import LlmaskError

FINE, REFUSED, WRONG = 0, 1, 2
STANDARD_INPUT = "-"
SHOWN = 40  # bytes of an instance before the place where it is refused
MOST_EXPECTED = 12


class Verdict(NamedTuple):
    """What became of one instance.

    `byte` is the number of bytes that may be written so, or None for a document that is allowed; `relaxed` are options
    that would take it; `why` are lines for people.
    """

    name: str
    byte: int | None = None
    line: int = 0
    column: int = 0
    after: str = ""
    found: str = ""
    expected: str = ""
    instance_pointer: str | None = None
    schema_pointer: str | None = None
    keyword: str | None = None
    relaxed: dict[str, Any] | None = None
    why: list[str] | None = None


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "check",
        help="show what is enforced of a schema, test documents",
        description="Print every keyword of a schema with what became of it, and test documents as they are spelled; "
        "also against a grammar of another notation.",
        epilog="example: llmask check grammars/person.schema.json --instance person.json; "
        "exit codes: 0 all fine; 1 an instance is refused; 2 the schema or the command line is wrong",
    )
    add_grammar_arguments(parser, "JSON schema: file, - for standard input, or JSON text")
    parser.add_argument(
        "--instance",
        metavar="FILE|JSON",
        action="append",
        default=[],
        help="document to test, - for standard input; may be given several times",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON for programs")
    output.add_argument("--quiet", action="store_true", help="print nothing but errors: the exit code tells")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Check the schema, then the instances."""
    if arguments.given is not None:
        arguments.schema = arguments.given
    if [name_of_grammar(arguments), *arguments.instance].count(STANDARD_INPUT) > 1:
        arguments.parser.error("standard input can be read once only")
    from llmask import Compiler
    from llmask.errors import LlmaskError

    if not arguments.quiet:
        warn_of_unread(arguments)
    name = None
    try:
        instances = [("the instance" if is_text(given) else given, _read(given)) for given in arguments.instance]
        compiler = Compiler(load_tokenizer(arguments))
        name = name_of_grammar(arguments)
        started = time.perf_counter()
        grammar = compiled(compiler, arguments, _read)
        compile_ms = (time.perf_counter() - started) * 1000
        verdicts = [
            Verdict(given)
            if grammar.accepts(document)
            else verdict(grammar, given, document.removesuffix(b"\n").removesuffix(b"\r"))
            for given, document in instances
        ]
    except OSError as error:
        sys.stderr.write(f"llmask: error: {of_file(error)}\n")
        return WRONG
    except LlmaskError as error:
        _write_error(error, name, arguments.json)
        return WRONG
    fine = FINE if all(verdict.byte is None for verdict in verdicts) else REFUSED
    if arguments.quiet:
        return fine
    if arguments.json:
        report: dict[str, Any] = {
            "ledger": [{"pointer": at, "keyword": keyword, "fate": fate} for at, keyword, fate in grammar.ledger],
            "warnings": grammar.warnings,
            "edges": grammar._loaded.n_edges,
            "bytes": grammar.bytes_used,
            "compile_ms": round(compile_ms, 3),
            "instances": [{"is_allowed": verdict.byte is None, **verdict._asdict()} for verdict in verdicts],
        }
        lines = [json.dumps(report, indent=2, ensure_ascii=False)]
    else:
        size = f"{grammar._loaded.n_edges} edges, {grammar.bytes_used / 1024:.0f} KiB, compiled in {compile_ms:.1f} ms"
        lines = [*table(grammar.ledger), *(f"warning: {text}" for text in grammar.warnings), f"grammar: {size}"]
        lines += [f"{one.name}: {'allowed' if one.byte is None else refusal(one)}" for one in verdicts]
    sys.stdout.buffer.write("\n".join([*lines, ""]).encode("utf-8", "backslashreplace"))
    return fine


def table(ledger: list[Any]) -> list[str]:
    """The ledger in columns."""
    first = max((len(at) for at, _, _ in ledger), default=0)
    second = max((len(keyword) for _, keyword, _ in ledger), default=0)
    return [f"{at:{first}}  {keyword:{second}}  {fate}" for at, keyword, fate in ledger]


def verdict(grammar: CompiledGrammar, name: str, document: bytes, may_go_on: bool = False) -> Verdict:
    """Whether a document, or the beginning of one, may be written as it is spelled, and where not and why."""
    found = grammar.matcher().explain(document) if may_go_on else grammar.explain(document)
    if found.is_allowed:
        return Verdict(name)
    before, more = document[: found.byte], ", ..." if len(found.expected) > MOST_EXPECTED else ""
    return Verdict(
        name,
        found.byte,
        before.count(b"\n") + 1,
        len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1,
        before[-SHOWN:].decode(errors="backslashreplace"),
        document[found.byte :][:1].decode(errors="backslashreplace"),
        ", ".join(found.expected[:MOST_EXPECTED]) + more,
        found.instance_pointer,
        found.schema_pointer,
        found.keyword,
        found.relaxed,
        found.why(),
    )


def refusal(verdict: Verdict) -> str:
    """Why and where a document is refused."""
    place = f"byte {verdict.byte} (line {verdict.line}, column {verdict.column}), after {verdict.after!r}"
    found = f"found {verdict.found!r}" if verdict.found else "the document ends"
    return "\n  ".join([f"refused at {place}: {found}, expected {verdict.expected}", *(verdict.why or ())])


def _read(given: str) -> bytes:
    return sys.stdin.buffer.read() if given == STANDARD_INPUT else read_given(given)


def _write_error(error: LlmaskError, name: str | None, is_json: bool) -> None:
    if is_json:
        parts = {"kind": type(error).__name__, "message": error.message, "where": error.where, "help": error.help}
        sys.stdout.write(json.dumps({"error": parts}, indent=2) + "\n")
        return
    if name is not None:
        error.where = name if error.where is None else f"{name}: {error.where}"
    sys.stderr.write(f"llmask: error: {error}\n")
