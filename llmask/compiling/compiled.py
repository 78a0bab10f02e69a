"""A compiled grammar: what `Compiler` returns, and what can be asked of it.

In: a loaded grammar's parts. Out: `matcher()`, other grammars, sentences, statistics. Cost: see LoadedGrammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..arguments import as_flag
from ..errors import GrammarError, LlmaskError, UnsatisfiableSchema
from ..forks import cached_property
from ..frontends.json_schema.reading.options import SchemaOptions
from ..frontends.json_schema.reading.registries import Taken
from ..frontends.regex import shorten
from ..grammar.lowered import Lowered
from ..grammar.rules import MakeVariant, Rules, one_lexeme
from ..kernels.tables.grammar_layout import GRAMMAR
from ..matching.matcher import Matcher
from ..matching.sequence import ALL_TAKEN
from ..store.copying import Shared
from ..store.loaded_grammar import LoadedGrammar
from ..store.store import Store
from ..work import metered
from . import notices
from .forms import choice_text, lexeme_as_grammar, pattern_text
from .recipe import Recipe

if TYPE_CHECKING:
    from ..explaining.explain import Embedded
    from ..explaining.refusals import Source
    from ..frontends.regex.groups import Groups
    from ..grammar.expressions import Grammar
    from ..matching.explanation import Explanation
    from ..matching.features import Feature
    from .ambiguity import Ambiguity
    from .sentences import Sentences
    from .warming import Warmed

ON_LIMIT = ("error", "finish")
MOST_PREFIXES = 16  # whose canonical grammars are remembered


class CompiledGrammar(LoadedGrammar, Shared):
    """What `Compiler` returns; make one `Matcher` a sequence from it.

    Parameters
    ----------
    ledger : makes the ledger, when somebody asks.
    count_stricter : how many variants of its rules so far allow less than they could.
    others : as `LoadedGrammar` has them, with its attributes and errors.

    Attributes
    ----------
    own_warnings : what the frontend says.
    dead_ends : warnings of texts that cannot be completed, see dead_ends.py.
    documents : what was taken from a registry for a JSON schema.
    recipe : what it was compiled from; None: rules that no `Compiler` made.

    A pickle holds what it was compiled from, and the tokenizer; it is compiled again where it arrives (pickles.py).
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
        self._behind_prefixes: dict[bytes, CompiledGrammar] = {}

    def is_current(self) -> bool:
        """Whether the documents of a registry that it was made from still say the same."""
        return all(document.is_unchanged() for document in self.documents)

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
        """What the author of the grammar should know, such as formats taken as annotations."""
        return self.own_warnings + self.dead_ends

    @property
    def ledger(self) -> list[Any]:
        """For JSON schemas: (JSON pointer, keyword, what became of it) for every keyword."""
        return list(self._ledger)

    @cached_property
    def _ledger(self) -> list[Any]:
        return self._make_ledger()

    def union(self, other: CompiledGrammar) -> CompiledGrammar:
        """What either grammar derives.

        Raises
        ------
        GrammarError : `other` is no grammar of the same compiler, one of them compares values (`uniqueItems`) or has
            captures, `max_tokens`, temperatures or parameters, or lexemes meet that cannot be split.
        LimitExceeded : it is too large.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> grammar = compiler.json_object().union(compiler.choice(["none"]))
        """
        return self._joined("union", other)

    def concat(self, other: CompiledGrammar) -> CompiledGrammar:
        """A sentence of this grammar and then one of `other`.

        Raises
        ------
        GrammarError, LimitExceeded : as `union` has them.
        """
        return self._joined("concat", other)

    def optional(self) -> CompiledGrammar:
        """A sentence of this grammar, or the empty text.

        Raises
        ------
        GrammarError, LimitExceeded : as `union` has them.
        """
        return self._joined("optional")

    def repeat(self, low: int = 0, high: int | None = None) -> CompiledGrammar:
        """`low` to `high` sentences of this grammar in a row (None: without end).

        Raises
        ------
        GrammarError : the bounds are no numbers in order; else as `union` has them.
        LimitExceeded : it is too large.
        """
        return self._joined("repeat", low=low, high=high)

    def accepts(self, text: str | bytes) -> bool:
        """Whether a text is a whole document of the grammar, as it is spelled; what it refuses raises nothing.

        Only bytes are read: a document that needs a named token has none to show. With `canonical=True`, and of rules
        with `max_tokens`, it is what the grammar derives, in whatever tokens.

        Raises
        ------
        LimitExceeded : deciding needs more work than the limits allow.
        LlmaskError : the text is neither str nor bytes.

        Examples
        --------
        >>> import llmask
        >>> grammar = llmask.Compiler(llmask.Tokenizer.default()).json_schema({"type": "integer", "minimum": 1})
        >>> grammar.accepts("12"), grammar.accepts("1x"), grammar.accepts("")
        (True, False, False)
        """
        if isinstance(text, str):
            try:
                text = text.encode()
            except UnicodeEncodeError:  # a lone surrogate is in no document
                return False
        if not isinstance(text, (bytes, bytearray, memoryview)):
            raise LlmaskError(f"a text is str or bytes, not {type(text).__name__}", help="give the document as a str")
        sequence = Matcher(self)._sequence
        return sequence.take_bytes(bytes(text)) == ALL_TAKEN and sequence.is_accepting()

    def explain(self, document: str | bytes) -> Explanation:
        """Why a text is no document of the grammar; false where it is one (`accepts`).

        Returns
        -------
        Which keyword of a JSON schema refuses it, where, and what may come instead; of other grammars the rules that
        are being read. `str` is a text for people.

        Raises
        ------
        LimitExceeded : deciding whether it is one needs more work than the limits allow.
        LlmaskError : the text is neither str nor bytes.

        Examples
        --------
        >>> import llmask
        >>> grammar = llmask.Compiler(llmask.Tokenizer.default()).json_schema({"items": {"minimum": 1}})
        >>> print(grammar.explain("[2, 0]"))
        """
        if not isinstance(document, (str, bytes, bytearray, memoryview)):
            raise LlmaskError(
                f"a document is str or bytes, not {type(document).__name__}", help="give the document as a str"
            )
        data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else bytes(document)
        from ..explaining.explain import explanation_of_document

        return explanation_of_document(Matcher(self)._sequence, self._embedded(), data)

    def explained(self, sequence: Any, what: Any) -> Explanation:
        """As `LoadedGrammar.explained`."""
        from ..explaining.explain import explanation_of

        return explanation_of(sequence, self._embedded(), what)

    def places(self, document: bytes) -> list[str]:
        """As `LoadedGrammar.places`."""
        from ..explaining.explain import places_in

        source = self._schema()
        return [] if source is None else places_in(source, document)

    def dotted_rules(self, sequence: Any) -> list[str]:
        """As `LoadedGrammar.dotted_rules`."""
        from ..explaining.rules import dotted_rules

        recipe = self.recipe
        if recipe is None or not isinstance(recipe.source, str):
            return dotted_rules(sequence)
        return dotted_rules(sequence, recipe.kind, recipe.source)

    def _embedded(self) -> list[Embedded]:
        """The schemas of the JSON in its texts: its own, or those of a structural tag, of which tools are one."""
        from ..explaining.explain import Embedded
        from ..explaining.refusals import Source
        from .tags import schemas_in_tag, tag_of_tools

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

    def sample(self, seed: int | None = None, max_bytes: int | None = None) -> bytes:
        """A random sentence of at most `max_bytes`, one that `matcher` accepts; the same for the same seed.

        Without a seed it is another one each time; without a bound it has at most 1,000 bytes, or as many as it takes.

        Raises
        ------
        LimitExceeded : no sentence was found that is so short.
        LlmaskError : an argument is no whole number, the grammar has `max_tokens`, or no sentence without a token that
            it names.

        Examples
        --------
        >>> import llmask
        >>> llmask.Compiler(llmask.Tokenizer.default()).regex("[a-c]{3}").sample(1)
        b'ccc'
        """
        if seed is None:
            import secrets

            seed = secrets.randbits(32)
        for name, number in (("seed", seed), ("max_bytes", 0 if max_bytes is None else max_bytes)):
            if type(number) is not int or number < 0:
                raise LlmaskError(f"{name} is a whole number, not {number!r}", help="for example sample(1)")
        return self._sentences.sample_of(self, seed, max_bytes)

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes.

        Raises
        ------
        LimitExceeded : the search for it takes too long.
        LlmaskError : as `sample` has it.
        """
        return self._sentences.shortest_of(self)

    def ambiguity(self) -> Ambiguity | None:
        """A sentence with two derivations, where a bounded search finds one; None says nothing (ambiguity.py).

        Rules that derive nothing or are never used are in `warnings`.

        Returns
        -------
        The sentence, bytes; `str` of it shows both derivations, and `trees` are these two as texts.

        Examples
        --------
        >>> import llmask
        >>> llmask.Compiler(llmask.Tokenizer.default()).gbnf('root ::= root "+" root | "1"').ambiguity()
        b'1+1+1'
        """
        from .ambiguity import ambiguous_sentence

        return ambiguous_sentence(self)

    def warm(self, seconds: float | str | None = None, masks: int | None = None) -> Warmed:
        """Build masks before they are asked for, by exploring what is likely to be written (warming.py).

        Tells the share of what it found that is `explored`, and how many masks that took (`n_masks`). Without bounds it
        ends in 10 ms mostly, in seconds at most. Nothing is explored of parametric rules, named tokens, `max_tokens`.

        Parameters
        ----------
        seconds, masks : after which it ends; getting ready (5 us an edge of the rules) may take longer. "documents" in
            place of seconds: a document with all options is read, and one with what must be there (documents.py); half
            a millisecond mostly, three at most.

        Raises
        ------
        LlmaskError : an argument is no number.

        Examples
        --------
        >>> import llmask
        >>> grammar = llmask.Compiler(llmask.Tokenizer.default()).json_schema({"enum": ["red", "green"]})
        >>> grammar.warm().explored
        1.0
        """
        from .warming import warmed

        return warmed(self, self.own_rules, self.is_json, seconds, masks)

    @cached_property
    def _sentences(self) -> Sentences:
        from .sentences import Sentences

        return Sentences(self.store, self.own_rules, bool(self.limited_rules))

    def __str__(self) -> str:
        """A readable normal form in Lark's notation (llmask/grammar/expressions.py)."""
        return str(self.grammar)

    def __repr__(self) -> str:
        kind = "rules" if self.recipe is None else self.recipe.kind
        n_warnings = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"CompiledGrammar({kind}, {len(self.own_rules.names)} rules{n_warnings}, {self.tokenizer!r})"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from .notebook import grammar_view

        return grammar_view(repr(self), self.warnings, self.ledger, len(self.own_rules.state_rules), self.rules)

    def _joined(self, what: str, *others: Any, **options: Any) -> CompiledGrammar:
        """What the grammar and others, if there are any, are put together to."""
        for other in others:
            if not isinstance(other, CompiledGrammar):
                raise GrammarError(
                    f"{what} takes what Compiler returns, not {type(other).__name__}", help="compile it first"
                )
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
        """What it was compiled from, for `Compiler.load`: source, options and a digest of the tokenizer.

        The tokenizer itself is not in there, and nothing that runs: data of strangers can be loaded.

        Raises
        ------
        LlmaskError : a schema holds what JSON has no form for, or a document of its registry has changed.
        LimitExceeded : it was put together from too many grammars, or a schema is too large as text.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> data = compiler.json_schema({"type": "integer"}).save()
        >>> grammar = compiler.load(data)
        """
        from .saved import saved

        return saved(self.recipe, self.tokenizer.digest, self.store.is_canonical)

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
        """A new matcher at the beginning of a document.

        Parameters
        ----------
        prefix : bytes that the tokens have to spell before the document: what `Tokenizer.heal` gave back of the
            prompt. A token may spell the end of the prefix and go on into the document. With `canonical=True` both
            are compiled as one grammar, which is that of the matcher.
        on_limit : what a mask does that meets a limit. "error": `LimitExceeded`; the sequence can go on where a limit
            is raised. "finish": from there on only the shortest known way to the end is allowed, so that the document
            is valid; `LimitExceeded` where none is known. Canonical grammars, and those with max_tokens, know none.
        stop_tokens : ids that end this sequence besides the vocabulary's ends of sequence, allowed only where it may
            end, also if they have a text. Where one has a text, or the grammar names tokens, no way to the end is
            known: no budgets, no `finish`. They do not go with canonical masks.
        terminate_at_end : `Matcher.is_terminated` is true as soon as nothing but the end may follow; the end of
            sequence may still be accepted.

        Raises
        ------
        LlmaskError : the prefix is no bytes, or a canonical grammar cannot be put behind one; stop tokens are no ids of
            the vocabulary; masks are canonical, and there are stop tokens, or the grammar has max_tokens.
        LimitExceeded : put behind the prefix it is too large.
        """
        if not isinstance(prefix, bytes):
            raise LlmaskError(f"a prefix is bytes, not {type(prefix).__name__}", help="give what tokenizer.heal gave")
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
            grammar = self._behind(prefix)
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

    def _behind(self, prefix: bytes) -> CompiledGrammar:
        """The grammar of a prefix and a document after it, for canonical masks: both are read as one.

        What is canonical after a prefix depends on how the prefix was split, and a token may cross its end. So the
        tokens that spell it are looked ahead of like all others. A matcher that makes masks inside of the prefix
        itself, as matching/healing.py does, would have to search after some ten thousand tokens that cross its end.
        """
        known = self._behind_prefixes  # several threads may be here: what one remembers another may drop
        both = known.get(prefix)
        if both is None:
            try:
                both = literal_grammar(self.store, prefix).concat(self)
            except GrammarError as error:
                raise LlmaskError(
                    f"this canonical grammar takes no prefix: {error.message}",
                    help="compile without canonical=True, or drop the prefix",
                ) from error
            for oldest in list(known)[: max(len(known) + 1 - MOST_PREFIXES, 0)]:
                known.pop(oldest, None)
            known[prefix] = both
        return both


def put_together(store: Store, what: str, parts: Sequence[CompiledGrammar], **options: Any) -> CompiledGrammar:
    """The grammar that is called `what`, "union", "concat", "optional" or "repeat", of grammars of a store."""
    from .algebra import is_any_greedy, joined

    lowered = joined(store.nodes, parts, what, **options)
    said = [*(warning for part in parts for warning in part.own_warnings), *lowered.warnings]
    grammar = CompiledGrammar(store, lowered.rules, list(dict.fromkeys(said)), lowered=lowered)
    if is_any_greedy(store.nodes, lowered):
        from .dead_ends import dead_end_warnings

        grammar.dead_ends = dead_end_warnings(grammar)
    return grammar


def literal_grammar(store: Store, text: bytes) -> CompiledGrammar:
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
) -> CompiledGrammar:
    """A grammar whose documents are the strings of one regex node, how that is written, and who finds its groups."""
    store.nodes.is_empty(node)  # is asked when the rules are loaded, and would hold others up there
    return CompiledGrammar(
        store,
        one_lexeme(node, store.nodes.is_nullable(node)),
        warnings or (),
        grammar=partial(lexeme_as_grammar, node, text),
        groups=groups,
    )


def pattern_grammar(store: Store, node: int, pattern: str, is_search: bool) -> CompiledGrammar:
    """A grammar whose documents are those of a pattern; its captures are what its named groups match."""
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
