r"""Formats as patterns over whole texts, each from the grammar of its RFC: times, hosts, resources, "regex".

    date-time, date, time, duration   RFC 3339, section 5.6 and appendix A
    hostname                          RFC 1123, section 2.1; lengths RFC 1034, section 3.1
    ipv4, ipv6                        RFC 2673, section 3.2; RFC 4291, section 2.2
    email                             RFC 5321, section 4.1.2 (Mailbox)
    idn-email                         RFC 6531, section 3.3: the same with characters beyond ASCII
    uri, uri-reference                RFC 3986, appendix A
    iri, iri-reference                RFC 3987, section 2.2: the same with `ucschar` and, in queries, `iprivate`
    uri-template                      RFC 6570, section 2, with erratum 6937 (an apostrophe is a literal)
    uuid                              RFC 4122, section 3
    json-pointer and relative         RFC 6901, section 3; draft-handrews-relative-json-pointer-01, section 3
    regex                             ECMA-262, 15th edition, section 22.2.1 (Patterns), under the flag u

Where a format is not regular, part of it is left out; the comments below say what. What negation needs is a superset,
called `..._AT_MOST`.

In: nothing. Out: patterns. Cost: text only, 0.3 ms.
"""

from __future__ import annotations

from itertools import pairwise

from llmask.regex.unicode_classes import CATEGORY_NAMES

# --- times
#
# The length of months and leap years are said in full. A leap second is allowed where section 5.7 puts it: at 23:59:60
# in UTC, and with a date only at the end of June and December. Written with another offset it is left out: each hour
# and minute goes with one offset only, 1,440 pairs that would cost ten times the rest of the pattern.

_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
DATE = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_CLOCK = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?{_OFFSET}"
_LEAP_SECOND = r"23:59:60(?:\.[0-9]+)?(?:[Zz]|[+-]00:00)"
TIME = f"(?:{_CLOCK}|{_LEAP_SECOND})"
DATE_TIME = f"(?:{DATE}[Tt]{_CLOCK}|[0-9]{{4}}-(?:06-30|12-31)[Tt]{_LEAP_SECOND})"

_DURATION_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
DURATION = f"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|[0-9]+W)"

# Supersets, for negation: a leap second may be at any minute and under any offset.
_ANY_CLOCK = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?{_OFFSET}"
TIME_AT_MOST = _ANY_CLOCK
DATE_TIME_AT_MOST = f"{DATE}[Tt]{_ANY_CLOCK}"

# --- hosts
#
# What follows "xn--" must be valid Punycode of a valid label (RFC 5890, section 2.3.2.1), which is not regular: labels
# with "--" at their third place are left out. The host of an idn-email is a name of `international_hosts`.

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
    """Pattern of what is before the @; `beyond_ascii`: what its classes hold besides ASCII."""
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

# --- resources
#
# The operators that RFC 6570 keeps for extensions (`= , ! @ |`, section 2.2) are in its grammar, but no processor
# expands them; here templates have none.

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

# --- regex
#
# Two conditions, each a pattern over the whole text: `_in_a_row` knows the tokens of the syntax and which may follow
# which; `_nested` knows parentheses, and nothing of the tokens but where they end.
#
# Left out: groups deeper than DEPTH, or than DEPTH_AHEAD inside of a look-around; backreferences and a second named
# group, whose names would have to be remembered; ranges in classes and bounds in braces whose order takes more than a
# few digits to see, and ranges between an escape and a character; properties other than general categories and a few
# scripts; and what only annex B allows.

DEPTH = 5
DEPTH_AHEAD = 2
HEX = "[0-9A-Fa-f]"
# Starts of blocks beyond ASCII: a range whose ends lie in different blocks is in order.
BLOCKS = (
    0x80, 0xA0, 0xC0, 0xD0, 0xD8, 0xE0, 0xF0, 0xF8, 0x100, 0x180, 0x250, 0x370, 0x3B0, 0x400, 0x410, 0x420, 0x430,
    0x440, 0x460, 0x530, 0x5D0, 0x5E0, 0x600, 0x640, 0x660, 0x900, 0xE00, 0x2000, 0x3000, 0x3040, 0x3090, 0x30A0,
    0x30F0, 0x3400, 0x4E00, 0x9000, 0xAC00, 0xD000, 0xE000, 0x10000, 0x20000,
)  # fmt: skip
# First digits of hexadecimal escapes that tell the order of two; U+D800 to U+DFFF are halves of surrogate pairs.
HEX_STEPS = (("0", "123456789ABCDEF"), ("123", "456789ABCDEF"), ("4567", "89ABCDEF"), ("89AB", "CDEF"), ("CD", "EF"))
NO_SURROGATES = str.maketrans("", "", "Dd")
SCRIPTS = "Arabic|Cyrillic|Devanagari|Greek|Han|Hangul|Hebrew|Hiragana|Katakana|Latin|Thai"


def _valid_pattern() -> str:
    # no digit after the escape \0; no second named group
    exceptions = r"(?![^]*\\0[0-9])(?![^]*\(\?<[A-Za-z_$][^]*\(\?<[A-Za-z_$])"
    return rf"{exceptions}(?={_nested()}$){_in_a_row()}"


def _in_a_row() -> str:
    """Tokens, with what repeats only after what can be repeated."""
    name = "[A-Za-z_$][0-9A-Za-z_$]*"
    atom = rf"[^\^$\\.*+?()\[\]{{}}|]|\.|{_escape(False)}|{_class()}"
    opening = rf"\((?:\?(?:[:=!]|<[=!]|<{name}>))?"
    return rf"(?:(?:{atom}|\)){_quantifier()}?|[\^$|]|\\[bB]|{opening})*"


def _nested() -> str:
    """Balanced groups; nothing repeats a look-around."""
    token = r"(?:[^\\\[()*+?{}]|\\[^]|\[(?:[^\]\\]|\\[^])*\])[*+?{}]*"
    group = r"\((?:\?(?::|<[A-Za-z_$]))?"
    inside = f"(?:{token})*"
    for _ in range(DEPTH_AHEAD):
        inside = rf"(?:{token}|{group}{inside}\)[*+?{{}}]*)*"
    nested = inside
    for _ in range(DEPTH):
        nested = rf"(?:{token}|{group}{nested}\)[*+?{{}}]*|\(\?<?[=!]{inside}\))*"
    return nested


def _quantifier() -> str:
    digit = "[0-9]"
    in_order = [f"{low},[{low}-9]" for low in range(10)]
    in_order += [f"{digit},[1-9]{digit}{{1,4}}", f"{digit}{{2}},[1-9]{digit}{{2,4}}", f"{digit}{{3}},[1-9]{digit}{{3}}"]
    in_order += [f"{low}{digit},[{low + 1}-9]{digit}" for low in range(1, 9)]
    in_order += [f"{low}{digit}{{2}},[{low + 1}-9]{digit}{{2}}" for low in range(1, 9)]
    in_order += [f"{tens}{low},{tens}[{low}-9]" for tens in range(1, 10) for low in range(10)]
    return rf"(?:(?:[*+?]|\{{(?:{digit}{{1,5}},?|{'|'.join(in_order)})\}})\??)"


def _escape(is_in_class: bool) -> str:
    r"""A backslash and what follows it, without the boundaries \b and \B."""
    # halves of surrogate pairs are left out of classes, where a pair is one code point to some and two to others
    unit = f"(?:[0-9A-CEFa-cef]{HEX}|[Dd][0-7]){HEX}{{2}}" if is_in_class else f"{HEX}{{4}}"
    categories = "|".join(sorted({*CATEGORY_NAMES, *CATEGORY_NAMES.values()}))
    prop = rf"(?:(?:(?:gc|General_Category)=)?(?:{categories})|(?:sc|scx|Script)=(?:{SCRIPTS})|Any|ASCII|Alphabetic)"
    single = r"[dDsSwWtnvfr0\^$\\.*+?()\[\]{}|/" + (r"b\-]" if is_in_class else "]")
    braced = rf"\{{0*(?:{HEX}{{1,5}}|10{HEX}{{4}})\}}"
    return rf"\\(?:{single}|c[A-Za-z]|x{HEX}{{2}}|u(?:{unit}|{braced})|[pP]\{{{prop}\}})"


def _class() -> str:
    item = rf"[^\\\]\-]|{_escape(True)}"
    return rf"\[\^?-?(?:{'|'.join(_ranges())}|{item})*-?\]"


def _ranges() -> list[str]:
    """Ranges whose ends are in order, as few characters show."""
    found = [f"{digit}-[{digit}-9]" for digit in range(9)]
    for first, last in ("az", "AZ"):
        found += [f"{chr(low)}-[{chr(low)}-{last}]" for low in range(ord(first), ord(last))]
    steps = [(r" -,", r"./0-9:-Z\[_`a-~"), (r"./", r"0-9:-Z\[_`a-~"), ("0-9", r":-Z\[_`a-~"), (":-@", r"A-Z\[_`a-~"),
             ("A-Z", r"\[_`a-~"), ("_`", "a-~"), ("a-z", "{-~")]  # fmt: skip
    found += [rf"[{low}]-[{high}\x80-\u{{10FFFF}}]" for low, high in steps]
    found += [rf"[\u{{{low:X}}}-\u{{{end - 1:X}}}]-[\u{{{end:X}}}-\u{{10FFFF}}]" for low, end in pairwise(BLOCKS)]
    for low, high in HEX_STEPS:
        low, high = low + low.lower(), high + high.lower()
        found += [rf"\\x[{low}]{HEX}-\\x[{high}]{HEX}", rf"\\u00[{low}]{HEX}-\\u00[{high}]{HEX}"]
        found.append(rf"\\u0[{low}]{HEX}{{2}}-\\u0[{high}]{HEX}{{2}}")
        low, high = low.translate(NO_SURROGATES), high.translate(NO_SURROGATES)
        found.append(rf"\\u[{low}]{HEX}{{3}}-\\u(?:[{high}]{HEX}|[Dd][0-7]){HEX}{{2}}")
    return found


REGEX = _valid_pattern()
