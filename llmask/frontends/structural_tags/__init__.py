"""Structural tags, as XGrammar and vLLM write them, to rules.

    {"type": "structural_tag", "format": {...}}                                     XGrammar; see formats.py
    {"type": "structural_tag", "structures": [{"begin", "schema", "end"}, ...], "triggers": [...]}     vLLM's older form

The older form may have `at_least_one`, as SGLang writes it. Both mean what they derive, byte by byte
(llmask/grammar/exact/fusing.py). Here are tags, and free text around them, and single tokens, by id or by their text in
the vocabulary; formats.py has the other formats.

In: a document. Out: `Rules`. Cost: that of the schemas in it, and 1 ms a name of a token for 128,256 tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded, LlmaskError
from llmask.frontends.documents import Place
from llmask.frontends.json_schema import SchemaOptions
from llmask.frontends.json_schema.reading.pointers import ROOT, pointer
from llmask.frontends.structural_tags.formats import BASIC_FORMATS, Ends, Entry, Formats, dispatch, excluded_strings
from llmask.grammar.exact.sealed import sealed_rules
from llmask.grammar.expressions import Expression, Grammar, Lowered, Repeat, TokenSet, choice, optional, sequence
from llmask.grammar.token_ranges import token_named, tokens_of
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.limits import Limits
    from llmask.regex.nodes import RegexNodes

__all__ = ["compile_structural_tag"]

CONTROLS = ("at_least_one", "stop_after_first")
EXAMPLE = 'write {"type": "structural_tag", "format": {...}}'


def token_set(formats: Formats, place: Place) -> TokenSet:
    """The set of the one token of a format "token"."""
    place.check_fields(("token",), ("type",), "a token")
    if place.has("type") and place.value["type"] != "token":
        place.below("type").refuse("a token is needed here", 'write "token"')
    return tokens([token_id(formats, place.below("token"))])


def token_id(formats: Formats, place: Place) -> int:
    """The id of a token that is given by its id or its text."""
    table = formats.nodes.table
    assert table is not None, "structural tags are compiled for a vocabulary"
    if isinstance(place.value, str):
        try:
            return token_named(table, place.text(False))
        except GrammarError as error:
            place.refuse(error.message, error.help or "name another one")
    if type(place.value) is not int or not 0 <= place.value < table.vocab_size:
        place.refuse(
            f"this is {place.value!r}, where a token is needed", f"write its text, or an id below {table.vocab_size}"
        )
    return int(place.value)


def tokens(ids: Iterable[int], is_excluded: bool = False) -> TokenSet:
    """Any of some tokens; where they are excluded any other one, but no end of sequence."""
    listed = sorted(set(ids))
    written = "^" * is_excluded + ",".join(map(str, listed)) if listed else "*"
    return tokens_of(listed, f"<[{written}]>", is_excluded)


def excluded_tokens(formats: Formats, place: Place, ends: Ends) -> list[int]:
    """The tokens in the field `exclude_tokens`, and those that end the tag around a format."""
    listed = place.below("exclude_tokens").elements() if place.has("exclude_tokens") else ()
    return [*(token_id(formats, one) for one in listed), *ends.tokens]


def _token(formats: Formats, place: Place, ends: Ends) -> Expression:
    return token_set(formats, place)


def _exclude_token(formats: Formats, place: Place, ends: Ends) -> Expression:
    return tokens(excluded_tokens(formats, place, ends), True)


def _any_tokens(formats: Formats, place: Place, ends: Ends) -> Expression:
    most = place.count("max_tokens") if place.has("max_tokens") else None
    return Repeat(tokens(excluded_tokens(formats, place, ends), True), 0, most)


def _tag(formats: Formats, place: Place, ends: Ends) -> Expression:
    rest = rest_of_tag(formats, place)
    begin = place.below("begin")
    refuse_other_begin(begin)
    first = token_set(formats, begin) if isinstance(begin.value, dict) else formats.text(begin.text())
    return sequence([first, rest])


def rest_of_tag(formats: Formats, place: Place) -> Expression:
    """What derives the content and end of a tag."""
    place.check_fields(("begin", "content", "end"), ("type",), "a tag")
    if place.has("type") and place.value["type"] != "tag":
        place.below("type").refuse("a tag is needed here", 'write "tag"')
    end = place.below("end")
    if isinstance(end.value, dict):  # a token
        found = token_set(formats, end)
        ends = Ends(tokens=tuple(token for token, _ in found.ranges))
        last: list[Expression] = [found]
    else:
        listed = end.some() if isinstance(end.value, (list, tuple)) else [end]
        ends = Ends(tuple(one.text() for one in listed))
        last = [formats.text(text) for text in ends.texts]
    content = formats.expression(place.below("content"), ends)
    return formats.named("tag", sequence([content, choice(last)]))


def refuse_other_begin(place: Place) -> None:
    """Refuse a tag that begins with a format other than a string or a token."""
    if isinstance(place.value, Mapping) and place.value.get("type", "token") != "token":
        place.refuse(
            "a tag begins with a string or a token, and with no other format",
            'write a string, or put the format before the content: {"type": "sequence", "elements": [...]}',
        )


def _triggered_tags(formats: Formats, place: Place, ends: Ends) -> Expression:
    triggers = [one.text(False) for one in place.below("triggers").some()]
    whole: list[Expression] = []
    parts: dict[str, list[Expression]] = {trigger: [] for trigger in triggers}
    for tag in place.below("tags").some():
        rest = rest_of_tag(formats, tag)
        refuse_other_begin(tag.below("begin"))
        begin = tag.below("begin").text()
        spend(len(parts) // 8)
        found = [trigger for trigger in parts if begin.startswith(trigger)]
        if len(found) != 1:
            tag.below("begin").refuse(
                "no trigger is the beginning of the tag" if not found else f"the tag begins with {len(found)} triggers",
                "let each tag begin with exactly one trigger",
            )
        parts[found[0]].append(sequence([formats.text(begin[len(found[0]) :]), rest]))
        whole.append(sequence([formats.text(begin), rest]))
    for at, trigger in enumerate(triggers):
        if not parts[trigger]:
            place.below("triggers").below(at).refuse("no tag begins with this trigger", "take it out, or add a tag")
    at_least_one, stops = place.flag("at_least_one"), place.flag("stop_after_first")
    if at_least_one and stops:
        return choice(whole)
    excluded = excluded_strings(place, ends)
    _warn_of_unreachable(formats, place, triggers, excluded)
    text = dispatch(formats.nodes, {trigger: choice(rest) for trigger, rest in parts.items()}, excluded, not stops)
    return sequence([choice(whole), text]) if at_least_one else text


def _dispatch(formats: Formats, place: Place, ends: Ends) -> Expression:
    parts: dict[str, list[Expression]] = {}
    for rule in place.below("rules").some():
        if len(list(rule.elements())) != 2:
            rule.refuse("a rule is a pair of a string and a format", "write [string, format]")
        parts.setdefault(rule.below(0).text(False), []).append(formats.expression(rule.below(1), ends))
    excluded = place.texts("excludes")
    _warn_of_unreachable(formats, place, parts, excluded)
    found = {trigger: choice(options) for trigger, options in parts.items()}
    return dispatch(formats.nodes, found, excluded, place.flag("loop", True))


def _warn_of_unreachable(formats: Formats, place: Place, triggers: Iterable[str], excluded: Sequence[str]) -> None:
    for trigger in triggers:
        spend((sum(map(len, excluded)) + len(excluded) * len(trigger)) // 64)
        inside = [word for word in excluded if word in trigger]
        if inside:
            formats.warnings.append(
                f"{pointer(place.path)}: the trigger {json.dumps(trigger, ensure_ascii=False)} is never complete, "
                f"because {json.dumps(inside[0], ensure_ascii=False)} is excluded"
            )


def _tags_with_separator(formats: Formats, place: Place, ends: Ends) -> Expression:
    one = choice(_tag(formats, tag, ends) for tag in place.below("tags").some())
    if place.flag("stop_after_first"):
        return one if place.flag("at_least_one") else optional(one)
    separator = formats.text(place.below("separator").text())
    some = sequence([one, Repeat(sequence([separator, one]))])
    return some if place.flag("at_least_one") else optional(some)


def _token_triggered_tags(formats: Formats, place: Place, ends: Ends) -> Expression:
    triggers = [token_id(formats, one) for one in place.below("trigger_tokens").some()]
    whole: list[Expression] = []
    used: set[int] = set()
    for tag in place.below("tags").some():
        rest = rest_of_tag(formats, tag)
        if not isinstance(tag.below("begin").value, dict):
            tag.below("begin").refuse("the tag begins with a string", 'write {"type": "token", "token": ...}')
        begin = token_set(formats, tag.below("begin"))
        token = begin.ranges[0][0]
        spend(len(triggers) // 32)
        if token not in triggers:
            tag.below("begin").refuse("the tag begins with a token that is no trigger", "add it to trigger_tokens")
        used.add(token)
        whole.append(sequence([begin, rest]))
    for at, token in enumerate(triggers):
        if token not in used:
            place.below("trigger_tokens").below(at).refuse(
                "no tag begins with this trigger", "take it out, or add a tag"
            )
    at_least_one, stops = place.flag("at_least_one"), place.flag("stop_after_first")
    if at_least_one and stops:
        return choice(whole)
    free = Repeat(tokens([*excluded_tokens(formats, place, ends), *triggers], True))
    text = _among(free, choice(whole), not stops)
    return sequence([choice(whole), text]) if at_least_one else text


def _token_dispatch(formats: Formats, place: Place, ends: Ends) -> Expression:
    parts: list[Expression] = []
    triggers: list[int] = []
    for rule in place.below("rules").some():
        if len(list(rule.elements())) != 2:
            rule.refuse("a rule is a pair of a token and a format", "write [token, format]")
        triggers.append(token_id(formats, rule.below(0)))
        parts.append(sequence([tokens(triggers[-1:]), formats.expression(rule.below(1), ends)]))
    free = Repeat(tokens([*excluded_tokens(formats, place, Ends()), *triggers], True))
    return _among(free, choice(parts), place.flag("loop", True))


def _among(free: Expression, part: Expression, loops: bool) -> Expression:
    """A part, any number of times or once at most, with what is free before it and, where it loops, after it."""
    if loops:
        return sequence([free, Repeat(sequence([part, free]))])
    return sequence([free, optional(part)])


FORMATS = {
    **BASIC_FORMATS,
    "token": Entry(("token",), (), _token),
    "exclude_token": Entry((), ("exclude_tokens",), _exclude_token),
    "any_tokens": Entry((), ("exclude_tokens", "max_tokens"), _any_tokens),
    "tag": Entry(("begin", "content", "end"), (), _tag),
    "triggered_tags": Entry(("triggers", "tags"), (*CONTROLS, "excludes"), _triggered_tags),
    "tags_with_separator": Entry(("tags", "separator"), CONTROLS, _tags_with_separator),
    "dispatch": Entry(("rules",), ("loop", "excludes"), _dispatch),
    "token_triggered_tags": Entry(("trigger_tokens", "tags"), (*CONTROLS, "exclude_tokens"), _token_triggered_tags),
    "token_dispatch": Entry(("rules",), ("loop", "exclude_tokens"), _token_dispatch),
}


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
