"""The command `llmask`: one file a subcommand, public names of the library only.

A subcommand is a module with `add_parser(subparsers)` and `run(arguments) -> exit code`. It imports the library inside
`run`, so that `llmask --help` answers at once. Documents and tables go to standard output; progress, warnings and
errors to standard error.

In: arguments. Out: an exit code: 0 done; 1 the work failed; 2 the command line is wrong; 130 interrupted.
Cost: that of the subcommand.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from llmask import __version__
from llmask.cli import bench, check, explain, generate, mask, rules, tokenize, warm_up
from llmask.cli.inputs import of_file
from llmask.errors import DISTRIBUTION

WRONG = 2  # exit code of a wrong command line
SUBCOMMANDS = (generate, mask, check, explain, rules, tokenize, bench, warm_up)
EPILOG = """\
examples:
  llmask generate --schema grammars/person.schema.json --n 3 --seed 7
  llmask mask --schema grammars/person.schema.json --prefix '{"'
  llmask check grammars/person.schema.json --instance person.json
  llmask explain --schema grammars/person.schema.json --prefix '{"name": ' --text 1
  llmask rules --schema grammars/person.schema.json
  llmask tokenize --file README.md --split 1000
  llmask bench --against llguidance --limit 100 --output results
  llmask warm-up
exit codes: 0 done; 1 the work failed; 2 the command line is wrong; 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; `argv` defaults to the process's own arguments."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = make_parser()
    if not words:
        parser.print_help()
        return 0
    if words[0] not in parser.commands and not words[0].startswith("-"):
        near = get_close_matches(words[0], parser.commands, 1)
        told = f"did you mean {near[0]}?" if near else f"the commands are {', '.join(parser.commands)}"
        parser.error(f"there is no command {words[0]}; {told}")
    arguments, unknown = parser.parse_known_args(words)
    if unknown:
        parser.refuse(arguments.command, unknown)
    from llmask.errors import LlmaskError

    try:
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except LlmaskError as error:
        return _fail(str(error))
    except BrokenPipeError:
        # the reader (head, less) has gone: nothing is wrong, but Python must not flush into the closed pipe at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(of_file(error))
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    return code


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line: argparse writes all options before each of them."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and end."""
        self.exit(WRONG, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    commands: Mapping[str, _Parser] = {}

    def refuse(self, command: str, unknown: Sequence[str]) -> NoReturn:
        """Refuse arguments that a command does not have, with the one that may be meant."""
        own = self.commands[command]
        known = re.findall(r"--[a-z-]+", own.format_usage())
        near = get_close_matches(unknown[0].partition("=")[0], known, 1)
        own.error(f"unrecognized arguments: {' '.join(unknown)}" + (f"; did you mean {near[0]}?" if near else ""))


class _Version(argparse.Action):
    """Tells the version, and of another distribution that has the same folder."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        sys.stdout.write(f"llmask {__version__}\n")
        try:
            other = version("llmask")
        except PackageNotFoundError:
            parser.exit()
        parser.exit(
            message=f"llmask: the distribution llmask {other} is installed, too, and has the same folder: the one that "
            f"came last has\n  replaced the other's files. Take both out, then install one: "
            f"pip uninstall llmask {DISTRIBUTION}\n"
        )


class _OneScreen(argparse.RawDescriptionHelpFormatter):
    """Each command in one line; left to itself argparse breaks the line after the longer names."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 12

    def _format_action(self, action: argparse.Action) -> str:
        if action.nargs == argparse.PARSER:  # without a line for "COMMAND" above them
            return "".join(map(self._format_action, self._iter_indented_subactions(action)))
        return super()._format_action(action)


def make_parser() -> _Parser:
    """Make the parser of the whole command line."""
    parser = _Parser(
        prog="llmask",
        description="Token masks for constrained decoding. `llmask COMMAND --help` explains a command.",
        epilog=EPILOG,
        formatter_class=_OneScreen,
        add_help=False,
    )
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)  # all of it is to fit on one screen
    parser.add_argument("--version", action=_Version, nargs=0, help=argparse.SUPPRESS)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for subcommand in SUBCOMMANDS:
        subcommand.add_parser(subparsers)
    parser.commands = subparsers.choices
    return parser


def _fail(reason: str) -> int:
    sys.stderr.write(f"llmask: error: {reason}\n")
    return 1
