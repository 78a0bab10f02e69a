"""From a schema to rules: the work list, and how one place is dispatched to the files that know its keywords.

A place is a list of schemas that hold there, a start state and an end state of some rule. Places that need more than
their own keywords, or lie deep, wait in a list, so no schema is too deep for the interpreter; others are written at
once, between the edges into and out of them, which is the order that `load_rules` settles in one round. What is
once in the schema is written in place, which leaves the parser fewer rules to predict and complete; what is referred
to, and what several schemas describe together, becomes a rule of its own, known by the identities of its schemas, so
recursion ends in a call of a rule that exists already.

In: a schema and options. Out: `Rules`, warnings. Cost: linear in the places visited, which
`limits.max_schema_keywords` bounds: a product of many `anyOf` lists is the way to reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from typing import Any

from llmask.errors import GrammarError, LimitExceeded, LlmaskError, UnsupportedSchema
from llmask.grammar.kinds import EDGE_FIELDS, FIRST_FOLLOWING, NO_GUARD, SCAN, RuleId, StateId, pack_edge
from llmask.grammar.rules import Rules, RuleTemplate
from llmask.regex.nodes import RegexNodes
from llmask.work import share, spend

from ..lexical.lexemes import white_space
from ..lexical.strings import Made
from ..meaning.array_layout import ArrayLayout
from ..meaning.choices import n_ways, overlaps, pairs_to_prove, settle, told_by_key, without_shared_types
from ..meaning.conjunction import conjunction_of, strings_of, with_alternative
from ..meaning.context import circle
from ..meaning.contradictions import ALTERNATIVES_HELP, COUNTED_HELP, STRINGS_HELP, bounds_help, false_help, types_help
from ..meaning.evaluated import closed
from ..meaning.instances import allowed_values, fulfilling_all, type_of
from ..meaning.key_conditions import conditioned_object
from ..meaning.marks import marks_of, pairs_left
from ..meaning.place import ALL_TYPES, Conjunction, Part, SchemaAt, types_of
from ..meaning.satisfiable import states_that_lead_on
from ..meaning.scalars import scalar_node
from ..meaning.synthetic import negated, of_types
from ..reading.keywords import FOLLOWED, WITHOUT_CONTAINS
from ..reading.options import SchemaOptions
from ..reading.pointers import ROOT, Path, pointer
from .arrays import CountingWriter, emit_array
from .followed_objects import FollowedArray
from .new_values import most_followed_items
from .objects import emit_object
from .set_objects import emit_conditioned
from .unique_arrays import UniqueArray, emit_equal_items, refuses_equal_items
from .values import emit_listed, emit_values, listed_node, scalar_spellings
from .writer import Span, Writer

SCALARS = ("string", "integer", "number", "boolean", "null")  # `type` may be a list, which a set cannot look up
MANY_WAYS = 20  # combinations of alternatives beyond which objects are written by a condition on their keys
MANY_PAIRS = 15  # the same of alternatives of oneOf that may overlap
MANY_LISTS = 4  # of values of a key, for which conditions on it are decided
MOST_WAYS = 1_000_000  # the same, also where values divide into classes that are hard to write
PLACE_WORK = 10  # units to write a place
VARIANT_SHARE = 4  # a variant of a rule may take this part of a step's work
MAX_DEPTH_AT_ONCE = 16  # places below this one wait, so that no schema is too deep for the interpreter


class Translation(Writer):
    """One schema on its way to rules, or what else holds at one place of it."""

    __slots__ = (
        "_any", "_own_rules", "_path", "_root", "_rule_of", "_too_many", "_waiting", "n_stricter", "productive",
    )  # fmt: skip

    def __init__(
        self, nodes: RegexNodes, schema: Any, options: SchemaOptions, place: list[SchemaAt] | None = None
    ) -> None:
        super().__init__(nodes, schema, options)
        self._root = [(self.schema, ROOT)] if place is None else place
        self._rule_of: dict[Any, RuleId] = {}
        self._own_rules: dict[Hashable, Any] = {}
        self._any: RuleId | None = None
        self.productive: tuple[bytearray, int] = (bytearray(), 0)  # states, and edges that were looked at
        self._path: Path = ()  # of the place that is written, for messages
        self.n_stricter = 0  # variants that allow less than they could, see `make_variant`
        self._too_many: dict[RuleId, int] = {}  # a rule without that number of texts takes more than a step may
        self._waiting: list[tuple[list[SchemaAt], Span, bool]] = []

    def run(self) -> Rules:
        """Write all rules: again and without them, when guards relied on places that turn out to allow nothing.

        And again where a dynamic anchor was met on the way: a place means another one in each scope from then on.

        Raises
        ------
        GrammarError, UnsupportedSchema, UnsatisfiableSchema, LimitExceeded
            As `compile_schema` says.
        """
        try:
            while True:
                was_scoped = self.references.is_scoped
                try:
                    self._write_all()
                    found = self._void_places()
                except LlmaskError:
                    if self.references.is_scoped == was_scoped:
                        raise
                    found = set()
                if not found and self.references.is_scoped == was_scoped:
                    return self.rules
                self.void |= found
                self.rules = Rules()
                for noted in (self.needs, self.counted, self._waiting):
                    noted.clear()
                self.productive = bytearray(), 0
                self._rule_of.clear()
                self._own_rules.clear()
                self.variants.clear()
                self.stricter.clear()
                self.following.clear()
                self._any = None
        except LlmaskError as error:
            if error.where is not None or type(error) not in (GrammarError, LimitExceeded):
                raise
            raise type(error)(error.message, pointer(self._path), error.help) from None

    def overlapping(self, schemas: list[SchemaAt]) -> list[tuple[int, int]]:
        """Pairs of positions of schemas that their marks do not show to exclude each other."""
        return list(pairs_left(self, schemas))

    def closed(self, schemas: list[SchemaAt]) -> list[SchemaAt]:
        """The schemas of a place, with what the option `closed` adds."""
        return closed(self, schemas)

    def own_rule(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """A rule that is no place of the schema, or a state, made once for `key`."""
        found: Made | None = self._own_rules.get(key)
        if found is None:
            found = self._own_rules[key] = make()
        return found

    def make_variant(self, rule: RuleId, texts: list[bytes]) -> RuleId | None:
        """Write the rule that derives what `rule` does without the values of some texts; None when nothing is left.

        From FIRST_FOLLOWING on it is a state, see `Rules.follow_guard`.

        Each has a budget of its own: a grammar that is used for long meets any number of them. Where that is spent and
        the rule has a stricter variant, that is taken instead: a sequence that has begun can go on.

        Raises
        ------
        LimitExceeded
            When it takes more than the limits allow, or the schema of other values cannot be written.
        """
        key = ("variant", rule, frozenset(texts))
        if key not in self._synthetic:
            self._synthetic[key] = self._variant_within_limits(rule, texts)
        is_key = rule >= FIRST_FOLLOWING and len(texts) == 1  # one of any number: what follows them is known otherwise
        found: RuleId | None = self._synthetic.pop(key) if is_key else self._synthetic[key]
        return found

    def _variant_within_limits(self, rule: RuleId, texts: list[bytes]) -> int | None:
        if rule >= FIRST_FOLLOWING:
            return self._written_variant(self.following[rule - FIRST_FOLLOWING], texts)
        write_stricter = self.stricter.get(rule)
        if write_stricter is None:
            return self._written_variant(self.variants[rule], texts)
        if len(texts) < self._too_many.get(rule, len(texts) + 1):
            try:
                with share(VARIANT_SHARE):
                    return self._written_variant(self.variants[rule], texts)
            except LimitExceeded:
                spend(0)  # what is left of this step may have been less than that: another one has more
                self._too_many[rule] = len(texts)  # more of them take more
        made = self._written_variant(write_stricter, texts)
        if made is None:  # nothing plain to write: the exact rule may take all that is left of the step
            return self._written_variant(self.variants[rule], texts)
        self.n_stricter += 1
        return made

    def _written_variant(self, write: Callable[[list[bytes]], int | None], texts: list[bytes]) -> int | None:
        """Write a variant: again, where guards relied on places that turn out to allow nothing."""
        while True:
            forget = self._undo()
            self.begin()
            try:
                made = write(texts)
                self.write_waiting()
                found = self._void_places()
            except BaseException as error:  # an interrupt, too: others go on with these rules
                forget()
                if isinstance(error, UnsupportedSchema):
                    message = f"leaving out what was read: {error.message}"
                    raise LimitExceeded(message, error.where, error.help) from None
                raise
            if not found:
                return made
            self.void |= found
            forget()

    def _undo(self) -> Callable[[], None]:
        """A function that forgets what will have been written; nothing waits and no guard relies on a place now."""
        sizes, n_rules, n_own = self.rules.sizes(), len(self._rule_of), len(self._own_rules)
        n_following = len(self.following)
        known, productive = self._any, self.productive

        def forget() -> None:
            self.rules.cut(sizes)
            self._rule_of = dict(islice(self._rule_of.items(), n_rules))
            self._own_rules = dict(islice(self._own_rules.items(), n_own))
            for writers in (self.variants, self.stricter):
                for rule in [rule for rule in writers if rule >= len(self.rules.names)]:
                    del writers[rule]
            del self.following[n_following:]
            self._any, self.productive = known, productive
            self._waiting.clear()
            self.counted, self.needs = {}, {}

        return forget

    def _write_all(self) -> None:
        rules = self.rules
        rules.values_are_json = True
        if self.options.whitespace == "flexible" and self.options.max_whitespace:
            rules.ignored = white_space(self.nodes, self.options.max_whitespace)
        schemas = self._followed(self.closed(self._root))
        rules.start = self.rule_of(schemas)
        self.write_waiting()

    def write_waiting(self) -> None:
        """Write the places that wait."""
        waiting = self._waiting
        while waiting:
            place = waiting.pop()
            self._path = place[0][0][1]
            self._write(*place)

    def _void_places(self) -> set[Hashable]:
        """Places that guards rely on and that allow nothing."""
        if not self.counted:
            return set()
        counted, self.counted = self.counted, {}
        needs, self.needs = self.needs, {}
        ends = (end for end, _ in counted.values())
        productive, allowing = states_that_lead_on(self.rules, needs, ends, *self.productive)
        self.productive = productive, len(self.rules.edges) // EDGE_FIELDS
        return {place for start, (_, place) in counted.items() if not allowing[start]} - self.void

    # --- places

    def place(self, schemas: list[SchemaAt], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        """Write everything that fulfils `schemas` between two states, now or later."""
        self._work += 1
        if self._work > self._max_work:
            self.count_work(0)
        spend(PLACE_WORK)
        if not schemas:
            self.rules.call(start, self.any_rule(), end)
            return
        if len(schemas) == 1:
            schema, path = schemas[0]
            if type(schema) is dict:
                shape = self.shape(schema, path)
                if shape.is_plain:
                    kind = schema.get("type")
                    if shape.is_scalar_type and type(kind) is str:
                        lexeme = self.lexeme_of_type.get(kind)
                        # draft 4 writes an integer without a fraction
                        if lexeme is not None and (shape.draft not in WITHOUT_CONTAINS or kind != "integer"):
                            self.rules.edges.frombytes(pack_edge(start, SCAN, lexeme, end, NO_GUARD))
                            return
                    if kind in SCALARS:
                        self._write_parts([(schema, path, shape)], Span(rule, start, end, depth))
                        return
                    if depth < MAX_DEPTH_AT_ONCE and not self.shares_places:
                        above, self._path = self._path, path
                        self.check_depth(depth + 1, path)
                        if shape.is_open:
                            self.rules.call(start, self.any_rule(), end)
                        else:
                            self._write_parts([(schema, path, shape)], Span(rule, start, end, depth + 1))
                        self._path = above
                        return
        self._waiting.append((schemas, Span(rule, start, end, depth + 1), False))

    def _write(self, schemas: list[SchemaAt], span: Span, is_body: bool) -> None:
        """Write the edges of a place that waited; the body of a rule is written out, other shared places are called."""
        path = schemas[0][1]
        self.check_depth(span.depth, path)
        if not is_body:
            schemas = self._followed(schemas)
            if len(schemas) != 1 or self.shares_places or not self._is_in_place(*schemas[0], path):
                return self.rules.call(span.start, self.rule_of(schemas), span.end)
        schema, at = schemas[0]
        if len(schemas) == 1 and type(schema) is dict:
            shape = self.shape(schema, at)
            if shape.is_plain and not shape.is_open:  # most are
                self.count_work()
                return self._write_parts([(schema, at, shape)], span)
        return self.write_conjunction(conjunction_of(self, schemas), path, span)

    def _is_in_place(self, schema: Any, at: Path, path: Path) -> bool:
        """Whether a place is written where it is: what is not referred to and takes in nothing from elsewhere.

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
        if len(schemas) == 1 and type(schemas[0][0]) is dict and "$ref" not in schemas[0][0]:
            return schemas
        found: dict[Hashable, SchemaAt] = {}
        for schema, path in schemas:
            schema, path = self.followed(schema, path)
            if type(schema) is dict and self.shape(schema, path).in_place == ("$ref",):
                raise circle(path)
            if schema is not True:
                found.setdefault(self.identity(schema, path), (schema, path))
        return list(found.values())

    def rule_of(self, schemas: list[SchemaAt]) -> RuleId:
        """Rule of everything that fulfils `schemas`."""
        if not schemas:
            return self.any_rule()
        key = self.place_key(schemas)
        rule = self._rule_of.get(key)
        if rule is None:
            span = self.new_rule(pointer(schemas[0][1]))
            rule = self._rule_of[key] = span.rule
            self._waiting.append((schemas, span, True))
        return rule

    def any_rule(self) -> RuleId:
        """Rule of every JSON value: written out once a store, copied with its states moved afterwards.

        Objects that remember their keys are rules of their own, which a template does not hold; those are written anew.
        """
        if self._any is None:
            rules = self.rules
            rule = self._any = rules.rule("any value")
            start = rules.start_state(rule)
            key = (__name__, "any", self.options.numbers)
            is_template = not self.options.unique_keys
            template: RuleTemplate | None = self.nodes.memo.get(key) if is_template else None
            if template is None:
                n_edges = len(rules.edges)
                end = rules.state(rule)
                rules.final(end)
                for kind in ALL_TYPES:
                    self._write_type(kind, [], Span(rule, start, end, 0))
                if is_template:
                    self.nodes.memo[key] = RuleTemplate(rules, rule, n_edges)
            else:
                template.write(rules, rule)
        return self._any

    def write_conjunction(self, conjunction: Conjunction, path: Path, span: Span) -> None:
        """Write the alternatives of a place, one choice after the other."""
        if conjunction.false_at is not None:
            help = None if self.reasons else false_help(self.schema, conjunction.false_at)
            return self.nothing("the schema is false", conjunction.false_at, help)
        if not conjunction.choices:
            if not conjunction.parts:
                return self.rules.call(span.start, self.any_rule(), span.end)
            return self._write_parts(conjunction.parts, span)
        if conjunction.parts or len(conjunction.choices) > 1:
            conjunction = settle(self, conjunction)
            if conjunction.false_at is not None:
                return self.nothing(
                    "none of the alternatives fulfils the other keywords", conjunction.false_at, ALTERNATIVES_HELP
                )
            if not conjunction.choices:
                return self._write_parts(conjunction.parts, span)
        if types_of(conjunction.parts) == ("string",) and not self._lists_values(conjunction):
            return self._write_strings(conjunction, path, span)
        index = min(range(len(conjunction.choices)), key=lambda index: len(conjunction.choices[index].schemas))
        choice = conjunction.choices[index]
        if choice.keyword == "oneOf":
            conjunction = without_shared_types(self, conjunction, choice)
            if conjunction.false_at is not None:
                return self.nothing("every value fulfils none or several of the alternatives", path, ALTERNATIVES_HELP)
        is_bare = not conjunction.parts and len(conjunction.choices) == 1
        others: dict[int, list[int]] = {}
        ways = 1 if is_bare else n_ways(self, conjunction, MOST_WAYS)
        if ways > MANY_WAYS and self._write_listed(conjunction, path, span):
            return None
        pairs: list[tuple[int, int]] = []
        told: list[Conjunction] = []
        if choice.keyword == "oneOf":
            rest = conjunction.copy()
            del rest.choices[index]
            pairs = pairs_to_prove(self, rest, choice)
        if len(pairs) > MANY_PAIRS:
            told = told_by_key(self, conjunction, index, len(choice.schemas) // 2 + 1)
        elif ways > MANY_WAYS and ways > len(choice.schemas):
            told = told_by_key(self, conjunction, index, MANY_LISTS)
        for one in told:
            self.write_conjunction(one, path, span)
        if told:
            return None
        is_large = len(pairs) > MANY_PAIRS or (ways > MANY_WAYS and ways > len(choice.schemas))
        is_too_large = len(pairs) > MANY_PAIRS or ways > MOST_WAYS
        if is_large and self._write_conditioned(conjunction, path, is_too_large, span):
            return None
        if choice.keyword == "oneOf":
            others = overlaps(self, rest, choice, pairs)
        n_choices, most = len(conjunction.choices), self.options.limits.max_schema_depth
        if n_choices > most:  # each is written within the one before
            raise LimitExceeded(
                f"{n_choices} alternatives meet in one place, at most {most} are combined (limits.max_schema_depth)",
                pointer(path),
                "Use fewer anyOf, oneOf, if and dependentRequired there, or raise this limit or max_tracked_names.",
            )
        spellings: list[bytes] = []
        for at, member in enumerate(choice.schemas):
            self.count_work()
            schemas = [member, *(negated(self, *choice.schemas[other]) for other in others.get(at, ()))]
            if not is_bare:
                other = with_alternative(self, conjunction, index, schemas)
                self.write_conjunction(other, member[1], span)
                continue
            listed = self._scalars_of(*member) if len(schemas) == 1 else None
            if listed is not None:
                spellings += listed
            else:
                self._waiting.append((schemas, span._replace(depth=span.depth + 1), False))
        if spellings:
            self.rules.scan(span.start, listed_node(self, spellings), span.end)
        return None

    def _write_conditioned(self, conjunction: Conjunction, path: Path, is_needed: bool, span: Span) -> bool:
        """Write objects by one condition on their keys, and other types as before; whether that is possible."""
        types = types_of(conjunction.parts)
        if "object" not in types:
            return False
        # where one alternative is not told so, its neighbours are hardly, and reading them is dear
        in_vain = ("read in vain", *path[:1])
        if in_vain in self._synthetic and not is_needed:
            return False
        found = conditioned_object(self, conjunction, path, is_needed)
        if found is None:
            self._synthetic[in_vain] = True
            return False
        emit_conditioned(self, found, path, span)
        others = [kind for kind in types if kind != "object"]
        if others:
            told, _ = of_types(self, others, path)
            rest = conjunction.copy()
            rest.parts.append((told, path, self.shape(told, path)))
            self.write_conjunction(rest, path, span)
        return True

    def _write_listed(self, conjunction: Conjunction, path: Path, span: Span) -> bool:
        """Write the values that a part lists and that fulfil everything; whether that is possible.

        How a number is written depends on the alternative that allows it.
        """
        listed = next((values for part in conjunction.parts if (values := allowed_values(part)) is not None), None)
        if listed is None or any(type_of(value, path) in ("integer", "number") for value in listed):
            return False
        values = fulfilling_all(self, listed, conjunction)
        if values:
            emit_listed(self, values, path, span)
        else:
            self.nothing("no value that is listed fulfils the alternatives beside it", path, ALTERNATIVES_HELP)
        return True

    def _write_strings(self, conjunction: Conjunction, path: Path, span: Span) -> None:
        """Write strings as one regular expression; where that is too large, as several, of half the alternatives."""
        index = max(
            range(len(conjunction.choices)), key=lambda index: len(conjunction.choices[index].schemas), default=0
        )
        try:
            node = strings_of(self, conjunction)
        except LimitExceeded:
            self.check_nodes()
            spend(0)
            if not conjunction.choices or conjunction.choices[index].keyword != "anyOf":
                raise
            schemas = conjunction.choices[index].schemas
            if len(schemas) == 1:
                one = with_alternative(self, conjunction, index, schemas)
                return self._write_strings(one, path, span)
            for part in (schemas[: len(schemas) // 2], schemas[len(schemas) // 2 :]):
                half = conjunction.copy()
                half.choices[index] = half.choices[index]._replace(schemas=part)
                self._write_strings(half, path, span)
            return None
        if node == self.nodes.EMPTY:
            return self.nothing("no string fulfils all of the schemas that hold here", path, STRINGS_HELP)
        return self.rules.scan(span.start, node, span.end)

    def _lists_values(self, conjunction: Conjunction) -> bool:
        """Whether some alternative names values, which have one spelling; other strings are one regular expression."""
        schemas = [member for choice in conjunction.choices for member in choice.schemas]
        return any(shape.has_values for _, _, shape in conjunction.parts) or any(
            marks_of(self, *member).values is not None for member in schemas
        )

    def _scalars_of(self, schema: Any, path: Path) -> list[bytes] | None:
        """Spellings of a schema's values, if it lists scalars and nothing else: alternatives like that are one edge."""
        if type(schema) is not dict:
            return None
        shape = self.shape(schema, path)
        if not shape.has_values or not shape.is_plain:
            return None
        return scalar_spellings(self, (schema, path, shape))

    def _write_parts(self, parts: list[Part], span: Span) -> None:
        """Write what the own keywords of all `parts` leave."""
        for _, _, shape in parts:
            if shape.has_values:
                return emit_values(self, parts, span)
        if len(parts) == 1 and type(kind := parts[0][0].get("type")) is str:
            return self._write_type(kind, parts, span)
        types = types_of(parts)
        if not types:
            reason = "no type fulfils all of the schemas that hold here"
            return self.nothing(reason, parts[0][1], None if self.reasons else types_help(parts))
        for kind in types:
            self._write_type(kind, parts, span)
        return None

    def _write_type(self, kind: str, parts: list[Part], span: Span) -> None:
        if kind == "object":
            return emit_object(self, parts, span)
        if kind == "array":
            return self._write_array(parts, span)
        node = scalar_node(self, kind, parts)
        if node == self.nodes.EMPTY:
            help = None if self.reasons else bounds_help(kind, parts)
            return self.nothing(f"no {kind} fulfils all of its keywords", parts[0][1], help)
        return self.rules.scan(span.start, node, span.end)

    def _write_array(self, parts: list[Part], span: Span) -> None:
        path = parts[0][1] if parts else ROOT
        layout = ArrayLayout(self, parts)
        if layout.is_unique and layout.is_not_unique:
            help = 'take out "uniqueItems", or what negates it'
            return self.nothing("two items must be equal and all must differ", path, help)
        has_two = layout.high is None or layout.high > 1
        if layout.is_not_unique and has_two and not refuses_equal_items(self, layout, parts):
            return emit_equal_items(self, layout, path, span)
        if layout.counted and layout.high is not None and layout.low > layout.high:
            return self.nothing(f"{layout.low} items are needed and maxItems is {layout.high}", path, COUNTED_HELP)
        if layout.is_unique and layout.counted:
            from .unique_counted_arrays import emit_unique_counted_array

            return emit_unique_counted_array(self, layout, path, span)
        roots = [schema[FOLLOWED] for schema, _, _ in parts if FOLLOWED in schema]
        if roots and most_followed_items(self, layout):
            return FollowedArray(self, layout, path, span, roots[0]).write()
        if layout.is_unique:
            return UniqueArray(self, layout, path).write(span)
        if layout.counted:
            CountingWriter(self, layout, path, span).write()
            return None
        return emit_array(self, layout, path, span)
