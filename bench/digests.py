"""Do an engine's masks have the expected digests? `python -m bench.digests --engine llmask`.

The digests come from the slow twin (`bench/make_digests.py`), never from an engine, and lie beside the cases: for our
own cases at every position, for a sample of MaskBench at some. llmask has to match in all of them. Peers differ on
purpose here and there (`python -m tests.long llguidance_masks` says where and why), so for them the share of equal
masks is shown. An engine that was told one end-of-sequence id only is not blamed for the others.

In: command line. Out: a line an engine; exit code 1 when llmask differs. Cost: a minute, and what the engine needs to
compile some 150 schemas.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.engines import ADAPTERS, adapter
from bench.expected import expected
from bench.runs import Job, run_engine
from bench.vocabularies import SOURCES
from llmask.cli.progress import Progress

OURS = "llmask"  # has to match everywhere; the others may have reasons of their own


# engines write documents in different forms, and allow other spellings and white space
ON_PURPOSE = "expected is llmask's reading, from which others differ on purpose, too (bench/README.md)"


class Verification(NamedTuple):
    """What became of all digests of one engine.

    positions, equal   over the schemas that it compiled
    refused            schemas that it did not compile, or that took too long
    lines              what differs, for people
    """

    positions: int
    equal: int
    refused: int
    lines: list[str]

    @property
    def is_complete(self) -> bool:
        """Whether every mask was as expected, which llmask owes."""
        return self.equal == self.positions and self.refused == 0

    def __str__(self) -> str:
        share = f"{100 * self.equal / self.positions:.1f} %" if self.positions else "none"
        text = f"{self.equal} of {self.positions} masks as expected ({share}); {self.refused} schemas not compiled"
        return text if self.equal == self.positions else f"{text}; {ON_PURPOSE}"


def verify_engine(
    name: str, tasks: list[tuple[str, str, str]], timeout_s: float, report: Callable[[str], None]
) -> Verification:
    """Verify an engine, in processes of its own.

    Parameters
    ----------
    tasks : (corpus, vocabulary, white space), each a process.
    """
    results = []
    for corpus, vocabulary_name, whitespace in tasks:
        job = Job("verify", corpus, vocabulary_name, whitespace, timeout_s)
        numbers = list(range(len(expected(corpus, whitespace, vocabulary_name))))
        n_wanted = adapter(name).n_verified
        if corpus == "maskbench" and n_wanted is not None:
            numbers = numbers[:: -(-len(numbers) // n_wanted)]  # evenly spread over the names of schemas
        with TemporaryDirectory() as folder:
            results += run_engine(job, name, numbers, Path(folder, "verify.jsonl"), report)
    compiled = [result for result in results if result["verdict"] in ("equal", "different")]
    lines = [
        f"{result['id']} document {document} position {place}: {found} instead of {wanted}"
        for result in compiled
        for document, place, wanted, found in result["differences"]
    ]
    n_positions = sum(result["positions"] for result in compiled)
    n_equal = sum(result["equal"] for result in compiled)
    return Verification(n_positions, n_equal, len(results) - len(compiled), lines)


def tasks_of(vocabulary_name: str, whitespace: str) -> list[tuple[str, str, str]]:
    """What is verified before a measurement: the own cases, and the sample in the vocabulary that is measured."""
    tasks = [("own", "default", whitespace)]
    if expected("maskbench", whitespace, vocabulary_name):
        tasks.append(("maskbench", vocabulary_name, whitespace))
    return tasks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=list(ADAPTERS), action="append", help="may be repeated (default: llmask)")
    parser.add_argument("--vocabulary", choices=list(SOURCES), default="llama3")
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a schema may take")
    parser.add_argument("--show", type=int, default=10, help="so many differing masks of an engine")
    options = parser.parse_args()
    is_wrong = False
    for name in options.engine or ["llmask"]:
        with Progress() as progress:
            tasks = tasks_of(options.vocabulary, options.whitespace)
            found = verify_engine(name, tasks, options.timeout, lambda text, name=name: progress(f"{name}: {text}"))
        print(f"{name}: {found}")
        for line in found.lines[: options.show]:
            print(f"  {line}")
        is_wrong |= name == OURS and not found.is_complete
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
