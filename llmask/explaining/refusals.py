"""Which keyword of a schema refuses a text: each is asked by itself.

Whatever the mask refuses, some keyword refuses, and the engine knows exactly what a keyword allows: a grammar of that
keyword alone takes the text of the value, or not. So the values that are open where the text was refused are asked from
the innermost to the document: of each the keywords that hold there, one by one, in the order of the schema. The first
one that refuses is the reason. Under `anyOf` and `oneOf` it is asked within the alternative that goes farthest, if it
is one.

Where none refuses by itself, another value of the document may be at fault, as masks look ahead (what must come later
is excluded by what stands here); and after those the keywords of a place are left out one by one until the text is
taken: then two of them exclude each other.

In: a schema, a text. Out: `Reason`. Cost: 0.2 ms a keyword that is asked, bounded by `limits.max_compile_work`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import GrammarError, UnsatisfiableSchema
from ..frontends.json_schema import SchemaOptions, compile_schema
from ..frontends.json_schema.meaning.single_keywords import (
    KEY,
    Single,
    all_in_place,
    alternatives,
    below,
    single_keywords,
)
from ..frontends.json_schema.reading.pointers import ROOT, keys_of, pointer
from ..frontends.json_schema.writing.translation import Translation
from ..matching.explanation import Reason
from ..matching.sequence import ALL_TAKEN, Sequence
from ..store.loaded_grammar import LoadedGrammar
from ..store.store import Store
from .values import Keys, Text, Value, pointer_of

if TYPE_CHECKING:
    from ..frontends.json_schema.meaning.place import SchemaAt

# What options ask of the spelling of a document, at its freest.
FREE: dict[str, Any] = {
    "whitespace": "flexible",
    "max_whitespace": 2**14,
    "indent": None,
    "property_order": "any",
    "unique_keys": False,
    "closed": False,
    "numbers": "json",
    "escapes": "all",
    "literals": "any",
}
MOST_VALUES = 1000  # of a document, that are asked besides those that are open


class Source(NamedTuple):
    """What a grammar was compiled from: a schema and its options; grammars of its parts are compiled in `store`."""

    store: Store
    schema: Any
    options: SchemaOptions


def refused_at(source: Source, options: SchemaOptions, place: list[SchemaAt] | None, text: Text) -> int | None:
    """How many bytes of a text a schema takes, or the schemas of a place in it; None: all of them.

    What cannot be compiled by itself refuses nothing.

    Raises
    ------
    LimitExceeded : compiling it, or reading the text, takes more work than is left.
    """
    store = source.store
    try:
        found = compile_schema(store.nodes, source.schema, options, place)
        sequence = Sequence(LoadedGrammar(store, found.rules, found.make_variant))
    except UnsatisfiableSchema:
        return 0
    except GrammarError:
        return None
    at = sequence.take_bytes(text.data)
    if at != ALL_TAKEN:
        return at
    return len(text.data) if text.has_ended and not sequence.is_accepting() else None


class Refusals:
    """What refuses texts, of one schema; spellings count as little as options can make them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._options = options = replace(source.options, **FREE, unsupported="ignore")
        self._context = Translation(source.store.nodes.variant(options.style), source.schema, options)
        self._root: list[SchemaAt] = [(self._context.schema, ROOT)]

    def json_ends_at(self, text: Text) -> int | None:
        """How many bytes of a text begin a JSON document; None: all, and it is one if it has ended."""
        return self._refused_at([(True, ROOT)], text)

    def reason(self, text: Text, at: int | None = None) -> Reason | None:
        """What refuses a text, the beginning of a JSON document; None where the schema allows it.

        Parameters
        ----------
        text : if it has ended, it is a whole value.
        at : how many of its bytes a grammar of the schema takes that may be stricter in spelling; None: not known.

        Raises
        ------
        LimitExceeded : it takes more work than compiling a grammar may.
        """
        found = None if at is None else self._of_any(self._root, text, text.open_at(at), ())
        return found or self._reason(self._root, text, ())

    def holding(self, data: bytes) -> list[SchemaAt]:
        """The schemas that hold for the value in progress after some bytes, or for the one that comes next.

        Alternatives are among them as long as they take the text of their value.
        """
        text = Text(data + b"0", False)  # where a value may come, one begins
        values = text.open_at(len(data))
        if not values:
            return []
        begin = {value.keys: value.begin for value in values}
        schemas, keys = self._root, values[0].keys
        for n in range(len(keys) + 1):
            schemas = self._in_play(schemas, Text(data[begin[keys[:n]] :], False))
            if n < len(keys):
                schemas = below(self._context, schemas, keys[n])
        return schemas

    def _in_play(self, schemas: list[SchemaAt], text: Text) -> list[SchemaAt]:
        """The schemas of a place, and those of its alternatives that take a text so far."""
        found, waiting = [], schemas
        while waiting:
            here = all_in_place(self._context, waiting)
            found += here
            members = [one for schema, path in here if type(schema) is dict for one in alternatives(schema, path)]
            waiting = [one for one in members if self._refused_at([one], text) is None]
        return found

    def all_reasons(self, text: Text) -> list[Reason]:
        """All keywords that refuse values of a text that is whole."""
        found = (self._of_any(self._root, text, [value], ()) for value in self._others(text, []))
        return [reason for reason in found if reason is not None]

    def _reason(self, schemas: list[SchemaAt], text: Text, above: Keys) -> Reason | None:
        at = self._refused_at(schemas, text)
        if at is None:
            return None
        values = text.open_at(at)
        return (
            self._of_any(schemas, text, values, above)
            or self._of_any(schemas, text, self._others(text, values), above)
            or self._together(schemas, text, values, above)
        )

    def _others(self, text: Text, asked: list[Value]) -> Iterable[Value]:
        """The other values of a text that is whole."""
        if not text.is_whole:
            return ()
        return (value for value in islice(text.values(), MOST_VALUES) if value not in asked)

    def _of_any(self, schemas: list[SchemaAt], text: Text, values: Iterable[Value], above: Keys) -> Reason | None:
        """The first keyword that refuses one of these values."""
        for value in values:
            here = self._schemas_at(schemas, value.keys)
            found = self._of_value(here, text.piece(value.begin), (*above, *value.keys))
            if found is not None:
                return found
        return None

    def _schemas_at(self, schemas: list[SchemaAt], keys: Keys) -> list[SchemaAt]:
        for key in keys:
            schemas = below(self._context, schemas, key)
        return all_in_place(self._context, schemas)

    def _of_value(self, schemas: list[SchemaAt], text: Text, keys: Keys) -> Reason | None:
        """The first keyword of these schemas that refuses a value by itself."""
        for schema, path in schemas:
            for single in single_keywords(self._context, schema, path, text.data[0]):
                at = self._refused_at([(single.schema, single.at)], text)
                if at is not None:
                    own = keys if single.member is None else (*keys, single.member)
                    return self._narrowed(single, text, keys, at) or Reason(
                        pointer_of(own), pointer(single.path), single.keyword, single.value
                    )
        return None

    def _narrowed(self, single: Single, text: Text, keys: Keys, at: int) -> Reason | None:
        """What says more than a keyword that applies schemas: one of these."""
        if not single.narrower:
            return None
        if single.subject == KEY:
            return self._of_key(single, text, keys, at)
        schemas = list(single.narrower)
        if single.keyword == "if":
            condition = schemas.pop(0)
            holds = self._refused_at([condition], text) is None
            schemas = [one for one in schemas if keys_of(one[1])[0][0] == ("then" if holds else "else")]
        reached = [(self._refused_at([one], text), one) for one in schemas]
        refusing = [(n, one) for n, one in reached if n is not None]
        farthest = max((n for n, _ in refusing), default=0)
        ahead = [one for n, one in refusing if n == farthest]
        if len(refusing) < len(reached) or len(ahead) != 1:  # none of them, or no one more than others
            return None
        return self._reason(ahead, text, keys)

    def _of_key(self, single: Single, text: Text, keys: Keys, at: int) -> Reason | None:
        """What refuses the key that is in progress after so many bytes, or begins there."""
        return self._reason(list(single.narrower), text.piece(text.key_at(at)), keys)

    def _together(self, schemas: list[SchemaAt], text: Text, values: list[Value], above: Keys) -> Reason | None:
        """A keyword without which a value is taken, where no keyword refuses it by itself."""
        for value in values:
            here, piece = self._schemas_at(schemas, value.keys), text.piece(value.begin)
            keys = (*above, *value.keys)
            if not here or self._refused_at(here, piece) is None:
                continue
            for number, (schema, path) in enumerate(here):
                for keyword in schema if type(schema) is dict else ():
                    rest = {name: said for name, said in schema.items() if name != keyword}
                    if self._refused_at([*here[:number], (rest, path), *here[number + 1 :]], piece) is None:
                        return Reason(pointer_of(keys), pointer(path, keyword), keyword, schema[keyword])
            return Reason(pointer_of(keys), pointer(here[0][1]), "", here[0][0])
        return None

    def _refused_at(self, schemas: list[SchemaAt], text: Text) -> int | None:
        return refused_at(self._source, self._options, schemas, text)
