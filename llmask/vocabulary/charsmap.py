"""The `precompiled_charsmap` of a SentencePiece model: rules that normalize a text, read without trust.

The layout is described in `llmask/kernels/encoders/charsmap_rules.py`. Everything is walked once here, so the encoders
need no checks: no way leads out of the block or in a circle.

In: bytes. Out: `CharsMap`. Cost: 20 ms for the 237,539 bytes of NMT-NFKC.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import VocabularyError
from .strings import DAMAGED

MAX_BYTES = 16 * 2**20  # checking takes 0.1 s a MB; real ones have 0.25 MB
UNIT_BYTES = 4
HEADER_BYTES = 4


class CharsMap(NamedTuple):
    """Rules that were checked. Both arrays are read-only.

    units         uint32[n]  double array of the left sides
    replacements  uint8[...]  right sides, each ended by a zero byte
    """

    units: np.ndarray
    replacements: np.ndarray

    def to_bytes(self) -> bytes:
        """The block that `read_charsmap` reads."""
        size = (len(self.units) * UNIT_BYTES).to_bytes(HEADER_BYTES, "little")
        return b"".join((size, self.units.astype("<u4").tobytes(), self.replacements.tobytes()))


def read_charsmap(block: bytes) -> CharsMap | None:
    """Rules of a `precompiled_charsmap`; None when it is empty, which means that there are none.

    Raises
    ------
    VocabularyError : the block is truncated, or its rules lead out of it, in a circle, or are too long.
    """
    from ..kernels.encoders import charsmap_rules
    from ..kernels.machine import jit

    if not block:
        return None
    if len(block) > MAX_BYTES:
        raise VocabularyError(f"the character map has {len(block)} bytes, the limit is {MAX_BYTES}", help=DAMAGED)
    size = int.from_bytes(block[:HEADER_BYTES], "little")
    rest = len(block) - HEADER_BYTES - size
    if len(block) <= HEADER_BYTES or size == 0 or size % UNIT_BYTES or rest <= 0:
        raise VocabularyError(
            f"the character map declares {size} bytes of rules and has {len(block)} in all", help=DAMAGED
        )
    units = np.frombuffer(block, "<u4", size // UNIT_BYTES, HEADER_BYTES).astype(np.uint32)
    replacements = np.frombuffer(block, np.uint8, rest, HEADER_BYTES + size).copy()
    jit.make_ready("charsmap")
    path, places = (np.zeros(charsmap_rules.MAX_RULE_BYTES + 2, np.int32) for _ in range(2))
    found = charsmap_rules.check_charsmap(units, replacements, np.zeros(len(units), np.int32), path, places)
    if found != charsmap_rules.RULES_ARE_SOUND:
        reason = {
            charsmap_rules.RULES_CYCLE: "leads in a circle",
            charsmap_rules.RULES_LEAVE_UNITS: "leads out of the map",
            charsmap_rules.RULES_LEAVE_REPLACEMENTS: "has no replacement inside of the map",
            charsmap_rules.RULES_ARE_LONG: f"is longer than {charsmap_rules.MAX_RULE_BYTES} bytes, or its replacement"
            f" than {charsmap_rules.MAX_REPLACEMENT_BYTES}",
        }[found]
        raise VocabularyError(f"the character map is corrupt: a rule at unit {int(path[0])} {reason}", help=DAMAGED)
    units.flags.writeable = False
    replacements.flags.writeable = False
    return CharsMap(units, replacements)
