"""Random schemas and documents beside `jsonschema`: `python -m tests.long differential --pairs 100000 --seed N`.

With `--corpus` seven of ten schemas are MaskBench's (or the project's own cases), changed in one to three places; their
documents are judged, too, and formats are annotations. Where jsonschema-rs is installed and says otherwise than
`jsonschema`, a difference is set aside.

For each schema: documents drawn to be valid, documents one change away from them, and any values. A pair counts where
the judge and a grammar both exist. Formats are judged where the definition is short enough to be certain of
(`tests/generators/judge.py`). Texts are also spelled by hand, with numbers such as 10e-1, escapes, and keys that stand
twice, of which the last counts; those that the grammar takes (one that allows repeated keys, where there are some) must
be valid. Each difference is made smaller and written down with what is needed to repeat it. With `--walks N` of every N
schemas one also gets a document written under its masks.

In: numbers of pairs, a seed. Out: counts, differences in `results/differential-SEED.json`. Cost: 0.5 ms a pair.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema

import llmask
from bench import tables
from bench.orders import accepted_in_another_order
from tests.generators.instances import Drawer, mutated
from tests.generators.judge import Judge, Unjudgeable
from tests.generators.mutated_schemas import mutated_schema
from tests.generators.schemas import VOCABULARY, keywords_of, random_schema, random_value
from tests.generators.shrink import shrink
from tests.generators.spellings import spelled
from tests.long import corpora
from tests.long.completion import DeadEnd
from tests.long.subject import Refused, Subject
from tests.long.walks import FIRST_BYTE, Walker, fault

DRAWN, MUTATED, ANY = "drawn", "one change from a valid one", "any value"
OF_CORPUS, KNOWN = "of the corpus", 4
CORPUS_SHARE, POOL, MOST_LETTERS = 0.7, 400, 20_000  # schemas that keywords are copied from; of a schema as JSON
FALSE, REJECTED, FRACTION = "false acceptance", "valid rejected", "valid, rejected when spelled as 1.0"
TRIES, VALID, CHANGES, OTHERS = 24, 9, 9, 2  # of a schema: draws at most, valid ones kept, changes, any values
SPELLED, SPELLED_SHARE = "spelled by hand", 0.3
REPEATED_SHARE = 0.3  # of schemas: a grammar that lets keys be repeated reads what is spelled by hand
SLOW_SECONDS = 1.0
SHOWN = 10  # differences of each kind on the terminal
MAX_SHRUNK = 40  # differences made smaller; a broken engine has too many


@dataclass
class Counts:
    """What was compared and what came of it."""

    schemas: Counter[str] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    keywords: Counter[str] = field(default_factory=Counter)
    differences: list[dict[str, Any]] = field(default_factory=list)
    slowest: tuple[float, Any] = (0.0, None)
    slow: list[dict[str, Any]] = field(default_factory=list)


def documents(schema: Any, judge: Judge, rng: random.Random, known: Sequence[Any] = ()) -> list[tuple[str, Any, bool]]:
    """Kind, document and the judge's verdict, of some that are known, too. Raises `Unjudgeable`."""
    drawer = Drawer(schema, rng)
    valid: list[Any] = []
    found: list[tuple[str, Any, bool]] = []
    for document in rng.sample(known, min(len(known), KNOWN)):
        found.append((OF_CORPUS, document, judge.is_valid(json.dumps(document))))
        valid += [document] * found[-1][2]
    for _ in range(TRIES):
        try:
            document = drawer.value()
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError):
            break  # the drawer knows the keywords of 2020-12, and three formats
        is_valid = judge.is_valid(json.dumps(document))
        if is_valid:
            valid.append(document)
        if is_valid or len(found) < OTHERS + len(valid):
            found.append((DRAWN, document, is_valid))
        if len(valid) == VALID:
            break
    near = [(MUTATED, mutated(rng, rng.choice(valid))) for _ in range(CHANGES)] if valid else []
    near += [(ANY, random_value(rng)) for _ in range(OTHERS)]
    return found + [(kind, document, judge.is_valid(json.dumps(document))) for kind, document in near]


def check(schema: Any) -> None:
    """Raise `jsonschema.SchemaError` for what is no schema of its draft, or names one that is not known."""
    kind = jsonschema.validators.validator_for(schema, default=None)
    if kind is None and isinstance(schema, dict) and "$schema" in schema:
        raise jsonschema.SchemaError("the draft is not known")
    (kind or jsonschema.Draft202012Validator).check_schema(schema)


def other_verdict(schema: Any, document: Any) -> bool | None:
    """What jsonschema-rs says, or None where it is not installed or cannot read the schema."""
    try:
        jsonschema_rs = importlib.import_module("jsonschema_rs")
        other = jsonschema_rs.validator_for(schema, validate_formats=False, offline=True)
        return bool(other.is_valid(document))
    except (ImportError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return None


def without_fractions(document: Any) -> Any:
    """The document with 1 for 1.0, which JSON Schema calls the same number."""
    if isinstance(document, dict):
        return {name: without_fractions(member) for name, member in document.items()}
    if isinstance(document, list):
        return [without_fractions(item) for item in document]
    return int(document) if isinstance(document, float) and document.is_integer() else document


class Corpus:
    """Draws schemas of a corpus that were changed, with documents, and random ones that were changed."""

    def __init__(self, seed: int) -> None:
        self.entries = [entry for entry in corpora.schemas() if len(json.dumps(entry.schema)) < MOST_LETTERS]
        rng = random.Random(f"{seed} pool")
        self.pool = [entry.schema for entry in rng.sample(self.entries, min(POOL, len(self.entries)))]
        self.pool += [random_schema(rng) for _ in range(POOL // 2)]
        self.documents: list[Any] = []

    def __call__(self, rng: random.Random) -> Any:
        """The schema; `documents` are those of the one that was changed."""
        if rng.random() < CORPUS_SHARE:
            entry = rng.choice(self.entries)
            self.documents = [data for _, data in entry.documents]
            return mutated_schema(rng, entry.schema, self.pool)
        self.documents = []
        return mutated_schema(rng, random_schema(rng), self.pool)


class Comparison:
    """Pairs of one seed.

    Parameters
    ----------
    subject : llmask.
    seed : of everything that is drawn.
    n_walks : one of `n_walks` schemas gets a document written under its masks; 0 for none.
    draw : draws a schema, of the draft that it declares.
    """

    def __init__(
        self, subject: Subject, seed: int, n_walks: int = 0, draw: Callable[[random.Random], Any] = random_schema
    ) -> None:
        self.subject = subject
        self.draw = draw
        self.asserts = not isinstance(draw, Corpus)
        self.rng = random.Random(seed)
        self.n_walks = n_walks
        self.walker = Walker(subject.tokenizer) if n_walks else None
        self.counts = Counts()
        self.spells_escapes = "literals" in subject.options

    def run(self, n_pairs: int) -> Counts:
        """Compare until `n_pairs` pairs are counted."""
        counts = self.counts
        while counts.pairs["all"] < n_pairs:
            self._schema(self.draw(self.rng))
            tables.progress(f"{counts.pairs['all']:,} of {n_pairs:,} pairs, {len(counts.differences)} differences")
        tables.progress("")
        return counts

    def _schema(self, schema: Any) -> None:
        counts = self.counts
        counts.schemas["all"] += 1
        counts.keywords.update(list(keywords_of(schema)))
        started = time.perf_counter()
        try:
            grammar = self._grammar(schema)
        except Refused as error:
            counts.schemas["refused"] += 1
            counts.refusals[f"{error.kind}: {str(error).splitlines()[0][:110]}"] += 1
            return
        finally:
            seconds = time.perf_counter() - started
            counts.slowest = max(counts.slowest, (seconds, schema), key=lambda pair: pair[0])
            if seconds > SLOW_SECONDS:
                counts.slow.append({"seconds": round(seconds, 2), "schema": schema})
        counts.schemas["without documents"] += grammar is None
        try:
            judge = Judge(schema, formats=self.asserts)
            repeats = self.rng.random() < REPEATED_SHARE
            reader = self._grammar(schema, unique_keys=False) if repeats else grammar
            known = self.draw.documents if isinstance(self.draw, Corpus) else ()
            for kind, document, is_valid in documents(schema, judge, self.rng, known):
                self._pair(schema, grammar, kind, document, is_valid)
                if self.rng.random() < SPELLED_SHARE:
                    self._spelled_pair(schema, reader, judge, spelled(document, self.rng, repeats), repeats)
        except Unjudgeable:
            counts.schemas["not judged"] += 1
            return
        except Refused:
            counts.schemas["refused where keys may be repeated"] += 1
            return
        if self.walker is not None and grammar is not None and counts.schemas["all"] % self.n_walks == 0:
            self._walk(schema, grammar, judge)

    def _grammar(self, schema: Any, unique_keys: bool | None = None) -> Any:
        return self.subject.grammar(schema, "assert" if self.asserts else "annotate", unique_keys=unique_keys)

    def accepts(self, grammar: Any, document: Any, is_ascii: bool) -> bool:
        """Whether the grammar takes the document; in some order of keys where there is only one that it writes."""
        if self.subject.accepts(grammar, json.dumps(document, ensure_ascii=is_ascii)):
            return True
        if grammar is None or "property_order" in self.subject.options:
            return False
        return accepted_in_another_order(self.subject, grammar.matcher(), document)

    def _pair(self, schema: Any, grammar: Any, kind: str, document: Any, is_valid: bool) -> None:
        counts = self.counts
        is_ascii = self.spells_escapes and self.rng.random() < 0.3
        try:
            what = self._verdict(grammar, document, is_valid, is_ascii)
        except llmask.LimitExceeded:
            counts.pairs["limit reached"] += 1
            return
        if what is not None and not self.asserts and other_verdict(schema, document) == (not is_valid):
            counts.pairs["set aside, as jsonschema-rs differs"] += 1
            return
        counts.pairs.update(["all", kind, "valid" if is_valid else "invalid"])
        if what is not None:
            counts.differences.append(self._described(schema, document, what, is_ascii))

    def _spelled_pair(self, schema: Any, grammar: Any, judge: Judge, text: str, repeats: bool) -> None:
        """A text that is accepted must be valid; not every spelling has to be accepted."""
        counts = self.counts
        try:
            is_accepted = self.subject.accepts(grammar, text)
        except llmask.LimitExceeded:
            counts.pairs["limit reached"] += 1
            return
        is_valid = judge.is_valid(text)
        counts.pairs.update([SPELLED] + [f"{SPELLED}, valid"] * is_valid + [f"{SPELLED}, accepted"] * is_accepted)
        if is_accepted and not is_valid:
            small: tuple[Any, Any] = schema, text
            if len(counts.differences) < MAX_SHRUNK:
                small = shrink(schema, text, lambda s, t: self._is_wrong(s, t, repeats))
            found = {"schema": schema, "document": text}
            what = FALSE + (", keys repeated" if repeats else ", spelled by hand")
            counts.differences.append({"what": what, "schema": small[0], "document": small[1], "found in": found})

    def _is_wrong(self, schema: Any, text: str, repeats: bool) -> bool:
        try:
            check(schema)
            grammar = self._grammar(schema, unique_keys=not repeats)
            return self.subject.accepts(grammar, text) and not Judge(schema, formats=self.asserts).is_valid(text)
        except (ValueError, Unjudgeable, Refused, jsonschema.SchemaError, llmask.LimitExceeded):
            return False

    def _verdict(self, grammar: Any, document: Any, is_valid: bool, is_ascii: bool) -> str | None:
        """FALSE, REJECTED, FRACTION or None."""
        if self.accepts(grammar, document, is_ascii) == is_valid:
            return None
        if not is_valid:
            return FALSE
        return FRACTION if self.accepts(grammar, without_fractions(document), is_ascii) else REJECTED

    def _described(self, schema: Any, document: Any, what: str, is_ascii: bool) -> dict[str, Any]:
        small: tuple[Any, Any] = schema, document
        if len(self.counts.differences) < MAX_SHRUNK:
            small = shrink(schema, document, lambda s, d: self.difference(s, d, is_ascii) == what)
        return {
            "what": what,
            "schema": small[0],
            "document": json.dumps(small[1], ensure_ascii=is_ascii),
            "found in": {"schema": schema, "document": document},
        }

    def difference(self, schema: Any, document: Any, is_ascii: bool) -> str | None:
        """The verdict from the beginning; None also for what is no schema or is refused."""
        try:
            check(schema)
            is_valid = Judge(schema, formats=self.asserts).is_valid(json.dumps(document))
            return self._verdict(self._grammar(schema), document, is_valid, is_ascii)
        except (Unjudgeable, Refused, jsonschema.SchemaError, llmask.LimitExceeded):
            return None

    def _walk(self, schema: Any, grammar: Any, judge: Judge) -> None:
        assert self.walker is not None
        self.counts.schemas["walks"] += 1
        try:
            walk = self.walker.walk(grammar, self.rng, FIRST_BYTE, n_probes=0)
        except DeadEnd as error:
            self.counts.differences.append({"what": "dead end", "schema": schema, "document": str(error)})
            return
        except llmask.LimitExceeded:
            self.counts.schemas["walks that reached a limit"] += 1
            return
        if walk.document is None:
            self.counts.schemas["walks without an end within the bound"] += 1
        elif fault(judge, walk.document) is not None:
            text = walk.document.decode(errors="replace")
            self.counts.differences.append({"what": "written and not valid", "schema": schema, "document": text})


def text_of(counts: Counts) -> str:
    """The report."""
    pairs, schemas = counts.pairs, counts.schemas
    n_pairs, n_schemas = pairs["all"], schemas["all"]
    lines = [f"{n_pairs:,} pairs of {n_schemas - schemas['refused']:,} schemas; {n_schemas:,} drawn"]
    lines += [
        f"  {tables.share(pairs[kind], n_pairs):>8}  {kind}" for kind in ("valid", "invalid", MUTATED, DRAWN, ANY)
    ]
    lines += [
        f"  {tables.share(n, n_schemas):>8}  of the schemas: {kind}" for kind, n in schemas.items() if kind != "all"
    ]
    lines.append("  besides, " + ", ".join(f"{pairs[kind]:,} {kind}" for kind in pairs if kind.startswith(SPELLED)))
    if pairs["limit reached"]:
        lines.append(f"  {pairs['limit reached']:,} documents reached a limit")
    lines += [f"    {n:6,}  {reason}" for reason, n in counts.refusals.most_common(15)]
    rare = sorted(VOCABULARY, key=lambda keyword: counts.keywords[keyword])
    lines.append("share of schemas with a keyword, rarest first: " + ", ".join(
        f"{keyword} {tables.share(counts.keywords[keyword], n_schemas)}" for keyword in rare))  # fmt: skip
    seconds, schema = counts.slowest
    lines.append(f"slowest compile: {1000 * seconds:,.1f} ms: {json.dumps(schema, ensure_ascii=False)[:300]}")
    lines.append(f"  {len(counts.slow)} schemas took more than {SLOW_SECONDS:g} s")
    kinds = Counter(entry["what"] for entry in counts.differences)
    lines.append("differences: " + (", ".join(f"{n} {kind}" for kind, n in kinds.items()) or "none"))
    shown = {(entry["what"], json.dumps(entry["schema"]), entry["document"]) for entry in counts.differences}
    for kind in kinds:
        smallest = sorted((entry for entry in shown if entry[0] == kind), key=lambda entry: len(entry[1]))[:SHOWN]
        lines += [f"  {what}: {schema_text[:240]}  {document[:120]}" for what, schema_text, document in smallest]
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", action="store_true", help="schemas of a corpus, changed, instead of random ones")
    parser.add_argument("--walks", type=int, default=5, help="of so many schemas one gets a written document; 0: none")
    parser.add_argument("--output", type=Path, default=Path("results"), help="folder for differential-SEED.json")


def main(options: argparse.Namespace) -> int:
    """Compare, print, write; 1 when there are differences."""
    subject = Subject()
    started = time.monotonic()
    draw = Corpus(options.seed) if options.corpus else random_schema
    counts = Comparison(subject, options.seed, options.walks, draw).run(options.pairs)
    print(text_of(counts))
    found = {"differences": counts.differences, "slow": counts.slow}
    path = tables.write_json(options.output, f"differential-{options.seed}.json", found)
    print(f"written: {path}; {time.monotonic() - started:.0f} s")
    print("options that this version lacks: " + (", ".join(subject.missing) or "none"))
    return int(bool(counts.differences))
