"""Two engines over the documents of a schema: where masks differ, and who is right.

Positions of a schema where the same tokens differ, at the same path of the document and in the same state of JSON, are
one place, settled where it is first met. Verdicts on a group:

    forbids      a document that begins with the token is valid, and this engine takes no form of its value
    allows       no document begins so: no JSON, or what is written is provably not valid
    rule         the engine takes the value in another form; or it says that it does not check this
    no judge     it hangs on a format that the judge does not know
    unsettled    no witness among those tried, and no proof that there is none

In: engines, rows. Out: `Result`s. Cost: 20 us a position, a few ms a place.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from bench.data import Row
from bench.duel.complete import Donors
from bench.duel.groups import Group, Grouping
from bench.duel.judge import Referee, Unjudgeable
from bench.duel.partial import Partial, read
from bench.duel.rules import Rules
from bench.duel.settle import Question, Settler, Verdict
from bench.duel.walker import Walker
from bench.engines.base import CompileError, Engine
from bench.json_scan import Scan


class Finding(NamedTuple):
    """A group that was settled, or not.

    kind, who, why   see `Verdict`
    schema           id of the row
    text, token      what was written, and a token that stands for the group
    document         the witness, or the likeliest document that was tried
    n_tokens         of the group, at this place
    n_positions      of the place
    """

    kind: str
    who: str
    why: str
    schema: str
    text: str
    token: str
    token_id: int
    document: str
    n_tokens: int
    n_positions: int


class Result(NamedTuple):
    """What came of a schema; `status` is "compared" or why it was not."""

    schema: str
    status: str
    counts: dict[str, int]
    findings: list[Finding]


class _Place:
    """A difference at one path; positions are counted."""

    def __init__(self) -> None:
        self.n_positions = 1
        self.settled: list[tuple[Verdict, Group, int, bytes]] = []


class Duel:
    """llmask and another engine, over one vocabulary.

    Parameters
    ----------
    ours, theirs : the engines; `ours` is llmask.
    """

    def __init__(self, ours: Engine, theirs: Engine) -> None:
        self.ours, self.theirs = ours, theirs
        found = ours.vocabulary
        self.tokens, self.ends = found.tokens, tuple(found.eos_ids)
        self.special = {*found.special_ids} - {*self.ends}
        self.grouping = Grouping(found.tokens, self.ends, found.special_ids)
        self.walker = Walker(found.tokens, self.ends, found.special_ids)

    def row(self, row: Row) -> Result:
        """Compare the valid documents of a schema."""
        try:
            our_grammar = self.ours.compile(row.schema)
        except CompileError:
            return Result(row.id, f"refused by {self.ours.name}", {}, [])
        try:
            their_grammar = self.theirs.compile(row.schema)
        except CompileError:
            return Result(row.id, f"refused by {self.theirs.name}", {}, [])
        try:
            referee = Referee(row.schema)
            rules = {
                engine.name: Rules(engine, grammar, _orders(row.schema))
                for engine, grammar in ((self.ours, our_grammar), (self.theirs, their_grammar))
            }
            settler = Settler(self, row.schema, referee, rules)
        except Unjudgeable:
            return Result(row.id, "no judge", {}, [])
        counts: Counter[str] = Counter()
        places: dict[Any, _Place] = {}
        for instance in row.instances:
            if instance.is_valid:
                counts["documents"] += 1
                sequences = self.ours.start(our_grammar), self.theirs.start(their_grammar)
                donors = Donors(row.schema, instance.data)
                self._document(settler, donors, instance.token_ids, sequences, places, counts)
        findings = []
        for place in places.values():
            for verdict, group, token, text in place.settled:
                findings.append(self._finding(row.id, place, verdict, group, token, text))
        counts["places"] = len(places)
        counts["groups"] = len(findings)
        counts["judged documents"] = referee.n_judged
        return Result(row.id, "compared", dict(counts), findings)

    def _document(
        self,
        settler: Settler,
        donors: Donors,
        token_ids: list[int],
        sequences: tuple[Any, Any],
        places: dict[Any, _Place],
        counts: Counter[str],
    ) -> None:
        ours, theirs = sequences
        text, scan, helper, written = b"", Scan(), settler.helper(), Partial()
        n_words = -(-len(self.tokens) // 32)
        for token in [*token_ids, None]:
            self.ours.fill(ours)
            self.theirs.fill(theirs)
            counts["positions"] += 1
            our_words = self.ours.words[0, :n_words].view(np.uint32)
            their_words = self.theirs.words[0, :n_words].view(np.uint32)
            if np.array_equal(our_words, their_words):
                counts["identical"] += 1
            else:
                only = our_words & ~their_words, their_words & ~our_words
                key = self._key(written, scan, only)
                if key in places:
                    places[key].n_positions += 1
                else:
                    question = Question(text, written, donors, ours, theirs, helper)
                    places[key] = self._settled(settler, question, scan, only, counts)
            if token is None:
                return
            # Settling lets the engine write into `words`: whether the token may follow is said by accepting it.
            taken = self.ours.accept(ours, token), self.theirs.accept(theirs, token)
            if not all(taken):
                counts["documents left midway"] += 1
                return
            text += self.tokens[token]
            scan.read(self.tokens[token])
            written = read(text, written)
            helper = settler.advanced(helper, self.tokens[token])

    @staticmethod
    def _key(written: Partial, scan: Scan, only: tuple[Any, Any]) -> Any:
        path = tuple(step if isinstance(step, str) else "*" for step in written.path())
        return path, scan.is_in_string, scan.is_in_key, only[0].tobytes(), only[1].tobytes()

    def _settled(
        self, settler: Settler, question: Question, scan: Scan, only: tuple[Any, Any], counts: Counter[str]
    ) -> _Place:
        place = _Place()
        for ours_allows, bits in zip((True, False), only, strict=True):
            flags = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(self.tokens)]
            groups, left_out = self.grouping.groups(scan, np.flatnonzero(flags))
            counts["tokens beyond 50 groups"] += left_out
            for group in groups:
                verdicts: dict[tuple[str, str, str], tuple[Verdict, int]] = {}
                for token in group.tokens:
                    verdict = settler.settle(question, token, ours_allows)
                    verdicts.setdefault((verdict.kind, verdict.who, verdict.rule), (verdict, token))
                for verdict, token in verdicts.values():
                    place.settled.append((verdict, group, token, question.text))
        return place

    def _finding(self, schema: str, place: _Place, verdict: Verdict, group: Group, token: int, text: bytes) -> Finding:
        return Finding(
            verdict.kind,
            verdict.who,
            verdict.rule or verdict.why,
            schema,
            text.decode(errors="replace"),
            self.tokens[token].decode(errors="backslashreplace"),
            token,
            verdict.document.decode(errors="replace"),
            group.n_tokens,
            place.n_positions,
        )


def _orders(schema: Any) -> list[list[str]]:
    """Keys that each object of the schema declares, in its order, then those that it only asks for."""
    found = []
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            required = schema.get("required")
            names = [*schema["properties"], *(required if isinstance(required, list) else ())]
            found.append([name for name in dict.fromkeys(names) if isinstance(name, str)])
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        found += _orders(part)
    return found
