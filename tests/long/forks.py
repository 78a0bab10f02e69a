"""fork() while other threads build: every child must end, and compute the masks of its parent.

Threads compile and walk all the time on the compiler and the tokenizer that the children inherit. A child goes on with
a matcher of its parent, compiles what is new with its parent's compiler, encodes, and fills batches with two threads;
all masks must be those of a compiler of its own. One that has not ended after CHILD_SECONDS hangs; after MOST_HUNG of
these the attack gives up.

In: child processes. Out: counts. Cost: 0.2 s a child.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import llmask
from tests.long.corpora import Masks, tiny_tokenizer
from tests.long.harness import Skipped, Tally
from tests.properties.schemas import draw

N_THREADS = 2
CHILD_SECONDS = 10.0
MOST_HUNG = 20
SCHEMA = {
    "type": "array",
    "items": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": -40, "maximum": 7000}]},
}
STEPS = 12  # of a walk of a child


def run(tally: Tally) -> None:
    """Fork until `tally.size` children have ended, or hang."""
    if not hasattr(os, "fork"):
        raise Skipped("this system has no fork()")
    tokenizer = tiny_tokenizer()
    compiler = llmask.Compiler(tokenizer)
    matcher = compiler.json_schema(SCHEMA).matcher()
    stop = threading.Event()
    threads = [
        threading.Thread(target=_build, args=(compiler, stop, f"{tally.seed} {number}"), daemon=True)
        for number in range(N_THREADS)
    ]
    for thread in threads:
        thread.start()
    try:
        for rng in tally.cases():
            time.sleep(rng.random() * 0.01)
            _child(tally, lambda: _is_right(compiler, matcher, rng))  # noqa: B023 (called in this turn)
            if len(tally.hung) >= MOST_HUNG:
                tally.sums["given up"] += 1
                return
    finally:
        stop.set()
        for thread in threads:
            thread.join(10)


def _is_right(compiler: llmask.Compiler, matcher: llmask.Matcher, rng: random.Random) -> bool:
    """What a child does: whether its parent's objects give the masks of objects of its own."""
    tokenizer = compiler.tokenizer
    masks = Masks(tokenizer)
    own = llmask.Compiler(tokenizer)
    if tokenizer.decode(tokenizer.encode("name: é")) != "name: é":
        return False
    schema = drawn_schema(rng)
    pairs = [(matcher, own.json_schema(SCHEMA).matcher())]
    pairs.append((compiler.json_schema(schema).matcher(), own.json_schema(schema).matcher()))
    bitmask = llmask.allocate_bitmask(2, tokenizer.vocab_size)
    for pair in pairs:
        for _ in range(STEPS):
            llmask.fill_bitmasks(pair, bitmask, threads=2)
            if (bitmask[0] != bitmask[1]).any():
                return False
            masks.bitmask[:] = bitmask[0]
            token = masks.chosen(masks.last(), rng)
            for side in pair:
                side.accept_token(token)
            if pair[0].is_terminated():
                break
    return True


def _build(compiler: llmask.Compiler, stop: threading.Event, seed: str) -> None:
    """Compile and walk until told to stop, so that some lock is held nearly always."""
    rng, masks = random.Random(seed), Masks(compiler.tokenizer)
    while not stop.is_set():
        matcher = compiler.json_schema(drawn_schema(rng)).matcher()
        for _ in range(STEPS):
            matcher.accept_token(masks.chosen(masks.read(matcher), rng))
            if matcher.is_terminated():
                break


def drawn_schema(rng: random.Random) -> Any:
    """A schema that has documents, and that nobody else has."""
    return {"title": str(rng.random()), **draw(rng).schema}


def _child(tally: Tally, is_right: Callable[[], bool]) -> None:
    """One child and its end."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, for forks beside threads
        child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if is_right() else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    started = time.monotonic()
    tally.done += 1
    while time.monotonic() - started < CHILD_SECONDS:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            tally.most("child ms", 1000 * (time.monotonic() - started), tally.case)
            tally.sums["ended"] += 1
            code = os.waitstatus_to_exitcode(status)
            if code:
                tally.fault({1: "other masks in a child", 2: "a child raises"}.get(code, f"a child ends with {code}"))
            return
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    tally.hung.append(f"case {tally.case}: a child after {CHILD_SECONDS:g} s")
