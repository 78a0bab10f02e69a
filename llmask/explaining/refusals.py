"""Which keyword of a schema refuses a text: each is asked by itself.

Whatever the mask refuses, some keyword refuses, and the engine knows exactly what a keyword allows: a grammar of that
keyword alone takes the text of the value, or not. So the values that are open where the text was refused are asked from
the innermost to the document: of each the keywords that hold there, one by one, in the order of the schema. The first
one that refuses is the reason. Under `anyOf` and `oneOf` it is asked within the alternative that goes farthest, if it
is one.

Where none refuses by itself, another value of the document may be at fault, as masks look ahead (what must come later
is excluded by what is here); and after those the keywords of a place are left out one by one until the text is
taken: then two of them exclude each other.

In: a schema, a text. Out: `Reason`. Cost: 0.2 ms a keyword that is asked, bounded by `limits.max_compile_work`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from ..errors import GrammarError, UnsatisfiableSchema
from ..frontends.json_schema import SchemaOptions, compile_schema
from ..frontends.json_schema.meaning.place import SchemaAt
from ..frontends.json_schema.meaning.single_keywords import (
    KEY,
    Single,
    all_in_place,
    alternatives,
    below,
    single_keywords,
)
from ..frontends.json_schema.reading.pointers import ROOT, Path, pointer
from ..frontends.json_schema.writing.translation import Translation
from ..matching.explanation import Reason
from ..matching.sequence import ALL_TAKEN, Sequence
from ..store.loaded_grammar import LoadedGrammar
from ..store.store import Store
from ..work import metered, spend
from .values import Keys, Text, Value, pointer_of

MUCH_SPACE = 4096  # bytes
# What options ask of the spelling of a document, at its freest.
FREE: dict[str, Any] = {
    "whitespace": "flexible",
    "indent": None,
    "property_order": "any",
    "unique_keys": False,
    "closed": False,
    "numbers": "json",
    "escapes": "all",
    "literals": "any",
}
MOST_GRAMMARS = 200  # that are remembered
PLACE_WORK = 10  # units for a step down
GRAMMAR_WORK = 1500  # units for a grammar of a few keywords, besides what compiling it counts
MOST_VALUES = 1000  # of a document, that are asked besides those that are open


def free(options: SchemaOptions) -> dict[str, Any]:
    """What frees a document from what some options ask of its spelling."""
    return {**FREE, "max_whitespace": max(MUCH_SPACE, options.max_whitespace)}


class Source(NamedTuple):
    """What a grammar was compiled from: a schema and its options; grammars of its parts are compiled in `store`."""

    store: Store
    schema: Any
    options: SchemaOptions


def _compiled(source: Source, options: SchemaOptions, place: list[SchemaAt] | None) -> LoadedGrammar | bool | None:
    """The grammar of a schema, or of a place of it; False: of nothing. None: it cannot be compiled by itself."""
    store = source.store
    try:
        found = compile_schema(store.nodes, source.schema, options, place)
        return LoadedGrammar(store, found.rules, found.make_variant)
    except UnsatisfiableSchema:
        return False
    except GrammarError:
        return None


def _n_taken(grammar: LoadedGrammar | bool | None, text: Text) -> int | None:
    """How many bytes of a text a grammar takes, or None: all; what could not be compiled refuses nothing."""
    if not isinstance(grammar, LoadedGrammar):
        return None if grammar is None else 0
    sequence = Sequence(grammar)
    at = sequence.take_bytes(text.data)
    if at != ALL_TAKEN:
        return at
    return len(text.data) if text.has_ended and not sequence.is_accepting() else None


class Refusals:
    """What refuses texts, of one schema; spellings count as little as options can make them.

    Schemas are known by their identity, so what is remembered keeps them.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._options = options = replace(source.options, **free(source.options), unsupported="ignore")
        self._context = Translation(source.store.nodes.variant(options.style), source.schema, options)
        self._root: list[SchemaAt] = [(self._context.schema, ROOT)]
        self._grammars: dict[tuple[Hashable, ...], tuple[list[SchemaAt], LoadedGrammar | bool | None]] = {}
        self._singles: dict[Hashable, tuple[Any, list[Single]]] = {}
        self._conditions: dict[Hashable, dict[str, Any]] = {}

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
        found = None if at is None else self._of_open(self._root, text, at, ())
        return found or self._reason(self._root, text, ())

    def holding(self, data: bytes) -> list[SchemaAt]:
        """The schemas that hold for the value in progress after some bytes, or for the one that comes next.

        Alternatives are among them as long as they take the text of their value.
        """
        values = Text(data + b"0", False).open_at(len(data))  # where a value may come, one begins
        return self._along(self._root, Text(data, False), len(data), values, with_possible=True)[-1] if values else []

    def _along(
        self, schemas: list[SchemaAt], text: Text, at: int, values: list[Value], with_possible: bool = False
    ) -> list[list[SchemaAt]]:
        """The schemas that hold for a value and all that it lies in, the outermost first.

        Parameters
        ----------
        schemas : what holds for the outermost one.
        text, at : what is there of it, and how many bytes of that alternatives have to take.
        values : the innermost one, and the values that it lies in, as far as they are known.
        with_possible : the alternatives that take what is there are among the schemas; False: only the one that is
            left, where one of them must hold.
        """
        begins = {len(value.keys): value.begin for value in values}
        found = []
        for depth in range(len(values[0].keys) + 1):
            spend(PLACE_WORK)
            found.append(
                self._in_play(schemas, text.piece(begins[depth]), at - begins[depth], with_possible)
                if depth in begins
                else all_in_place(self._context, schemas)
            )
            if depth < len(values[0].keys):
                schemas = below(self._context, found[-1], values[0].keys[depth])
        return found

    def _in_play(self, schemas: list[SchemaAt], text: Text, at: int, with_possible: bool) -> list[SchemaAt]:
        """Schemas of a place, with alternatives that take the first `at` bytes of a text, and branches that apply."""
        found: list[SchemaAt] = []
        seen: set[Hashable] = set()
        waiting, so_far = schemas, Text(text.data[:at], False)
        while waiting:
            here = [one for one in all_in_place(self._context, waiting) if self._context.identity(*one) not in seen]
            seen.update(self._context.identity(*one) for one in here)
            found += here
            waiting = []
            for schema, path in here:
                for members, is_one_needed in alternatives(self._context, schema, path):
                    taking = [one for one in members if self._refused_at([one], so_far) is None]
                    if with_possible or (is_one_needed and len(taking) == 1):
                        waiting += taking
                if type(schema) is dict and "if" in self._context.shape(schema, path).in_place:
                    branches, is_known = self._branches(schema, path, text)
                    waiting += branches if is_known or with_possible else []
        return found

    def _branches(self, schema: dict[str, Any], path: Path, text: Text) -> tuple[list[SchemaAt], bool]:
        """The branches of an `if` that may apply to a text, and whether it is known which one does."""
        condition = {"if": schema["if"], "then": False}  # refuses what the condition holds for, whatever comes
        condition = self._conditions.setdefault(self._context.identity(schema, path), condition)
        if self._refused_at([(schema["if"], (path, "if"))], text) is not None:
            names: tuple[str, ...] = ("else",)
        elif text.is_whole or self._refused_at([(condition, path)], text) is not None:
            names = ("then",)
        else:
            names = ("then", "else")
        return [(schema[name], (path, name)) for name in names if name in schema], len(names) == 1

    def all_reasons(self, text: Text) -> list[Reason]:
        """All keywords that refuse values of a text that is whole."""
        found = (self._of_any(self._root, text, [value], ()) for value in self._others(text, []))
        return [reason for reason in found if reason is not None]

    def _reason(self, schemas: list[SchemaAt], text: Text, above: Keys) -> Reason | None:
        at = self._refused_at(schemas, text)
        if at is None:
            return None
        return (
            self._of_open(schemas, text, at, above)
            or self._of_any(schemas, text, self._others(text, text.open_at(at)), above)
            or self._together(schemas, text, at, above)
        )

    def _others(self, text: Text, asked: list[Value]) -> Iterable[Value]:
        """The other values of a text that is whole."""
        if not text.is_whole:
            return ()
        return (value for value in islice(text.values(), MOST_VALUES) if value not in asked)

    def _of_open(self, schemas: list[SchemaAt], text: Text, at: int, above: Keys) -> Reason | None:
        """The first keyword that refuses a value that is open after the first `at` bytes."""
        values = text.open_at(at)
        along = self._along(schemas, text, at, values) if values else []
        found = (
            self._of_value(along[len(value.keys)], text.piece(value.begin), (*above, *value.keys)) for value in values
        )
        return next(filter(None, found), None)

    def _of_any(self, schemas: list[SchemaAt], text: Text, values: Iterable[Value], above: Keys) -> Reason | None:
        """The first keyword that refuses one of these values."""
        along = ((value, self._along(schemas, text, value.begin, [value])[-1]) for value in values)
        found = (self._of_value(here, text.piece(value.begin), (*above, *value.keys)) for value, here in along)
        return next(filter(None, found), None)

    def _of_value(self, schemas: list[SchemaAt], text: Text, keys: Keys) -> Reason | None:
        """The first keyword of these schemas that refuses a value by itself."""
        for schema, path in schemas:
            for single in self._keywords_of(schema, path, text.data[0]):
                at = self._refused_at([(single.schema, single.at)], text)
                if at is not None and single.without is not None:
                    at = None if self._refused_at([(single.without, single.at)], text) is not None else at
                if at is not None:
                    own = keys if single.member is None else (*keys, single.member)
                    reason = Reason(pointer_of(own), pointer(single.path), single.keyword, single.value)
                    return self._narrowed(single, text, keys, at, reason)
        return None

    def _keywords_of(self, schema: Any, path: Path, first_byte: int) -> list[Single]:
        key = self._context.identity(schema, path), first_byte
        if key not in self._singles:
            self._singles[key] = schema, [*single_keywords(self._context, schema, path, first_byte)]
        return self._singles[key][1]

    def _narrowed(self, single: Single, text: Text, keys: Keys, at: int, reason: Reason) -> Reason:
        """A reason, or what says more than a keyword that applies schemas: one of these."""
        if not single.narrower:
            return reason
        if single.subject == KEY:
            key = text.piece(text.key_at(at))  # in progress there, or begun
            return self._reason(list(single.narrower), key, keys) or reason
        schemas, is_known = list(single.narrower), True
        if single.keyword == "if":
            schemas, is_known = self._branches(single.schema, single.at, text)
        reached = [(self._refused_at([one], text), one) for one in schemas]
        refusing = [(n, one) for n, one in reached if n is not None]
        farthest = max((n for n, _ in refusing), default=0)
        ahead = [one for n, one in refusing if n == farthest]
        if len(refusing) < len(reached) or len(ahead) != 1 or not is_known:  # none of them, or no one more than others
            taking = tuple(number for number, (n, _) in enumerate(reached) if n is None)
            return reason._replace(matching=taking) if single.keyword == "oneOf" and len(taking) > 1 else reason
        return self._reason(ahead, text, keys) or reason

    def _together(self, schemas: list[SchemaAt], text: Text, at: int, above: Keys) -> Reason | None:
        """A keyword without which a value is taken, where no keyword refuses it by itself."""
        values = text.open_at(at)
        along = self._along(schemas, text, at, values) if values else []
        for value in values:
            here, piece = along[len(value.keys)], text.piece(value.begin)
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
        key = tuple(self._context.identity(schema, path) for schema, path in schemas)
        spend(len(text.data) // 8)
        if key not in self._grammars:
            spend(GRAMMAR_WORK)
            if len(self._grammars) >= MOST_GRAMMARS:
                self._grammars.clear()
            self._grammars[key] = schemas, _compiled(self._source, self._options, schemas)
        return _n_taken(self._grammars[key][1], text)


# --- other options


def relaxed_options(source: Source, text: Text) -> dict[str, Any]:
    """Few options that would take a text; none where it takes no other, or no options do.

    Raises
    ------
    LimitExceeded : it takes more work than compiling a grammar may.
    """
    given = source.options
    changed = {name: value for name, value in free(given).items() if getattr(given, name) != value}

    def takes(options: dict[str, Any]) -> bool:
        return _n_taken(_compiled(source, replace(given, **options), None), text) is None

    with metered(given.limits.max_compile_work, "max_compile_work"):
        if takes({}) or not takes(changed):
            return {}
        for name in list(changed):
            rest = {other: value for other, value in changed.items() if other != name}
            if takes(rest):
                changed = rest
    return changed
