"""The tables of pages, measured again: `python -m bench.pages`, or with names `python -m bench.pages warmth requests`.

A page says which command a table comes from, and the command is run and its output put in the place of the old one:

    <!-- measured by: python -m bench.warmth -->

    | ... |

    Measured on 2026-11-29 at commit 41e87c02. <!-- until here -->

Several commands are joined by "&&"; what the last one prints is the table. What is written beside a table has to be
read again by somebody, as its figures are those of before. The README's table and those of requests, first documents,
engines that compile more and budgets are made so: none needs a GPU, a server or hours.

In: the pages of the project, which are changed. Out: nothing else. Cost: an hour and a half for all of them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.vocabularies import ROOT

PAGES = ("README.md", "docs/measured/*.md")
TABLE = re.compile(r"<!-- measured by: (?P<command>.+?) -->\n.*?<!-- until here -->", re.DOTALL)


def tables(root: Path, names: Sequence[str]) -> list[tuple[Path, str]]:
    """Pages and commands of tables; of those whose command or page contains one of some names, if there are any."""
    found = []
    for path in (path for pattern in PAGES for path in sorted(root.glob(pattern))):
        for match in TABLE.finditer(path.read_text(encoding="utf-8")):
            command = match["command"]
            if not names or any(name in command or name in path.name for name in names):
                found.append((path, command))
    return found


def put(text: str, command: str, output: str, said: str) -> str:
    """A page with another table of a command."""
    block = f"<!-- measured by: {command} -->\n\n{output.strip()}\n\n{said} <!-- until here -->"
    return TABLE.sub(lambda match: block if match["command"] == command else match[0], text)


def run(command: str) -> str:
    """What the last of some commands prints."""
    output = ""
    for part in command.split(" && "):
        words = part.split()
        program = [sys.executable, *words[1:]] if words[0] == "python" else words
        output = subprocess.run(program, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of a page's name, or of a command; none: all tables")
    parser.add_argument("--list", action="store_true", help="say which tables there are")
    options = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    for path, command in tables(ROOT, options.names):
        print(f"{path.relative_to(ROOT)}: {command}", flush=True)
        if not options.list:
            said = f"Measured on {time.strftime('%Y-%m-%d')} at commit {commit}."
            path.write_text(put(path.read_text(encoding="utf-8"), command, run(command), said), encoding="utf-8")


if __name__ == "__main__":
    main()
