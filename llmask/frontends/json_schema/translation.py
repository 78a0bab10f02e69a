"""From a schema to rules: the work list, and how one place is dispatched to the files that know its keywords.

A place is a list of schemas that hold there, a start state and an end state of some rule. Places that need more than
their own keywords, or lie deep, wait in a list, so no schema is too deep for the interpreter; others are written at
once, between the edges into and out of them, which is the order that `load_rules` settles in one round. What stands
once in the schema is written in place, which leaves the parser fewer rules to predict and complete; what is referred
to, and what several schemas describe together, becomes a rule of its own, known by the identities of its schemas, so
recursion ends in a call of a rule that exists already.

In: a schema and options. Out: `Rules`, warnings. Cost: linear in the places visited, which
`limits.max_schema_keywords` bounds: a product of many `anyOf` lists is the way to reach it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.json_schema.alternatives import NOT_STRING, Exclusion, exclusion
from llmask.frontends.json_schema.arrays import emit_array
from llmask.frontends.json_schema.conjunction import (
    Choice,
    Conjunction,
    Part,
    SchemaAt,
    add_schema,
    conjunction_of,
    with_alternative,
)
from llmask.frontends.json_schema.formats import FORMATS
from llmask.frontends.json_schema.keywords import Shape
from llmask.frontends.json_schema.lexemes import lexemes_of_types, punctuation_of, white_space
from llmask.frontends.json_schema.names import strings_of
from llmask.frontends.json_schema.numbers import number_node, number_range
from llmask.frontends.json_schema.objects import emit_object
from llmask.frontends.json_schema.pointers import Path, pointer
from llmask.frontends.json_schema.references import References
from llmask.frontends.json_schema.strings import literal_string, string_node
from llmask.frontends.json_schema.types import ALL_TYPES, types_of
from llmask.frontends.json_schema.values import emit_values, listed_node, scalar_spellings
from llmask.grammar.rules import RuleId, Rules, RuleTemplate, StateId

if TYPE_CHECKING:
    from llmask.derivatives.nodes import RegexNodes
    from llmask.frontends.json_schema.options import SchemaOptions

SCALARS = ("string", "integer", "number", "boolean", "null")  # `type` may be a list, which a set cannot look up
MAX_SHAPES = 100_000
MAX_DEPTH_AT_ONCE = 16  # places below this one wait, so that no schema is too deep for the interpreter
MERGE_WORK = 20  # an alternative merged with what stands beside it: what lies in it is written once more


class Translation:
    """One schema on its way to rules."""

    def __init__(self, nodes: RegexNodes, schema: Any, options: SchemaOptions) -> None:
        self.nodes = nodes
        self.options = options
        self.references = References(schema, options.registry)
        self.schema = self.references.root
        self.draft = self.references.draft
        self.rules = Rules()
        self.warnings: dict[str, str] = {}  # JSON pointer of the keyword -> sentence
        self.reasons: list[tuple[str, Path]] = []  # places that allow nothing
        self.counted: list[tuple[StateId, Path]] = []  # values whose keys are counted for minProperties
        self.punctuation = punctuation_of(nodes)
        self.lexeme_of_type = lexemes_of_types(nodes)
        self.format_patterns = {**FORMATS, **options.formats} if options.formats else FORMATS
        self.format_key = (options.format, tuple(options.formats.items())) if options.formats else options.format
        self._shape_of: dict[int, Shape] = {}  # by identity of the schema, which lives as long as the root
        self._shapes: dict[tuple[str, ...], Shape] = nodes.memo.setdefault((__name__, "shapes", self.draft), {})
        self._keys: dict[str, int] = nodes.memo.setdefault((__name__, "keys"), {})
        self._rule_of: dict[Any, RuleId] = {}
        self._any: RuleId | None = None
        self._work = 0
        self._max_work = options.limits.max_schema_keywords
        self._path: Path = ()  # of the place that is written, for messages
        self._waiting: list[tuple[list[SchemaAt], RuleId, StateId, StateId, int, bool]] = []

    def run(self) -> Rules:
        """Write all rules.

        Raises
        ------
        GrammarError, UnsupportedSchema, UnsatisfiableSchema, LimitExceeded
            As `compile_schema` says.
        """
        rules = self.rules
        if self.options.whitespace == "flexible" and self.options.max_whitespace:
            rules.ignored = white_space(self.nodes, self.options.max_whitespace)
        schemas = self._followed([(self.schema, ())])
        rules.start = self.rule_of(schemas) if schemas else self.any_rule()
        waiting = self._waiting
        try:
            while waiting:
                place = waiting.pop()
                self._path = place[0][0][1]
                self._write(*place)
        except LimitExceeded as error:
            if error.where is not None:
                raise
            raise LimitExceeded(error.message, pointer(self._path), error.help) from None
        return rules

    # --- bookkeeping

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
            raise GrammarError(f"a schema must be an object or a boolean, not {_shown(schema)}", pointer(path))
        keys = tuple(schema)
        draft = self.references.draft_at(schema, path)
        shapes = self._shapes if draft == self.draft else self.nodes.memo.setdefault((__name__, "shapes", draft), {})
        shape = shapes.get(keys)
        if shape is None:
            if not all(type(key) is str for key in keys):
                raise GrammarError("the keys of a schema must be strings", pointer(path))
            if len(shapes) >= MAX_SHAPES:
                shapes.clear()
            shape = shapes[keys] = Shape(keys, draft)
        for keyword, check, expected in shape.checks:
            if not check(schema[keyword]):
                raise GrammarError(
                    f'"{keyword}" must be {expected}, not {_shown(schema[keyword])}', pointer(path, keyword)
                )
        if shape.of_other_drafts:
            for keyword in shape.of_other_drafts:
                where = pointer(path, keyword)
                self.ignore(keyword, where, "the declared draft does not know it, so it is an annotation")
        self._shape_of[id(schema)] = shape
        return shape

    def count_work(self, n: int = 1) -> None:
        """Count schemas visited."""
        self._work += n
        if self._work > self._max_work:
            raise LimitExceeded(
                f"compiling the schema visits more than {self._max_work} subschemas (limits.max_schema_keywords)",
                None,
                "Combinations of anyOf, oneOf and allOf multiply; simplify them or raise the limit.",
            )

    def check_depth(self, depth: int, path: Path) -> None:
        """Refuse a place nested deeper than the limit."""
        if depth > self.options.limits.max_schema_depth:
            raise LimitExceeded(
                f"the schema is nested deeper than {self.options.limits.max_schema_depth} (limits.max_schema_depth)",
                pointer(path),
                "Use references for recursive structures, or raise the limit.",
            )

    def ignore(self, keyword: str, where: str, reason: str) -> None:
        """Note in the warnings that a keyword is not enforced."""
        self.warnings.setdefault(where, f'"{keyword}" at {where} is not enforced: {reason}')

    def nothing(self, reason: str, path: Path) -> None:
        """Note why no edge is written for a place."""
        self.reasons.append((reason, path))

    def key_node(self, name: str, schemas: list[SchemaAt]) -> int:
        """Lexeme of a declared key."""
        node = self._keys.get(name)
        if node is None:
            node = self._keys[name] = literal_string(self.nodes, name, schemas[0][1] if schemas else ())
        return node

    # --- places

    def place(self, schemas: list[SchemaAt], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        """Let everything that fulfils `schemas` stand between two states, now or later."""
        self._work += 1
        if self._work > self._max_work:
            self.count_work(0)
        if not schemas:
            self.rules.call(start, self.any_rule(), end)
            return
        if len(schemas) == 1:
            schema, path = schemas[0]
            if type(schema) is dict:
                shape = self.shape(schema, path)
                if shape.is_scalar_type and type(schema["type"]) is str:
                    lexeme = self.lexeme_of_type.get(schema["type"])
                    if lexeme is not None:
                        self.rules.scan(start, lexeme, end)
                        return
                elif shape.is_plain and not shape.unenforced:
                    if schema.get("type") in SCALARS:
                        self._write_parts([(schema, path, shape)], rule, start, end, depth)
                        return
                    if depth < MAX_DEPTH_AT_ONCE:
                        above, self._path = self._path, path
                        self.check_depth(depth + 1, path)
                        if shape.is_open:
                            self.rules.call(start, self.any_rule(), end)
                        else:
                            self._write_parts([(schema, path, shape)], rule, start, end, depth + 1)
                        self._path = above
                        return
        self._waiting.append((schemas, rule, start, end, depth + 1, False))

    def _write(
        self, schemas: list[SchemaAt], rule: RuleId, start: StateId, end: StateId, depth: int, is_body: bool
    ) -> None:
        """Write the edges of a place that waited; the body of a rule is written out, other shared places are called."""
        path = schemas[0][1]
        self.check_depth(depth, path)
        if not is_body:
            schemas = self._followed(schemas)
            if not schemas:
                return self.rules.call(start, self.any_rule(), end)
            if len(schemas) > 1 or not self._stands_in_place(*schemas[0], path):
                return self.rules.call(start, self.rule_of(schemas), end)
        return self._write_conjunction(conjunction_of(self, schemas), path, rule, start, end, depth)

    def _stands_in_place(self, schema: Any, at: Path, path: Path) -> bool:
        """Whether a place is written where it stands: what is not referred to and takes in nothing from elsewhere.

        Everything else must be a rule, as it may lead back to itself.
        """
        if type(schema) is not dict:
            return True
        shape = self.shape(schema, at)
        if at is not path:
            return shape.is_plain and schema.get("type") in SCALARS
        return shape.is_plain or shape.in_place in (("anyOf",), ("oneOf",))

    def _followed(self, schemas: list[SchemaAt]) -> list[SchemaAt]:
        """The same schemas with bare references followed, each once, `true` left out."""
        found: dict[int, SchemaAt] = {}
        for schema, path in schemas:
            seen: set[int] = set()
            while type(schema) is dict and self.shape(schema, path).in_place == ("$ref",):
                if id(schema) in seen:
                    raise GrammarError("the schema refers to itself without describing anything", pointer(path))
                seen.add(id(schema))
                schema, path = self.references.resolve(schema["$ref"], path)
            if schema is not True:
                found.setdefault(id(schema), (schema, path))
        return list(found.values())

    def rule_of(self, schemas: list[SchemaAt]) -> RuleId:
        """Rule of everything that fulfils `schemas`."""
        key = frozenset(id(schema) for schema, _ in schemas)
        rule = self._rule_of.get(key)
        if rule is None:
            rules = self.rules
            rule = self._rule_of[key] = rules.rule(pointer(schemas[0][1]))
            end = rules.state(rule)
            rules.final(end)
            self._waiting.append((schemas, rule, rules.start_state(rule), end, 0, True))
        return rule

    def any_rule(self) -> RuleId:
        """Rule of every JSON value: written out once a store, copied with its states moved afterwards."""
        if self._any is None:
            rules = self.rules
            rule = self._any = rules.rule("any value")
            start = rules.start_state(rule)
            template: RuleTemplate | None = self.nodes.memo.get((__name__, "any"))
            if template is None:
                n_edges = len(rules.edges)
                end = rules.state(rule)
                rules.final(end)
                for kind in ALL_TYPES:
                    self._write_type(kind, [], rule, start, end, 0)
                self.nodes.memo[(__name__, "any")] = RuleTemplate(rules, rule, n_edges)
            else:
                template.write(rules, rule)
        return self._any

    def _write_conjunction(
        self, conjunction: Conjunction, path: Path, rule: RuleId, start: StateId, end: StateId, depth: int
    ) -> None:
        """Write the alternatives of a place, one choice after the other."""
        if conjunction.false_at is not None:
            return self.nothing("the schema is false", conjunction.false_at)
        if not conjunction.choices:
            if not conjunction.parts:
                return self.rules.call(start, self.any_rule(), end)
            return self._write_parts(conjunction.parts, rule, start, end, depth)
        choice = conjunction.choices.pop()
        self.check_depth(len(conjunction.choices), path)
        is_bare = not conjunction.parts and not conjunction.choices
        if choice.keyword == "oneOf" and exclusion(self, conjunction, choice) is Exclusion.BUT_STRINGS:
            self._write_strings(conjunction, choice, start, end)
            add_schema(self, conjunction, NOT_STRING, choice.path)
            is_bare = False
        spellings: list[bytes] = []
        for schema, at in choice.schemas:
            self.count_work(1 if is_bare else MERGE_WORK)
            if not is_bare:
                other = with_alternative(self, conjunction, choice, schema, at)
                self._write_conjunction(other, at, rule, start, end, depth)
                continue
            listed = self._scalars_of(schema, at)
            if listed is not None:
                spellings += listed
            else:
                self._waiting.append(([(schema, at)], rule, start, end, depth + 1, False))
        if spellings:
            self.rules.scan(start, listed_node(self.nodes, spellings), end)
        return None

    def _scalars_of(self, schema: Any, path: Path) -> list[bytes] | None:
        """Spellings of a schema's values, if it lists scalars and nothing else: alternatives like that are one edge."""
        if type(schema) is not dict:
            return None
        shape = self.shape(schema, path)
        if not shape.has_values or not shape.is_plain or shape.unenforced:
            return None
        return scalar_spellings(self, (schema, path, shape))

    def _write_strings(self, conjunction: Conjunction, choice: Choice, start: StateId, end: StateId) -> None:
        """Write the strings of a `oneOf` whose schemas share some: those that fulfil exactly one."""
        whole = conjunction.copy()
        whole.choices.append(choice)
        node = strings_of(self, whole)
        if node == self.nodes.EMPTY:
            return self.nothing("no string fulfils exactly one schema of oneOf", choice.path)
        return self.rules.scan(start, node, end)

    def _write_parts(self, parts: list[Part], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        """Write what the own keywords of all `parts` leave."""
        for _, _, shape in parts:
            if shape.has_values:
                return emit_values(self, parts, rule, start, end)
        types = types_of(parts)
        if not types:
            return self.nothing("no type fulfils all of the schemas that hold here", parts[0][1])
        for kind in types:
            self._write_type(kind, parts, rule, start, end, depth)
        return None

    def _write_type(self, kind: str, parts: list[Part], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        lexemes = self.punctuation
        if kind == "object":
            return emit_object(self, parts, rule, start, end, depth)
        if kind == "array":
            return emit_array(self, parts, rule, start, end, depth)
        if kind == "string":
            node = string_node(self, parts)
        elif kind == "boolean" or kind == "null":
            node = lexemes.boolean if kind == "boolean" else lexemes.null
        elif any(shape.has_number for _, _, shape in parts):
            subjects = [schema for schema, _, shape in parts if shape.has_number]
            node = number_node(self.nodes, number_range(subjects, kind == "integer"))
        else:
            node = lexemes.integer if kind == "integer" else lexemes.number
        if node == self.nodes.EMPTY:
            return self.nothing(f"no {kind} fulfils all of its keywords", parts[0][1])
        return self.rules.scan(start, node, end)


def _shown(value: Any) -> str:
    """A short spelling of a value for messages."""
    if type(value) is dict or type(value) is list:
        return "an object" if type(value) is dict else "a list"
    try:
        text = repr(value)
    except ValueError:
        return "a number of very many digits"
    return text if len(text) <= 40 else text[:37] + "..."
