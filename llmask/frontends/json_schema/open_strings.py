"""Strings of which there is always another one: whatever was begun can end in infinitely many ways.

Of such strings a repetition needs not be foreseen: it is refused at its last byte (`Rules.call_new`, "open").

In: schemas of a place, or a node. Out: yes or no; no where it is not found out.
Cost: about 0.3 ms for each state of the node that is looked at, once each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmask.frontends.json_schema.choices import settle
from llmask.frontends.json_schema.conjunction import SchemaAt, conjunction_of
from llmask.frontends.json_schema.strings import free_string, string_node
from llmask.frontends.json_schema.types import types_of

if TYPE_CHECKING:
    from llmask.frontends.json_schema.translation import Translation

MAX_STATES = 48
STATE_WORK = 50  # of 256 derivatives, counted in subschemas visited


def is_open(translation: Translation, schemas: list[SchemaAt]) -> bool:
    """Whether a place holds strings, and those are open."""
    conjunction = settle(translation, conjunction_of(translation, schemas))
    if conjunction.false_at is not None or conjunction.choices or types_of(conjunction.parts) != ("string",):
        return False
    if any(shape.has_values for _, _, shape in conjunction.parts):
        return False
    return are_open(translation, string_node(translation, conjunction.parts))


def are_open(translation: Translation, node: int) -> bool:
    """Whether the strings of a node are open."""
    nodes = translation.nodes
    if node == free_string(nodes):
        return True
    key = (__name__, node)
    if key not in nodes.memo:
        nodes.memo[key] = _are_open(translation, node)
    return bool(nodes.memo[key])


def _are_open(translation: Translation, node: int) -> bool:
    """Whether from every state something can be repeated: one that leads to itself, and all others lead to one."""
    nodes = translation.nodes
    leads_to: dict[int, set[int]] = {}
    waiting = [node]
    while waiting:
        here = waiting.pop()
        if here in leads_to:
            continue
        if len(leads_to) >= MAX_STATES:
            return False
        translation.count_work(STATE_WORK)
        targets = {nodes.derivative(here, byte) for byte in range(256)} - {nodes.EMPTY}
        leads_to[here] = {target for target in targets if not nodes.is_empty(target)}
        waiting += leads_to[here]
    repeats = {here for here, targets in leads_to.items() if here in targets}
    is_growing = True
    while is_growing:
        more = {here for here, targets in leads_to.items() if here not in repeats and targets & repeats}
        repeats |= more
        is_growing = bool(more)
    return all(here in repeats or here == nodes.EPSILON for here in leads_to)
