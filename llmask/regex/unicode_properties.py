r"""The binary properties that patterns name, such as `\p{Emoji}`; Python's own tables have few of them.

They are a file, of one version of Unicode, as the scripts are: the first of each run of code points that share all
properties, and for each run a number whose bit i says that it has property i of SHORT_NAMES.
Source: ECMA-262, 15th edition, table 70, for the names; Unicode Character Database 18.0 for the members, by
tests/reference/unicode_properties.py, which writes the file anew.

In: the name of a property. Out: a `CodePointSet`. Cost: 1 ms a property, once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from llmask.regex.code_points import TEXT, CodePointSet

FILE = Path(__file__).with_suffix(".npz")
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
BITS = {name: bit for bit, names in enumerate(SHORT_NAMES.items()) for name in names}


@cache
def members(name: str, file: Path = FILE) -> CodePointSet | None:
    """Code points of a property, by long or short name, or None when it is not in the file."""
    if name not in BITS:
        return None
    with np.load(file) as kept:
        has = kept["properties"] >> BITS[name] & 1
        bounds = kept["firsts"][np.flatnonzero(np.diff(has, prepend=0))]
    return CodePointSet(tuple(bounds.tolist())).intersect(TEXT)
