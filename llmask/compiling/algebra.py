"""Grammars as values: put together, printed, and asked for sentences.

    a.union(b)        what a derives, and what b does          a | b
    a.concat(b)       a sentence of a, then one of b           a b
    a.optional()      a sentence of a, or nothing              a?
    a.repeat(1, 3)    one to three sentences of a in a row     a{1,3}

Grammars in GBNF, EBNF, patterns, choices, and Lark grammars with `lexer="exact"` mean what they derive byte by byte,
and what is put together of them does, too: it is compiled as one grammar (llmask/grammar/exact/fusing.py). Grammars
made from JSON schemas, and greedy Lark grammars, go in as they are, with white space of their own
(llmask/grammar/inclusion.py). What happens at the *seam*, where one part ends and another begins or goes on beside it:

- Nothing is ignored there but what a part itself may begin or end with: a Lark grammar its `%ignore`, a schema nothing.
- Parts without greedy ones: all texts count, and no others. Where a lexeme of a schema may end or go on with what
  follows (a number and then a digit), it would have to be split, which is refused with an error.
- With greedy parts: at a seam, too, a lexeme is as long as those allow that are expected there, of all parts, and of
  those that end together the ones with the highest priority are taken. Where that may lose texts of a part, `warnings`
  says so. It never adds any.

In: `CompiledGrammar`s of one compiler. Out: another one. Cost: that of compiling them, from expressions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from ..errors import GrammarError, LimitExceeded, LlmaskError
from ..forks import cached_property
from ..frontends.json_schema.inputs import is_like_text
from ..frontends.regex.groups import Groups, named_groups
from ..frontends.regex.posix import posix_class
from ..grammar.exact.fusing import exact_rules, woven
from ..grammar.expressions import (
    EMPTY,
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    Sequence,
    choice,
    leaves,
    optional,
    sequence,
)
from ..grammar.inclusion import derives_nothing_too
from ..grammar.repetitions import MOST_COUNT
from ..grammar.rules import CALL_NEW, EDGE_FIELDS, Rules, one_lexeme
from ..work import metered

if TYPE_CHECKING:
    from ..store.store import Store
    from .compiled import CompiledGrammar
    from .sentences import Sentences

START = "start"
MOST_PARTS = 10_000  # lexemes and references; some seconds


class GrammarValue:
    """What can be done with a `CompiledGrammar` besides matching; see the module."""

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
        return self._joined("union", lambda parts: choice(parts), other)

    def concat(self, other: CompiledGrammar) -> CompiledGrammar:
        """A sentence of this grammar and then one of `other`; errors as `union` has them."""
        return self._joined("concat", lambda parts: sequence(parts), other)

    def optional(self) -> CompiledGrammar:
        """A sentence of this grammar, or the empty text; errors as `union` has them."""
        return self._joined("optional", lambda parts: optional(parts[0]))

    def repeat(self, low: int = 0, high: int | None = None) -> CompiledGrammar:
        """`low` to `high` sentences of this grammar in a row (None: without end).

        Raises
        ------
        GrammarError : the bounds are no numbers in order; else as `union` has them.
        LimitExceeded : it is too large.
        """
        bounds = [low] if high is None else [low, high]
        if any(type(bound) is not int or not 0 <= bound <= MOST_COUNT for bound in bounds) or bounds[-1] < low:
            raise GrammarError(
                f"a grammar cannot be repeated {low!r} to {high!r} times",
                help=f"bounds are whole numbers in order, at most {MOST_COUNT}; None is without end",
            )
        return self._joined("repeat", lambda parts: Repeat(parts[0], low, high))

    def sample(self, seed: int, max_bytes: int = 1000) -> bytes:
        """A random sentence of at most `max_bytes`, the same for the same seed: one that `matcher` accepts.

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
        for name, number in (("seed", seed), ("max_bytes", max_bytes)):
            if type(number) is not int or number < 0:
                raise LlmaskError(f"{name} is a whole number, not {number!r}", help="for example sample(1)")
        return self._sentences.sample_of(_compiled(self), seed, max_bytes)

    def shortest(self) -> bytes:
        """A shortest sentence, in bytes.

        Raises
        ------
        LimitExceeded : the search for it takes too long.
        LlmaskError : as `sample` has it.
        """
        return self._sentences.shortest_of(_compiled(self))

    def ambiguity(self) -> bytes | None:
        """A sentence with two derivations, where a bounded search finds one; None says nothing (ambiguity.py).

        Rules that derive nothing or are never used are in `warnings`.

        Examples
        --------
        >>> import llmask
        >>> llmask.Compiler(llmask.Tokenizer.default()).gbnf('root ::= root "+" root | "1"').ambiguity()
        b'1+1+1'
        """
        from .ambiguity import ambiguous_sentence

        return ambiguous_sentence(_compiled(self))

    @cached_property
    def _sentences(self) -> Sentences:
        from .sentences import Sentences

        grammar = _compiled(self)
        return Sentences(grammar.store, grammar.rules, bool(grammar.limited_rules))

    def __str__(self) -> str:
        """A readable normal form in Lark's notation (llmask/grammar/expressions.py)."""
        return str(_compiled(self).grammar)

    def _joined(
        self, what: str, together: Callable[[list[Expression]], Expression], other: Any = None
    ) -> CompiledGrammar:
        from .compiled import CompiledGrammar
        from .dead_ends import warn_of_dead_ends

        own = _compiled(self)
        parts = [own] if what in ("optional", "repeat") else [own, other]
        if not isinstance(parts[-1], CompiledGrammar):
            raise GrammarError(
                f"{what} takes what Compiler returns, not {type(other).__name__}", help="compile it first"
            )
        if parts[-1].store is not own.store:
            raise GrammarError(
                "the grammars belong to different compilers, or the compiler has begun a new store between them",
                help="compile both with one compiler, one after the other",
            )
        with metered(own.store.limits.max_compile_work, "max_compile_work"):
            joined, is_greedy = _put_together(parts, together)
        return warn_of_dead_ends(joined, n_callers=2) if is_greedy else joined


def _put_together(
    parts: list[CompiledGrammar], together: Callable[[list[Expression]], Expression]
) -> tuple[CompiledGrammar, bool]:
    """The grammar of what `together` makes of the parts, and whether some part of it is greedy."""
    from .compiled import CompiledGrammar
    from .dead_ends import look_for_dead_ends

    store = parts[0].store
    try:
        grammar = _together(parts, together)
        made = exact_rules(store.nodes, grammar)
    except RecursionError:
        raise LimitExceeded(
            "the grammar nests deeper than what is left of Python's stack",
            help="put fewer grammars into each other, or do it from fewer nested calls",
        ) from None
    included = [leaf for rule in grammar.rules.values() for leaf in leaves(rule) if isinstance(leaf, Inclusion)]
    known = list(dict.fromkeys([*(warning for part in parts for warning in part.own_warnings), *made.warnings]))
    joined = CompiledGrammar(store, made.rules, known, lowered=made._replace(grammar=grammar))
    is_greedy = any(part.is_greedy for part in included)
    return (look_for_dead_ends(joined) if is_greedy else joined), is_greedy


def _compiled(grammar: GrammarValue) -> CompiledGrammar:
    return cast("CompiledGrammar", grammar)


def _together(parts: list[CompiledGrammar], together: Callable[[list[Expression]], Expression]) -> Grammar:
    """One grammar of several; rules of later ones get new names where they clash."""
    rules: dict[str, Expression] = {START: EMPTY}
    found: list[Expression] = []
    for part in parts:
        grammar = woven(part.store.nodes, _part(part))
        body = grammar.rules[grammar.start]
        refers_to_start = any(
            leaf == Reference(grammar.start) for expression in grammar.rules.values() for leaf in leaves(expression)
        )
        kept = [name for name in grammar.rules if refers_to_start or name != grammar.start]
        names: dict[str, str] = {}
        for name in kept:
            names[name] = next(new for new in _names(name) if new not in rules and new not in names.values())
        for name in kept:
            rules[names[name]] = _renamed(grammar.rules[name], names)
        found.append(Reference(names[grammar.start]) if refers_to_start else _renamed(body, names))
    rules[START] = together(found)
    if sum(1 for expression in rules.values() for _ in leaves(expression)) > MOST_PARTS:
        raise LimitExceeded(
            f"what is put together has more than {MOST_PARTS} parts", help="grammars that stand in it twice count twice"
        )
    return Grammar(rules, START)


def _names(name: str) -> Any:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def _renamed(expression: Expression, names: dict[str, str]) -> Expression:
    """An expression with other names of rules."""
    if isinstance(expression, Reference):
        return Reference(names[expression.name])
    if isinstance(expression, Sequence):
        return sequence(_renamed(part, names) for part in expression.parts)
    if isinstance(expression, Choice):
        return choice(_renamed(option, names) for option in expression.options)
    if isinstance(expression, Repeat):
        return Repeat(_renamed(expression.part, names), expression.low, expression.high)
    return expression


def _part(part: CompiledGrammar) -> Grammar:
    """A grammar in the form in which it goes into others."""
    grammar = part.grammar
    for name, said in grammar.attributes.items():
        if said.capture or said.temperature or said.max_tokens or (said.ending and said.ending.capture):
            raise GrammarError(
                f'rule "{name}" has a capture, a temperature or max_tokens, which grammars that are put together lose',
                grammar.places.get(name),
                "take it out, or write the grammars as one",
            )
    if grammar.parametric:
        raise GrammarError(
            f'rule "{min(grammar.parametric)}" has a parameter, so its rules are written only while it is read',
            grammar.places.get(min(grammar.parametric)),
            "write what it is put together with into the same grammar",
        )
    if part.is_greedy:
        whole = Inclusion(part.rules, f"%lark {{\n{grammar}\n}}", is_whole=True, is_greedy=True)
        empty = derives_nothing_too(part.rules)
        return Grammar({START: optional(whole) if empty else whole})
    for rule in grammar.rules.values():
        for leaf in leaves(rule):
            if isinstance(leaf, Inclusion) and any(kind >= CALL_NEW for kind in leaf.rules.edges[1::EDGE_FIELDS]):
                raise GrammarError(
                    "a schema that compares texts (uniqueItems, minProperties, ...) cannot be put together with others",
                    help="take these keywords out, or use the grammar by itself",
                )
    return grammar


# --- the forms of grammars that were given in other ways


def lexeme_grammar(
    store: Store,
    node: int,
    text: Callable[[], str],
    groups: Callable[[bytes], Groups] | None = None,
    warnings: list[str] | None = None,
) -> CompiledGrammar:
    """A grammar whose documents are the strings of one regex node, how that is written, and who finds its groups."""
    from .compiled import CompiledGrammar

    store.nodes.is_empty(node)  # is asked when the rules are loaded, and would hold others up there
    return CompiledGrammar(
        store,
        one_lexeme(node, store.nodes.is_nullable(node)),
        warnings or (),
        grammar=lambda: Grammar({START: Lexeme(node, text())}),
        groups=groups,
    )


def pattern_grammar(store: Store, node: int, pattern: str, is_search: bool) -> CompiledGrammar:
    """A grammar whose documents are those of a pattern; its captures are what its named groups match."""
    groups = partial(named_groups, pattern, is_search) if "(?P<" in pattern else None
    hint = posix_class(pattern)
    warnings = [] if hint is None else [f"the pattern {hint}"]
    return lexeme_grammar(store, node, partial(pattern_text, pattern, is_search), groups, warnings)


def pattern_text(pattern: str, is_search: bool) -> str:
    """A regular expression in Lark's notation: one that is to be found has anything on both sides."""
    if is_search:
        flags = re.match(r"(?:\(\?[aimsux]+\))*", pattern)
        assert flags is not None  # it may be empty
        pattern = f"{flags[0]}(?s:.*)(?:{pattern[flags.end() :]})(?s:.*)"
    written = pattern.replace("\\/", "/").replace("/", "\\/").replace("\n", "\\n")
    return f"/{written}/"


def choice_text(texts: list[str]) -> str:
    """A list of texts in Lark's notation."""
    written = " | ".join(json.dumps(text, ensure_ascii=False) for text in texts)
    return f"({written})" if len(texts) > 1 else written


def schema_grammar(rules: Rules, schema: Any) -> Grammar:
    """A JSON schema in Lark's notation."""
    return Grammar({START: Inclusion(rules, f"%json {schema_text(schema)}")})


def schema_text(schema: Any) -> str:
    """A schema as JSON, numbers exactly; `...` where that would be much longer than the schema is in memory."""
    if not is_like_text(schema):
        return "..."
    exact: list[str] = []

    def number(value: Any) -> str:
        exact.append(str(value))
        return f"\0number {len(exact) - 1}\0"

    text = json.dumps(schema, ensure_ascii=False, default=number)
    return re.sub(r'"\\u0000number (\d+)\\u0000"', lambda found: exact[int(found[1])], text) if exact else text
