"""Writes the file of binary properties: `python -m tests.reference.unicode_properties FOLDER`.

In: a folder of the Unicode Character Database, as it is published. Out: llmask/regex/unicode_properties.npz. Cost: 1 s.
"""

from __future__ import annotations

import re
import sys
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
    "Variation_Selector": "VS", "XID_Continue": "XIDC", "XID_Start": "XIDS",
}  # fmt: skip
BITS = {name: bit for bit, name in enumerate(SHORT_NAMES)}
LINE = re.compile(r"(?m)^(\w+)(?:\.\.(\w+))? *; (\w+) *(?:#.*)?$")


def make(database: Path, file: Path = FILE) -> None:
    """Write the file, from a folder of the database."""
    properties = np.zeros(0x110001, np.int64)
    for source in FILES:
        for first, last, name in LINE.findall((database / source).read_text("utf-8")):
            if name in BITS:
                properties[int(first, 16) : int(last or first, 16) + 1] |= 1 << BITS[name]
    firsts = np.flatnonzero(np.diff(properties, prepend=0))
    names = np.array([*SHORT_NAMES.items()])
    np.savez_compressed(file, names=names, firsts=firsts.astype(np.int32), properties=properties[firsts])


if __name__ == "__main__":
    make(Path(sys.argv[1]))
