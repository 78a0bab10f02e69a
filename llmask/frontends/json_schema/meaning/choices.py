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
Where it fails, each of the two is written with the negation of the other beside it, which is exact and larger. Where
many alternatives or conditions speak of the values of one key, the place is written for these, for all other values,
and without the key. Strings of a key are divided by the languages that are spoken of; one that meets none before it
divides only what is left.

In: a conjunction, a choice. Out: a conjunction with the same values and fewer choices; pairs. Cost: a microsecond an
alternative, 20 us for its marks, about 100 us for each pair that these leave.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from llmask.work import spend

from ..lexical.numbers import number_node
from ..reading.keywords import EXCEPT, NOT
from ..reading.pointers import ROOT, Path
from .array_layout import ArrayLayout
from .conjunction import add_schema, conjunction_of, name_language, strings_of, with_alternative
from .context import Context
from .instances import allowed_values, equality_key, fulfilling
from .marks import Marks, exclude_each_other, listed_under, marks_of, marks_of_parts, pairs_left
from .object_layout import key_schemas
from .place import Choice, Conjunction, Part, SchemaAt, count_range, required_by, types_of
from .scalars import range_of
from .synthetic import of_types

# some values: the names of the schemas that they fulfil, all schemas that they fulfil, and those that they do not
Division = tuple[frozenset[Hashable], list[SchemaAt], list[SchemaAt]]

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
        left = [one for one in choice.schemas if not exclude_each_other(context, marks, marks_of(context, *one))]
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
    if member is False:
        return False
    here, at = marks.under.get(name), (path, "properties", name)
    shape = context.shape(member, at)
    if not shape.has_values:
        refused = listed_under(context, member, at)[1] if len(member) == 1 else frozenset()
        kept_out = marks.barred.get(name, frozenset()) if here is None else refused - here
        return bool(refused) and refused <= kept_out
    if here is None:
        return False
    part = (member, at, shape)
    # its other keywords may refuse some of the values that it lists
    values = fulfilling(context, allowed_values(part) or [], [part]) if shape.is_plain else []
    return here <= {equality_key(value, at) for value in values}


# --- alternatives of oneOf that exclude each other

MAX_PROOF_DEPTH = 6  # properties within properties that a proof looks into
MAX_CASES = 64  # combinations of nested alternatives that a proof looks at
MANY_PAIRS = 15  # beyond which strings under a key are looked at, also where alternatives are more
PROOF_WORK = 50  # a proof, counted in subschemas visited


def pairs_to_prove(context: Context, conjunction: Conjunction, choice: Choice) -> list[tuple[int, int]]:
    """Pairs of alternatives that neither marks nor strings under one key tell apart."""
    left = list(pairs_left(context, choice.schemas, conjunction.parts))
    if len(left) > min(MANY_PAIRS, len(choice.schemas)):
        here = marks_of_parts(context, conjunction.parts).types
        types = [marks_of(context, *member).types & here for member in choice.schemas]
        apart = _told_by_strings(context, conjunction, choice)
        left = [
            (at, beyond)
            for at, beyond in left
            if not (at in apart and apart.get(beyond) and types[at] & types[beyond] == {"object"})
        ]
    return left


def told_by_key(context: Context, conjunction: Conjunction, index: int, least: int) -> list[Conjunction]:
    """The conjunction for the values of one key that alternatives list, for all other values, and without the key.

    Values that the same alternatives list or refuse are told together: so the `if` of many conditions is decided, and
    of alternatives that list different values one is left. Nothing where most say nothing of the key, or where they
    make fewer than `least` such lists. In the order of names the key is where the choice number `index` is.
    """
    beside = marks_of_parts(context, conjunction.parts)
    asked: dict[str, dict[Any, tuple[Any, list[int]]]] = {}
    n_asking: dict[str, int] = {}
    holding: set[tuple[str, int]] = set()  # a name, and the number of a member that lists values of it
    members = [member for choice in conjunction.choices for member in choice.schemas]
    for number, member in enumerate(members):
        for part, path, _ in conjunction_of(context, [member]).parts:
            spend(len(part.get("properties", ())))
            for name, said in part.get("properties", {}).items():
                if type(said) is not dict or name in beside.forbidden:
                    continue
                schema, at = said.get(NOT, (said, (path, "properties", name)))
                shape = context.shape(schema, at) if type(schema) is dict else None
                listed = allowed_values((schema, at, shape)) if shape is not None and shape.is_plain else None
                for value in listed or ():
                    key = equality_key(value, at)
                    if key in beside.under.get(name, (key,)) and key not in beside.barred.get(name, ()):
                        asked.setdefault(name, {}).setdefault(key, (value, []))[1].append(number)
                n_asking[name] = n_asking.get(name, 0) + (listed is not None)
                if listed is not None and NOT not in said:
                    holding.add((name, number))
    name = max(asked, key=n_asking.__getitem__, default="")
    lists: dict[tuple[int, ...] | None, list[Any]] = {}
    for value, speaking in asked.get(name, {}).values():
        lists.setdefault((*speaking,), []).append(value)
    values = [value for listed in lists.values() for value in listed]
    is_asked = 2 * n_asking.get(name, 0) > len(members)
    if len(lists) < least or not is_asked or any(type(value) in (list, dict) for value in values):
        return []
    choice = conjunction.choices[index]
    first = sum(len(one.schemas) for one in conjunction.choices[:index])
    found = []
    for place, numbers in enumerate((*lists, (), None)):
        case: dict[Any, Any] = {"properties": {name: False}}
        left = choice.schemas
        if numbers is not None:
            value = {"enum": lists[numbers]} if numbers else {EXCEPT: values}
            case = {"type": "object", "required": [name], "properties": {name: value}}
            left = [one for at, one in enumerate(left, first) if at in numbers or (name, at) not in holding]
        kept = context.synthetic(("told", name, place, *lists), case.copy)
        found.append(with_alternative(context, conjunction, index, [(kept, choice.path)]))
        found[-1].choices.insert(index, choice._replace(schemas=left, position=choice.position + 1))
    return found


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
            listed = [value for part in under.parts for value in allowed_values(part) or ()]
            if types_of(under.parts) == ("string",) or (listed and all(type(value) is str for value in listed)):
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


def divided_by_strings(
    context: Context, schemas: list[SchemaAt], speaking: dict[Hashable, SchemaAt], most: int
) -> list[Division] | None:
    """The values of a key, divided by schemas that speak of strings alone; None where something else is spoken of.

    Where there are more than `most` classes, not all schemas have been asked.
    """
    if not speaking:
        return None
    nodes = context.nodes
    by_texts: dict[int, SchemaAt] = {}  # schemas by the strings that fulfil them
    told: dict[Hashable, tuple[int, bool]] = {}  # by name, which strings, and whether these or all others
    others: list[Hashable] = []  # what holds for all that is no string
    for name, (said, said_at) in speaking.items():
        schema, path = said.get(NOT, (said, said_at))
        texts = name_language(context, [(schema, path)])
        if not _speaks_of_strings(context, schema, path) or texts != name_language(context, [(schema, path)], True):
            return None
        by_texts.setdefault(texts, (schema, path))
        told[name] = texts, NOT not in said
        others += [name] if ("type" in schema) == (NOT in said) else []
    # with the strings of each class; what holds there is at first the languages that it is part of
    found: list[tuple[Division, int]] = []
    every = name_language(context, schemas, True)
    if not nodes.is_empty(every):
        found.append(((frozenset(), [*schemas, of_types(context, ("string",), ROOT)], []), every))
    taken = nodes.EMPTY
    for texts, member in by_texts.items():
        if len(found) > most:
            break
        is_apart = nodes.is_empty(nodes.intersect([taken, texts]))  # all but the first class are as they were
        for at, ((held, fulfilled, failed), strings) in enumerate(found[: 1 if is_apart else None]):
            inside, outside = nodes.intersect([strings, texts]), nodes.without(strings, [texts])
            if nodes.is_empty(inside):
                continue
            holding: Division = (held.union([texts]), [*fulfilled, member], [] if is_apart else failed)
            if nodes.is_empty(outside):
                found[at] = (holding, inside)
            else:
                found[at] = ((held, fulfilled, [*failed, member]), outside)
                found.append((holding, inside))
        taken = nodes.union([taken, texts])
    divided: list[Division] = [
        (frozenset(name for name, (texts, holds) in told.items() if (texts in held) == holds), fulfilled, failed)
        for (held, fulfilled, failed), _ in found
    ]
    kinds = [kind for kind in types_of(conjunction_of(context, schemas).parts) if kind != "string"]
    if kinds:
        divided.append((frozenset(others), [*schemas, of_types(context, kinds, ROOT)], []))
    return divided


def _speaks_of_strings(context: Context, schema: Any, path: Path) -> bool:
    """Whether a schema is about strings alone, and fulfilled by all or by no other values."""
    shape = context.shape(schema, path)
    says_more = shape.has_number or shape.has_array or shape.has_object or shape.has_values or shape.has_except
    return shape.is_plain and not says_more and schema.get("type", "string") == "string" and not shape.adds_null


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
