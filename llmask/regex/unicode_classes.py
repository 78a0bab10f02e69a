r"""The classes of characters that patterns name: `\d \w \s`, general categories, properties, scripts; and case.

Which code points belong to categories depends on the Unicode version of the running Python, so nothing is shipped: what
`re` matches is asked of `re` itself, once, over a string of all code points (12 ms for `\w`; spelled out with
`str.isalnum` it took 90). The same holds for case: `re.IGNORECASE` is neither `str.lower` nor `str.casefold` (U+0130
matches "i", which is neither its lower case nor its case folding), so the engine is run over the few thousand code
points that have case.

Python's own tables have few of the binary properties (`\p{Emoji}`), and no scripts. These are a file, of one version of
Unicode: the first of each run of code points that share all of them, for each run the bits of what it has, and the
number of the bit for each name, long and short. Scripts are "sc=Greek" there, with what Script_Extensions adds
"scx=Greek", for the thirty that most of the world's text is written in. Others are refused, never guessed.
Source: Python documentation, `re`; ECMA-262, 15th edition, sections 12.2, 12.3 and 22.2.2.9, and table 70 for names;
Unicode Character Database 18.0 for the members, by tests/reference/unicode_properties.py, which writes the file anew.

In: names. Out: `CodePointSet`s, the last 256 of a kind kept. Cost: nothing at import; each scan happens at most
once; 1 ms a property.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np

from llmask.regex.code_points import MAX_CODE_POINT, NO_TEXT, TEXT, CodePointSet

FILE = Path(__file__).with_name("unicode_properties.npz")
ASCII_DIGITS = CodePointSet.from_ranges([(0x30, 0x39)])
ASCII_WORDS = CodePointSet.from_ranges([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
ECMA_SPACES = CodePointSet.of(" \t\n\r\f\v\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff").union(
    CodePointSet.from_ranges([(0x2000, 0x200A)])
)
ECMA_LINE_ENDS = CodePointSet.of("\n\r\u2028\u2029")
ASCII = CodePointSet.from_ranges([(0, 0x7F)])
# Unicode 16.0, PropertyValueAliases.txt, property gc; ECMA-262 accepts both names.
CATEGORY_NAMES = {
    "Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm", "Other_Letter": "Lo", "Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc", "Enclosing_Mark": "Me", "Number": "N", "Decimal_Number": "Nd", "digit": "Nd",
    "Letter_Number": "Nl", "Other_Number": "No", "Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe", "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf", "Other_Punctuation": "Po", "Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk", "Other_Symbol": "So", "Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp", "Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs",
    "Private_Use": "Co", "Unassigned": "Cn",
}  # fmt: skip
LAST_PLANE_WITH_CASE = 1
UNASSIGNED = 0x40000, 0xDFFFF  # planes 4 to 13, more than half of all (a test looks at all of them)


@lru_cache(maxsize=256)
def members(name: str, file: Path = FILE) -> CodePointSet | None:
    """Code points of a property or script, by long or short name, or None when it is not in the file."""
    with np.load(file) as kept:
        bits = dict(kept["bits"].tolist())
        if name not in bits:
            return None
        word, bit = divmod(int(bits[name]), 63)
        has = kept["properties"][word] >> bit & 1
        return CodePointSet(tuple(kept["firsts"][np.flatnonzero(np.diff(has, prepend=0))].tolist()))


@cache
def named_class(letter: str, is_ascii: bool) -> CodePointSet:
    r"""`\d`, `\w` or `\s` of `re`, with its flag `a` of ASCII alone."""
    text = bytes(range(128)).decode() if is_ascii else _every_code_point()
    runs = re.finditer(rf"\{letter}+", text, re.ASCII if is_ascii else 0)
    return CodePointSet.from_ranges((run.start(), run.end() - 1) for run in runs)


@lru_cache(maxsize=256)
def category(name: str) -> CodePointSet | None:
    """Code points of a general category, by short or long name ("Lu", "Uppercase_Letter", "L"), or None."""
    short = CATEGORY_NAMES.get(name, name)
    members = {"LC": ("Lu", "Ll", "Lt")}.get(short, (short,))
    found = [pair for key, ranges in _categories().items() if key.startswith(members) for pair in ranges]
    is_known = short in CATEGORY_NAMES.values() and short != ""
    return CodePointSet.from_ranges(found) if is_known else None


def binary_property(name: str) -> CodePointSet | None:
    """Code points of a binary property of ECMA-262 (table 70), by short or long name, or None."""
    if name == "Assigned":
        return (category("Cn") or NO_TEXT).complement()
    return {"Any": TEXT, "ASCII": ASCII}.get(name) or members(name)


@lru_cache(maxsize=4096)
def without_case(members: CodePointSet) -> CodePointSet:
    """Everything that a character class of `members` matches under `re.IGNORECASE`."""
    cased, every = _cased()
    inside = members.intersect(every)
    if not inside.bounds:
        return members
    spelled = "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in inside.ranges())
    return members.union(CodePointSet.of("".join(re.findall(f"[{spelled}]", cased, re.IGNORECASE))))


def _every_code_point() -> str:
    """The string whose character i is code point i, surrogates included."""
    return np.arange(MAX_CODE_POINT + 1, dtype=np.uint32).tobytes().decode("utf-32", "surrogatepass")


@cache
def _categories() -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {"Cn": [UNASSIGNED]}
    low, high = UNASSIGNED
    every = _every_code_point()
    for start, part in ((0, every[:low]), (high + 1, every[high + 1 :])):
        for name, run in groupby(map(unicodedata.category, part)):
            end = start + sum(1 for _ in run)
            found.setdefault(name, []).append((start, end - 1))
            start = end
    return found


@cache
def _cased() -> tuple[str, CodePointSet]:
    """Every character that has another case; no plane after plane 1 has any (a test looks at all of them)."""
    planes = map(chr, TEXT.intersect(CodePointSet((0, (LAST_PLANE_WITH_CASE + 1) << 16))))
    found = "".join(c for c in planes if c.lower() != c or c.upper() != c or c.title() != c)
    return found, CodePointSet.of(found)
