r"""Splitting text into words before byte-pair merges: the patterns that come with a BPE vocabulary.

The patterns come from `llmask/vocabulary/patterns.py` or from a tokenizer.json; `\p{L}`, `\p{N}` and `\p{P}` become
explicit ranges taken from `unicodedata`, and `\s` the Unicode White_Space set (Python's own `\s` also has U+001C to
U+001F), so Python's `re` runs them and no further package is needed. A hand-written scanner was considered; `re`
splits 5 MB/s and has no second grammar to keep right. Categories are those of the running Python's Unicode version
(3.10: 13, 3.13: 15.1); a letter that a later version added is split differently, which no token of an older
vocabulary contains.

Several patterns are applied one after the other, each to the pieces of the one before; what lies between matches is a
piece, too (llama.cpp `unicode_regex_split`; "isolated" in Hugging Face tokenizers).

In: a pattern list, text. Out: words that joined give the text. Cost: 20 ms once for the ranges, then 0.2 us a byte.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np

_CATEGORIES = ("L", "N", "P", "M", "S", "Z", "Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No")
# planes 4 to 13 are empty, plane 14 has marks, planes 15 and 16 are for private use
_ASSIGNED = (*range(0x40000), *range(0xE0000, 0xE0200))
_WHITE_SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_PIECE = re.compile(r"\\[pP]\{\w+\}|\\.|&&|.", re.DOTALL)


@cache
def _categories() -> np.ndarray:
    """Category of every entry of _ASSIGNED."""
    return np.array([unicodedata.category(chr(code_point)) for code_point in _ASSIGNED])


@cache
def _category_ranges(name: str) -> str:
    """Contents of a character class for a category, as `re` reads them."""
    is_member = _categories().astype(f"U{len(name)}") == name
    bounds = np.flatnonzero(np.diff(is_member, prepend=False, append=False)).tolist()
    return "".join(
        f"\\U{_ASSIGNED[first]:08x}-\\U{_ASSIGNED[end - 1]:08x}"
        for first, end in zip(bounds[::2], bounds[1::2], strict=True)
    )


def translate(pattern: str) -> str:
    r"""Pattern for Python's `re` with `\p{..}` and `\s` written out.

    Raises
    ------
    ValueError : a construct that is not known here, such as `\p{Han}`, `\h`, or a class inside of a class.
    """
    out = []
    in_class = False
    for piece in _PIECE.findall(pattern):
        if piece.startswith(("\\p{", "\\P{")) or piece in (r"\s", r"\S"):
            out.append(_translate_class(piece, in_class))
            continue
        if piece == "&&" or (piece == "[" and in_class) or (piece[0] == "\\" and piece[1] in "hHpPXRkgGAzZ0123456789"):
            raise ValueError(f"{piece} in {pattern!r} is not known")
        in_class = (in_class or piece == "[") and piece != "]"
        out.append(piece)
    return "".join(out)


def _translate_class(piece: str, in_class: bool) -> str:
    if piece[-1] in "sS":
        contents = _WHITE_SPACE
    elif piece[3:-1] in _CATEGORIES:
        contents = _category_ranges(piece[3:-1])
    else:
        raise ValueError(f"category {piece[3:-1]} is not known")
    is_negated = piece[1] in "PS"
    if not in_class:
        return f"[{'^' if is_negated else ''}{contents}]"
    if not is_negated:
        return contents
    if piece == r"\S":
        return _complement_of_white_space()
    raise ValueError(f"{piece} inside of a class is not known")


def _complement_of_white_space() -> str:
    spaces = sorted(c for c in range(0x3001) if re.match(f"[{_WHITE_SPACE}]", chr(c)))
    bounds = [-1, *spaces, sys.maxunicode + 1]
    return "".join(f"\\U{low + 1:08x}-\\U{high - 1:08x}" for low, high in pairwise(bounds) if low + 1 < high)


@cache
def _compiled(patterns: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(re.compile(translate(pattern)) for pattern in patterns)
    except re.error as error:
        raise ValueError(str(error)) from None


def split_words(patterns: Sequence[str], text: str) -> list[str]:
    """Words of `text`; joined they are the text.

    Raises
    ------
    ValueError : a pattern that Python's `re` cannot run.

    Examples
    --------
    >>> from llmask.vocabulary.patterns import GPT2
    >>> split_words((GPT2,), "it's  12 o'clock")
    ['it', "'s", ' ', ' 12', ' o', "'", 'clock']
    """
    pieces = [text]
    for pattern in _compiled(tuple(patterns)):
        pieces = [word for piece in pieces for word in _isolate(pattern, piece)]
    return pieces


def _isolate(pattern: re.Pattern[str], piece: str) -> list[str]:
    words = []
    end = 0
    for match in pattern.finditer(piece):
        if match.start() > end:
            words.append(piece[end : match.start()])
        if match.end() > match.start():
            words.append(match[0])
        end = match.end()
    if end < len(piece):
        words.append(piece[end:])
    return words


def check_patterns(patterns: Sequence[str]) -> bool:
    """Whether `split_words` can run these patterns."""
    try:
        _compiled(tuple(patterns))
    except ValueError:
        return False
    return True
