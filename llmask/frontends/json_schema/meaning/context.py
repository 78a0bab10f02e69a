"""What all files of the frontend know of the schema in hand: its keywords, references, limits, and what was noted.

Schemas are known by their identity, so every one that is looked at is kept as long as its context: those that were read
as part of the root, those that the translation writes (`synthetic.py`) in a memo.

In: a schema and options. Out: answers about places. Cost: a dictionary access for a schema that was seen before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

from llmask.errors import GrammarError, LimitExceeded, UnsupportedSchema
from llmask.grammar.kinds import RuleId, StateId
from llmask.grammar.rules import Rules
from llmask.regex.nodes import RegexNodes
from llmask.work import spend

from ..formats import FORMATS
from ..lexical.lexemes import Punctuation, lexemes_of_types, punctuation_of
from ..lexical.strings import Made, literals_of, once, spelled_string
from ..reading.hints import hints_of, schema_help, suspects_of, value_help
from ..reading.keywords import REFERENCES, UNCHECKED, Internal, Shape, is_names
from ..reading.options import SchemaOptions
from ..reading.pointers import Path, pointer
from ..reading.references import References
from .place import SchemaAt
from .satisfiable import Need

WriteVariant = Callable[[list[bytes]], RuleId | None]
MAX_SHAPES = 100_000
MOST_SHOWN = 80  # letters of the place of what is nested too deep
HOP_WORK = 4  # units for a reference that another one leads to


class Context:
    """One schema, and what was found out about it.

    Attributes
    ----------
    rules : what is written.
    keys : lexemes of declared keys, see `key_node`.
    is_in_order : keys are written in the order of the schema, free ones may be repeated, and none is added to
        what the schema says of them.
    warnings : what is not enforced, by JSON pointer of the keyword.
    hints : what is hardly meant, by JSON pointer of the keyword (`hints.py`).
    reasons : places that allow nothing: why, where, and how to mend it.
    shares_places : objects and arrays are rules of their own, as variants of rules will need them again.
    tells_by_key : what a value must fulfil may be found when its key is read, see `Rules.follow_guard`.
    void : places that allow nothing, as a guard must know.
    """

    __slots__ = (
        "__weakref__", "_first_node", "_max_work", "_seen", "_shape_of", "_shapes", "_synthetic", "_work", "counted",
        "draft", "following", "format_key", "format_patterns", "hints", "is_in_order", "items_seen", "keys",
        "lexeme_of_type", "needs", "nodes", "options", "punctuation", "reasons", "references", "rules", "schema",
        "shares_places", "stricter", "tells_by_key", "variants", "void", "warnings",
    )  # fmt: skip

    def __init__(self, nodes: RegexNodes, schema: Any, options: SchemaOptions) -> None:
        self.nodes = nodes
        self.options = options
        self.is_in_order = options.property_order == "schema" and not options.unique_keys and not options.closed
        self.references = References(schema, options.registry, options.dialect is not None)
        self.schema = self.references.root
        self.draft = self.references.draft
        self.rules = Rules()
        self.warnings: dict[str, str] = {}
        self.hints: dict[str, str] = {}
        self.reasons: list[tuple[str, Path, str | None]] = []
        self.void: set[Hashable] = set()
        self.shares_places = self.tells_by_key = False
        self.counted: dict[StateId, tuple[StateId, Hashable]] = {}  # values on which guards rely, and their places
        self.needs: dict[StateId, Need] = {}  # of objects whose guards ask for members, by the last state
        self.punctuation, self.lexeme_of_type, self._shapes, self.keys = once(
            nodes, (__name__, options.numbers, self.draft), lambda: _shared(nodes, options.numbers, self.draft)
        )
        self.format_patterns = {**FORMATS, **options.formats} if options.formats else FORMATS
        self.format_key = (options.format, tuple(options.formats.items())) if options.formats else options.format
        self.variants: dict[RuleId, WriteVariant] = {}  # who writes a rule without some texts
        self.following: list[Callable[[list[bytes]], StateId | None]] = []  # who writes states for known values
        self.stricter: dict[RuleId, WriteVariant] = {}  # the same, of fewer values than are left, in bounded work
        self._shape_of: dict[int, Shape] = {}  # by identity of the schema
        self.items_seen: dict[int, tuple[Path, list[SchemaAt], SchemaAt]] = {}  # path and `items_of`, by identity, too
        self._seen: list[Any] = []  # those schemas, so that no other gets the identity of one
        self._synthetic: dict[Hashable, Any] = {}
        self.begin()
        self._max_work = options.limits.max_schema_keywords

    def begin(self) -> None:
        """Begin to count work: of the schema, and of each rule that is written later."""
        self._first_node = self.nodes.n_nodes
        self._work = 0

    def shape(self, schema: Any, path: Path) -> Shape:
        """What the keys of a schema say; its values are checked.

        Raises
        ------
        GrammarError
            When it is no schema, or the value of a keyword is malformed.
        """
        shape = self._shape_of.get(id(schema))
        if shape is not None:
            return shape
        if type(schema) is not dict:
            raise GrammarError(
                f"a schema must be an object or a boolean, not {shown(schema)}", pointer(path), schema_help(schema)
            )
        if "discriminator" in schema and ("oneOf" in schema or "anyOf" in schema):
            _require_tag(schema)
        keys = tuple(schema)
        references = self.references
        draft = self.draft
        if references.is_read or references.id_key in schema:
            draft = references.draft_at(schema, path)
        shapes = self._shapes if draft == self.draft else _shapes(self.nodes, draft)
        shape = shapes.get(keys)
        if shape is None:
            if not all(type(key) is str or type(key) is Internal for key in keys):
                raise GrammarError("the keys of a schema must be strings", pointer(path), "write them in quotes")
            if len(shapes) >= MAX_SHAPES:
                shapes.clear()
            shape = shapes[keys] = Shape(keys, draft)
            spend(5 * max(len(shape.unknown) - 20, 0))  # of new names, which are compared with all keywords
            shape.suspects = suspects_of(shape)
        for keyword, check, expected in shape.checks:
            if not check(schema[keyword]):
                raise GrammarError(
                    f'"{keyword}" must be {expected}, not {shown(schema[keyword])}',
                    pointer(path, keyword),
                    value_help(keyword, schema[keyword]),
                )
        if shape.adds_null and type(schema["nullable"]) is not bool:
            raise GrammarError(
                f'"nullable" must be true or false, not {shown(schema["nullable"])}',
                pointer(path, "nullable"),
                "write true or false, without quotes",
            )
        if shape.adds_null and schema["nullable"] and type(schema["type"]) is str:
            schema["type"] = list(dict.fromkeys((schema["type"], "null")))  # the schema is a copy of our own
        if shape.of_other_drafts:
            for keyword in shape.of_other_drafts:
                where = pointer(path, keyword)
                self.ignore(keyword, where, "the declared draft does not know it, so it is an annotation")
        if UNCHECKED in shape.unknown and is_names(schema[UNCHECKED]):
            self.warnings[pointer(path, UNCHECKED)] = (
                f"{', '.join(schema[UNCHECKED])} at {pointer(path)} is not enforced: it is asked when a value is read"
            )
        if shape.suspects:
            self.hints.update(hints_of(schema, path, shape))
        self._seen.append(schema)  # before its identity is used, whatever interrupts
        self._shape_of[id(schema)] = shape
        return shape

    def count_work(self, n: int = 1) -> None:
        """Count schemas visited, a unit of work each; `spend` beside it what takes longer or visits none."""
        self._work += n
        spend(n)
        if self._work > self._max_work:
            raise LimitExceeded(
                f"compiling the schema visits more than {self._max_work} subschemas (limits.max_schema_keywords)",
                None,
                "Combinations of anyOf, oneOf and allOf multiply; simplify them or raise the limit.",
            )

    @contextmanager
    def trial(self) -> Iterator[None]:
        """What is counted in the block does not count where it fails."""
        work, n_nodes = self._work, self.nodes.n_nodes
        try:
            yield
        except BaseException:
            self._work = work
            self._first_node += self.nodes.n_nodes - n_nodes
            raise

    def check_nodes(self) -> None:
        """Refuse a schema whose patterns have become too many expressions."""
        most = self.options.limits.max_schema_nodes
        if self.nodes.n_nodes - self._first_node > most:
            raise LimitExceeded(
                f"the patterns of the schema make more than {most} expressions (limits.max_schema_nodes)",
                None,
                "Combine or negate fewer patterns, use shorter repetitions, or raise the limit.",
            )

    def check_depth(self, depth: int, path: Path) -> None:
        """Refuse a place nested deeper than the limit."""
        if depth > self.options.limits.max_schema_depth:
            where = pointer(path)
            raise LimitExceeded(
                f"the schema is nested deeper than {self.options.limits.max_schema_depth} (limits.max_schema_depth)",
                where if len(where) <= MOST_SHOWN else f"{where[:MOST_SHOWN]}..., a place below",
                "Use references for recursive structures, or raise the limit.",
            )

    def ignore(self, keyword: str, where: str, reason: str) -> None:
        """Note in the warnings that a keyword is not enforced."""
        self.warnings.setdefault(where, f'"{keyword}" at {where} is not enforced: {reason}')

    def refuse(self, keyword: str, path: Path, reason: str) -> None:
        """Refuse a keyword that is known and not enforced, or list it in the warnings: a mask would be too permissive.

        Raises
        ------
        UnsupportedSchema
            Unless the caller chose to ignore such keywords.
        """
        where = pointer(path, keyword)
        if self.options.unsupported == "error":
            raise UnsupportedSchema(reason, where, 'Remove it, or pass unsupported="ignore" to accept that.')
        self.ignore(keyword, where, reason)

    def identity(self, schema: Any, path: Path) -> Hashable:
        """What tells a schema at its place from others."""
        return self.references.identity(schema, path) if self.references.is_scoped else id(schema)

    def place_key(self, schemas: list[SchemaAt]) -> Hashable:
        """What tells a place from others, whatever the order of its schemas."""
        if not self.references.is_scoped:
            return frozenset([id(schema) for schema, _ in schemas])
        return frozenset([self.references.identity(schema, path) for schema, path in schemas])

    def synthetic(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Something that the translation makes once for `key` and keeps."""
        found: Made | None = self._synthetic.get(key)
        if found is None:
            found = self._synthetic[key] = make()
        return found

    def target(self, keyword: str, schema: dict[str, Any], path: Path) -> SchemaAt:
        """Schema that a reference names."""
        if keyword == "$ref":
            return self.references.resolve(schema[keyword], path)
        if keyword == "$dynamicRef":
            return self.references.resolve_dynamic(schema[keyword], path)
        return self.references.resolve_recursive(schema[keyword], path)

    def followed(self, schema: Any, path: Path) -> SchemaAt:
        """What bare references lead to; where they lead in a circle, one of that circle."""
        if type(schema) is not dict or "$ref" not in schema:  # most
            return schema, path
        seen: set[Hashable] = set()
        while type(schema) is dict and self.shape(schema, path).in_place == ("$ref",):
            identity = self.identity(schema, path)
            if identity in seen:
                break
            if seen:
                spend(HOP_WORK)
            seen.add(identity)
            schema, path = self.references.resolve(schema["$ref"], path)
        return schema, path

    def targets(self, schema: dict[str, Any], path: Path, shape: Shape) -> list[SchemaAt]:
        """Schemas that all references of a schema name."""
        return [self.target(keyword, schema, path) for keyword in REFERENCES if keyword in shape.in_place]

    def note_counted(self, start: StateId, end: StateId, schemas: list[SchemaAt]) -> None:
        """Note that a guard relies on `schemas`, whose place lies between two states, to allow something."""
        if not schemas:
            return
        schema = schemas[0][0]
        if len(schemas) == 1 and type(schema) is dict:  # most members are one of these, which allow something
            if len(schema) == 1 and schema.get("enum"):
                return
            if self.shape(*schemas[0]).is_scalar_type:
                kind = schema["type"]
                if type(kind) is str and kind in self.lexeme_of_type:
                    return
        self.count_work(len(schemas))
        self.counted[start] = (end, self.place_key(schemas))

    def overlapping(self, schemas: list[SchemaAt]) -> list[tuple[int, int]]:
        """Pairs of positions of schemas that are not seen to exclude each other; the translation looks."""
        raise NotImplementedError  # the answer needs alternatives, which import this file: `Translation` gives it

    def closed(self, schemas: list[SchemaAt]) -> list[SchemaAt]:
        """The schemas of a place, with what the option `closed` adds; the translation adds it."""
        return schemas

    def nothing(self, reason: str, path: Path, help: str | None = None) -> None:
        """Note why no edge is written for a place, and how to mend it."""
        self.reasons.append((reason, path, help))

    def key_node(self, name: str, schemas: list[SchemaAt]) -> int:
        """Lexeme of a declared key."""
        node = self.keys.get(name)
        if node is None:
            spelled = spelled_string(name, schemas[0][1] if schemas else ())
            node = self.keys[name] = literals_of(self.nodes, [spelled])
        return node


def _shapes(nodes: RegexNodes, draft: int) -> dict[tuple[Any, ...], Shape]:
    """What was found out about keys that schemas have together, in any schema of the store."""
    return nodes.remembered((__name__, "shapes", draft))


def _shared(
    nodes: RegexNodes, numbers: str, draft: int
) -> tuple[Punctuation, dict[str, int], dict[tuple[Any, ...], Shape], dict[str, int]]:
    """What schemas of a store have in common: lexemes of marks and types, shapes, lexemes of declared keys."""
    keys = nodes.remembered((__name__, "keys"))
    return punctuation_of(nodes), lexemes_of_types(nodes, numbers), _shapes(nodes, draft), keys


def _require_tag(schema: dict[str, Any]) -> None:
    """Have the property come that OpenAPI's `discriminator` names, as OpenAPI says; the schema is a copy of our own."""
    tag, required = schema["discriminator"], schema.get("required", [])
    name = tag.get("propertyName") if type(tag) is dict else None
    if type(name) is str and is_names(required) and name not in required:
        schema["required"] = [*required, name]


def circle(path: Path) -> GrammarError:
    """The error of a schema at `path` that is defined by nothing but itself."""
    return GrammarError(
        "the schema refers to itself without describing anything",
        pointer(path),
        "describe something before the reference comes back: a type, or properties that hold it",
    )


def shown(value: Any) -> str:
    """A short spelling of a value for messages."""
    if type(value) is dict or type(value) is list:
        kind = "object" if type(value) is dict else "list"
        return f"an empty {kind}" if not value else "an object" if type(value) is dict else "a list"
    try:
        text = repr(value)
    except ValueError:
        return "a number of very many digits"
    return text if len(text) <= 40 else text[:37] + "..."
