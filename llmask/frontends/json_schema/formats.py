"""Formats as patterns, each from the grammar of its RFC.

Patterns are written in ECMA-262 syntax, match the whole text and use ASCII classes only, except where the RFC allows
more. What a regular expression can say is said in full: the length of months and leap years in dates, the compression
of IPv6 addresses, the length of host names. Leap seconds are allowed where RFC 3339 puts them, at 23:59:60, if
written in UTC.

In: nothing. Out: `FORMATS`, name to pattern; `REFUSED_FORMATS`, which the specification defines and nothing enforces
yet. Cost: text only; a format is compiled when a schema names it.

    date-time, date, time, duration   RFC 3339, section 5.6 and appendix A
    email                             RFC 5321, section 4.1.2 (Mailbox)
    hostname                          RFC 1123, section 2.1; lengths RFC 1034, section 3.1
    ipv4, ipv6                        RFC 2673, section 3.2; RFC 4291, section 2.2
    uri, uri-reference                RFC 3986, appendix A
    uuid                              RFC 4122, section 3
    json-pointer and relative         RFC 6901, section 3; draft-handrews-relative-json-pointer-01, section 3
"""

from __future__ import annotations

_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_TIME = (
    rf"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?{_OFFSET}"
    r"|23:59:60(?:\.[0-9]+)?(?:[Zz]|[+-]00:00))"
)
_DURATION_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
_DURATION = f"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|[0-9]+W)"

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = (
    f"(?:(?:{_H16}:){{6}}{_LS32}"
    f"|::(?:{_H16}:){{5}}{_LS32}"
    f"|(?:{_H16})?::(?:{_H16}:){{4}}{_LS32}"
    f"|(?:(?:{_H16}:){{0,1}}{_H16})?::(?:{_H16}:){{3}}{_LS32}"
    f"|(?:(?:{_H16}:){{0,2}}{_H16})?::(?:{_H16}:){{2}}{_LS32}"
    f"|(?:(?:{_H16}:){{0,3}}{_H16})?::{_H16}:{_LS32}"
    f"|(?:(?:{_H16}:){{0,4}}{_H16})?::{_LS32}"
    f"|(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}"
    f"|(?:(?:{_H16}:){{0,6}}{_H16})?::)"
)

# no "--" at its third place: what follows "xn--" must be valid Punycode, which is not regular
_LABEL = (
    "[0-9A-Za-z](?:[0-9A-Za-z-]{0,2}[0-9A-Za-z]"
    "|[0-9A-Za-z-](?:[0-9A-Za-z][0-9A-Za-z-]|-[0-9A-Za-z])[0-9A-Za-z-]{0,58}[0-9A-Za-z])?"
)
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL})*"
_ATEXT = r"[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]"
_QUOTED_LOCAL = r'"(?:[ !#-\[\]-~]|\\[ -~])*"'
_EMAIL = rf"(?:{_ATEXT}+(?:\.{_ATEXT}+)*|{_QUOTED_LOCAL})@(?:{_HOSTNAME}|\[(?:{_IPV4}|IPv6:{_IPV6})\])"

_UNRESERVED = r"0-9A-Za-z._~\-"
_SUB_DELIMS = "!$&'()*+,;="
_ESCAPED = "%[0-9A-Fa-f]{2}"
_PCHAR = f"(?:[{_UNRESERVED}{_SUB_DELIMS}:@]|{_ESCAPED})"
_SEGMENTS = f"(?:/{_PCHAR}*)*"
_USERINFO = f"(?:[{_UNRESERVED}{_SUB_DELIMS}:]|{_ESCAPED})*"
_REG_NAME = f"(?:[{_UNRESERVED}{_SUB_DELIMS}]|{_ESCAPED})*"
_IP_LITERAL = rf"\[(?:{_IPV6}|v[0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB_DELIMS}:]+)\]"
_AUTHORITY = f"(?:{_USERINFO}@)?(?:{_IP_LITERAL}|{_REG_NAME})(?::[0-9]*)?"
_HIER_PART = f"(?://{_AUTHORITY}{_SEGMENTS}|/(?:{_PCHAR}+{_SEGMENTS})?|{_PCHAR}+{_SEGMENTS}|)"
_TAIL = rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
_URI = f"[A-Za-z][0-9A-Za-z+.-]*:{_HIER_PART}{_TAIL}"
_NO_COLON = f"(?:[{_UNRESERVED}{_SUB_DELIMS}@]|{_ESCAPED})+"
_RELATIVE_PART = f"(?://{_AUTHORITY}{_SEGMENTS}|/(?:{_PCHAR}+{_SEGMENTS})?|{_NO_COLON}{_SEGMENTS}|)"

_JSON_POINTER = "(?:/(?:[^~/]|~[01])*)*"


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


FORMATS: dict[str, str] = {
    "date-time": _whole(f"{_DATE}[Tt]{_TIME}"),
    "date": _whole(_DATE),
    "time": _whole(_TIME),
    "duration": _whole(_DURATION),
    "email": _whole(_EMAIL),
    "hostname": _whole(f"(?=.{{1,253}}$){_HOSTNAME}"),
    "ipv4": _whole(_IPV4),
    "ipv6": _whole(_IPV6),
    "uri": _whole(_URI),
    "uri-reference": _whole(f"(?:{_URI}|{_RELATIVE_PART}{_TAIL})"),
    "uuid": _whole("[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"),
    "json-pointer": _whole(_JSON_POINTER),
    "relative-json-pointer": _whole(f"(?:0|[1-9][0-9]*)(?:#|{_JSON_POINTER})"),
}
REFUSED_FORMATS = frozenset(("idn-email", "idn-hostname", "iri", "iri-reference", "uri-template", "regex"))
