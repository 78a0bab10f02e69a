"""Strings: from lengths, patterns and formats to the regular expression of a whole string with its quotes.

Free strings may use every JSON escape; lengths count code points and patterns search the unescaped text, both by
working on nodes whose letters are the spellings of one code point (`llmask.frontends.regex.json_strings`). What holds
together is intersected; a string language that became empty is `nodes.EMPTY`, decided exactly, so that no such string
is ever begun.

In: the string keywords of all schemas that hold at one place; names. Out: nodes. Cost: one look-up for what was seen
before; a new pattern costs its compilation, a new set of names about a microsecond a name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded, LlmaskError
from llmask.frontends.json_schema.counts import count_range
from llmask.frontends.json_schema.formats import AT_MOST, FORMATS, PREPARED
from llmask.frontends.json_schema.keywords import EXCEPT, NO_FORMAT, NO_PATTERN, SPELLED
from llmask.frontends.json_schema.pointers import Path, pointer
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import json_char, json_string_body, spell_json, style_of
from llmask.regex.code_points import JOIN_SURROGATES, SURROGATE_PAIR, CodePointSet
from llmask.regex.word_lists import FEW, literals_node, words_node

if TYPE_CHECKING:
    from llmask.frontends.json_schema.conjunction import Part
    from llmask.frontends.json_schema.translation import Translation
    from llmask.regex.nodes import RegexNodes

QUOTE = b'"'
MAX_LITERAL = 2**20  # characters: each takes a node or two


def free_string(nodes: RegexNodes) -> int:
    """Node of every JSON string."""
    key = (__name__, "free")
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _quoted(nodes, json_string_body(nodes))
    return int(found)


def _quoted(nodes: RegexNodes, *body: int) -> int:
    quote = nodes.literal(QUOTE)
    return nodes.concat([quote, *body, quote])


def literal_string(nodes: RegexNodes, text: str, path: Path) -> int:
    """Node of the one spelling of `text` that models write, see `spelled_string`; of all, where literals are so."""
    return literals_of(nodes, [spelled_string(text, path)])


def literals_of(nodes: RegexNodes, spellings: list[bytes]) -> int:
    """Node of literals as they are spelled; where the style of the nodes says so, of strings in every spelling."""
    if style_of(nodes).literals == "json":
        return nodes.literal(spellings[0]) if len(spellings) == 1 else literals_node(nodes, spellings)
    texts = [json.loads(spelling) for spelling in spellings if spelling[:1] == QUOTE]
    others = [spelling for spelling in spellings if spelling[:1] != QUOTE]
    return nodes.union([spellings_of(nodes, texts), literals_node(nodes, others)])


def spelled_string(text: str, path: Path) -> bytes:
    """`text` as models write it, with its quotes: the spelling of `json.dumps(ensure_ascii=False)`.

    DEL is escaped, as no raw DEL is ever written.

    Raises
    ------
    GrammarError
        When `text` holds a lone surrogate, which no UTF-8 text can.
    LimitExceeded
        When it is longer than `MAX_LITERAL`.
    """
    if len(text) > MAX_LITERAL:
        raise _too_long(text, pointer(path))
    spelled = encode_basestring(text)
    if "\x7f" in spelled:
        spelled = spelled.replace("\x7f", "\\u007f")
    try:
        return spelled.encode()
    except UnicodeEncodeError:
        raise GrammarError(f"the string {text!r} holds a lone surrogate, which is no text", pointer(path)) from None


def _too_long(text: str, where: str | None = None) -> LimitExceeded:
    return LimitExceeded(
        f"a key or a string of const or enum has {len(text)} characters, more than {MAX_LITERAL}",
        where,
        "Describe it by a pattern.",
    )


def other_strings(nodes: RegexNodes, names: Iterable[str]) -> int:
    """Node of every JSON string but `names`, in whatever spelling."""
    key = (__name__, "other", *names)
    found = nodes.memo.get(key)
    if found is None:
        named = spellings_of(nodes, names)
        found = nodes.memo[key] = nodes.intersect([free_string(nodes), nodes.complement(named)])
    return int(found)


def spellings_of(nodes: RegexNodes, texts: Iterable[str]) -> int:
    """Node of every spelling of each of `texts`, with its quotes.

    Raises
    ------
    GrammarError
        When one holds two surrogates for one character. LimitExceeded when it is longer than `MAX_LITERAL`.
    """
    distinct = dict.fromkeys(texts)
    _check_texts(distinct)
    if len(distinct) <= FEW:
        return nodes.union([any_spelling(nodes, text) for text in distinct])
    body = words_node(
        nodes,
        sorted(distinct),
        lambda piece: nodes.concat(_letters(nodes, piece)),
        lambda several: nodes.union(_letters(nodes, several)),
    )
    return _quoted(nodes, body)


def _check_texts(texts: Iterable[str]) -> None:
    """Refuse a long text before each of its letters becomes a node, which took 21 s for one of ten million."""
    for text in texts:
        if len(text) > MAX_LITERAL:
            raise _too_long(text)
        if SURROGATE_PAIR.search(text):
            raise GrammarError(f"the string {text!r} holds two surrogates for one character", None, JOIN_SURROGATES)


def any_spelling(nodes: RegexNodes, text: str) -> int:
    """Node of every spelling of `text`, with its quotes; errors as `spellings_of` has them."""
    _check_texts([text])
    key = (__name__, "any", text)
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _quoted(nodes, *_letters(nodes, text))
    return int(found)


def _letters(nodes: RegexNodes, text: Iterable[str]) -> list[int]:
    """Nodes of every spelling of each character of `text`."""
    known: dict[str, int] = nodes.remembered(__name__)
    for letter in text:
        if letter not in known:
            known[letter] = json_char(nodes, CodePointSet.of(letter))
    return [known[letter] for letter in text]


def pattern_string(translation: Translation, pattern: str, where: Path, keyword: str, is_negated: bool = False) -> int:
    """Node of every JSON string whose text `pattern` is found in, or with `is_negated` of every other.

    Raises
    ------
    GrammarError
        When the pattern is malformed or cannot be supported, with the place of the keyword.
    """
    nodes = translation.nodes
    key = (__name__, "pattern", pattern, is_negated)
    found = nodes.memo.get(key)
    if found is None:
        try:
            body = compile_pattern(nodes, pattern, dialect="ecma", json_string=True, is_negated=is_negated)
        except LlmaskError as error:
            at = pointer(where, keyword) + (f", {error.where}" if error.where else "")
            raise type(error)(f'"{keyword}": {error.message}', at, error.help) from None
        found = nodes.memo[key] = _quoted(nodes, body)
    return int(found)


def matches_pattern(translation: Translation, pattern: int, text: str) -> bool:
    """Whether `text` is one of the strings of a node made here."""
    return translation.nodes.matches(pattern, QUOTE + spell_json(translation.nodes, text) + QUOTE)


def string_node(translation: Translation, parts: list[Part], is_most: bool = False) -> int:
    """Node of every string that fulfils all of `parts`; `nodes.EMPTY` when there is none.

    Some formats are no regular languages: a node holds part of their texts, and with `is_most` all of them and others.
    """
    nodes = translation.nodes
    asked = tuple(
        (
            schema.get("minLength"),
            schema.get("maxLength"),
            schema.get("pattern"),
            format_of(translation, schema, path),
            schema.get(SPELLED),
            schema.get(NO_PATTERN),
            schema.get(NO_FORMAT),
            tuple(texts_except(schema)) if shape.has_except else (),
        )
        for schema, path, shape in parts
        if shape.has_string or shape.has_except
    )
    if not asked:
        return free_string(nodes)
    key = (__name__, asked, translation.format_key, is_most)
    found = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _string_node(translation, parts, is_most)
        translation.check_nodes()
    return int(found)


def texts_except(schema: dict[Any, Any]) -> list[str]:
    """Strings that a value must differ from."""
    return [value for value in schema[EXCEPT] if type(value) is str]


def _string_node(translation: Translation, parts: list[Part], is_most: bool) -> int:
    nodes = translation.nodes
    low, high = count_range(parts, "minLength", "maxLength")
    required: set[int] = set()
    excepted: set[int] = set()  # complements, which hold more than strings
    for schema, path, shape in parts:
        if shape.has_except:
            texts = texts_except(schema)
            if texts:
                excepted.add(nodes.complement(spellings_of(nodes, texts)))
        if not shape.has_string:
            continue
        if "pattern" in schema:
            required.add(pattern_string(translation, schema["pattern"], path, "pattern"))
        if SPELLED in schema:
            required.add(any_spelling(nodes, schema[SPELLED]))
        if NO_PATTERN in schema:
            required.add(pattern_string(translation, schema[NO_PATTERN], path, "pattern", is_negated=True))
        name = format_of(translation, schema, path)
        if name is not None:
            required.add(_format_node(translation, name, path, is_most))
        if NO_FORMAT in schema:
            required.add(_format_node(translation, schema[NO_FORMAT], path, not is_most, is_negated=True))
    if high is not None and low > high:
        return nodes.EMPTY
    if low > 0 or high is not None:
        required.add(_quoted(nodes, json_string_body(nodes, low, high)))
    node = nodes.intersect(sorted((required or {free_string(nodes)}) | excepted))
    if nodes.is_empty(node):
        return nodes.EMPTY
    for pieces in filter(None, (PREPARED.get(schema.get("format", "")) for schema, _, _ in parts)):
        nodes.prepare(node, pieces)
    return node


def _format_node(translation: Translation, name: str, path: Path, is_most: bool, is_negated: bool = False) -> int:
    found = translation.format_patterns[name]
    if is_most and name not in translation.options.formats:
        found = AT_MOST.get(name, found)
    if isinstance(found, str):
        return pattern_string(translation, found, path, "format", is_negated)
    nodes = translation.nodes
    node = _quoted(nodes, found(nodes))
    return nodes.intersect([free_string(nodes), nodes.complement(node)]) if is_negated else node


def format_of(translation: Translation, schema: dict[str, Any], path: Path) -> str | None:
    """Name of the format that a schema asserts; None when there is none, or it is an annotation."""
    name = schema.get("format")
    if name is None:
        return None
    if name in translation.options.formats:
        return str(name)
    if translation.options.format == "annotate":
        return None
    if name in FORMATS:
        return str(name)
    where = pointer(path, "format")
    translation.ignore("format", where, f'the format "{name}" is unknown, so it is an annotation')
    return None
