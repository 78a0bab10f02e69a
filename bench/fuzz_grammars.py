"""Mutated grammars: every one must end in a grammar that gives masks, or in an error that says what is wrong.

    python -m bench.fuzz_grammars --count 200000 gbnf ebnf lark regex structural_tag tools

Grammars of the tests are damaged `--count` times (bench/mutations.py), compiled, and walked for some tokens. The table
says how many were compiled and how many refused, by a GrammarError or by a limit, and the longest times of the
processor; anything else stops the run with the case.

In: names of languages. Out: a table. Cost: about 3 ms a grammar.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator

import llmask
from bench.mutations import DRAW
from llmask.errors import GrammarError, LimitExceeded

MAX_SECONDS = 2.0
N_TOKENS = 5
ROUND = 1000  # grammars of one compiler


def try_mutations(
    compiler: llmask.Compiler, language: str, count: int, seed: int
) -> Iterator[tuple[str, float, float]]:
    """What became of each damaged grammar, and the seconds that compiling it and walking it took.

    Raises
    ------
    AssertionError : neither a grammar nor an error of ours; names the case.
    """
    bitmask = llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size)
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        text, compile_case = DRAW[language](rng)
        started = time.process_time()
        compiled = started
        try:
            matcher = compile_case(compiler).matcher()
            compiled = time.process_time()
            for _ in range(N_TOKENS):
                matcher.fill_bitmask(bitmask)
                if matcher.is_terminated():
                    break
                words = bitmask[0].view("uint32")
                tokens = rng.sample(range(compiler.tokenizer.vocab_size), 60)
                allowed = [token for token in tokens if words[token >> 5] >> (token & 31) & 1]
                if not allowed:
                    break
                matcher.accept_token(allowed[0])
            outcome = "compiled"
        except GrammarError:
            outcome = "refused"
        except LimitExceeded as error:
            outcome = f"limit: {error.message[:60]}"
        except Exception as error:
            raise AssertionError(
                f"{language}, case '{seed} {number}': {type(error).__name__}: {error}\n{text}"
            ) from error
        ended = time.process_time()
        compiled = compiled if compiled > started else ended
        yield outcome, compiled - started, ended - compiled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+", choices=DRAW)
    parser.add_argument("--count", type=int, default=200_000, help="damaged grammars of each language")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    llmask.warm_up()
    tokenizer = llmask.Tokenizer.default()
    for language in options.languages:
        outcomes: Counter[str] = Counter()
        longest = [(0.0, 0), (0.0, 0)]
        for first in range(0, options.count, ROUND):
            compiler = llmask.Compiler(tokenizer, cache_bytes=0)
            n = min(ROUND, options.count - first)
            for number, (outcome, *times) in enumerate(try_mutations(compiler, language, n, options.seed + first)):
                outcomes[outcome] += 1
                longest = [max(old, (new, first + number)) for old, new in zip(longest, times, strict=True)]
        print(language, dict(outcomes.most_common()))
        for what, (seconds, case) in zip(("compiling", "walking"), longest, strict=True):
            print(f"  {what}: at most {seconds * 1000:.0f} ms, case {case}", flush=True)
        if longest[0][0] > MAX_SECONDS:
            raise SystemExit(f"more than {MAX_SECONDS} s")


if __name__ == "__main__":
    main()
