"""Whether the reasons of `explain` are those that another validator reports, and what finding them takes.

Two kinds of documents of MaskBench: invalid ones (its own, and valid ones with one value replaced, taken out, renamed
or doubled), whose keyword and instance pointer must be among the errors of `jsonschema`, those within `anyOf` and
`oneOf` included; and valid ones written in another order of keys, with other escapes or with exponents, of which it
must say so. Grammars of the first have `property_order="any"` and `literals="any"`, those of the second no options.

In: the shared part of MaskBench; `jsonschema`. Out: shares, and every case that is not as it must be. Cost: 0.1 s a
document, most of it in the judge.
"""

from __future__ import annotations

import copy
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from typing import Any

import llmask
from tests.long.corpora import Entry, maskbench
from tests.long.harness import Tally

MOST_BYTES = 20_000  # of a document: the judge is slow
LEAST_SHARE = 0.95
REPLACEMENTS = (None, True, 0, -1, 2.5, 10**9, "", "x", "a longer text with blanks", [], {}, ["x"], {"x": 1})


def run(tally: Tally) -> None:
    """Draw documents, explain them, compare."""
    entries = [entry for entry in maskbench() if entry.documents]
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    share, taken = invalid_documents(tally, compiler, entries, random.Random(tally.seed))
    told = other_spellings(tally, compiler, entries, random.Random(tally.seed))
    of_tokens = refused_tokens(tally, compiler, entries, random.Random(tally.seed))
    tally.done = tally.size
    tally.rows.append({
        "invalid, as the judge reports": share, "reason": _milliseconds(taken), "other spellings told so": told,
        "reason of a refused token": _milliseconds(of_tokens),
    })  # fmt: skip
    if share < LEAST_SHARE:
        tally.fault("too few reasons are the judge's", share)
    if told < 1:
        tally.fault("another spelling is not told so", told)


def invalid_documents(
    tally: Tally, compiler: llmask.Compiler, entries: list[Entry], rng: random.Random
) -> tuple[float, list[float]]:
    """The share of reasons that the judge has, too; seconds that each took."""
    n_right, taken = 0, []
    for entry, data in drawn(invalid(entries, rng), tally.size):
        tally.begin(entry.id)
        try:
            grammar = compiler.json_schema(entry.schema, property_order="any", literals="any", unsupported="ignore")
        except llmask.LlmaskError:
            continue
        text = json.dumps(data, ensure_ascii=False)
        if grammar.accepts(text):
            continue
        begun = time.perf_counter()
        found = grammar.explain(text)
        taken.append(time.perf_counter() - begun)
        reported = errors_of(entry.schema, data)
        if (found.instance_pointer, found.keyword or None) in reported:
            n_right += 1
        else:
            said = sorted(map(str, reported))[:4]
            print(
                f"{entry.id}: {found!r} at {found.instance_pointer!r}, {found.note}; the judge: {said}", file=sys.stderr
            )
        if len(taken) == tally.size:
            break
    return n_right / len(taken), taken


def _milliseconds(taken: list[float]) -> str:
    return (
        f"{statistics.median(taken) * 1e3:.2f} ms (median), {sorted(taken)[int(len(taken) * 0.99)] * 1e3:.1f} ms (p99)"
    )


def refused_tokens(tally: Tally, compiler: llmask.Compiler, entries: list[Entry], rng: random.Random) -> list[float]:
    """Seconds that the reason of a refused token takes, anywhere in valid documents; tokens named instead may come."""
    tokenizer, taken = compiler.tokenizer, []
    bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    cases = [(entry, data) for entry in entries for is_valid, data in entry.documents if is_valid]
    while len(taken) < tally.size:
        entry, data = rng.choice(cases)
        tally.begin(entry.id)
        text = json.dumps(data, ensure_ascii=False)
        try:
            grammar = compiler.json_schema(entry.schema, unsupported="ignore")
        except llmask.LlmaskError:
            continue
        if len(text) > MOST_BYTES or not grammar.accepts(text):
            continue
        ids, matcher = tokenizer.encode(text), grammar.matcher()
        matcher.accept_tokens(ids[: rng.randrange(len(ids))])
        matcher.fill_bitmask(bitmask)
        refused = [token for token in rng.sample(range(tokenizer.vocab_size), 50) if not allows(bitmask, token)]
        if refused:
            begun = time.perf_counter()
            found = matcher.explain(refused[0])
            taken.append(time.perf_counter() - begun)
            assert not found.is_allowed
            assert all(matcher.fork().accept(token) for token in found.tokens)
    return taken


def allows(bitmask: Any, token: int) -> bool:
    """Whether a mask has a token."""
    return bool(bitmask[0, token >> 5] >> (token & 31) & 1)


def drawn(cases: Iterator[tuple[Entry, Any]], size: int) -> Iterator[tuple[Entry, Any]]:
    """Cases of documents that the judge can read and refuses, or of any; many more than are needed."""
    for number, (entry, data) in enumerate(cases):
        if number > 100 * size:
            return
        if len(json.dumps(data)) <= MOST_BYTES and errors_of(entry.schema, data):
            yield entry, data


def invalid(entries: list[Entry], rng: random.Random) -> Iterator[tuple[Entry, Any]]:
    """Invalid documents, and valid ones with a change, in turn."""
    with_invalid = [entry for entry in entries if any(not is_valid for is_valid, _ in entry.documents)]
    with_valid = [entry for entry in entries if any(is_valid for is_valid, _ in entry.documents)]
    while True:
        entry = rng.choice(with_invalid)
        yield entry, rng.choice([data for is_valid, data in entry.documents if not is_valid])
        entry = rng.choice(with_valid)
        yield entry, changed(rng, rng.choice([data for is_valid, data in entry.documents if is_valid]))


def changed(rng: random.Random, data: Any) -> Any:
    """A copy with one value replaced, taken out, renamed or doubled."""
    data = copy.deepcopy(data)
    containers: list[Any] = []
    waiting = [data]
    while waiting:
        here = waiting.pop()
        if isinstance(here, (dict, list)) and here:
            containers.append(here)
            waiting += here.values() if isinstance(here, dict) else here
    if not containers:
        return rng.choice(REPLACEMENTS)
    here = rng.choice(containers)
    key = rng.choice(list(here) if isinstance(here, dict) else range(len(here)))
    kind = rng.random()
    if kind < 0.5:
        here[key] = rng.choice(REPLACEMENTS)
    elif kind < 0.7:
        del here[key]
    elif isinstance(here, dict):
        here[f"{key}x"] = here.pop(key) if kind < 0.85 else here[key]
    else:
        here.append(copy.deepcopy(here[key]))
    return data


def errors_of(schema: Any, data: Any) -> set[tuple[str, str | None]]:
    """Instance pointer and keyword of every error that `jsonschema` reports, at any depth."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import validator_for

    kind = validator_for(schema, default=Draft202012Validator)
    found: set[tuple[str, str | None]] = set()

    def add(error: ValidationError) -> None:
        pointer = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in error.absolute_path)
        found.add((pointer, error.validator))
        for inner in error.context or ():
            add(inner)

    try:
        for error in kind(schema, format_checker=kind.FORMAT_CHECKER).iter_errors(data):
            add(error)
    except Exception:  # references that it cannot follow, patterns that it cannot read
        return set()
    return found


def other_spellings(tally: Tally, compiler: llmask.Compiler, entries: list[Entry], rng: random.Random) -> float:
    """The share of valid documents of another spelling of which `explain` says that they are."""
    cases = [(entry, data) for entry in entries for is_valid, data in entry.documents if is_valid]
    n_told, n = 0, 0
    while n < tally.size:
        entry, data = rng.choice(cases)
        tally.begin(entry.id)
        try:
            plain, free = (
                compiler.json_schema(entry.schema, unsupported="ignore", **options)
                for options in ({}, {"property_order": "any", "literals": "any"})
            )
        except llmask.LlmaskError:
            continue
        kind = rng.choice(("order", "escapes", "exponents"))
        text = respelled(rng, data, kind)
        is_valid = free.accepts(json.dumps(data, ensure_ascii=False))
        if len(text) > MOST_BYTES or not is_valid or plain.accepts(text):
            continue
        n += 1
        found = plain.explain(text)
        is_told = found.keyword is None and (bool(found.relaxed) or "exponent" in (found.note or ""))
        n_told += is_told
        if not is_told:
            print(f"{entry.id} ({kind}): {found!r}, {found.note}, {found.instance_pointer}", file=sys.stderr)
    return n_told / n


def respelled(rng: random.Random, data: Any, kind: str) -> str:
    """A document in another spelling."""
    if isinstance(data, dict):
        pairs = list(data.items())
        if kind == "order":
            rng.shuffle(pairs)
        return "{" + ", ".join(f"{respelled(rng, key, kind)}: {respelled(rng, one, kind)}" for key, one in pairs) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(respelled(rng, one, kind) for one in data) + "]"
    if isinstance(data, str) and kind == "escapes" and data and rng.random() < 0.3:
        at = rng.randrange(len(data))
        escaped = json.dumps("\\" + data[at])[3:-1] if ord(data[at]) > 127 else f"\\u{ord(data[at]):04x}"
        return f"{json.dumps(data[:at])[:-1]}{escaped}{json.dumps(data[at + 1 :])[1:]}"
    if type(data) is int and kind == "exponents" and data % 10 == 0 and data:
        return f"{data // 10}e1"
    return json.dumps(data)
