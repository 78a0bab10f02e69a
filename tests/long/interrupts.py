"""KeyboardInterrupt in the middle of compiling and of steps: the state stays right, no lock is held.

Tokens along a walk, and the mask before each, are noted first. Then a compiler that is interrupted at random moments
compiles the same grammar and walks the same way, again and again from where it was: in the main thread by a timer's
signal, in another one by `PyThreadState_SetAsyncExc`. After every interrupt the matcher holds a beginning of the
tokens and the mask that belongs there, and another thread can compile and fill with the same store.

In: interrupts. Out: counts. Cost: 5 ms an interrupt.
"""

from __future__ import annotations

import ctypes
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import llmask
from tests.generators.damaged_grammars import DRAW
from tests.long.corpora import Masks, tiny_tokenizer
from tests.long.harness import Skipped, Tally

LANGUAGES = ("json_schema", "json_schema", "regex", "gbnf", "lark")
STEPS = 30  # of a walk
TURNS = 1000  # forward and back again, so that known steps are interrupted, too
ROUND = 100  # grammars of one compiler
SECONDS = 20.0  # for another thread to get a lock
LONGEST = 0.003  # until the interrupt
COMPILES, WALKS = 5, 15  # interrupts of one grammar


class _Interrupt(KeyboardInterrupt):
    """The interrupts of this attack."""


def run(tally: Tally) -> None:
    """Interrupt `tally.size` times."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        raise Skipped("signals reach the main thread only, and need setitimer")
    before, tell = signal.signal(signal.SIGALRM, _raise), sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is _Interrupt else tell(lost)
    try:
        _Attack(tally).run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = tell


def _raise(_signal: int, _frame: FrameType | None) -> None:
    """Interrupt what runs; Python swallows one that hits a callback of the garbage collector, which is no fault."""
    raise _Interrupt


class _Attack:
    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.tokenizer = tiny_tokenizer()
        self.masks = Masks(self.tokenizer)
        self.n_checks = 0

    def run(self) -> None:
        limits = llmask.Limits(renew_grammar_bytes=20_000)
        for number, rng in enumerate(self.tally.cases()):
            if number % ROUND == 0:
                calm = llmask.Compiler(self.tokenizer, cache_bytes=0)
                attacked = llmask.Compiler(self.tokenizer, limits=limits)
            case = DRAW[rng.choice(LANGUAGES)](rng)
            try:
                tokens, masks = self.noted(case.compiled(calm), rng)
            except llmask.LlmaskError:
                self.tally.sums["refused"] += 1
                continue
            try:
                self.attack(lambda: case.compiled(attacked), attacked, tokens, masks, rng)  # noqa: B023 (called here)
            except llmask.LlmaskError as error:
                self.tally.fault(f"raises {type(error).__name__}", repr(case.text), error)
            if self.tally.hung:
                return

    def noted(self, grammar: Any, rng: random.Random) -> tuple[list[int], list[bytes]]:
        """Tokens of a walk, and the mask before each and after the last."""
        matcher, tokens = grammar.matcher(), []
        masks = [self.masks.read(matcher).tobytes()]
        while len(tokens) < STEPS and not matcher.is_terminated():
            tokens.append(self.masks.chosen(self.masks.last(), rng))
            matcher.accept_token(tokens[-1])
            masks.append(self.masks.read(matcher).tobytes())
        return tokens, masks

    def attack(
        self,
        compile_case: Callable[[], Any],
        compiler: llmask.Compiler,
        tokens: list[int],
        masks: list[bytes],
        rng: random.Random,
    ) -> None:
        """Compile and walk under interrupts."""
        way = rng.choice((by_signal, by_exception))
        made: list[Any] = []
        for _ in range(COMPILES):
            if not made:
                self.interrupted(way, lambda: made.append(compile_case()), compiler, "compile", rng)
        matcher = (made or [compile_case()])[0].matcher()
        bitmask = llmask.allocate_bitmask(1, self.tokenizer.vocab_size)

        def walk() -> None:
            for turn in range(TURNS):
                if turn:
                    matcher.rollback(min(len(matcher.tokens), 1 + turn % STEPS))
                while len(matcher.tokens) < len(tokens):
                    matcher.fill_bitmask(bitmask)
                    matcher.fork().accept_token(tokens[len(matcher.tokens)])
                    matcher.accept_token(tokens[len(matcher.tokens)])

        for _ in range(WALKS):
            if not self.interrupted(way, walk, compiler, "steps", rng):
                break
            found = matcher.tokens
            if found != tokens[: len(found)]:
                self.tally.fault("other tokens after an interrupt", found, tokens)
                return
            if self.masks.read(matcher).tobytes() != masks[len(found)]:
                self.tally.fault("another mask after an interrupt", found, way.__name__)
                return

    def interrupted(
        self, way: Any, work: Callable[[], None], compiler: llmask.Compiler, what: str, rng: random.Random
    ) -> bool:
        """Run until the end or the interrupt; then see whether another thread can work."""
        hit: bool = way(work, LONGEST * rng.random() ** 3)
        if not hit:
            return False
        self.tally.done += 1
        self.tally.sums[f"{way.__name__}, {what}"] += 1
        self.n_checks += 1
        thread = threading.Thread(target=_use, args=(compiler, self.n_checks), daemon=True)
        thread.start()
        thread.join(SECONDS)
        if thread.is_alive():
            self.tally.hung.append(f"case {self.tally.case}: a lock is held after an interrupt of {what}")
        return not thread.is_alive()


def _use(compiler: llmask.Compiler, number: int) -> None:
    """What needs the locks of a compiler and of its store."""
    matcher = compiler.regex(f"ab{{{number % 50}}}[c-f]+{number % 7}").matcher()
    matcher.fill_bitmask(llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size))
    matcher.accept_bytes(b"a")


def by_signal(work: Callable[[], None], delay: float) -> bool:
    """Whether a timer's signal came before the work was done."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _Interrupt:
        return True
    return False


def by_exception(work: Callable[[], None], delay: float) -> bool:
    """Whether an exception that another thread sent came before the work was done."""
    ended: list[bool | BaseException] = []

    def run_work() -> None:
        try:
            try:
                work()
                ended.append(False)
            except _Interrupt:
                ended.append(True)
            except Exception as error:  # the caller raises it
                ended.append(error)
        except _Interrupt:  # behind the work
            pass

    thread = threading.Thread(target=run_work, daemon=True)
    thread.start()
    time.sleep(delay)
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Interrupt))
    thread.join()
    found = ended[0] if ended else False
    if isinstance(found, BaseException):
        raise found
    return found
