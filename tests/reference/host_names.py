r"""Twin of the format "idn-hostname": the same rules as look-arounds of one pattern, as RFC 5890 to 5893 say them.

Every condition is a look-ahead over the whole name. As a lexeme it is correct and slow, which is why the format is made
otherwise; here each condition is compared with the part of the format that stands for it.
"""

from __future__ import annotations

import unicodedata

from llmask.frontends.json_schema.formats.international_hosts import LENGTHS
from llmask.frontends.json_schema.formats.patterns import HOSTNAME
from llmask.regex import unicode_classes
from llmask.regex.code_points import CodePointSet
from tests.reference import idna_rules
from tests.reference.idna_rules import IDEOGRAPHS, by_value, permitted, where

DOTS = r".\u3002\uFF0E\uFF61"
ASCII = r"\0-\-\/-\x7F"  # without the dot


def text_class(members: CodePointSet) -> str:
    """What stands between the brackets of a class of `members`."""
    ends = [[chr(end) if end >= 0x80 else f"\\x{end:02X}" for end in pair] for pair in members.ranges()]
    return "".join(low if low == high else f"{low}-{high}" for low, high in ends)


def pattern() -> str:
    """The whole format."""
    conditions = "".join([*order(), *composition(), *joiners(), *contexts(), *direction(), *hyphens(), *labels()])
    return f"^(?:{HOSTNAME}$|{conditions}.*)$"


def order() -> list[str]:
    """Code points that may stand in a name, marks in the order of their combining classes."""
    classes = sorted(value for value in by_value(unicodedata.combining) if isinstance(value, int) and value > 0)
    by_class = [where(unicodedata.combining, number) for number in classes]
    in_order = "".join(f"[{text_class(members)}]*" for members in by_class)
    starters = permitted().subtract(CodePointSet(()).union(*by_class))
    return [rf"(?=(?:[0-9A-Za-z{DOTS}\-{text_class(starters)}]{in_order})+$)"]


def composition() -> list[str]:
    """No pair that composes; what composes with a letter of ASCII stands behind none."""
    latin = CodePointSet.of("".join(c for found in idna_rules.composing().values() for c in found if c.isascii()))
    pairs = []
    for mark, found in idna_rules.composing().items():
        firsts = CodePointSet.of(found)
        if any(first.isascii() for first in found):
            firsts = firsts.union(latin)
        pairs.append(rf"[{text_class(firsts)}]\p{{M}}*\u{{{ord(mark):X}}}")
    return [rf"(?!.*(?:{'|'.join(pairs)}))", mixed_scripts()]


def mixed_scripts() -> str:
    """Nothing that composes behind what composes with marks of two scripts: of the valid names, these are left out."""
    seconds = text_class(CodePointSet.of("".join(idna_rules.composing())))
    by_block: dict[int, str] = {}
    for mark, firsts in idna_rules.composing().items():
        by_block[ord(mark) >> 7] = by_block.get(ord(mark) >> 7, "") + firsts
    mixed = []
    for block, firsts in by_block.items():
        marks = "".join(c for c in firsts if unicodedata.category(c)[0] == "M")
        others = CodePointSet.of("".join(c for other, members in by_block.items() if other != block for c in members))
        if marks:
            mixed.append(rf"[{text_class(others)}]\p{{M}}*[{marks}]\p{{M}}*[{seconds}]")
    return rf"(?!.*(?:{'|'.join(mixed)}))"


def joiners() -> list[str]:
    """RFC 5892, appendix A.1 and A.2."""
    both, right = idna_rules.joining()
    virama = where(unicodedata.combining, 9)
    transparent = where(unicodedata.category, "Mn")
    v, t, l, r = (text_class(members) for members in (virama, transparent, both, right))
    return [
        # A.1: without a virama on the left, a letter that joins on either side, transparent marks between
        rf"(?!(?:.*[^{v}{t}{l}])?(?:[{t}]*[{text_class(transparent.subtract(virama))}])?\u200C)",
        rf"(?!(?:.*[^{v}])?\u200C[{t}]*(?:[^{t}{r}]|$))",
        rf"(?!(?:.*[^{v}])?\u200D)",  # A.2
    ]


def contexts() -> list[str]:
    """The rest of appendix A."""
    greek, hebrew = (text_class(idna_rules.letters_named(name)) for name in ("GREEK ", "HEBREW "))
    kana = idna_rules.letters_named("HIRAGANA ", "KATAKANA ")
    japanese = text_class(kana.union(permitted().intersect(IDEOGRAPHS)))
    right_to_left = text_class(where(unicodedata.bidirectional, "R", "AL"))
    no_dot, no_japanese = f"[^{DOTS}]*", f"[^{japanese}{DOTS}]*"
    return [
        r"(?!(?:.*[^l])?\u00B7)(?!.*\u00B7(?:[^l]|$))",  # A.3
        rf"(?!.*\u0375(?:[^{greek}]|$))",  # A.4
        rf"(?!(?:.*[^{hebrew}])?[\u05F3\u05F4])",  # A.5, A.6
        rf"(?!(?:.*[{DOTS}])?{no_japanese}\u30FB{no_japanese}(?:[{DOTS}]|$))",  # A.7
        rf"(?!.*[{right_to_left}]{no_dot}\u30FB)",  # follows from A.7 and the Bidi rule
        rf"(?!.*(?:[\u0660-\u0669]{no_dot}[\u06F0-\u06F9]|[\u06F0-\u06F9]{no_dot}[\u0660-\u0669]))",  # A.8, A.9
    ]


def direction() -> list[str]:
    """RFC 5893, section 2: nothing runs from right to left, or no label breaks a condition."""
    rtl, an, en, nsm, weak = (
        where(unicodedata.bidirectional, *values)
        for values in (("R", "AL"), ("AN",), ("EN",), ("NSM",), ("ES", "CS", "ET", "ON", "BN"))
    )
    en = en.union(unicode_classes.ASCII_DIGITS)
    no_start = an.union(en, nsm, weak, CodePointSet.of("-"))
    r, a, e, n, start = (text_class(members) for members in (rtl, an, en, nsm, no_start))
    left, inside = f"[^{r}{start}{DOTS}]", f"[^{DOTS}]*"
    broken = [
        rf"(?:.*[{DOTS}])?(?:[{start}]|{left}{inside}[{r}{a}])",  # 1 and 5
        rf".*[{r}]{inside}{left}",  # 2
        rf".*[\-{text_class(weak)}][{n}]*(?:[{DOTS}]|$)",  # 3 and 6
        rf".*(?:[{e}]{inside}[{a}]|[{a}]{inside}[{e}])",  # 4
    ]
    return [rf"(?=[^{r}{a}]*$|(?!{'|'.join(broken)}).*$)"]


def hyphens() -> list[str]:
    """None at either end of a label, nor at its third and fourth place."""
    return [rf"(?!(?:.*[{DOTS}])?(?:-|[^{DOTS}][^{DOTS}]--))(?!.*-(?:[{DOTS}]|$))"]


def labels() -> list[str]:
    """How labels begin, how long and how many they are."""
    label = "(?:" + "|".join(f"[{ASCII}{window}]{{1,{most}}}" for window, most in LENGTHS) + ")"
    inside, other = f"[^{DOTS}]", rf"[^\0-\x7F{DOTS}]"
    return [
        rf"(?=(?:{label}[{DOTS}]){{0,3}}{label}$)",
        rf"(?!(?:.*[{DOTS}])?\p{{M}})",
        rf"(?!.*(?:[A-Z]{inside}*{other}|{other}{inside}*[A-Z]))",  # U-labels have no capitals
    ]
