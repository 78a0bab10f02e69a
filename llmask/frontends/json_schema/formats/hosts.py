"""Host names, addresses and mailboxes.

    hostname     RFC 1123, section 2.1; lengths RFC 1034, section 3.1
    ipv4, ipv6   RFC 2673, section 3.2; RFC 4291, section 2.2
    email        RFC 5321, section 4.1.2 (Mailbox)
    idn-email    RFC 6531, section 3.3: the same with characters beyond ASCII

What follows "xn--" must be valid Punycode of a valid label (RFC 5890, section 2.3.2.1), which is not regular: labels
with "--" at their third place are left out. The host of an idn-email is a name of `international_hosts`.

In: nothing. Out: patterns that match whole texts. Cost: text only.
"""

from __future__ import annotations

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16 = "[0-9A-Fa-f]{1,4}"
_LS32 = f"(?:{_H16}:{_H16}|{IPV4})"
IPV6 = (
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

LABEL = (
    "[0-9A-Za-z](?:[0-9A-Za-z-]{0,2}[0-9A-Za-z]"
    "|[0-9A-Za-z-](?:[0-9A-Za-z][0-9A-Za-z-]|-[0-9A-Za-z])[0-9A-Za-z-]{0,58}[0-9A-Za-z])?"
)
NAME = rf"{LABEL}(?:\.{LABEL})*"
HOSTNAME = f"(?=.{{1,253}}$){NAME}"
ADDRESS_LITERAL = rf"\[(?:{IPV4}|IPv6:{IPV6})\]"


def local_part(beyond_ascii: str) -> str:
    """Pattern of what stands before the @; `beyond_ascii`: what its classes hold besides ASCII."""
    atext = rf"[0-9A-Za-z!#$%&'*+/=?^_`{{|}}~{beyond_ascii}-]"
    quoted = rf'"(?:[ !#-\[\]-~{beyond_ascii}]|\\[ -~])*"'
    return rf"(?:{atext}+(?:\.{atext}+)*|{quoted})"


def mailbox(beyond_ascii: str, host: str) -> str:
    """Pattern of a mailbox."""
    return f"{local_part(beyond_ascii)}@(?:{host}|{ADDRESS_LITERAL})"


EMAIL = mailbox("", NAME)

# Supersets, for negation: any label that an A-label may be, and no lengths, which would take 16,000 states to count.
_LABEL_AT_MOST = "[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?"
HOSTNAME_AT_MOST = rf"{_LABEL_AT_MOST}(?:\.{_LABEL_AT_MOST})*"
EMAIL_AT_MOST = mailbox("", HOSTNAME_AT_MOST)
