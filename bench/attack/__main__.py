"""The command: `python -m bench.attack NAME --seed S --size N`; `python -m bench.attack list` names all.

Prints one line of JSON; the exit code is 1 if anything is wrong or hangs. Without a size an attack has the full one.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

import llmask
from bench.attack.harness import Tally, run_into, watch, write

# what the size counts, and the full one
ATTACKS = {
    "walks": ("steps", 1_000_000),
    "mutate": ("pairs of a schema and a document", 100_000),
    "bits": ("bits", 1_000_000),
    "patterns": ("pairs of a pattern and a text", 100_000),
    "lark": ("pairs of a grammar and a text", 100_000),
    "gbnf": ("masks", 20_000),
    "formats": ("texts", 100_000),
    "xgrammar": ("masks", 20_000),
    "files": ("damaged files", 10_000),
    "threads": ("tokens", 2_000_000),
    "forks": ("child processes", 1_000),
    "interrupts": ("interrupts", 5_000),
    "misuse": ("calls", 100_000),
    "tenants": ("tenants", 500),
    "hostile": ("hostile inputs", 500),
    "finish": ("sequences that meet a limit", 1_000),
    "soak": ("minutes", 40),
}


def listing() -> str:
    """Every attack with its full size and what it does."""
    lines = []
    for name, (unit, full) in ATTACKS.items():
        purpose = (import_module(f"bench.attack.{name}").__doc__ or "").splitlines()[0]
        lines.append(f"{name:11} {full:>9,} {unit:33} {purpose}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.attack", description=__doc__)
    parser.add_argument("name", choices=["list", *ATTACKS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, help="see `list`; default: the full one")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after so many, whatever is done")
    parser.add_argument(
        "--output", type=Path, help="folder for NAME-SEED.json: the summary with all that is wrong; and for plots"
    )
    options = parser.parse_args(arguments)
    name = options.name
    if name == "list":
        print(listing())
        return 0
    llmask.warm()
    tally = Tally(options.seed, ATTACKS[name][1] if options.size is None else options.size, options.minutes)
    ended = watch(name, tally)
    run_into(tally, name)
    ended.set()
    if options.output is not None:
        write(options.output, name, tally)
    tally.print_summary(name)
    return tally.code


if __name__ == "__main__":
    sys.exit(main())
