"""The judge of witnesses: `jsonschema` made exact, and what of formats it cannot say.

Formats with a definition in a few lines are judged: date, date-time, time, ipv4, ipv6, uuid (second 60 is not: where
leap seconds may be is disputed). Of others the checkers in Python accept more and less than the RFCs say, so a string
that is checked for one of them is noted and its difference counted as "no judge". Names that no specification has are
annotations.

In: a schema, documents. Out: verdicts. Cost: 100 to 500 us a document.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Any

from jsonschema import FormatChecker

from bench.duel.partial import NotJson, whole
from tests.generators.judge import DATE, IPV4, UUID, VALUES, Judge, Unjudgeable

__all__ = ["Formats", "Referee", "Unjudgeable", "has_other_bases"]

TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])")
UNJUDGED = (
    *("email", "idn-email", "hostname", "idn-hostname", "uri", "uri-reference", "iri", "iri-reference"),
    *("uri-template", "json-pointer", "relative-json-pointer", "regex", "duration"),
)

BASES = ("$id", "id", "$dynamicRef", "$recursiveRef")  # what begins with # is a name within the same document


def is_date(text: str) -> bool:
    """RFC 3339's full-date."""
    found = DATE.fullmatch(text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= month <= 12 and 1 <= day <= (31, 28 + is_leap, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def is_time(text: str) -> bool:
    """RFC 3339's full-time, second 60 anywhere."""
    return TIME.fullmatch(text) is not None


def is_date_time(text: str) -> bool:
    """RFC 3339's date-time."""
    return text[10:11] in ("T", "t") and is_date(text[:10]) and is_time(text[11:])


def is_ipv6(text: str) -> bool:
    try:
        return ipaddress.IPv6Address(text).scope_id is None
    except ValueError:
        return False


JUDGED = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "ipv4": lambda text: IPV4.fullmatch(text) is not None,
    "ipv6": is_ipv6,
    "uuid": lambda text: UUID.fullmatch(text) is not None,
}


class Formats(FormatChecker):
    """Checks what can be judged, and notes the strings that cannot.

    Attributes
    ----------
    noted : strings that were checked for a format without a judge.
    """

    def __init__(self) -> None:
        super().__init__(formats=())
        self.checkers: dict[str, Any] = {}
        self.noted: set[str] = set()

    def conforms(self, instance: object, format: str) -> bool:
        if not isinstance(instance, str):
            return True
        if format in UNJUDGED or (format in ("time", "date-time") and re.search(":[0-9]{2}:60", instance)):
            self.noted.add(instance)
            return True
        return JUDGED[format](instance) if format in JUDGED else True

    def check(self, instance: object, format: str) -> None:
        if not self.conforms(instance, format):
            from jsonschema.exceptions import FormatError

            raise FormatError(f"{instance!r} is no {format}")


def _of_one_draft(schema: Any, is_root: bool = True) -> Any:
    """The schema without `$schema` in its parts, where `jsonschema` would go on with another draft.

    That keyword counts at the root of a document alone (2020-12, section 8.1.1), so parts with an `$id` keep it.
    """
    if isinstance(schema, list):
        return [_of_one_draft(part, False) for part in schema]
    if not isinstance(schema, dict):
        return schema
    keeps = is_root or isinstance(schema.get("$id"), str) or not isinstance(schema.get("$schema"), str)
    return {
        name: value if name in VALUES else _of_one_draft(value, False)
        for name, value in schema.items()
        if keeps or name != "$schema"
    }


def _is_text(schema: Any, name: str) -> bool:
    return isinstance(schema.get(name), str)


def has_other_bases(schema: Any, is_root: bool = True) -> bool:
    """Whether references may mean other places than they do in the root; then nothing is proved of values."""
    if isinstance(schema, dict):
        if not is_root and any(str(schema.get(name, "#"))[:1] != "#" for name in BASES if _is_text(schema, name)):
            return True
        reference = schema.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            return True
        return any(has_other_bases(value, False) for value in schema.values())
    return isinstance(schema, list) and any(has_other_bases(value, False) for value in schema)


class Referee(Judge):
    """What JSON Schema says of documents.

    Raises
    ------
    Unjudgeable : a pattern that is not Python's, a schema that `jsonschema` cannot read.
    """

    def __init__(self, schema: Any) -> None:
        super().__init__(_of_one_draft(schema))
        self.formats = Formats()
        self._validator = self._validator.evolve(format_checker=self.formats)
        self.schema = self._validator.schema
        self.n_judged = 0

    def accepts(self, document: bytes) -> bool:
        """Whether it is a JSON text without repeated keys that fulfils the schema. Raises `Unjudgeable`."""
        try:
            value = whole(document)
        except NotJson:
            return False
        self.n_judged += 1
        return self.holds(self.schema, value)

    def holds(self, schema: Any, value: Any) -> bool:
        """Whether a value fulfils a part of the schema. Raises `Unjudgeable`."""
        self._followed[0] = 0
        validator = self._validator if schema is self.schema else self._validator.evolve(schema=schema)
        try:
            return bool(validator.is_valid(value))
        except Exception as error:
            raise Unjudgeable(f"{type(error).__name__}: {error}") from None
