"""A server's mixture on two threads for N minutes; memory and latency of every minute are recorded.

Each thread keeps LIVE sequences of grammars drawn as users draw them: few popular ones often, many others once, of
schemas in both orders, tools, patterns, GBNF and Lark. A round fills the masks of all as one batch and has every
sequence accept a token; some fork, some are rolled back, finished ones make room for new ones. Judged: no exception,
and memory and the counted work of a step at p99 within TOLERANCE of what they were after SETTLED minutes with a store
of the same size (`drift`). Latency is recorded, not judged.

In: minutes. Out: a row a minute. Cost: as said.
"""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import numpy as np

import llmask
from bench.attack.corpora import Masks, real_tokenizer, schemas
from bench.attack.harness import Tally
from bench.mutations import DRAW
from bench.scaling.resident import resident_mib
from llmask.work import metered

N_THREADS = 2
LIVE = 16  # sequences of a thread
MOST_TOKENS = 200  # of a sequence
POPULAR, POPULAR_SHARE = 200, 0.8
SCHEMA_SHARE = 0.85
OTHERS = ("tools", "regex", "gbnf", "lark", "structural_tag")
MINUTE = 60.0  # seconds
SETTLED, TOLERANCE = 10, 0.05
LEAST_JUDGED = 20  # minutes


def run(tally: Tally) -> None:
    """Serve for so many minutes."""
    tokenizer = real_tokenizer()
    compiler, stop = llmask.Compiler(tokenizer), threading.Event()
    threads = [_Server(compiler, stop, f"{tally.seed} {number}") for number in range(N_THREADS)]
    for thread in threads:
        thread.start()
    try:
        for _ in tally.cases():
            stop.wait(MINUTE)
            tally.done += 1
            tally.rows.append(_minute(tally, tokenizer, threads))
            if tally.hung:
                break
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    for thread in threads:
        tally.sums["tokens"] += thread.n_tokens
        tally.sums["grammars"] += thread.n_grammars
        tally.sums["refused"] += thread.n_refused
        for what in thread.wrong:
            tally.fault(*what)
    if tally.done >= LEAST_JUDGED:
        for what, column in (("memory", "resident MiB"), ("work of a step", "p99 work")):
            moved = drift(tally.rows, column)
            tally.sums[f"{what} moved, per mille"] = round(1000 * moved)
            if abs(moved) > TOLERANCE:
                tally.fault(f"{what} moves", f"by {moved:.1%} since minute {SETTLED}, at the same size of the store")


def drift(rows: list[dict[str, Any]], column: str = "resident MiB") -> float:
    """By how much a column moved since minute SETTLED at the store's mean size, as a part of its mean.

    A store fills, and the cache of grammars beside it, until a new one is begun: resident memory goes up with it by
    half, every three to five minutes, and the work of steps down. So a column is fitted as a + b * (size of the store)
    + c * (minute).
    """
    later = [row for row in rows if row["minute"] >= SETTLED]
    minutes, store, values = (np.array([row[name] for row in later], float) for name in ("minute", "store MiB", column))
    terms = np.stack([np.ones_like(minutes), store, minutes], axis=1)
    a_minute = np.linalg.lstsq(terms, values, rcond=None)[0][2]
    return float(a_minute * (minutes[-1] - minutes[0]) / max(values.mean(), 1.0))


def _minute(tally: Tally, tokenizer: llmask.Tokenizer, threads: list[_Server]) -> dict[str, Any]:
    """What the last minute was like."""
    times: list[float] = []
    work: list[float] = []
    for thread in threads:
        before, thread.times = thread.times, []
        done, thread.work = thread.work, []
        times += before
        work += done
        if not before:
            tally.hung.append(f"a thread did nothing in minute {tally.done}: {thread.doing}")
    row = {
        "minute": tally.done,
        "resident MiB": round(resident_mib(), 1),
        "store MiB": round(tokenizer.store_bytes / 2**20, 1),
        "tokens": sum(thread.n_tokens for thread in threads),
        "grammars": sum(thread.n_grammars for thread in threads),
        "p99 work": round(float(np.percentile(work or [0], 99)), 1),
        **{f"p{share} us": round(1e6 * float(np.percentile(times or [0], share)), 1) for share in (50, 99, 99.9)},
    }
    tally.most("batch a token us", 1e6 * max(times, default=0.0), row["minute"])
    return row


class _Server(threading.Thread):
    """One thread of the server.

    Attributes
    ----------
    times : seconds of a batch a sequence, wall clock, since they were last taken away.
    work : units of a batch a sequence, the same; a step may take what all of the batch may.
    doing : what the thread does now.
    """

    def __init__(self, compiler: llmask.Compiler, stop: threading.Event, seed: str) -> None:
        super().__init__(daemon=True)
        self.compiler, self.stop, self.seed = compiler, stop, seed
        self.rng = random.Random(seed)
        self.entries = random.Random("popular").sample(schemas(), len(schemas()))
        self.masks = Masks(compiler.tokenizer)
        self.times: list[float] = []
        self.work: list[float] = []
        self.doing = "start"
        self.n_tokens = self.n_grammars = self.n_refused = 0
        self.wrong: list[tuple[Any, ...]] = []

    def run(self) -> None:
        bitmask = llmask.allocate_bitmask(LIVE, self.compiler.tokenizer.vocab_size)
        live = [self.sequence() for _ in range(LIVE)]
        while not self.stop.is_set():
            try:
                started = time.perf_counter()
                with metered(LIVE * self.compiler.limits.max_step_work, "max_step_work") as meter:
                    llmask.fill_bitmasks(live, bitmask)
                self.work.append(meter.spent / LIVE)
                self.times.append((time.perf_counter() - started) / LIVE)
            except Exception as error:
                self.wrong.append((f"a batch raises {type(error).__name__}", error))
                live = [self.sequence() for _ in range(LIVE)]
                continue
            for place, matcher in enumerate(live):
                self.masks.bitmask[:] = bitmask[place]
                live[place] = self.stepped(matcher)

    def stepped(self, matcher: llmask.Matcher) -> llmask.Matcher:
        """The sequence after a token, or a new one after its end."""
        try:
            token = self.masks.chosen(self.masks.last(), self.rng)
            matcher.accept_token(token)
            self.n_tokens += 1
            roll = self.rng.random()
            if roll < 0.03:
                matcher = matcher.fork()
            elif roll < 0.05:
                matcher.rollback(min(3, len(matcher.tokens)))
            if matcher.is_terminated() or len(matcher.tokens) > MOST_TOKENS:
                return self.sequence()
        except Exception as error:
            self.wrong.append((f"a step raises {type(error).__name__}", self.doing, matcher.text()[-100:], error))
            return self.sequence()
        return matcher

    def sequence(self) -> llmask.Matcher:
        """A new sequence of a grammar that is compiled for it, or remembered."""
        while True:
            try:
                matcher = self.grammar().matcher()
                self.n_grammars += 1
                return matcher
            except llmask.LlmaskError:
                self.n_refused += 1
            except Exception as error:
                self.wrong.append((f"compile raises {type(error).__name__}", self.doing, error))

    def grammar(self) -> Any:
        """As users draw them."""
        rng, compiler = self.rng, self.compiler
        if rng.random() < SCHEMA_SHARE:
            popular = self.entries[:POPULAR] if rng.random() < POPULAR_SHARE else self.entries
            entry, order = rng.choice(popular), rng.choice(("schema", "any"))
            self.doing = f"{entry.id}, order {order}"
            return compiler.json_schema(entry.schema, property_order=order)
        language = rng.choice(OTHERS)
        case = DRAW[language](random.Random(f"{language} {rng.randrange(3000)}"))
        self.doing = f"{language} {case.text[:300]!a}"
        return case.compiled(compiler)
