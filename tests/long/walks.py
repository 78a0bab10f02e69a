"""Documents written under masks: `python -m tests.long walks`.

Two ways to choose among the allowed tokens: each alike, and each first byte alike (among tokens nine of ten continue a
string; among first bytes the walk soon leaves it). A walk goes on for some tokens, then an end is looked for
(`completion.py`); from every point on the way there must be one, too. Every document is parsed and judged by
`jsonschema`, formats left aside: those of the masks are stricter than what the judge knows of them. So where a format
may be negated the grammar takes formats as annotations, too. MaskBench says of its documents which are valid; these are
read, too.

In: MaskBench's schemas where the shared data is, and random ones. Out: counts, and every document that is not valid.
Cost: 10 ms a document, and 30 ms a point.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import llmask
from bench import tables
from bench.data import MASKBENCH
from tests.generators.crowded import crowded_schema
from tests.generators.judge import Judge, Unjudgeable
from tests.generators.schemas import keywords_of, random_schema
from tests.long.completion import Completion, DeadEnd
from tests.long.corpora import maskbench
from tests.long.subject import Refused, Subject

UNIFORM, FIRST_BYTE = "tokens alike", "first bytes alike"
WAYS = (UNIFORM, FIRST_BYTE)
MAX_TOKENS = 40
SLOW_SECONDS = 2.0
UNIQUE_SHARE = 0.2  # of the schemas: no key may be written twice
EVERY = -1  # probes: an end is looked for from every point of a walk


class Walk(NamedTuple):
    """A document and how its walk went.

    document     None where the search for its end gave up
    endings      documents that begin like this one up to some point and end as soon as possible, each once
    n_points     points from which an end was looked for, the last one included
    n_spent      points where the search gave up
    n_tokens     tokens of the walk
    """

    document: bytes | None
    endings: list[bytes]
    n_points: int
    n_spent: int
    n_tokens: int


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
        self, grammar: Any, rng: random.Random, way: str, max_tokens: int = MAX_TOKENS, n_probes: int = EVERY
    ) -> Walk:
        """One document: random tokens, then an ending.

        Parameters
        ----------
        n_probes : points of the walk, besides its last, from which an end is looked for; EVERY for all.

        Raises
        ------
        DeadEnd : somewhere no token is allowed, or no document begins like this.
        """
        matcher = grammar.matcher()
        n_free = rng.randint(0, max_tokens)
        probes = set(range(n_free) if n_probes == EVERY else (rng.randint(0, n_free) for _ in range(n_probes)))
        found: dict[bytes, None] = {}
        ends = Counter[str]()

        def end() -> bytes | None:
            ending = self.completion.ending(matcher)
            ends.update(["points"] + ["spent"] * (ending is None))
            return None if ending is None else matcher.text() + ending

        def walked(document: bytes | None) -> Walk:
            others = [other for other in found if other != document]
            n_tokens = len(matcher.tokens)
            return Walk(document, others, ends["points"], ends["spent"], n_tokens)

        for place in range(n_free):
            if place in probes:
                document = end()
                if document is not None:
                    found[document] = None
            token = self.chosen(self.allowed(matcher), way, rng)
            before = matcher.text()
            matcher.accept_token(token)
            if token in self.eos_ids:
                return walked(before)
        return walked(end())


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

    def count_walk(self, name: str, judge: Judge | None, walk: Walk, way: str) -> None:
        """Count a walk, and judge what it wrote."""
        counts = self.counts
        counts["tokens"] += walk.n_tokens
        counts["points from which an end was looked for"] += walk.n_points
        counts["no end was found"] += walk.n_spent
        for document in walk.endings:
            self.judge_document(name, judge, document, "other documents from points on the way")
        if walk.document is not None:
            self.judge_document(name, judge, walk.document, way)

    def count_known(self, name: str, subject: Subject, grammar: Any, document: Any, is_valid: bool) -> None:
        """Read a document of a corpus; a valid one may have its keys in another order than the grammar."""
        try:
            text = json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return
        self.counts[f"documents of the corpus, {'valid' if is_valid else 'invalid'}"] += 1
        wrong = "valid rejected" if is_valid else "invalid accepted"
        if subject.accepts(grammar, text) != is_valid and not (is_valid and subject.options["property_order"] != "any"):
            self.faults.append({"schema": name, "fault": wrong, "document": text.decode()[:300]})

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


def judge_of(schema: Any) -> Judge | None:
    """A judge without formats, or None when there is none for the schema."""
    try:
        return Judge(schema, formats=False)
    except Unjudgeable:
        return None


def run(
    subject: Subject,
    schemas: list[tuple[str, Any]],
    n_documents: int,
    rng: random.Random,
    max_tokens: int = MAX_TOKENS,
    n_probes: int = EVERY,
    known: Mapping[str, Sequence[tuple[bool, Any]]] = MappingProxyType({}),
) -> Report:
    """Write about `n_documents` over the schemas, each with its share, half of them in either way.

    known : by a schema's name documents of which a corpus says whether they are valid; these are read first.
    """
    walker = Walker(subject.tokenizer)
    report = Report(Counter(), [], {})
    per_schema = -(-n_documents // max(1, len(schemas)))
    for number, (name, schema) in enumerate(schemas):
        tables.progress(f"{number} of {len(schemas)} schemas, {len(report.faults)} faults")
        report.counts["schemas"] += 1
        started = time.monotonic()
        is_asserted = not may_negate_formats(schema)
        report.counts["formats as annotations"] += not is_asserted
        is_unique = rng.random() < UNIQUE_SHARE
        report.counts["with unique keys"] += is_unique
        try:
            grammar = subject.grammar(schema, "assert" if is_asserted else "annotate", unique_keys=is_unique)
        except Refused as error:
            report.counts[f"refused: {error.kind}"] += 1
            continue
        if grammar is None:
            report.counts["no document fulfils it"] += 1
            continue
        compiled = time.monotonic() - started
        if compiled > SLOW_SECONDS:
            report.counts[f"took more than {SLOW_SECONDS:g} s to compile"] += 1
        judge = judge_of(schema)
        for is_valid, document in known.get(name, ()):
            report.count_known(name, subject, grammar, document, is_valid)
        for turn in range(per_schema):
            way = WAYS[(turn + number) % 2]
            try:
                walk = walker.walk(grammar, rng, way, max_tokens, n_probes)
            except (DeadEnd, llmask.LimitExceeded) as error:
                kind = "dead end" if isinstance(error, DeadEnd) else "limit"
                report.counts[kind] += 1
                report.faults.append({"schema": name, "fault": kind, "document": str(error)})
                continue
            report.count_walk(name, judge, walk, way)
        report.seconds[name] = time.monotonic() - started
    tables.progress("")
    return report


def drawn_schemas(
    n_schemas: int, rng: random.Random, draw: Callable[[random.Random], Any] = random_schema
) -> list[tuple[str, Any]]:
    """Random schemas; the name is the schema itself."""
    schemas = [draw(rng) for _ in range(n_schemas)]
    return [(json.dumps(schema, ensure_ascii=False), schema) for schema in schemas]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schemas", type=int, help="so many of MaskBench's, drawn with the seed; default all")
    parser.add_argument("--drawn", type=int, default=1000, help="random schemas besides")
    parser.add_argument(
        "--crowded", type=int, default=500, help="random objects with many bounds on their keys besides"
    )
    parser.add_argument("--walks", type=int, default=2, help="walks of each schema, in the two ways by turns")
    parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS, help="random tokens before a walk is ended")
    parser.add_argument(
        "--probes", type=int, default=EVERY, help="points of a walk from which an end is looked for; -1: every one"
    )
    parser.add_argument("--order", choices=("any", "schema"), default="any", help="of the keys that are written")
    parser.add_argument("--shard", default="0/1", help="I/N: of each corpus every N-th schema, from the I-th on")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path, default=Path("results"), help="folder for walks-SEED-ORDER.json")


def main(options: argparse.Namespace) -> int:
    """Print the counts of each corpus; 1 when a document is not valid or a walk ended nowhere."""
    rng = random.Random(options.seed)
    subject = Subject()
    if "property_order" in subject.options:
        subject.options["property_order"] = options.order
    entries = {entry.id: entry for entry in maskbench()} if MASKBENCH.exists() else {}
    known = {name: entry.documents for name, entry in entries.items()}
    of_maskbench = [(name, entry.schema) for name, entry in entries.items()]
    if options.schemas is not None and options.schemas < len(of_maskbench):
        of_maskbench = rng.sample(of_maskbench, options.schemas)
    first, step = map(int, options.shard.split("/"))
    faults = []
    for title, schemas in (
        ("MaskBench", of_maskbench),
        ("random schemas", drawn_schemas(options.drawn, rng)),
        ("crowded objects", drawn_schemas(options.crowded, rng, crowded_schema)),
    ):
        started = time.monotonic()
        schemas = schemas[first::step]
        report = run(subject, schemas, options.walks * len(schemas), rng, options.max_tokens, options.probes, known)
        print(f"{title} ({time.monotonic() - started:.0f} s)")
        print("\n".join(f"  {count:10,}  {what}" for what, count in sorted(report.counts.items())), flush=True)
        slowest = sorted(report.seconds.items(), key=lambda pair: -pair[1])[:5]
        print("  slowest: " + ", ".join(f"{seconds:.1f} s {name[:80]}" for name, seconds in slowest), flush=True)
        faults += report.faults
    for entry in faults[:20]:
        print(f"  {entry['fault']}: {entry['schema'][:100]}: {entry['document'][:160]}")
    name = f"walks-{options.seed}-{options.order}-{first}.json"
    print(f"faults: {len(faults)}; written: {tables.write_json(options.output, name, faults)}")
    print("options that this version lacks: " + (", ".join(subject.missing) or "none"))
    return int(bool(faults))
