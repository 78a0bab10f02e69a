"""Forks while threads build: `python -m tests.unit.forked N` writes how many children did not come to their end.

A child does what a server's worker does first: it compiles, walks a grammar of its parent, encodes, fills a batch.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from typing import Any

import numpy as np

import llmask

PATIENCE = 30.0  # seconds for a child that needs a tenth of one; after that it hangs
MOST_LOST = 3
N_THREADS = 3


def schema(random: random.Random) -> Any:
    """A schema that no store has seen."""
    names = ["".join(random.choices("abcdefgh", k=6)) for _ in range(4)]
    parts: list[Any] = [
        {"type": "string", "pattern": f"^{names[0]}[a-z]{{1,9}}$"},
        {"type": "integer", "minimum": random.randrange(1000)},
        {"enum": names},
        {"type": "array", "items": {"enum": names}, "uniqueItems": True},
    ]
    return {"type": "object", "properties": dict(zip(names, parts, strict=True)), "required": names}


def build(compilers: list[Any], random: random.Random) -> None:
    """Everything that takes a lock."""
    compiler = random.choice(compilers)
    tokenizer = compiler.tokenizer
    grammar = compiler.json_schema(schema(random))
    walk(grammar, tokenizer, random)
    grammar.shortest()
    if grammar.takes_budget:
        lark = compiler.lark(f'start: "{random.randrange(10**6)}" /x+/')
        lark.matcher().least_budget()
        str(lark.warnings)
    tokenizer.encode("".join(random.choices("abc \u00e4\u20ac", k=30)))
    tokenizer.encode_batch(["a b c" * 9] * 50, threads=2)
    walk(pickle.loads(pickle.dumps(grammar)), tokenizer, random)
    matchers = [grammar.matcher() for _ in range(40)]
    bitmask = llmask.allocate_bitmask(len(matchers), tokenizer.vocab_size)
    llmask.fill_bitmasks(matchers, bitmask, threads=2)


def walk(grammar: Any, tokenizer: Any, random: random.Random) -> None:
    """Some random steps."""
    matcher = grammar.matcher()
    bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    for _ in range(12):
        if matcher.is_terminated():
            return
        matcher.fill_bitmask(bitmask)
        allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little"))
        matcher.accept_token(int(random.choice(allowed)))


def is_over(child: int) -> bool:
    """Whether a child ends well."""
    begin = time.monotonic()
    while time.monotonic() < begin + PATIENCE:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            sys.stdout.write(f"a child ended with {code}\n" * (code != 0))
            return code == 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main(n_forks: int) -> int:
    """Number of children that hang or fail."""
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of every fork beside threads
    tokenizer = llmask.Tokenizer.default()
    limits = llmask.Limits(renew_store_bytes=9 * 2**20)
    compilers = [llmask.Compiler(tokenizer, limits, 2**20, is_canonical) for is_canonical in (False, False, True)]
    is_done = threading.Event()
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        try:
            while not is_done.is_set():
                build(compilers, source)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(N_THREADS)]
    for thread in threads:
        thread.start()
    n_lost, longest = 0, 0.0
    for number in range(n_forks):
        begin = time.perf_counter()
        child = os.fork()
        longest = max(longest, time.perf_counter() - begin)
        if child == 0:
            faulthandler.dump_traceback_later(PATIENCE / 2)
            code = 1
            try:
                build(compilers, random.Random(-number - 1))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        n_lost += not is_over(child)
        if n_lost == MOST_LOST:
            break
    is_done.set()
    for thread in threads:
        thread.join()
    sys.stdout.write(
        f"{n_lost} of {number + 1} children lost, {len(errors)} errors in threads {errors[:1]}, "
        f"the longest fork took {longest * 1000:.0f} ms\n"
    )
    return n_lost + len(errors)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) != 0)
