"""From recipes to compiled grammars: each kind of source has its function here.

In: a store, a recipe. Out: `MadeGrammar`, which keeps the recipe. Cost: that of compiling; a median schema 0.3 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import GrammarError, UnsatisfiableSchema
from ..frontends.json_schema import compile_schema
from ..frontends.json_schema.meaning.satisfiable import part_without_end
from ..frontends.regex import compile_pattern
from ..regex.word_lists import literals_node
from ..store.store import Store
from ..work import spend
from .made_grammar import MadeGrammar, lexeme_grammar, literal_grammar, pattern_grammar, put_together
from .recipes import Recipe
from .sources import choice_text, schema_grammar, tag_of_tools

if TYPE_CHECKING:
    from ..grammar.expressions import Expression, Lowered

EDGE_WORK = 30  # units for an edge of a part that is written into a text's rules, read and loaded there
PART_WORK = 300  # units for a grammar that others are put together from: for Python's objects, which nobody counts


def made(store: Store, recipe: Recipe) -> MadeGrammar:
    """Compile a grammar, and first what it is put together from.

    Raises
    ------
    GrammarError, LimitExceeded : as `Compiler` has them for each kind.
    """
    grammars: dict[int, MadeGrammar] = {}
    for part in recipe.in_order():
        if recipe.parts:
            spend(PART_WORK)
        if part.kind == "lark":
            grammar = made_lark(store, part, [grammars[id(one)] for one in part.parts])
        elif part.parts:
            grammar = put_together(store, part.kind, [grammars[id(one)] for one in part.parts], **(part.options or {}))
        else:
            grammar = _OF_KIND[part.kind](store, part)
        grammar.recipe = part
        grammars[id(part)] = grammar
    grammar.build_first_mask()
    return grammar


def made_schema(store: Store, recipe: Recipe) -> MadeGrammar:
    """The grammar of a JSON schema."""
    schema = recipe.source
    found = compile_schema(store.nodes, schema, recipe.options)
    if isinstance(recipe.taken, list):
        recipe.taken[:] = found.documents
    try:
        return MadeGrammar(
            *(store, found.rules, found.warnings, lambda: found.ledger, found.make_variant),
            grammar=lambda: schema_grammar(found.rules, schema),
            documents=found.documents,
            count_stricter=found.count_stricter,
        )
    except UnsatisfiableSchema as error:
        if error.where is not None:
            raise
        raise UnsatisfiableSchema(
            "no document fulfils the schema: this part requires itself without end",
            part_without_end(found.rules),
            "let it end: an alternative, an optional property or an empty array",
        ) from None


def _made_pattern(store: Store, recipe: Recipe) -> MadeGrammar:
    is_search = recipe.options["method"] == "search"
    node = compile_pattern(store.nodes, recipe.source, is_search=is_search)
    return pattern_grammar(store, node, recipe.source, is_search)


def _made_choice(store: Store, recipe: Recipe) -> MadeGrammar:
    texts = recipe.source
    node = literals_node(store.nodes, [text.encode() for text in texts])
    return lexeme_grammar(store, node, lambda: choice_text(texts))


def _made_bnf(store: Store, recipe: Recipe) -> MadeGrammar:
    from ..frontends.bnf import compile_ebnf, compile_gbnf

    compile_text = compile_gbnf if recipe.kind == "gbnf" else compile_ebnf
    return _lowered(store, compile_text(store.nodes, recipe.source))


def made_lark(store: Store, recipe: Recipe, parts: Sequence[MadeGrammar] = ()) -> MadeGrammar:
    """The grammar of a text in Lark's notation; `parts` are those that it names which are compiled.

    Raises
    ------
    GrammarError : a part is of another store, or has what grammars lose that are put together.
    LimitExceeded : the parts are too large.
    """
    from ..asking.algebra import is_any_greedy
    from ..asking.dead_ends import dead_end_warnings
    from ..frontends.lark import compile_lark

    options = recipe.options
    is_exact = options["lexer"] == "exact"
    named, said = options["grammars"], []
    for name, part in zip(options["compiled"], parts, strict=True):
        spend(part.n_edges * EDGE_WORK)
        named = {**(named or {}), name: _named(store, name, part)}
        said += [f"@{name}: {warning}" for warning in part.own_warnings]
    lowered = compile_lark(
        *(store.nodes, recipe.source, store.limits, options["start"], options["folder"], options["ties"], is_exact),
        named,
    )
    grammar = _lowered(store, lowered._replace(warnings=list(dict.fromkeys([*said, *lowered.warnings]))))
    is_free = is_exact and not is_any_greedy(store.nodes, lowered)
    grammar.dead_ends = [] if is_free else dead_end_warnings(grammar)
    return grammar


def _named(store: Store, name: str, part: MadeGrammar) -> Expression:
    """A compiled grammar as the expression that `@name` means."""
    if part.store is not store:
        raise GrammarError(
            f"@{name} belongs to a different compiler, or the compiler has begun a new store since",
            help="compile both with one compiler, one after the other",
        )
    from ..asking.algebra import included

    try:
        return included(part, f"@{name}")
    except GrammarError as error:
        where = f"@{name}" if error.where is None else f"{error.where} of @{name}"
        raise GrammarError(error.message, where, error.help) from None


def _made_tag(store: Store, recipe: Recipe) -> MadeGrammar:
    from ..frontends.structural_tags import compile_structural_tag

    document = recipe.source
    if recipe.kind == "tools":
        document = tag_of_tools(store.tokenizer, recipe.source, **recipe.options)[0]
    return _lowered(store, compile_structural_tag(store.nodes, document, store.limits))


def _lowered(store: Store, lowered: Lowered) -> MadeGrammar:
    return MadeGrammar(store, lowered.rules, lowered.warnings, lowered=lowered)


_OF_KIND: dict[str, Callable[[Store, Recipe], MadeGrammar]] = {
    "json_schema": made_schema,
    "regex": _made_pattern,
    "choice": _made_choice,
    "gbnf": _made_bnf,
    "ebnf": _made_bnf,
    "structural_tag": _made_tag,
    "tools": _made_tag,
    "literal": lambda store, recipe: literal_grammar(store, recipe.source),
}
