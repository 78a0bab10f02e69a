"""Small worlds: schemas of few keywords over few values, and every value that they can tell apart.

Schemas come from hypothesis, which shrinks what fails. Values are listed as documents in every order of their keys,
so that a grammar is asked for all that it may allow of them.

In: a draft. Out: strategies of schemas; `VALUES`; `verdicts` of a grammar, `valid_values` by `jsonschema`.
Cost: about 10 ms a schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations, product
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from llmask import allocate_bitmask
from llmask.errors import LimitExceeded, UnsatisfiableSchema, UnsupportedSchema, VocabularyError
from llmask.matching.matcher import Matcher
from tests.conftest import EFFORT, SEED
from tests.generators.drafts import DRAFTS as EARLIER

DRAFTS = {**EARLIER, 2020: "https://json-schema.org/draft/2020-12/schema"}
NAMES = ("a", "b", "c")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, 1.0, 2, -1, 0.5, "", "a", "b", "ab", "bab")
MEMBERS: tuple[Any, ...] = (1, "a", None, 0.5)
# What is refused at the moment, see `Context.refuse`; nothing else may be.
REFUSED = ('the negation of "uniqueItems"', "items that must differ, of which some")


def _values() -> list[Any]:
    found = list(SCALARS)
    found += [list(items) for n in range(3) for items in product(MEMBERS, repeat=n)]
    found += [list(items) for items in product((1, "a"), repeat=3)]
    found += [dict(zip(names, members, strict=True)) for n in (0, 1) for names in _keys(n)
              for members in product((*MEMBERS, {}, {"a": 1}, [], [1]), repeat=n)]  # fmt: skip
    found += [dict(zip(_keys_2, members, strict=True)) for _keys_2 in _keys(2)
              for members in product((1, "a", None), repeat=2)]  # fmt: skip
    found += [dict(zip(NAMES, members, strict=True)) for members in product((1, "a"), repeat=3)]
    return [*found, [[]], [[1]], [{}], [{"a": 1}], [{"a": "a"}, 1], [1, 1.0], [True, 1], [{}, {}], [[1], [1.0]]]


def _keys(n: int) -> list[tuple[str, ...]]:
    return [
        names for names in (NAMES, ("a", "b"), ("a", "c"), ("b", "c"), ("a",), ("b",), ("c",), ()) if len(names) == n
    ]


VALUES: list[Any] = _values()
# Every order of the keys of each value.
TEXTS: list[list[bytes]] = [
    [json.dumps(dict(members)).encode() for members in permutations(value.items())]
    if isinstance(value, dict)
    else [json.dumps(value).encode()]
    for value in VALUES
]
# Bytes that end every lexeme that other bytes begin.
ALPHABET = b'{}[]",:abcd01235-.nultrefs'
EVERYTHING = frozenset(range(len(VALUES)))

few = settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False)


def cases(n: int, **strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test `n` times at the usual effort, with arguments drawn from strategies: the same in every run."""

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        return seed(SEED)(settings(few, max_examples=max(1, round(n * EFFORT)))(given(**strategies)(test)))

    return decorated


# jsonschema 4.26 reads, in 2019-09 alone, the schema of `additionalProperties` as if it were a list of names
_NEWER = {"unevaluatedProperties": jsonschema.Draft202012Validator.VALIDATORS["unevaluatedProperties"]}
_JUDGES = {2019: jsonschema.validators.extend(jsonschema.Draft201909Validator, _NEWER)}


def valid_values(schema: Any, draft: int) -> frozenset[int]:
    """Positions of the values that `jsonschema` calls valid."""
    validator = _JUDGES.get(draft, jsonschema.validators.validator_for({"$schema": DRAFTS[draft]}))(schema)
    return frozenset(at for at, value in enumerate(VALUES) if validator.is_valid(value))


def with_draft(schema: Any, draft: int) -> Any:
    """The schema with its draft declared."""
    if isinstance(schema, bool):
        return {"$schema": DRAFTS[draft], **({} if schema else {"not": {}})}
    if "$ref" in schema and draft <= 7:
        schema = {"allOf": [schema]}  # or the definitions beside it were nothing
    return {"$schema": DRAFTS[draft], **schema}


def verdicts(judge: Any, schema: Any, **options: Any) -> tuple[frozenset[int], frozenset[int]] | None:
    """Positions of the values accepted in some order of keys, and in every order.

    None where the schema is refused or meets a limit.
    """
    try:
        grammar = judge.grammar(schema, **options)
    except UnsatisfiableSchema:
        return frozenset(), frozenset()
    except LimitExceeded:
        return None
    except UnsupportedSchema as error:
        if any(word in str(error) for word in REFUSED):
            return None
        raise
    some, every = set(), set()
    for at, texts in enumerate(TEXTS):
        accepted = [grammar.accepts(text) for text in texts]
        if any(accepted):
            some.add(at)
        if all(accepted):
            every.add(at)
    return frozenset(some), frozenset(every)


def shown(positions: frozenset[int]) -> str:
    """Values for a message."""
    return ", ".join(json.dumps(VALUES[at]) for at in sorted(positions)[:8])


def assert_exactly(judge: Any, schema: Any, expected: frozenset[int]) -> bool:
    """Both orders of properties allow exactly the values at `expected`; whether the schema was accepted."""
    found = verdicts(judge, schema)
    if found is None:
        return False
    assert not found[0] - expected, f"{json.dumps(schema)} allows {shown(found[0] - expected)}"
    assert not expected - found[0], f"{json.dumps(schema)} refuses {shown(expected - found[0])}"
    found = verdicts(judge, schema, property_order="any")
    if found is None:
        return False
    assert not found[0] - expected, f"{json.dumps(schema)} allows in any order {shown(found[0] - expected)}"
    assert not expected - found[1], f"{json.dumps(schema)} refuses in some order {shown(expected - found[1])}"
    return True


def dead_end(judge: Any, schema: Any, most: int = 400, **options: Any) -> bytes | None:
    """A text that the grammar allows to be begun and not to be ended, if there is one among `most` configurations.

    Breadth first over the configurations that bytes of `ALPHABET` lead to; those that were not looked at count as ends.
    """
    try:
        grammar = judge.grammar(schema, whitespace="compact", **options)
    except (UnsatisfiableSchema, UnsupportedSchema, LimitExceeded):
        return None
    bitmask = allocate_bitmask(1, judge.store.tokenizer.vocab_size)
    start = grammar.matcher()
    texts = {_future(start): b""}
    before: dict[Any, list[Any]] = {}
    ends: list[Any] = []
    waiting = [start]
    for matcher in waiting:  # which grows
        here = _future(matcher)
        if len(texts) > most:
            ends.append(here)
            continue
        if matcher.is_accepting():
            ends.append(here)
        try:
            matcher.fill_bitmask(bitmask)
        except VocabularyError:  # no byte may follow
            return texts[here]
        for byte in ALPHABET:
            if not bitmask[0, byte >> 5] >> (byte & 31) & 1:
                continue
            after = matcher.fork()
            after.accept_bytes(bytes((byte,)))
            there = _future(after)
            before.setdefault(there, []).append(here)
            if there not in texts:
                texts[there] = texts[here] + bytes((byte,))
                waiting.append(after)
    alive = set(ends)
    while ends:
        for future in before.get(ends.pop(), ()):
            if future not in alive:
                alive.add(future)
                ends.append(future)
    return next((text for future, text in texts.items() if future not in alive), None)


def _future(matcher: Matcher) -> Any:
    """What decides the future of a sequence."""
    return matcher._sequence.configuration, id(matcher._sequence.generation)


def some_of(*keywords: tuple[str, st.SearchStrategy[Any]], most: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of some of these keywords."""
    by_name = dict(keywords)
    names = st.lists(st.sampled_from(list(by_name)), max_size=most, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: by_name[name] for name in chosen}))


@lru_cache
def schemas(draft: int, depth: int = 2) -> st.SearchStrategy[Any]:
    """Schemas of a draft that apply others at most `depth` deep; they may refer to #/definitions/x."""
    below = schemas(draft, depth - 1) if depth else booleans(draft)
    kinds = [_scalar(draft)] * 2
    if depth:
        kinds += [_array(draft, below), _object(draft, below), _in_place(draft, below), _mixed(draft, below)]
        if depth == 1:
            kinds.append(st.just({"$ref": "#/definitions/x"}))
            kinds.append(st.sampled_from(({"maxLength": 1}, {"minimum": 1})).map(
                lambda beside: {**beside, "$ref": "#/definitions/x"}))  # fmt: skip
    return st.one_of(booleans(draft), *kinds)


@lru_cache
def booleans(draft: int) -> st.SearchStrategy[Any]:
    return st.sampled_from((True, False) if draft > 4 else ({}, {"not": {}}))


@lru_cache
def _scalar(draft: int) -> st.SearchStrategy[Any]:
    types = ("null", "boolean", "integer", "number", "string", "array", "object")
    bounds = st.booleans() if draft == 4 else st.sampled_from((0, 1, 0.5))
    exclusive: list[tuple[str, st.SearchStrategy[Any]]] = [("exclusiveMinimum", bounds), ("exclusiveMaximum", bounds)]
    values = st.sampled_from((None, True, 0, 1, "a", "ab", {"a": 1}, [1], {}, []))
    return some_of(
        ("type", st.sampled_from(types) | st.lists(st.sampled_from(types), min_size=1, max_size=2, unique=True)),
        ("enum", st.lists(values, min_size=1, max_size=3)),
        *([("const", values)] if draft > 4 else []),
        ("minLength", st.integers(0, 2)),
        ("maxLength", st.integers(0, 2)),
        ("pattern", st.sampled_from(("^a", "b$", "b", "^.?$"))),
        ("minimum", st.sampled_from((0, 1))),
        ("maximum", st.sampled_from((0, 1))),
        ("multipleOf", st.sampled_from((1, 2, 0.5))),
        *exclusive,
        most=2,
    ).map(lambda schema: _with_partners(schema, draft))


def _with_partners(schema: dict[str, Any], draft: int) -> dict[str, Any]:
    """Draft 4 asks for a bound beside one that is exclusive."""
    if draft == 4:
        for name, partner in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if name in schema:
                schema.setdefault(partner, 1)
    return schema


def _array_keywords(draft: int, below: st.SearchStrategy[Any]) -> list[tuple[str, st.SearchStrategy[Any]]]:
    some = st.lists(below, min_size=1, max_size=2)
    found = [("minItems", st.integers(0, 2)), ("maxItems", st.integers(0, 2)), ("additionalItems", below)]
    found.append(("uniqueItems", st.booleans()))
    found.append(("items", below if draft == 2020 else below | some))
    found += [("contains", below)] if draft >= 6 else []
    if draft >= 2019:
        found += [("minContains", st.integers(0, 2)), ("maxContains", st.integers(0, 2))]
    if draft == 2020:  # jsonschema lets `contains` evaluate items in 2019-09, too, and fails where `items` is a boolean
        found += [("prefixItems", some), ("unevaluatedItems", below)]
    return found


def _object_keywords(draft: int, below: st.SearchStrategy[Any]) -> list[tuple[str, st.SearchStrategy[Any]]]:
    names = st.sampled_from(NAMES)
    some = st.lists(names, min_size=1, max_size=2, unique=True)
    found = [
        ("properties", st.dictionaries(names, below, min_size=1, max_size=2)),
        ("required", some),
        ("additionalProperties", below),
        ("patternProperties", st.dictionaries(st.sampled_from(("^a", "[ab]", "b|c")), below, min_size=1, max_size=2)),
        ("minProperties", st.integers(0, 2)),
        ("maxProperties", st.integers(0, 2)),
    ]
    schema_or_names = below | some
    if draft >= 6:
        found.append(
            ("propertyNames", st.sampled_from(({"pattern": "a|b"}, {"enum": ["a", "c"]}, {"not": {"const": "b"}})))
        )
    if draft >= 2019:
        found.append(("dependentRequired", st.dictionaries(names, some, min_size=1, max_size=1)))
        found.append(("dependentSchemas", st.dictionaries(names, below, min_size=1, max_size=1)))
        found.append(("unevaluatedProperties", below))
    else:
        found.append(("dependencies", st.dictionaries(names, schema_or_names, min_size=1, max_size=1)))
    return found


def _in_place_keywords(draft: int, below: st.SearchStrategy[Any]) -> list[tuple[str, st.SearchStrategy[Any]]]:
    some = st.lists(below, min_size=1, max_size=3)
    found = [("not", below), ("allOf", some), ("anyOf", some), ("oneOf", some)]
    return found + ([("if", below), ("then", below), ("else", below)] if draft >= 7 else [])


def _array(draft: int, below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return some_of(*_array_keywords(draft, below)).map(_readable)


def _readable(schema: dict[str, Any]) -> dict[str, Any]:
    """What jsonschema reads as the drafts say.

    It fails where `additionalItems` stands beside a boolean; in 2019-09 it forgets that {} as additionalProperties
    evaluates everything.
    """
    if type(schema.get("items")) is bool:
        schema = {keyword: value for keyword, value in schema.items() if keyword != "additionalItems"}
    return {**schema, "additionalProperties": True} if schema.get("additionalProperties") == {} else schema


def _object(draft: int, below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return some_of(*_object_keywords(draft, below)).map(_readable)


def _in_place(draft: int, below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return some_of(*_in_place_keywords(draft, below))


def _mixed(draft: int, below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = [
        *_array_keywords(draft, below),
        *_object_keywords(draft, below),
        *_in_place_keywords(draft, below),
        ("type", st.sampled_from(("object", "array", ["object", "string"]))),
    ]
    return some_of(*keywords, most=4).map(_readable)


@lru_cache
def tagged(draft: int) -> st.SearchStrategy[Any]:
    """Schemas of objects that speak of the same two keys, so that they mostly settle one another."""
    values = st.sampled_from((1, "a", None))
    some = st.lists(values, min_size=1, max_size=3, unique=True)
    member = st.one_of(
        some.map(lambda listed: {"enum": listed}),
        some.map(lambda listed: {"enum": listed, "type": ["integer", "null"]}),
        some.map(lambda listed: {"not": {"enum": listed}}),
        st.sampled_from(({"type": "string"}, {"type": "integer"}, {"enum": ["a", 1], "maximum": 0})),
        booleans(draft),
    )
    names = st.sampled_from(("a", "b"))
    one = st.fixed_dictionaries(
        {},
        optional={
            "type": st.just("object"),
            "properties": st.dictionaries(names, member, min_size=1, max_size=2),
            "required": st.lists(names, min_size=1, max_size=2, unique=True),
            "additionalProperties": booleans(draft),
            "maxProperties": st.integers(1, 2),
        },
    )
    some_of = st.lists(one, min_size=1, max_size=3)
    in_place: dict[str, Any] = {"not": one, "allOf": some_of, "anyOf": some_of, "oneOf": some_of}
    if draft >= 7:
        in_place |= {"if": one, "then": one, "else": one}
    both = st.tuples(one, st.fixed_dictionaries({}, optional=in_place)).map(lambda pair: pair[0] | pair[1])
    return both | both.map(lambda schema: {"not": schema})


def rooted(schema: Any, definition: Any, draft: int) -> Any:
    """A schema that may be compiled: with its draft and with what it may refer to."""
    return {**with_draft(schema, draft), "definitions": {"x": definition}}
