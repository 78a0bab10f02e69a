"""What a grammar is compiled from: its source, its options and, where it was put together, its parts.

    json_schema       the schema, SchemaOptions             choice            the texts
    regex             the pattern; method                   structural_tag    the document
    gbnf, ebnf        the text                              tools             the functions; the arguments of `tools`
    lark              the text; the arguments of `lark`,    literal           bytes: the prefix of a canonical grammar
                      names of compiled grammars, which
                      are its parts
    union, concat, optional, repeat                         the parts; low and high

Every grammar of a compiler is made from its recipe (making.py) and keeps it, so that it can be made again elsewhere:
what `save` and pickles hold is the recipe (saved.py).

In: what callers give, checked. Out: `Recipe`. Cost: a tuple.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..frontends.json_schema.reading.registries import Taken


class Recipe(NamedTuple):
    """How a grammar is made.

    kind     a line of the table above
    source   what was given, as a copy of our own
    options  how it is read; the limits left out
    parts    the grammars that it was put together from
    taken    of a schema with a registry: what was taken from that when it was compiled
    """

    kind: str
    source: Any = None
    options: Any = None
    parts: tuple[Recipe, ...] = ()
    taken: list[Taken] | tuple[()] = ()

    def in_order(self) -> list[Recipe]:
        """All parts, those of parts included, each once and before what it is a part of; the recipe itself is last."""
        found: dict[int, Recipe] = {}
        waiting = [self]
        while waiting:
            here = waiting[-1]
            missing = [part for part in here.parts if id(part) not in found]
            if missing:
                waiting += missing
            else:
                found[id(waiting.pop())] = here
        return list(found.values())

    @property
    def lead(self) -> bytes:
        """The literal before a document, which only the prefix of a canonical grammar is; or nothing."""
        is_led = self.kind == "concat" and self.parts[0].kind == "literal"
        return bytes(self.parts[0].source) if is_led else b""

    def is_json(self) -> bool:
        """Whether sentences are JSON documents, the lead left aside."""
        document = self.parts[1] if self.lead else self
        return all(part.kind in ("json_schema", "union") for part in document.in_order())
