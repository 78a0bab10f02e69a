"""Mutated grammars: every one must end in a grammar that gives masks, or in an error that says what is wrong.

    python -m bench.fuzz_grammars --count 200000 gbnf ebnf lark regex json_schema structural_tag tools response_format

Grammars of the tests are damaged `--count` times (bench/mutations.py), compiled, and walked for some tokens. The table
says how many were compiled and how many refused, by a GrammarError or by a limit, the longest times of the processor
and the most memory that the process ever had. Any other exception, more than MAX_SECONDS of the processor's time in
each of three trials (threads that share a core have inflated it threefold), and more than EXTRA_BYTES of memory are
faults: they are printed when they are found, and the exit code is 1. Tables reserve addresses for 256 times what they
hold and take memory when they write, so what is measured is memory, and addresses are bounded far above it.

In: names of languages. Out: a table. Cost: 1 to 8 ms a grammar.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import time
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

import llmask
from bench.conformance.workers import address_space, limit_memory
from bench.mutations import DRAW
from llmask.errors import GrammarError, LimitExceeded

MAX_SECONDS = 2.0
HANGING_SECONDS = 30.0  # of the processor's time: Python is interrupted; while this runs its clock has ticks of some ms
EXTRA_BYTES = 2**30  # of memory, beside what the process has when it begins
RESERVED_BYTES = 24 * 2**30  # of address space, likewise
N_TOKENS = 8
N_TRIALS = 3  # of what takes too long
ROUND = 1000  # grammars of one compiler


class Tried(NamedTuple):
    """What became of a damaged grammar.

    outcome : "compiled", "refused", "limit: ..." or "FAULT: ...".
    compiling, walking : seconds of the processor.
    text : the grammar.
    """

    outcome: str
    compiling: float
    walking: float
    text: str


class Hanging(BaseException):
    """No end after HANGING_SECONDS."""


def try_mutation(compiler: llmask.Compiler, bitmask: np.ndarray, language: str, case: str) -> Tried:
    """Compile the damaged grammar of this name and walk it."""
    rng = random.Random(case)
    text, compile_case = DRAW[language](rng)
    compiled = started = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, HANGING_SECONDS)
    try:
        matcher = compile_case(compiler).matcher()
        compiled = time.process_time()
        walk(rng, matcher, bitmask)
        outcome = "compiled"
    except GrammarError:
        outcome = "refused"
    except LimitExceeded as error:
        outcome = f"limit: {error.message[:60]}"
    except (Exception, Hanging) as error:
        outcome = f"FAULT: {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    ended = time.process_time()
    compiled = compiled if compiled > started else ended
    return Tried(outcome, compiled - started, ended - compiled, text)


def seconds_of(tried: Tried) -> float:
    """Of compiling and walking."""
    return tried.compiling + tried.walking


def try_slowly(tokenizer: llmask.Tokenizer, tried: Tried, language: str, case: str) -> Tried:
    """The fastest trial of a case that took too long, with compilers of its own; a fault if that was slow, too."""
    bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    for _ in range(1, N_TRIALS):
        again = try_mutation(llmask.Compiler(tokenizer, cache_bytes=0), bitmask, language, case)
        tried = min(tried, again, key=seconds_of)
    is_slow = seconds_of(tried) > MAX_SECONDS and not tried.outcome.startswith("FAULT")
    return tried._replace(outcome=f"FAULT: slow: {tried.outcome}") if is_slow else tried


def walk(rng: random.Random, matcher: llmask.Matcher, bitmask: np.ndarray) -> None:
    """Accept some allowed tokens."""
    for _ in range(N_TOKENS):
        matcher.fill_bitmask(bitmask)
        if matcher.is_terminated():
            return
        words = bitmask[0].view("uint32")
        allowed = np.flatnonzero(np.unpackbits(words.view("uint8"), bitorder="little"))
        matcher.accept_token(int(rng.choice(allowed)))


def measure(tokenizer: llmask.Tokenizer, language: str, count: int, seed: int) -> bool:
    """Print what became of the cases `seed` to `seed + count - 1` of a language; False when there were faults."""
    bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    outcomes: Counter[str] = Counter()
    longest = {"compiling": (0.0, ""), "walking": (0.0, "")}
    allowed = most_memory() + EXTRA_BYTES
    for number in range(seed, seed + count):
        if (number - seed) % ROUND == 0:
            compiler = llmask.Compiler(tokenizer, cache_bytes=0)
        case = f"{language} {number}"
        tried = try_mutation(compiler, bitmask, language, case)
        if seconds_of(tried) > MAX_SECONDS:
            tried = try_slowly(tokenizer, tried, language, case)
        if most_memory() > allowed and not tried.outcome.startswith("FAULT"):
            tried = tried._replace(outcome=f"FAULT: {most_memory() >> 20} MB: {tried.outcome}")
            allowed = most_memory() + EXTRA_BYTES
        outcomes[tried.outcome.partition(":")[0] if tried.outcome.startswith("FAULT") else tried.outcome] += 1
        if tried.outcome.startswith("FAULT"):
            print(f"{case}, {tried.outcome}, {tried.compiling:.1f} + {tried.walking:.1f} s\n{tried.text!a}", flush=True)
        for what in longest:
            longest[what] = max(longest[what], (getattr(tried, what), case))
    print(f"{language}, cases {seed} to {seed + count - 1}:")
    for outcome, n in outcomes.most_common():
        print(f"  {n:7}  {n / count:7.3%}  {outcome}")
    for what, (seconds, case) in longest.items():
        print(f"  {what}: at most {seconds * 1000:.0f} ms, {case}")
    print(f"  memory: at most {most_memory() >> 20} MB", flush=True)
    return outcomes["FAULT"] == 0


def most_memory() -> int:
    """The most bytes of memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def interrupt(_signal: int, _frame: Any) -> None:
    """Stop what runs now."""
    raise Hanging


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+", choices=DRAW)
    parser.add_argument("--count", type=int, default=200_000, help="damaged grammars of each language")
    parser.add_argument("--seed", type=int, default=1, help="number of the first case")
    options = parser.parse_args()
    llmask.warm()
    tokenizer = llmask.Tokenizer.default()
    limit_memory(address_space() + RESERVED_BYTES)
    signal.signal(signal.SIGPROF, interrupt)
    are_good = [measure(tokenizer, language, options.count, options.seed) for language in options.languages]
    if not all(are_good):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
