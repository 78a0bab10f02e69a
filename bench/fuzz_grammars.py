"""Mutated grammars: every one must end in a grammar that gives masks, or in an error that says what is wrong.

    python -m bench.fuzz_grammars --count 200000 gbnf ebnf lark

Grammars of the tests are damaged `--count` times (elements, or just characters, copied, moved, taken out), compiled,
and walked for some tokens. The table says how many were compiled and how many refused, by a GrammarError or by a limit,
and the longest times; anything else stops the run with the case.

In: names of languages. Out: a table. Cost: about 3 ms a grammar.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator

import llmask
from llmask.errors import GrammarError, LimitExceeded
from tests.contract.gbnf_grammars import GRAMMARS
from tests.contract.lark_grammars import GRAMMARS as LARK_GRAMMARS
from tests.unit.frontends.bnf import bad_grammars
from tests.unit.frontends.lark.bad_grammars import BAD_GRAMMARS as BAD_LARK_GRAMMARS

SEEDS = {
    "gbnf": [*GRAMMARS.values()] * 8 + [*(text for text, _ in bad_grammars.GBNF.values())],
    "ebnf": [*GRAMMARS.values()] * 8 + [*(text for text, _ in bad_grammars.EBNF.values())],
    "lark": [text for text, _, _ in LARK_GRAMMARS.values()] * 30 + [text for _, _, text, _ in BAD_LARK_GRAMMARS],
}
PIECES = (
    "|", "(", ")", "*", "+", "?", "{2}", "{1,3}", "{0,}", "{5,2}", "{1000}", "{0,99999}", "::=", "\n", " ", '"', '"a"',
    "[", "]", "[^a]", "[a-z]", "[]", "^", "-", "\\", "\\x41", "\\u00e9", "\\U0001F600", "\\q", "#", "root", " root ",
    "item", ".", ".*", "/", "/a*?b/", "%json ", "%lark {", "%ignore ", "A: ", "&", "~", "->", "..", "x{start}",
    "[lazy]", '""', "()", "é", "日", "😀", "\0", "\ud800", "\r", "\t", "<[1]>", "!", "(=", "true", "_", ",",
)  # fmt: skip
ELEMENTS = (
    "|",
    "( ",
    " )",
    "*",
    "+",
    "?",
    "{2}",
    "{1,3}",
    "{0,99999}",
    '"a"',
    "[^a]",
    "[a-z]",
    " root ",
    ".",
    '""',
    '"é"',
    "/[a-z]*/",
    " start ",
    " A ",
    "~2..3",
    " & ~",
    "\nA: ",
    " %json {} ",
    "\n%ignore ",
    "x{start, A}",
    "[lazy]",
)
ELEMENT = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|::=|[A-Za-z0-9_-]+|\{[^}]*\}|[^\S\n]+|.', re.DOTALL)
MAX_SECONDS = 2.0
N_TOKENS = 5
ROUND = 1000  # grammars of one compiler


def mutate(rng: random.Random, seeds: list[str]) -> str:
    """A grammar with one to six damages."""
    text = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        text = mutate_elements(rng, text, rng.choice(seeds)) if rng.random() < 0.8 else mutate_characters(rng, text)
    return text


def mutate_elements(rng: random.Random, text: str, other: str) -> str:
    """A grammar with an element, or a few, copied, moved or taken out."""
    parts, others = ELEMENT.findall(text) or [" "], ELEMENT.findall(other) or [" "]
    at = rng.randrange(len(parts))
    end = min(len(parts), at + rng.choice((0, 1, 1, 2, 5, 20)))
    kind = rng.random()
    if kind < 0.4:
        new = [rng.choice(ELEMENTS)]
    elif kind < 0.5:
        new = []
    elif kind < 0.65:
        begin = rng.randrange(len(others))
        new = others[begin : begin + rng.choice((1, 3, 10))]
    elif kind < 0.85:
        new = parts[at:end] * rng.choice((2, 2, 3, 50))
    else:
        begin = rng.randrange(len(parts))
        new = parts[begin : begin + rng.choice((1, 3, 10))]
    return "".join([*parts[:at], " ", *new, " ", *parts[end:]])


def mutate_characters(rng: random.Random, text: str) -> str:
    """A grammar with characters replaced by others, or taken out."""
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.choice((0, 1, 1, 2, 5, 20)))
    kind = rng.random()
    if kind < 0.6:
        return text[:at] + rng.choice(PIECES) + text[end:]
    if kind < 0.8:
        return text[:at] + text[end:]
    return text[:at] + chr(rng.choice((rng.randrange(128), rng.randrange(0x110000)))) + text[end:]


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
        text = mutate(rng, SEEDS[language])
        started = time.perf_counter()
        compiled = started
        try:
            matcher = getattr(compiler, language)(text).matcher()
            compiled = time.perf_counter()
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
        ended = time.perf_counter()
        compiled = compiled if compiled > started else ended
        yield outcome, compiled - started, ended - compiled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+", choices=SEEDS)
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
