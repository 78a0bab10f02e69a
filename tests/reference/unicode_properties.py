"""Writes the file of binary properties and scripts: `python -m tests.reference.unicode_properties FOLDER`.

In: a folder of the Unicode Character Database, as it is published. Out: llmask/regex/unicode_properties.npz. Cost: 1 s.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from llmask.regex.unicode_classes import FILE

FILES = (
    "PropList.txt", "DerivedCoreProperties.txt", "DerivedNormalizationProps.txt", "emoji/emoji-data.txt",
    "extracted/DerivedBinaryProperties.txt",
)  # fmt: skip
SHORT_NAMES = {
    "Alphabetic": "Alpha", "Bidi_Control": "Bidi_C", "Bidi_Mirrored": "Bidi_M", "Case_Ignorable": "CI",
    "Cased": "Cased", "Changes_When_Casefolded": "CWCF", "Changes_When_Casemapped": "CWCM",
    "Changes_When_Lowercased": "CWL", "Changes_When_NFKC_Casefolded": "CWKCF", "Changes_When_Titlecased": "CWT",
    "Changes_When_Uppercased": "CWU", "Dash": "Dash", "Default_Ignorable_Code_Point": "DI", "Deprecated": "Dep",
    "Diacritic": "Dia", "Emoji": "Emoji", "Emoji_Component": "EComp", "Emoji_Modifier": "EMod",
    "Emoji_Modifier_Base": "EBase", "Emoji_Presentation": "EPres", "Extended_Pictographic": "ExtPict",
    "Extender": "Ext", "Grapheme_Base": "Gr_Base", "Grapheme_Extend": "Gr_Ext", "Hex_Digit": "Hex",
    "IDS_Binary_Operator": "IDSB", "IDS_Trinary_Operator": "IDST", "ID_Continue": "IDC", "ID_Start": "IDS",
    "Ideographic": "Ideo", "Join_Control": "Join_C", "Logical_Order_Exception": "LOE", "Lowercase": "Lower",
    "Math": "Math", "Noncharacter_Code_Point": "NChar", "Pattern_Syntax": "Pat_Syn", "Pattern_White_Space": "Pat_WS",
    "Quotation_Mark": "QMark", "Radical": "Radical", "Regional_Indicator": "RI", "Sentence_Terminal": "STerm",
    "Soft_Dotted": "SD", "Terminal_Punctuation": "Term", "Unified_Ideograph": "UIdeo", "Uppercase": "Upper",
    "Variation_Selector": "VS", "XID_Continue": "XIDC", "XID_Start": "XIDS", "White_Space": "space",
    "ASCII_Hex_Digit": "AHex",
}  # fmt: skip
SCRIPTS = {
    "Arabic": "Arab", "Armenian": "Armn", "Bengali": "Beng", "Bopomofo": "Bopo", "Cyrillic": "Cyrl",
    "Devanagari": "Deva", "Ethiopic": "Ethi", "Georgian": "Geor", "Greek": "Grek", "Gujarati": "Gujr",
    "Gurmukhi": "Guru", "Han": "Hani", "Hangul": "Hang", "Hebrew": "Hebr", "Hiragana": "Hira", "Kannada": "Knda",
    "Katakana": "Kana", "Khmer": "Khmr", "Lao": "Laoo", "Latin": "Latn", "Malayalam": "Mlym", "Mongolian": "Mong",
    "Myanmar": "Mymr", "Oriya": "Orya", "Sinhala": "Sinh", "Tamil": "Taml", "Telugu": "Telu", "Thaana": "Thaa",
    "Thai": "Thai", "Tibetan": "Tibt",
}  # fmt: skip
BITS_OF_WORD = 63
LINE = re.compile(r"(?m)^(\w+)(?:\.\.(\w+))? *; (\w+(?: \w+)*) *(?:#.*)?$")
SURROGATES = slice(0xD800, 0xE000)


def listed(database: Path) -> Iterator[tuple[int, int, str]]:
    """First and last code point, and the name of what they have: a property, `sc=` or `scx=` with a script."""
    for source in FILES:
        for first, last, name in LINE.findall((database / source).read_text("utf-8")):
            yield int(first, 16), int(last or first, 16), name
    for first, last, name in LINE.findall((database / "Scripts.txt").read_text("utf-8")):
        for kind in ("sc", "scx"):
            yield int(first, 16), int(last or first, 16), f"{kind}={name}"
    long_names = {short: long for long, short in SCRIPTS.items()}
    for first, last, names in LINE.findall((database / "ScriptExtensions.txt").read_text("utf-8")):
        for name in names.split():
            yield int(first, 16), int(last or first, 16), f"scx={long_names.get(name, name)}"


def make(database: Path, file: Path = FILE) -> None:
    """Write the file, from a folder of the database."""
    scripts = {f"{kind}={long}": f"{kind}={short}" for kind in ("sc", "scx") for long, short in SCRIPTS.items()}
    names = {**SHORT_NAMES, **scripts}
    places = {long: divmod(bit, BITS_OF_WORD) for bit, long in enumerate(names)}
    properties = np.zeros((-(-len(names) // BITS_OF_WORD), 0x110001), np.int64)
    for first, last, name in listed(database):
        if name in places:
            word, bit = places[name]
            properties[word, first : last + 1] |= 1 << bit
    properties[:, SURROGATES] = 0
    firsts = np.flatnonzero(np.diff(properties, prepend=0).any(axis=0))
    bits = [(name, str(bit)) for bit, pair in enumerate(names.items()) for name in dict.fromkeys(pair)]
    np.savez_compressed(file, bits=np.array(bits), firsts=firsts.astype(np.int32), properties=properties[:, firsts])


if __name__ == "__main__":
    make(Path(sys.argv[1]))
