"""A stream of requests, each with a schema of its own and one document: `python -m bench.requests --live 1,16,256`.

What a server does with an engine, without a model: requests come at random (Poisson), at most `--live` are live, and in
each step every live one gets a mask and takes the next token of its document. A schema is met once, so nothing but what
an engine keeps for all schemas helps.

The engine's time is measured, the model's is not spent: a step of the model takes `--model-ms` on a clock that is only
counted. The masks of a step are made while the model computes, the tokens are taken after it:

    a step takes max(model, masks) + tokens        the model waits where the masks take longer than it does

Schemas are compiled beside the steps, each as if it had a thread of its own: a request becomes live when it has come,
is compiled, and there is room. That favours engines which compile slowly; what compiling takes is shown. All work of an
engine is done by one thread, sequence after sequence, through bench/engines. A mask that takes more than LONG_US counts
as built: writing one that is known takes a tenth of that. `llmask-ahead` has `llmask.read_ahead` build masks meanwhile:
there the model's time is spent, by sleeping, and each mask is looked for before it is asked for. What is read ahead by
`llmask-documents` counts as the work of another thread, too, and is told beside the time a token.

In: command line. Out: a table in Markdown. Cost: half a minute an engine and number of live sequences; minutes where an
engine compiles slowly.
"""

from __future__ import annotations

import argparse
import gc
import heapq
import json
import random
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.data import CORPORA, Row, corpus_rows
from bench.engines import ADAPTERS, CompileError, Engine, adapter, is_installed
from bench.maskbench import check_engines
from bench.vocabularies import ROOT, SOURCES
from llmask.errors import LlmaskError

ENGINES = ("llmask", "llmask-documents", "llmask-ahead", "llguidance", "xgrammar", "glrmask", "glrmask-fast")
LONG_US = 20
# CUT: the document has a token that the mask does not allow; FAILED: the engine raised an error
SERVED, REFUSED, CUT, FAILED = "served", "refused", "cut", "failed"


class Request(NamedTuple):
    """A schema, and the tokens of the document that is written."""

    id: str
    schema: Any
    ids: list[int]


class Live:
    """A request on its way.

    Attributes
    ----------
    engine_ns : spent in the engine so far, compiling included.
    """

    def __init__(self, number: int, request: Request, sequence: Any, compile_ns: int) -> None:
        self.number = number
        self.request = request
        self.sequence = sequence
        self.compile_ns = compile_ns
        self.engine_ns = compile_ns
        self.place = 0


class Step(NamedTuple):
    """A step of all that are live.

    us         in the engine
    is_long    a mask took more than LONG_US
    is_late    the model waited for the masks
    is_coming  requests are still to come: after the last one fewer and fewer are live, and the table leaves that aside
    n_missing  masks that were not there when they were asked for, where that is told
    n_live     sequences that took part
    """

    us: float
    is_long: bool
    is_late: bool
    is_coming: bool
    n_missing: int | None = None
    n_live: int = 0


class Run(NamedTuple):
    """What became of a stream.

    outcomes    of each request, by its number
    engine_us   of each request that was served, compiling included; by its number
    compile_us  of each of them
    steps       all of them
    seconds     counted until the last request ended
    ahead_us    what was read of all grammars ahead of their documents
    """

    outcomes: dict[int, str]
    engine_us: dict[int, float]
    compile_us: dict[int, float]
    steps: list[Step]
    seconds: float
    ahead_us: float = 0.0


def draw_requests(rows: Sequence[Row], n: int, seed: int) -> list[Request]:
    """Different schemas in a random order, each with its first valid document; fewer than `n` where there are fewer."""
    found: dict[str, Request] = {}
    for row in random.Random(seed).sample(rows, len(rows)):
        valid = [instance for instance in row.instances if instance.is_valid]
        if row.kind == "schema" and valid and len(found) < n:
            found.setdefault(json.dumps(row.schema), Request(row.id, row.schema, valid[0].token_ids))
    return list(found.values())


def draw_arrivals(n: int, per_second: float, seed: int) -> list[float]:
    """Seconds at which requests come: a Poisson process."""
    rng = random.Random(seed)
    times, now = [], 0.0
    for _ in range(n):
        now += rng.expovariate(per_second)
        times.append(now)
    return times


def rate(requests: Sequence[Request], live: int, model_s: float, load: float) -> float:
    """Requests a second that keep `load` times `live` sequences busy, were it for the model alone."""
    mean_steps = sum(len(request.ids) + 1 for request in requests) / len(requests)
    return load * live / (mean_steps * model_s)


def serve(
    engine: Engine,
    requests: Sequence[Request],
    arrivals: Sequence[float],
    most_live: int,
    model_s: float,
    timer: Callable[[], int] = time.perf_counter_ns,
) -> Run:
    """Let an engine serve a stream.

    Parameters
    ----------
    arrivals : seconds at which they come, ascending.
    model_s : seconds of a step of the model, which are counted and not spent.
    timer : nanoseconds; what is measured by it is the engine's.
    """
    run = Run({}, {}, {}, [], 0.0)
    ahead_ns = 0
    upcoming = deque(enumerate(zip(arrivals, requests, strict=True)))
    compiled: list[tuple[float, int, Live]] = []  # by the time at which they are
    live: list[Live] = []
    now = 0.0
    while upcoming or compiled or live:
        while upcoming and upcoming[0][1][0] <= now:
            number, (arrival, request) = upcoming.popleft()
            started = timer()
            try:
                grammar = engine.compile(request.schema)
                sequence = engine.start(grammar)
            except Exception as error:  # an engine's own failure is a result too
                run.outcomes[number] = REFUSED if isinstance(error, CompileError) else FAILED
                continue
            elapsed = timer() - started
            started = timer()
            engine.read_documents(grammar)
            ahead_ns += timer() - started
            heapq.heappush(compiled, (arrival + elapsed / 1e9, number, Live(number, request, sequence, elapsed)))
        while compiled and compiled[0][0] <= now and len(live) < most_live:
            live.append(heapq.heappop(compiled)[2])
        if not live:
            events = [*([compiled[0][0]] if compiled else []), *([upcoming[0][1][0]] if upcoming else [])]
            now = max(now, min(events, default=now))
            continue
        masks_ns = tokens_ns = longest_ns = 0
        n_missing = engine.n_missing
        if n_missing is not None:
            time.sleep(model_s)  # a helping thread works while the model computes
        going_on, n_live = [], len(live)
        for one in live:
            try:
                mask_ns, token_ns, outcome = _step(engine, one, timer)
            except Exception:  # a peer's own error, of whatever class: it ends this request and is counted
                mask_ns, token_ns, outcome = 0, 0, FAILED
            masks_ns += mask_ns
            tokens_ns += token_ns
            longest_ns = max(longest_ns, mask_ns)
            if outcome is None:
                going_on.append(one)
                continue
            run.outcomes[one.number] = outcome
            if outcome == SERVED:
                run.engine_us[one.number] = one.engine_ns / 1000
                run.compile_us[one.number] = one.compile_ns / 1000
        live = going_on
        is_long, is_late = longest_ns > LONG_US * 1000, masks_ns / 1e9 > model_s
        if n_missing is not None and engine.n_missing is not None:
            n_missing = engine.n_missing - n_missing
        run.steps.append(Step((masks_ns + tokens_ns) / 1000, is_long, is_late, bool(upcoming), n_missing, n_live))
        now += max(model_s, masks_ns / 1e9) + tokens_ns / 1e9
    return run._replace(seconds=now, ahead_us=ahead_ns / 1000)


def _step(engine: Engine, one: Live, timer: Callable[[], int]) -> tuple[int, int, str | None]:
    """The mask of a live request, and its next token: nanoseconds of both, and how it ended, if it did."""
    started = timer()
    engine.fill(one.sequence)
    mask_ns = timer() - started
    one.engine_ns += mask_ns
    ids = one.request.ids
    if one.place == len(ids):
        return mask_ns, 0, SERVED if engine.is_allowed(engine.eos_ids[0]) else CUT
    token = ids[one.place]
    if not engine.is_allowed(token):
        return mask_ns, 0, CUT
    started = timer()
    is_accepted = engine.accept(one.sequence, token)
    token_ns = timer() - started
    one.engine_ns += token_ns
    one.place += 1
    return mask_ns, token_ns, None if is_accepted else CUT


# --- several engines, each in a process of its own


def table(found: dict[int, dict[str, Run]]) -> str:
    """A row for each number of live sequences and engine; times of requests are over those that all engines serve."""
    lines = [
        "| live | engine | served / refused / cut / failed | in the engine, ms a request: p50 / p99 / max "
        "| of which compiling, mean | us a token, mean | with what is read ahead "
        "| in the engine, ms a step: p50 / p99 / worst | steps that build | that wait | that find a mask missing |",
        f"|---:|---|{'---:|' * 9}",
    ]
    for live, runs in found.items():
        common = sorted(set.intersection(*(set(run.engine_us) for run in runs.values())))
        for name, run in runs.items():
            outcomes = Counter(run.outcomes.values())
            counts = " / ".join(f"{outcomes[outcome]:,}" for outcome in (SERVED, REFUSED, CUT, FAILED))
            a_request = shares([run.engine_us[number] / 1000 for number in common])
            compiling = sum(run.compile_us[number] for number in common) / 1000 / max(1, len(common))
            steps = [step for step in run.steps if step.is_coming]
            a_step = shares([step.us / 1000 for step in steps])
            n_long, n_late = sum(step.is_long for step in steps), sum(step.is_late for step in steps)
            n = max(1, len(steps))
            said = figures(run, 1)
            missing = [step.n_missing > 0 for step in steps if step.n_missing is not None]
            lines.append(
                f"| {live} | {name} | {counts} | {a_request} | {compiling:,.2f} "
                f"| {said['a token us']:,.1f} | {said['with ahead us']:,.1f} | {a_step} "
                f"| {n_long / n:.1%} | {n_late / n:.1%} "
                f"| {f'{sum(missing) / len(missing):.3%}' if missing else '-'} |"
            )
    return "\n".join(lines)


def figures(run: Run, model_ms: float) -> dict[str, float]:
    """What the README says of a run: microseconds a token, steps until the last request has come by the model's."""
    steps = [step.us / 1000 / model_ms for step in run.steps if step.is_coming] or [0.0]
    n_tokens = max(1, sum(step.n_live for step in run.steps))
    a_token = sum(step.us for step in run.steps) / n_tokens
    return {
        "a token us": a_token,
        "with ahead us": a_token + run.ahead_us / n_tokens,
        "step share p99": float(np.percentile(steps, 99)),
        "step share max": max(steps),
    }


def shares(values: list[float]) -> str:
    """Median, 99th percentile and largest."""
    if not values:
        return "-"
    return " / ".join(f"{value:,.2f}" for value in (*np.percentile(values, (50, 99)), max(values)))


def measure(name: str, live: int, options: argparse.Namespace) -> Run:
    """One engine and number of live sequences, in this process."""
    rows = corpus_rows(options.corpus, "flexible", options.vocabulary)
    requests = draw_requests(rows, max(options.requests, 3 * live), options.seed)
    model_s = options.model_ms / 1000
    arrivals = draw_arrivals(len(requests), rate(requests, live, model_s, options.load), options.seed)
    engine = adapter(name)("flexible", options.vocabulary)
    gc.collect()
    gc.freeze()
    gc.disable()
    timer = time.process_time_ns if options.cpu else time.perf_counter_ns
    return serve(engine, requests, arrivals, live, model_s, timer)


def as_json(run: Run) -> str:
    return json.dumps(run._asdict())


def from_json(text: str) -> Run:
    fields = json.loads(text)
    for name in ("outcomes", "engine_us", "compile_us"):  # keys of JSON are texts
        fields[name] = {int(number): value for number, value in fields[name].items()}
    fields["steps"] = [Step(*step) for step in fields["steps"]]
    return Run(**fields)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", help=f"comma-separated: {', '.join(ADAPTERS)} (default: those installed)")
    parser.add_argument("--live", default="1,16,256", help="comma-separated: most live sequences")
    parser.add_argument("--requests", type=int, default=200, help="requests of a stream, at least three a live one")
    parser.add_argument("--load", type=float, default=0.9, help="share of the live sequences that is kept busy")
    parser.add_argument("--model-ms", type=float, default=8, help="of a step of the model")
    parser.add_argument("--corpus", choices=CORPORA, default="maskbench")
    parser.add_argument("--vocabulary", choices=list(SOURCES), default="llama3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--cpu", action="store_true", help="by the processor time of the process, where others run, too"
    )
    parser.add_argument("--output", type=Path, help="a file for the figures of the README's table")
    parser.add_argument("--here", action="store_true", help="in this process, of one engine: prints JSON")
    options = parser.parse_args()
    if options.corpus == "own":
        options.vocabulary = "default"
    names = options.engines.split(",") if options.engines else [name for name in ENGINES if is_installed(name)]
    numbers = [int(number) for number in options.live.split(",")]
    try:
        check_engines(tuple(names))
    except LlmaskError as error:
        raise SystemExit(f"error: {error}") from None
    if options.here:
        print(as_json(measure(names[0], numbers[0], options)))
        return
    found: dict[int, dict[str, Run]] = {}
    for live in numbers:
        found[live] = {}
        for name in names:
            command = [sys.executable, "-m", "bench.requests", *sys.argv[1:], "--engines", name, "--live", str(live)]
            done = subprocess.run([*command, "--here"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            found[live][name] = from_json(done.stdout.splitlines()[-1])
    print(table(found))
    if options.output is not None:
        kept = {
            live: {name: figures(run, options.model_ms) for name, run in runs.items()} for live, runs in found.items()
        }
        options.output.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
