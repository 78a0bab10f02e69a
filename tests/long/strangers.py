"""Schemas, patterns and grammars that ask for as much as they can, beside sequences that must not feel them.

One compiler has `Limits.for_untrusted()`. Each hostile input is compiled and, if it is not refused, STEPS tokens are
written with `on_limit="finish"`. Meanwhile another thread writes SEQUENCES documents of ordinary schemas with the same
compiler, one token of each in turn, and every step notes how long it waited for the lock of a store. Judged: no error
but llmask's own, none at all after the compile, and MOST_MIB more memory. Seconds are counted, not judged: processor
time of an input (LONG_MS), waits of steps (WAIT_MS at the 99th percentile, LONGEST_WAIT_MS).

In: hostile inputs. Out: counts, the slowest, percentiles of waits. Cost: 0.1 s an input.
"""

from __future__ import annotations

import gc
import itertools
import random
import threading
import time
import warnings
from typing import Any

import numpy as np

import llmask
from llmask.store.lock import Waits
from tests.long.corpora import Masks, real_tokenizer, schemas
from tests.long.harness import Tally
from tests.long.strange_inputs import hostile_source
from tests.long.workers import resident_mib

STEPS = 30  # of a hostile input
SEQUENCES = 64  # healthy ones
ORDINARY = 12  # schemas that they write
DOCUMENT_TOKENS = 60  # after which a healthy sequence is given up, and another one comes
LONG_MS = 500.0
WAIT_MS, LONGEST_WAIT_MS = 5.0, 20.0
MOST_MIB = 200.0
ROUNDS = 100  # of healthy steps until memory is collected, between two of them


def run(tally: Tally) -> None:
    """Compile and step until there were `tally.size` inputs."""
    tokenizer = real_tokenizer()
    compiler = llmask.Compiler(tokenizer, limits=llmask.Limits.for_untrusted())
    masks = Masks(tokenizer)
    healthy = _Healthy(compiler, tally.seed)
    gc.collect()
    gc.freeze()  # the corpus
    gc.disable()  # it takes the interpreter away for up to 600 ms, which is no wait for a lock
    healthy.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for rng in tally.cases():
                _attack(tally, compiler, masks, rng)
                tally.done += 1
    finally:
        healthy.ends.set()
        healthy.join()
        gc.enable()
        gc.unfreeze()
    healthy.report(tally)


def _attack(tally: Tally, compiler: llmask.Compiler, masks: Masks, rng: random.Random) -> None:
    """Compile one hostile input and write some tokens."""
    kind, source = hostile_source(rng)
    shown = f"{kind} {str(source)[:300]}"
    store, before, resident = compiler._newest_store(), compiler._newest_store().bytes_used, resident_mib()
    began = time.thread_time()
    grammar, step_ms = None, 0.0
    try:
        if kind == "schema":
            grammar = compiler.json_schema(source, property_order=rng.choice(["schema", "any"]))
        else:
            grammar = getattr(compiler, kind)(source)
        tally.most("compile ms", 1000 * (time.thread_time() - began), shown)
        matcher = grammar.matcher(on_limit="finish")
        for _ in range(STEPS):
            step_began = time.thread_time()
            allowed = masks.read(matcher)
            matcher.accept_token(masks.chosen(allowed, rng))
            step_ms = max(step_ms, 1000 * (time.thread_time() - step_began))
            if matcher.is_terminated():
                break
        tally.sums["met a limit and finishes" if grammar._loaded.n_finished else "compiled"] += 1
    except llmask.LlmaskError as error:
        if grammar is None:
            tally.sums[f"refused: {type(error).__name__}"] += 1
        else:
            tally.fault(f"{type(error).__name__} after the compile", shown, error)
    except Exception as error:
        tally.fault(f"raises {type(error).__name__}", shown, error)
    milliseconds = 1000 * (time.thread_time() - began)
    tally.most("input ms", milliseconds, shown)
    tally.most("step ms", step_ms, shown)
    tally.sums[f"inputs over {LONG_MS:g} ms"] += milliseconds > LONG_MS
    now = compiler._newest_store()
    tables = now.bytes_used - (before if now is store else 0) + (0 if grammar is None else grammar.bytes_used)
    added = max(tables / 2**20, resident_mib() - resident)
    tally.most("added MiB", added, shown)
    if added > MOST_MIB:
        tally.fault("too much memory", shown, f"{added:.0f} MiB")


class _Healthy(threading.Thread):
    """Sequences of ordinary schemas, a token of each in turn, until they are told to end."""

    def __init__(self, compiler: llmask.Compiler, seed: int) -> None:
        super().__init__(daemon=True)
        self.compiler, self.rng = compiler, random.Random(f"{seed} healthy")
        self.masks = Masks(compiler.tokenizer)
        self.ends = threading.Event()
        self.waited_us: list[int] = []  # by step
        self.wrong: list[Any] = []
        self._waits = _Noted(self, compiler._waits)
        self._schemas = [entry.schema for entry in self.rng.sample(schemas(), ORDINARY)]
        self._sequences = [self._new() for _ in range(SEQUENCES)]

    def _new(self) -> llmask.Matcher:
        while True:
            try:
                return self.compiler.json_schema(self.rng.choice(self._schemas)).matcher(on_limit="finish")
            except llmask.LlmaskError:  # not every schema of the corpus compiles
                continue

    def run(self) -> None:
        try:
            for number in itertools.count(1):
                if self.ends.is_set():
                    return
                if number % ROUNDS == 0:
                    gc.collect()
                for place, matcher in enumerate(self._sequences):
                    self.step(matcher)
                    if matcher.is_terminated() or len(matcher.tokens) > DOCUMENT_TOKENS:
                        self._sequences[place] = self._new()
        except Exception as error:
            self.wrong.append(error)

    def step(self, matcher: llmask.Matcher) -> None:
        """One token of a sequence."""
        self._waits.here_us = 0
        matcher.fill_bitmask(self.masks.bitmask)
        chosen = self.masks.chosen(self.masks.last(), self.rng)
        matcher.accept_token(chosen)
        self.waited_us.append(self._waits.here_us)

    def report(self, tally: Tally) -> None:
        """Note how long steps waited."""
        for error in self.wrong:
            tally.fault(f"a healthy sequence raises {type(error).__name__}", error)
        tally.sums["healthy steps"] = len(self.waited_us)
        if not self.waited_us:
            tally.fault("no healthy sequence took a step", f"{len(self.wrong)} raised before")
            return
        waited = np.array(self.waited_us) / 1000
        for name, percent in (("p50", 50), ("p99", 99), ("p99.9", 99.9), ("longest", 100)):
            tally.most(f"wait ms, {name}", float(np.percentile(waited, percent)), f"{len(waited)} steps")
        tally.sums["healthy steps that waited"] = int(np.count_nonzero(waited))
        tally.sums[f"healthy steps that waited over {WAIT_MS:g} ms"] = int(np.count_nonzero(waited > WAIT_MS))
        tally.sums[f"... over {LONGEST_WAIT_MS:g} ms"] = int(np.count_nonzero(waited > LONGEST_WAIT_MS))
        tally.sums.update({f"statistics: {name}": value for name, value in self.compiler.statistics().items()})


class _Noted:
    """Adds up the waits of one thread.

    Attributes
    ----------
    here_us : microseconds; whoever reads it begins anew.
    """

    def __init__(self, thread: threading.Thread, waits: Waits) -> None:
        self.here_us = 0
        self._thread, self._note = thread, waits.note
        waits.note = self.note  # type: ignore[method-assign]

    def note(self, us: int) -> None:
        """As `Waits.note`."""
        self._note(us)
        if threading.current_thread() is self._thread:
            self.here_us += us
