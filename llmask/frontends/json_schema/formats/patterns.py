r"""The format "regex": patterns of ECMA-262 that are valid under the flag u, as far as that is regular.

Two conditions, each a pattern over the whole text: `_in_a_row` knows the tokens of the syntax and which may follow
which; `_nested` knows parentheses, and nothing of the tokens but where they end.

Left out, so that the set is a part of the valid patterns: groups deeper than DEPTH, or than DEPTH_AHEAD inside of a
look-around; backreferences and a second named group, whose names would have to be remembered; ranges in classes and
bounds in braces whose order takes more than a few digits to see, and ranges between an escape and a character;
properties other than general categories and a few scripts; and what only annex B allows.
Source: ECMA-262, 15th edition, section 22.2.1 (Patterns).

In: nothing. Out: the pattern, made when it is first asked for. Cost: text only.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from llmask.regex.unicode_classes import CATEGORY_NAMES

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


@cache
def valid_pattern() -> str:
    """Pattern of patterns."""
    # no digit behind the escape \0; no second named group
    exceptions = r"(?![^]*\\0[0-9])(?![^]*\(\?<[A-Za-z_$][^]*\(\?<[A-Za-z_$])"
    return rf"{exceptions}(?={_nested()}$){_in_a_row()}"


def _in_a_row() -> str:
    """Tokens, with what repeats only behind what can be repeated."""
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
        if low:
            found.append(rf"\\u[{low}]{HEX}{{3}}-\\u(?:[{high}]{HEX}|[Dd][0-7]){HEX}{{2}}")
    return found
