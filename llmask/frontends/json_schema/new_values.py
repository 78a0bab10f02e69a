"""How values that differ from earlier ones are called for: the kinds of `Rules.call_new`.

Different texts of a string are different values, as their escapes are resolved before they are compared, and so are
those of literals. Objects and arrays have several writings, but no token holds the whole of one with two keys, or with
a number in another writing; numbers themselves are so short that some do. Of open strings there is always another one,
so that nothing has to be left out beforehand.

In: schemas of a place, or a node of strings. Out: a kind of edge. Cost: 0.1 ms for a string, once each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.frontends.json_schema.choices import settle
from llmask.frontends.json_schema.conjunction import SchemaAt, conjunction_of
from llmask.frontends.json_schema.strings import free_string, string_node
from llmask.frontends.json_schema.types import types_of
from llmask.grammar.rules import CALL_NEW, CALL_OPEN, CALL_PLAIN

if TYPE_CHECKING:
    from llmask.derivatives.nodes import RegexNodes
    from llmask.frontends.json_schema.translation import Translation


def kind_of_place(translation: Translation, schemas: list[SchemaAt]) -> int:
    """Kind of edge that calls for a new value of a place."""
    conjunction = settle(translation, conjunction_of(translation, schemas))
    types = types_of(conjunction.parts)
    if conjunction.false_at is not None or "number" in types or "integer" in types:
        return CALL_NEW
    if types != ("string",) or conjunction.choices or any(shape.has_values for _, _, shape in conjunction.parts):
        return CALL_PLAIN
    return kind_of_strings(translation.nodes, string_node(translation, conjunction.parts))


def kind_of_strings(nodes: RegexNodes, node: int) -> int:
    """Kind of edge that calls for a new string of a node."""
    if node == free_string(nodes):
        return CALL_OPEN
    key = (__name__, node)
    if key not in nodes.memo:
        nodes.memo[key] = CALL_OPEN if nodes.is_open(node) else CALL_PLAIN
    return int(nodes.memo[key])
