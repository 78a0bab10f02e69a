"""A compiled grammar: rules over the lexemes of a store, with the rows and configurations found so far.

It is immutable to its users and shared by all sequences; what it derives lazily is a cache. Where values have to differ
(`Rules.call_new`), rules are written while sequences are read: a kernel that misses one stops, the frontend's function
writes it, it is loaded behind the others, and the kernel runs again, all under the store's lock.

In: `Rules` of a frontend. Out: `matcher()`. Cost: about 20 us and 0.1 us an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..copying import Shared
from ..errors import GrammarError, LimitExceeded, LlmaskError, UnsatisfiableSchema
from ..forks import cached_property
from ..frontends.json_schema.inputs import digest_of
from ..frontends.regex.groups import Groups
from ..grammar.expressions import Grammar, Inclusion
from ..grammar.lowering import Lowered
from ..grammar.rules import MakeVariant, RuleId, Rules
from ..kernels import engine
from ..kernels.mask.configurations import REFUSED
from ..kernels.parser.load_rules import NOTHING_DERIVED
from ..kernels.table import Table
from ..kernels.tables import grammar_layout
from ..kernels.values import json_values
from ..kernels.values.text_sets import CHUNK_BITS, FIRST_CHUNK, NO_TEXTS
from ..kernels.values.transcripts import MOST_ROWS
from ..kernels.values.variants import LATE
from ..mask.apply import allocate_bitmask
from ..store.rule_source import RuleSource
from ..store.store import Store
from ..work import active, metered, unmetered
from .algebra import GrammarValue
from .statistics import grammar_statistics

if TYPE_CHECKING:
    from ..matching.finish import Ends
    from ..matching.matcher import Matcher
    from ..tokenizer.tokenizer import Tokenizer


MOST_MADE = 5000  # rules that one step may have written
FEW_ITEMS = 4  # links of so many items are taken apart, see kernels/parser/leo_items.py
MOST_LINKS = 2  # in one row
ON_LIMIT = ("error", "finish")
_NO_DATA = np.zeros(0, np.int32)


class Generation:
    """Tables that a grammar's sequences share: rules, and the rows and configurations found so far.

    Identities of rows are never taken back one by one. When the tables have outgrown `room`, a grammar begins new ones,
    sequences move there by replaying their tokens, and the old tables die with the last sequence that stays behind.

    Attributes
    ----------
    table : what kernels read, see kernels/tables/grammar_layout.py.
    start : the configuration before the first token.
    room : bytes at which sequences move on; at least twice what live sequences brought with them (four times where
        rules are added while they are read, which copies the tables of rules once), so that moving never costs more
        than the work that filled the tables.
    """

    def __init__(self, store: Store, source: RuleSource) -> None:
        limits = store.limits
        self.table = Table(
            grammar_layout.N_GRAMMAR_SLOTS,
            limits.max_grammar_bytes,
            grammar_layout.GRAMMAR_BLOCKS,
            grammar_layout.GRAMMAR_POOLS,
        )
        self.table.array[grammar_layout.MAX_ROWS] = min(limits.max_rows, MOST_ROWS - 1)
        self.table.array[grammar_layout.MAX_ITEMS] = limits.max_items
        self.table.array[grammar_layout.MAX_UNIQUE] = limits.max_unique_values
        self.table.array[grammar_layout.FEW_ITEMS] = FEW_ITEMS
        self.table.array[grammar_layout.MOST_LINKS] = MOST_LINKS
        if store.canonical_table is not None:
            self.table.array[grammar_layout.CANON] = store.canonical_table.address
            self.table.array[grammar_layout.TELLS_ENDS] = 1
        self._store = store
        self._source = source
        self._known_texts: dict[int, bytes] = {}
        self._last_texts: tuple[int, list[bytes]] = NO_TEXTS, []
        self._loaded = self._loading = source.sizes()
        self.start = self.run(engine.LOAD_RULES, data=source.whole())
        if self.start == NOTHING_DERIVED:
            raise UnsatisfiableSchema(
                "no document fulfils the grammar",
                help="look for contradictory bounds, or for a part that requires itself without end",
            )
        assert self.start != REFUSED
        self._brought = self.table.bytes_used
        self._least_room = limits.renew_grammar_bytes
        self._factor = 4 if source.is_growing else 2
        self.room = 0
        self.bring(0)

    def run(self, operation: int, a: int = 0, b: int = 0, data: npt.NDArray[np.int32] = _NO_DATA, c: int = 0) -> int:
        """Run an operation of `kernels.engine.build` on these tables; variants of rules are made when it asks for them.

        Raises
        ------
        LimitExceeded : a budget was spent; what had been built before stays valid.
        """
        result = self._store.run(operation, a, b, c, data, self.table)
        if result != engine.VARIANT_NEEDED:
            return result
        if active.meter is not None:
            return self._run_with_variants(operation, a, b, c, data)
        with metered(self._store.limits.max_step_work, "max_step_work"):
            return self._run_with_variants(operation, a, b, c, data)

    def _run_with_variants(self, operation: int, a: int, b: int, c: int, data: npt.NDArray[np.int32]) -> int:
        """Make the variants that an operation asks for, and run it again, until it asks for none."""
        result = engine.VARIANT_NEEDED
        n_made = 0
        while result == engine.VARIANT_NEEDED:
            n_made += 1
            if n_made > MOST_MADE:
                raise LimitExceeded(
                    f"one step needs more than {MOST_MADE} rules that are written on demand",
                    help="is a rule with a parameter left-recursive? Let it use itself at the end",
                )
            with self._store.lock:
                self._make_variant()
                if operation == engine.LOAD_RULES:
                    data = self._source.nothing()  # the rules are loaded, what misses is the first row
                result = self._store.run(operation, a, b, c, data, self.table)
        return result

    def _make_variant(self) -> None:
        """Have the variant made that the last operation of these tables asked for, and load it."""
        rule = int(self.table.array[grammar_layout.REQUESTED_RULE])
        texts = int(self.table.array[grammar_layout.REQUESTED_TEXTS])
        make_variant, make_late = self._source.make_variant, self._source.make_late
        made: int | None
        if texts == LATE:
            assert make_late is not None
            made = make_late(rule)
        else:
            assert make_variant is not None
            if texts != self._last_texts[0]:  # several rules are wanted without the same texts
                self._last_texts = texts, [self._text(number) for number in self._texts_in(texts)]
            made = make_variant(RuleId(rule), self._last_texts[1])
        self._load_more()
        if texts == LATE:
            assert made is not None
            self._store.run(engine.PUT_LATE, rule, made, grammar=self.table)
        else:
            self._store.run(engine.PUT_VARIANT, rule, texts, -1 if made is None else made, grammar=self.table)

    def _load_more(self) -> None:
        """Load the rules that were added. An interrupt may come after a load and before that is noted."""
        _, n_states, *_ = self._loading
        if n_states > self._loaded[1] and self.table.slots[grammar_layout.N_RTN_STATES] == n_states:
            self._loaded = self._loading
        sizes = self._source.sizes()
        if sizes != self._loaded:
            self._loading = sizes
            self._store.run(engine.LOAD_MORE, data=self._source.since(self._loaded), grammar=self.table)
            self._loaded = sizes

    def _texts_in(self, texts: int) -> list[int]:
        """Numbers of the texts in a set, see kernels/values/text_sets.py."""
        items = self._read_list(grammar_layout.TEXT_SETS, texts).tolist()
        numbers = []
        for place in range(FIRST_CHUNK, len(items), 2):
            words = self._read_list(grammar_layout.TEXT_CHUNKS, items[place + 1])
            bits = np.unpackbits(words.view(np.uint8), bitorder="little")
            numbers += (np.flatnonzero(bits) + (items[place] << CHUNK_BITS)).tolist()
        return numbers

    def _text(self, number: int) -> bytes:
        """A recorded value, arrays and objects with their parts (kernels/values/json_values.py)."""
        known = self._known_texts
        waiting = [] if number in known else [number]
        while waiting:
            items = self._read_list(grammar_layout.TEXTS, waiting[-1]).tolist()
            parts = items[1:] if items[0] in (json_values.ARRAY, json_values.OBJECT) else []
            missing = [part for part in parts if part not in known]
            waiting += missing
            if missing:
                continue
            if items[0] == json_values.ARRAY:
                text = b"[%s]" % b",".join(known[part] for part in parts)
            elif items[0] == json_values.OBJECT:
                members = zip(parts[::2], parts[1::2], strict=True)
                text = b"{%s}" % b",".join(b"%s:%s" % (known[name], known[value]) for name, value in members)
            else:
                text = bytes(items)
            known[waiting.pop()] = text
        return known[number]

    def _read_list(self, lists: int, number: int) -> npt.NDArray[np.int32]:
        items = _NO_DATA
        length = -1
        while length != len(items):
            items = np.zeros(max(length, 0), np.int32)
            length = self._store.run(engine.READ_LIST, lists, number, data=items, grammar=self.table)
        return items

    @cached_property
    def ends(self) -> Ends:
        """How sequences can end, for budgets."""
        from ..matching.finish import Ends

        return Ends(self, self._store.tokenizer, self._store.limits.max_compile_work)

    def bring(self, n_bytes: int) -> None:
        """Count what a sequence added while it moved here."""
        with self._store.lock:
            self._brought += n_bytes
            self.room = max(self._least_room, self._factor * self._brought)


class CompiledGrammar(GrammarValue, Shared):
    """What `Compiler` returns; make one `Matcher` a sequence from it.

    Attributes
    ----------
    rules : what is loaded; variants are written into them.
    own_warnings : what the frontend says.
    dead_ends : warnings of texts that cannot be completed, see dead_ends.py.
    n_cut : canonical masks so far in which a token is allowed whose continuation was not found in time.
    n_finished : sequences so far that met a limit and took the shortest known way to the end.
    n_renewals : how often new tables were begun.
    lowered : of grammars that were given as text, what was made of it.
    groups : of patterns with named groups, who finds what they match in a text.
    documents : what was taken from a registry for a JSON schema, with the digest of each then.
    count_stricter : how many variants of its rules so far allow less than they could.

    Raises
    ------
    GrammarError : there is no start rule, or nobody who makes the variants that the rules need.
    UnsatisfiableSchema : no document fulfils the rules.
    LimitExceeded : the rules are too large for the limits.
    """

    instead = "pickle the schema, pattern or text that it was compiled from, with its options, and compile it there"

    def __init__(
        self,
        store: Store,
        rules: Rules,
        warnings: Sequence[str] = (),
        ledger: Callable[[], list[Any]] = list,
        make_variant: MakeVariant | None = None,
        lowered: Lowered | None = None,
        grammar: Callable[[], Grammar] | None = None,
        groups: Callable[[bytes], Groups] | None = None,
        documents: Sequence[tuple[Any, Hashable]] = (),
        count_stricter: Callable[[], int] = int,
    ) -> None:
        if not 0 <= rules.start < len(rules.names):
            raise GrammarError(
                f"the start rule is number {rules.start} of {len(rules.names)}", help="declare it with Rules.rule"
            )
        if rules.needs_variants and make_variant is None:
            raise GrammarError(
                "the rules call for new values, but nothing makes variants of rules", help="give make_variant"
            )
        if rules.n_members > store.limits.max_tracked_names:
            raise LimitExceeded(
                f"a set of {rules.n_members} names is more than {store.limits.max_tracked_names} "
                "(limits.max_tracked_names)",
                help="track fewer names in one rule or raise the limit",
            )
        self.store = store
        self.n_cut = 0
        self.n_finished = 0
        self.n_renewals = 0
        self.behind_prefixes: dict[bytes, CompiledGrammar] = {}  # see compiling/prefix.py
        self.own_warnings = list(warnings)
        self.dead_ends: list[str] = []
        self.rules = rules
        self.lowered = lowered
        self.groups = groups
        self.documents = documents
        self.count_stricter = count_stricter
        self._make_grammar = grammar
        self._make_ledger = ledger
        self._source = RuleSource(rules, make_variant, None if lowered is None else lowered.make_late)
        self.generation = Generation(store, self._source)

    def is_current(self) -> bool:
        """Whether the documents of a registry that it was made from still say the same."""
        return all(digest_of(contents) == digest for contents, digest in self.documents)

    def generation_after(self, old: Generation) -> Generation:
        """The tables for sequences that leave `old`; made when there are none yet."""
        with self.store.lock:
            if self.generation is old:
                with unmetered():  # compiling was bounded
                    self.generation = Generation(self.store, self._source)
                self.n_renewals += 1
            return self.generation

    @property
    def table(self) -> Table:
        """The newest tables, for tests and tools."""
        return self.generation.table

    def new_generation(self) -> Generation:
        """Tables of its rules for whoever asks something of the grammar that no sequence needs."""
        return Generation(self.store, self._source)

    @property
    def warnings(self) -> list[str]:
        """What the author of the grammar should know, such as formats taken as annotations."""
        return self.own_warnings + self.dead_ends

    @property
    def ledger(self) -> list[Any]:
        """For JSON schemas: (JSON pointer, keyword, what became of it) for every keyword."""
        return list(self._ledger)

    @cached_property
    def _ledger(self) -> list[Any]:
        return self._make_ledger()

    @property
    def is_greedy(self) -> bool:
        """Whether its lexemes are as long as they can be, even where that loses texts."""
        return self.lowered is not None and not self.lowered.is_exact

    @cached_property
    def grammar(self) -> Grammar:
        """What it was compiled from, as expressions (llmask/grammar/expressions.py)."""
        if self.lowered is not None and self.lowered.grammar is not None:
            return self.lowered.grammar
        if self._make_grammar is not None:
            return self._make_grammar()
        return Grammar({"start": Inclusion(self.rules, "rules")})

    @cached_property
    def limited_rules(self) -> dict[int, int]:
        """By rule: after how many tokens its terminal is closed."""
        regions = {} if self.lowered is None else self.lowered.regions
        return {rule: said.max_tokens for rule, said in regions.items() if said.max_tokens is not None}

    @cached_property
    def temperatures(self) -> dict[int, float]:
        """By rule: the temperature of its terminal."""
        regions = {} if self.lowered is None else self.lowered.regions
        return {rule: said.temperature for rule, said in regions.items() if said.temperature is not None}

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the grammar was compiled for."""
        return self.store.tokenizer

    @property
    def takes_budget(self) -> bool:
        """Whether masks can be kept within a budget: not where they are canonical, nor with max_tokens of a rule."""
        return self.store.split_states is None and not self.limited_rules

    @property
    def n_edges(self) -> int:
        """Edges of its rules: what loading and predicting take time for."""
        return self._source.n_edges

    @property
    def bytes_used(self) -> int:
        """Memory of the grammar's own tables, in bytes."""
        return self.generation.table.bytes_used

    def statistics(self) -> dict[str, int]:
        """What its sequences have built so far, and where they were treated more strictly than the grammar is.

        Returns
        -------
        rows, configurations : in its newest tables.
        own_masks : different masks there that are kept whole; others are a mask of the store and a few tokens.
        bytes : memory of these tables.
        renewals : how often they were begun anew, see `Limits.renew_grammar_bytes`.
        cut : canonical masks in which a token is allowed whose continuation was not found in time.
        finished : sequences that met a limit and took the shortest known way to the end (`on_limit="finish"`).
        stricter : times that values which must not repeat were left out of more than had to be, to stay within a step.
        """
        return grammar_statistics(self)

    def matcher(self, prefix: bytes = b"", on_limit: str = "error") -> Matcher:
        """A new matcher at the beginning of a document.

        Parameters
        ----------
        prefix : bytes that the tokens have to spell before the document: what `Tokenizer.heal` gave back of the
            prompt. A token may spell the end of the prefix and go on into the document. With `canonical=True` both
            are compiled as one grammar, which is that of the matcher.
        on_limit : what a mask does that meets a limit. "error": `LimitExceeded`; the sequence can go on where a limit
            is raised. "finish": from there on only the shortest known way to the end is allowed, so that the document
            is valid; `LimitExceeded` where none is known. Canonical grammars, and those with max_tokens, know none.

        Raises
        ------
        LlmaskError : the prefix is no bytes, or a canonical grammar cannot be put behind one.
        LimitExceeded : put behind the prefix it is too large.
        """
        from ..matching.healing import PrefixedMatcher
        from ..matching.matcher import Matcher

        if not isinstance(prefix, bytes):
            raise LlmaskError(f"a prefix is bytes, not {type(prefix).__name__}", help="give what tokenizer.heal gave")
        if type(on_limit) is not str or on_limit not in ON_LIMIT:
            raise LlmaskError(f'on_limit is "error" or "finish", not {on_limit!r}', help="leave it out")
        matcher: Matcher
        if self.limited_rules:
            from ..matching.max_tokens import ClosingMatcher

            if prefix or self.store.split_states is not None:
                raise LlmaskError(
                    "a grammar with max_tokens takes no prefix, and its masks are not canonical",
                    help="take max_tokens out, or do without the other",
                )
            matcher = ClosingMatcher(self)
        elif self.store.split_states is not None:
            from ..canonical.matcher import CanonicalMatcher
            from .prefix import behind

            matcher = CanonicalMatcher(behind(prefix, self) if prefix else self)
        else:
            matcher = PrefixedMatcher(self, prefix) if prefix else Matcher(self)
        matcher.on_limit = on_limit
        return matcher


def warm(grammar: CompiledGrammar, document: bytes) -> None:
    """Build the masks on the way through a document, as far as the vocabulary and the limits let it come."""
    matcher = grammar.matcher()
    bitmask = allocate_bitmask(1, grammar.tokenizer.vocab_size)
    try:
        for byte in document:
            matcher.fill_bitmask(bitmask)
            matcher.accept_bytes(bytes([byte]))
    except LlmaskError:
        pass  # a vocabulary without these bytes, or tight limits: whoever needs them will be told
