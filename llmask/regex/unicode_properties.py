r"""Binary properties and scripts that patterns name, such as `\p{Emoji}` and `\p{Script=Greek}`.

Python's own tables have few of these properties, and no scripts. They are files, of one version of Unicode. For
properties: the first of each run of code points that share all of them, and for each run a number whose bit i says that
it has property i of SHORT_NAMES. For scripts: code points by name, of the thirty that most of the world's text is
written in. Others are refused, never guessed; "Common" and "Inherited" would be half of the file.
Source: ECMA-262, 15th edition, table 70, for the names; Unicode Character Database 18.0 for the members, by
tests/reference/unicode_properties.py, which writes the file of properties anew.

In: the name of a property or script. Out: a `CodePointSet`. Cost: 1 ms a property, 50 us a script, once.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from llmask.regex.code_points import TEXT, CodePointSet

FILE = Path(__file__).with_suffix(".npz")
SCRIPTS = Path(__file__).with_name("unicode_scripts.txt")
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


@cache
def scripts() -> dict[str, tuple[str, str]]:
    """By long and by short name, the code points of each script, and what Script_Extensions adds to them."""
    found: dict[str, tuple[str, str]] = {}
    for line in SCRIPTS.read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            long, short, kind, listed = line.split(" ", 3)
            own = found.get(long, ("", ""))
            found[long] = found[short] = (listed, own[1]) if kind == "sc" else (own[0], listed)
    return found


@cache
def script(name: str, with_extensions: bool) -> CodePointSet | None:
    """Code points of a script, by long or short name; None when the file does not have it."""
    if name not in scripts():
        return None
    own, more = scripts()[name]
    ends = [piece.split("-") for piece in (f"{own} {more}" if with_extensions else own).split()]
    return CodePointSet.from_ranges((int(pair[0], 16), int(pair[-1], 16)) for pair in ends)
