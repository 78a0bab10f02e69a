"""A grammar that a compiler made: loaded rules, what they were compiled from, and what the frontend says of them.

In: a loaded grammar's parts. Out: matchers, grammars that are put together. Cost: see LoadedGrammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..arguments import as_flag, check_type
from ..errors import GrammarError, LlmaskError, UnsatisfiableSchema
from ..forks import cached_property
from ..frontends.json_schema.reading.options import SchemaOptions
from ..frontends.json_schema.reading.registries import Taken
from ..frontends.regex import shorten
from ..grammar.rules import MakeVariant, Rules, one_lexeme
from ..kernels.tables.grammar_layout import GRAMMAR
from ..matching.matcher import Matcher
from ..store.loaded_grammar import LoadedGrammar, Shared
from ..store.store import Store
from ..work import metered
from . import notices
from .recipes import Recipe
from .sources import choice_text, lexeme_as_grammar, pattern_text

if TYPE_CHECKING:
    from ..asking.sentences import Sentences
    from ..explaining.explain import Embedded
    from ..explaining.refusals import Source
    from ..frontends.regex.groups import Groups
    from ..grammar.expressions import Grammar, Lowered
    from ..matching.explanation import Explanation
    from ..matching.features import Feature

ON_LIMIT = ("error", "finish")
MOST_PREFIXES = 16  # whose canonical grammars are remembered


class MadeGrammar(LoadedGrammar, Shared):
    """Loaded rules with what the compiler knows of them; `CompiledGrammar` is how its users have it.

    Parameters
    ----------
    ledger : makes the ledger, when somebody asks.
    count_stricter : how many variants of its rules so far allow less than they could.
    others : as `LoadedGrammar` has them, with its attributes and errors.

    Attributes
    ----------
    own_warnings : what the frontend says.
    dead_ends : warnings of texts that cannot be completed, see asking/dead_ends.py.
    documents : what was taken from a registry for a JSON schema.
    recipe : what it was compiled from; None: rules that no `Compiler` made.

    A pickle holds what it was compiled from, and the tokenizer; it is compiled again where it arrives (stores.py).
    """

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
        documents: Sequence[Taken] = (),
        count_stricter: Callable[[], int] = int,
    ) -> None:
        super().__init__(store, rules, make_variant, lowered, grammar, groups)
        self.own_warnings = list(warnings)
        self.dead_ends: list[str] = []
        self.documents = documents
        self.recipe: Recipe | None = None
        self._count_stricter = count_stricter
        self._make_ledger = ledger
        self._after_prefixes: dict[bytes, MadeGrammar] = {}

    @cached_property
    def is_json(self) -> bool:
        """Whether its documents are JSON: it was made from a JSON schema, or is a union of such grammars."""
        return self.recipe is not None and self.recipe.is_json()

    @property
    def lead(self) -> bytes:
        """See `LoadedGrammar`."""
        return b"" if self.recipe is None else self.recipe.lead

    @property
    def warnings(self) -> list[str]:
        """See `CompiledGrammar.warnings`."""
        return self.own_warnings + self.dead_ends

    @cached_property
    def ledger(self) -> list[Any]:
        """See `CompiledGrammar.ledger`."""
        return self._make_ledger()

    def explained(self, sequence: Any, what: Any) -> Explanation:
        """As `LoadedGrammar.explained`."""
        from ..explaining.explain import explanation_of

        return explanation_of(sequence, self.embedded(), what)

    def places(self, document: bytes) -> list[str]:
        """As `LoadedGrammar.places`."""
        from ..explaining.explain import places_in

        source = self._schema()
        return [] if source is None else places_in(source, document)

    def dotted_rules(self, sequence: Any) -> list[str]:
        """As `LoadedGrammar.dotted_rules`."""
        from ..explaining.explain import dotted_rules

        recipe = self.recipe
        if recipe is None or not isinstance(recipe.source, str):
            return dotted_rules(sequence)
        return dotted_rules(sequence, recipe.kind, recipe.source)

    def embedded(self) -> list[Embedded]:
        """The schemas of the JSON in its texts: its own, or what a structural tag holds; tools are such a tag."""
        from ..explaining.explain import Embedded
        from ..explaining.refusals import Source
        from .sources import schemas_in_tag, tag_of_tools

        own, recipe = self._schema(), self.recipe
        if own is not None:
            return [Embedded(b"", own)]
        if recipe is None or recipe.kind not in ("structural_tag", "tools"):
            return []
        is_tag = recipe.kind == "structural_tag"
        tag = recipe.source if is_tag else tag_of_tools(self.tokenizer, recipe.source, **recipe.options)[0]
        options = SchemaOptions(limits=self.store.limits)
        return [
            Embedded(begin, Source(self.store, schema, options), style) for begin, schema, style in schemas_in_tag(tag)
        ]

    def _schema(self) -> Source | None:
        """The schema that its documents fulfil, if it was made from one."""
        from ..explaining.refusals import Source

        recipe = self.recipe
        if recipe is not None and recipe.lead:
            recipe = recipe.parts[1]
        if recipe is None or recipe.kind != "json_schema":
            return None
        return Source(self.store, recipe.source, recipe.options)

    @cached_property
    def sentences(self) -> Sentences:
        """What makes sentences of it."""
        from ..asking.sentences import Sentences

        return Sentences(self.store, self.own_rules, bool(self.limited_rules))

    def __str__(self) -> str:
        """See `CompiledGrammar`."""
        return str(self.grammar)

    def joined(self, what: str, *others: MadeGrammar, **options: Any) -> MadeGrammar:
        """What the grammar and others, if there are any, are put together to."""
        for other in others:
            if other.store is not self.store:
                raise GrammarError(
                    "the grammars belong to different compilers, or the compiler has begun a new store between them",
                    help="compile both with one compiler, one after the other",
                )
        with metered(self.store.limits.max_compile_work, "max_compile_work"):
            grammar = put_together(self.store, what, [self, *others], **options)
            grammar.build_first_mask()
        recipes = [part.recipe for part in (self, *others)]
        known = tuple(recipe for recipe in recipes if recipe is not None)
        if len(known) == len(recipes):
            grammar.recipe = Recipe(what, options=options or None, parts=known)
        if grammar.dead_ends:
            notices.tell([], grammar.dead_ends, self.store.limits)
        return grammar

    def save(self) -> bytes:
        """See `CompiledGrammar.save`."""
        from .recipes import saved

        return saved(self.recipe, self.tokenizer.digest, self.store.is_canonical)

    def statistics(self) -> dict[str, int]:
        """See `CompiledGrammar.statistics`."""
        table = self.generation.table
        slots = table.slots
        return {
            "rows": table.view.kernels.count,
            "configurations": slots[GRAMMAR.n_configurations],
            "own_masks": slots[GRAMMAR.n_own_masks],
            "bytes": self.bytes_used,
            "renewals": self.n_renewals,
            "cut": self.n_cut,
            "finished": self.n_finished,
            "stricter": self._count_stricter(),
        }

    def matcher(
        self,
        prefix: bytes = b"",
        on_limit: str = "error",
        stop_tokens: Iterable[int] | None = None,
        terminate_at_end: bool = False,
    ) -> Matcher:
        """See `CompiledGrammar.matcher`."""
        check_type(prefix, bytes, "a prefix is bytes", "give what tokenizer.heal gave")
        if type(on_limit) is not str or on_limit not in ON_LIMIT:
            raise LlmaskError(f'on_limit is "error" or "finish", not {on_limit!r}', help="leave it out")
        is_canonical, is_limited = self.store.is_canonical, bool(self.limited_rules)
        grammar = self
        features: list[Feature] = []
        if stop_tokens is not None:
            from ..matching.stops import Stops

            stops = Stops(stop_tokens, self.store.tokenizer)
            features += [stops] if stops.stop_tokens else []
        if prefix and is_canonical:
            grammar = self._after_prefix(prefix)
        elif prefix:
            from ..matching.healing import Healing

            features.append(Healing(prefix))
        if is_limited:
            from ..matching.max_tokens import Closing

            features.append(Closing())
        if is_canonical:
            if features:
                raise LlmaskError(
                    f"{'max_tokens' if is_limited else 'stop tokens'} and canonical masks do not go together",
                    help="compile without canonical=True; ends of every sequence may be given to the tokenizer as eos",
                )
            from ..canonical.matcher import Canonical

            features.append(Canonical(grammar))
        return Matcher(grammar, tuple(features), on_limit, as_flag(terminate_at_end, "terminate_at_end"))

    def _after_prefix(self, prefix: bytes) -> MadeGrammar:
        """The grammar of a prefix and a document after it, for canonical masks: both are read as one.

        What is canonical after a prefix depends on how the prefix was split, and a token may cross its end. So the
        tokens that spell it are looked ahead of like all others. A matcher that makes masks inside of the prefix
        itself, as matching/healing.py does, would have to search after some ten thousand tokens that cross its end.
        """
        known = self._after_prefixes  # several threads may be here: what one remembers another may drop
        both = known.get(prefix)
        if both is None:
            try:
                both = literal_grammar(self.store, prefix).joined("concat", self)
            except GrammarError as error:
                raise LlmaskError(
                    f"this canonical grammar takes no prefix: {error.message}",
                    help="compile without canonical=True, or drop the prefix",
                ) from error
            for oldest in list(known)[: max(len(known) + 1 - MOST_PREFIXES, 0)]:
                known.pop(oldest, None)
            known[prefix] = both
        return both


def put_together(store: Store, what: str, parts: Sequence[MadeGrammar], **options: Any) -> MadeGrammar:
    """The grammar that is called `what`, "union", "concat", "optional" or "repeat", of grammars of a store."""
    from ..asking.algebra import is_any_greedy, joined

    lowered = joined(store.nodes, parts, what, **options)
    said = [*(warning for part in parts for warning in part.own_warnings), *lowered.warnings]
    grammar = MadeGrammar(store, lowered.rules, list(dict.fromkeys(said)), lowered=lowered)
    if is_any_greedy(store.nodes, lowered):
        from ..asking.dead_ends import dead_end_warnings

        grammar.dead_ends = dead_end_warnings(grammar)
    return grammar


def literal_grammar(store: Store, text: bytes) -> MadeGrammar:
    """A grammar of one document."""
    grammar = lexeme_grammar(store, store.nodes.literal(text), lambda: choice_text([text.decode("utf-8", "replace")]))
    grammar.recipe = Recipe("literal", text)
    return grammar


def lexeme_grammar(
    store: Store,
    node: int,
    text: Callable[[], str],
    groups: Callable[[bytes], Groups] | None = None,
    warnings: list[str] | None = None,
) -> MadeGrammar:
    """A grammar whose documents are the strings of one regex node, how that is written, and who finds its groups."""
    store.nodes.is_empty(node)  # is asked when the rules are loaded, and would hold others up there
    return MadeGrammar(
        store,
        one_lexeme(node, store.nodes.is_nullable(node)),
        warnings or (),
        grammar=partial(lexeme_as_grammar, node, text),
        groups=groups,
    )


def pattern_grammar(store: Store, node: int, pattern: str, is_search: bool) -> MadeGrammar:
    """A grammar of the texts that a pattern matches; its captures are what its named groups match."""
    groups = None
    if "(?P<" in pattern:
        from ..frontends.regex.groups import named_groups

        groups = partial(named_groups, pattern, is_search)
    if store.nodes.is_empty(node):
        from ..frontends.regex.contradictions import no_match_help

        raise UnsatisfiableSchema(
            "no text matches the pattern", f"the pattern {shorten(pattern)}", no_match_help(pattern)
        )
    from ..frontends.regex.contradictions import posix_class

    hint = posix_class(pattern)
    warnings = [] if hint is None else [f"the pattern {hint}"]
    return lexeme_grammar(store, node, partial(pattern_text, pattern, is_search), groups, warnings)
