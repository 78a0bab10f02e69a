"""A compiled grammar as its users have it: what `Compiler` returns, and what can be asked of it.

In: a grammar that was made. Out: matchers, other grammars, sentences, answers. Cost: see each method.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..arguments import BYTES, check_type
from ..errors import GrammarError, LlmaskError
from ..grammar.rules import Rules
from ..matching.matcher import Matcher
from ..matching.sequence import ALL_TAKEN
from ..store.loaded_grammar import Shared
from ..tokenizer.tokenizer import Tokenizer
from .made_grammar import MadeGrammar

if TYPE_CHECKING:
    from ..asking.ambiguity import Ambiguity
    from ..asking.warming import Warmed
    from ..matching.explanation import Explanation


MOST_STATES = 2000  # of rules that a notebook shows


class CompiledGrammar(Shared):
    """What `Compiler` returns; make one `Matcher` a sequence from it.

    It is immutable and may be shared by threads. A pickle holds what it was compiled from, and the tokenizer; it is
    compiled again where it arrives.

    Parameters
    ----------
    loaded : what the engine has of it.
    """

    def __init__(self, loaded: MadeGrammar) -> None:
        self._loaded = loaded

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: what was loaded, which its matchers in the same pickle share."""
        return CompiledGrammar, (self._loaded,)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that it was compiled for."""
        return self._loaded.tokenizer

    @property
    def warnings(self) -> list[str]:
        """What the author of the grammar should know, such as formats taken as annotations."""
        return self._loaded.warnings

    @property
    def ledger(self) -> list[Any]:
        """For JSON schemas: (JSON pointer, keyword, what became of it) for every keyword."""
        return list(self._loaded.ledger)

    @property
    def takes_budget(self) -> bool:
        """Whether masks can be kept within a budget: not where they are canonical, nor with max_tokens of a rule."""
        return self._loaded.takes_budget

    @property
    def bytes_used(self) -> int:
        """Memory of the grammar's own tables, in bytes."""
        return self._loaded.bytes_used

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
        LlmaskError : the prefix is no bytes, or a canonical grammar cannot follow one; stop tokens are no ids of
            the vocabulary; masks are canonical, and there are stop tokens, or the grammar has max_tokens.
        LimitExceeded : with the prefix it is too large.
        """
        return self._loaded.matcher(prefix, on_limit, stop_tokens, terminate_at_end)

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
        return CompiledGrammar(self._loaded.joined("union", _loaded_of("union", other)))

    def concat(self, other: CompiledGrammar) -> CompiledGrammar:
        """A sentence of this grammar and then one of `other`.

        Raises
        ------
        GrammarError, LimitExceeded : as `union` has them.
        """
        return CompiledGrammar(self._loaded.joined("concat", _loaded_of("concat", other)))

    def optional(self) -> CompiledGrammar:
        """A sentence of this grammar, or the empty text.

        Raises
        ------
        GrammarError, LimitExceeded : as `union` has them.
        """
        return CompiledGrammar(self._loaded.joined("optional"))

    def repeat(self, low: int = 0, high: int | None = None) -> CompiledGrammar:
        """`low` to `high` sentences of this grammar in a row (None: without end).

        Raises
        ------
        GrammarError : the bounds are no numbers in order; else as `union` has them.
        LimitExceeded : it is too large.
        """
        return CompiledGrammar(self._loaded.joined("repeat", low=low, high=high))

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
        check_type(text, BYTES, "a text is str or bytes", "give the document as a str")
        sequence = Matcher(self._loaded)._sequence
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
        check_type(document, (str, *BYTES), "a document is str or bytes", "give the document as a str")
        data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else bytes(document)
        from ..explaining.explain import explanation_of_document

        return explanation_of_document(Matcher(self._loaded)._sequence, self._loaded.embedded(), data)

    def rules(self) -> Rules:
        """Its rules; `str` of them is a text for people (llmask/grammar/notation.py).

        Of grammars whose rules are written while sequences are read, these are all that are written so far. A schema
        that compares values (`uniqueItems`) has a rule more for each set of values that a sequence had to leave out:
        `new(a)` means `a` and all of these. A rule with a parameter has the states for those values of it that a
        sequence has reached: `late(a::3)` with an arrow, and without one where nothing is written yet.

        Examples
        --------
        >>> import llmask
        >>> compiler = llmask.Compiler(llmask.Tokenizer.default())
        >>> print(compiler.gbnf('root ::= "a" root "b" | [0-9]+').rules())
        root: "a" root "b" | /[0-9]+/
        """
        return self._loaded.rules()

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
        return self._loaded.sentences.sample_of(self._loaded, seed, max_bytes)

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes.

        Raises
        ------
        LimitExceeded : the search for it takes too long.
        LlmaskError : as `sample` has it.
        """
        return self._loaded.sentences.shortest_of(self._loaded)

    def ambiguity(self) -> Ambiguity | None:
        """A sentence with two derivations, where a bounded search finds one; None says nothing (asking/ambiguity.py).

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
        from ..asking.ambiguity import ambiguous_sentence

        return ambiguous_sentence(self._loaded)

    def warm(self, seconds: float | str | None = None, masks: int | None = None) -> Warmed:
        """Build masks before they are asked for, by exploring what is likely to be written (asking/warming.py).

        Tells the share of what it found that is `explored`, and how many masks that took (`n_masks`). Without bounds it
        ends in 10 ms mostly, in seconds at most. Nothing is explored of parametric rules, named tokens, `max_tokens`.

        Parameters
        ----------
        seconds, masks : after which it ends; getting ready (5 us an edge of the rules) may take longer. "documents" in
            place of seconds: a document with all options is read, and one with what must be there; half a millisecond
            mostly, three at most (asking/documents.py).

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
        from ..asking.warming import warmed

        loaded = self._loaded
        return warmed(loaded, loaded.own_rules, loaded.is_json, seconds, masks)

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
        return self._loaded.save()

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
        return self._loaded.statistics()

    def __str__(self) -> str:
        """A readable normal form in Lark's notation (llmask/grammar/expressions.py)."""
        return str(self._loaded)

    def __repr__(self) -> str:
        kind = "rules" if self._loaded.recipe is None else self._loaded.recipe.kind
        n_warnings = f", {len(self.warnings)} warnings" if self.warnings else ""
        return f"CompiledGrammar({kind}, {len(self._loaded.own_rules.names)} rules{n_warnings}, {self.tokenizer!r})"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from ..tokenizer.notebook import escaped, folded, heading, page, table

        parts, n_states = [heading(repr(self))], len(self._loaded.own_rules.state_rules)
        if self.warnings:
            parts.append(table(("warnings",), [(text,) for text in self.warnings]))
        if self.ledger:
            rows = [[str(cell) for cell in row] for row in self.ledger]
            parts.append(table(("where", "keyword", "what became of it"), rows))
        if n_states > MOST_STATES:
            parts.append(f"<div>{escaped(f'rules of {n_states:,} states; print(grammar.rules()) writes them')}</div>")
        else:
            parts.append(folded("rules", str(self.rules())))
        return page(parts)


def _loaded_of(what: str, grammar: Any) -> MadeGrammar:
    """What the engine has of a grammar that another one is put together with."""
    check_type(grammar, CompiledGrammar, f"{what} takes what Compiler returns", "compile it first", GrammarError)
    loaded: MadeGrammar = grammar._loaded
    return loaded
