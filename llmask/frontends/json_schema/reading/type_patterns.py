r"""Texts that Python's types are read from, as patterns: dates, numbers within bounds, addresses, JSON in a string.

Each holds part of what the libraries read, and what people and these libraries write: no year 0, no leap second, no
spaces around a number, host names without punycode. All match whole texts, have no anchors but within look-aheads, and
hold neither quotes nor backslashes, so that one can be part of another.

In: bounds and limits of a type. Out: patterns (ECMA-262). Cost: text only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from decimal import Decimal
from functools import partial
from typing import Any

from .keywords import UNCHECKED

Schema = Mapping[str, Any]
Bound = tuple[Any, bool, bool]  # a value; whether it is the least one; whether it is itself left out
LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
ASCII = r"^[\x00-\x7f]*$"
STRIPPED = r"^(?:[^\s\x85](?:[^]*[^\s\x85])?)?$"
FAR = 10**300  # no number is read that is so large

_YEAR = "(?:[1-9][0-9]{3}|0(?:[1-9][0-9]{2}|0(?:[1-9][0-9]|0[1-9])))"
_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
DATE = (
    f"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_SECONDS = r":[0-5][0-9](?:\.[0-9]{1,6})?"
CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
FULL_CLOCK, CLOCK = CLOCK + _SECONDS, f"{CLOCK}(?:{_SECONDS})?"
OFFSETS = {"naive": "", "aware": "(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"}
OFFSETS[""] = OFFSETS["aware"] + "?"
_SPAN = r"(?:[0-9]{1,8}D)?(?:T(?=[0-9])(?:[0-9]{1,7}H)?(?:[0-9]{1,7}M)?(?:[0-9]{1,8}(?:\.[0-9]{1,6})?S)?)?"
SPAN = f"[+-]?P(?=[0-9T]){_SPAN}"  # days and less
DURATION = f"[+-]?P(?=[0-9T])(?:[0-9]{{1,5}}W|(?:[0-9]{{1,4}}Y)?(?:[0-9]{{1,4}}M)?{_SPAN})"
_NORMAL_SPAN = (
    r"-?P(?=[0-9T])(?:[1-9][0-9]{0,3}Y)?(?:(?:[1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-4])D)?"
    r"(?:T(?=[0-9])(?:(?:[1-9]|1[0-9]|2[0-3])H)?(?:[1-5]?[0-9]M)?(?:[1-5]?[0-9](?:\.[0-9]{1,6})?S)?)?"
)

INTEGER = "(?:0|-?[1-9][0-9]*)"
_WHOLE = "(?:0|[1-9][0-9]*)"
_FRACTION = r"(?:\.[0-9]+)?"
_NUMBER = _WHOLE + _FRACTION
NUMBER = f"-?{_NUMBER}"
_SCALED = rf"[0-9]{_FRACTION}[eE]\+?(?:[12]?[0-9]{{1,2}}|300)"
FLOAT = rf"-?(?:{_WHOLE}{_FRACTION}(?:[eE]-[0-9]{{1,3}})?|{_SCALED})"
RATIO = rf"-?[0-9]+(?:/0*[1-9][0-9]*|{_FRACTION})"
_UNSIGNED = rf"[0-9]+{_FRACTION}(?:e[+-]?[0-9]{{1,2}})?"
COMPLEX = f"-?(?:{_UNSIGNED}(?:[+-]{_UNSIGNED}j)?|{_UNSIGNED}j)"
BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/](?:[AQgw]==|[A-Za-z0-9+/][AEIMQUYcgkosw048]=))?"
BASE64_TEXT = "(?:[A-Za-f][A-HQ-Xg-nw-z0-3][AEIMQUYcgkosw048BFJNRVZdhlptx159][A-Za-z0-9+/])*"  # of ASCII
BASE64_TEXT += "(?:[A-Za-f](?:[AQgw]==|[A-HQ-Xg-nw-z0-3][AEIMQUYcgkosw048]=))?"
HEX = "(?:[0-9A-Fa-f]{2})*"
BYTE_SIZE = r"[0-9]{1,12}(?:\.[0-9]{1,3})? ?(?:[KkMmGgTtPp]i?[Bb]|[Bb])?"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_GROUP = "[0-9A-Fa-f]{1,4}"
_GROUPS = "|".join(f"(?:{_GROUP}:){{1,{n}}}(?::{_GROUP}){{1,{7 - n}}}" for n in range(1, 7))
_GROUPS = f"(?:{_GROUPS}|(?:{_GROUP}:){{7}}{_GROUP}|(?:{_GROUP}:){{1,7}}:|::(?:{_GROUP}(?::{_GROUP}){{0,6}})?)"
IPV6 = f"(?:{_GROUPS}|::[Ff]{{4}}:{IPV4})"  # the second as Python writes them since 3.13
IPV4_INTERFACE, IPV6_INTERFACE = f"{IPV4}(?:/(?:3[0-2]|[12]?[0-9]))?", f"{IPV6}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?"


def url_safe(pattern: str) -> str:
    """The pattern of base64 with the letters of URLs."""
    return pattern.replace("+/", "_-")


def _choice(texts: Iterable[Any]) -> str:
    return f"(?:{'|'.join(map(str, texts))})"


def _networks() -> Iterator[str]:
    """Networks of IPv4: what comes after the bits of the prefix is 0."""
    for n in range(33):
        parts = [_OCTET] * (n // 8)
        parts += [_choice(range(0, 256, 2 ** (8 - n % 8)))] if n % 8 else []
        yield r"\.".join(parts + ["0"] * (4 - len(parts))) + f"/{n}"


IPV4_NETWORK = _choice([IPV4, *_networks()])


def _networks_of_ipv6() -> Iterator[str]:
    """Networks of IPv6: `::` after the groups within the prefix, or after one partly in it; zeros at the end."""
    yield f"{IPV6}(?:/128)?"
    ends = []
    for length in range(128):
        n, (digits, rest) = length // 16, divmod(length % 16, 4)
        part = f"{_GROUP[:11]}{{{0 if rest else 1},{digits}}}" + ("", "[08]", "[048Cc]", "[02468ACEace]")[rest]
        part += "0" * (4 - digits - bool(rest))
        if length % 16 == 0:
            yield f"{':'.join([_GROUP] * n)}::/{_choice(range(length, 129))}"
        elif n < 7:
            yield f"(?:{_GROUP}:){{{n}}}{part}::/{length}"
        if n >= 4:
            ends.append(f"(?:{part if length % 16 else 0}|0){':0' * (7 - n)}/{length}(?![0-9])")
    yield f"(?=[0-9A-Fa-f:]*:{_choice(ends)}){IPV6}/[0-9]{{2,3}}"


IPV6_NETWORK = _choice(_networks_of_ipv6())
_LABEL = "[A-Za-z0-9](?:-?[A-Za-z0-9])"  # no hyphens in a row, so no punycode either
_ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
EMAIL = (
    rf"(?=[^@]{{1,64}}@){_ATOM}(?:\.{_ATOM})*@(?:(?=[^.]{{1,50}}\.){_LABEL}*\.){{1,3}}"
    r"(?!(?:arpa|invalid|local|localhost|onion|test)(?![a-z]))[a-z]{2,24}"
)
# Formats that pydantic writes: what is read of them; "" where the format asks nothing of a text.
FORMATS = {
    "email": EMAIL,
    "name-email": rf"(?:(?:[A-Za-z0-9.'-]+ )+<{EMAIL}>|{EMAIL})",
    "ipv4": IPV4,
    "ipv4network": IPV4_NETWORK,
    "ipv4interface": IPV4_INTERFACE,
    "ipv6": IPV6,
    "ipv6network": IPV6_NETWORK,
    "ipv6interface": IPV6_INTERFACE,
    "ipvanyaddress": f"(?:{IPV4}|{IPV6})",
    "ipvanynetwork": f"(?:{IPV4_NETWORK}|{IPV6_NETWORK})",
    "ipvanyinterface": f"(?:{IPV4_INTERFACE}|{IPV6_INTERFACE})",
    **dict.fromkeys(("path", "file-path", "directory-path", "password", "binary", "zoneinfo", "color"), ""),
    **{f"uuid{version}": "" for version in range(1, 9)},
}
_UNRESERVED = "A-Za-z0-9._~!$&'()*+,;="
_NAME = "(?:[A-Za-z0-9._~!$*+=-]|%[0-9A-Fa-f]{2})*"
_CREDENTIALS = f"(?:{_NAME}(?::{_NAME})?@)?"
_HOST = rf"(?:(?:{_LABEL}*\.)*[A-Za-z](?:[_-]?[A-Za-z0-9])*|{IPV4}|\[{_GROUPS}\])"
_PORT = "(?::(?:[1-5]?[0-9]{1,4}|6[0-4][0-9]{3}))?"


def url(schemes: Sequence[str] | None, has_hosts: bool, max_length: int | None) -> str:
    """Addresses of some schemes, or of any; with several hosts."""
    beyond = "" if max_length else "\u00a1-\ud7ff"  # a length counts bytes
    letters = rf"(?:[{_UNRESERVED}{beyond}:@/?#|`^{{}}[\]-]|%[0-9A-Fa-f]{{2}})*"
    tail = f"(?:[/?#]{letters})?"
    named = "(?!file:|javascript:)[A-Za-z][A-Za-z0-9+-]*" if schemes is None else _choice(map(re.escape, schemes))
    hosts = f"{_HOST}{_PORT}"
    text = f"{named}://{_CREDENTIALS}{hosts}{f'(?:,{hosts})*' if has_hosts else ''}{tail}"
    if "file" in (schemes or ("file",)) and not has_hosts:
        file = f"file://{_HOST}?{tail}"
        return file if schemes else f"(?:{text}|{file}|(?:data|mailto|tel|urn):{letters})"
    return text


# --- bounds


def bounds_of(schema: Mapping[str, Any], names: Sequence[str] = ("ge", "gt", "le", "lt")) -> list[Bound]:
    """The bounds that a schema has under these names: from, above, to, below."""
    return [(schema[name], at < 2, at % 2 == 1) for at, name in enumerate(names) if schema.get(name) is not None]


def in_utc(value: Any) -> str:
    """A date or a time without offset; a moment that has one in UTC."""
    moves = isinstance(value, datetime) and value.tzinfo is not None
    return str((value.astimezone(timezone.utc) if moves else value).isoformat()).partition("+")[0]


def _beyond(text: str, is_above: bool) -> Iterator[tuple[str, int]]:
    """Beginnings of the texts with digits in the same places that are greater, or less, and how many letters follow."""
    for at, digit in enumerate(text):
        if digit.isdecimal() and digit != "09"[is_above]:
            digits = f"[{int(digit) + 1}-9]" if is_above else f"[0-{int(digit) - 1}]"
            yield re.escape(text[:at]) + digits, len(text) - at - 1


def fixed_within(bounds: Iterable[Bound]) -> str:
    """Look-aheads that keep texts of fixed width, and a fraction, within bounds, which are such texts."""
    found = ""
    for text, is_above, is_strict in bounds:
        others = [start for start, _ in _beyond(text.partition(".")[0], is_above)]
        found += f"(?={_choice([*others, *([] if is_strict else [re.escape(text) + '(?![0-9.])'])])})"
    return found


def _magnitude(bound: Decimal, is_above: bool, is_strict: bool) -> str:
    """Numbers without sign on one side of a bound."""
    whole, _, part = f"{bound:f}".partition(".")
    part = part.rstrip("0")
    found = [f"{start}[0-9]{{{n}}}{_FRACTION}" for start, n in _beyond(whole, is_above)]
    found += [rf"{whole}\.{start}[0-9]*" for start, _ in _beyond(part, is_above)]
    if is_above:
        found += [f"[1-9][0-9]{{{len(whole)},}}{_FRACTION}", rf"{whole}\.{part}[0-9]*[1-9][0-9]*"]
    else:
        found += [f"(?:0|[1-9][0-9]{{0,{len(whole) - 2}}}){_FRACTION}"] if len(whole) > 1 else []
        found += [rf"{whole}\.{part[:at]}" if at else whole for at in range(len(part))]
    if not is_strict:
        found.append(rf"{whole}\.{part}0*" if part else rf"{whole}(?:\.0+)?")
    return _choice(found)


def _span(bound: Decimal, is_above: bool, is_strict: bool) -> str:
    """Durations without sign, each part below a whole of the next, on one side of `bound` seconds."""
    days, seconds = divmod(bound, 86400)
    found, start = [], "P"
    parts = (days // 365, days % 365, seconds // 3600, seconds // 60 % 60, seconds % 60)
    for unit, value in zip("YDHMS", parts, strict=True):
        if unit == "H":
            if (seconds and not is_above) or not (seconds or is_strict):
                found.append(f"{start}(?!T)")
            start += "T"
        is_last = unit == "S" and not is_strict
        if is_above or value or is_last:
            found.append(f"{start}{_magnitude(value, is_above, not is_last)}{unit}")
        if (value and not is_above) or (is_last and not value):
            found.append(f"{start}(?![0-9.]+{unit})")
        start += f"{value}{unit}" if value else f"(?![0-9.]+{unit})"
    return _choice(found)


def _on_side(bound: Bound, magnitude: Callable[[Decimal, bool, bool], str], anything: str) -> str:
    """Texts with or without minus on one side of a bound."""
    value, is_above, is_strict = bound
    plus, minus = ("", "-") if is_above else ("-", "")
    least = Decimal(str(value)) if is_above else -Decimal(str(value))
    if least > 0 or (least == 0 and is_strict):
        return plus + magnitude(abs(least), True, is_strict)
    return _choice([plus + anything, minus + magnitude(-least, False, is_strict)])


def span_within(bounds: Iterable[Bound]) -> str:
    """Durations within bounds of seconds, as pydantic writes them."""
    return "".join(f"(?={_on_side(bound, _span, 'P')})" for bound in bounds) + _NORMAL_SPAN


def within(bounds: Iterable[Bound]) -> str:
    """Look-aheads that keep numbers without exponent within bounds."""
    near = [bound for bound in bounds if abs(bound[0]) < FAR]
    return "".join(f"(?={_on_side(bound, _magnitude, _NUMBER)}(?![0-9.]))" for bound in near)


def decimal(bounds: list[Bound], digits: int | None, places: int | None, divisor: Decimal | None) -> str | None:
    """Decimal numbers; None where a pattern would be too large."""
    found, whole = within(bounds), _WHOLE
    if divisor is not None:
        if 1 % divisor or divisor < Decimal("0.001"):
            return None
        parts = {f"{divisor * n:f}".partition(".")[2].rstrip("0") for n in range(int(1 / divisor))}
        part = _choice(sorted(f"{part}0{{0,6}}" if part else "0{1,6}" for part in parts))
        found += rf"(?=-?[0-9]{{1,12}}(?:\.{part})?(?![0-9.]))"
    if digits is not None and digits <= (places or 0):
        return rf"{found}-?0\.[0-9]{{1,{digits}}}"
    if digits is not None and places is not None:
        whole = f"[0-9]{{1,{digits - places}}}"
    elif digits is not None:
        whole, places = rf"(?=(?:[0-9]\.?){{1,{digits}}}(?![0-9.]))[0-9]+", digits
    if places is None:
        return f"{found}-?{whole}{_FRACTION}" if found else rf"[+-]?{_NUMBER}(?:[eE][+-]?[0-9]{{1,3}})?"
    return f"{found}-?{whole}" + (rf"(?:\.[0-9]{{1,{places}}})?" if places else "")


# --- JSON in a string

ANNOTATIONS = {"title", "description", "default", "examples", "deprecated", "format", "writeOnly", UNCHECKED}
KINDS: dict[str, set[str]] = {  # what patterns are made of, beside the type
    "null": set(),
    "boolean": set(),
    "integer": set(LIMITS),
    "number": set(LIMITS),
    "string": {"pattern", "minLength", "maxLength", "allOf"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"},
}


class NotRegular(Exception):
    """A schema whose documents no pattern of bounded size holds."""


class TooDeep(NotRegular):
    """Its documents are nested too deep."""


class Whole(str):
    """The keyword `pattern` of texts that one of these patterns matches as a whole."""

    __slots__ = ()

    def __new__(cls, pattern: str) -> Whole:
        """The keyword's value."""
        return super().__new__(cls, f"^(?:{pattern})$")


def json_text(schema: Any, definitions: Mapping[str, Any], unchecked: list[str], depth: int = 4) -> str:
    """Documents of a schema, nested at most so deep, as `json.dumps` writes them; `unchecked` takes what they leave so.

    Raises
    ------
    NotRegular
        When the schema says what a pattern cannot, or takes nothing of that depth.
    """
    schema = schema if isinstance(schema, dict) else {}
    unchecked += schema.get(UNCHECKED, ())
    asked, here = schema.keys() - ANNOTATIONS, partial(json_text, definitions=definitions, unchecked=unchecked)
    here, below = partial(here, depth=depth), partial(here, depth=depth - 1)
    if depth == 0:
        raise TooDeep
    if asked in ({"$ref"}, {"$ref", "required"}):  # of a union with tags, which are required there
        target = definitions.get(schema["$ref"].rpartition("/")[2], {"not": {}})
        required = {*target.get("required", ()), *schema.get("required", ())}
        return here({**target, "required": required} if required else target)
    if asked and asked <= {"const", "enum", "type"} and asked != {"type"}:
        return _choice(map(_spelled, schema.get("enum", [schema.get("const")])))
    if not asked or asked <= {"anyOf", "oneOf", "discriminator"}:
        choices = [{"type": kind} for kind in KINDS if kind != "integer"]
        return _possible(here, schema.get("anyOf", schema.get("oneOf", choices)))
    kind = schema.get("type")
    if not isinstance(kind, str) or not asked - {"type"} <= KINDS[kind]:
        raise NotRegular
    if kind == "string":
        return f'"{_json_string(schema)}"'
    if kind == "array" and "prefixItems" in schema:
        return rf"\[{', ?'.join(map(below, schema['prefixItems']))}\]"
    if kind == "object" and "properties" in schema:
        return rf"\{{{_members(below, schema)}\}}"
    if kind == "array":
        return rf"\[{_items(schema, 'Items', '', below, schema.get('items'))}\]"
    if kind == "object":
        key = here({**schema.get("propertyNames", {}), "type": "string"}) + ": ?"
        return rf"\{{{_items(schema, 'Properties', key, below, schema.get('additionalProperties'))}\}}"
    found = within(bounds_of(schema, LIMITS))
    words = {"null": "null", "boolean": "(?:true|false)", "integer": INTEGER, "number": NUMBER if found else FLOAT}
    return found + words[kind]


def _spelled(value: Any) -> str:
    return _choice(map(re.escape, sorted({json.dumps(value), json.dumps(value, ensure_ascii=False)})))


def _possible(write: Callable[[Any], str], schemas: Sequence[Any]) -> str:
    """Documents of the schemas that a pattern can hold; the others are left out."""
    found = []
    for schema in schemas:
        with suppress(NotRegular):
            found.append(write(schema))
    return _choice(found or [write(schemas[0])])


def _items(schema: Schema, word: str, key: str, write: Callable[[Any], str], item: Any) -> str:
    """Items, or members with keys, as many as the schema asks; of those that must differ, one."""
    text = ""
    with suppress(TooDeep):
        text = key + write(item)
    several = 1 if "uniqueItems" in schema else 32 if "(?" in text.replace("(?:", "") else math.inf  # look-aheads
    least, most = schema.get(f"min{word}", 0), min(schema.get(f"max{word}", math.inf), several if text else 0)
    if least > (min(most, 1) if key else most):  # keys may come again
        raise NotRegular if text else TooDeep
    more = f"{{{max(least, 1) - 1},{'' if most == math.inf else most - 1}}}"
    items = f"{text}(?:, ?{text}){more}" if most else ""
    return items if least else f"(?:{items})?"


_ESCAPED = r'\\["\\/bfnrt]|\\u(?:[0-9A-CEFa-cef]HHH|[Dd][0-7]HH|[Dd][89ABab]HH\\u[Dd][C-Fc-f]HH)'
_ESCAPED = _ESCAPED.replace("H", "[0-9A-Fa-f]")
_SETS = r"\[(?:[A-Z]-[A-Z]|[a-z]-[a-z]|[0-9]-[0-9]|[\w@:/,;=#. +])+-?\]"  # as here, all without quotes and backslashes
_PLAIN = re.compile(rf"\^((?:[\w @:/,;=#+*?-]|\\[dw.+*?()/-]|{_SETS}|\{{[0-9,]+\}})*)\$", re.ASCII)
LOOKS = {ASCII: '(?=[ -~]*")', STRIPPED: r'(?!\s)(?:(?=")|(?=[^"]*[^"\s\x85]"))'}


def _json_string(schema: Mapping[str, Any]) -> str:
    asked, pattern = schema.keys() - ANNOTATIONS - {"type"}, schema.get("pattern", "")
    length = f"{{{schema.get('minLength', 0)},{schema.get('maxLength', '')}}}"
    if asked <= {"minLength", "maxLength"}:
        return rf'(?:[^"\\\x00-\x1f]|{_ESCAPED}){length}'
    looks = [one.get("pattern") for one in schema.get("allOf", ())] + [pattern] * (pattern in LOOKS)
    plain, text = _PLAIN.fullmatch(pattern), r'[^"\\\x00-\x1f]*'
    if isinstance(pattern, Whole):
        text = pattern[1:-1]
    elif pattern and pattern not in LOOKS:
        text = f"(?:{plain[1]})" if plain else ""
    if not asked <= KINDS["string"] or not LOOKS.keys() >= set(looks) or not text:
        raise NotRegular
    return (f'(?=[^"]{length}")' if length != "{0,}" else "") + "".join(map(LOOKS.__getitem__, looks)) + text


def _members(write: Callable[[Any], str], schema: Schema) -> str:
    """Declared members in their order: the first one, and others that must come or are not too deep."""
    found = ""
    for name, member in schema["properties"].items():
        is_optional = name not in schema.get("required", ())
        try:
            text = f"{', ?' if found else ''}{_spelled(name)}: ?{write(member)}"
        except TooDeep:
            if not is_optional:
                raise
            continue
        found += f"(?:{text})?" if found and is_optional else text
    return found
