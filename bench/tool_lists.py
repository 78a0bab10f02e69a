"""Long lists of tools in every family: compiling, masks, real tools, calls read back: `python -m bench.tool_lists`.

    lists    1 to 200 functions of eight parameters x auto, required, named; 300 plain ones; too many for strangers
    masks    of random calls of 200 functions, when nothing is known of the grammar and again; marks as text or tokens
    file     tools of a file, as `tools/list` gives them: within the usual limits and those for strangers, and random
             calls of them within budgets, read back and judged by jsonschema

In: command line. Out: a table of seconds, MiB and microseconds. Cost: `lists` 7 minutes, `masks` 3, `file` 1.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import random
import re
import statistics
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np

import llmask
from bench.tables import markdown
from bench.vocabularies import SOURCES
from llmask.frontends.tools import MODELS
from tests.unit.frontends.tools.templates import ELEMENT_CALLS, JSON_CALLS, written

SIZES = (1, 20, 100, 200)
TOO_MANY = (500, 800, 1200)  # functions
N_PLAIN = 300
N_CALLS = 40
N_TIMES = 3
TEXT = "the quick brown fox jumps over lazy dogs while it rains in Spain and nobody minds a 3 or <b> of [it]"
SPECIAL_MARK = re.compile(r"</?[a-z:_]*tool_calls?>|<\|[a-z_]+\|>|<｜tool▁[a-z▁]+｜>")


def full_tools(n: int) -> list[dict[str, Any]]:
    """`n` functions with four strings, one of them bounded, a number, a flag, a list and an optional object."""
    found = []
    for i in range(n):
        properties = {
            f"query_{i}": {"type": "string", "description": f"what to look for in place {i}"},
            "title": {"type": "string", "maxLength": 80},
            "draft": {"type": "boolean"},
            "n": {"type": "number"},
            "text": {"type": "string"},
            "body": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "more": {"type": "object", "properties": {"a": {"type": "string"}}},
        }
        parameters = {"type": "object", "properties": properties, "required": ["title", f"query_{i}"]}
        found.append({"name": f"tool_{i}", "parameters": parameters})
    return found


def plain_tools(n: int) -> list[dict[str, Any]]:
    """`n` functions of six plain parameters."""
    types = ("string", "integer", "boolean", "number")
    found = []
    for i in range(n):
        properties = {f"a{k}_{i}": {"type": types[k % 4], "description": "x" * 30} for k in range(6)}
        parameters = {"type": "object", "properties": properties, "required": [f"a0_{i}"]}
        found.append({"name": f"t{i}", "parameters": parameters})
    return found


def compiled(tools: list[Any], model: str, choice: Any, limits: Any = None) -> tuple[float, Any]:
    """Seconds in a new compiler, and the grammar, or the error."""
    gc.collect()  # what was compiled before is no part of this
    compiler = llmask.Compiler(llmask.Tokenizer.default(), limits=limits)
    start = time.perf_counter()
    try:
        result: Any = compiler.tools(tools, model, choice)
    except llmask.LlmaskError as error:
        result = error
    return time.perf_counter() - start, result


def row(name: str, tools: list[Any], choices: Iterable[Any] = ("auto",), limits: Any = None) -> list[str]:
    """How many compile, the median and the slowest in seconds, each the middle one of three times, and the most MiB."""
    results: list[tuple[float, str]] = []
    good = []
    for model, choice in itertools.product(MODELS, choices):
        times = []
        for _ in range(N_TIMES):
            seconds, grammar = compiled(tools, model, choice, limits)
            times.append(seconds)
        results.append((statistics.median(times), model))
        good += [] if isinstance(grammar, llmask.LlmaskError) else [grammar.bytes_used / 2**20]
        del grammar  # else garbage collection walks through it in those that come after
    slowest, model = max(results)
    median = statistics.median(seconds for seconds, _ in results)
    compiles = f"{len(good)} of {len(results)}"
    return [name, compiles, f"{median:.2f}", f"{slowest:.2f} ({model})", f"{max(good, default=0):.1f}"]


def lists() -> Iterable[list[str]]:
    """The rows of lists made alike."""
    for n in SIZES:
        yield row(f"{n} functions", full_tools(n), ("auto", "required", {"name": f"tool_{n - 1}"}))
    strangers = llmask.Limits.for_untrusted()
    yield row(f"{N_PLAIN} plain", plain_tools(N_PLAIN))
    yield row(f"{N_PLAIN} plain, for strangers", plain_tools(N_PLAIN), limits=strangers)
    for n in (N_PLAIN, *TOO_MANY):
        yield row(f"{n} functions, for strangers", full_tools(n), limits=strangers)


def marks_of(models: Iterable[str]) -> list[str]:
    """What has a token of its own in such models' vocabularies."""
    texts = "".join("".join(JSON_CALLS.get(model) or ELEMENT_CALLS[model]) for model in models)
    return sorted(set(SPECIAL_MARK.findall(texts)))


def with_marks(vocabulary: llmask.Tokenizer, marks: list[str]) -> tuple[llmask.Tokenizer, Callable[[str], list[int]]]:
    """The vocabulary with marks in the places of special tokens that nothing uses, and its encoder."""
    tokens = [vocabulary.token_bytes(token) or b"" for token in range(vocabulary.vocab_size)]
    special = sorted(vocabulary.special_ids)
    free = [token for token in special if "reserved" in vocabulary.token_name(token)]
    ids = dict(zip(marks, free, strict=False))
    for mark, token in ids.items():
        tokens[token] = mark.encode()
    split = re.compile("(" + "|".join(map(re.escape, sorted(ids, key=len, reverse=True))) + ")")

    def encode(text: str) -> list[int]:
        return [
            token
            for part in split.split(text)
            if part
            for token in ([ids[part]] if part in ids else vocabulary.encode(part))
        ]

    return llmask.Tokenizer.from_bytes(tokens, eos=list(vocabulary.eos_ids), special=special), encode


def random_call(rng: random.Random, model: str, n: int) -> str:
    """A call of one of `full_tools(n)`, its arguments in a random order."""

    def text(n_words: int) -> str:
        return " ".join(rng.choice(TEXT.split()) for _ in range(n_words))

    i = rng.randrange(n)
    values = {
        f"query_{i}": text(9),
        "title": text(6),
        "draft": True,
        "n": 3.5,
        "text": text(30) + ' see < and > "it"',
        "tags": ["alpha", "beta gamma"],
        "more": {"a": "some words"},
    }
    names = list(values)
    rng.shuffle(names)
    return written(model, f"tool_{i}", {name: values[name] for name in names})


def masks(vocabulary: str, special: bool, seed: int) -> Iterable[list[str]]:
    """A row for each family: microseconds of masks in calls that nothing is known of, and in the same ones again."""
    tokenizer = llmask.Tokenizer.from_gguf(SOURCES[vocabulary].path)
    encode: Callable[[str], list[int]] = tokenizer.encode
    models = list(MODELS)
    if special:
        models = [model for model in MODELS if marks_of([model])]
        tokenizer, encode = with_marks(tokenizer, marks_of(models))
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    for model in models:
        rng, times = random.Random(seed), ([], [])
        grammar = llmask.Compiler(tokenizer).tools(full_tools(SIZES[-1]), model, "required")
        calls = [encode(random_call(rng, model, SIZES[-1])) for _ in range(N_CALLS)]
        for microseconds in times:
            for ids in calls:
                matcher = grammar.matcher()
                for token in ids:
                    start = time.perf_counter_ns()
                    matcher.fill_bitmask(mask)
                    microseconds.append((time.perf_counter_ns() - start) / 1e3)
                    if not matcher.accept(token):
                        raise SystemExit(f"{model} refuses its own call: {matcher.explain()}")
        cells = [model + (", tokens" if special else ""), str(len(times[0]))]
        for microseconds in times:
            cells += [f"{value:,.1f}" for value in np.percentile(microseconds, (50, 99, 100))]
        yield cells


def file_rows(tools: list[Any]) -> Iterable[list[str]]:
    """All tools of a file in every family."""
    for name, limits in (("usual limits", None), ("for strangers", llmask.Limits.for_untrusted())):
        for choice in ("auto", "required"):
            yield row(f"{choice}, {name}", tools, (choice,), limits)


def read_back(tools: list[Any], n_calls: int, seed: int) -> str:
    """Random calls within budgets, as the masks allow them, read back: what became of them."""
    rng = random.Random(seed)
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    mask = llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size)
    n_good, faults = 0, []
    for _ in range(n_calls):
        tool, model = rng.choice(tools), rng.choice(MODELS)
        matcher = compiler.tools([tool], model, "required", parallel=False).matcher()
        budget = matcher.least_budget() + rng.randint(0, 150)
        while not matcher.is_terminated():
            matcher.fill_bitmask(mask, budget=budget)
            allowed = np.flatnonzero(np.unpackbits(mask[0].view(np.uint8), bitorder="little"))
            matcher.accept_token(int(rng.choice(allowed.tolist())))
            budget -= 1
        text = bytes(matcher.text()).decode()
        try:
            [call] = llmask.tool_calls(text, model, [tool])
            jsonschema.validate(call.arguments, tool.get("inputSchema") or tool.get("parameters", {}))
            n_good += call.name == tool["name"]
        except (ValueError, jsonschema.ValidationError) as error:
            faults.append(f"{model}, {tool['name']}: {error}\n    {text!r}")
    return "\n".join([f"{n_good} of {n_calls} random calls read back and valid", *faults[:9]])


def tools_of(path: str) -> list[Any]:
    """Tools of a list, of a reply to `tools/list`, or of several by the name of their server."""
    document = json.loads(Path(path).read_text())
    if isinstance(document, list):
        return document
    if "tools" in document:
        return document["tools"]
    return [{**tool, "name": f"{server}_{tool['name']}"} for server, tools in document.items() for tool in tools]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("lists", "masks", "file"), default="lists")
    parser.add_argument("path", nargs="?", help="for `file`: JSON, as `tools/list` answers, or by server's name")
    parser.add_argument("--vocabulary", choices=[*SOURCES], default="llama3", help="for `masks` (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=300, help="random calls for `file` (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", llmask.GrammarWarning)
    columns = ["", "compile", "median, s", "slowest, s", "most MiB"]
    if options.what == "lists":
        print(markdown(columns, list(lists())))
    elif options.what == "masks":
        parts = [f"{when} {part}, us" for when in ("first", "known") for part in ("p50", "p99", "longest")]
        rows = [row for special in (False, True) for row in masks(options.vocabulary, special, options.seed)]
        print(markdown(["", "masks", *parts], rows))
    elif options.path is None:
        parser.error("`file` wants the path of a JSON file with tools")
    else:
        tools = tools_of(options.path)
        print(f"{len(tools)} tools, {len(json.dumps(tools)):,} characters")
        print(markdown(columns, list(file_rows(tools))))
        print(read_back(tools, options.calls, options.seed))


if __name__ == "__main__":
    main()
