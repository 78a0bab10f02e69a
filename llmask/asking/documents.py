"""Documents as a model would write them, read before it does, so that their masks are there.

Two are derived from the rules: one takes every option once, the other what must be there. Where JSON may be written
line by line, each of them is read in both ways. A run through a rule prefers edges that it has not taken:

    "{" -> a key -> ":" -> its value -> ","     as long as a key is left, or one item more
    "}"                                         then, or as soon as it may: the second document
    a call of a rule that is open               not while there is another way

In: rules, the tokenizer, tables. Out: masks in the tables. Cost: 0.6 ms for a median schema, half of it masks; 4 ms.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import LlmaskError
from ..grammar.derivations import Value, value_after
from ..grammar.kinds import CALL_AGAIN, CALL_NEW, EDGE_FIELDS, NO_GUARD, SCAN, SKIP, SKIP_LATE
from ..kernels.tables import memory
from ..kernels.tables.operations import Operation
from ..work import metered, spend
from .likely import CLOSING, OPENING, Texts, tokens_of

if TYPE_CHECKING:
    from ..grammar.rules import Rules
    from ..store.loaded_grammar import LoadedGrammar

MOST_STEPS = 400  # edges that are taken for a document; two in five scan something
DOCUMENT_WORK = 1000  # units that deriving the documents of a grammar may take, and reading them; each a millisecond
PART = 64  # tokens that are read at once: then a mask that somebody waits for comes first
GUARD_WORK = 8  # quarters of a unit
MOST_EDGES = 50_000  # of rules; more of them take too long to list
BEFORE_BLANKS = {*OPENING, b":", b","}  # what is written before blanks, as what closes is after them
SHARED = 150  # steps, half a millisecond; letting others in takes a tenth
# ranks of edges, and of the end of a run: what is taken first
NEW, TO_NEW, CLOSING_EDGE, RUN_END, TO_END, SKIPPED, OLD, RECURSION, NONE = range(1, 10)
Option = tuple[int, ...]  # an edge: its number, and the rest as rules have it
NUMBER, KIND, SYMBOL, TARGET, GUARD = range(EDGE_FIELDS)
NO_WAY: tuple[Option, Value] = (), 0


class _Run(NamedTuple):
    """A run through a rule: where it goes on after its end, what is counted or carried there, and the edges it took.

    differs  values in it must differ
    """

    rule: int
    is_short: bool
    differs: bool
    back: int
    value: Value
    used: set[int]


class Documents:
    """Derives documents; one thread at a time."""

    def __init__(self, rules: Rules, texts: Texts) -> None:
        self._rules = rules
        self._texts = texts
        self._numbers: defaultdict[int, list[int]] = defaultdict(list)  # of edges, by state
        for number, state in enumerate(rules.edges[::EDGE_FIELDS]):
            self._numbers[state].append(number)
        self._at = cache(self._find_options)  # by state
        self._leads_to_free_keys = cache(self._find_free)
        self._finals: defaultdict[int, list[int]] = defaultdict(list)
        for at in range(0, len(rules.finals), 2):
            self._finals[rules.finals[at]].append(rules.finals[at + 1])
        self._opens: dict[int, bool] = {}  # by rule
        self._n_taken: defaultdict[int, int] = defaultdict(int)  # of each edge, in all documents
        self._n_texts: defaultdict[int, int] = defaultdict(int)  # of each lexeme

    def derive(self, is_short: bool, words: list[bytes]) -> None:
        """Append the texts of a document's lexemes; the beginning of it where it is long, or no end is found.

        Raises
        ------
        LimitExceeded : work was spent; what was appended until then is the beginning.
        """
        rules, texts = self._rules, self._texts
        waiting: list[_Run] = []
        open_rules: defaultdict[int, int] = defaultdict(int, {rules.start: 1})
        run = _Run(rules.start, is_short, False, -1, 0, set())
        state, value = rules.rule_starts[rules.start], run.value
        for step in range(1, MOST_STEPS + 1):
            if step % SHARED == 0:
                time.sleep(0)  # other threads may have the interpreter
            options = self._at(state)
            if len(options) != 1 or options[0][GUARD] != NO_GUARD or options[0][KIND] > SKIP or state in self._finals:
                chosen = self._choose(state, options, value, run, open_rules)
                if chosen is NO_WAY:
                    break
                if chosen is None:
                    open_rules[run.rule] -= 1
                    if not waiting:
                        break
                    state, value = run.back, run.value
                    run = waiting.pop()
                    continue
                option, value = chosen
            else:
                option = options[0]
            number, kind, symbol, state, _ = option
            run.used.add(number)
            self._n_taken[number] += 1
            if kind == SCAN:
                found = texts.of(symbol) if run.differs else texts.soon_of(symbol)
                if not found:
                    break
                word = found[0]
                if len(found) > 1:
                    word = found[self._n_texts[symbol] % len(found)]
                    self._n_texts[symbol] += 1
                words.append(word)
            elif kind != SKIP:
                waiting.append(run)
                differs = run.differs or CALL_NEW <= kind < CALL_AGAIN
                run = _Run(symbol, run.is_short or open_rules[symbol] > 0, differs, state, value, set())
                open_rules[symbol] += 1
                state, value = rules.rule_starts[symbol], 0

    def _choose(
        self, state: int, options: list[Option], value: Value, run: _Run, open_rules: defaultdict[int, int]
    ) -> tuple[Option, Value] | None:
        """An edge to take, and what the run counts or carries after it; None where the run ends, or NO_WAY."""
        may_end = False
        if state in self._finals:
            may_end = any(value_after(self._rules, one, value) is not None for one in self._finals[state])
            if may_end and (run.is_short or not options):
                return None
        best, least, n_seen = NO_WAY, (NONE, 0), 0
        for option in options:
            number, kind, _, _, guard = option
            n_seen += 1
            rank = self._rank(option, run, open_rules), self._n_taken[number]
            if rank < least:
                after: Value | None = value
                if guard != NO_GUARD or kind >= CALL_NEW:
                    n_seen += GUARD_WORK
                    after = value_after(self._rules, guard, value, CALL_NEW <= kind < CALL_AGAIN)
                if after is not None:
                    best, least = (option, after), rank
                    if rank <= (NEW, 0):
                        break
        spend(n_seen // 4)
        return None if may_end and least[0] > RUN_END else best

    def _rank(self, option: Option, run: _Run, open_rules: defaultdict[int, int]) -> int:
        number, kind, symbol, target, _ = option
        if kind == SCAN and symbol in self._texts.closing:
            return CLOSING_EDGE
        is_recursion = kind not in (SCAN, SKIP) and open_rules[symbol] > 0
        if not is_recursion and self._opens_declared(option):
            return NEW
        if kind == SKIP:
            if not run.is_short and (self._has_new(target, run.used) or self._leads_to_free_keys(target)):
                return TO_NEW
            return TO_END if target in self._finals else SKIPPED
        if run.is_short or is_recursion:
            return RECURSION if is_recursion else OLD
        is_old = number in run.used or self._leads_to_free_keys(target) or self._is_free_key(option)
        return OLD if is_old else NEW

    def _has_new(self, state: int, used: set[int]) -> bool:
        """Whether from a state some edge can be taken that a run has not taken."""
        return any(option[NUMBER] not in used and not self._is_free_key(option) for option in self._ahead(state))

    def _find_free(self, state: int) -> bool:
        """Whether nothing but keys that are not declared comes next: of these a run takes one if no other was there."""
        ahead = self._ahead(state)
        first = next(ahead, None)
        return first is not None and self._is_free_key(first) and all(map(self._is_free_key, ahead))

    def _opens_declared(self, option: Option) -> bool:
        """Whether an edge begins an object with declared keys, which is more likely than another type of value."""
        _, kind, symbol, target, _ = option
        if kind == SCAN:
            return symbol == self._texts.opening and not self._leads_to_free_keys(target)
        if kind == SKIP:
            return False
        found = self._opens.get(symbol)
        if found is None:
            self._opens[symbol] = False  # meanwhile, for a rule that begins with itself
            first = self._edges_of(self._rules.rule_starts[symbol])
            found = self._opens[symbol] = any(one[KIND] == SCAN and self._opens_declared(one) for one in first)
        return found

    def _is_free_key(self, option: Option) -> bool:
        if option[KIND] != SCAN:
            return False
        after = self._at(option[TARGET])
        return (
            len(after) == 1
            and after[0][SYMBOL] == self._texts.colon
            and after[0][KIND] == SCAN
            and not self._texts.words_of(option[SYMBOL])
        )

    def _ahead(self, state: int) -> Iterator[Option]:
        """The edges that take something, and close nothing, from a state and those to which skips lead."""
        waiting, closing = [state], self._texts.closing
        for at in waiting:
            for option in self._at(at):
                if option[KIND] == SKIP:
                    if option[TARGET] not in waiting:
                        waiting.append(option[TARGET])
                elif option[SYMBOL] not in closing or option[KIND] != SCAN:
                    yield option

    def _find_options(self, state: int) -> list[Option]:
        """The edges out of a state, the likelier ones first."""
        options = self._edges_of(state)
        return sorted(options, key=self._opens_declared, reverse=True) if len(options) > 1 else options

    def _edges_of(self, state: int) -> list[Option]:
        edges = self._rules.edges
        return [
            (number, *edges[at + 1 : at + EDGE_FIELDS])
            for number in self._numbers[state]
            if edges[(at := EDGE_FIELDS * number) + 1] != SKIP_LATE
        ]


def written(words: list[bytes], texts: Texts, by_lines: bool) -> bytes:
    """A document of some lexemes."""
    if texts.is_json and not by_lines:
        spaced = {mark: mark + texts.between(mark, b"", None) for mark in (b":", b",")}
        return b"".join([spaced.get(word, word) for word in words]).rstrip()
    found, last, depth = [], b"", 0
    for word in words:
        if last in BEFORE_BLANKS or word in CLOSING or not texts.is_json:
            depth += last in OPENING
            found.append(texts.between(last, word, depth if by_lines else None))
            depth -= word in CLOSING
        found.append(word)
        last = word
    return b"".join(found)


def documents_of(rules: Rules, texts: Texts, work: int) -> list[bytes]:
    """Documents that are likely, or their beginnings, each once; `work` is what deriving them may take."""
    documents = Documents(rules, texts)
    found: dict[bytes, None] = {}
    for is_short in (False, True):
        words: list[bytes] = []
        with suppress(LlmaskError), metered(max(work, 0), "max_step_work") as meter:
            documents.derive(is_short, words)
        work = meter.left
        for by_lines in (False, True) if texts.is_json and not is_short else (False,):
            found[written(words, texts, by_lines)] = None
    return [text for text in found if text]


def reading(grammar: LoadedGrammar, rules: Rules, is_json: bool) -> Iterator[int]:
    """Read documents of a grammar, and build the masks before and after each token; how many there were, part by part.

    In: a grammar with its own rules. It may be left unfinished after any part.
    """
    left = DOCUMENT_WORK
    if len(rules.edges) > MOST_EDGES * EDGE_FIELDS:
        return
    with suppress(LlmaskError):
        texts = documents_of(rules, Texts(grammar.store, rules, is_json), DOCUMENT_WORK)
        for ids in [np.array(tokens_of(grammar.tokenizer, text), np.int32) for text in texts]:
            generation = grammar.generation
            configuration, n_read = generation.start, 0
            while n_read < len(ids) and configuration > 0:
                part = ids[n_read : n_read + PART]
                with metered(grammar.store.limits.max_step_work, "max_step_work") as meter:
                    configuration = generation.run(Operation.READ, configuration, left << memory.TICK_BITS, part)
                left -= meter.spent
                n_read += int(part[0])
                yield int(part[0])
                if left <= 0:
                    return
