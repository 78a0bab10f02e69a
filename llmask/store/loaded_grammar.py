"""Rules that are loaded into a store: what sequences know of their grammar.

`CompiledGrammar` (llmask/compiling/compiled_grammar.py) is how users have it. It is immutable and shared by all
sequences; what it derives lazily is a cache.

In: `Rules` of a frontend. Out: the tables of its sequences. Cost: about 20 us and 0.1 us an edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import GrammarError, LimitExceeded, LlmaskError
from ..forks import cached_property
from ..grammar.rules import MakeVariant, Rules, Terminal
from ..kernels.tables.operations import Operation
from ..work import active, in_parts, metered, unmetered
from .generation import Generation, RuleSource
from .store import Store

if TYPE_CHECKING:
    from ..frontends.regex.groups import Groups
    from ..grammar.expressions import Grammar, Lowered
    from ..tokenizer.tokenizer import Tokenizer


class Shared:
    """Base of what all users share and nobody changes: a copy is the object itself.

    So what holds one, a request or a processor, can be copied whole. Pickles hold what such objects were made from
    (compiling/stores.py).
    """

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class LoadedGrammar:
    """Rules in a store.

    Parameters
    ----------
    make_variant : who writes variants of rules, where they call for new values.
    lowered : of grammars that were given as text, what was made of it.
    grammar : makes the expressions that it was compiled from, where they are not in `lowered`.
    groups : of patterns with named groups, who finds what they match in a text.

    Attributes
    ----------
    own_rules : what is loaded; variants are written into them.
    generation : the newest tables.
    n_cut : canonical masks so far in which a token is allowed whose continuation was not found in time.
    n_finished : sequences so far that met a limit and took the shortest known way to the end.
    n_renewals : how often new tables were begun.

    Raises
    ------
    GrammarError : there is no start rule, or nobody who makes the variants that the rules need.
    UnsatisfiableSchema : no document fulfils the rules.
    LimitExceeded : the rules are too large for the limits.
    """

    def __init__(
        self,
        store: Store,
        rules: Rules,
        make_variant: MakeVariant | None = None,
        lowered: Lowered | None = None,
        grammar: Callable[[], Grammar] | None = None,
        groups: Callable[[bytes], Groups] | None = None,
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
        self.own_rules = rules
        self.lowered = lowered
        self.groups = groups
        self.n_cut = 0
        self.n_finished = 0
        self.n_renewals = 0
        self._make_grammar = grammar
        self._source = RuleSource(rules, make_variant, None if lowered is None else lowered.make_late)
        self.generation = Generation(store, self._source)

    @property
    def _loaded(self) -> LoadedGrammar:
        """The grammar itself: a `Matcher` may be given a compiled grammar or what is loaded of it."""
        return self

    def generation_after(self, old: Generation) -> Generation:
        """The tables for sequences that leave `old`; they are made for the first that asks."""
        with self.store.lock:
            if self.generation is old:
                with unmetered():  # compiling was bounded
                    self.generation = self.new_generation()
                self.n_renewals += 1
            return self.generation

    def new_generation(self) -> Generation:
        """Tables of its rules for whoever asks something of the grammar that no sequence needs."""
        return Generation(self.store, self._source)

    def build_first_mask(self) -> None:
        """Where grammars come from strangers, have the first mask: what cannot begin is refused while it compiles."""
        limits = self.store.limits
        if limits.are_for_strangers:
            meter, run = active.meter, self.generation.run
            if meter is not None and meter.left >= limits.max_step_work:
                in_parts(lambda: run(Operation.BUILD_MASK, self.generation.start))
            else:
                with metered(limits.max_step_work, "max_step_work"):
                    run(Operation.BUILD_MASK, self.generation.start)

    @property
    def is_json(self) -> bool:
        """Whether its sentences are JSON documents, so that sequences can tell the value so far."""
        return False

    @property
    def lead(self) -> bytes:
        """What comes before the document itself in every sentence: the prefix of a canonical grammar."""
        return b""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that the grammar was compiled for."""
        return self.store.tokenizer

    @cached_property
    def grammar(self) -> Grammar:
        """What it was compiled from, as expressions (llmask/grammar/expressions.py)."""
        if self.lowered is not None and self.lowered.grammar is not None:
            return self.lowered.grammar
        if self._make_grammar is not None:
            return self._make_grammar()
        from ..grammar.expressions import Grammar, Inclusion

        return Grammar({"start": Inclusion(self.own_rules, "rules")})

    def rules(self) -> Rules:
        """See `CompiledGrammar.rules`."""
        from ..grammar.expressions import Lexeme, leaves

        grammar = self.grammar
        found = [leaf for rule in grammar.rules.values() for leaf in leaves(rule) if isinstance(leaf, Lexeme)]
        terminals = [Terminal(one.node, one.text, one.name) for one in (*found, *grammar.ignored)]
        return self.own_rules.readable(self.store.nodes.text, terminals)

    def explained(self, sequence: Any, what: Any) -> Any:
        """Why a token id, bytes or a text cannot come next in one of its sequences: an `Explanation`.

        Raises
        ------
        LlmaskError : a `Compiler` did not make it.
        """
        raise LlmaskError("rules of one's own are not explained", help="compile a schema or a text with a Compiler")

    def places(self, document: bytes) -> list[str]:
        """JSON pointers of the schemas that hold for the value in progress of a document, if it is one of a schema."""
        return []

    def dotted_rules(self, sequence: Any) -> list[str]:
        """The rules that one of its sequences is in, each with a dot where it is."""
        return []

    @property
    def is_greedy(self) -> bool:
        """Whether its lexemes are as long as they can be, even where that loses texts."""
        return self.lowered is not None and not self.lowered.is_exact

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
    def takes_budget(self) -> bool:
        """Whether masks can be kept within a budget: not where they are canonical, nor with max_tokens of a rule."""
        return not self.store.is_canonical and not self.limited_rules

    @property
    def n_edges(self) -> int:
        """Edges of its rules: what loading and predicting take time for."""
        return self._source.n_edges

    @property
    def bytes_used(self) -> int:
        """Memory of the grammar's own tables, in bytes."""
        return self.generation.table.bytes_used + self.generation.kept_bytes
