r"""Identifiers of resources: URIs, IRIs, URI templates, UUIDs, JSON pointers.

    uri, uri-reference         RFC 3986, appendix A
    iri, iri-reference         RFC 3987, section 2.2: the same with `ucschar` and, in queries, `iprivate`
    uri-template               RFC 6570, section 2, with erratum 6937 (an apostrophe is a literal)
    uuid                       RFC 4122, section 3
    json-pointer and relative  RFC 6901, section 3; draft-handrews-relative-json-pointer-01, section 3

The operators that RFC 6570 keeps for extensions (`= , ! @ |`, section 2.2) are in its grammar, but no processor
expands them; here templates have none.

In: nothing. Out: patterns that match whole texts. Cost: text only.
"""

from __future__ import annotations

from llmask.frontends.json_schema.formats.hosts import IPV6

_ESCAPED = "%[0-9A-Fa-f]{2}"
_UCSCHAR = r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF" + "".join(
    rf"\u{{{plane:X}{'1' if plane == 0xE else '0'}000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 0xF)
)
_IPRIVATE = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"


def _resource(beyond_ascii: str, in_query: str) -> tuple[str, str]:
    """Patterns of an identifier and of a reference, with the members of classes that go beyond ASCII."""
    unreserved = rf"0-9A-Za-z._~\-{beyond_ascii}"
    sub_delims = "!$&'()*+,;="
    pchar = f"(?:[{unreserved}{sub_delims}:@]|{_ESCAPED})"
    segments = f"(?:/{pchar}*)*"
    userinfo = f"(?:[{unreserved}{sub_delims}:]|{_ESCAPED})*"
    reg_name = f"(?:[{unreserved}{sub_delims}]|{_ESCAPED})*"
    ip_literal = rf"\[(?:{IPV6}|[Vv][0-9A-Fa-f]+\.[0-9A-Za-z._~\-{sub_delims}:]+)\]"
    authority = f"(?:{userinfo}@)?(?:{ip_literal}|{reg_name})(?::[0-9]*)?"
    network_or_absolute = f"//{authority}{segments}|/(?:{pchar}+{segments})?"
    tail = rf"(?:\?(?:{pchar}|[/?{in_query}])*)?(?:#(?:{pchar}|[/?])*)?"
    no_colon = f"(?:[{unreserved}{sub_delims}@]|{_ESCAPED})+"
    absolute = f"[A-Za-z][0-9A-Za-z+.-]*:(?:{network_or_absolute}|{pchar}+{segments}|)"
    relative = f"{network_or_absolute}|{no_colon}{segments}|"
    return absolute + tail, f"(?:{absolute}|{relative}){tail}"


URI, URI_REFERENCE = _resource("", "")
IRI, IRI_REFERENCE = _resource(_UCSCHAR, _IPRIVATE)

_LITERAL = rf"[!#$&-;=?-\[\]_a-z~{_UCSCHAR}{_IPRIVATE}]|{_ESCAPED}"
_VARCHAR = f"(?:[0-9A-Za-z_]|{_ESCAPED})"
_VARIABLE = rf"{_VARCHAR}(?:\.?{_VARCHAR})*(?::[1-9][0-9]{{0,3}}|\*)?"


def _template(operators: str) -> str:
    return rf"(?:{_LITERAL}|\{{[{operators}]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"


URI_TEMPLATE = _template("+#./;?&")
URI_TEMPLATE_AT_MOST = _template("+#./;?&=,!@|")  # a superset, for negation

UUID = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
JSON_POINTER = "(?:/(?:[^~/]|~[01])*)*"
RELATIVE_JSON_POINTER = f"(?:0|[1-9][0-9]*)(?:#|{JSON_POINTER})"
