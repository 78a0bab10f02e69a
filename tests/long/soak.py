"""A server's mixture on two threads for N minutes; memory and latency of every minute are recorded.

Each thread keeps LIVE sequences of grammars drawn as users draw them: few popular ones often, many others once, of
schemas in both orders, tools, patterns, GBNF and Lark. A round fills the masks of all as one batch and has every
sequence accept a token; some fork, some are rolled back, finished ones make room for new ones. A shift of SHIFT
minutes begins with an empty store and no sequence, and the last one draws what the second drew. In between memory and
work go up and down, memory by half with what the store holds, the work of a minute's steps a hundredfold with the
grammars that happen to be new. Judged: no exception; the mean of the minutes' resident memory in the last shift within
TOLERANCE of that in the second (`more_memory`); the counted work of a step at p99 in the last shift within TOLERANCE of
that of the same steps in the second (`more_work`). Latency is recorded, not judged.

In: minutes. Out: a row a minute. Cost: as said.
"""

from __future__ import annotations

import random
import threading
import time
from array import array
from typing import Any

import numpy as np

import llmask
from llmask.work import metered
from tests.generators.damaged_grammars import DRAW
from tests.long.corpora import Masks, real_tokenizer, schemas
from tests.long.harness import HANG_SECONDS, Tally
from tests.long.workers import resident_mib

N_THREADS = 2
LIVE = 16  # sequences of a thread
MOST_TOKENS = 200  # of a sequence
POPULAR, POPULAR_SHARE = 200, 0.8
SCHEMA_SHARE = 0.85
OTHERS = ("tools", "regex", "gbnf", "lark", "structural_tag")
MINUTE = 60.0  # seconds
SAMPLES = 60  # of memory, a minute, at most: it falls by half in the second in which the store is renewed
SHIFT = 10  # minutes
FIRST_JUDGED = 1  # the second shift: what is imported and compiled late is there
TOLERANCE = 0.05


def run(tally: Tally) -> None:
    """Serve for `tally.size` minutes."""
    tokenizer = real_tokenizer()
    compiler, stop = llmask.Compiler(tokenizer), threading.Event()
    handover = threading.Barrier(N_THREADS + 1, action=lambda: _empty_store(compiler))
    threads = [_Server(compiler, stop, handover) for _ in range(N_THREADS)]
    last = (tally.size - 1) // SHIFT
    before: list[array[float]] = []  # the work of the first judged shift, and of the last one
    after: list[array[float]] = []
    for thread in threads:
        thread.start()
    try:
        for _ in tally.cases():
            shift, minute = divmod(tally.done, SHIFT)
            if minute == 0:
                if shift == FIRST_JUDGED + 1:
                    before = [thread.work for thread in threads]
                draw = FIRST_JUDGED if shift == last else shift
                _hand_over(threads, f"{tally.seed} {draw}", handover)
            resident: list[float] = []
            until = time.monotonic() + MINUTE
            while (left := until - time.monotonic()) > 0 or not resident:
                stop.wait(min(max(left, 0), MINUTE / SAMPLES))
                resident.append(resident_mib())
            tally.done += 1
            tally.rows.append(_minute(tally, tokenizer, threads, resident))
            if tally.hung:
                break
        else:
            after = [thread.work for thread in threads]
    finally:
        stop.set()
        handover.abort()
        for thread in threads:
            thread.join(60)
    for thread in threads:
        tally.sums["tokens"] += thread.n_tokens
        tally.sums["grammars"] += thread.n_grammars
        tally.sums["refused"] += thread.n_refused
        for what, *case in thread.wrong:
            tally.fault(what, *case)
    if last > FIRST_JUDGED and tally.done == tally.size:
        judge(tally, more_memory(tally.rows), more_work(before, after))


def judge(tally: Tally, memory: float, work: float) -> None:
    """Note by how much memory and work moved, as parts of what they were, and whether that is too much."""
    for what, moved in (("memory", memory), ("work of a step", work)):
        tally.sums[f"{what} moved, per mille"] = round(1000 * moved)
        if abs(moved) > TOLERANCE:
            tally.fault(f"{what} moves", f"by {moved:.1%} since minute {SHIFT * FIRST_JUDGED}")


def _hand_over(threads: list[_Server], draw: str, handover: threading.Barrier) -> None:
    """Let the next shift begin, in which each thread draws from its part of `draw`."""
    for number, thread in enumerate(threads):
        thread.shift = f"{draw} {number}"
    handover.wait(HANG_SECONDS)


def _empty_store(compiler: llmask.Compiler) -> None:
    """Have the compiler begin a new store, as it does when one is full; limits are those of the store that is there."""
    before = compiler._newest_store()
    with compiler._lock:
        compiler._store = compiler._new_store()
        compiler._cache.keep_only(compiler._store)
    assert compiler._newest_store() is not before


def more_memory(rows: list[dict[str, Any]]) -> float:
    """By how much resident memory moved from the first judged shift to the last, the mean of their minutes.

    Both serve the same requests, so the store fills and is renewed alike. With an empty store memory says less: what
    the allocator keeps of a full one was 427 MiB, and 307 ten minutes later.
    """
    shifts: dict[int, list[float]] = {}
    for row in rows:
        shifts.setdefault((row["minute"] - 1) // SHIFT, []).append(row["resident MiB"])
    before, after = shifts[FIRST_JUDGED], shifts[max(shifts)]
    n = min(len(before), len(after))
    return sum(after[:n]) / sum(before[:n]) - 1


def more_work(before: list[array[float]], after: list[array[float]]) -> float:
    """By how much p99 of the steps that two shifts have in common moved, thread by thread the first ones of each."""
    common = [min(map(len, pair)) for pair in zip(before, after, strict=True)]
    p99 = [
        float(np.percentile(np.concatenate([work[:n] for work, n in zip(shift, common, strict=True)]), 99))
        for shift in (before, after)
    ]
    return p99[1] / p99[0] - 1


def _minute(tally: Tally, tokenizer: llmask.Tokenizer, threads: list[_Server], resident: list[float]) -> dict[str, Any]:
    """What the last minute was like; of the memory the mean."""
    times: list[float] = []
    work: list[float] = []
    for thread in threads:
        before, thread.times = thread.times, []
        times += before
        work += thread.work[-len(before) :]
        if not before:
            tally.hung.append(f"a thread did nothing in minute {tally.done}: {thread.doing}")
    row = {
        "minute": tally.done,
        "resident MiB": round(sum(resident) / len(resident), 1),
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
    work : units of a batch a sequence since the shift began; a step may take what all of the batch may.
    shift : what the next shift is drawn from, until it begins; then `drawn_from`, and `n_drawn` sequences of it.
    doing : what the thread does now.
    """

    def __init__(self, compiler: llmask.Compiler, stop: threading.Event, handover: threading.Barrier) -> None:
        super().__init__(daemon=True)
        self.compiler, self.stop, self.handover = compiler, stop, handover
        self.shift: str | None = None
        self.drawn_from, self.n_drawn = "", 0
        self.rngs = [random.Random() for _ in range(LIVE)]  # of a sequence each: what one does changes no other
        self.entries = random.Random("popular").sample(schemas(), len(schemas()))
        self.masks = Masks(compiler.tokenizer)
        self.times: list[float] = []
        self.work: array[float] = array("d")
        self.doing = "start"
        self.n_tokens = self.n_grammars = self.n_refused = 0
        self.wrong: list[tuple[Any, ...]] = []

    def run(self) -> None:
        bitmask = llmask.allocate_bitmask(LIVE, self.compiler.tokenizer.vocab_size)
        live: list[llmask.Matcher] = []
        while not self.stop.is_set():
            if self.shift is not None or not live:
                live.clear()
                try:
                    self.handover.wait()
                except threading.BrokenBarrierError:
                    return
                self.drawn_from, self.n_drawn = str(self.shift), 0
                self.shift, self.work = None, array("d")
                live = [self.sequence(place) for place in range(LIVE)]
            try:
                started = time.perf_counter()
                with metered(LIVE * self.compiler.limits.max_step_work, "max_step_work") as meter:
                    llmask.fill_bitmasks(live, bitmask)
                self.work.append(meter.spent / LIVE)
                self.times.append((time.perf_counter() - started) / LIVE)
            except Exception as error:
                self.wrong.append((f"a batch raises {type(error).__name__}", error))
                live = [self.sequence(place) for place in range(LIVE)]
                continue
            for place in range(LIVE):
                self.masks.bitmask[:] = bitmask[place]
                live[place] = self.stepped(live[place], place)

    def stepped(self, matcher: llmask.Matcher, place: int) -> llmask.Matcher:
        """The sequence after a token, or a new one after its end."""
        rng = self.rngs[place]
        try:
            token = self.masks.chosen(self.masks.last(), rng)
            matcher.accept_token(token)
            self.n_tokens += 1
            roll = rng.random()
            if roll < 0.03:
                matcher = matcher.fork()
            elif roll < 0.05:
                matcher.rollback(min(3, len(matcher.tokens)))
            if matcher.is_terminated() or len(matcher.tokens) > MOST_TOKENS:
                return self.sequence(place)
        except Exception as error:
            self.wrong.append((f"a step raises {type(error).__name__}", self.doing, matcher.text()[-100:], error))
            return self.sequence(place)
        return matcher

    def sequence(self, place: int) -> llmask.Matcher:
        """A new sequence of a grammar that is compiled for it, or remembered."""
        self.n_drawn += 1
        self.rngs[place] = rng = random.Random(f"{self.drawn_from} {self.n_drawn}")
        while True:
            try:
                matcher: llmask.Matcher = self.grammar(rng).matcher()
                self.n_grammars += 1
                return matcher
            except llmask.LlmaskError:
                self.n_refused += 1
            except Exception as error:
                self.wrong.append((f"compile raises {type(error).__name__}", self.doing, error))

    def grammar(self, rng: random.Random) -> Any:
        """As users draw them."""
        compiler = self.compiler
        if rng.random() < SCHEMA_SHARE:
            popular = self.entries[:POPULAR] if rng.random() < POPULAR_SHARE else self.entries
            entry, order = rng.choice(popular), rng.choice(("schema", "any"))
            self.doing = f"{entry.id}, order {order}"
            return compiler.json_schema(entry.schema, property_order=order)
        language = rng.choice(OTHERS)
        case = DRAW[language](random.Random(f"{language} {rng.randrange(3000)}"))
        self.doing = f"{language} {case.text[:300]!a}"
        return case.compiled(compiler)
