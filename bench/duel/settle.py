"""Who is right about one token: a witness, a proof that there is none, or neither.

Documents are tried in this order, the cheapest first: the document at hand; the shortest end that llmask knows, as it
is asked and with any order and any spelling; documents made without an engine (`complete.py`); one that the allowing
engine writes under its own masks (`walker.py`). The judge decides, not who wrote them. Before the last two `dead.py`
looks for a proof that there is none.

In: a text, a token, which engine allows it. Out: `Verdict`. Cost: 1 ms where a witness is soon found, 50 ms at most.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import llmask
from bench.duel import rules as rule_names
from bench.duel.complete import Donors, documents
from bench.duel.dead import Prover
from bench.duel.judge import Referee, Unjudgeable
from bench.duel.partial import AFTER, COLON, KEY, KEY_OPEN, NotJson, Partial, read
from bench.duel.rules import Rules, lexemes
from bench.duel.unchecked import relaxed

NOT_ALL_ORDERS = "valid; not all orders of keys were tried"
MOST_RELAXED = 40  # documents that are tried where less is checked
FORBIDS, ALLOWS, RULE, NO_JUDGE, UNSETTLED = "forbids", "allows", "rule", "no judge", "unsettled"


class Question(NamedTuple):
    """A position of a document.

    text, written  what is there, as bytes and as it is read
    donors         what lends values
    ours, theirs   both sequences
    helper         llmask's of any order and any spelling, or None
    """

    text: bytes
    written: Partial
    donors: Donors
    ours: Any
    theirs: Any
    helper: Any


class Verdict(NamedTuple):
    """What came of a token; `who` is the engine that is wrong or has the rule."""

    kind: str
    who: str = ""
    rule: str = ""
    why: str = ""
    document: bytes = b""


class Settler:
    """Settles tokens of one schema.

    Parameters
    ----------
    duel : engines and vocabulary.
    schema, referee : of the row.
    rules : by the engine's name.
    """

    def __init__(self, duel: Any, schema: Any, referee: Referee, rules: dict[str, Rules]) -> None:
        self.duel, self.referee, self.rules = duel, referee, rules
        self.prover = Prover(referee)
        self._relaxed = relaxed(duel.theirs, schema)
        try:
            compiler = duel.ours.compiler
            self._grammar = compiler.json_schema(schema, property_order="any", literals="any")
        except llmask.LlmaskError:
            self._grammar = None

    def helper(self) -> Any:
        """A sequence of llmask with any order and any spelling; None where it refuses the schema."""
        return None if self._grammar is None else self._grammar.matcher()

    @staticmethod
    def advanced(helper: Any, data: bytes) -> Any:
        """The helper after some bytes, None where it does not take them."""
        if helper is None:
            return None
        try:
            helper.accept_bytes(data)
        except llmask.LlmaskError:
            return None
        return helper

    def settle(self, question: Question, token: int, ours_allows: bool) -> Verdict:
        """Who is right."""
        duel = self.duel
        allows, forbids = (duel.ours, duel.theirs) if ours_allows else (duel.theirs, duel.ours)
        if token in duel.special or not duel.tokens[token]:
            return Verdict(ALLOWS, allows.name, why="a control token")
        self.referee.formats.noted.clear()
        try:
            if token in duel.ends:
                return self._end(question, allows, forbids, ours_allows)
            text = question.text + duel.tokens[token]
            try:
                partial = read(text, question.written)
            except NotJson as error:
                return Verdict(ALLOWS, allows.name, why=f"no JSON begins so: {error}", document=text)
            if partial.repeated:
                return Verdict(RULE, allows.name, rule_names.REPEATED, document=text)
            return self._token(question, token, partial, text, ours_allows)
        except (Unjudgeable, RecursionError) as error:
            return Verdict(NO_JUDGE, why=str(error)[:100])

    def _end(self, question: Question, allows: Any, forbids: Any, ours_allows: bool) -> Verdict:
        if self.referee.accepts(question.text):
            sequence = question.theirs if ours_allows else question.ours
            if forbids.is_accepting(sequence):
                return Verdict(RULE, forbids.name, rule_names.ONE_END, document=question.text)
            rule = self.rules[forbids.name].excuse(question.text, len(question.text))
            if rule == rule_names.UNKNOWN:
                return Verdict(UNSETTLED, allows.name, why=NOT_ALL_ORDERS, document=question.text)
            if rule is not None:
                return Verdict(RULE, forbids.name, rule, document=question.text)
            return Verdict(FORBIDS, forbids.name, why="the document may end", document=question.text)
        rule = self._unchecked(allows, [question.text])
        if rule:
            return Verdict(RULE, allows.name, rule, document=question.text)
        return Verdict(ALLOWS, allows.name, why="the document is not complete or not valid", document=question.text)

    def _token(self, question: Question, token: int, partial: Partial, text: bytes, ours_allows: bool) -> Verdict:
        duel = self.duel
        allows, forbids = (duel.ours, duel.theirs) if ours_allows else (duel.theirs, duel.ours)
        tried, hangs_on_format = [], False
        reason: str | None = None
        is_proof_sought = False
        for is_cheap, document in self._candidates(question, token, partial, text, ours_allows):
            if not is_cheap and not is_proof_sought:
                is_proof_sought, reason = True, self.prover.reason(partial)
                if reason:
                    break
            if not document.startswith(text):
                continue
            tried.append(document)
            is_valid = self.referee.accepts(document)
            noted = self._is_noted(document, len(question.text), len(text))
            hangs_on_format |= noted
            if is_valid:
                if noted:
                    return Verdict(NO_JUDGE, why="a format", document=document)
                sequence = question.theirs if ours_allows else question.ours
                rule = self.rules[forbids.name].excuse(
                    document,
                    len(text),
                    question.text,
                    sequence,
                    question.written.begin,
                    may_be_order=not is_inside_value(question.written, partial),
                )
                if rule == rule_names.ONE_TOKEN and forbids.name != "llguidance":
                    return Verdict(FORBIDS, forbids.name, why="as a token, not as text", document=document)
                if rule == rule_names.UNKNOWN:
                    return Verdict(UNSETTLED, allows.name, why=NOT_ALL_ORDERS, document=document)
                return Verdict(RULE if rule else FORBIDS, forbids.name, rule or "", document=document)
        if reason is None and not is_proof_sought:
            reason = self.prover.reason(partial)
        shown = tried[0] if tried else text
        if hangs_on_format and not reason:
            return Verdict(NO_JUDGE, why="a format", document=shown)
        rule = self._unchecked(allows, tried or [text], question, partial, text)
        if rule:
            return Verdict(RULE, allows.name, rule, document=shown)
        if reason:
            return Verdict(ALLOWS, allows.name, why=reason, document=shown)
        return Verdict(UNSETTLED, allows.name, why=f"allowed by {allows.name}; {len(tried)} tried", document=shown)

    def _candidates(
        self, question: Question, token: int, partial: Partial, text: bytes, ours_allows: bool
    ) -> Iterator[tuple[bool, bytes]]:
        """Documents to try, and whether it is a cheap one."""
        if question.donors.text.startswith(text):
            yield True, question.donors.text
        if ours_allows:
            after = copied(question.ours)
            ending = _ending(after) if self.duel.ours.accept(after, token) else None
            if ending is not None:
                yield True, ending
        if question.helper is not None:
            after = self.advanced(question.helper.fork(), self.duel.tokens[token])
            ending = None if after is None else _ending(after)
            if ending is not None:
                yield True, ending
        for document in documents(text, partial, question.donors):
            yield False, document
        walked = self._walked(question, token, text, ours_allows)
        if walked is not None:
            yield False, walked

    def _walked(self, question: Question, token: int, text: bytes, ours_allows: bool) -> bytes | None:
        engine = self.duel.ours if ours_allows else self.duel.theirs
        after = copied(question.ours if ours_allows else question.theirs)
        if after is None or not engine.accept(after, token):
            return None
        found: bytes | None = self.duel.walker.walked(engine, after, text)
        return found

    def _is_noted(self, document: bytes, start: int, end: int) -> bool:
        """Whether a string that the token touches is of a format without a judge."""
        noted = self.referee.formats.noted
        if not noted:
            return False
        place = 0
        for kind, text, _ in lexemes(document.decode(errors="replace")):
            n_bytes = len(text.encode("utf-8", "surrogatepass"))
            if kind == "string" and place < end and place + n_bytes >= start and json.loads(text) in noted:
                return True
            place += n_bytes
        return False

    def _unchecked(
        self,
        allows: Any,
        tried: list[bytes],
        question: Question | None = None,
        partial: Partial | None = None,
        text: bytes = b"",
    ) -> str:
        """The rule by which the allowing engine does not check what is wrong here, or nothing."""
        if not self._relaxed or allows is not self.duel.theirs:
            return ""
        more = documents(text, partial, question.donors) if question is not None and partial is not None else ()
        some = [*tried, *itertools.islice(more, MOST_RELAXED)]
        return next((rule for rule, judge in self._relaxed if any(map(judge.accepts, some))), "")


def is_inside_value(before: Partial, after: Partial) -> bool:
    """Whether what was written between the two belongs to one value, and no key to it."""
    if after.state in (KEY_OPEN, KEY, COLON):
        return False
    if after.state == AFTER and len(after.frames) == len(before.frames):
        return len(after.frames[-1].members) - len(before.frames[-1].members) <= 1
    path, n_steps = after.path(), len(before.path())
    return path[:n_steps] == before.path() and all(isinstance(step, int) for step in path[n_steps:])


def _ending(matcher: Any) -> bytes | None:
    """The shortest document that llmask knows from here."""
    try:
        if not matcher.is_accepting():
            for token in matcher.finishing_tokens():
                matcher.accept_token(token)
        return bytes(matcher.text()) if matcher.is_accepting() else None
    except llmask.LlmaskError:
        return None


def copied(sequence: Any) -> Any:
    """An independent sequence in the same state, or None where the engine has none."""
    makers = (getattr(sequence, name, None) for name in ("fork", "deep_copy", "copy"))
    return next((make() for make in makers if callable(make)), None)
