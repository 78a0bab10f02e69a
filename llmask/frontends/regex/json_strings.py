r"""The inside of JSON strings: what may be between the quotes, in every spelling that JSON allows.

A code point may be written raw, unless JSON forbids it (controls below U+0020, quote, backslash) or we do (DEL, as
llguidance does), or as any escape: the short ones, `\uXXXX` with hexadecimal digits of either case,
and a pair of them for code points beyond U+FFFF. Lone surrogates are refused. No spelling of one code point is the
start of another's and none belongs to two code points, so a node over these spellings speaks about code points:
lengths, patterns and complements act on the unescaped text. Source: RFC 8259, section 7.

A `StringStyle` allows fewer escapes. It takes spellings from a code point but never the last one, so it still speaks
about all text, and a pattern means the same in every style: also in `RAW_STYLE`, in which a string is its text.

In: sets of code points or text. Out: nodes. Cost: that of `digits_node`; remembered in `nodes.memo`.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import GrammarError
from llmask.regex.code_points import MAX_CODE_POINT, TEXT, CodePointSet
from llmask.regex.utf8 import Position, digits_node, utf8_char

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

RAW = TEXT.subtract(CodePointSet.from_ranges([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C), (0x7F, 0x7F)]))
SHORT_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
ESCAPES = '"/\\bfnrtu'  # letters of all escapes, in order
# what some program writes as \uXXXX: all that is not ASCII or a control, and what means something to HTML, to a string,
# or to a family of tools, whose marks begin with "<" or "[" and stand raw in no argument
PLAIN = CodePointSet.from_ranges((ord(a), ord(a)) for a in map(chr, range(0x20, 0x7F)) if a not in "<>&'+`=[\"/\\")
USUAL = TEXT.subtract(PLAIN)
ONLY_UNICODE = tuple(code for code in (*range(0x20), 0x7F) if chr(code) not in SHORT_ESCAPES)


def _masks(digits: str) -> tuple[int, ...]:
    """One mask a hexadecimal digit, with both cases of letters."""
    return tuple(1 << ord(digit.lower()) | 1 << ord(digit.upper()) for digit in digits)


HEX = Position(_masks("0123456789abcdef"))
# U+10000 + 1024 h + l is written \uD800 + h, then \uDC00 + l: the tops of h and l are two bits beside a fixed "D".
HIGH_TOP = Position(_masks("89ab"), before=_masks("d"))
LOW_TOP = Position(_masks("cdef"), before=(1 << 0x5C, 1 << 0x75, *_masks("d")))
SINGLE = (HEX, HEX, HEX, HEX)
PAIR = (HIGH_TOP, HEX, HEX, LOW_TOP, HEX, HEX)


class StringStyle(NamedTuple):
    r"""How strings are written; the `variant_key` of nodes that do not write them in the default style.

    escapes    letters that may stand after a backslash; a code point that JSON forbids to be raw and that none of them
               spells is written as `json.dumps` does
    literals   "json": declared keys and strings of const and enum in one spelling; "any": in all of this style
    is_raw     a string is its text, without quotes and escapes
    usual      `\uXXXX` only of characters of `USUAL`
    """

    escapes: str = ESCAPES
    literals: str = "json"
    is_raw: bool = False
    usual: bool = False


DEFAULT_STYLE = StringStyle()
RAW_STYLE = StringStyle("", "any", True)


def style_of(nodes: RegexNodes) -> StringStyle:
    """The style that strings of these nodes are written in."""
    return nodes.variant_key or DEFAULT_STYLE


def json_char(nodes: RegexNodes, members: CodePointSet) -> int:
    r"""Node of every JSON spelling of one code point of `members` in the style of the nodes.

    Examples
    --------
    >>> nodes.matches(json_char(nodes, CodePointSet.of("é")), b"\\u00E9")
    True
    """
    key = (__name__, members)
    found = nodes.memo.get(key)
    if found is None and style_of(nodes).is_raw:
        found = nodes.memo[key] = utf8_char(nodes, members)
    if found is None:
        letters = style_of(nodes).escapes
        short = 0
        for character, letter in SHORT_ESCAPES.items():
            if ord(character) in members and is_short(letters, character):
                short |= 1 << ord(letter)
        escapes = [nodes.byte_set(short)]
        if "u" in letters:
            escapes += _unicode_escapes(nodes, members.intersect(USUAL) if style_of(nodes).usual else members)
        else:
            escapes += [nodes.literal(b"u%04x" % code) for code in ONLY_UNICODE if code in members]
        raw = utf8_char(nodes, members.intersect(RAW))
        found = nodes.memo[key] = nodes.union([raw, nodes.concat([nodes.literal(b"\\"), nodes.union(escapes)])])
        nodes.mark_units(found, members == TEXT and not style_of(nodes).usual)
        if members == TEXT:
            nodes.name(found, "CHAR")
    return int(found)


def is_short(letters: str, character: str) -> bool:
    """Whether a character that has a short escape may be written so."""
    return SHORT_ESCAPES[character] in letters or (character != "/" and "u" not in letters)


def _unicode_escapes(nodes: RegexNodes, members: CodePointSet) -> list[int]:
    escapes = []
    single = members.intersect(CodePointSet((0, 0x10000))).ranges()
    if single:
        escapes.append(nodes.concat([nodes.literal(b"u"), digits_node(nodes, tuple(single), SINGLE)]))
    pairs = members.intersect(CodePointSet((0x10000, MAX_CODE_POINT + 1))).ranges()
    if pairs:
        ranges = tuple((low - 0x10000, high - 0x10000) for low, high in pairs)
        escapes.append(nodes.concat([nodes.literal(b"u"), digits_node(nodes, ranges, PAIR)]))
    return escapes


def json_string_body(nodes: RegexNodes, min_length: int = 0, max_length: int | None = None) -> int:
    """Node of every body of `min_length` to `max_length` code points; `max_length` None means without end."""
    return nodes.repeat(json_char(nodes, TEXT), min_length, max_length)


def json_literal_any_spelling(nodes: RegexNodes, text: str) -> int:
    """Node of every spelling of `text`, without the quotes.

    Raises
    ------
    GrammarError
        When `text` holds a lone surrogate.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise GrammarError(
            f"the string holds the lone surrogate U+{ord(text[error.start]):04X}, which is no text",
            f"character {error.start}",
            "Write the code point itself, or both halves of its pair.",
        ) from None
    return nodes.concat([json_char(nodes, CodePointSet.of(character)) for character in text])


def spell_json(nodes: RegexNodes, text: str) -> bytes:
    """One JSON spelling of `text` in the style of the nodes, without the quotes."""
    letters = style_of(nodes).escapes
    if style_of(nodes).is_raw:
        return text.encode("utf-8", "surrogatepass")
    if letters == ESCAPES:
        return encode_basestring_ascii(text)[1:-1].replace("\x7f", "\\u007f").encode()
    spelled = []
    for character in text:
        if character in SHORT_ESCAPES and character != "/" and is_short(letters, character):
            spelled.append("\\" + SHORT_ESCAPES[character])
        elif character < " " or character in '"\\\x7f':
            spelled.append(f"\\u{ord(character):04x}")
        else:
            spelled.append(character)
    return "".join(spelled).encode("utf-8", "surrogatepass")  # a lone surrogate is no text: no node matches it
