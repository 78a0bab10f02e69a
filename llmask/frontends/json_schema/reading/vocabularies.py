"""`$vocabulary`: a meta-schema of the caller may leave out keywords.

A schema whose meta-schema does not have the vocabulary of `minimum` means nothing by `minimum`. Such a document is
copied without the keywords that it does not have, so that nobody else needs to know. The core is always there. The
vocabularies of `format`, of contents and of annotations are left alone: what `format` asserts is an option of the
caller's. Source: JSON Schema 2020-12 core, section 8.1.2; 2019-09 core, section 8.1.2.

In: the value of `$vocabulary`; a document. Out: the keywords left out; the document without them. Cost: a copy of such
documents, no more than a look elsewhere.
"""

from __future__ import annotations

from typing import Any

from llmask.errors import GrammarError, UnsupportedSchema

# Where schemas stand, in whichever draft: what one of them does not know does no harm, as its references lead nowhere.
SCHEMAS_IN_VALUE = frozenset((
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
))  # fmt: skip
SCHEMAS_IN_LIST = frozenset(("allOf", "anyOf", "items", "oneOf", "prefixItems"))
SCHEMAS_IN_MAP = frozenset((
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
))  # fmt: skip

KEYWORDS_OF = {
    "applicator": (SCHEMAS_IN_VALUE | SCHEMAS_IN_LIST | SCHEMAS_IN_MAP) - frozenset((
        "$defs", "definitions", "contentSchema", "unevaluatedItems", "unevaluatedProperties",
    )),
    "validation": frozenset((
        "type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
        "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
        "maxProperties", "minProperties", "required", "dependentRequired",
    )),
    "unevaluated": frozenset(("unevaluatedItems", "unevaluatedProperties")),
}  # fmt: skip
# What no meta-schema leaves out: the core, and `format`, which the caller's options are about.
ALWAYS_THERE = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "format"))
OTHERS = ("core", "format", "format-annotation", "format-assertion", "content", "meta-data")
URI_2019 = "https://json-schema.org/draft/2019-09/vocab/"
URI_2020 = "https://json-schema.org/draft/2020-12/vocab/"


def left_out(vocabulary: Any, meta_schema: str) -> frozenset[str]:
    """Keywords that schemas of a meta-schema with this `$vocabulary` do not have.

    Raises
    ------
    GrammarError
        When it is no object of booleans. UnsupportedSchema when it demands a vocabulary that is not known.
    """
    if type(vocabulary) is not dict or not all(type(needed) is bool for needed in vocabulary.values()):
        raise GrammarError(
            '"$vocabulary" must be an object whose values are true or false',
            f"{meta_schema}#/$vocabulary",
            f'for example {{"{URI_2020}core": true}}',
        )
    names = set()
    for uri, is_required in vocabulary.items():
        name = uri.removeprefix(URI_2019).removeprefix(URI_2020)
        if name != uri and (name in KEYWORDS_OF or name in OTHERS):
            names.add(name)
            if uri.startswith(URI_2019) and name == "applicator":
                names.add("unevaluated")  # one vocabulary until 2020-12
        elif is_required:
            raise UnsupportedSchema(
                f"the meta-schema {meta_schema} requires the vocabulary {uri}, which is not known",
                f"{meta_schema}#/$vocabulary",
                "Name another meta-schema in $schema.",
            )
    return frozenset(keyword for name, keywords in KEYWORDS_OF.items() if name not in names for keyword in keywords)


def without(schema: Any, keywords: frozenset[str]) -> Any:
    """A copy of a document without `keywords`; documents of other meta-schemas in it are kept as they are."""
    whole: list[Any] = [schema]
    waiting: list[tuple[Any, Any]] = [(whole, 0)]
    while waiting:
        holder, key = waiting.pop()
        here = holder[key]
        if type(here) is not dict or (here is not schema and "$schema" in here and "$id" in here):
            continue
        copy = holder[key] = {keyword: value for keyword, value in here.items() if keyword not in keywords}
        for keyword, value in copy.items():
            if type(value) is dict and keyword in SCHEMAS_IN_VALUE:
                waiting.append((copy, keyword))
            elif type(value) is dict and keyword in SCHEMAS_IN_MAP:
                copy[keyword] = dict(value)
                waiting += [(copy[keyword], name) for name in value]
            elif type(value) is list and keyword in SCHEMAS_IN_LIST:
                copy[keyword] = list(value)
                waiting += [(copy[keyword], index) for index in range(len(value))]
    return whole[0]
