"""Where the first document of a schema costs what it costs: `python -m bench.misses --limit 400`.

A document whose schema was never met makes the engine build what it has not yet: lexer states with their transitions,
masks of lexer states, rows, configurations, and lists of the tokens that cross a lexeme's end. Each step of such a
document (its mask, then its token) is counted by the kind of its place, which is what the last byte before it is in,
and by what it built, which counters of the tables tell before and after each call.

    reading    the same call where all is there, as a second document that is like the first finds it: looking up,
               writing the mask, Python
    grammar's  what the call takes beside that in a second grammar of the same schema in the same store, by its own
               first document: rows, configurations, crossing tokens, and rules where values have to differ
    store's    the rest: lexer states and their masks, which the first run left in the store for all grammars

All three together are the time of the calls, and all kinds together are that of all steps; nothing is left aside.
Every call takes place in several stores, one after the other, each of which meets the same schemas in the same order;
for each call the run with the smallest time counts.

In: command line. Out: tables in Markdown. Cost: 6 ms a schema and store; two minutes for all of MaskBench.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bench.data import CORPORA, Row, chosen_numbers, corpus_rows
from bench.engines import CompileError
from bench.engines.llmask import Llmask
from bench.report import spread
from bench.vocabularies import SOURCES
from llmask.kernels.lexer.states import DEAD
from llmask.kernels.mask.configurations import ENDED
from llmask.kernels.tables.kinds import MaskKind

clock = time.perf_counter_ns

# kinds of places
START, END = "start", "end"
KEY, OTHER_KEY = "key of the schema", "other key"
BEFORE_KEY, AFTER_KEY = "before a key", "after a key"
BEFORE_VALUE, AFTER_VALUE = "before a value", "after a value"
BLANKS, STRING, LISTED, NUMBER, WORD = "white space", "string", "string of an enum", "number", "true, false, null"
KINDS = (
    *(START, KEY, OTHER_KEY, BEFORE_KEY, AFTER_KEY, BEFORE_VALUE, AFTER_VALUE, BLANKS),
    *(STRING, LISTED, NUMBER, WORD, END),
)
_PARTS = re.compile(rb'(?s)"(?:[^"\\]|\\.)*"|[ \t\r\n]+|[-0-9][-+.0-9eE]*|[a-z]+|.')
_COLON = re.compile(rb"[ \t\r\n]*:")

# what a call builds
STATES, RULES, ROWS = "lexer states", "rules", "rows"
LIST, WORDS = "short mask of the lexer state", "long mask of the lexer state"  # a list of tokens, or a bitmask
CONFIGURATION, CROSSING = "configuration", "crossing"
TABLES = "new tables"  # the old ones have outgrown their room
NOTHING = "nothing"
FILL, ACCEPT = "mask", "token"


def named_in(schema: Any) -> tuple[set[str], set[str]]:
    """The names of properties and the texts of `enum` and `const` anywhere in a schema."""
    names: set[str] = set()
    texts: set[str] = set()
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if isinstance(here, list):
            waiting += here
        elif isinstance(here, dict):
            for keyword, value in here.items():
                if keyword == "properties" and isinstance(value, dict):
                    names.update(value)
                elif keyword == "required" and isinstance(value, list):
                    names.update(name for name in value if isinstance(name, str))
                elif keyword in ("enum", "const"):
                    texts.update(texts_in(value))
            waiting += here.values()
    return names, texts


def texts_in(value: Any) -> Iterator[str]:
    """All strings of a JSON value, keys left aside."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def string_of(part: bytes) -> str | None:
    """The value of a string's text; None for what is no JSON."""
    try:
        return str(json.loads(part))
    except ValueError:
        return None


def kinds_of(text: bytes, schema: Any) -> list[str]:
    """The kind of the place before each byte of a JSON text, and of that after its last.

    Whether a string is listed by an `enum` or `const`, and a key by `properties`, is asked of the whole schema.
    """
    names, texts = named_in(schema)
    kinds = [START]
    after = BEFORE_VALUE
    objects: list[bool] = []  # of what is open: is it an object?
    for match in _PARTS.finditer(text):
        part, n = match.group(), match.end() - match.start()
        first = part[:1]
        if first == b'"':
            value = string_of(part)
            is_key = _COLON.match(text, match.end()) is not None
            inside = (KEY if value in names else OTHER_KEY) if is_key else LISTED if value in texts else STRING
            after = AFTER_KEY if is_key else AFTER_VALUE
            kinds += [inside] * (n - 1) + [after]
        elif first.isspace():
            kinds += [BLANKS] * n
        elif first.isalpha():
            after = AFTER_VALUE
            kinds += [WORD] * (n - 1) + [after]
        elif first in b"-0123456789":
            after = AFTER_VALUE
            kinds += [NUMBER] * n
        else:
            if first in b"{[":
                objects.append(first == b"{")
            elif first in b"}]" and objects:
                objects.pop()
            is_key_next = first != b":" and bool(objects) and objects[-1]
            after = AFTER_VALUE if first in b"}]" else BEFORE_KEY if is_key_next else BEFORE_VALUE
            kinds.append(after)
    kinds[-1] = END
    return kinds


class Call(NamedTuple):
    """One call of the engine.

    place     its kind
    asked     FILL or ACCEPT
    built     what it built, in an order that is always the same
    total_ns  how long it took
    again_ns  how long the same call took in a second grammar of the same schema
    known_ns  how long it took in that grammar once more; all three are one where nothing is built
    """

    place: str
    asked: str
    built: tuple[str, ...]
    total_ns: int
    again_ns: int
    known_ns: int


class Counters(NamedTuple):
    """How much there is in the tables of a store and of a grammar."""

    states: int
    transitions: int
    leaps: int
    rows: int
    configurations: int
    rules: int

    @classmethod
    def read(cls, matcher: Any) -> Counters:
        store, grammar = matcher._sequence.store.table.view, matcher._sequence.generation.table.view
        return cls(
            *(store.state_keys.count, store.n_transitions, store.leaps.count),
            *(grammar.kernels.count, grammar.n_configurations, grammar.n_rules),
        )


def kind_of_mask(matcher: Any) -> int:
    """MaskKind.NONE where the mask of a sequence is missing."""
    if matcher._sequence.configuration == ENDED:
        return MaskKind.LIST
    return int(matcher._sequence.generation.table.view.configurations[matcher._sequence.configuration].mask_kind)


def kind_of_state_mask(matcher: Any) -> int:
    """The kind of the mask of the lexer state where a sequence is."""
    if matcher._sequence.configuration == ENDED:
        return MaskKind.LIST
    states = matcher._sequence.store.table.view.states
    state = matcher._sequence.generation.table.view.configurations[matcher._sequence.configuration].state
    return MaskKind.LIST if state == DEAD else int(states[states[state].anonymous].mask_kind)


def built_between(before: Counters, after: Counters, asked: str, new_mask: str | None) -> tuple[str, ...]:
    """What a call built that built something; `new_mask`: LIST or WORDS, if there was no mask of the lexer state."""
    has_states = after[:3] != before[:3]  # with transitions and leaps
    found = [STATES] if has_states else []
    found += [] if new_mask is None else [new_mask]
    found += [RULES] if after.rules > before.rules else []
    found += [ROWS] if after.rows > before.rows else []
    if asked == FILL:
        found.append(CROSSING)
    elif after.configurations > before.configurations:
        found.append(CONFIGURATION)
    return tuple(found)


class Reader:
    """One store, and what the steps of documents build there.

    Parameters
    ----------
    engine : a fresh one, whose store nobody has used.
    """

    def __init__(self, engine: Llmask) -> None:
        self.engine = engine

    def calls(self, schema: Any, ids: list[int], kinds: list[str]) -> list[Call] | None:
        """The calls of a document that is the first of its schema, or None: it has no grammar.

        Parameters
        ----------
        kinds : of the place before each of `ids`, and of the one after the last.
        """
        try:
            first, second = self.engine.compile(schema), self.engine.compile(schema)
        except CompileError:
            return None
        readings = [self._read(grammar, ids, kinds) for grammar in (first, second, second)]
        return [
            call if call.built == (NOTHING,) else call._replace(again_ns=again.total_ns, known_ns=known.total_ns)
            for call, again, known in zip(*readings, strict=True)
        ]

    def _read(self, grammar: Any, ids: list[int], kinds: list[str]) -> list[Call]:
        matcher = self.engine.start(grammar)
        found = []
        for place, token in zip(kinds, [*ids, self.engine.eos_ids[0]], strict=True):
            found.append(self._timed(matcher, place, FILL, token))
            if not self.engine.is_allowed(token):
                break
            found.append(self._timed(matcher, place, ACCEPT, token))
        return found

    def _timed(self, matcher: Any, place: str, asked: str, token: int) -> Call:
        is_missing = asked == FILL and kind_of_mask(matcher) == MaskKind.NONE
        lacks_mask = is_missing and kind_of_state_mask(matcher) == MaskKind.NONE
        tables, before = matcher._sequence.generation, Counters.read(matcher)
        started = clock()
        if asked == FILL:
            self.engine.fill(matcher)
        else:
            self.engine.accept(matcher, token)
        elapsed = clock() - started
        after = Counters.read(matcher)
        new_mask = None if not lacks_mask else LIST if kind_of_state_mask(matcher) == MaskKind.LIST else WORDS
        if matcher._sequence.generation is not tables:
            built: tuple[str, ...] = (TABLES,)
        elif is_missing or after != before:
            built = built_between(before, after, asked, new_mask)
        else:
            built = (NOTHING,)
        return Call(place, asked, built, elapsed, elapsed, elapsed)


def least(runs: list[list[Call]]) -> list[Call]:
    """Of each call that of the run in which it took the smallest time."""
    return [
        min(calls, key=lambda call: call.total_ns)._replace(
            again_ns=min(call.again_ns for call in calls), known_ns=min(call.known_ns for call in calls)
        )
        for calls in zip(*runs, strict=True)
    ]


class Step(NamedTuple):
    """A mask and its token; of a document that ends there, or is refused, a mask alone."""

    mask: Call
    token: Call | None

    @property
    def place(self) -> str:
        return self.mask.place

    @property
    def calls(self) -> tuple[Call, ...]:
        return (self.mask,) if self.token is None else (self.mask, self.token)

    @property
    def us(self) -> float:
        return sum(call.total_ns for call in self.calls) / 1000

    @property
    def has_built(self) -> bool:
        return any(call.built != (NOTHING,) for call in self.calls)


def steps_of(calls: list[Call]) -> list[Step]:
    """The calls of a document in pairs."""
    found: list[Step] = []
    for call in calls:
        if call.asked == FILL:
            found.append(Step(call, None))
        else:
            found[-1] = found[-1]._replace(token=call)
    return found


class Found(NamedTuple):
    """What was measured.

    steps    of all first documents
    refused  schemas without a grammar
    """

    steps: list[Step]
    refused: int


def measure(rows: Iterable[Row], engines: list[Llmask]) -> Found:
    """Read the first document of every row by each of several engines, whose stores are fresh."""
    readers = [Reader(engine) for engine in engines]
    tokens = engines[0].vocabulary.tokens
    steps: list[Step] = []
    refused = 0
    for row in rows:
        if row.kind != "schema" or not row.instances:
            continue
        instance = row.instances[0]
        places = np.cumsum([0, *(len(tokens[token]) for token in instance.token_ids)]).tolist()
        all_kinds = kinds_of(b"".join(tokens[token] for token in instance.token_ids), row.schema)
        kinds = [all_kinds[place] for place in places]
        gc.disable()
        runs = [reader.calls(row.schema, instance.token_ids, kinds) for reader in readers]
        if any(run is None for run in runs):
            refused += 1
        else:
            steps += steps_of(least([run for run in runs if run is not None]))
        gc.enable()
    return Found(steps, refused)


# --- tables


def parts(calls: Iterable[Call]) -> tuple[float, float, float]:
    """Microseconds of calls: reading, the grammar's, the store's."""
    total = again = known = 0
    for call in calls:
        total += call.total_ns
        again += call.again_ns
        known += call.known_ns
    return known / 1000, (again - known) / 1000, (total - again) / 1000


def sort_of(call: Call) -> str:
    """What a call is counted as in the table of places: the costliest of what it built."""
    for built in (WORDS, LIST) if call.asked == FILL else (STATES,):
        if built in call.built:
            return built
    return NOTHING if call.built == (NOTHING,) else CROSSING if call.asked == FILL else CONFIGURATION


def by_sort(calls: Iterable[Call], sorts: tuple[str, ...]) -> str:
    """Milliseconds of calls by what they are counted as."""
    sums = dict.fromkeys(sorts, 0)
    for call in calls:
        sums[sort_of(call)] += call.total_ns
    return " / ".join(f"{ns / 1e6:,.1f}" for ns in sums.values())


def by_place(steps: list[Step]) -> str:
    """Kinds of places: how many steps, what they take, and what they build in it."""
    groups: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        groups[step.place].append(step)
    all_us = sum(step.us for step in steps)
    lines = [
        "| before the step | steps | build | ms | share | us a step: mean / p50 / p99 / max "
        "| masks, ms: long / short / crossing / known | tokens, ms: lexer states / configuration / known |",
        f"|---|{'---:|' * 7}",
    ]
    for kind, group in [*((kind, groups[kind]) for kind in KINDS if kind in groups), ("**all**", steps)]:
        figures = spread([step.us for step in group])
        us = sum(step.us for step in group)
        masks = by_sort((step.mask for step in group), (WORDS, LIST, CROSSING, NOTHING))
        tokens = by_sort((step.token for step in group if step.token is not None), (STATES, CONFIGURATION, NOTHING))
        shown = " / ".join(f"{figures[name]:,.1f}" for name in ("mean", "p50", "p99", "max"))
        lines.append(
            f"| {kind} | {len(group):,} | {sum(step.has_built for step in group):,} | {us / 1000:,.1f} "
            f"| {us / all_us:.1%} | {shown} | {masks} | {tokens} |"
        )
    return "\n".join(lines)


def by_built(steps: list[Step]) -> str:
    """What calls build: how many, what they take, and what that goes to."""
    groups: dict[tuple[str, tuple[str, ...]], list[Call]] = defaultdict(list)
    for step in steps:
        for call in step.calls:
            groups[call.asked, call.built].append(call)
    all_us = sum(step.us for step in steps)
    lines = [
        "| a call for | builds | calls | ms | share | us a call: mean / p50 / p99 / max "
        "| us a call: reading / grammar's / store's |",
        f"|---|---|{'---:|' * 5}",
    ]
    ordered = sorted(groups.items(), key=lambda item: (item[0][0], -sum(call.total_ns for call in item[1])))
    for (asked, built), group in ordered:
        figures = spread([call.total_ns / 1000 for call in group])
        us = figures["mean"] * len(group)
        shown = " / ".join(f"{figures[name]:,.1f}" for name in ("mean", "p50", "p99", "max"))
        each = " / ".join(f"{value / len(group):,.1f}" for value in parts(group))
        lines.append(
            f"| a {asked} | {', '.join(built)} | {len(group):,} | {us / 1000:,.1f} | {us / all_us:.1%} "
            f"| {shown} | {each} |"
        )
    return "\n".join(lines)


def summary(found: Found) -> str:
    """The sums that the tables have to add up to."""
    reading, grammars, stores = parts(call for step in found.steps for call in step.calls)
    return (
        f"{len(found.steps):,} steps take {(reading + grammars + stores) / 1000:,.1f} ms: "
        f"reading {reading / 1000:,.1f}, grammar's {grammars / 1000:,.1f}, store's {stores / 1000:,.1f}; "
        f"{found.refused:,} schemas refused"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=CORPORA, default="maskbench")
    parser.add_argument("--vocabulary", choices=list(SOURCES), default="llama3")
    parser.add_argument("--whitespace", choices=("flexible", "compact"), default="flexible")
    parser.add_argument("--limit", type=int, help="only so many schemas, drawn with a fixed seed, in the file's order")
    parser.add_argument("--match", default="", help="only schemas whose id contains this")
    parser.add_argument("--repeat", type=int, default=2, help="stores; the smallest time of each call counts")
    options = parser.parse_args()
    vocabulary = "default" if options.corpus == "own" else options.vocabulary
    rows = corpus_rows(options.corpus, options.whitespace, vocabulary)
    chosen = [rows[number] for number in chosen_numbers(rows, options.match, options.limit)]
    engines = [Llmask(options.whitespace, vocabulary) for _ in range(options.repeat)]
    gc.collect()
    gc.freeze()
    found = measure(chosen, engines)
    print(f"{summary(found)}\n\n{by_place(found.steps)}\n\n{by_built(found.steps)}")


if __name__ == "__main__":
    main()
