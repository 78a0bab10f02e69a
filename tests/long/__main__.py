"""The command: `python -m tests.long NAME --seed S --size N`; `python -m tests.long list` names all.

Most print one line of JSON (harness.py says what is in it), and have the full size unless one is given. The others
have arguments of their own: `python -m tests.long walks --help`. The exit code is 1 if anything is wrong or hangs.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

import llmask
from tests.long.harness import Tally, run_into, watch, write

# what the size counts, and the full one
ATTACKS = {
    "bits": ("bits", 1_000_000),
    "llguidance_masks": ("schemas", 500),
    "patterns": ("pairs of a pattern and a text", 100_000),
    "lark": ("pairs of a grammar and a text", 100_000),
    "gbnf": ("masks", 20_000),
    "formats": ("texts", 100_000),
    "xgrammar": ("masks", 20_000),
    "explanations": ("documents of each kind", 300),
    "files": ("damaged files", 10_000),
    "forks": ("child processes", 1_000),
    "interrupts": ("interrupts", 5_000),
    "misuse": ("calls", 100_000),
    "strangers": ("hostile inputs", 500),
    "soak": ("minutes", 40),
    "stalls": ("compiles", 10_000),
}
# with arguments of their own
TOOLS = ("suite", "keywords", "differential", "walks", "hostile", "kinds", "planted")


def purpose(name: str) -> str:
    """The first line of a module's text."""
    return (import_module(f"tests.long.{name}").__doc__ or "").splitlines()[0]


def listing() -> str:
    """Every test with its full size and what it does."""
    lines = [f"{name:16} {full:>9,} {unit:30} {purpose(name)}" for name, (unit, full) in ATTACKS.items()]
    return "\n".join(lines + [f"{name:16} {'':40} {purpose(name)}" for name in TOOLS])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.long", description=__doc__)
    names = parser.add_subparsers(dest="name", required=True, metavar="NAME")
    names.add_parser("list", help="name all")
    for name, (unit, full) in ATTACKS.items():
        attack = names.add_parser(name, help=f"{full:,} {unit}")
        attack.add_argument("--seed", type=int, default=1)
        attack.add_argument("--size", type=int, default=full, help=f"{unit} (default: {full})")
        attack.add_argument("--minutes", type=float, default=float("inf"), help="end after so many, whatever is done")
        attack.add_argument(
            "--output", type=Path, help="folder for NAME-SEED.json: the summary with all that is wrong; and for plots"
        )
    for name in TOOLS:
        tool = names.add_parser(name, help="has arguments of its own", formatter_class=argparse.RawTextHelpFormatter)
        import_module(f"tests.long.{name}").add_arguments(tool)
    options = parser.parse_args(arguments)
    if options.name == "list":
        print(listing())
        return 0
    if options.name in TOOLS:
        return int(import_module(f"tests.long.{options.name}").main(options))
    llmask.warm_up()
    tally = Tally(options.seed, options.size, options.minutes)
    ended = watch(options.name, tally)
    run_into(tally, options.name)
    ended.set()
    if options.output is not None:
        write(options.output, options.name, tally)
    tally.print_summary(options.name)
    return tally.code


if __name__ == "__main__":
    sys.exit(main())
