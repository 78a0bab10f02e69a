"""Schemas that once multiplied out, by kind and size, and documents of values that must differ: what each step takes.

Of each kind, in both orders of keys: the compile, then a document read token by token, a mask before each, and one with
a fault, which must be refused. Files of schemas besides, whose documents are samples. With `--sentences` also what
`shortest()` and `sample()` take for each schema of MaskBench. Processor time, Python's collector off.

In: sizes, files. Out: a table; 1 where a document ends otherwise than it must. Cost: a minute; 2 for `--sentences`.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import numpy as np

import llmask
from bench import tables
from tests.long.corpora import maskbench, real_tokenizer
from tests.long.harness import needed
from tests.long.subject import accepts

Case = tuple[str, Any, Any, Any]  # name, schema, a document, one with a fault
INTEGER, STRING = {"type": "integer"}, {"type": "string"}


def about_keys(n: int) -> Iterator[Case]:
    """Which keys are there, or what one says, tells n things apart."""
    last, closed = n - 1, {"additionalProperties": False}
    kinds = [{"properties": {"kind": {"pattern": f"^k{i}-"}}, "required": ["kind"]} for i in range(n)]
    several = {f"{'ab'[i % 2]}{i}": i for i in range(n)}
    each = [{"type": "object", "properties": {f"k{i}": INTEGER}, **closed} for i in range(n)]
    yield "closed, a key each", {"oneOf": each}, {f"k{last}": 1}, {}
    yield "a pattern", {"type": "object", "oneOf": kinds}, {"kind": f"k{last}-x"}, {"kind": "x"}
    yield "a pattern, no type", {"oneOf": kinds}, {"kind": f"k{last}-x"}, 1
    for name, values in (("one schema", [INTEGER] * n), ("n schemas", [{"enum": [i, "x"]} for i in range(n)])):
        schema = {"type": "object", "patternProperties": {f"k{i}x": value for i, value in enumerate(values)}}
        yield f"patterns of keys, {name}", schema, {f"a k{i}x": i for i in range(n)}, {"k0x": None}
    modes = [{"type": "object", "properties": {"mode": {"enum": [f"m{i}", f"n{i}"]}}} for i in range(n)]
    yield "optional enums", {"oneOf": modes}, {"mode": f"n{last}"}, {}
    either = [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(n)]
    yield "one of two keys, each", {"type": "object", "allOf": either}, several, dict(list(several.items())[1:])
    asked = [{"not": {"properties": {f"a{i}": STRING}}} for i in range(n)]
    yield "not: properties", {"type": "object", "allOf": asked}, {f"a{i}": i for i in range(n)}, {"a0": 1, "a1": "x"}
    yield "dependentRequired", {"type": "object", "dependentRequired": {f"a{i}": [f"b{i}"] for i in range(n)}}, (
        {f"{x}{i}": 1 for i in range(n) for x in "ab"}), {"b0": 1, "a1": 1}  # fmt: skip
    apart = [{"not": {"required": [f"a{i}", f"b{i}"]}} for i in range(n)]
    yield "not: required", {"type": "object", "allOf": apart}, several, {"a0": 0, "b0": 0}
    one = {"type": "object", "oneOf": [{"required": [f"a{i}"]} for i in range(n)]}
    yield "oneOf: required", one, {f"a{last}": 1, "b": 0}, {"a0": 1, f"a{last}": 1}
    equal = {"type": "array", "items": INTEGER, "not": {"uniqueItems": True}}
    yield "not: uniqueItems", equal, [*range(n), last], [*range(n)]


def _lists(levels: int, scalar: Any) -> Any:
    """Lists whose items differ: of scalars, or of objects of four such lists."""
    items = (
        scalar if levels == 0 else {"type": "object", "properties": dict.fromkeys("abcd", _lists(levels - 1, scalar))}
    )
    return {"type": "array", "items": items, "uniqueItems": True}


def _unequal(levels: int, n_items: int, value: Callable[[int], Any], salt: int = 0) -> list[Any]:
    """A list of `_lists`, whose objects are alike until their last value."""
    if levels == 0:
        return [value(salt * n_items + i) for i in range(n_items)]
    same = dict.fromkeys("abc", _unequal(levels - 1, 2, value))
    return [{**same, "d": _unequal(levels - 1, 2, value, salt * n_items + i)} for i in range(n_items)]


def about_values(n: int) -> Iterator[Case]:
    """Items of lists that must differ."""
    names = [f"name {i}" for i in range(n + 100)]
    for what, scalar, value in (
        ("strings", STRING, "a text of {}".format), ("names", {"enum": names}, lambda i: names[i % len(names)]),
        ("integers", INTEGER, int),
    ):  # fmt: skip
        for levels, n_items in ((0, n), (1, 3), (1, 6), (2, 3), (2, 6), (3, 3), (4, 1), (4, 3))[: 2 + n // 16]:
            items = _unequal(levels, n_items, value)
            case = f"{n_items} of {levels} levels, {what}" if levels else f"{n} {what}"
            yield case, _lists(levels, scalar), items, [*items, copy.deepcopy(items[0])]
    free = {f"p{i}": (INTEGER, STRING)[i % 2] for i in range(15)}
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "object", "properties": free}}
    items = [{"p0": i // 9, "p3": "x", "p4": i % 9, "p14": 1} for i in range(n)]
    yield f"{n} objects of fifteen optional keys", schema, items, [*items, items[-1]]
    for bounds in ({"minProperties": 2}, {"maxProperties": 3}):
        counted = {**schema, "items": {**schema["items"], **bounds, "additionalProperties": False}}
        yield f"{n} objects, {bounds}", counted, [dict([*one.items()][:3]) for one in items], [{"p0": 1}] * 2
    few = {"type": "array", "uniqueItems": True, "items": {"type": "integer", "minimum": 0, "maximum": n}}
    yield f"{n} of {n + 1} integers", few, [*range(n)], [*range(n), 0]


def at_length(n: int) -> Iterator[Case]:
    """Long documents: free ones, whose last tokens cost what the first do, and ones in which all is counted."""
    record = {"id": INTEGER, "name": STRING, "email": {"type": "string", "pattern": "^[a-z]+@[a-z]+\\.com$"}}
    records = [{"id": i, "name": f"a name, {i}", "email": f"{chr(97 + i % 26)}@x.com"} for i in range(20 * n)]
    yield f"{20 * n} records", {"items": {"properties": record}}, records, [{"id": "x"}]
    yield f"{20 * n} free keys", {"additionalProperties": INTEGER}, {f"key {i}": i for i in range(20 * n)}, {"": None}
    yield f"{20 * n} counted items", {"items": INTEGER, "maxItems": 20 * n}, [*range(20 * n)], [0] * (20 * n + 1)
    yield f"{20 * n} characters", {"maxLength": 20 * n}, "a text " * (20 * n // 7), "x" * (20 * n + 1)


def steps_ms(grammar: llmask.CompiledGrammar, text: str) -> tuple[list[float], bool]:
    """Processor time of each mask with its token; whether the document ends where it must."""
    matcher, taken = grammar.matcher(), []
    bitmask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    for token in grammar.tokenizer.encode(text):
        started = time.process_time()
        matcher.fill_bitmask(bitmask)
        is_taken = matcher.accept(token)
        taken.append(1000 * (time.process_time() - started))
        if not is_taken:
            return taken, False
    return taken, matcher.is_accepting()


def row_of(tokenizer: llmask.Tokenizer, registry: Any, case: Case, order: str) -> list[Any]:
    """What one case takes, and what is wrong with it."""
    name, schema, document, wrong = case
    compiler = llmask.Compiler(tokenizer)
    gc.collect()
    gc.disable()
    started = time.process_time()
    try:
        grammar = compiler.json_schema(schema, property_order=order, registry=registry)
        compiled = time.process_time() - started
        text = json.dumps(document)
        if document is None:
            text = max((grammar.sample(seed=seed, max_bytes=40_000) for seed in range(20)), key=len).decode()
        taken, is_valid = steps_ms(grammar, text)
        is_wrong = wrong is not None and accepts(grammar.matcher(), json.dumps(wrong))
    except llmask.LlmaskError as error:
        return [name, order, time.process_time() - started, 0, 0, 0, 0, f"{type(error).__name__}: {error.message}"]
    finally:
        gc.enable()
    half = len(taken) // 2
    verdict = (
        "" if is_valid and not is_wrong else "a wrong document is taken" if is_valid else f"ends after {len(taken)}"
    )
    return [name, order, compiled, len(taken), sum(taken[:half]), sum(taken[half:]), max(taken), verdict]


def of_sentences(compiler: llmask.Compiler, order: str) -> list[Any]:
    """Milliseconds of `shortest()` and `sample()` over MaskBench: p50, p99, most; refusals."""
    taken: dict[str, list[float]] = {"shortest": [], "sample": []}
    refused = 0
    for entry in maskbench():
        try:
            grammar = compiler.json_schema(entry.schema, property_order=order)
        except llmask.LlmaskError:
            continue
        gc.disable()
        for what, ask in (("shortest", grammar.shortest), ("sample", grammar.sample)):
            started = time.process_time()
            try:
                ask()
            except llmask.LlmaskError as error:
                refused += 1
                print(f"{entry.id}, {order}, {what}: {error.message}")
            taken[what].append(1000 * (time.process_time() - started))
        gc.enable()
    figures = [f(times) for times in taken.values() for f in (np.median, lambda t: np.percentile(t, 99), max)]
    return [order, len(taken["sample"]), *map(float, figures), refused]


def _registry(files: dict[str, Any]) -> Any:
    """The schemas by their names, and by those of their files beside these, for references from one to another."""
    has_name = {file: schema for file, schema in files.items() if "$id" in schema}
    named = [(urljoin(schema["$id"], name), schema) for file, schema in has_name.items() for name in ("", file)]
    specification = needed("referencing.jsonschema").DRAFT202012
    return needed("referencing").Registry().with_contents(named, default_specification=specification)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 300], help="of each kind")
    parser.add_argument("--sentences", action="store_true", help="shortest() and sample() for MaskBench, too")
    parser.add_argument(
        "--files", type=Path, nargs="+", default=[], help="schemas, which may refer to each other; a sample is read"
    )


def main(options: argparse.Namespace) -> int:
    """Run and print; 1 when a document ends otherwise than it must."""
    llmask.warm()
    tokenizer, orders = real_tokenizer(), ("schema", "any")
    cases: list[Case] = [(f"{name}, {n}", *rest) for n in options.sizes for name, *rest in about_keys(n)]
    cases += [case for n in options.sizes for case in (*about_values(n), *at_length(n))]
    files = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in options.files}
    cases += [(name, schema, None, None) for name, schema in files.items()]
    registry = _registry(files) if files else None
    rows = [row_of(tokenizer, registry, case, order) for case in cases for order in orders]
    heads = ("kind", "order", "compile, s", "tokens", "first half, ms", "second half", "slowest step", "wrong")
    print(tables.markdown(heads, [[*row[:2], *(f"{x:.6g}"[:6] for x in row[2:7]), row[7]] for row in rows]))
    if options.sentences:
        found = [of_sentences(llmask.Compiler(tokenizer), order) for order in orders]
        heads = ("order", "grammars", "shortest, ms: p50", "p99", "most", "sample, ms: p50", "p99", "most", "refused")
        print("\n" + tables.markdown(heads, [[row[0], *(f"{x:.4g}" for x in row[1:])] for row in found]))
    return int(any(row[-1] for row in rows))
