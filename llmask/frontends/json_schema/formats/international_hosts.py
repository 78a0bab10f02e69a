r"""Host names beyond ASCII: RFC 5890 to 5893, with the dots of RFC 3490, section 3.1.

Each rule is a pattern of its own over the whole name, and the format is their intersection:

    permitted code points (RFC 5892); contextual rules (its appendix A); the Bidi rule (RFC 5893, section 2)
    no hyphen at either end or at places 3 and 4, no mark in front (RFC 5891, section 4.2.3)
    Normalization Form C (section 4.2.1): marks in the order of their combining classes, no pair that composes
    length of a label in Punycode, at most 63, and of the name, at most 253 (section 4.2.4)

Labels of ASCII are those of `hosts`. Left out, so that the set is a part of the valid names: A-labels ("xn--"), see
`hosts`; a mark that composes with the last starter, even where a mark between them blocks it; joiners between letters
that `idna_classes` does not know to join; names of more than four labels, unless all is ASCII; and labels whose
Punycode might be too long. That length is not regular, but a search over all states of the encoder (RFC 3492, section
6.3: bias, code points so far, distance left to the greatest one) bounds it: labels of at most LENGTHS code points
always fit, and so do four of them with their dots.

In: nothing. Out: the pattern, made when it is first asked for. Cost: 0.3 s, once a process, and 0.2 s to compile.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from llmask.derivatives import unicode_classes
from llmask.derivatives.code_points import CodePointSet
from llmask.frontends.json_schema.formats import idna_classes
from llmask.frontends.json_schema.formats.hosts import HOSTNAME, mailbox
from llmask.frontends.json_schema.formats.idna_classes import IDEOGRAPHS, by_value, permitted, where

DOTS = r".\u3002\uFF0E\uFF61"
BEYOND_ASCII = r"\u0080-\u{10FFFF}"
ASCII = r"\0-\-\/-\x7F"  # without the dot
# Members of a class beside ASCII, and how many code points of it always make a label of 62 octets at most: four of
# them make a name.
LENGTHS = (
    ("", 62),
    (r"\u0080-\u07FF", 19),
    (r"\u0900-\u0DFF", 19),
    (r"\u3005-\u9FFF", 14),
    (r"\uAC00-\uD7A3", 15),
    (r"\u0080-\u3001\u3003-\uFF0D\uFF0F-\uFF60\uFF62-\u{10FFFF}", 11),
)


def text_class(members: CodePointSet) -> str:
    """What stands between the brackets of a class of `members`."""
    ends = [[chr(end) if end >= 0x80 else f"\\x{end:02X}" for end in pair] for pair in members.ranges()]
    return "".join(low if low == high else f"{low}-{high}" for low, high in ends)


@cache
def international_hostname() -> str:
    """Pattern that the whole name must match: one of ASCII, or conditions in a row and any text."""
    conditions = "".join([*_permitted(), *_contexts(), *_bidi(), *_labels()])
    return f"(?:{HOSTNAME}$|{conditions}.*)"


def _permitted() -> list[str]:
    """Code points that may stand in a name, in Normalization Form C."""
    classes = sorted(value for value in by_value(unicodedata.combining) if isinstance(value, int) and value > 0)
    by_class = [where(unicodedata.combining, number) for number in classes]
    in_order = "".join(f"[{text_class(members)}]*" for members in by_class)
    starters = permitted().subtract(CodePointSet(()).union(*by_class))
    pairs = [
        rf"[{text_class(CodePointSet.of(firsts))}]\p{{M}}*\u{{{ord(mark):X}}}"
        for mark, firsts in idna_classes.composing().items()
    ]
    return [
        rf"(?=(?:[0-9A-Za-z{DOTS}\-{text_class(starters)}]{in_order})+$)",
        rf"(?!.*(?:{'|'.join(pairs)}))",
    ]


def _contexts() -> list[str]:
    """RFC 5892, appendix A, rule by rule."""
    both, right = idna_classes.joining()
    virama = where(unicodedata.combining, 9)
    transparent = where(unicodedata.category, "Mn")
    v, t, l, r = (text_class(members) for members in (virama, transparent, both, right))
    greek, hebrew = (text_class(idna_classes.letters_named(name)) for name in ("GREEK ", "HEBREW "))
    kana = idna_classes.letters_named("HIRAGANA ", "KATAKANA ")
    japanese = text_class(kana.union(permitted().intersect(IDEOGRAPHS)))
    right_to_left = text_class(where(unicodedata.bidirectional, "R", "AL"))
    no_dot, no_japanese = f"[^{DOTS}]*", f"[^{japanese}{DOTS}]*"
    return [
        # A.1: without a virama on the left, a letter that joins on either side, transparent marks between
        rf"(?!(?:.*[^{v}{t}{l}])?(?:[{t}]*[{text_class(transparent.subtract(virama))}])?\u200C)",
        rf"(?!(?:.*[^{v}])?\u200C[{t}]*(?:[^{t}{r}]|$))",
        rf"(?!(?:.*[^{v}])?\u200D)",  # A.2
        r"(?!(?:.*[^l])?\u00B7)(?!.*\u00B7(?:[^l]|$))",  # A.3
        rf"(?!.*\u0375(?:[^{greek}]|$))",  # A.4
        rf"(?!(?:.*[^{hebrew}])?[\u05F3\u05F4])",  # A.5, A.6
        rf"(?!(?:.*[{DOTS}])?{no_japanese}\u30FB{no_japanese}(?:[{DOTS}]|$))",  # A.7
        # follows from A.7 and the Bidi rule, but by a search of all states for what might make a label valid
        rf"(?!.*[{right_to_left}]{no_dot}\u30FB)",
        rf"(?!.*(?:[\u0660-\u0669]{no_dot}[\u06F0-\u06F9]|[\u06F0-\u06F9]{no_dot}[\u0660-\u0669]))",  # A.8, A.9
    ]


def _bidi() -> list[str]:
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


def _labels() -> list[str]:
    """How labels begin and end, how long and how many they are."""
    label = "(?:" + "|".join(f"[{ASCII}{window}]{{1,{most}}}" for window, most in LENGTHS) + ")"
    inside, other = f"[^{DOTS}]", rf"[^\0-\x7F{DOTS}]"
    return [
        rf"(?=(?:{label}[{DOTS}]){{0,3}}{label}$)",
        rf"(?!(?:.*[{DOTS}])?(?:-|\p{{M}}|{inside}{inside}--))(?!.*-(?:[{DOTS}]|$))",
        rf"(?!.*(?:[A-Z]{inside}*{other}|{other}{inside}*[A-Z]))",  # U-labels have no capitals
    ]


@cache
def international_mailbox() -> str:
    """Pattern of a mailbox whose local part and host may go beyond ASCII (RFC 6531, section 3.3)."""
    return mailbox(BEYOND_ASCII, international_hostname())


# Supersets, for negation: nothing is asked of characters beyond ASCII.
HOSTNAME_AT_MOST = rf"[0-9A-Za-z.\-{BEYOND_ASCII}]+"
MAILBOX_AT_MOST = mailbox(BEYOND_ASCII, HOSTNAME_AT_MOST)
