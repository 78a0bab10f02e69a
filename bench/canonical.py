"""Canonical masks and forced tokens: are they what they say, and what do they cost?

    python -m bench.canonical walks    random sequences on schemas: dead ends, sequences that are not canonical, cuts
    python -m bench.canonical cost     canonical against plain masks on the documents of MaskBench, in one run;
                                       `--random 100`: on 100 random sequences a schema in their place
    python -m bench.canonical forced   forced tokens on these documents: are they canonical, and how many are there

A walk takes a token of the mask at random, half of the walks evenly among tokens, half evenly among first bytes, and
after `--tokens` tokens what leads to the end. A dead end is a mask without a token. The judge of a whole sequence is
the tokenizer: encoding the text of the tokens has to give the tokens. A walk without an end after `--most` tokens is
judged by `Tokenizer.certain_tokens`: what the encoding of every longer text begins with has to be its first tokens.

In: a vocabulary (`--vocabulary`: "default", or the path of a GGUF file). Out: figures on the standard output, and
status 1 where something is not as it should be. Cost: some minutes each.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import llmask
from bench.data import MASKBENCH, Row, instance_text, maskbench_rows, own_rows

CLOSING = b'"}],:'
NO_BYTE = 256


def tokenizer_of(name: str) -> llmask.Tokenizer:
    """The tokenizer of the package, or of a GGUF file."""
    return llmask.Tokenizer.default() if name == "default" else llmask.Tokenizer.from_gguf(name)


def chosen_rows(limit: int, seed: int) -> list[Row]:
    """Rows of MaskBench, or of our own cases."""
    rows = maskbench_rows() if MASKBENCH.exists() else [row for row in own_rows() if row.kind == "schema"]
    return random.Random(seed).sample(rows, min(limit, len(rows)))


def schemas(limit: int, seed: int) -> list[Any]:
    """The schemas of such rows."""
    return [row.schema for row in chosen_rows(limit, seed)]


def grammars(compiler: llmask.Compiler, wanted: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Schemas that compile, with their grammars; white space of every kind takes its turn."""
    for number, schema in enumerate(wanted):
        options: dict[str, Any] = ({}, {"indent": 2}, {"whitespace": "compact"}, {"max_whitespace": 4})[number % 4]
        try:
            yield schema, compiler.json_schema(schema, **options)
        except llmask.LlmaskError:
            continue


class Walker:
    """Walks at random; counts what goes wrong."""

    def __init__(self, tokenizer: llmask.Tokenizer, n_tokens: int, most: int) -> None:
        self.tokenizer = tokenizer
        self.n_tokens, self.most = n_tokens, most
        names = ("walks", "positions", "dead ends", "not canonical", "unfinished", "tokens of these not judged")
        self.counts = dict.fromkeys(names, 0)
        self._mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self._spellings = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
        self._first = np.array([data[0] if data else NO_BYTE for data in self._spellings])
        self._is_closing = np.zeros(NO_BYTE + 1, bool)
        self._is_closing[list(CLOSING)] = True
        self._eos = frozenset(tokenizer.eos_ids)

    def walk(self, grammar: Any, rng: random.Random) -> list[int]:
        """One sequence; its tokens."""
        matcher = grammar.matcher()
        by_byte = rng.random() < 0.5
        self.counts["walks"] += 1
        n = 0
        while not matcher.is_terminated() and n < self.most:
            matcher.fill_bitmask(self._mask)
            bits = np.unpackbits(self._mask[0].view(np.uint8), bitorder="little")
            allowed = np.flatnonzero(bits)
            if not len(allowed):
                self.counts["dead ends"] += 1
                print(f"dead end after {matcher.text()!r}", flush=True)
                return list(matcher.tokens)
            matcher.accept_token(self._choose(allowed, by_byte, n >= self.n_tokens, rng))
            n += 1
        self.counts["positions"] += n
        tokens = [token for token in matcher.tokens if token not in self._eos]
        if matcher.is_terminated():
            expected = self.tokenizer.encode(matcher.text().decode())
        else:
            expected = self.tokenizer._parts.certain_tokens(matcher.text(), may_end=False) or []
            self.counts["unfinished"] += 1
            self.counts["tokens of these not judged"] += len(tokens) - len(expected)
            tokens = tokens[: len(expected)]
        if expected != tokens:
            self.counts["not canonical"] += 1
            print(f"not canonical: {matcher.text()!r} {tokens}", flush=True)
        return list(matcher.tokens)

    def _choose(self, allowed: Any, by_byte: bool, ends: bool, rng: random.Random) -> int:
        if ends:
            best = [token for token in self._eos if token in allowed]
            if best:
                return best[0]
            closing = allowed[self._is_closing[self._first[allowed]]]
            allowed = closing if len(closing) and rng.random() < 0.8 else allowed
            return min((int(allowed[rng.randrange(len(allowed))]) for _ in range(8)), key=self._cost)
        if by_byte:
            firsts = self._first[allowed]
            allowed = allowed[firsts == rng.choice(np.flatnonzero(np.bincount(firsts)).tolist())]
        return int(allowed[rng.randrange(len(allowed))])

    def _cost(self, token: int) -> tuple[bool, int]:
        data = self._spellings[token]
        return data.isspace(), len(data)


def run_walks(tokenizer: llmask.Tokenizer, n_walks: int, n_schemas: int, n_tokens: int, most: int, seed: int) -> bool:
    """Random walks; whether all went well."""
    compiler = llmask.Compiler(tokenizer, canonical=True)
    walker = Walker(tokenizer, n_tokens, most)
    n_cut = n_used = 0
    for number, (_, grammar) in enumerate(grammars(compiler, schemas(n_schemas, seed))):
        n_used += 1
        for i in range(-(-n_walks // n_schemas)):
            walker.walk(grammar, random.Random(f"{seed} {number} {i}"))
        n_cut += grammar._loaded.n_cut
    counts = walker.counts
    print(f"{n_used} schemas, " + ", ".join(f"{value} {name}" for name, value in counts.items()))
    share = n_cut / max(counts["positions"], 1)
    print(f"look-ahead cut at {n_cut} positions, {share:.4%}")
    return counts["dead ends"] == counts["not canonical"] == 0 and share <= 0.001


def instances(rows: list[Row], tokenizer: llmask.Tokenizer) -> Iterator[tuple[Any, list[list[int]]]]:
    """Schemas with the token ids of their valid documents."""
    for row in rows:
        documents = [tokenizer.encode(instance_text(one.data)) for one in row.instances if one.is_valid]
        if documents:
            yield row.schema, documents


def random_instances(
    tokenizer: llmask.Tokenizer, walker: Walker, wanted: list[Any], n_walks: int, seed: int
) -> Iterator[tuple[Any, list[list[int]]]]:
    """Schemas with the token ids of random walks, which have tables of their own."""
    compiler = llmask.Compiler(tokenizer, canonical=True)
    for number, schema in enumerate(wanted):
        try:
            grammar = compiler.json_schema(schema)
        except llmask.LlmaskError:
            continue
        yield schema, [walker.walk(grammar, random.Random(f"{seed} {number} {i}")) for i in range(n_walks)]


def run_cost(tokenizer: llmask.Tokenizer, given: Iterator[tuple[Any, list[list[int]]]]) -> bool:
    """Canonical against plain masks; whether a canonical one costs at most 3 us more."""
    compilers = [llmask.Compiler(tokenizer), llmask.Compiler(tokenizer, canonical=True)]
    judge = llmask.Compiler(tokenizer)  # has its own tables, so that neither finds any of a document there
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    spent = np.zeros((2, 2))  # of each compiler, the first time a document is seen and the second
    n_masks, n_refused = 0, 0
    for schema, documents in given:
        try:
            pair = [compiler.json_schema(schema) for compiler in compilers]
            judged = judge.json_schema(schema)
        except llmask.LlmaskError:
            continue
        accepted = [ids for ids in documents if judged.matcher().validate_tokens(ids) == len(ids)]
        n_masks += sum(map(len, accepted))
        for again in range(2):
            for number, grammar in enumerate(pair):  # each reads all documents: two sets of tables share no caches
                for ids in accepted:
                    matcher = grammar.matcher()
                    fill, accept = matcher.fill_bitmask, matcher.accept_token
                    started = time.thread_time()
                    try:
                        for token in ids:
                            fill(mask)
                            accept(token)
                    except llmask.TokenRejected as error:
                        n_refused += 1
                        print(f"refused: {error}", flush=True)
                    spent[number, again] += time.thread_time() - started
    each = spent / n_masks * 1e6
    print(f"{n_masks} masks; microseconds of processor time a mask and token, first and second time over a document:")
    print(f"plain      {each[0, 0]:7.2f} {each[0, 1]:7.2f}")
    print(f"canonical  {each[1, 0]:7.2f} {each[1, 1]:7.2f}")
    print(f"difference {each[1, 0] - each[0, 0]:7.2f} {each[1, 1] - each[0, 1]:7.2f};  {n_refused} documents refused")
    return n_refused == 0 and each[1, 0] - each[0, 0] <= 3


def run_forced(tokenizer: llmask.Tokenizer, limit: int, seed: int) -> bool:
    """Forced tokens along the documents; whether all are those of the documents."""
    compiler = llmask.Compiler(tokenizer)
    n_tokens = n_forced = n_wrong = 0
    for schema, documents in instances(chosen_rows(limit, seed), tokenizer):
        try:
            grammar = compiler.json_schema(schema)
        except llmask.LlmaskError:
            continue
        for ids in documents:
            matcher = grammar.matcher()
            if matcher.validate_tokens(ids) < len(ids):
                continue
            at = 0
            while at < len(ids):
                forced = matcher.forced_tokens()
                if ids[at : at + len(forced)] != forced:
                    n_wrong += 1
                    print(f"not canonical: {forced} after {matcher.text()!r}", flush=True)
                    forced = []
                n_forced += len(forced)
                taken = forced or ids[at : at + 1]
                matcher.accept_tokens(taken)
                at += len(taken)
            n_tokens += len(ids)
    print(f"{n_tokens} tokens, {n_forced} forced: {n_forced / max(n_tokens, 1):.1%}; {n_wrong} not canonical")
    return n_wrong == 0


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.canonical", description="Canonical masks, forced tokens.")
    parser.add_argument("what", choices=("walks", "cost", "forced"))
    parser.add_argument("--vocabulary", default="default", help='"default" or a GGUF file')
    parser.add_argument("--walks", type=int, default=10_000)
    parser.add_argument("--schemas", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=25, help="after so many a walk goes for the end")
    parser.add_argument("--most", type=int, default=400, help="tokens of a walk; then it is left unfinished")
    parser.add_argument("--rows", type=int, default=400, help="schemas of MaskBench")
    parser.add_argument("--random", type=int, default=0, help="cost: so many walks on each of the --schemas instead")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tokenizer = tokenizer_of(given.vocabulary)
    started = time.perf_counter()
    if given.what == "walks":
        is_well = run_walks(tokenizer, given.walks, given.schemas, given.tokens, given.most, given.seed)
    elif given.what == "cost":
        documents = instances(chosen_rows(given.rows, given.seed), tokenizer)
        if given.random:
            walker, wanted = Walker(tokenizer, given.tokens, given.most), schemas(given.schemas, given.seed)
            documents = random_instances(tokenizer, walker, wanted, given.random, given.seed)
        is_well = run_cost(tokenizer, documents)
    else:
        is_well = run_forced(tokenizer, given.rows, given.seed)
    print(f"{time.perf_counter() - started:.0f} s; {'as it should be' if is_well else 'NOT as it should be'}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
