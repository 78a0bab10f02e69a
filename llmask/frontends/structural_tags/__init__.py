"""Structural tags, as XGrammar and vLLM write them, to rules.

    {"type": "structural_tag", "format": {...}}                                     XGrammar; see formats.py
    {"type": "structural_tag", "structures": [{"begin", "schema", "end"}, ...], "triggers": [...]}     vLLM's older form

The older form may have `at_least_one`, as SGLang writes it. Both mean what they derive, byte by byte
(llmask/grammar/exact/fusing.py).

In: a document. Out: `Rules`. Cost: that of the schemas in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from llmask.errors import LimitExceeded, LlmaskError
from llmask.frontends.documents import Place
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.reading.pointers import ROOT
from llmask.frontends.structural_tags.formats import BASIC_FORMATS, Ends, Formats
from llmask.frontends.structural_tags.tags import TAG_FORMATS, TOKEN_FORMATS
from llmask.grammar.exact.sealed import sealed_rules
from llmask.grammar.expressions import Expression, Grammar, Lowered

if TYPE_CHECKING:
    from llmask.limits import Limits
    from llmask.regex.nodes import RegexNodes

__all__ = ["compile_structural_tag"]

FORMATS = {**BASIC_FORMATS, **TAG_FORMATS, **TOKEN_FORMATS}
EXAMPLE = 'write {"type": "structural_tag", "format": {...}}'


def compile_structural_tag(nodes: RegexNodes, document: Any, limits: Limits) -> Lowered:
    """Rules of a structural tag.

    Raises
    ------
    GrammarError : it is malformed, with the JSON pointer of the fault.
    UnsatisfiableSchema : no text fulfils it.
    LimitExceeded : it is too large, or nests too deep.
    """
    formats = Formats(nodes, SchemaOptions(limits=limits), FORMATS)
    try:
        start = _start(formats, document)
        grammar = Grammar({"start": start, **formats.rules})
        lowered = sealed_rules(nodes, grammar)
    except RecursionError:
        raise LimitExceeded(
            "the structural tag nests deeper than what is left of Python's stack",
            help="nest fewer formats, or compile it from fewer nested calls",
        ) from None
    return Lowered(lowered.rules, formats.warnings + lowered.warnings, grammar)


def _start(formats: Formats, document: Any) -> Expression:
    """What derives the texts of a document; the older form is brought into the newer."""
    place = Place(document, ROOT)
    if not isinstance(document, dict) or "structures" not in document:
        return formats.expression(_format_of(place), Ends())
    try:
        return formats.expression(_older(place), Ends())
    except LlmaskError as error:
        raise type(error)(error.message, _older_place(error.where), error.help) from None


def _format_of(place: Place) -> Place:
    """The format of a document in the newer form."""
    if isinstance(place.value, Mapping):
        _check_type(place)
    else:
        place.refuse(f"a structural tag is an object, not {place.kind()}", EXAMPLE)
    place.check_fields(("format",), ("type",), "a structural tag")
    return place.below("format")


def _check_type(place: Place) -> None:
    if place.has("type") and place.value["type"] != "structural_tag":
        place.below("type").refuse('the type of a structural tag is "structural_tag"', EXAMPLE)


def _older(place: Place) -> Place:
    place.check_fields(("structures", "triggers"), ("type", "at_least_one"), "a structural tag with structures")
    _check_type(place)
    tags = []
    for structure in place.below("structures").some():
        structure.check_fields(("begin", "schema", "end"), (), "a structure")
        begin, schema, end = (structure.value[name] for name in ("begin", "schema", "end"))
        tags.append({"begin": begin, "content": {"type": "json_schema", "json_schema": schema}, "end": end})
    older = {name: place.value[name] for name in ("triggers", "at_least_one") if name in place.value}
    return Place({"type": "triggered_tags", "tags": tags, **older}, place.path)


def _older_place(where: str | None) -> str | None:
    """The place in the older form of a place in the newer one."""
    return where and re.sub(r"^#/tags/(\d+)/(?:content/json_)?(?=schema|begin|end)", r"#/structures/\1/", where)
