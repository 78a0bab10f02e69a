"""Scripts of Unicode: the thirty that most of the world's text is written in.

Python knows general categories but no scripts, so these are a table: SCRIPTS holds the property Script, EXTENSIONS
what Script_Extensions adds to it. Scripts that are not in the table are refused, never guessed; "Common" and
"Inherited" would be half of it.
Source: Unicode Character Database 18.0, Scripts.txt, ScriptExtensions.txt, PropertyValueAliases.txt.

In: the name of a script. Out: a `CodePointSet`. Cost: 50 us a script, once.
"""

from __future__ import annotations

from functools import cache

from llmask.regex.code_points import CodePointSet

SHORT_NAMES = {
    "Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Bopo": "Bopomofo", "Cyrl": "Cyrillic", "Deva":
    "Devanagari", "Ethi": "Ethiopic", "Geor": "Georgian", "Grek": "Greek", "Gujr": "Gujarati", "Guru": "Gurmukhi",
    "Hani": "Han", "Hang": "Hangul", "Hebr": "Hebrew", "Hira": "Hiragana", "Knda": "Kannada", "Kana": "Katakana",
    "Khmr": "Khmer", "Laoo": "Lao", "Latn": "Latin", "Mlym": "Malayalam", "Mong": "Mongolian", "Mymr": "Myanmar",
    "Orya": "Oriya", "Sinh": "Sinhala", "Taml": "Tamil", "Telu": "Telugu", "Thaa": "Thaana", "Thai": "Thai",
    "Tibt": "Tibetan",
}  # fmt: skip
SCRIPTS = {
    "Arabic": (
        "600-604 606-60B 60D-61A 61C-61E 620-63F 641-64A 656-66F 671-6DC 6DE-6FF 750-77F 870-891 897-8E1 "
        "8E3-8FF FB50-FD3D FD40-FDCF FDF0-FDFF FE70-FE74 FE76-FEFC 10E60-10E7E 10EC2-10EC7 10EC9-10EEE "
        "10EF0-10EFF 1EE00-1EE03 1EE05-1EE1F 1EE21-1EE22 1EE24 1EE27 1EE29-1EE32 1EE34-1EE37 1EE39 1EE3B "
        "1EE42 1EE47 1EE49 1EE4B 1EE4D-1EE4F 1EE51-1EE52 1EE54 1EE57 1EE59 1EE5B 1EE5D 1EE5F 1EE61-1EE62 "
        "1EE64 1EE67-1EE6A 1EE6C-1EE72 1EE74-1EE77 1EE79-1EE7C 1EE7E 1EE80-1EE89 1EE8B-1EE9B 1EEA1-1EEA3 "
        "1EEA5-1EEA9 1EEAB-1EEBB 1EEF0-1EEF1"
    ),
    "Armenian": (
        "531-556 558-58F FB13-FB17"
    ),
    "Bengali": (
        "980-983 985-98C 98F-990 993-9A8 9AA-9B0 9B2 9B6-9B9 9BC-9C4 9C7-9C8 9CB-9CE 9D7 9DC-9DD 9DF-9E3 "
        "9E6-9FE 11DF0-11DF1"
    ),
    "Bopomofo": (
        "2EA-2EB 3105-312F 31A0-31BF"
    ),
    "Cyrillic": (
        "400-484 487-52F 1C80-1C8A 1D2B 1D78 2DE0-2DFF A640-A69F FE2E-FE2F 1E030-1E06D 1E08F"
    ),
    "Devanagari": (
        "900-950 955-963 966-97F A8E0-A8FF 11B00-11B0A"
    ),
    "Ethiopic": (
        "1200-1248 124A-124D 1250-1256 1258 125A-125D 1260-1288 128A-128D 1290-12B0 12B2-12B5 12B8-12BE 12C0 "
        "12C2-12C5 12C8-12D6 12D8-1310 1312-1315 1318-135A 135D-137C 1380-1399 2D80-2D96 2DA0-2DA6 2DA8-2DAE "
        "2DB0-2DB6 2DB8-2DBE 2DC0-2DC6 2DC8-2DCE 2DD0-2DD6 2DD8-2DDE AB01-AB06 AB09-AB0E AB11-AB16 AB20-AB26 "
        "AB28-AB2E 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE"
    ),
    "Georgian": (
        "10A0-10C5 10C7 10CD 10D0-10FA 10FC-10FF 1C90-1CBA 1CBD-1CBF 2D00-2D25 2D27 2D2D"
    ),
    "Greek": (
        "370-373 375-377 37A-37D 37F 384 386 388-38A 38C 38E-3A1 3A3-3E1 3F0-3FF 1D26-1D2A 1D5D-1D61 "
        "1D66-1D6A 1DBF 1F00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 "
        "1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4 1FF6-1FFE 2126 AB65 10140-1018E 101A0 1D200-1D245 "
        "1DFF3-1DFF4"
    ),
    "Gujarati": (
        "A81-A83 A85-A8D A8F-A91 A93-AA8 AAA-AB0 AB2-AB3 AB5-AB9 ABC-AC5 AC7-AC9 ACB-ACD AD0 AE0-AE3 AE6-AF1 "
        "AF9-AFF"
    ),
    "Gurmukhi": (
        "A01-A03 A05-A0A A0F-A10 A13-A28 A2A-A30 A32-A33 A35-A36 A38-A39 A3C A3E-A42 A47-A48 A4B-A4D A51 "
        "A59-A5C A5E A66-A76"
    ),
    "Han": (
        "2E80-2E99 2E9B-2EF3 2F00-2FD5 3005 3007 3021-3029 3038-303B 3400-4DBF 4E00-9FFF F900-FA6D FA70-FAD9 "
        "16FE2-16FE3 16FF0-16FF6 20000-2A6DF 2A700-2B81E 2B820-2CEAD 2CEB0-2EBE0 2EBF0-2EE5D 2F800-2FA1D "
        "30000-3134A 31350-33479"
    ),
    "Hangul": (
        "1100-11FF 302E-302F 3131-318E 3200-321E 3260-327E A960-A97C AC00-D7A3 D7B0-D7C6 D7CB-D7FB FFA0-FFBE "
        "FFC2-FFC7 FFCA-FFCF FFD2-FFD7 FFDA-FFDC"
    ),
    "Hebrew": (
        "591-5C9 5D0-5EA 5EF-5F4 FB1D-FB36 FB38-FB3C FB3E FB40-FB41 FB43-FB44 FB46-FB4F"
    ),
    "Hiragana": (
        "3041-3096 309D-309F 1B001-1B11F 1B123 1B132 1B150-1B152 1F200"
    ),
    "Kannada": (
        "C80-C8C C8E-C90 C92-CA8 CAA-CB3 CB5-CB9 CBC-CC4 CC6-CC8 CCA-CCD CD5-CD6 CDC-CDE CE0-CE3 CE6-CEF "
        "CF1-CF3"
    ),
    "Katakana": (
        "30A1-30FA 30FD-30FF 31F0-31FF 32D0-32FE 3300-3357 FF66-FF6F FF71-FF9D 1AFF0-1AFF3 1AFF5-1AFFB "
        "1AFFD-1AFFE 1B000 1B120-1B122 1B124-1B128 1B155 1B164-1B168"
    ),
    "Khmer": (
        "1780-17DD 17E0-17E9 17F0-17F9 19E0-19FF"
    ),
    "Lao": (
        "E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECE ED0-ED9 EDC-EDF"
    ),
    "Latin": (
        "41-5A 61-7A AA BA C0-D6 D8-F6 F8-2B8 2E0-2E4 1D00-1D25 1D2C-1D5C 1D62-1D65 1D6B-1D77 1D79-1DBE "
        "1E00-1EFF 2071 207F 2090-209F 212A-212B 2132 214E 2160-2188 2C60-2C7F A722-A787 A78B-A7DD A7E2 "
        "A7F1-A7FF AB30-AB5A AB5C-AB64 AB66-AB69 AB6C-AB6D FB00-FB06 FF21-FF3A FF41-FF5A 10780-10785 "
        "10787-107B0 107B2-107BF 1DF00-1DF81 1DF90-1DF96 1DFCD-1DFF2 1DFF5-1DFFF"
    ),
    "Malayalam": (
        "D00-D0C D0E-D10 D12-D44 D46-D48 D4A-D4F D54-D63 D66-D7F"
    ),
    "Mongolian": (
        "1800-1801 1804 1806-1819 1820-1878 1880-18AA 11660-1166C"
    ),
    "Myanmar": (
        "1000-109F A9E0-A9FE AA60-AA7F 116D0-116E3"
    ),
    "Oriya": (
        "B01-B03 B05-B0C B0F-B10 B13-B28 B2A-B30 B32-B33 B35-B39 B3C-B44 B47-B48 B4B-B4D B53-B57 B5C-B5D "
        "B5F-B63 B66-B77"
    ),
    "Sinhala": (
        "D81-D83 D85-D96 D9A-DB1 DB3-DBB DBD DC0-DC6 DCA DCF-DD4 DD6 DD8-DDF DE6-DEF DF2-DF4 111E1-111F4"
    ),
    "Tamil": (
        "B82-B83 B85-B8A B8E-B90 B92-B95 B99-B9A B9C B9E-B9F BA3-BA4 BA8-BAA BAE-BB9 BBE-BC2 BC6-BC8 BCA-BCD "
        "BD0 BD7 BE6-BFA 11FC0-11FF1 11FFF"
    ),
    "Telugu": (
        "C00-C0C C0E-C10 C12-C28 C2A-C39 C3C-C44 C46-C48 C4A-C4D C55-C56 C58-C5A C5C-C5D C60-C63 C66-C6F "
        "C77-C7F"
    ),
    "Thaana": (
        "780-7B1"
    ),
    "Thai": (
        "E01-E3A E40-E5B"
    ),
    "Tibetan": (
        "F00-F47 F49-F6C F71-F97 F99-FBC FBE-FCC FCE-FD4 FD9-FDA"
    ),
}  # fmt: skip
EXTENSIONS = {
    "Arabic": (
        "60C 61B 61F 640 64B-655 670 204F 2E41 FD3E-FD3F 102E0-102FB"
    ),
    "Armenian": (
        "308"
    ),
    "Bengali": (
        "2BC 951-952 964-965 1CD0 1CD2 1CD5-1CD6 1CD8 1CE1 1CEA 1CED 1CF2 1CF5-1CF7 A8F1"
    ),
    "Bopomofo": (
        "2C7 2C9-2CB 2D9 3001-3003 3008-3011 3013-301F 302A-302D 3030 3037 30FB FE45-FE46 FF61-FF65"
    ),
    "Cyrillic": (
        "2BC 300-302 304 306 308 30B 311 485-486 1DF8 2E43"
    ),
    "Devanagari": (
        "2BC 951-952 964-965 1CD0-1CF4 1CF8-1CF9 20F0 A830-A839"
    ),
    "Ethiopic": (
        "30E"
    ),
    "Georgian": (
        "B7 589 10FB 205A 2E31"
    ),
    "Greek": (
        "B7 300-301 304 306 308 313 342 345 374 1DC0-1DC1 205D"
    ),
    "Gujarati": (
        "951-952 964-965 A830-A839"
    ),
    "Gurmukhi": (
        "951-952 964-965 A830-A839"
    ),
    "Han": (
        "B7 2FF0-2FFF 3001-3003 3006 3008-3011 3013-301F 302A-302D 3030 3037 303C-303F 30FB 3190-319F "
        "31C0-31E5 31EF 3220-3247 3280-32B0 32C0-32CB 32FF 3358-3370 337B-337F 33E0-33FE A700-A707 FE45-FE46 "
        "FF61-FF65 1D360-1D371 1F250-1F251"
    ),
    "Hangul": (
        "3001-3003 3008-3011 3013-301F 3030 3037 30FB FE45-FE46 FF61-FF65"
    ),
    "Hebrew": (
        "307-308"
    ),
    "Hiragana": (
        "3001-3003 3008-3011 3013-301F 3030-3035 3037 303C-303D 3099-309C 30A0 30FB-30FC FE45-FE46 FF61-FF65 "
        "FF70 FF9E-FF9F"
    ),
    "Kannada": (
        "951-952 964-965 B83 1CD0 1CD2-1CD3 1CDA 1CF2 1CF4 A830-A835"
    ),
    "Katakana": (
        "305 323 3001-3003 3008-3011 3013-301F 3030-3035 3037 303C-303D 3099-309C 30A0 30FB-30FC FE45-FE46 "
        "FF61-FF65 FF70 FF9E-FF9F"
    ),
    "Latin": (
        "B7 2BC 2C7 2C9-2CB 2CD 2D7 2D9 300-30E 310-311 313 323-325 32D-32E 330-331 358 35E 363-36F 485-486 "
        "951-952 10FB 1DF8 202F 20F0 2E17 A700-A707 A92E"
    ),
    "Malayalam": (
        "951-952 964-965 B83 1CDA 1CF2 A830-A832"
    ),
    "Mongolian": (
        "1802-1803 1805 202F 3001-3002 3008-300B"
    ),
    "Myanmar": (
        "A92E"
    ),
    "Oriya": (
        "951-952 964-965 1CDA 1CF2"
    ),
    "Sinhala": (
        "964-965 1CF2"
    ),
    "Tamil": (
        "951-952 964-965 1CDA A8F3 11301 11303 1133B-1133C"
    ),
    "Telugu": (
        "951-952 964-965 B83 1CD5-1CD6 1CD8 1CDA 1CF2"
    ),
    "Thaana": (
        "60C 61B-61C 61F 660-669 FDF2 FDFD"
    ),
    "Thai": (
        "2BC 2D7 303 331"
    ),
    "Tibetan": (
        "3008-300B"
    ),
}  # fmt: skip


@cache
def script(name: str, with_extensions: bool) -> CodePointSet | None:
    """Code points of a script, by long or short name; None when the table does not have it."""
    name = SHORT_NAMES.get(name, name)
    if name not in SCRIPTS:
        return None
    listed = SCRIPTS[name] + (" " + EXTENSIONS[name] if with_extensions and name in EXTENSIONS else "")
    ends = [piece.split("-") for piece in listed.split()]
    return CodePointSet.from_ranges((int(pair[0], 16), int(pair[-1], 16)) for pair in ends)
