"""The judge is exact where `jsonschema` by itself is not."""

from __future__ import annotations

import random
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.generators.judge import Judge, Unjudgeable, identity, is_multiple, python_pattern


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"multipleOf": 0.1}, ["0.3", "-7", "1e3", "0"], ["0.35", "1e-3"]),
        ({"multipleOf": 3}, ["53397157275973624128.0", "3e30"], ["53397157275973624129", "1e30", "1e-400"]),
        ({"type": "integer"}, ["1.0", "1e3", "-0"], ["1.5", "true", "1e-1"]),
        ({"uniqueItems": True}, ["[[1], [true]]", "[1, true, 0, false]"], ["[[1], [true], [1]]", "[1, 1.0]"]),
        ({"uniqueItems": True}, ['[{"a": 1}, {"a": 2}]'], ['[{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]']),
        ({"pattern": "a$"}, ['"ba"'], ['"a\\n"']),
        ({"pattern": r"^\d\w\s$"}, ['"1a\\u00a0"'], ['"\\u0663a "', '"1\\u00e9 "']),
        ({"pattern": "^.$"}, ['"\\u0085"'], ['"\\u2028"']),
        ({"patternProperties": {"b$": False}, "additionalProperties": False}, ["{}"], ['{"b": 1}', '{"b\\n": 1}']),
        ({"format": "date"}, ['"2024-02-29"', '"0000-01-01"', "1"], ['"2023-02-29"', '"2024-02-29\\n"']),
        ({"format": "ipv4"}, ['"1.2.3.255"'], ['"1.2.3"', '"1.2.3.256"', '"1.2.3.04"', '"1.2.3.4."', '"1.2.3.4\\n"']),
        ({"format": "uuid"}, ['"123e4567-e89b-12d3-a456-42661417400F"'], ['"123e4567-e89b-12d3-a456-42661417400"']),
        ({"const": 1}, ["1.0"], ["true"]),
        ({"enum": [{"a": [0]}]}, ['{"a": [0.0]}'], ['{"a": [false]}']),
    ],
)
def test_documents_are_judged_exactly(schema: Any, valid: list[str], invalid: list[str]) -> None:
    judge = Judge(schema)
    assert [text for text in valid if not judge.is_valid(text)] == []
    assert [text for text in invalid if judge.is_valid(text)] == []


def test_formats_may_be_annotations() -> None:
    assert Judge({"format": "date"}, formats=False).is_valid('"x"')


def test_members_named_like_keywords_are_no_keywords() -> None:
    judge = Judge({"properties": {"patternProperties": {"type": "string", "pattern": "a$"}, "enum": {"pattern": "b$"}}})
    assert judge.is_valid('{"patternProperties": "a", "enum": "b"}')
    assert not judge.is_valid('{"patternProperties": 1}')
    assert not judge.is_valid('{"patternProperties": "a\\n"}')
    assert not judge.is_valid('{"enum": "b\\n"}')


def test_the_declared_draft_counts() -> None:
    assert Judge({"$schema": "http://json-schema.org/draft-04/schema#", "const": 1}).is_valid("2")
    assert not Judge({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}).is_valid("1.0")


def test_a_reference_to_the_root_is_judged_as_exactly() -> None:
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        judge = Judge({"$schema": draft, "type": ["integer", "array"], "items": {"$ref": "#"}})
        assert judge.is_valid("[4.00, [1e3]]")
        assert not judge.is_valid("[[0.35]]")


@pytest.mark.long
def test_what_cannot_be_judged_says_so() -> None:
    with pytest.raises(Unjudgeable):
        Judge({"pattern": r"\p{L}"})
    with pytest.raises(Unjudgeable):
        Judge({"$ref": "#"}).is_valid("1")
    with pytest.raises(Unjudgeable):
        Judge({"$ref": "https://example.test/nowhere"}).is_valid("1")
    twice = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    branching = Judge({"$ref": "#/$defs/d0", "$defs": {**twice, "d40": True}})  # 2 ** 40 references
    with pytest.raises(Unjudgeable, match="references without end"):
        branching.is_valid("1")
    short = Judge({"$ref": "#/$defs/d36", "$defs": {**twice, "d40": True}})
    assert short.is_valid("1")
    assert short.is_valid("1")


def test_multiples_agree_with_fractions(rng: random.Random) -> None:
    for _ in range(3000):
        value = Decimal(rng.randint(-400, 400)).scaleb(rng.randint(-4, 4))
        factor = Decimal(rng.randint(1, 60)).scaleb(rng.randint(-3, 1))
        assert is_multiple(value, factor) == ((Fraction(value) / Fraction(factor)).denominator == 1), (value, factor)


def test_multiples_of_huge_numbers_take_no_time() -> None:
    assert is_multiple(Decimal("7e100000000"), Decimal("0.7"))
    assert not is_multiple(Decimal("1e-100000000"), 3)


def test_identity_is_equality_of_json_schema() -> None:
    assert identity([1, {"a": None}]) == identity([Decimal("1.0"), {"a": None}])
    assert len({identity(value) for value in (0, False, "0", None, [], {}, [0], [False])}) == 8


def test_patterns_keep_their_escapes_and_classes() -> None:
    assert re.search(python_pattern(r"^[$.\]]\$\.$"), "].$.") is None
    assert re.search(python_pattern(r"^[$.\]]\$\.$"), "]$.")
    assert re.search(python_pattern(r"^(?<year>\d+)\/[\s]$"), "1999/\ufeff")
    assert re.search(python_pattern(r"^\S$"), "\u00a0") is None
