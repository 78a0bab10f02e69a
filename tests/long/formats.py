"""Formats beside the reference packages of their RFCs, and jsonschema-rs.

Texts of a format are sampled from llmask's own grammar or taken from a list, then damaged. Judges are the packages that
`jsonschema[format]` names, the standard library, `idna` and `email-validator`, and besides them jsonschema-rs: where
the two differ the text is set aside and counted, by format. What llmask leaves out on purpose (README: where a regular
expression cannot say it, it keeps on the inside) is counted with its reason.

In: texts. Out: counts. Cost: 50 us a text.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import random
import re
import unicodedata
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any

import llmask
from tests.long.harness import Tally, needed
from tests.long.subject import accepts

EACH = 20  # texts of one format in a row
SAMPLES = {
    "date": ("2024-02-29", "1999-12-31", "2100-02-28"),
    "time": ("10:20:30Z", "23:59:60Z", "12:00:00.123+05:30"),
    "date-time": ("2024-02-29T10:20:30Z", "2016-12-31T23:59:60Z", "2020-01-01t00:00:00.5-08:00"),
    "duration": ("P1Y2M3DT4H5M6S", "P4W", "PT36H", "P1D"),
    "ipv4": ("127.0.0.1", "255.249.199.0"),
    "ipv6": ("::1", "2001:db8::ff00:42:8329", "::ffff:192.0.2.1", "1:2:3:4:5:6:7:8"),
    "hostname": ("example.com", "a-b.c", "x" * 63 + ".org", "1.2.3"),
    "idn-hostname": ("bücher.example", "例え.テスト", "faß.de", "א1.com"),
    "email": ("a@example.com", '"a b"@example.org', "first.last+tag@sub.example.org", "me@[127.0.0.1]"),
    "idn-email": ("jörg@bücher.example", "我@例え.jp"),
    "uri": ("https://u:p@example.com:80/a/b?c=d#e", "urn:isbn:1", "mailto:a@b.c", "http://[::1]/%41"),
    "uri-reference": ("../a?b#c", "//host/x", "", "#f"),
    "iri": ("https://exämple.com/ü?ö=ß#日", "urn:é"),
    "iri-reference": ("ü/ä", "//日本/", "#é"),
    "uri-template": ("/a{/b*}{?c,d:3}", "{+x}{#y}", "{;k}{&z.w}"),
    "json-pointer": ("/a~1b/~0", "", "/0/é"),
    "relative-json-pointer": ("1/a", "0#", "10/b~0"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000",),
}
LETTERS = "aZ09.-:/@%#?[]{}~_+TtPYMWD ,;=&'\"\\éß日1" + "\u0660\u200d\u00a0"
Reason = tuple[Callable[[str], Any], str]  # whether it holds of a text, and what to call it
_LEAP_SECOND: Reason = (re.compile(":60").search, "leap seconds under another offset than UTC's")
_A_LABEL: Reason = (re.compile("(?:^|[.@]).{2}--").search, "labels with -- at their third place")
_INTERNATIONAL: tuple[Reason, ...] = (
    (re.compile(r"(?=[^.@]*[^\0-\x7f])[^.@]{12}").search, "labels beyond ASCII whose Punycode might be too long"),
    (lambda text: not text.isascii() and text.count(".") > 3, "more than four labels beyond ASCII"),
    (lambda text: any(map(unicodedata.combining, text)), "marks that might compose"),
    (re.compile("[\u200c\u200d]").search, "joiners"),
)
# what llmask refuses though both judges take it, because no regular expression says it
KNOWN: dict[str, tuple[Reason, ...]] = {
    "time": (_LEAP_SECOND,),
    "date-time": (_LEAP_SECOND,),
    "hostname": (_A_LABEL,),
    "email": (_A_LABEL,),
    "uri-template": ((re.compile(r"\{[=,!@|]").search, "operators that are kept for extensions"),),
    "idn-hostname": (_A_LABEL, *_INTERNATIONAL),
    "idn-email": (_A_LABEL, *_INTERNATIONAL),
}


def run(tally: Tally) -> None:
    """Judge until `tally.size` texts are judged by both."""
    jsonschema_rs = needed("jsonschema_rs")
    for module in ("fqdn", "idna", "email_validator", "isoduration", "jsonpointer", "rfc3339_validator", "rfc3987"):
        needed(module)
    needed("uri_template")
    compiler = llmask.Compiler(llmask.Tokenizer.default())
    names = list(SAMPLES)
    sides = {
        name: (
            compiler.json_schema({"type": "string", "format": name}, literals="any"),
            jsonschema_rs.validator_for({"format": name}, validate_formats=True, offline=True),
            _reference(name),
        )
        for name in names
    }
    for number, rng in enumerate(tally.cases()):
        name = names[number % len(names)]
        for _ in range(EACH):
            _judge(tally, name, *sides[name], text=_text(name, sides[name][0], rng))


def _judge(tally: Tally, name: str, grammar: Any, other: Any, reference: Callable[[str], bool], text: str) -> None:
    """Judge one text."""
    found = accepts(grammar.matcher(), json.dumps(text, ensure_ascii=False))
    expected = reference(text)
    if other.is_valid(text) != expected:
        tally.sums[f"set aside: {name}, the judges differ"] += 1
        return
    tally.done += 1
    tally.sums[f"{name}, {'valid' if expected else 'invalid'}"] += 1
    if found == expected:
        return
    reasons = [why for holds, why in KNOWN.get(name, ()) if holds(text)] if expected else []
    if reasons:
        tally.sums[f"known: {name}, {reasons[0]}"] += 1
    else:
        tally.fault(f"{name}: " + ("valid refused" if expected else "invalid accepted"), ascii(text))


def _text(name: str, grammar: Any, rng: random.Random) -> str:
    """A text of the format, or nearly one."""
    if rng.random() < 0.5:
        try:
            text = json.loads(grammar.sample(rng.randrange(10**6), 80))
        except llmask.LimitExceeded:
            text = rng.choice(SAMPLES[name])
    else:
        text = rng.choice(SAMPLES[name])
    assert isinstance(text, str)
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        at = rng.randint(0, len(text))
        near = rng.choice(text) if text and rng.random() < 0.5 else rng.choice(LETTERS)
        text = text[:at] + rng.choice((near, "", near * 2)) + text[at + rng.choice((0, 1, 1)) :]
    return text


@cache
def _reference(name: str) -> Callable[[str], bool]:
    """Whether the reference package of a format takes a text."""
    import email_validator
    import fqdn
    import idna
    import isoduration
    import jsonpointer
    import jsonschema
    import rfc3339_validator
    import rfc3987
    import uri_template

    def without_error(function: Callable[[str], Any]) -> Callable[[str], bool]:
        def takes(text: str) -> bool:
            try:
                return function(text) is not None
            except (ValueError, TypeError, idna.IDNAError, jsonpointer.JsonPointerException, UnicodeError):
                return False
            except isoduration.DurationParsingException:
                return False

        return takes

    def date(text: str) -> datetime.date | None:
        return datetime.date.fromisoformat(text) if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text) else None

    def email(text: str) -> Any:
        host = text.rpartition("@")[2]
        if name == "idn-email" and not host.startswith("["):
            idna.encode(host)  # email-validator maps what RFC 5891 forbids, such as capital letters
        return email_validator.validate_email(
            text, check_deliverability=False, allow_smtputf8=name == "idn-email", allow_quoted_local=True,
            allow_domain_literal=True, test_environment=True, globally_deliverable=False,
        )  # fmt: skip

    def host_name(text: str) -> bool:
        return fqdn.FQDN(text, min_labels=1).is_valid and not text.endswith(".")

    def is_uuid(text: str) -> bool:
        return [place for place, char in enumerate(text) if char == "-"] == [8, 13, 18, 23] and bool(uuid.UUID(text))

    rules = {"uri": "URI", "uri-reference": "URI_reference", "iri": "IRI", "iri-reference": "IRI_reference"}
    if name in rules:
        pattern = rfc3987.get_compiled_pattern(rules[name])
        return lambda text: pattern.fullmatch(text) is not None
    found: dict[str, Callable[[str], bool]] = {
        "date": without_error(date),
        "date-time": lambda text: rfc3339_validator.validate_rfc3339(text.upper()),
        "time": lambda text: rfc3339_validator.validate_rfc3339(f"2020-01-01T{text}".upper()),
        "duration": without_error(isoduration.parse_duration),
        "ipv4": without_error(ipaddress.IPv4Address),
        "ipv6": without_error(lambda text: None if "%" in text else ipaddress.IPv6Address(text)),
        "hostname": without_error(lambda text: host_name(text) or None),
        "idn-hostname": without_error(lambda text: None if text.endswith(".") else idna.encode(text)),
        "email": without_error(email),
        "idn-email": without_error(email),
        "uri-template": lambda text: bool(uri_template.validate(text)),
        "json-pointer": without_error(jsonpointer.JsonPointer),
        "relative-json-pointer": lambda text: jsonschema.FormatChecker().conforms(text, "relative-json-pointer"),
        "uuid": without_error(lambda text: is_uuid(text) or None),
    }
    return found[name]
