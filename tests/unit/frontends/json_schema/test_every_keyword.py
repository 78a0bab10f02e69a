"""One list of keywords: nothing that is in it may be missing where schemas are negated, listed, drawn or judged."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import UnsupportedSchema
from llmask.frontends.json_schema import SchemaOptions, ledger
from llmask.frontends.json_schema.ledger import ENFORCED, ledger_of
from llmask.frontends.json_schema.meaning import negation
from llmask.frontends.json_schema.reading import keywords
from llmask.frontends.json_schema.reading.keywords import KEYWORDS, MAPPING, SCHEMA, SCHEMAS, TEXT, Internal
from llmask.frontends.json_schema.reading.references import References
from llmask.frontends.json_schema.writing.translation import Translation
from tests.generators import drafts, schemas
from tests.unit.frontends.json_schema import keyword_cases
from tests.unit.frontends.json_schema.keyword_cases import CASES, DRAFT_7, INTERNAL

TABLES = {
    "negation": lambda: {*negation.NEGATIONS, *negation.WITHOUT_NEGATION},
    "vocabulary": lambda: {*keywords.ALWAYS_THERE}.union(*keywords.KEYWORDS_OF.values()),
    "generator": lambda: {*schemas.VOCABULARY, *drafts.OLDER},
    "case": lambda: {*CASES, *INTERNAL},
    "ledger": lambda: {keyword for keyword in CASES if line_of(keyword)},
}
# Not in KEYWORDS, for reasons: what names schemas is read by documents.py, and contents are annotations.
NO_KEYWORDS = {"generator": {"$anchor"}, "vocabulary": {"contentSchema"}}
OF_TEXTS_ONLY = ("vocabulary", "generator", "ledger")  # internal keywords are in no schema that was read


def line_of(keyword: str) -> bool:
    """Whether the ledger says that the keyword of its case is enforced, and lists the schemas that stand under it."""
    schema = CASES[keyword].schema
    entries = ledger_of(schema, ("date",), {}, References(schema), SchemaOptions())
    fates = [fate for at, named, fate in entries if named == keyword]
    if not fates or not fates[0].startswith(ENFORCED):
        return False
    _, check = KEYWORDS[keyword]
    value = next(here[keyword] for here in _objects(schema) if keyword in here)
    if check is SCHEMA or keyword == "items":
        below = [value]
    elif check is SCHEMAS:
        below = value
    else:
        below = list(value.values()) if check is MAPPING or keyword == "dependencies" else []
    asked = {named for member in below if isinstance(member, dict) for named in member}
    return asked <= {named for at, named, _ in entries if f"/{keyword.replace('~', '~0')}" in at}


def _objects(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [found for member in value for found in _objects(member)]
    if not isinstance(value, dict):
        return []
    return [value, *(found for member in value.values() for found in _objects(member))]


def missing() -> list[str]:
    """What is wrong with the lists, a sentence each."""
    found = []
    for what, table in TABLES.items():
        listed = table()
        wanted = [keyword for keyword in KEYWORDS if what not in OF_TEXTS_ONLY or isinstance(keyword, str)]
        found += [f"{keyword} has no {what}" for keyword in wanted if keyword not in listed]
        extra = listed - {*KEYWORDS} - NO_KEYWORDS.get(what, set())
        found += [f"{keyword} has a {what} and is no keyword" for keyword in sorted(extra, key=str)]
    both = {*negation.NEGATIONS} & {*negation.WITHOUT_NEGATION}
    found += [f"{keyword} has a negation and a reason to have none" for keyword in sorted(both, key=str)]
    found += [f"{keyword} has no reason" for keyword, reason in negation.WITHOUT_NEGATION.items() if len(reason) < 10]
    of_several = [keywords.ALWAYS_THERE, *keywords.KEYWORDS_OF.values()]
    found += [f"{one} is in {n} vocabularies" for one in KEYWORDS if (n := sum(one in part for part in of_several)) > 1]
    for keyword, (_, check) in KEYWORDS.items():
        places = {
            "a schema": (check is SCHEMA or keyword == "items", ledger.APPLY, keywords.SCHEMAS_IN_VALUE),
            "schemas": (check is SCHEMAS or keyword == "items", ledger.APPLY, keywords.SCHEMAS_IN_LIST),
            "named schemas": (check is MAPPING or keyword == "dependencies", keywords.SCHEMAS_IN_MAP),
        }
        for held, (is_so, *lists) in places.items():
            if isinstance(keyword, str) and is_so and not all(keyword in one for one in lists):
                found.append(f"{keyword} holds {held}, which the ledger or the vocabularies do not look into")
    return found


def test_no_list_misses_a_keyword() -> None:
    assert missing() == []


PLANTED: dict[str, tuple[Any, str, Any, str]] = {
    "a new keyword": (KEYWORDS, "newKeyword", ("all", TEXT), "newKeyword has no negation"),
    "no negation": (negation.NEGATIONS, "pattern", None, "pattern has no negation"),
    "no reason": (negation.WITHOUT_NEGATION, "$ref", None, "$ref has no negation"),
    "an empty reason": (negation.WITHOUT_NEGATION, "$ref", "", "$ref has no reason"),
    "a needless reason": (
        negation.WITHOUT_NEGATION,
        "pattern",
        "it asserts nothing",
        "pattern has a negation and a reason to have none",
    ),
    "a keyword that is gone": (negation.NEGATIONS, "divisibleBy", len, "divisibleBy has a negation and is no keyword"),
    "no internal negation": (negation.NEGATIONS, keywords.NO_FORMAT, None, "<no format> has no negation"),
    "no vocabulary": (
        keywords.KEYWORDS_OF,
        "validation",
        keywords.KEYWORDS_OF["validation"] - {"minItems"},
        "minItems has no vocabulary",
    ),
    "no case": (CASES, "minItems", None, "minItems has no case"),
    "no internal case": (INTERNAL, keywords.EXCEPT, None, "<except> has no case"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_violation_is_found(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    table, keyword, entry, sentence = PLANTED[fault]
    if entry is None:
        monkeypatch.delitem(table, keyword)
    else:
        monkeypatch.setitem(table, keyword, entry)
    assert sentence in missing()


# --- the cases


@pytest.mark.parametrize("keyword", CASES)
def test_cases_are_judged_alike(judge: Any, keyword: str) -> None:
    schema, valid, invalid = CASES[keyword]
    assert valid
    assert invalid
    assert_judged(judge, schema, valid, invalid)


def assert_judged(judge: Any, schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    """Both judge the values so, in either order of properties."""
    for value in valid + invalid:
        assert judge.is_valid(schema, value, formats=True) == any(value is one for one in valid), value
    for options in ({}, {"property_order": "any"}):
        grammar = judge.grammar(schema, **options)
        assert [value for value in valid if not judge.accepts_in_some_order(grammar, value)] == []
        assert [value for value in invalid if judge.accepts_in_some_order(grammar, value)] == []


@pytest.mark.parametrize("keyword", CASES)
def test_negations_of_cases_are_judged_alike(judge: Any, keyword: str) -> None:
    """What a keyword lets through, its negation refuses, and the other way round; and its negation's negation."""
    schema, valid, invalid = CASES[keyword]
    kept = {"$schema", "$defs", "definitions"} & {*schema} - {keyword}
    within = {name: schema[name] for name in schema if name not in kept or name == keyword}
    above = {name: schema[name] for name in kept}
    if keyword == "$recursiveRef":  # refers to the root, which would be the negation
        above |= {"$defs": {"inner": {**schema, "$id": "https://example.test/inner"}}}
        within = {"$ref": "https://example.test/inner"}
    if keyword in ("$defs", "definitions"):
        above, within = {keyword: schema[keyword]}, schema
    assert_judged(judge, {**above, "not": within}, invalid, valid)
    assert_judged(judge, {**above, "not": {"not": within}}, valid, invalid)


@pytest.mark.parametrize("keyword", INTERNAL, ids=str)
def test_negations_write_every_internal_keyword(judge: Any, keyword: Internal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Internal keywords are met where they are made: in negations, and in those of negations."""
    met: set[Any] = set()
    original = Translation.shape

    def shape(self: Translation, schema: Any, path: Any) -> Any:
        met.update(schema)
        return original(self, schema, path)

    monkeypatch.setattr(Translation, "shape", shape)
    judge.translate(INTERNAL[keyword])
    translation = Translation(judge.nodes, INTERNAL[keyword], SchemaOptions())
    waiting: list[Any] = [(INTERNAL[keyword], ())]
    for _ in range(3):
        waiting = [found for one, path in waiting for found in negation.negations(translation, one, path, set())]
        met.update(key for one in waiting for key in keys_in(one))
    assert keyword in met


def keys_in(value: Any) -> set[Any]:
    """Keys of the objects in a schema that a negation has made."""
    if isinstance(value, dict):
        return {*value}.union(*map(keys_in, value.values()))
    return set().union(*map(keys_in, value)) if isinstance(value, (list, tuple)) else set()


def test_what_has_no_negation_is_refused(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A keyword that nobody can negate was left out in silence, so `not` beside it allowed too little or too much."""
    monkeypatch.setitem(KEYWORDS, "newKeyword", (keywords.ALL, TEXT))
    schema = {"properties": {"a": {"not": {"newKeyword": "x", "type": "string"}}}}
    with pytest.raises(UnsupportedSchema, match='the negation of "newKeyword" is not known') as caught:
        judge.translate(schema)
    assert caught.value.where == "#/properties/a/not/newKeyword"
    assert any('"newKeyword"' in warning for warning in judge.translate(schema, unsupported="ignore").warnings)
    judge.translate({"newKeyword": "x", "type": "string"})  # it is not negated here


def test_an_internal_keyword_without_negation_is_our_own_fault(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(negation.NEGATIONS, keywords.NO_PATTERN)
    translation = Translation(judge.nodes, True, SchemaOptions())
    with pytest.raises(AssertionError, match="no pattern"):
        negation.negations(translation, {keywords.NO_PATTERN: "^a"}, (), set())


def test_the_cases_are_of_the_drafts_that_have_the_keywords() -> None:
    for keyword, case in CASES.items():
        since = keywords.SINCE.get(keyword, keywords.DRAFT_4)
        draft = keywords.draft_of(case.schema)
        assert draft == keywords.ANY_DRAFT or since <= draft <= keywords.UNTIL.get(keyword, keywords.DRAFT_2020)
    assert keyword_cases.CASES["dependencies"].schema["$schema"] == DRAFT_7
