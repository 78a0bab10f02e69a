"""Documents written under masks: `python -m bench.conformance walks`.

Two ways to choose among the allowed tokens: each alike, and each first byte alike (among tokens nine of ten continue a
string; among first bytes the walk soon leaves it). A walk goes on for some tokens, then the search of `completion.py`
ends it; from points on the way it must find an end, too. Every document is parsed and judged by `jsonschema`, formats
left aside: those of the masks are stricter than what the judge knows of them. So where a format may be negated the
grammar takes formats as annotations, too.

In: MaskBench's schemas where the shared data is, and random ones. Out: counts, and every document that is not valid.
Cost: 10 ms a document.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import llmask
from bench.conformance import tables
from bench.conformance.completion import Completion, DeadEnd
from bench.conformance.subject import Refused, Subject
from bench.data import MASKBENCH
from tests.generators.judge import Judge, Unjudgeable
from tests.generators.schemas import keywords_of, random_schema

UNIFORM, FIRST_BYTE = "tokens alike", "first bytes alike"
WAYS = (UNIFORM, FIRST_BYTE)
MAX_NAMES = 50  # keys that the search for an end tries
PROBES = 2  # points of a walk, besides its last, from which an end is looked for


class Walk(NamedTuple):
    """A document, and endings found from earlier points; `is_bound_spent` when a search gave up."""

    document: bytes | None
    earlier: list[bytes]
    n_tokens: int
    is_bound_spent: bool


class Walker:
    """Random walks over one tokenizer."""

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        self.completion = Completion(tokenizer)
        self.bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self.eos_ids = tokenizer.eos_ids
        self.n_tokens = tokenizer.vocab_size
        firsts = [tokenizer.token_bytes(token)[:1] or b"\0" for token in range(tokenizer.vocab_size)]
        self.first_bytes = np.frombuffer(b"".join(firsts), np.uint8).astype(np.int16)
        self.first_bytes[list(self.eos_ids)] = 256

    def allowed(self, matcher: llmask.Matcher) -> Any:
        """The allowed tokens' ids.

        Raises
        ------
        DeadEnd : there are none.
        """
        try:
            matcher.fill_bitmask(self.bitmask)
        except llmask.VocabularyError as error:
            raise DeadEnd(f"no token after {matcher.text()!r}: {error}") from None
        bits = np.unpackbits(self.bitmask.view(np.uint8), bitorder="little")[: self.n_tokens]
        found = np.flatnonzero(bits)
        if not len(found):
            raise DeadEnd(f"no token after {matcher.text()!r}")
        return found

    def chosen(self, allowed: Any, way: str, rng: random.Random) -> int:
        """One of the allowed tokens."""
        if way == FIRST_BYTE:
            firsts = self.first_bytes[allowed]
            bytes_there = np.flatnonzero(np.bincount(firsts))
            allowed = allowed[firsts == bytes_there[rng.randrange(len(bytes_there))]]
        return int(allowed[rng.randrange(len(allowed))])

    def walk(
        self,
        grammar: Any,
        rng: random.Random,
        way: str,
        max_tokens: int = 40,
        n_probes: int = PROBES,
        names: Sequence[str] = (),
    ) -> Walk:
        """One document: random tokens, then an ending; `names` are keys worth a try for it.

        Raises
        ------
        DeadEnd : somewhere no token is allowed, or no document begins like this.
        """
        matcher = grammar.matcher()
        n_free = rng.randint(0, max_tokens)
        probes = {rng.randint(0, n_free) for _ in range(n_probes)}
        earlier, is_spent = [], False
        for place in range(n_free):
            if place in probes:
                found = self.completion.ending(matcher, names=names)
                is_spent |= found.ending is None
                earlier += [matcher.text() + found.ending] if found.ending is not None else []
            token = self.chosen(self.allowed(matcher), way, rng)
            before = matcher.text()
            matcher.accept_token(token)
            if token in self.eos_ids:
                return Walk(before, earlier, place + 1, is_spent)
        found = self.completion.ending(matcher, names=names)
        if found.ending is None:
            return Walk(None, earlier, n_free, True)
        return Walk(matcher.text() + found.ending, earlier, n_free, is_spent)


def fault(judge: Judge, document: bytes) -> str | None:
    """What is wrong with a document, or None. Raises `Unjudgeable`."""
    try:
        is_valid = judge.is_valid(document)
    except (ValueError, UnicodeDecodeError) as error:
        return f"no JSON: {error}"
    return None if is_valid else "not valid"


class Report(NamedTuple):
    """What `run` counted; the faults: schema's name, document or message, what is wrong; seconds of each schema."""

    counts: Counter[str]
    faults: list[dict[str, Any]]
    seconds: dict[str, float]

    def judge_document(self, name: str, judge: Judge | None, document: bytes, way: str) -> None:
        """Count one document, and note it when it is not valid."""
        self.counts[way] += 1
        try:
            wrong = None if judge is None else fault(judge, document)
        except Unjudgeable:
            judge = wrong = None
        self.counts["not judged"] += judge is None
        if wrong is not None:
            self.faults.append({"schema": name, "fault": wrong, "document": document.decode(errors="replace")})


def may_negate_formats(schema: Any) -> bool:
    """Whether a format may stand where asserting it makes more documents valid, as in `oneOf`."""
    found = keywords_of(schema)
    return "format" in found and any(keyword in found for keyword in ("oneOf", "not", "if", "maxContains"))


def required_names(schema: Any) -> list[str]:
    """Names that some `required` in the schema holds, at most `MAX_NAMES`."""
    found: dict[str, None] = {}
    open_values = [schema]
    while open_values:
        here = open_values.pop()
        if isinstance(here, dict):
            names = here.get("required")
            found.update(
                dict.fromkeys(name for name in names if isinstance(name, str)) if isinstance(names, list) else {}
            )
        open_values += here.values() if isinstance(here, dict) else here if isinstance(here, list) else ()
    return list(found)[:MAX_NAMES]


def judge_of(schema: Any) -> Judge | None:
    """A judge without formats, or None when there is none for the schema."""
    try:
        return Judge(schema, formats=False)
    except Unjudgeable:
        return None


def run(
    subject: Subject, schemas: list[tuple[str, Any]], n_documents: int, rng: random.Random, max_tokens: int = 40
) -> Report:
    """Write about `n_documents` over the schemas, each with its share, half of them in either way."""
    walker = Walker(subject.tokenizer)
    report = Report(Counter(), [], {})
    per_schema = -(-n_documents // max(1, len(schemas)))
    for number, (name, schema) in enumerate(schemas):
        tables.progress(f"{number} of {len(schemas)} schemas")
        report.counts["schemas"] += 1
        started = time.monotonic()
        is_asserted = not may_negate_formats(schema)
        report.counts["formats as annotations"] += not is_asserted
        try:
            grammar = subject.grammar(schema, "assert" if is_asserted else "annotate")
        except Refused as error:
            report.counts[f"refused: {error.kind}"] += 1
            continue
        if grammar is None:
            report.counts["no document fulfils it"] += 1
            continue
        judge, names = judge_of(schema), required_names(schema)
        for turn in range(per_schema):
            way = WAYS[(turn + number) % 2]
            try:
                walk = walker.walk(grammar, rng, way, max_tokens, names=names)
            except (DeadEnd, llmask.LimitExceeded) as error:
                kind = "dead end" if isinstance(error, DeadEnd) else "limit"
                report.counts[kind] += 1
                report.faults.append({"schema": name, "fault": kind, "document": str(error)})
                continue
            report.counts["bound spent"] += walk.is_bound_spent
            if walk.is_bound_spent:
                report.faults.append({"schema": name, "fault": "bound spent", "document": ""})
            for document in walk.earlier:
                report.judge_document(name, judge, document, "endings on the way")
            if walk.document is not None:
                report.judge_document(name, judge, walk.document, way)
        report.seconds[name] = time.monotonic() - started
    tables.progress("")
    return report


def maskbench_schemas() -> list[tuple[str, Any]]:
    """Names and schemas; empty where the shared data is absent."""
    if not MASKBENCH.exists():
        return []
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        return [(entry["id"], entry["schema"]) for entry in map(json.loads, lines)]


def drawn_schemas(n_schemas: int, rng: random.Random) -> list[tuple[str, Any]]:
    """Random schemas; the name is the schema itself."""
    schemas = [random_schema(rng) for _ in range(n_schemas)]
    return [(json.dumps(schema, ensure_ascii=False), schema) for schema in schemas]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schemas", type=int, help="so many of MaskBench's, drawn with the seed; default all")
    parser.add_argument("--drawn", type=int, default=1000, help="random schemas besides")
    parser.add_argument(
        "--documents", type=int, default=20_000, help="from MaskBench's schemas; a fifth from random ones"
    )
    parser.add_argument("--max-tokens", type=int, default=40, help="random tokens of a document before it is ended")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("results"), help="folder for walks-SEED.json")


def main(options: argparse.Namespace) -> int:
    """Print the counts of both corpora; 1 when a document is not valid or a walk ended nowhere."""
    rng = random.Random(options.seed)
    subject = Subject()
    maskbench = maskbench_schemas()
    if options.schemas is not None and options.schemas < len(maskbench):
        maskbench = rng.sample(maskbench, options.schemas)
    n_drawn = options.documents // 5
    faults = []
    for title, schemas, n_documents in (
        ("MaskBench", maskbench, options.documents),
        ("random schemas", drawn_schemas(options.drawn, rng), n_drawn),
    ):
        started = time.monotonic()
        report = run(subject, schemas, n_documents, rng, options.max_tokens)
        print(f"{title} ({time.monotonic() - started:.0f} s)")
        print("\n".join(f"  {count:8,}  {what}" for what, count in sorted(report.counts.items())), flush=True)
        slowest = sorted(report.seconds.items(), key=lambda pair: -pair[1])[:5]
        print("  slowest: " + ", ".join(f"{seconds:.1f} s {name[:80]}" for name, seconds in slowest), flush=True)
        faults += report.faults
    for entry in faults[:20]:
        print(f"  {entry['fault']}: {entry['schema'][:100]}: {entry['document'][:160]}")
    print(f"faults: {len(faults)}; written: {tables.write_json(options.output, f'walks-{options.seed}.json', faults)}")
    print("options that this version lacks: " + (", ".join(subject.missing) or "none"))
    return int(bool(faults))
