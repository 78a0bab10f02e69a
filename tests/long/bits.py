"""A bit of a mask means what every other door says of the token, for grammars of every language, damaged ones too.

At places of random walks, for allowed and refused tokens alike: the bit = `validate_tokens([t]) == 1` = a fork accepts
the token = a fork accepts its bytes (which end a sequence or are named by the grammar instead: no bytes) = the bit in
a batch. A fork that took the token and one that took its bytes have the same mask, and the matcher is as it was before.
`validate_tokens` counts as many leading tokens as a fork accepts one by one. At some places, also after rolling back,
in forks and after a reset, every token of the vocabulary is validated, and a fresh matcher must have the same mask;
with one compiler tables are renewed all the time.

No grammar may raise another error than llmask's own, take more than MOST_SECONDS of the thread's time in each of
TRIALS trials (threads that share a core have inflated it threefold), or let memory grow by more than MOST_BYTES. Tables
reserve addresses for 256 times what they hold and take memory when they write, so what is measured is memory.

In: bits. Out: counts, the slowest. Cost: 10 us a bit.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import llmask
from llmask.matching.expected import may_be_named
from tests.generators.damaged_grammars import DRAW
from tests.generators.schemas import random_schema
from tests.long.corpora import Masks, schemas, state_of, tiny_tokenizer
from tests.long.files import peak_bytes
from tests.long.harness import Tally

LANGUAGES = ("corpus", "values", *DRAW)
PLACES = 12  # of a walk, at most
TOKENS = 10  # of each kind at a place
ROUND = 300  # grammars of one compiler
RUN = 6  # tokens that are validated together
WHOLE_SHARE = 0.1  # of the places: every token is validated
MOST_WHOLE = 1000  # tokens of a vocabulary for which that is done
RENEW_BYTES = 1 << 16
MOST_SECONDS, TRIALS = 2.0, 3
MOST_BYTES = 2**30
TRACKED: tuple[dict[str, Any], ...] = (
    {"type": "array", "uniqueItems": True},
    {"type": "array", "uniqueItems": True, "minItems": 2, "items": {"type": ["number", "string", "boolean"]}},
    {"type": "array", "uniqueItems": True, "items": {"type": "object"}},
    {"type": "array", "contains": {"type": "string"}, "minContains": 2, "maxContains": 3},
    {"type": "array", "uniqueItems": True, "contains": {"type": "integer"}, "minContains": 2},
    {"type": "object", "minProperties": 3, "maxProperties": 4},
    {"type": "object", "required": ["b", "a"], "properties": {"a": {}, "b": {}, "ab": {}}},
    {"type": "object", "propertyNames": {"pattern": "b$"}, "minProperties": 2},
)


def run(tally: Tally) -> None:
    """Compare until `tally.size` bits are counted."""
    renewing = llmask.Limits(renew_grammar_bytes=RENEW_BYTES)
    worlds = [(llmask.Tokenizer.default(), None), (tiny_tokenizer(), None), (tiny_tokenizer(), renewing)]
    doors = [_Doors(tally, tokenizer) for tokenizer, _ in worlds]
    compilers: list[llmask.Compiler] = []
    allowed = peak_bytes() + MOST_BYTES
    for number, rng in enumerate(tally.cases()):
        if number % ROUND == 0:
            compilers = [llmask.Compiler(tokenizer, limits, cache_bytes=0) for tokenizer, limits in worlds]
        side = rng.randrange(len(worlds))
        language = rng.choice(LANGUAGES)
        try:
            text, grammar = _drawn(tally, language, compilers[side], rng)
        except llmask.LlmaskError as error:
            tally.sums[f"refused: {type(error).__name__}"] += 1
        except Exception as error:
            tally.fault(f"compiling raises {type(error).__name__}", language, error)
        else:
            tally.sums[f"grammars: {language}"] += 1
            try:
                doors[side].walk(grammar, rng, f"{language} {text[:600]!a}")
            except llmask.LimitExceeded:
                tally.sums["limit in the middle"] += 1
            except Exception as error:
                tally.fault(f"raises {type(error).__name__}", language, repr(text), error)
        if peak_bytes() > allowed:
            tally.fault(f"{peak_bytes() >> 20} MiB of memory", language)
            allowed = peak_bytes() + MOST_BYTES


def _drawn(tally: Tally, language: str, compiler: llmask.Compiler, rng: random.Random) -> tuple[str, Any]:
    """A grammar of a language, damaged ones among them, with its text; one that is slow in every trial is a fault."""
    text, compiles = _case(language, rng)
    started = time.thread_time()
    try:
        return text, compiles(compiler)
    finally:
        seconds = time.thread_time() - started
        tally.most("compile ms", 1000 * seconds, f"{language} {text!a}")
        if seconds > MOST_SECONDS and all(_seconds(compiles, compiler) > MOST_SECONDS for _ in range(1, TRIALS)):
            tally.fault("slow", language, repr(text), seconds)


def _seconds(compiles: Callable[[llmask.Compiler], Any], compiler: llmask.Compiler) -> float:
    """Of compiling once more, with a compiler of its own."""
    started = time.thread_time()
    with contextlib.suppress(llmask.LlmaskError):
        compiles(llmask.Compiler(compiler.tokenizer, compiler.limits, cache_bytes=0))
    return time.thread_time() - started


def _case(language: str, rng: random.Random) -> tuple[str, Callable[[llmask.Compiler], Any]]:
    """A text, and how it is compiled."""
    options: dict[str, Any]
    if language == "corpus":
        entry = rng.choice(schemas())
        options = {"property_order": rng.choice(("schema", "any"))}
        return f"{entry.id} {options}", lambda compiler: compiler.json_schema(entry.schema, **options)
    if language == "values":
        schema = rng.choice(TRACKED) if rng.random() < 0.25 else random_schema(rng)
        options = {"whitespace": rng.choice(("flexible", "compact")), "unique_keys": rng.random() < 0.5}
        options |= {"property_order": "any", "literals": "any"}
        return f"{schema} {options}", lambda compiler: compiler.json_schema(schema, **options)
    case = DRAW[language](rng)
    return case.text, case.compiled


class _Doors:
    """Asks every door about tokens."""

    def __init__(self, tally: Tally, tokenizer: llmask.Tokenizer) -> None:
        self.tally, self.tokenizer = tally, tokenizer
        self.masks, self.others = Masks(tokenizer), Masks(tokenizer)
        self.batch = llmask.allocate_bitmask(2, tokenizer.vocab_size)
        self.always = [*tokenizer.eos_ids, *tokenizer.special_ids[:3]]

    def walk(self, grammar: Any, rng: random.Random, where: str) -> None:
        """Compare at the places of one walk, in a fork, after rolling back, and after a reset."""
        matcher, forks = grammar.matcher(), []
        for _ in range(rng.randint(1, PLACES)):
            started = time.thread_time()
            before = state_of(matcher, self.masks)
            seconds = time.thread_time() - started
            self.tally.most("mask ms", 1000 * seconds, where)
            if seconds > MOST_SECONDS:
                self.tally.fault("a slow mask", where, before[0], seconds)
            allowed = self.masks.last()
            self.place(matcher, allowed, rng, where)
            if rng.random() < WHOLE_SHARE:
                self.whole(matcher, where, "on the way")
                forks.append(matcher.fork())
            if state_of(matcher, self.others) != before:
                self.tally.fault("asking has changed the matcher", where, before[0])
            matcher.accept_token(self.masks.chosen(allowed, rng))
            if matcher.is_terminated():
                break
            if rng.random() < WHOLE_SHARE:
                matcher.rollback(rng.randint(0, len(matcher.tokens)))
                self.whole(matcher, where, "rolled back")
        for fork in forks[:1]:
            self.whole(fork, where, "forks")
            tokens = matcher.tokens
            matcher.reset()
            matcher.accept_tokens(tokens[: rng.randint(0, len(tokens))])
            self.whole(matcher, where, "after a reset")

    def whole(self, matcher: llmask.Matcher, where: str, place: str) -> None:
        """Every token's bit; and a fresh matcher has the same mask."""
        if matcher.is_terminated() or self.others.n_tokens > MOST_WHOLE:
            return
        self.tally.sums[f"whole masks {place}"] += 1
        allowed = self.others.read(matcher)
        accepted = np.array([matcher.validate_tokens([token]) == 1 for token in range(self.others.n_tokens)])
        if (allowed != accepted).any():
            tokens = np.flatnonzero(allowed != accepted)[:8].tolist()
            self.tally.fault(f"validate_tokens differs from bits {place}", where, matcher.text(), tokens)
        fresh = matcher.grammar.matcher()
        fresh.accept_tokens(matcher.tokens)
        if (self.others.read(fresh) != allowed).any():
            self.tally.fault(f"a fresh matcher has another mask {place}", where, matcher.text())

    def place(self, matcher: llmask.Matcher, allowed: Any, rng: random.Random, where: str) -> None:
        """Compare some tokens at one place."""
        yes, no = np.flatnonzero(allowed).tolist(), np.flatnonzero(~allowed).tolist()
        tokens = [*rng.sample(yes, min(TOKENS, len(yes))), *rng.sample(no, min(TOKENS, len(no))), *self.always]
        configuration = matcher._sequence.configuration
        reads_bytes = not may_be_named(matcher._sequence, configuration) and not matcher.grammar.limited_rules
        llmask.fill_bitmasks([matcher, matcher.fork()], self.batch, threads=2)
        if (self.batch != self.masks.bitmask).any():
            self.tally.fault("a batch has other masks", where, matcher.text())
        for number, token in enumerate(tokens):
            self.token(matcher, token, bool(allowed[token]), reads_bytes, number == 0, where)
        self.validated(matcher, rng, where)

    def token(
        self, matcher: llmask.Matcher, token: int, bit: bool, reads_bytes: bool, compares: bool, where: str
    ) -> None:
        """Compare one bit with all doors."""
        tally = self.tally
        tally.done += 1
        tally.sums["bits set" if bit else "bits not set"] += 1
        if (matcher.validate_tokens([token]) == 1) != bit:
            tally.fault("validate_tokens differs from the bit", where, matcher.text(), token, bit)
        fork = accepted(matcher, "accept_token", token)
        if (fork is not None) != bit:
            tally.fault("accept_token differs from the bit", where, matcher.text(), token, bit)
        data = self.tokenizer.token_bytes(token)
        if token in self.tokenizer.eos_ids:
            # where a grammar names tokens by their ids, it may name an end of sequence as any other
            if bit != matcher.is_accepting() and (reads_bytes or not bit):
                tally.fault("the end's bit is not is_accepting", where, matcher.text(), token, bit)
            return
        if not reads_bytes or token in self.tokenizer.special_ids or not data:
            return
        other = accepted(matcher, "accept_bytes", data)
        if (other is not None) != bit:
            tally.fault("accept_bytes differs from the bit", where, matcher.text(), token, bit)
        if compares and fork is not None and other is not None:
            tally.sums["states compared"] += 1
            if state_of(fork, self.others) != state_of(other, self.others):
                tally.fault("a token and its bytes lead to other states", where, matcher.text(), token)

    def validated(self, matcher: llmask.Matcher, rng: random.Random, where: str) -> None:
        """Compare the count of a run of tokens with accepting them one by one."""
        fork, tokens = matcher.fork(), []
        n_good = rng.randint(0, RUN)
        for _ in range(n_good):
            tokens.append(self.others.chosen(self.others.read(fork), rng))
            fork.accept_token(tokens[-1])
            if fork.is_terminated():
                n_good = len(tokens)
                break
        refused = np.flatnonzero(~self.others.read(fork)).tolist()
        if refused:
            tokens += [rng.choice(refused), *tokens]
        if matcher.validate_tokens(tokens) != n_good:
            self.tally.fault("validate_tokens counts otherwise", where, matcher.text(), tokens, n_good)


def accepted(matcher: llmask.Matcher, door: str, what: Any) -> llmask.Matcher | None:
    """A fork that has taken a token, or bytes; None where they are refused."""
    fork = matcher.fork()
    try:
        getattr(fork, door)(what)
    except llmask.TokenRejected:
        return None
    return fork
