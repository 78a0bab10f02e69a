"""`const` and `enum`: each value in one spelling, that of `json.dumps(ensure_ascii=False)`; 2.0 may also be written 2.

Scalars of one place are one lexeme, so a long enumeration costs one edge. Objects and arrays are structures, with
white space where JSON has it, keys in the order given.

In: values. Out: edges between two given states. Cost: about a microsecond a scalar.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from llmask.derivatives.word_lists import n_common
from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.instances import allowed_values, equality_key, fulfilling
from llmask.frontends.json_schema.pointers import Path, pointer
from llmask.frontends.json_schema.strings import QUOTE, literal_string, literals_of, spelled_string
from llmask.grammar.rules import RuleId, StateId

if TYPE_CHECKING:
    from llmask.derivatives.nodes import RegexNodes
    from llmask.frontends.json_schema.conjunction import Part
    from llmask.frontends.json_schema.translation import Translation

LONG = 4000  # listed scalars, from where on their first masks are made with the grammar
EXACT_FLOATS = 1e16  # from here on json.dumps writes an exponent


def emit_values(translation: Translation, parts: list[Part], rule: RuleId, start: StateId, end: StateId) -> None:
    """Edges from `start` to `end` over every value that `const` and `enum` of all `parts` leave."""
    emit_listed(translation, values_of(translation, parts), parts[0][1], rule, start, end)


def values_of(translation: Translation, parts: list[Part]) -> list[Any]:
    """Values that the `const` and `enum` of the parts name and that fulfil all parts."""
    values: list[Any] = []
    for part in parts:
        found = allowed_values(part)
        if found is not None:
            values = found
            break
    schema, _, shape = parts[0]
    has_others = shape.has_string or shape.has_number or shape.has_array or shape.has_object
    if len(parts) == 1 and not has_others:
        if "type" not in schema:
            return values
        if schema["type"] == "string":
            return [value for value in values if type(value) is str]
    return fulfilling(translation, values, parts)


def scalar_spellings(translation: Translation, part: Part) -> list[bytes] | None:
    """Spellings of the values of one part; None when there are none, or structures among them."""
    path = part[1]
    spellings: list[bytes] = []
    for value in values_of(translation, [part]):
        if type(value) is dict or type(value) is list:
            return None
        if type(value) is not str:
            equality_key(value, path)  # refuses what is no JSON
        spellings += _spellings(value, path)
    return spellings or None


def emit_listed(
    translation: Translation, values: list[Any], path: Path, rule: RuleId, start: StateId, end: StateId
) -> None:
    """Edges from `start` to `end` over each of `values`, written once however often it is listed."""
    if not values:
        return translation.nothing("no value of const or enum fulfils the other keywords", path)
    seen = set()
    spellings: list[bytes] = []
    for value in values:
        key = value if type(value) is str else (equality_key(value, path),)
        if key in seen:
            continue
        seen.add(key)
        if type(value) is dict or type(value) is list:
            _emit_structure(translation, value, path, rule, start, end)
        else:
            spellings += _spellings(value, path)
    if spellings:
        translation.rules.scan(start, listed_node(translation.nodes, spellings), end)
    return None


def listed_node(nodes: RegexNodes, spellings: list[bytes]) -> int:
    """Node of the scalars of a place.

    The mask after the quote of 50,000 words allows 17,500 tokens and takes 22 ms; the first masks of long lists are
    made here, so that no step of a document waits for them.
    """
    node = literals_of(nodes, spellings)
    key = (__name__, node)
    if len(spellings) >= LONG and key not in nodes.memo:
        nodes.memo[key] = True
        quoted = [spelling for spelling in spellings if spelling[:1] == QUOTE]
        first, last = min(quoted, default=b""), max(quoted, default=b"")
        nodes.prepare(node, first[: n_common(first, last)])
    return node


def _spellings(value: Any, path: Path) -> list[bytes]:
    """Spellings of a scalar: one, and a second for a float without a fraction."""
    if type(value) is str:
        return [spelled_string(value, path)]
    if type(value) is Decimal:
        return [format(value, "f").encode()]
    try:
        spelled = json.dumps(value).encode()
    except ValueError:  # Python writes integers of at most 4,300 digits unless told otherwise
        raise LimitExceeded("a number in const or enum has too many digits", pointer(path)) from None
    if type(value) is float and value.is_integer() and abs(value) < EXACT_FLOATS:
        return [spelled, b"%d" % value]
    return [spelled]


def _emit_structure(
    translation: Translation, value: Any, path: Path, rule: RuleId, start: StateId, end: StateId
) -> None:
    rules = translation.rules
    lexemes = list(_lexemes(translation, value, path))
    for lexeme in lexemes[:-1]:
        following = rules.state(rule)
        rules.scan(start, lexeme, following)
        start = following
    rules.scan(start, lexemes[-1], end)


def _lexemes(translation: Translation, value: Any, path: Path) -> list[int]:
    """The lexemes of a value in order; its depth was checked by `equality_key`."""
    punctuation = translation.punctuation
    if type(value) is dict:
        lexemes = [punctuation.open_object]
        for name, member in value.items():
            lexemes += [literal_string(translation.nodes, name, path), punctuation.colon]
            lexemes += [*_lexemes(translation, member, path), punctuation.comma]
        return [*(lexemes[:-1] if value else lexemes), punctuation.close_object]
    if type(value) is list:
        lexemes = [punctuation.open_array]
        for member in value:
            lexemes += [*_lexemes(translation, member, path), punctuation.comma]
        return [*(lexemes[:-1] if value else lexemes), punctuation.close_array]
    return [literals_of(translation.nodes, _spellings(value, path))]
