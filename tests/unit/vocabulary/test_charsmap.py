"""Character maps: rules are found, what is corrupt is refused with the place where."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.charsmap import read_charsmap
from llmask.vocabulary.gguf import read_gguf

from .charsmap_files import charsmap_bytes

RULES = {b"A": b"a", b"AB": b"", b"\xc3\x84": b"Ae", b"\xe3\x80\x80": b" "}


def test_a_sound_map_is_read_and_written_back():
    block = charsmap_bytes(RULES)
    charsmap = read_charsmap(block)
    assert charsmap is not None
    assert charsmap.to_bytes() == block
    assert not charsmap.units.flags.writeable
    assert read_charsmap(b"") is None


def test_the_map_of_a_real_model_is_sound(shared_dir):
    charsmap = read_gguf(shared_dir / "data" / "vocab" / "nomic-bert-moe.gguf").encoder.charsmap
    assert charsmap is not None
    assert len(charsmap.to_bytes()) == 237539


def changed(unit: int, word: int) -> bytes:
    block = np.frombuffer(charsmap_bytes(RULES), np.uint8).copy()
    block[4 + 4 * unit : 8 + 4 * unit] = np.array([word], "<u4").view(np.uint8)
    return block.tobytes()


CORRUPT = "the character map is corrupt"
A_UNIT = 256 ^ ord("A")
BAD_MAPS = [
    (b"\x00", "the character map declares 0 bytes of rules and has 1 in all"),
    (charsmap_bytes(RULES)[:-15], "the character map declares 9216 bytes of rules and has 9213 in all"),
    (changed(0, 0x7FFFFC00), "the character map is corrupt: a rule at unit 0 leads out of the map"),
    (changed(A_UNIT, ord("A") | 0x7FFFFC00), f"{CORRUPT}: a rule at unit {A_UNIT} leads out of the map"),
    (changed(A_UNIT, ord("A") | (A_UNIT ^ 256) << 10), f"{CORRUPT}: a rule at unit {A_UNIT} leads in a circle"),
    (
        changed(A_UNIT, ord("A") | 1 << 8 | (A_UNIT ^ 254) << 10),
        f"the character map is corrupt: a rule at unit {A_UNIT} has no replacement inside of the map",
    ),
    (
        charsmap_bytes({b"a" * 256: b""}),
        "the character map is corrupt: a rule at unit 65633 is longer than 255 bytes, or its replacement than 4095",
    ),
    (
        charsmap_bytes({b"a": b"b" * 4096}),
        "the character map is corrupt: a rule at unit 353 is longer than 255 bytes, or its replacement than 4095",
    ),
    (bytes(17 * 2**20), "the character map has 17825792 bytes, the limit is 16777216"),
]  # fmt: skip


@pytest.mark.parametrize(("block", "message"), BAD_MAPS, ids=range(len(BAD_MAPS)))
def test_what_is_corrupt_is_named(block, message):
    with pytest.raises(VocabularyError) as error:
        read_charsmap(block)
    assert error.value.message == message


def test_left_sides_of_255_bytes_are_read():
    assert read_charsmap(charsmap_bytes({b"a" * 255: b"x"})) is not None
