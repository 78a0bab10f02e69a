"""JSON Schema as a grammar: one file for each kind of keyword.

    what comes in       inputs, owned, options; keywords (every keyword and its draft), pointers (places, for messages)
    references          references, documents, registries
    what holds          context (what is known of a schema), conjunction (schemas that hold together), negation,
                        evaluated (unevaluated*, closed), synthetic (schemas that are written here)
    what is decided     marks, choices (oneOf), finite, instances (values against schemas)
    scalars             scalars, strings, formats, lexemes
    numbers             numbers, number_machines, scientific_numbers
    values              values, listed_numbers (const, enum)
    objects             object_layout, objects, key_conditions, set_objects (any order, counted), different_objects,
                        followed_objects
    arrays              array_layout, arrays (contains), unique_arrays, unique_counted_arrays, matching, new_values
    what goes out       translation (the work list: from places to states), satisfiable, spacing, ledger
    what is hinted at   hints

A schema that does not hold is written as a choice of schemas that do (negation); choices that are decided by what
is beside them are taken at once (marks, choices); what is left is a union of places, each of them a list of plain
keywords that hold together.

The mask allows a document exactly when the schema does, in the order and the spelling that the options ask for; a
keyword that cannot be enforced refuses the schema. Source: JSON Schema 2020-12 (and drafts 4 to 2019-09 where
`$schema` says so).

In: a schema (`dict` or `bool`). Out: `SchemaGrammar`. Cost: 150 to 200 us for a schema of 1 to 2 KB.
"""

from __future__ import annotations

from typing import Any

from llmask.errors import LimitExceeded, UnsatisfiableSchema
from llmask.frontends.regex.json_strings import DEFAULT_STYLE
from llmask.regex.nodes import RegexNodes

from .ledger import ledger_of
from .lexical.spacing import with_spacing
from .meaning.place import SchemaAt
from .meaning.satisfiable import productive_states
from .reading.options import SchemaGrammar, SchemaOptions, check_formats
from .reading.pointers import ROOT, pointer
from .writing.translation import Translation

__all__ = ["SchemaGrammar", "SchemaOptions", "check_productive", "compile_schema"]


def compile_schema(
    nodes: RegexNodes,
    schema: Any,
    options: SchemaOptions | None = None,
    place: list[SchemaAt] | None = None,
    is_inside: bool = False,
) -> SchemaGrammar:
    """Rules of the documents that fulfil `schema`.

    Parameters
    ----------
    nodes : the store's regular expressions, which gain the ones of the schema.
    schema : a JSON Schema as `json.loads` gives it.
    options : see `SchemaOptions`.
    place : other schemas that the documents fulfil, all of them, parts of `schema` or cut out of it.
    is_inside : the rules go into a grammar, which takes none that are written later.

    Raises
    ------
    GrammarError
        When it is no valid schema, with the JSON pointer of the fault.
    UnsupportedSchema
        When a keyword cannot be enforced, with its JSON pointer.
    UnsatisfiableSchema
        When no document fulfils it.
    LimitExceeded
        When a limit of `options.limits` is reached.

    Examples
    --------
    >>> compile_schema(nodes, {"type": "integer", "minimum": 1}).warnings
    []
    """
    options = options or SchemaOptions()
    if options.style != DEFAULT_STYLE:
        nodes = nodes.variant(options.style)
    if options.formats:
        check_formats(nodes, options.formats)
    translation = Translation(nodes, schema, options, place)
    is_spaced = options.indent is not None or options.whitespace not in ("flexible", "compact")
    translation.tells_by_key = not (is_inside or is_spaced or options.unique_keys or options.closed)
    try:
        rules = translation.run()
    except RecursionError:
        raise LimitExceeded(
            "the schema's references and combinations nest too deep for the interpreter's stack",
            "#",
            "Combine fewer levels of anyOf, oneOf and allOf in one place.",
        ) from None
    if translation.reasons:
        check_productive(translation)
    rules = with_spacing(rules, nodes, options)
    warnings = translation.warnings
    formats = options.formats if options.format == "annotate" else translation.format_patterns
    references = translation.references
    return SchemaGrammar(
        rules,
        [*warnings.values(), *translation.hints.values()],
        lambda: ledger_of(schema, formats, warnings, references, options),
        translation.make_variant if rules.needs_variants else None,
        references.taken,
        lambda: translation.n_stricter,
    )


def check_productive(translation: Translation) -> None:
    """Refuse a schema without documents."""
    rules = translation.rules
    productive = translation.productive[0] or productive_states(rules)
    if not productive[rules.rule_starts[rules.start]]:
        reason, path, help = (*translation.reasons, ("each way to it contradicts itself", ROOT, "allow one"))[0]
        raise UnsatisfiableSchema(f"no document fulfils the schema: {reason}", pointer(path), help)
