"""Formats as patterns, each from the grammar of its RFC.

Patterns are written in ECMA-262 syntax, match the whole text and use ASCII classes only, except where the RFC allows
more. What a regular expression can say is said in full: the length of months and leap years in dates, the compression
of IPv6 addresses, the length of host names. Where it cannot, the pattern keeps on the inside: what it accepts is valid.
A complement turns that round, so such formats have a second pattern on the outside.

    patterns              all but the next two
    international_hosts   idn-hostname, idn-email

In: nothing. Out: `FORMATS`, name to pattern, or to what makes the node of all JSON spellings where a pattern would be
slow; `AT_MOST`, name to a pattern that no valid text escapes, of the formats whose entry in `FORMATS` leaves some out.
Cost: text only; a format is compiled when a schema names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Union

from llmask.regex.nodes import RegexNodes

from . import international_hosts, patterns

__all__ = ["AT_MOST", "FORMATS", "Format"]

Format = Union[str, Callable[["RegexNodes"], int]]  # noqa: UP007 (runtime on 3.10)


def _whole(texts: Mapping[str, str]) -> dict[str, str]:
    """Patterns that are found in a text where they match all of it."""
    return {name: f"^(?:{text})$" for name, text in texts.items()}


FORMATS: Mapping[str, Format] = {
    **_whole(
        {
            "date-time": patterns.DATE_TIME,
            "date": patterns.DATE,
            "time": patterns.TIME,
            "duration": patterns.DURATION,
            "email": patterns.EMAIL,
            "hostname": patterns.HOSTNAME,
            "ipv4": patterns.IPV4,
            "ipv6": patterns.IPV6,
            "uri": patterns.URI,
            "uri-reference": patterns.URI_REFERENCE,
            "iri": patterns.IRI,
            "iri-reference": patterns.IRI_REFERENCE,
            "uri-template": patterns.URI_TEMPLATE,
            "uuid": patterns.UUID,
            "json-pointer": patterns.JSON_POINTER,
            "relative-json-pointer": patterns.RELATIVE_JSON_POINTER,
            "regex": patterns.REGEX,
        }
    ),
    "idn-email": international_hosts.international_mailbox,
    "idn-hostname": international_hosts.international_hostname,
}
AT_MOST: Mapping[str, str] = _whole(
    {
        "date-time": patterns.DATE_TIME_AT_MOST,
        "time": patterns.TIME_AT_MOST,
        "email": patterns.EMAIL_AT_MOST,
        "hostname": patterns.HOSTNAME_AT_MOST,
        "idn-email": international_hosts.MAILBOX_AT_MOST,
        "idn-hostname": international_hosts.HOSTNAME_AT_MOST,
        "uri-template": patterns.URI_TEMPLATE_AT_MOST,
        "regex": "[^]*",
    }
)
# Pieces of a string up to where masks take longest, the first letters of a host: the later ones share most of their
# lexer states, which a store keeps. Built with the grammar, so that no step of a document waits for them.
PREPARED: Mapping[str, tuple[bytes, ...]] = {
    "idn-email": (b'"a@', b"a", b"b", b"c"),
    "idn-hostname": (b'"', b"a", b"b", b"c"),
}
