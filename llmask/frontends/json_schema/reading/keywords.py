"""Every keyword: what its value must look like, which type of instance it speaks about, which drafts know it.

A schema is looked up by its tuple of keys: all schemas with the same keys share one `Shape`, which says what to check
and where to dispatch, so that the common `{"type": ..., "description": ...}` costs one dictionary access. Source:
JSON Schema drafts 4, 6, 7, 2019-09 and 2020-12. A keyword that the declared draft does not know is an annotation, as
the specification says; a schema that declares no draft may use the keywords of all of them.

A meta-schema of the caller may leave out keywords (`$vocabulary`). A schema whose meta-schema does not have the
vocabulary of `minimum` means nothing by `minimum`. Such a document is copied without the keywords that it does not
have, so that nobody else needs to know. The core is always there. The vocabularies of `format`, of contents and of
annotations are left alone: what `format` asserts is an option of the caller's. Source: JSON Schema 2020-12 core,
section 8.1.2; 2019-09 core, section 8.1.2.

In: the keys of a schema object; the value of `$vocabulary`, a document. Out: its `Shape`; the document without the
keywords left out. Cost: a microsecond a keyword for each new tuple of keys; a copy of such documents, no more than a
look elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any

from llmask.errors import GrammarError, UnsupportedSchema

DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020 = 4, 6, 7, 2019, 2020
ANY_DRAFT = 0  # nothing declared: 2020-12, and what earlier drafts add to it
OPENAPI_3 = 3  # OpenAPI 3.0: the keywords of draft 4, no identifiers, and `nullable`
WITHOUT_CONTAINS = (OPENAPI_3, DRAFT_4)  # there an integer is written without a fraction, too
REF_ALONE = (OPENAPI_3, DRAFT_4, DRAFT_6, DRAFT_7)  # beside `$ref` these ignore everything

UNCHECKED = "x-unchecked"  # what a type asks that no schema says, a list of names: each is a warning
ONLY_TEXT = frozenset((str,))
TYPE_NAMES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


def is_count(value: Any) -> bool:
    """A non-negative integer; drafts from 6 on also write it 2.0."""
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def is_number(value: Any) -> bool:
    """A JSON number: finite, and no boolean."""
    return (
        type(value) is int
        or (type(value) is float and isfinite(value))
        or (type(value) is Decimal and value.is_finite())
    )


def _is_type(value: Any) -> bool:
    if type(value) is str:
        return value in TYPE_NAMES
    return type(value) is list and bool(value) and all(type(name) is str and name in TYPE_NAMES for name in value)


def _is_schema(value: Any) -> bool:
    return type(value) is dict or type(value) is bool


def _is_mapping(value: Any) -> bool:
    return type(value) is dict and set(map(type, value)) <= ONLY_TEXT


def is_names(value: Any) -> bool:
    """A list of strings."""
    return type(value) is list and set(map(type, value)) <= ONLY_TEXT


Check = tuple[Callable[[Any], bool], str]
TEXT: Check = (lambda value: type(value) is str, "a string")
COUNT: Check = (is_count, "a non-negative integer")
NUMBER: Check = (is_number, "a number")
SCHEMA: Check = (_is_schema, "a schema (an object or a boolean)")
SCHEMAS: Check = (lambda value: type(value) is list and bool(value), "a list of schemas with at least one member")
MAPPING: Check = (_is_mapping, "an object whose values are schemas")
NAMES: Check = (is_names, "a list of names")
BOOLEAN: Check = (lambda value: type(value) is bool, "true or false")
NAME_LISTS: Check = (lambda value: _is_mapping(value) and all(map(is_names, value.values())), "lists of names by name")
INTERNAL: Check = (lambda value: True, "")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class Internal:
    """A keyword that only this translation writes, into schemas that no text holds (see `negation.py`).

    No key of a schema that was read is equal to one.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


# Their values name schemas by `SchemaAt`, so that what is said about them keeps its place.
NOT = Internal("not")  # SchemaAt: does not hold
ALL_OF = Internal("all of")  # list of SchemaAt: all hold
ANY_OF = Internal("any of")  # list of SchemaAt: at least one holds
EXCEPT = Internal("except")  # list of values that are no arrays: the value equals none of them
FOLLOWED = Internal("followed")  # of new values: None, or which one this is in, see writing/followed_objects.py
SPELLED = Internal("spelled")  # str: this string, however it is spelled
NO_PATTERN = Internal("no pattern")  # str: a string in which the pattern is not found
NO_FORMAT = Internal("no format")  # str: a string that is not of the format
NO_MULTIPLE = Internal("no multiple")  # number: a number that is no multiple of it
NO_INTEGER = Internal("no integer")  # True: a number that is no integer
PREFIX = Internal("prefix")  # list of SchemaAt, as `prefixItems` in every draft
COUNTED = Internal("counted")  # (first index, SchemaAt, least, greatest or None): how many items from there fulfil it
NOT_UNIQUE = Internal("not unique")  # True: two items are equal
SOME_KEY = Internal("some key")  # (KeySet, SchemaAt): one of these keys is there with such a value
EVERY_KEY = Internal("every key")  # (KeySet, SchemaAt): each of these keys that is there has such a value

# Which instances a keyword speaks about; IN_PLACE ones apply other schemas to the same instance.
ALL, STRING, NUMERIC, ARRAY, OBJECT, IN_PLACE, NOTHING = (
    "all",
    "string",
    "number",
    "array",
    "object",
    "in place",
    "none",
)

KEYWORDS: dict[Any, tuple[str, Check]] = {
    "type": (ALL, (_is_type, "the name of a JSON type or a list of such names")),
    "enum": (ALL, (lambda value: type(value) is list, "a list of values")),
    "const": (ALL, (lambda value: True, "")),
    "$ref": (IN_PLACE, TEXT),
    "allOf": (IN_PLACE, SCHEMAS),
    "anyOf": (IN_PLACE, SCHEMAS),
    "oneOf": (IN_PLACE, SCHEMAS),
    "not": (IN_PLACE, SCHEMA),
    "if": (IN_PLACE, SCHEMA),
    "then": (NOTHING, SCHEMA),
    "else": (NOTHING, SCHEMA),
    "dependentSchemas": (IN_PLACE, MAPPING),
    "dependentRequired": (IN_PLACE, NAME_LISTS),
    "dependencies": (IN_PLACE, (_is_mapping, "schemas or lists of names by name")),
    "unevaluatedProperties": (IN_PLACE, SCHEMA),
    "unevaluatedItems": (IN_PLACE, SCHEMA),
    "$dynamicRef": (IN_PLACE, TEXT),
    "$recursiveRef": (IN_PLACE, TEXT),
    "minLength": (STRING, COUNT),
    "maxLength": (STRING, COUNT),
    "pattern": (STRING, TEXT),
    "format": (STRING, TEXT),
    "minimum": (NUMERIC, NUMBER),
    "maximum": (NUMERIC, NUMBER),
    "exclusiveMinimum": (NUMERIC, (lambda value: type(value) is bool or is_number(value), "a number or a boolean")),
    "exclusiveMaximum": (NUMERIC, (lambda value: type(value) is bool or is_number(value), "a number or a boolean")),
    "multipleOf": (NUMERIC, (lambda value: is_number(value) and value > 0, "a number above 0")),
    "items": (ARRAY, (lambda value: _is_schema(value) or type(value) is list, "a schema or a list of schemas")),
    "additionalItems": (ARRAY, SCHEMA),
    "prefixItems": (ARRAY, SCHEMAS),
    "minItems": (ARRAY, COUNT),
    "maxItems": (ARRAY, COUNT),
    "contains": (ARRAY, SCHEMA),
    "minContains": (NOTHING, COUNT),
    "maxContains": (NOTHING, COUNT),
    "uniqueItems": (ARRAY, BOOLEAN),
    "properties": (OBJECT, MAPPING),
    "patternProperties": (OBJECT, MAPPING),
    "additionalProperties": (OBJECT, SCHEMA),
    "propertyNames": (OBJECT, SCHEMA),
    "required": (OBJECT, NAMES),
    "minProperties": (OBJECT, COUNT),
    "maxProperties": (OBJECT, COUNT),
    "$defs": (NOTHING, MAPPING),
    "definitions": (NOTHING, MAPPING),
    NOT: (IN_PLACE, INTERNAL),
    ALL_OF: (IN_PLACE, INTERNAL),
    ANY_OF: (IN_PLACE, INTERNAL),
    EXCEPT: (ALL, INTERNAL),
    FOLLOWED: (ALL, INTERNAL),
    SPELLED: (STRING, INTERNAL),
    NO_PATTERN: (STRING, INTERNAL),
    NO_FORMAT: (STRING, INTERNAL),
    NO_MULTIPLE: (NUMERIC, INTERNAL),
    NO_INTEGER: (NUMERIC, INTERNAL),
    PREFIX: (ARRAY, INTERNAL),
    COUNTED: (ARRAY, INTERNAL),
    NOT_UNIQUE: (ARRAY, INTERNAL),
    SOME_KEY: (OBJECT, INTERNAL),
    EVERY_KEY: (OBJECT, INTERNAL),
}

# These write nothing that comes before the other keywords: properties stay in the order of the others.
LAST_IN_PLACE: tuple[Any, ...] = (
    "not", "if", "dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties", "unevaluatedItems",
    NOT, ANY_OF,
)  # fmt: skip

SINCE: dict[Any, int] = {
    "const": DRAFT_6, "contains": DRAFT_6, "propertyNames": DRAFT_6, "if": DRAFT_7, "then": DRAFT_7, "else": DRAFT_7,
    "$defs": DRAFT_2019,
    "dependentRequired": DRAFT_2019, "dependentSchemas": DRAFT_2019, "unevaluatedItems": DRAFT_2019,
    "unevaluatedProperties": DRAFT_2019, "prefixItems": DRAFT_2020, "$dynamicRef": DRAFT_2020,
    "$recursiveRef": DRAFT_2019, "minContains": DRAFT_2019, "maxContains": DRAFT_2019,
}  # fmt: skip
# `dependencies` left the specification with 2019-09 and stays in its meta-schema for compatibility: it is not ignored.
UNTIL: dict[Any, int] = {"additionalItems": DRAFT_2019, "$recursiveRef": DRAFT_2019}

DRAFTS = {
    "json-schema.org/draft-04/schema": DRAFT_4,
    "json-schema.org/draft-06/schema": DRAFT_6,
    "json-schema.org/draft-07/schema": DRAFT_7,
    "json-schema.org/draft/2019-09/schema": DRAFT_2019,
    "json-schema.org/draft/2020-12/schema": DRAFT_2020,
}


def draft_of(schema: Any) -> int:
    """The draft that the root declares in `$schema`; ANY_DRAFT when it declares none that is known."""
    declared = schema.get("$schema") if type(schema) is dict else None
    if type(declared) is not str:
        return ANY_DRAFT
    return DRAFTS.get(declared.split("://")[-1].rstrip("#"), ANY_DRAFT)


class Shape:
    """What the keys of a schema say before its values are looked at.

    Attributes
    ----------
    draft : the draft by which the schema is read.
    checks : (keyword, test of its value, what the value must be), for every keyword with a meaning.
    in_place : keywords that apply other schemas to the same instance, "" standing for all others, in the order written.
    is_plain : nothing applies in place.
    is_open : nothing but annotations: every instance is valid as far as this object's own keywords go.
    has_values, has_const, has_string, has_number, has_array, has_object : some keyword speaks about such instances.
    has_names : `propertyNames` is one of the keywords.
    has_plain_keys : keys of objects are described by their names, or not at all.
    lists_keys : nothing more is said of objects, not how many keys there may be either.
    has_except : the value must differ from listed ones.
    counts_items : which items there are counts, not only how many.
    has_unevaluated : what alternatives evaluate counts.
    has_key_sets : keys are described by a language (SOME_KEY, EVERY_KEY).
    is_scalar_type : where the type is scalar, nothing more is said of the value.
    of_other_drafts : keywords that the declared draft does not know.
    adds_null : `nullable` may add null to the type.
    unknown : keys that are no keywords of any draft.
    suspects : keys that `hints.py` has to look at.
    compared : keywords by which two schemas are found to say the same; none where that is not looked at.
    """

    __slots__ = (
        "adds_null", "checks", "compared", "counts_items", "draft", "has_array", "has_const", "has_except",
        "has_key_sets", "has_names", "has_number", "has_object", "has_plain_keys", "has_string", "has_unevaluated",
        "has_values", "in_place", "is_open", "is_plain", "is_scalar_type", "lists_keys", "of_other_drafts", "suspects",
        "unknown",
    )  # fmt: skip

    def __init__(self, keys: tuple[Any, ...], draft: int) -> None:
        checks: list[tuple[Any, Callable[[Any], bool], str]] = []
        in_place: list[Any] = []
        other_drafts: list[str] = []
        unknown: list[str] = []
        subjects = set()
        if "$ref" in keys and draft in REF_ALONE:
            keys = ("$ref",)  # "all other properties in a $ref object MUST be ignored"
        for key in keys:
            if draft != ANY_DRAFT and not SINCE.get(key, 0) <= draft <= UNTIL.get(key, DRAFT_2020):
                other_drafts.append(key)
                continue
            known = KEYWORDS.get(key)
            if known is None:
                unknown.append(key)
                continue
            subject, (check, expected) = known
            checks.append((key, check, expected))
            if subject == IN_PLACE:
                in_place.append(key)
            elif subject != NOTHING:
                subjects.add(subject)
                if "" not in in_place:
                    in_place.append("")
                elif key == "properties":  # keys are written at the place of this keyword
                    in_place.remove("")
                    in_place.append("")
        in_place.sort(key=LAST_IN_PLACE.__contains__)
        known_keys = {check[0] for check in checks}
        is_written = any(type(key) is Internal for key in known_keys)
        is_compared = not is_written and known_keys.isdisjoint(REFERENCES)
        self.compared = tuple(sorted(known_keys - {"$defs", "definitions"})) if is_compared else ()
        self.draft = draft
        self.checks = tuple(checks)
        self.is_plain = in_place in ([], [""])
        self.in_place = tuple(in_place)
        self.is_open = not in_place
        self.has_names = "propertyNames" in known_keys
        self.has_const = "const" in known_keys
        self.has_values = "enum" in known_keys or self.has_const
        self.has_except = EXCEPT in known_keys
        self.has_string = STRING in subjects
        self.has_number = NUMERIC in subjects
        self.has_array = ARRAY in subjects
        self.has_object = OBJECT in subjects
        self.counts_items = not known_keys.isdisjoint(("contains", "uniqueItems", COUNTED, NOT_UNIQUE))
        self.has_unevaluated = not known_keys.isdisjoint(("unevaluatedProperties", "unevaluatedItems"))
        self.has_key_sets = SOME_KEY in known_keys or EVERY_KEY in known_keys
        self.has_plain_keys = not (self.has_names or self.has_key_sets or "patternProperties" in known_keys)
        is_counted = "minProperties" in known_keys or "maxProperties" in known_keys
        self.lists_keys = self.has_object and self.has_plain_keys and not is_counted and not self.has_except
        has_own = self.has_values or self.has_string or self.has_number or self.has_except
        self.is_scalar_type = self.is_plain and not has_own and "type" in keys
        self.of_other_drafts = tuple(other_drafts)
        self.adds_null = draft == OPENAPI_3 and "nullable" in keys and "type" in keys
        self.unknown = tuple(unknown)
        self.suspects: tuple[str, ...] = ()


# --- $vocabulary


def _held_by(check: Check, *others: str) -> frozenset[str]:
    """Keywords with schemas under them, by what their values must be; in whichever draft.

    What a draft does not know does no harm, as its references lead nowhere.
    """
    return frozenset(key for key, (_, its_check) in KEYWORDS.items() if its_check is check).union(others)


SCHEMAS_IN_VALUE = _held_by(SCHEMA, "items", "contentSchema")
SCHEMAS_IN_LIST = _held_by(SCHEMAS, "items")
SCHEMAS_IN_MAP = _held_by(MAPPING, "dependencies")

# What no meta-schema leaves out: the core, and `format`, which the caller's options are about.
ALWAYS_THERE = frozenset(("$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "format"))
_UNEVALUATED = frozenset(("unevaluatedItems", "unevaluatedProperties"))
_APPLICATOR = (SCHEMAS_IN_VALUE | SCHEMAS_IN_LIST | SCHEMAS_IN_MAP) - ALWAYS_THERE - _UNEVALUATED - {"contentSchema"}
_VALIDATION = frozenset(key for key in KEYWORDS if type(key) is str) - _APPLICATOR - _UNEVALUATED - ALWAYS_THERE
KEYWORDS_OF = {"applicator": _APPLICATOR, "validation": _VALIDATION, "unevaluated": _UNEVALUATED}
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
