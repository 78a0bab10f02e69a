"""`oneOf`: which alternatives exclude each other.

The grammar writes a union of alternatives, which is `anyOf`. It is `oneOf` as well when no value fulfils two of them,
and that is proved here for pairs: two schemas exclude each other when everything that must hold of a value that
fulfils both leaves nothing. The proof follows types, constants, string languages (exact, by intersection of regular
expressions), numeric ranges, counts, and properties that one of the two requires (the usual discriminator). Where it
fails, each of the two is written with the negation of the other beside it, which is exact and larger.

In: a conjunction and a choice. Out: pairs. Cost: that of `discriminators.py`, and about 100 us for each pair that it
leaves.
"""

from __future__ import annotations

from llmask.frontends.json_schema.lexical.numbers import number_node
from llmask.frontends.json_schema.meaning.array_layout import ArrayLayout
from llmask.frontends.json_schema.meaning.conjunction import add_schema, conjunction_of
from llmask.frontends.json_schema.meaning.context import Context
from llmask.frontends.json_schema.meaning.counts import count_range
from llmask.frontends.json_schema.meaning.discriminators import pairs_left
from llmask.frontends.json_schema.meaning.instances import allowed_values, fulfilling
from llmask.frontends.json_schema.meaning.marks import marks_of_parts
from llmask.frontends.json_schema.meaning.names import strings_of
from llmask.frontends.json_schema.meaning.object_layout import key_schemas
from llmask.frontends.json_schema.meaning.place import Choice, Conjunction, Part, SchemaAt
from llmask.frontends.json_schema.meaning.ranges import range_of
from llmask.frontends.json_schema.meaning.types import types_of

MAX_PROOF_DEPTH = 6  # properties within properties that a proof looks into
MAX_CASES = 64  # combinations of nested alternatives that a proof looks at
PROOF_WORK = 50  # a proof, counted in subschemas visited


def pairs_to_prove(context: Context, conjunction: Conjunction, choice: Choice) -> list[tuple[int, int]]:
    """Pairs of alternatives that neither marks nor strings under one key tell apart."""
    left = list(pairs_left(context, choice.schemas))
    if len(left) > len(choice.schemas):
        apart = _told_by_strings(context, conjunction, choice)
        left = [(at, beyond) for at, beyond in left if not (at in apart and apart.get(beyond))]
    return left


def n_ways(context: Context, conjunction: Conjunction, most: int, depth: int = 0) -> int:
    """How many combinations of alternatives there are, those inside of alternatives too; beyond `most` some number."""
    found = 1
    for choice in conjunction.choices:
        found *= sum([_n_ways_of(context, member, most, depth + 1) for member in choice.schemas])
        if found > most:
            break
    return found


def _n_ways_of(context: Context, member: SchemaAt, most: int, depth: int) -> int:
    schema, path = member
    if type(schema) is not dict or context.shape(schema, path).is_plain or depth > MAX_PROOF_DEPTH:
        return 1
    key = ("ways", context.identity(schema, path))
    found: int = context.synthetic(key, lambda: n_ways(context, conjunction_of(context, [member]), most, depth))
    return found


def overlaps(
    context: Context, conjunction: Conjunction, choice: Choice, left: list[tuple[int, int]]
) -> dict[int, list[int]]:
    """For the alternatives of a choice, those that were not proved to exclude them beside `conjunction`, of `left`."""
    found: dict[int, list[int]] = {}
    case, case_at = conjunction, -1
    for at, beyond in left:
        context.count_work(PROOF_WORK * (1 + len(conjunction.parts) // 8))
        if at != case_at:
            case, case_at = conjunction.copy(), at
            add_schema(context, case, *choice.schemas[at])
        both = case.copy()
        add_schema(context, both, *choice.schemas[beyond])
        if not is_void(context, both):
            found.setdefault(at, []).append(beyond)
            found.setdefault(beyond, []).append(at)
    return found


def _told_by_strings(context: Context, conjunction: Conjunction, choice: Choice) -> dict[int, bool]:
    """Alternatives that require a string under the same key: whether none before them there allows the same one."""
    languages: dict[str, dict[int, int]] = {}
    for at, member in enumerate(choice.schemas):
        case = conjunction.copy()
        add_schema(context, case, *member)
        for name in marks_of_parts(context, case.parts).required:
            under = conjunction_of(context, key_schemas(context, case.parts, name))
            if types_of(under.parts) == ("string",):
                languages.setdefault(name, {})[at] = strings_of(context, under, is_most=True)
    nodes, before = context.nodes, context.nodes.EMPTY
    told: dict[int, bool] = {}
    for at, language in max(languages.values(), key=len, default={}).items():
        context.count_work(PROOF_WORK)
        context.check_nodes()
        told[at] = nodes.is_empty(nodes.intersect([language, before]))
        before = nodes.union([before, language])
    return told


def without_shared_types(context: Context, conjunction: Conjunction, choice: Choice) -> Conjunction:
    """The conjunction without types that two alternatives of a oneOf accept whole: there it never holds."""
    n_taking = dict.fromkeys(types_of(conjunction.parts), 0)
    for member in choice.schemas:
        alternative = conjunction_of(context, [member])
        if alternative.false_at is None and not alternative.choices:
            for kind in n_taking:
                n_taking[kind] += all(_takes_all(part, kind) for part in alternative.parts)
    left = [kind for kind, n in n_taking.items() if n < 2]
    if len(left) == len(n_taking):
        return conjunction
    fewer = conjunction.copy()
    if left:
        told = context.synthetic(("types", *left), lambda: {"type": left})
        fewer.parts.append((told, choice.path, context.shape(told, choice.path)))
    else:
        fewer.false_at = choice.path
    return fewer


def _takes_all(part: Part, kind: str) -> bool:
    """Whether a part holds for every value of a type, as its keywords show."""
    shape = part[2]
    if kind not in types_of([part]) or shape.has_values or shape.has_except:
        return False
    speaks = {"string": shape.has_string, "object": shape.has_object, "array": shape.has_array}
    return not speaks.get(kind, kind in ("number", "integer") and shape.has_number)


def is_void(context: Context, conjunction: Conjunction, depth: int = 0) -> bool:
    """Whether it is proved that no value fulfils all of it."""
    context.count_work()
    if conjunction.false_at is not None:
        return True
    if conjunction.parts and _parts_are_void(context, conjunction.parts, depth):
        return True
    if not conjunction.choices:
        return False
    n_cases = 1
    for choice in conjunction.choices:
        n_cases *= len(choice.schemas)
    if n_cases > MAX_CASES:
        return False
    choice = conjunction.choices[-1]
    for schema, path in choice.schemas:
        case = conjunction.copy()
        case.choices.pop()
        add_schema(context, case, schema, path)
        if not is_void(context, case, depth):
            return False
    return True


def _parts_are_void(context: Context, parts: list[Part], depth: int) -> bool:
    for part in parts:
        values = allowed_values(part)
        if values is not None:
            return not fulfilling(context, values, parts)
    return all(_type_is_void(context, kind, parts, depth) for kind in types_of(parts))


def _type_is_void(context: Context, kind: str, parts: list[Part], depth: int) -> bool:
    nodes = context.nodes
    if kind == "string":
        case = Conjunction()
        case.parts = parts
        return strings_of(context, case, is_most=True) == nodes.EMPTY
    if kind in ("number", "integer"):
        wanted = range_of(context, parts, kind)
        return wanted is not None and number_node(nodes, wanted) == nodes.EMPTY
    if depth >= MAX_PROOF_DEPTH:
        return False
    if kind == "array":
        layout = ArrayLayout(context, parts)
        if layout.high is not None and layout.low > layout.high:
            return True
        first = range(min(layout.low, layout.n_prefix + 1))
        if any(_schemas_are_void(context, layout.schemas_at(index), depth + 1) for index in first):
            return True
        return any(
            one.least > 0
            and all(
                _schemas_are_void(context, layout.schemas_at(index, one.member), depth + 1)
                for index in range(one.first, max(one.first, layout.n_prefix) + 1)
            )
            for one in layout.counted
        )
    if kind == "object":
        required = dict.fromkeys(
            name for schema, _, shape in parts if shape.has_object for name in schema.get("required", ())
        )
        low, high = count_range(parts, "minProperties", "maxProperties")
        if high is not None and max(low, len(required)) > high:
            return True
        return any(_schemas_are_void(context, key_schemas(context, parts, name), depth + 1) for name in required)
    return False


def _schemas_are_void(context: Context, schemas: list[SchemaAt], depth: int) -> bool:
    if len(schemas) == 1 and type(schemas[0][0]) is dict:
        return False  # one schema alone is taken to allow something
    return bool(schemas) and is_void(context, conjunction_of(context, schemas), depth)
