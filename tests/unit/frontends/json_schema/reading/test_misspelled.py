"""Keywords that are nearly one: which are, which are not, beside a distance by definition."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest

from llmask.frontends.json_schema.ledger import DESCRIPTIONS, NAMES
from llmask.frontends.json_schema.reading.keywords import KEYWORDS
from llmask.frontends.json_schema.reading.misspelled import KEYS, KNOWN, meant_by, n_mistakes, near_keywords

NEAR: list[tuple[str, Any, str]] = [
    ("propertys", {}, "properties"),
    ("requird", ["a"], "required"),
    ("required:", ["a"], "required"),
    ("additonalProperties", False, "additionalProperties"),
    ("additionalproperties", False, "additionalProperties"),
    ("additional_properties", False, "additionalProperties"),
    ("minLenght", 1, "minLength"),
    ("max_length", 1, "maxLength"),
    ("minimun", 1, "minimum"),
    ("uniqueitems", True, "uniqueItems"),
    ("patern", "a", "pattern"),
    ("item", {}, "items"),
    ("tpye", "null", "type"),
    ("types", ["null"], "type"),
    ("enums", [1], "enum"),
    ("one_of", [{}], "oneOf"),
    ("ref", "#", "$ref"),
    ("$reff", "#", "$ref"),
    ("nott", {}, "not"),
    ("iif", {}, "if"),
    ("dependant_required", {}, "dependentRequired"),
]
OTHERS: list[tuple[str, Any]] = [
    ("time", "null"),
    ("item", "a word"),
    ("name", "a"),
    ("options", ["a"]),
    ("_required", ["a"]),
    ("x-type", "null"),
    ("enumNames", ["a"]),
    ("markdownDescription", "a"),
    ("defs", {}),
    ("note", {}),
    ("of", {}),
    ("iff", "a word"),
    ("definition", {}),
    ("javaType", "a"),
    ("minimum" * 1000, 1),
    ("", 1),
]


@pytest.mark.parametrize(("name", "value", "keyword"), NEAR)
def test_a_keyword_is_meant(name: str, value: Any, keyword: str) -> None:
    assert meant_by(name, value) == keyword


@pytest.mark.parametrize(("name", "value"), OTHERS)
def test_no_keyword_is_meant(name: str, value: Any) -> None:
    assert meant_by(name, value) is None


@pytest.mark.parametrize("name", sorted({*KNOWN, *NAMES, *DESCRIPTIONS}))
def test_known_annotations_are_no_mistakes(name: str) -> None:
    assert near_keywords(name) == ()


def distance(one: str, other: str) -> int:
    """Optimal string alignment, from its recursive definition."""

    @cache
    def at(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        found = min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (one[i - 1] != other[j - 1]))
        if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
            found = min(found, at(i - 2, j - 2) + 1)
        return found

    return at(len(one), len(other))


def test_mistakes_are_counted_as_defined(rng: random.Random, scaled: Any) -> None:
    for _ in range(scaled(500)):
        one, other = ("".join(rng.choices("abc", k=rng.randrange(7))) for _ in range(2))
        assert n_mistakes(one, other) == distance(one, other), (one, other)


def test_no_near_word_is_lost_before_it_is_compared(rng: random.Random, scaled: Any) -> None:
    # lengths and letters are compared first
    for _ in range(scaled(500)):
        key = rng.choice([key for key in KEYS if len(key) >= 8])
        letters = list(key)
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(len(letters) - 1)
            change = rng.randrange(4)
            if change == 0:
                del letters[at]
            elif change == 1:
                letters.insert(at, rng.choice("abcxyz"))
            elif change == 2:
                letters[at] = rng.choice("abcxyz")
            else:
                letters[at : at + 2] = letters[at + 1], letters[at]
        name = "".join(letters)
        is_near = distance(name.lower().strip("$"), key.lower().strip("$")) <= 2 and name not in KNOWN
        assert (key in near_keywords(name)) == is_near, name


def test_keywords_are_near_themselves() -> None:
    assert {key for key in KEYWORDS if isinstance(key, str)} - set(KEYS) == {"$defs", "definitions"}
    assert all(near_keywords(key)[0] == key for key in KEYS)
