"""Writes the file of binary properties: `python -m tests.reference.unicode_properties FOLDER`.

In: a folder of the Unicode Character Database, as it is published. Out: llmask/regex/unicode_properties.npz. Cost: 1 s.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np

from llmask.regex.unicode_classes import BITS, FILE, SHORT_NAMES

FILES = (
    "PropList.txt", "DerivedCoreProperties.txt", "DerivedNormalizationProps.txt", "emoji/emoji-data.txt",
    "extracted/DerivedBinaryProperties.txt",
)  # fmt: skip
LINE = re.compile(r"(?m)^(\w+)(?:\.\.(\w+))? *; (\w+) *(?:#.*)?$")


def make(database: Path, file: Path = FILE) -> None:
    """Write the file, from a folder of the database."""
    properties = np.zeros(0x110001, np.int64)
    for source in FILES:
        for first, last, name in LINE.findall((database / source).read_text("utf-8")):
            if name in SHORT_NAMES:
                properties[int(first, 16) : int(last or first, 16) + 1] |= 1 << BITS[name]
    firsts = np.flatnonzero(np.diff(properties, prepend=0))
    np.savez_compressed(file, firsts=firsts.astype(np.int32), properties=properties[firsts])


if __name__ == "__main__":
    make(Path(sys.argv[1]))
