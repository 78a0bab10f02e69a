"""What a step of a generation loop costs beside the model: `python -m bench.loop`.

Logits processors on the CPU, or with `--device cuda` on a GPU that is waited for after each call, all in one process
and in turn: each step of a text is given to every engine before the next one, so that what else the machine does meets
all of them. Rows of a batch have texts of their own, of the same length in tokens.

    llmask       llmask.samplers.transformers.GrammarLogitsProcessor; it copies the scores
    xgrammar     xgrammar.contrib.hf.LogitsProcessor on a clone, as it writes in place; the clone is timed
    llguidance   LLMatcher and llguidance.torch, a matcher a row, on a clone, too
    llama.cpp    llmask.samplers.llama_cpp on records of 12 bytes, one row, in place

A second table has the application of masks alone, in place, the masks those of the same texts. The first round of all
steps is not counted: masks are built in it. Logits are new for each application, as a model's are: masks of many steps
applied to the same ones would leave nothing. Engines that are not installed are left out.

In: command line. Out: tables of microseconds, median and mean. Cost: a minute or two.
"""

from __future__ import annotations

import argparse
import copy
import gc
import importlib
import json
import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bench.engines import adapter, is_installed
from bench.vocabularies import encoder

PEERS = ("xgrammar", "llguidance")
SCHEMAS: dict[str, Any] = {
    "mixed document": {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "name": {"type": "string"},
            "role": {"enum": ["admin", "editor", "reader"]},
            "scores": {"type": "array", "items": {"type": "number"}},
            "address": {
                "type": "object",
                "properties": {"street": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
                "required": ["street", "zip"],
            },
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 20}},
            "active": {"type": "boolean"},
        },
        "required": ["id", "name", "role", "scores", "address", "tags", "active"],
        "additionalProperties": False,
    },
    "long string": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
}
TEXT = "the quick brown fox jumps over a lazy dog while seven wizards brew strange potions in old copper kettles"
WORDS = TEXT.split(" ")
Times = dict[str, list[float]]


def document(name: str, row: int) -> Any:
    """The document that a row of the batch writes."""
    words = WORDS[row % len(WORDS) :] + WORDS[: row % len(WORDS)]
    if name == "long string":
        return {"text": f"{row}: " + " ".join(words * 8)}
    return {
        "id": 1000 + row,
        "name": f"{words[0].title()} {words[1].title()}",
        "role": ("admin", "editor", "reader")[row % 3],
        "scores": [row + 0.5, 12, -3.25, 1e-7],
        "address": {"street": f"{row} {words[2]} street", "zip": f"{10_000 + row}"},
        "tags": words[3:9],
        "active": row % 2 == 0,
    }


def token_rows(name: str, n_rows: int, vocabulary_name: str) -> np.ndarray:
    """int64[n_rows, n_tokens]: the rows' documents, cut to the shortest."""
    encode = encoder(vocabulary_name)
    rows = [encode(json.dumps(document(name, row))) for row in range(n_rows)]
    length = min(map(len, rows))
    return np.array([row[:length] for row in rows], np.int64)


class Case(NamedTuple):
    """One text at one batch size.

    ids      int64[n_rows, n_prompt + n_tokens], what is written row by row
    n_prompt tokens of them that no grammar sees
    logits   float32[n_rows, n_vocab]
    """

    ids: np.ndarray
    n_prompt: int
    logits: np.ndarray

    def steps(self) -> list[np.ndarray]:
        """The ids that a processor sees, step after step."""
        return [np.ascontiguousarray(self.ids[:, :end]) for end in range(self.n_prompt, self.ids.shape[1])]


class LlguidanceProcessor:
    """A processor as llguidance's users write it: its package has the parts."""

    def __init__(self, grammar: Any, n_vocab: int) -> None:
        self.grammar = grammar
        self.n_vocab = n_vocab
        self.matchers: list[Any] = []

    def __call__(self, ids: Any, scores: Any) -> Any:
        import llguidance.torch as guided

        if not self.matchers:
            self.matchers = [self.grammar.deep_copy() for _ in range(ids.shape[0])]
            self.mask = guided.allocate_token_bitmask(ids.shape[0], self.n_vocab)
        else:
            for matcher, token in zip(self.matchers, ids[:, -1].tolist(), strict=True):
                matcher.consume_token(token)
        for row, matcher in enumerate(self.matchers):
            guided.fill_next_token_bitmask(matcher, self.mask, row)
        guided.apply_token_bitmask_inplace(scores, self.mask.to(scores.device, non_blocking=True))
        return scores


def make_processor(name: str, grammar: Any, n_vocab: int) -> Callable[[Any, Any], Any]:
    """A fresh processor of an engine, which leaves the scores that it is given as they are."""
    if name == "llmask":
        return importlib.import_module("llmask.samplers.transformers").GrammarLogitsProcessor(
            grammar, max_tokens=math.inf
        )
    if name == "xgrammar":
        inner = importlib.import_module("xgrammar.contrib.hf").LogitsProcessor(grammar)
    else:
        inner = LlguidanceProcessor(grammar, n_vocab)
    return lambda ids, scores: inner(ids, scores.clone())


def wait_for(device: str) -> None:
    """Until a GPU has done what it was given."""
    if device == "cuda":
        importlib.import_module("torch").cuda.synchronize()


def timed(job: Callable[[], object], device: str = "cpu") -> float:
    """Microseconds of one call, and of what a GPU does in it."""
    wait_for(device)
    started = time.perf_counter_ns()
    job()
    wait_for(device)
    return (time.perf_counter_ns() - started) / 1000


def time_processors(case: Case, grammars: dict[str, Any], n_rounds: int, device: str) -> Times:
    """Microseconds of each counted call, by engine; `grammars` has one of each engine."""
    import torch

    scores = torch.from_numpy(case.logits).to(device)
    n_vocab = scores.shape[1]
    steps = [torch.from_numpy(ids).to(device) for ids in case.steps()]
    times: Times = defaultdict(list)
    for number in range(n_rounds + 1):
        processors = {name: make_processor(name, grammar, n_vocab) for name, grammar in grammars.items()}
        for ids in steps:
            for name, processor in processors.items():
                elapsed = timed(lambda processor=processor, ids=ids: processor(ids, scores), device)
                if number:
                    times[name].append(elapsed)
    return times


def time_llama_cpp(case: Case, grammar: Any, n_rounds: int) -> Times:
    """Microseconds of each counted call of llama-cpp-python's processor, on the first row."""
    from llmask.samplers.llama_cpp import GrammarLogitsProcessor

    times: Times = defaultdict(list)
    records = np.zeros(case.logits.shape[1], [("id", np.intc), ("logit", np.single), ("p", np.single)])
    for number in range(n_rounds + 1):
        processor = GrammarLogitsProcessor(grammar, max_tokens=math.inf)
        for ids in case.steps():
            records["logit"] = case.logits[0]
            elapsed = timed(lambda processor=processor, ids=ids: processor(ids[0], records["logit"]))
            processor.raise_if_failed()
            if number:
                times["llama.cpp"].append(elapsed)
    return times


def masks_of(case: Case, grammar: Any) -> list[np.ndarray]:
    """The mask of every step, int32[n_rows, n_words]."""
    from llmask.samplers.prefixes import BatchMasks

    masks = BatchMasks(grammar)
    return [masks.fill(ids).copy() for ids in case.steps()]


def appliers(kind: str, names: list[str]) -> dict[str, Callable[[Any, Any], object]]:
    """What applies a mask in place to logits of a kind, by engine."""
    from llmask import apply_bitmask

    found: dict[str, Callable[[Any, Any], object]] = {"llmask": apply_bitmask}
    if "llguidance" in names:
        module = importlib.import_module("llguidance.numpy" if kind == "NumPy float32" else "llguidance.torch")
        found["llguidance"] = module.apply_token_bitmask_inplace
    if "xgrammar" in names and kind != "NumPy float32":
        found["xgrammar"] = importlib.import_module("xgrammar").apply_token_bitmask_inplace
    if kind.startswith("cuda"):  # the peers take masks that are there already
        for name in found.keys() - {"llmask"}:
            found[name] = lambda logits, mask, apply=found[name]: apply(logits, mask.to("cuda", non_blocking=True))
    return found


def time_appliers(case: Case, masks: list[np.ndarray], kind: str, names: list[str], n_rounds: int) -> Times:
    """Microseconds of each counted application in place, of masks in this machine's memory."""
    import torch

    device = "cuda" if kind.startswith("cuda") else "cpu"
    if kind == "NumPy float32":
        fresh = case.logits
    else:
        dtype = torch.bfloat16 if kind.endswith("bfloat16") else torch.float32
        fresh = torch.from_numpy(case.logits).to(device, dtype)
    apply = appliers(kind, names)
    logits = copy.deepcopy(fresh)  # for all engines: where large batches lie makes up to a tenth
    given = masks if kind == "NumPy float32" else [torch.from_numpy(mask) for mask in masks]
    times: Times = defaultdict(list)
    for number in range(n_rounds + 1):
        for mask in given:
            for name, function in apply.items():
                logits[...] = fresh
                elapsed = timed(lambda function=function, mask=mask: function(logits, mask), device)
                if number:
                    times[name].append(elapsed)
    return times


def line(title: str, n_rows: int, times: Times, columns: list[str]) -> str:
    """A row of a table: median / mean of each engine, and llmask's median beside that of the better peer."""
    cells = []
    for name in columns:
        found = times.get(name)
        cells.append(f"{statistics.median(found):,.0f} / {statistics.mean(found):,.0f}" if found else "-")
    others = [statistics.median(found) for name, found in times.items() if name in PEERS and found]
    ratio = f"{statistics.median(times['llmask']) / min(others):.2f}" if others and times.get("llmask") else "-"
    return f"| {title} | {n_rows} | {' | '.join(cells)} | {ratio} |"


def header(title: str, columns: list[str]) -> str:
    return (
        f"| {title}: median / mean, us | B | {' | '.join(columns)} | median / better peer's |\n"
        f"|---|---:|{'---:|' * (len(columns) + 1)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", default="llama3", help="llama3, qwen2 or default (no shared data needed)")
    parser.add_argument("--batches", default="1,8,32", help="batch sizes")
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds of every step")
    parser.add_argument("--prompt", type=int, default=20, help="tokens of the prompt")
    parser.add_argument("--threads", type=int, default=1, help="of torch")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the logits are")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    names = ["llmask", *filter(is_installed, PEERS)]
    engines = {name: adapter(name)("flexible", options.vocabulary) for name in names}
    n_vocab = len(engines["llmask"].vocabulary.tokens)
    grammars = {
        text: {name: engine.compile(schema) for name, engine in engines.items()} for text, schema in SCHEMAS.items()
    }
    columns = [*names, "llama.cpp"] if options.device == "cpu" else names
    there = torch.cuda.get_device_name() if options.device == "cuda" else f"{options.threads} thread(s)"
    print(f"{n_vocab:,} tokens; torch {torch.__version__}, {there}\n")
    print(header("a step of a processor", columns), flush=True)
    numbers = np.random.default_rng(1)
    cases = {}
    gc.disable()
    for text in SCHEMAS:
        for n_rows in map(int, options.batches.split(",")):
            prompt = np.full((n_rows, options.prompt), 5, np.int64)
            ids = np.concatenate([prompt, token_rows(text, n_rows, options.vocabulary)], axis=1)
            logits = numbers.normal(size=(n_rows, n_vocab)).astype(np.float32)
            cases[text, n_rows] = case = Case(ids, options.prompt, logits)
            times = time_processors(case, grammars[text], options.rounds, options.device)
            if n_rows == 1 and options.device == "cpu":
                times |= time_llama_cpp(case, grammars[text]["llmask"], options.rounds)
            print(line(text, n_rows, times, columns), flush=True)
            gc.collect()
    print("\n" + header("masks applied in place", names), flush=True)
    kinds = ("NumPy float32", "torch float32", "torch bfloat16")
    if options.device == "cuda":
        kinds = ("cuda float32", "cuda bfloat16")
    for (text, n_rows), case in cases.items():
        masks = masks_of(case, grammars[text]["llmask"])
        for kind in kinds:
            times = time_appliers(case, masks, kind, names, options.rounds)
            print(line(f"{kind}, {text}", n_rows, times, names), flush=True)


if __name__ == "__main__":
    main()
