"""What the parts of a place decide about its choices, before a union of alternatives is written.

Alternatives that the parts exclude by their marks (`marks.py`) are taken out; a choice with one alternative left
becomes parts, which may decide the next one; a choice with an alternative that holds anyway is dropped. The negation of
a schema is a choice between many alternatives, and most of them end here: beside `"required": ["a"]`, of
`not {"required": ["a", "b"]}` only the absence of `b` is left. (Unit propagation, as in M. Davis, G. Logemann,
D. Loveland, "A machine program for theorem-proving", CACM 5, 1962.)

The union that is written is `anyOf`. It is `oneOf` as well when no value fulfils two of its alternatives, and that is
proved here for the pairs that marks leave: two schemas exclude each other when everything that must hold of a value
that fulfils both leaves nothing. The proof follows types, constants, string languages (exact, by intersection of
regular expressions), numeric ranges, counts, and properties that one of the two requires (the usual discriminator).
Where it fails, each of the two is written with the negation of the other beside it, which is exact and larger. Many
alternatives that a key tells apart only where it is there are written twice: with it, and without it.

In: a conjunction, a choice. Out: a conjunction with the same values and fewer choices; pairs. Cost: a microsecond an
alternative, 20 us for its marks, about 100 us for each pair that these leave.
"""

from __future__ import annotations

from typing import Any

from llmask.work import spend

from ..lexical.numbers import number_node
from ..reading.pointers import Path
from .array_layout import ArrayLayout
from .conjunction import add_schema, conjunction_of, strings_of, with_alternative
from .context import Context
from .instances import allowed_values, equality_key, fulfilling
from .marks import Marks, exclude_each_other, listed_under, marks_of, marks_of_parts, pairs_left
from .object_layout import key_schemas
from .place import Choice, Conjunction, Part, SchemaAt, count_range, required_by, types_of
from .scalars import range_of
from .synthetic import all_of, of_types

IMPLICATION_WORK = 8  # units to compare an alternative with what holds


def settle(context: Context, conjunction: Conjunction) -> Conjunction:
    """The same with every choice taken that is decided; `false_at` is set when one has no alternative left."""
    index = 0
    marks: Marks | None = None
    while index < len(conjunction.choices) and conjunction.false_at is None:
        choice = conjunction.choices[index]
        if marks is None:
            marks = marks_of_parts(context, conjunction.parts)
        context.count_work(len(choice.schemas))
        if choice.keyword == "anyOf" and any(
            _is_implied(context, conjunction.parts, marks, member) for member in choice.schemas
        ):
            conjunction = conjunction.copy()
            del conjunction.choices[index]
            continue
        left = [member for member in choice.schemas if not exclude_each_other(marks, marks_of(context, *member))]
        if len(left) > 1:
            if len(left) < len(choice.schemas):
                conjunction = conjunction.copy()
                conjunction.choices[index] = choice._replace(schemas=left)
            index += 1
            continue
        if left:
            conjunction = with_alternative(context, conjunction, index, left)
            marks, index = None, 0
        else:
            conjunction = conjunction.copy()
            conjunction.false_at = choice.path
    return conjunction


def _is_implied(context: Context, parts: list[Part], marks: Marks, member: SchemaAt) -> bool:
    """Whether everything that fulfils `parts` fulfils an alternative, as far as types and keys tell."""
    if type(member[0]) is bool:
        return member[0]
    alternative = conjunction_of(context, [member])
    if alternative.false_at is not None or alternative.choices:
        return False
    return all(_part_is_implied(context, marks, part) for part in alternative.parts)


def _part_is_implied(context: Context, marks: Marks, part: Part) -> bool:
    schema, _, shape = part
    spend(IMPLICATION_WORK)
    for keyword, _, _ in shape.checks:
        value = schema[keyword]
        if keyword == "type":
            # "integer" is no mark: numbers may be either
            if not marks.types <= ({value} if type(value) is str else set(value)):
                return False
        elif shape.has_object and keyword in ("required", "properties"):
            if "object" not in marks.types:
                continue
            if keyword == "required" and not marks.required.issuperset(value):
                return False
            if keyword == "properties" and not all(
                _property_is_implied(context, marks, name, member, part[1]) for name, member in value.items()
            ):
                return False
        else:
            return False
    return True


def _property_is_implied(context: Context, marks: Marks, name: str, member: Any, path: Path) -> bool:
    is_absent = name in marks.forbidden or (marks.allowed is not None and name not in marks.allowed)
    if member is True or is_absent:
        return True
    if member is False or name not in marks.under:
        return False
    here, at = marks.under[name], (path, "properties", name)
    shape = context.shape(member, at)
    if not shape.has_values:
        refused = listed_under(context, member, at)[1] if len(member) == 1 else frozenset()
        return bool(refused) and not here & refused
    part = (member, at, shape)
    # its other keywords may refuse some of the values that it lists
    values = fulfilling(context, allowed_values(part) or [], [part]) if shape.is_plain else []
    return here <= {equality_key(value, at) for value in values}


# --- alternatives of oneOf that exclude each other

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


def told_by_key(context: Context, conjunction: Conjunction, index: int, n_pairs: int) -> list[Conjunction]:
    """The conjunction where a key is there and where it is absent: the key whose values most alternatives list.

    Nothing where too few list values of one, or where at least half of `n_pairs` pairs are not told apart by them.
    """
    choice, n_listing = conjunction.choices[index], dict[str, int]()
    beside = marks_of_parts(context, conjunction.parts)
    for member in choice.schemas:
        marks = marks_of(context, *member)
        spend(len(marks.under))
        for name in marks.under.keys() - marks.required - beside.required - beside.forbidden:
            n_listing[name] = n_listing.get(name, 0) + 1
    name = max(sorted(n_listing), key=n_listing.__getitem__, default="")
    if 2 * n_listing.get(name, 0) <= len(choice.schemas):
        return []
    path = choice.path
    there = context.synthetic(("there", name), lambda: {"type": "object", "required": [name]}), path
    absent = context.synthetic(("absent", name), lambda: {"properties": {name: False}}), path
    schemas = [all_of(context, [member, there], path) for member in choice.schemas]
    if 2 * len(list(pairs_left(context, schemas))) >= n_pairs:
        return []
    with_key, without_key = conjunction.copy(), conjunction.copy()
    with_key.choices[index] = choice._replace(schemas=schemas)
    add_schema(context, without_key, *absent)
    return [with_key, without_key]


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
    return context.synthetic(key, lambda: n_ways(context, conjunction_of(context, [member]), most, depth))


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
        for name in required_by(case.parts):
            under = conjunction_of(context, key_schemas(context, case.parts, name))
            if types_of(under.parts) == ("string",):
                languages.setdefault(name, {})[at] = strings_of(context, under, is_most=True)
    nodes, before = context.nodes, context.nodes.EMPTY
    told: dict[int, bool] = {}
    # the key that the most of them require, and that has the most languages among these
    most = max(languages.values(), key=lambda found: (len(found), len({*found.values()})), default={})
    for at, language in most.items():
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
        told, path = of_types(context, left, choice.path)
        fewer.parts.append((told, path, context.shape(told, path)))
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
        required = required_by(parts)
        low, high = count_range(parts, "minProperties", "maxProperties")
        if high is not None and max(low, len(required)) > high:
            return True
        return any(_schemas_are_void(context, key_schemas(context, parts, name), depth + 1) for name in required)
    return False


def _schemas_are_void(context: Context, schemas: list[SchemaAt], depth: int) -> bool:
    if len(schemas) == 1 and type(schemas[0][0]) is dict:
        return False  # one schema alone is taken to allow something
    return bool(schemas) and is_void(context, conjunction_of(context, schemas), depth)
