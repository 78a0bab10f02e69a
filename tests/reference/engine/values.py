"""Values that must differ, as uniqueItems says: this is kernels/values.

    set       the texts of a run's values, with its other members: part of its parameter, so of the row
    record    the text since each row in which such a value began; it is no part of a row
    variant   a rule that derives what another one does without some texts: written when a row first calls it
    open      a rule that is called as it is: a value that is in the set is refused at its last byte

A row is on the way once: the kernel of a row names earlier rows only, so no run that began in a row is left when the
way comes to it again. So a record has one text for each row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .rules import CALL, CALL_AGAIN, CALL_OPEN, SCAN, SKIP, Edge, Lexemes, Network, Parameter, members_of, read_rules

Record = frozenset[tuple[int, bytes]]  # rows, and the text since each
MakeVariant = Callable[[int, list[bytes]], int | None]


class Values:
    """The rules as far as they are written."""

    network: Network | None

    def __init__(self, written: Any, lexemes: Lexemes, make_variant: MakeVariant | None) -> None:
        self.written, self.lexemes, self.make_variant = written, lexemes, make_variant
        self.network = read_rules(written, lexemes)
        self.variants: dict[tuple[int, frozenset[bytes]], int | None] = {}

    def called(self, edge: Edge, parameter: Parameter) -> int | None:
        """The rule that an edge calls in a run, or None where no value is left, or it calls none."""
        if edge.kind in (SCAN, SKIP):
            return None
        if edge.kind in (CALL, CALL_OPEN, CALL_AGAIN):
            return edge.symbol
        return self.without(edge.symbol, members_of(parameter).texts)

    def without(self, rule: int, texts: frozenset[bytes]) -> int | None:
        """The rule that derives what `rule` does without some texts, or None where that is nothing."""
        if texts and (rule, texts) not in self.variants:
            assert self.make_variant is not None
            self.variants[rule, texts] = self.make_variant(rule, sorted(texts))
            self.network = read_rules(self.written, self.lexemes)
        found = self.variants.get((rule, texts), rule)
        assert self.network is not None
        return found if found is not None and self.network.starts[found] in self.network.live else None


def after_value(edge: Edge, parameter: Parameter, text: bytes) -> Parameter | None:
    """The parameter behind a value; None where it is in the set and must not, or the other way round."""
    members = members_of(parameter)
    if edge.kind == CALL_AGAIN:
        return parameter if text in members.texts else None
    return members._replace(texts=members.texts | {text}) if text and text not in members.texts else None
