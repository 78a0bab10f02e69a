r"""Structural tags: the formats of a response as a tree, each with the expression that derives its texts.

    {"type": "sequence", "elements": [{"type": "const_string", "value": "n="}, {"type": "regex", "pattern": "[0-9]+"}]}

What each format means is what XGrammar 0.2.8 does with it (its documentation "Structural Tag", its cpp/
structural_tag.cc), byte by byte: where two readings of a text are possible both are followed. A text without the end of
the tag around it (`any_text`, `triggered_tags`) does not hold that end. Deliberate differences:

    text                is well-formed UTF-8, everywhere
    unknown fields      are errors, as are triggers with which no tag begins and excluded strings that are empty
    any_order           every declared property once, and the required ones, in any order (theirs counts entries only)
    a complete trigger  is never read as text (theirs is where a longer trigger begins with it)
    white space         in JSON is limited as in `json_schema`, where `max_whitespace_cnt` does not say otherwise
    excluded strings    are in no string of JSON, also with a pattern or format, and lengths are kept

Free text goes on until one of some strings, as models call tools:

    dispatch({"<f>": part})      (until["<f>"] part)* text

`until` and `text` are lexemes (llmask/regex/word_lists.py says what they are where triggers overlap): text that could
be the beginning of a trigger stays possible, a trigger once complete starts its part, and free text may end anywhere.
Lowered by `fusing.exact_rules` this means what it derives, byte by byte.

Strings that are excluded from a JSON document are in none of its strings, so that whoever looks for the end of a tag
does not find it inside of the arguments. Names and values are looked at as they are written, between the quotes and
before escapes are resolved: where `</call>` is excluded, `\u003c/call>` is not. A lexeme of JSON holds whole strings,
or none: each is intersected with the texts all of whose strings are good.

In: a format with its place. Out: an expression, rules, warnings. Cost: that of the schemas; of excluded strings a few
expressions a lexeme.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.errors import GrammarError, LimitExceeded, LlmaskError, UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.bnf.ebnf import parse_ebnf
from llmask.frontends.documents import Place
from llmask.frontends.json_schema import SchemaOptions, compile_schema
from llmask.frontends.json_schema.meaning.satisfiable import productive_states
from llmask.frontends.json_schema.reading.inputs import key_of, schema_of
from llmask.frontends.json_schema.reading.pointers import pointer
from llmask.frontends.places import similar
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.contradictions import posix_class
from llmask.frontends.structural_tags.xml_parameters import STYLES, Elements, Form
from llmask.grammar.expressions import (
    EMPTY,
    Expression,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    choice,
    optional,
    renamed,
    sequence,
)
from llmask.grammar.kinds import CALL_NEW, EDGE_FIELDS, NO_GUARD, SCAN
from llmask.grammar.rules import Rules, each_edge
from llmask.regex.code_points import TEXT
from llmask.regex.utf8 import utf8_char, utf8_literal
from llmask.regex.word_lists import free_text

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.place import SchemaAt
    from llmask.frontends.json_schema.reading.pointers import Path
    from llmask.regex.nodes import RegexNodes

QUOTE, BACKSLASH = 0x22, 0x5C
EVERY_BYTE = (1 << 256) - 1
MAX_DEPTH = 60  # of formats in formats: some five of Python's frames a level, of the thousand there are
MOST_FORMATS = 20_000
MAX_COUNT = 10**9  # counters are 32-bit


def text_without(nodes: RegexNodes, excluded: Sequence[str], most: int | None = None) -> Expression:
    """Text that holds no string of `excluded`, with `most` characters at most.

    Raises
    ------
    LimitExceeded : the strings are too many or too long.
    """
    node = free_text(nodes, [], _bytes(excluded)).text
    bounds = "*"
    if most is not None:
        node = nodes.intersect([node, nodes.repeat(utf8_char(nodes, TEXT), 0, most)])
        bounds = f"{{0,{most}}}"
    return EMPTY if node == nodes.EPSILON else Lexeme(node, f"/(?s:{_unless(excluded)}.){bounds}/")


def dispatch(
    nodes: RegexNodes, parts: Mapping[str, Expression], excluded: Sequence[str] = (), loops: bool = True
) -> Expression:
    """Free text in which each trigger is followed by its part.

    Parameters
    ----------
    parts : by trigger, what follows it.
    excluded : strings that the free text does not hold, triggers included: one in which they stand is never complete.
    loops : after a part, text goes on; else the part is the end.

    Raises
    ------
    LimitExceeded : the strings are too many or too long.
    """
    found = free_text(nodes, _bytes(parts), _bytes(excluded))
    unless = _unless([*parts, *excluded])
    text = Lexeme(found.text, f"/(?s:{unless}.)*/")
    tagged = [
        sequence([Lexeme(node, f"/(?s:{unless}.)*{_written(trigger)}/"), part])
        for (trigger, part), node in zip(parts.items(), found.until, strict=True)
        if node != nodes.EMPTY
    ]
    if not tagged:
        return text
    return sequence([Repeat(choice(tagged)), text]) if loops else choice([*tagged, text])


def _bytes(words: Iterable[str]) -> list[bytes]:
    return [word.encode() for word in words]


def _unless(words: Sequence[str]) -> str:
    """The part of a pattern that looks ahead: no word begins here."""
    return f"(?!{'|'.join(map(_written, words))})" if words else ""


def _written(word: str) -> str:
    """A string inside a pattern, as one would write it: only what has a meaning there is escaped."""
    quoted = json.dumps(word, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return "".join("\\" + letter if letter in ".^$*+?{}[]|()/" else letter for letter in quoted)


def exclude_strings(nodes: RegexNodes, rules: Rules, excluded: Sequence[str]) -> None:
    """Let no string of `excluded` stand in a string of the documents.

    Raises
    ------
    GrammarError : a value cannot be written without one of them, and others count on it.
    LimitExceeded : the strings are too many or too long.
    """
    good = _good_texts(nodes, excluded)
    made: dict[int, int] = {}
    edges = array("i")
    assert not rules.priorities, "schemas have none, and they name edges by number"
    for state, kind, symbol, target, guard in each_edge(rules.edges):
        if kind == SCAN:
            if symbol not in made:
                made[symbol] = _without(nodes, symbol, good)
            symbol = made[symbol]
        if kind != SCAN or symbol != nodes.EMPTY:
            edges.extend((state, kind, symbol, target, guard))
    if len(edges) < len(rules.edges) and any(guard != NO_GUARD for guard in edges[4::EDGE_FIELDS]):
        raise GrammarError(
            "the excluded strings leave nothing of a name or value of the schema, in which members are counted",
            help="take the value out of the schema, or exclude less",
        )
    rules.edges = edges


def _without(nodes: RegexNodes, lexeme: int, good: int) -> int:
    if not nodes.first_bytes(lexeme) >> QUOTE & 1:
        return lexeme  # no string begins there, and none follows something else
    found = nodes.intersect([lexeme, good])
    return nodes.EMPTY if nodes.is_empty(found) else found


def _good_texts(nodes: RegexNodes, excluded: Sequence[str]) -> int:
    """Texts of JSON all of whose strings hold none of the excluded ones."""
    quote = nodes.literal(b'"')
    escaped = nodes.concat([nodes.literal(b"\\"), nodes.byte_set(EVERY_BYTE)])
    plain = nodes.byte_set(EVERY_BYTE & ~(1 << QUOTE | 1 << BACKSLASH))
    free = free_text(nodes, [], [text.encode() for text in excluded]).text
    body = nodes.intersect([nodes.repeat(nodes.union([plain, escaped]), 0), free])
    other = nodes.byte_set(EVERY_BYTE & ~(1 << QUOTE))
    return nodes.repeat(nodes.union([other, nodes.concat([quote, body, quote])]), 0)


class Ends(NamedTuple):
    """What ends the tag around a format."""

    texts: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()


class Entry(NamedTuple):
    """A format: the fields that it needs, those that it may have besides its type, and what reads it."""

    required: tuple[str, ...]
    allowed: tuple[str, ...]
    read: Callable[[Formats, Place, Ends], Expression]


class Formats:
    """The formats of one structural tag on their way to a grammar.

    Parameters
    ----------
    known : by type, the formats that there are.

    Attributes
    ----------
    rules : what the grammars in it define, and the contents of tags.
    warnings : what its author should know.
    """

    def __init__(self, nodes: RegexNodes, options: SchemaOptions, known: Mapping[str, Entry]) -> None:
        self.nodes = nodes
        self.known = known
        self.options = options
        self.rules: dict[str, Expression] = {}
        self.warnings: list[str] = []
        self._depth = 0
        self._n_formats = 0
        self._inclusions: dict[Hashable, Inclusion] = {}
        self._elements_of: dict[Hashable, Expression] = {}
        self._lowered: dict[Expression, Rules] = {}
        self._said: dict[Hashable, list[str]] = {}  # warnings of schemas, by the same keys
        self._named: dict[Expression, str] = {}

    def expression(self, place: Place, ends: Ends) -> Expression:
        """What derives the texts of a format.

        Parameters
        ----------
        ends : of the tag around it.
        """
        if not isinstance(place.value, dict):
            place.refuse(f"a format is an object, not {place.kind()}", 'write {"type": ...}')
        if "type" not in place.value:
            place.refuse("the format has no type", f"add one: {', '.join(self.known)}")
        kind = place.below("type").text()
        if kind not in self.known:
            another = "use another one"
            help = similar(kind, self.known, another)
            place.below("type").refuse(
                f'there is no format "{kind}"', f"{another}: {', '.join(self.known)}" if help == another else help
            )
        self._n_formats += 1
        if self._depth >= MAX_DEPTH or self._n_formats > MOST_FORMATS:
            raise LimitExceeded(
                f"formats nest deeper than {MAX_DEPTH}, or are more than {MOST_FORMATS}",
                pointer(place.path),
                "say it with fewer",
            )
        entry = self.known[kind]
        place.check_fields(entry.required, ("type", *entry.allowed), f'the format "{kind}"')
        self._depth += 1
        found = entry.read(self, place, ends)
        self._depth -= 1
        return found

    # --- texts

    def text(self, text: str) -> Expression:
        """Exactly this text."""
        return Lexeme(utf8_literal(self.nodes, text), json.dumps(text, ensure_ascii=False)) if text else EMPTY

    def _const_string(self, place: Place, ends: Ends) -> Expression:
        return self.text(place.below("value").text())

    def _any_text(self, place: Place, ends: Ends) -> Expression:
        if place.has("max_tokens"):
            place.below("max_tokens").refuse("a number of tokens is not enforced", "bound the text by max_chars")
        most = place.count("max_chars") if place.has("max_chars") else None
        if most is not None and most > MAX_COUNT:
            most = None
        return text_without(self.nodes, excluded_strings(place, ends), most)

    def _regex(self, place: Place, ends: Ends) -> Expression:
        pattern = place.below("pattern").text()
        try:  # as in ECMA-262 with its flag s, as XGrammar reads them
            node = compile_pattern(self.nodes, f"(?as:{pattern})")
        except LlmaskError as error:
            raise type(error)(error.message, pointer(place.path, "pattern"), error.help) from None
        hint = posix_class(pattern)
        if hint is not None:
            self.warnings.append(f"{pointer(place.path, 'pattern')}: the pattern {hint}")
        return Lexeme(node, f"/{pattern}/")

    def _grammar(self, place: Place, ends: Ends) -> Expression:
        try:
            grammar, warnings = parse_ebnf(self.nodes, place.below("grammar").text())
        except LlmaskError as error:
            raise type(error)(error.message, f"{pointer(place.path, 'grammar')}, {error.where}", error.help) from None
        self.warnings += [f"{pointer(place.path, 'grammar')}: {warning}" for warning in warnings]
        prefix = f"grammar_{len(self.rules)}_"
        names = {name: prefix + name for name in grammar.rules}
        self.rules.update((names[name], renamed(rule, names)) for name, rule in grammar.rules.items())
        return Reference(names[grammar.start])

    def _json_schema(self, place: Place, ends: Ends) -> Expression:
        style = place.below("style").text() if place.has("style") else "json"
        if style != "json" and style not in STYLES:
            known = ("json", *STYLES)
            place.below("style").refuse(f'the style "{style}" is not known', similar(style, known, "use another one"))
        options = replace(
            self.options,
            property_order="any_or_schema" if place.flag("any_order") else "schema",
            unsupported=place.below("unsupported").text() if place.has("unsupported") else "error",
        )
        if place.has("max_whitespace_cnt"):
            options = replace(options, max_whitespace=place.count("max_whitespace_cnt"))
        name = place.below("name").text() if place.has("name") else ""
        form = Form(options, style, tuple(place.texts("excludes")), ends.texts, place.flag("exact_texts"), name)
        return self.schema(place.below("json_schema"), form)

    def _qwen_xml_parameter(self, place: Place, ends: Ends) -> Expression:
        return self.schema(place.below("json_schema"), Form(self.options, "qwen_xml", ends=ends.texts))

    def schema(self, place: Place, form: Form) -> Expression:
        """What a schema derives, in a form; an argument is loosened where it is not enforced and that is wanted."""
        where = pointer(place.path)
        options = form.options
        schema = schema_of(place.value, options.limits.max_schema_bytes)
        while True:
            try:
                with _at(where):
                    if form.style == "json":
                        return self._included(schema, form, where)
                    return self._elements(schema, form, where)
            except GrammarError as error:
                is_known = isinstance(error, UnsupportedSchema) or "/pattern" in str(error.where)
                looser = loosened(schema, str(error.where)[len(where) :]) if is_known else None
                if looser is None or options.unsupported == "error":
                    raise
                self._warn(form, error.where, [f"{error.message}; it is not enforced"])
                schema = looser

    def _warn(self, form: Form, where: str | None, warnings: list[str]) -> None:
        """Add warnings about a schema; each is told once, however often the schema is in the tag."""
        place = where
        if form.name:
            below = str(where).rpartition("/json_schema")[2]
            place = f'tool "{form.name}"' + (f" at #{below}" if below else "")
        known = set(self.warnings)
        self.warnings += [said for warning in warnings if (said := f"{place}: {warning}") not in known]

    def _elements(self, schema: Any, form: Form, where: str) -> Expression:
        """The properties of an object, each an element; errors name places below it."""

        def json_value(schema: Any, path: Path, holds: list[SchemaAt] | None) -> Inclusion:
            below = "#" if holds is not None else pointer(path)
            with _at(below):
                return self._included(schema, form, where + below[1:], holds)

        key = key_of(schema), form.options.key, *form[1:]
        if key not in self._elements_of:
            made = Elements(self.nodes, schema, form, json_value, self._lowered)
            self._elements_of[key] = made.expression()
            self._said[key] = [*made.warnings.values(), *made.hints.values()]
        self._warn(form, where, self._said[key])
        return self._elements_of[key]

    def _included(self, schema: Any, form: Form, where: str, holds: list[SchemaAt] | None = None) -> Inclusion:
        """The documents of a schema, or of a place in it, whose strings hold no excluded string."""
        options, excluded = form.options, form.excluded
        key = key_of(schema) if holds is None else object(), options.key, excluded
        if key not in self._inclusions:
            text = json.dumps(schema, ensure_ascii=False, default=str)
            if any(word in text for word in excluded):  # names and values with such a string need another spelling
                options = replace(options, literals="any")
            made = compile_schema(self.nodes, schema, options, holds, is_inside=True)
            if excluded:
                exclude_strings(self.nodes, made.rules, excluded)
            rules = made.rules
            for state, kind, *_ in each_edge(rules.edges):
                if kind >= CALL_NEW:
                    name = rules.names[rules.state_rules[state]]
                    raise UnsupportedSchema(
                        "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar "
                        "yet",
                        name if name.startswith("#") else "#",
                        "take these keywords out, or compile the schema by itself",
                    )
            if not productive_states(rules)[rules.rule_starts[rules.start]]:
                beside = " without the strings that are excluded" if excluded else ""
                raise UnsatisfiableSchema(f"no document fulfils the schema{beside}", "#", "allow one")
            self._said[key] = made.warnings
            without = f" without {json.dumps(excluded, ensure_ascii=False)} in strings" if excluded else ""
            self._inclusions[key] = Inclusion(rules, f"%json {text}{without}")
        self._warn(form, where, self._said[key])
        return self._inclusions[key]

    def named(self, kind: str, expression: Expression) -> Expression:
        """A rule for what is in several places."""
        name = self._named.setdefault(expression, f"{kind}_{len(self.rules)}")
        self.rules[name] = expression
        return Reference(name)

    # --- combinations

    def _sequence(self, place: Place, ends: Ends) -> Expression:
        parts = []
        for part in place.below("elements").some():
            found = self.expression(part, ends)
            # rows in a row keep together as rules: where they have to be split into lexemes, it is between them first
            parts.append(self.named("part", found) if part.value["type"] == "sequence" else found)
        return sequence(parts)

    def _one_of(self, place: Place, ends: Ends) -> Expression:
        found = choice([self.expression(part, ends) for part in place.below("elements").some()])
        # what is written in two places, as calls of tools are, is looked at once
        return found if isinstance(found, Lexeme) else self.named("part", found)

    def _optional(self, place: Place, ends: Ends) -> Expression:
        return optional(self.expression(place.below("content"), ends))

    def _star(self, place: Place, ends: Ends) -> Expression:
        return Repeat(self.expression(place.below("content"), ends))

    def _plus(self, place: Place, ends: Ends) -> Expression:
        return Repeat(self.expression(place.below("content"), ends), 1)

    def _repeat(self, place: Place, ends: Ends) -> Expression:
        low, high = place.count("min"), place.count("max", -1)
        if low > MAX_COUNT:
            place.below("min").refuse(f"a repetition has more than {MAX_COUNT} copies", "write a smaller number")
        if 0 <= high < low:
            place.below("max").refuse(
                f"a repetition of at least {low} and at most {high} cannot be", "write a larger number, or -1"
            )
        return Repeat(
            self.expression(place.below("content"), ends), low, None if high < 0 or high > MAX_COUNT else high
        )


def loosened(schema: Any, where: str) -> Any:
    """A schema without what a place below it says; None if nothing is there.

    The property that it lies in is held to its type alone; of a definition, each property that leads there; a keyword
    besides the properties is left out.
    """
    keys = [key.replace("~1", "/").replace("~0", "~") for key in where.partition(",")[0].split("/")[1:]]
    if not isinstance(schema, dict):
        return None
    properties = schema.get("properties")
    if keys[:1] == ["properties"] and len(keys) > 1 and isinstance(properties, dict) and keys[1] in properties:
        return _with_looser(schema, {keys[1]})
    if keys and keys[0] in ("$defs", "definitions") and len(keys) > 1 and isinstance(properties, dict):
        return _with_looser(schema, _leading_to(schema, keys[0], keys[1]))
    left_out = keys[0] if keys else "minProperties"
    if left_out not in schema or left_out in ("properties", "$ref"):
        return None
    return {name: value for name, value in schema.items() if name != left_out}


def _leading_to(schema: dict[str, Any], where: str, name: str) -> set[str]:
    """The properties from which references lead to a definition."""
    found, texts = {name}, {one: json.dumps(value) for one, value in schema[where].items()}
    for _ in texts:
        wanted = [f'"#/{where}/{one}' for one in found]
        found |= {one for one, text in texts.items() if any(start in text for start in wanted)}
    wanted = [f'"#/{where}/{one}' for one in found]
    return {one for one, value in schema["properties"].items() if any(start in json.dumps(value) for start in wanted)}


def _with_looser(schema: dict[str, Any], names: set[str]) -> Any:
    properties = dict(schema["properties"])
    for name in names:
        before = properties[name]
        properties[name] = {"type": before["type"]} if isinstance(before, dict) and "type" in before else True
        properties[name] = True if before == properties[name] else properties[name]
    return {**schema, "properties": properties} if properties != schema["properties"] else None


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Name the place of errors that name one below it."""
    try:
        yield
    except (GrammarError, LimitExceeded) as error:
        raise type(error)(error.message, where + (error.where or "#")[1:], error.help) from None


def excluded_strings(place: Place, ends: Ends) -> list[str]:
    """The strings in the field `excludes`, and those that end the tag around a format."""
    return list(dict.fromkeys([*place.texts("excludes"), *(text for text in ends.texts if text)]))


SCHEMA_FIELDS = (
    *("style", "any_order", "max_whitespace_cnt", "excludes"),
    *("unsupported", "exact_texts", "name"),  # of our own
)
BASIC_FORMATS: dict[str, Entry] = {
    "const_string": Entry(("value",), (), Formats._const_string),
    "json_schema": Entry(("json_schema",), SCHEMA_FIELDS, Formats._json_schema),
    "qwen_xml_parameter": Entry(("json_schema",), (), Formats._qwen_xml_parameter),
    "any_text": Entry((), ("excludes", "max_tokens", "max_chars"), Formats._any_text),
    "grammar": Entry(("grammar",), (), Formats._grammar),
    "regex": Entry(("pattern",), (), Formats._regex),
    "sequence": Entry(("elements",), (), Formats._sequence),
    "or": Entry(("elements",), (), Formats._one_of),
    "optional": Entry(("content",), (), Formats._optional),
    "plus": Entry(("content",), (), Formats._plus),
    "star": Entry(("content",), (), Formats._star),
    "repeat": Entry(("min", "max", "content"), (), Formats._repeat),
}
