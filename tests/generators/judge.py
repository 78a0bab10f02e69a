"""`jsonschema` as an exact judge of documents.

It differs from the specification in three ways that random input finds: numbers are binary floats, patterns are
Python's regular expressions, and `uniqueItems` sorts before it compares (`[[1], [true], [1]]` counts as unique). So
numbers are read as `Decimal`, patterns are rewritten from ECMA-262 to what Python means by the same, `multipleOf` and
`uniqueItems` are replaced. Its checkers of formats accept more and less than the RFCs say (any text with an @ is an
address), so only three formats with a definition in a few lines are judged, by functions of our own: date, ipv4, uuid.

In: a schema. Out: verdicts. Cost: 50 to 500 us a document.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from typing import Any

import jsonschema
from jsonschema import FormatChecker, ValidationError
from jsonschema.validators import extend, validator_for

SPACES = "\\t\\n\\x0b\\x0c\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
VALUES = frozenset(("enum", "const", "default", "examples"))
MAPS = frozenset(("properties", "$defs", "definitions", "dependentSchemas", "dependencies"))
MOST_REFERENCES = 20_000  # followed for one document: a schema that refers to itself in place branches without end
HUGE = 10**8  # stands for exponents that Decimal cannot hold
IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!\Z)|\Z)){4}")
UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class Unjudgeable(Exception):
    """The judge cannot read the schema: a pattern beyond Python's, references without end."""


def exact(text: str) -> Decimal:
    """A number as it is written; an exponent beyond what Decimal can hold becomes a huge one."""
    try:
        return Decimal(text)
    except InvalidOperation:
        mantissa, _, exponent = text.lower().partition("e")
        return Decimal(f"{mantissa}e{'-' if exponent.startswith('-') else ''}{HUGE}")


def read(text: str | bytes) -> Any:
    """A document with exact numbers."""
    return json.loads(text, parse_float=exact)


def is_multiple(value: Decimal | int, factor: Decimal | int) -> bool:
    """Whether `value` is an integer times `factor`, without spelling out powers of ten that are huge."""
    _, digits, exponent = Decimal(value).as_tuple()
    assert isinstance(exponent, int)  # no JSON number is infinite
    mantissa = int("".join(map(str, digits)))
    step = Fraction(factor)
    if exponent >= 0:
        return mantissa * step.denominator * pow(10, exponent, step.numerator) % step.numerator == 0
    if mantissa and -exponent > len(digits) + len(str(step.denominator)):
        return False  # too small to be a multiple
    return mantissa == 0 or mantissa * step.denominator % (step.numerator * 10**-exponent) == 0


def identity(value: Any) -> Any:
    """A hashable key that two values share exactly when JSON Schema calls them equal."""
    if isinstance(value, dict):
        return frozenset((name, identity(member)) for name, member in value.items())
    if isinstance(value, list):
        return tuple(identity(item) for item in value)
    return (type(value), value) if isinstance(value, (bool, str, type(None))) else ("number", Decimal(value))


def python_pattern(pattern: str) -> str:
    r"""The pattern of ECMA-262 as Python's `re` spells it.

    >>> re.search(python_pattern("a$"), "a\n") is None
    True
    """
    out, in_class, place = [], False, 0
    while place < len(pattern):
        char = pattern[place]
        if char == "\\" and place + 1 < len(pattern):
            place += 1
            escaped = pattern[place]
            plain = {"/": "/", "s": SPACES if in_class else f"[{SPACES}]"}
            if escaped == "S" and not in_class:
                plain["S"] = f"[^{SPACES}]"
            out.append(plain.get(escaped, "\\" + escaped))
        elif in_class:
            in_class = char != "]"
            out.append(char)
        elif char == "[":
            in_class = True
            out.append(char)
        elif char == "(" and re.match(r"\(\?<[^=!]", pattern[place:]):
            out.append("(?P<")
            place += 2
        else:
            out.append({"$": r"\Z", ".": r"[^\n\r\u2028\u2029]"}.get(char, char))
        place += 1
    return f"(?a:{''.join(out)})"


def _rewritten(schema: Any) -> Any:
    """The schema with Python's patterns; values, and names of members that look like keywords, stay as they are."""
    if isinstance(schema, list):
        return [_rewritten(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key in VALUES:
            out[key] = value
        elif key in MAPS and isinstance(value, dict):
            out[key] = {name: _rewritten(member) for name, member in value.items()}
        elif key == "pattern" and isinstance(value, str):
            out[key] = _checked(python_pattern(value))
        elif key == "patternProperties" and isinstance(value, dict):
            out[key] = {_checked(python_pattern(name)): _rewritten(member) for name, member in value.items()}
        else:
            out[key] = _rewritten(value)
    return out


def _checked(pattern: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise Unjudgeable(f"pattern {pattern!r}: {error}") from None
    return pattern


def _formats() -> FormatChecker:
    checker = FormatChecker(formats=())
    checker.checkers = {}

    def is_date(value: Any) -> bool:
        if not isinstance(value, str):
            return True
        found = DATE.fullmatch(value)
        if found is None:
            return False
        year, month, day = map(int, found.groups())
        try:
            date(year or 400, month, day)  # RFC 3339 has a year 0000, a leap year
        except ValueError:
            return False
        return True

    checker.checks("date")(is_date)
    checker.checks("ipv4")(lambda value: not isinstance(value, str) or IPV4.fullmatch(value) is not None)
    checker.checks("uuid")(lambda value: not isinstance(value, str) or UUID.fullmatch(value) is not None)
    return checker


FORMATS = _formats()


def _is_integer(_checker: Any, value: Any) -> bool:
    whole = isinstance(value, Decimal) and value == value.to_integral_value()
    return whole or (isinstance(value, int) and not isinstance(value, bool))


def _multiple_of(validator: Any, factor: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "number") and not is_multiple(value, factor):
        yield ValidationError("no multiple")


def _unique_items(validator: Any, is_asked: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if is_asked and validator.is_type(value, "array") and len({identity(item) for item in value}) < len(value):
        yield ValidationError("not unique")


def _counted(follow: Any, followed: list[int]) -> Any:
    """A keyword that refers to another schema, given up after so many references."""

    def refer(validator: Any, reference: Any, value: Any, schema: Any) -> Any:
        followed[0] += 1
        if followed[0] > MOST_REFERENCES:
            raise RecursionError("references without end")
        return follow(validator, reference, value, schema)

    return refer


@cache
def _exact_kind(kind: Any) -> Any:
    """The validator for a draft, and how many references it has followed."""
    if kind in (jsonschema.Draft3Validator, jsonschema.Draft4Validator):
        checker = kind.TYPE_CHECKER  # 1.0 is no integer there
    else:
        checker = kind.TYPE_CHECKER.redefine("integer", _is_integer)
    followed = [0]
    keywords = {"multipleOf": _multiple_of, "uniqueItems": _unique_items}
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        if name in kind.VALIDATORS:
            keywords[name] = _counted(kind.VALIDATORS[name], followed)
    return extend(kind, keywords, type_checker=checker), followed


class Judge:
    """What the specification says of documents, formats asserted or not.

    Parameters
    ----------
    schema : as the grammar gets it.
    formats : assert date, ipv4 and uuid; or what a checker of `jsonschema` knows.

    Raises
    ------
    Unjudgeable : `jsonschema` cannot read the schema.
    """

    def __init__(self, schema: Any, formats: bool | FormatChecker = True) -> None:
        kind, self._followed = _exact_kind(validator_for(schema, default=jsonschema.Draft202012Validator))
        written = read(json.dumps(_rewritten(schema)))
        if isinstance(written, dict):
            written.pop("$schema", None)  # `jsonschema` would go on with its own kind where a reference leads back here
        checker = formats if isinstance(formats, FormatChecker) else FORMATS if formats else None
        self._validator = kind(written, format_checker=checker)

    def is_valid(self, text: str | bytes) -> bool:
        """Whether the JSON text fulfils the schema.

        Raises
        ------
        Unjudgeable : references that lead nowhere or never end, a schema that breaks its meta-schema.
        """
        self._followed[0] = 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return bool(self._validator.is_valid(read(text)))
        except (RecursionError, TypeError, AttributeError, KeyError, re.error) as error:
            raise Unjudgeable(f"{type(error).__name__}: {error}") from None
        except Exception as error:  # referencing's errors have no common base that is public
            if type(error).__module__.split(".")[0] in ("referencing", "jsonschema"):
                raise Unjudgeable(f"{type(error).__name__}: {error}") from None
            raise
