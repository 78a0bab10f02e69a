r"""Random patterns and texts beside `re` and `regex`, through compiled grammars.

`tests/generators/patterns.py` draws patterns of every construct of `re` and texts that they may match. `re` is the
judge; where `regex` says otherwise than `re`, and agrees with llmask, the pair is set aside: one of the two has a bug
(3.11 has some with possessive quantifiers). Patterns with `\p{...}`, which `re` does not know, are judged by `regex` on
texts of letters that all versions of Unicode know.

In: pairs of a pattern and a text. Out: counts, the slowest pattern. Cost: 2 ms a pair.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import llmask
from tests.generators.patterns import Drawn, Patterns, compare, draw_text
from tests.long.harness import Tally, needed
from tests.long.subject import accepts

TEXTS = 12  # of a pattern
ROUND = 300  # patterns of one compiler
PROPERTIES = (r"\p{L}", r"\p{Lu}", r"\P{L}", r"\p{Nd}", r"\p{Script=Greek}", r"[\p{Ll}_]", r"[^\p{L}]", r"\p{Zs}")
LETTERS = "aAbBéÉßσΣΩжЖ日١3 _-\u2003"
PROPERTY_SHARE = 0.1


def run(tally: Tally) -> None:
    """Compare until `tally.size` pairs are counted."""
    regex = needed("regex")
    compiler: Any = None
    tokenizer = llmask.Tokenizer.default()
    for number, rng in enumerate(tally.cases()):
        if number % ROUND == 0:
            compiler = llmask.Compiler(tokenizer, cache_bytes=0)
        if rng.random() < PROPERTY_SHARE:
            _with_properties(tally, compiler, regex, rng)
        else:
            _beside_re(tally, compiler, regex, rng)


def _reader(tally: Tally, compiler: llmask.Compiler, pattern: str, is_search: bool) -> Callable[[bytes], bool]:
    """Says of texts whether the compiled pattern has them."""
    started = time.thread_time()
    try:
        grammar = compiler.regex(pattern, "search" if is_search else "fullmatch")
    except llmask.GrammarError as error:
        if "matches nothing" not in error.message and not isinstance(error, llmask.UnsatisfiableSchema):
            raise
        tally.sums["patterns that match nothing"] += 1
        return lambda text: False
    finally:
        tally.most("compile ms", 1000 * (time.thread_time() - started), ascii(pattern))

    def reads(text: bytes) -> bool:
        begun = time.thread_time()
        try:
            return accepts(grammar.matcher(), text)
        finally:
            tally.most("text ms", 1000 * (time.thread_time() - begun), ascii(pattern))

    return reads


def _beside_re(tally: Tally, compiler: llmask.Compiler, regex: Any, rng: random.Random) -> None:
    agreeing: list[bool] = []  # of each text that was read: whether regex says what llmask says

    def matcher_of(pattern: str, is_search: bool) -> Callable[[bytes], bool]:
        reads, judge = _reader(tally, compiler, pattern, is_search), _of_regex(regex, pattern, is_search)

        def matches(text: bytes) -> bool:
            found = reads(text)
            said = None if judge is None else judge(text.decode())
            tally.sums["pairs that regex judges, too"] += said is not None
            agreeing.append(said == found)
            return found

        return matches

    try:
        found = compare(rng, matcher_of, TEXTS)
    except AssertionError as error:
        tally.done += len(agreeing)
        if agreeing and agreeing[-1]:
            tally.sums["set aside: re and regex differ"] += 1
        else:
            tally.fault("differs from re", ascii(str(error)))
        return
    except Exception as error:
        tally.fault(f"raises {type(error).__name__}", error)
        return
    tally.done += found.n_pairs
    tally.sums[f"patterns: {found.outcome}"] += 1
    tally.sums["pairs that match"] += found.n_matches
    tally.sums["pairs where regex alone differs"] += agreeing.count(False)


def _of_regex(regex: Any, pattern: str, is_search: bool) -> Callable[[str], bool] | None:
    """The judge that `regex` makes of a pattern, if it takes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            judge = regex.compile(pattern, regex.VERSION0)
        except (regex.error, OverflowError, ValueError):
            return None
    return lambda text: bool((judge.search if is_search else judge.fullmatch)(text, timeout=5))


class _PropertyPatterns(Patterns):
    """Patterns whose characters are letters of LETTERS and properties."""

    def _character(self) -> Drawn:
        if self.rng.random() < 0.5:
            return Drawn(self.rng.choice(PROPERTIES), lambda rng: rng.choice(LETTERS))
        letter = self.rng.choice(LETTERS)
        return Drawn(f"\\u{ord(letter):04x}", lambda rng: letter)

    def _nothing_taken(self, depth: int) -> Drawn:
        return Drawn("", lambda rng: "")


def _with_properties(tally: Tally, compiler: llmask.Compiler, regex: Any, rng: random.Random) -> None:
    drawn = _PropertyPatterns(rng)._alternatives(2)
    if "(?a" in drawn.pattern:  # regex takes letters of ASCII alone there, also for properties
        tally.sums["set aside: properties under (?a)"] += 1
        return
    if "}+" in drawn.pattern:  # regex gives up a choice in (?:|x){1}+, which re and llmask hold
        tally.sums["set aside: properties beside counted possessive quantifiers"] += 1
        return
    judge = _of_regex(regex, drawn.pattern, False)
    if judge is None:
        tally.sums["patterns: refused by regex"] += 1
        return
    try:
        reads = _reader(tally, compiler, drawn.pattern, False)
    except llmask.LlmaskError as error:
        tally.sums[f"patterns: refused: {error.message[:40]}"] += 1
        return
    tally.sums["patterns with properties"] += 1
    for _ in range(TEXTS):
        text = "".join(letter for letter in draw_text(rng, drawn) if letter in LETTERS)
        tally.done += 1
        if reads(text.encode()) != judge(text):
            tally.fault("differs from regex", ascii(drawn.pattern), ascii(text))
