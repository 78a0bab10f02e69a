"""What the compiled stores hold, in words: the dotted items of a row, a lexer state, what a mask is made of.

    rules            debug.rules(matcher)            the rules as they are loaded, which `grammar.rules()` writes, too
    row              debug.row(matcher)              its kernel, what it scans and whom it wakes, as dotted items
    lexer state      debug.lexer_state(matcher)      for each lexeme what is left of it, as a regular expression
    configuration    debug.configuration(matcher)    both, and the tokens of the mask by where they come from

All of it is read from the memory that kernels work on, not from what frontends wrote. Nothing is built: where a mask
is not there yet, `fill_bitmask` makes it. A matcher means its own place; a grammar takes the number of a row or
configuration of its newest tables. `str` of what is returned is for people, the fields are for tests.

In: a matcher, or a grammar and a number. Out: named tuples. Cost: about 20 us an edge of the rules.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .arguments import shown
from .grammar.kinds import CONDITION, COUNT, GUARD_FIELDS, SCAN, SKIP_LATE
from .grammar.notation import Edge, Network, RuleText, guard_text, rule_names
from .kernels.lexer import states as lexer_states
from .kernels.machine.records import RecordView
from .kernels.mask import assemble, configurations
from .kernels.parser import rows as earley_rows
from .kernels.parser.items import LEO_ITEM, SHARED_BY_LEO
from .kernels.tables.grammar_layout import GRAMMAR
from .kernels.tables.kinds import MaskKind
from .kernels.tables.store_layout import STORE
from .kernels.values.called_rules import FIRST_WORD, NO_TEXTS, SIZE, TEXTS_OF_SET, UNKNOWN_TEXT
from .kernels.values.json_values import WHOLE
from .kernels.values.parse_states import FIRST_TRACKED, NO_TRANSCRIPT, VALUE_START
from .matching.matcher import Matcher
from .matching.sequence import Sequence
from .regex.notation import list_in
from .store.loaded_grammar import LoadedGrammar

SHOWN_TOKENS = 12
FLAGS = {
    "accepts": "the document may end here",
    "begins_value": "a tracked value may begin here",
    "tracks": "its text is recorded",
    "is_undecided": "a text decides what may follow",
    "is_tentative": "one text more is left out than is known",
    "is_nowhere": "nothing certainly follows",
    "takes_tokens": "it names tokens",
}


class Item(NamedTuple):
    """A dotted item: what of a rule was read, and what may follow.

    text       the line of `str(rules)` with the state, and a dot in it
    parameter  what the run has counted or collected, "" where its rule does neither
    origin     the row that the run began in; of a Leo item the row that holds its items
    state      of the rule, a number
    """

    text: str
    parameter: str
    origin: int
    state: int

    def __str__(self) -> str:
        said = f", {self.parameter}" if self.parameter else ""
        return f"{self.text}    begun in row {self.origin}{said}"


class Row(NamedTuple):
    """An Earley set.

    kernel  the items by which the row is known: made by scans and completions
    scans   lexemes that may come next, each with its item
    waits   rules that may come next, each with the item to wake when it ends
    flags   what else the row knows
    is_leo  it holds the items of a Leo item: never a place of a document
    state   the lexer state at the row
    """

    number: int
    kernel: tuple[Item, ...]
    scans: tuple[tuple[str, Item], ...]
    waits: tuple[tuple[str, Item], ...]
    flags: tuple[str, ...]
    is_leo: bool
    state: int

    def __str__(self) -> str:
        head = f"row {self.number}{', of Leo items' if self.is_leo else f', lexer state {self.state}'}"
        lines = [": ".join([head, "; ".join(self.flags)]) if self.flags else head]
        for title, entries in (("scans", self.scans), ("waits for", self.waits)):
            width = max((len(symbol) for symbol, _ in entries), default=0)
            lines += [f"  {title} {symbol:{width}}  of {item}" for symbol, item in entries]
        lines[1:1] = [f"  kernel {item}" for item in self.kernel]
        return "\n".join(lines)


class LexemeLeft(NamedTuple):
    """A lexeme in a lexer state: what it is, what is left of it, whether it may end here."""

    lexeme: str
    left: str
    may_end: bool


class LexerState(NamedTuple):
    """What the lexer knows: nothing of a lexeme was read at the start, else every lexeme that can still be meant."""

    number: int
    is_start: bool
    lexemes: tuple[LexemeLeft, ...]

    def __str__(self) -> str:
        where = "no lexeme can go on" if not self.lexemes else "before a lexeme" if self.is_start else "inside a lexeme"
        lines = [f"lexer state {self.number}, {where}"]
        width = max((len(one.lexeme) for one in self.lexemes), default=0)
        for one in self.lexemes:
            left = "" if one.left == one.lexeme else f", left: {one.left}"
            lines.append(f"  {one.lexeme:{width}}{left}{'; it may end here' if one.may_end else ''}".rstrip())
        return "\n".join(lines)


class Mask(NamedTuple):
    """Tokens by where they come from; each list ascends.

    inside    stay inside the lexeme in hand
    crossing  go on beyond its end
    named     the rules name them by their ids
    ends      end the sequence
    """

    inside: list[int]
    crossing: list[int]
    named: list[int]
    ends: list[int]

    def tokens(self) -> list[int]:
        """All of them, once each."""
        return sorted({*self.inside, *self.crossing, *self.named, *self.ends})


class Configuration(NamedTuple):
    """A row and a lexer state, and the mask there: None where it is not built yet. Canonical masks allow fewer.

    recorded  what was read of the values that are tracked
    texts     of the mask's tokens
    """

    number: int
    row: Row
    lexer_state: LexerState
    recorded: bytes
    may_end: bool
    mask: Mask | None
    texts: dict[int, str]

    def __str__(self) -> str:
        ends = "may" if self.may_end else "may not"
        where = f"row {self.row.number}, lexer state {self.lexer_state.number}"
        recorded = f", recorded {self.recorded!r}" if self.recorded else ""
        lines = [f"configuration {self.number}: {where}{recorded}; the document {ends} end here"]
        if self.mask is None:
            return lines[0] + "\n  its mask is not built yet: fill_bitmask builds it"
        lines.append(f"  {len(self.mask.tokens())} tokens are allowed")
        for title, tokens in zip(("inside the lexeme", "beyond its end", "named", "ends"), self.mask, strict=True):
            if tokens:
                shown = " ".join(self.texts[token] for token in tokens[:SHOWN_TOKENS])
                more = f" and {len(tokens) - SHOWN_TOKENS} more" if len(tokens) > SHOWN_TOKENS else ""
                lines.append(f"  {title}: {shown}{more}")
        return "\n".join(lines)


def rules(of: Any) -> str:
    """The rules as they are loaded: without what derives nothing, the start first."""
    reader = _Reader(of)
    start = reader.table.slots[GRAMMAR.start_rule]
    order = sorted(range(len(reader.network.names)), key=lambda rule: rule != start)
    return "\n".join(reader.text.rule(rule) for rule in order)


def row(of: Any, number: int | None = None) -> Row:
    """The row at the place of a matcher, or one by its number."""
    reader = _Reader(of)
    return reader.row(reader.row_and_transcript(_here(of))[0] if number is None else number)


def rows(of: Any) -> list[Row]:
    """All rows so far, in the order of their numbers."""
    reader = _Reader(of)
    return [reader.row(number) for number in range(n_rows(of))]


def lexer_state(of: Any, number: int | None = None) -> LexerState:
    """The lexer state at the place of a matcher, or one by its number."""
    reader = _Reader(of)
    return reader.lexer_state(reader.table.view.configurations[_here(of)].state if number is None else number)


def configuration(of: Any, number: int | None = None) -> Configuration:
    """The configuration at the place of a matcher, or one by its number."""
    return _Reader(of).configuration(_here(of) if number is None else number)


def n_rows(of: Any) -> int:
    """How many rows there are, the rows of Leo items included."""
    return int(_tables(of).generation.table.view.kernels.count)


def _tables(of: Any) -> Sequence | LoadedGrammar:
    """What has the tables: the sequence of a matcher, or what is loaded of a compiled grammar."""
    tables: Sequence | LoadedGrammar = of._sequence if isinstance(of, Matcher) else getattr(of, "_loaded", of)
    return tables


def _here(of: Any) -> int:
    sequence = _tables(of)
    assert isinstance(sequence, Sequence), "a grammar has no place: give a number"
    return int(sequence.configuration)


class _Reader:
    """Reads the tables of a grammar and of its store."""

    def __init__(self, of: Any) -> None:
        tables = _tables(of)
        self.grammar = tables.grammar if isinstance(tables, Sequence) else tables
        self.generation = tables.generation
        self.table = self.generation.table
        self.store = self.grammar.store
        self._lexemes = self.grammar.rules()  # with the names that their author gave them
        self.network = self._network()
        self.text = RuleText(self.network)

    def _network(self) -> Network:
        """The rules that are loaded."""
        table, slots = self.table, self.table.slots
        n_rules, n_states = int(slots[GRAMMAR.n_rules]), int(slots[GRAMMAR.n_rtn_states])
        written = self.grammar.own_rules
        names = [*written.names[:n_rules], *(f"rule {rule}" for rule in range(len(written.names), n_rules))]
        states: list[list[int]] = [[] for _ in names]
        for state, rule in enumerate(table.read(GRAMMAR.state_rules, 0, n_states).tolist()):
            states[rule].append(state)
        self._guards = table.read(GRAMMAR.guards, 0, GUARD_FIELDS * int(slots[GRAMMAR.n_guards]))
        spelled = rule_names(names)
        guards = [guard_text(one, self._members, spelled.__getitem__) for one in self._guards.reshape(-1, 5).tolist()]
        self._first_edges = table.read(GRAMMAR.edge_first, 0, n_states + 1).tolist()
        n_edges = int(slots[GRAMMAR.n_edges])
        self._edges = table.read(GRAMMAR.edges, 0, 4 * n_edges).reshape(-1, 4).tolist()
        has_priorities = slots[GRAMMAR.has_priorities] != 0
        said = table.read(GRAMMAR.priorities, 0, n_edges).tolist() if has_priorities else [0] * n_edges
        # where late skips lead to that are written: entries of a map, see kernels/values/called_rules.py
        variants = table.view.variants
        entries = (variants.entries[i] for i in range(variants.count))
        late = {entry.high: entry.value for entry in entries if entry.key == -1}
        edges = {}
        for state in range(n_states):
            edges[state] = [
                Edge(
                    kind,
                    symbol,
                    late.get(symbol) if kind == SKIP_LATE else target,
                    guards[guard],
                    one >> 1,
                    one & 1 > 0,
                )
                for (kind, symbol, target, guard), one in (
                    (self._edges[edge], said[edge])
                    for edge in range(self._first_edges[state], self._first_edges[state + 1])
                )
            ]
        ends = table.read(GRAMMAR.state_finals, 0, n_states).tolist()
        finals = {state: guards[end - 1] for state, end in enumerate(ends) if end}
        starts = table.read(GRAMMAR.rule_starts, 0, n_rules).tolist()
        return Network(names, starts, states, edges, finals, self.lexeme, written.late_names.__getitem__)

    def _members(self, place: int) -> list[int]:
        size, n_words = self.table.read(GRAMMAR.required, place, 2).tolist()
        if size == CONDITION:
            return []
        return _bits(self.table.read(GRAMMAR.required, place + 2, n_words))

    def lexeme(self, lexeme: int) -> str:
        """The text of a lexeme."""
        if lexeme == lexer_states.ANONYMOUS:
            return "any lexeme"
        return self._lexemes.lexeme_text(int(self.store.table.read(STORE.lexemes, lexeme, 1)[0]))

    # --- rows

    def _item(self, state: int, parameter: int, origin: int) -> Item:
        if state == LEO_ITEM:
            return Item("Leo items", "", origin, state)
        return Item(self.text.item(state), self._parameter(state, parameter), origin, state)

    def _parameter(self, state: int, parameter: int) -> str:
        """What a run has counted or collected, if its rule has guards."""
        rule = int(self.table.read(GRAMMAR.state_rules, state, 1)[0])
        used = {self._edges[edge][3] for one in self.network.states[rule] for edge in self._edges_of(one)}
        used |= {
            int(self.table.read(GRAMMAR.state_finals, one, 1)[0]) - 1
            for one in self.network.states[rule]
            if one in self.network.finals
        }
        kinds = {int(self._guards[GUARD_FIELDS * guard]) for guard in used if guard > 0}
        if COUNT in kinds:
            return f"count {parameter}"
        found = list_in(self.table, GRAMMAR.sets, parameter)
        texts = found[TEXTS_OF_SET]
        numbers = [] if texts == NO_TEXTS else self.generation.texts_in(texts)
        values = ["?" if one == UNKNOWN_TEXT else shown(self.generation.text_of(one)) for one in numbers]
        if not kinds and not values:
            return ""
        members = [*map(str, _bits(np.array(found[FIRST_WORD:], np.int32))), *values]
        others = found[SIZE] - len(members)
        members += [f"{others} without name"] if others else []
        return f"set {{{', '.join(members)}}}"

    def _edges_of(self, state: int) -> range:
        return range(self._first_edges[state], self._first_edges[state + 1])

    def row(self, number: int) -> Row:
        """A row by its number."""
        row = self.table.view.rows[number]
        kernel = list_in(self.table, GRAMMAR.kernels, number)
        triples = list(zip(kernel[::3], kernel[1::3], kernel[2::3], strict=True))
        return Row(
            number,
            tuple(self._item(*triple) for triple in triples if triple[0] >= 0),
            self._entries(row.scans, row.n_scans),
            self._entries(row.waits, row.n_waits),
            tuple(text for flag, text in FLAGS.items() if getattr(row, flag)),
            any(triple[0] == earley_rows.LEO_MARK for triple in triples),
            row.start,
        )

    def _entries(self, first: int, n: int) -> tuple[tuple[str, Item], ...]:
        """Scans or waits of a row: what is awaited, and the item."""
        found = []
        for at in range(first, first + n):
            entry = self.table.view.row_entries[at]
            symbol, edge, parameter, origin = entry.symbol, entry.edge, entry.parameter, entry.origin
            is_scan = self._edges[edge][0] == SCAN
            name = self.lexeme(symbol) if is_scan else self.text.names[symbol]
            state = bisect_right(self._first_edges, edge) - 1
            item = (
                self._item(LEO_ITEM, 0, origin) if parameter == SHARED_BY_LEO else self._item(state, parameter, origin)
            )
            found.append((name, item))
        return tuple(found)

    def row_and_transcript(self, number: int) -> tuple[int, int]:
        """The row of a configuration, and the transcript there."""
        parse_state = self.table.view.configurations[number].parse_state
        if parse_state < FIRST_TRACKED:
            return parse_state, NO_TRANSCRIPT
        entry = self.table.view.parse_states.entries[parse_state - FIRST_TRACKED]
        return entry.high, entry.key

    def _recorded(self, transcript: int) -> bytes:
        found = []
        while transcript != NO_TRANSCRIPT:
            entry = self.table.view.transcripts.entries[transcript - 1]
            if entry.key < VALUE_START:
                found.append(bytes([entry.key]))
            elif entry.key >= WHOLE:
                found.append(self.generation.text_of(entry.key - WHOLE))
            transcript = entry.high
        return b"".join(reversed(found))

    # --- lexer states, configurations

    def lexer_state(self, number: int) -> LexerState:
        """A lexer state by its number."""
        table = self.store.table
        if number == lexer_states.DEAD:
            return LexerState(number, True, ())
        key = list_in(table, STORE.state_keys, number)
        ends = list_in(table, STORE.lexeme_sets, table.view.states[number].accepts)
        pairs = zip(key[0 : len(key) & -2 : 2], key[1 : len(key) & -2 : 2], strict=True)
        lexemes = (LexemeLeft(self.lexeme(one), self._lexemes.lexeme_text(left), one in ends) for one, left in pairs)
        return LexerState(number, len(key) % 2 == 1, tuple(lexemes))

    def configuration(self, number: int) -> Configuration:
        """A configuration by its number."""
        assert number != configurations.ENDED, "after the end of sequence there is neither a row nor a lexer state"
        row, transcript = self.row_and_transcript(number)
        here = self.table.view.configurations[number]
        state, may_end = here.state, here.accepts != 0
        mask = self._mask(here, may_end)
        texts = {} if mask is None else {token: self._token(token) for token in mask.tokens()}
        shown = self.row(row), self.lexer_state(state), self._recorded(transcript)
        return Configuration(number, *shown, may_end, mask, texts)

    def _mask(self, here: RecordView, may_end: bool) -> Mask | None:
        if here.mask_kind == MaskKind.NONE:
            return None
        inside = self._inside(here.state)
        if here.mask_kind & assemble.KIND_BITS == MaskKind.WORDS:
            crossing: Iterable[int] = {*self._words(self.table.view.own_masks[here.mask])} - {*inside}
        else:
            crossing = self._listed(here.first, here.n)
        named: Iterable[int] = ()
        if here.mask_kind & assemble.HAS_NAMED:
            if here.n_named == configurations.OWN_MASK:
                named = self._words(self.table.view.own_masks[here.first_named])
            else:
                named = self._listed(here.first_named, here.n_named)
        ends = sorted(self.store.tokenizer.eos_ids) if may_end else []
        return Mask(sorted(inside), sorted(crossing), sorted(named), ends)

    def _listed(self, first: int, n: int) -> list[int]:
        """Tokens that a configuration has in the pool of crossings."""
        pool = self.table.view.crossings.pool
        return [pool[i] for i in range(first, first + n)]

    def _inside(self, state: int) -> list[int]:
        """Tokens that stay inside the lexeme in hand: the mask of its anonymous state."""
        if state == lexer_states.DEAD:
            return []
        view = self.store.table.view
        anonymous = view.states[view.states[state].anonymous]
        if anonymous.mask_kind == MaskKind.LIST:
            return [view.token_lists[i] for i in range(anonymous.mask, anonymous.mask + anonymous.n_tokens)]
        return self._words(view.masks[anonymous.mask])

    def _words(self, address: int) -> list[int]:
        """Tokens of a whole bitmask."""
        return _bits(np.frombuffer(ctypes.string_at(address, 4 * self.store.n_words), np.int32))

    def _token(self, token: int) -> str:
        data = self.store.tokenizer.token_bytes(token)
        return shown(data) if data else f"({self.store.tokenizer.token_name(token)})"


def _bits(words: Any) -> list[int]:
    """Numbers whose bits are set."""
    return [int(bit) for bit in np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))]
