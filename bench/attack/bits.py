"""A bit of a mask means what every other door says of the token, for grammars of every language.

At places of random walks, for allowed and refused tokens alike: the bit = `validate_tokens([t]) == 1` = a fork accepts
the token = a fork accepts its bytes (which end a sequence or are named by the grammar instead: no bytes) = the bit in
a batch. A fork that took the token and one that took its bytes have the same mask, and the matcher is as it was before.
`validate_tokens` counts as many leading tokens as a fork accepts one by one.

In: bits. Out: counts. Cost: 10 us a bit.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import llmask
from bench.attack.corpora import Masks, schemas, state_of, tiny_tokenizer
from bench.attack.harness import Tally
from bench.mutations import DRAW
from llmask.matching.expected import may_be_named

LANGUAGES = ("corpus", *DRAW)
PLACES = 12  # of a walk, at most
TOKENS = 10  # of each kind at a place
ROUND = 300  # grammars of one compiler
RUN = 6  # tokens that are validated together


def run(tally: Tally) -> None:
    """Compare until so many bits are counted."""
    tokenizers = (llmask.Tokenizer.default(), tiny_tokenizer())
    doors = [_Doors(tally, tokenizer) for tokenizer in tokenizers]
    compilers: list[llmask.Compiler] = []
    for number, rng in enumerate(tally.cases()):
        if number % ROUND == 0:
            compilers = [llmask.Compiler(tokenizer, cache_bytes=0) for tokenizer in tokenizers]
        side = rng.randrange(2)
        language = rng.choice(LANGUAGES)
        try:
            text, grammar = _drawn(language, compilers[side], rng)
        except llmask.LlmaskError as error:
            tally.sums[f"refused: {type(error).__name__}"] += 1
            continue
        tally.sums[f"grammars: {language}"] += 1
        try:
            doors[side].walk(grammar, rng, f"{language} {text[:600]!a}")
        except llmask.LimitExceeded:
            tally.sums["limit in the middle"] += 1
        except Exception as error:
            tally.fault(f"raises {type(error).__name__}", language, repr(text), error)


def _drawn(language: str, compiler: llmask.Compiler, rng: random.Random) -> tuple[str, Any]:
    """A grammar of a language, damaged ones among them, with its text."""
    if language == "corpus":
        entry = rng.choice(schemas())
        order = rng.choice(("schema", "any"))
        return f"{entry.id} {order}", compiler.json_schema(entry.schema, property_order=order)
    case = DRAW[language](rng)
    return case.text, case.compiled(compiler)


class _Doors:
    """Asks every door about tokens."""

    def __init__(self, tally: Tally, tokenizer: llmask.Tokenizer) -> None:
        self.tally, self.tokenizer = tally, tokenizer
        self.masks, self.others = Masks(tokenizer), Masks(tokenizer)
        self.batch = llmask.allocate_bitmask(2, tokenizer.vocab_size)
        self.always = [*tokenizer.eos_ids, *tokenizer.special_ids[:3]]

    def walk(self, grammar: Any, rng: random.Random, where: str) -> None:
        """Compare at the places of one walk."""
        matcher = grammar.matcher()
        for _ in range(rng.randint(1, PLACES)):
            before = state_of(matcher, self.masks)
            allowed = self.masks.last()
            self.place(matcher, allowed, rng, where)
            if state_of(matcher, self.others) != before:
                self.tally.fault("asking has changed the matcher", where, before[0])
            matcher.accept_token(self.masks.chosen(allowed, rng))
            if matcher.is_terminated():
                return

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
