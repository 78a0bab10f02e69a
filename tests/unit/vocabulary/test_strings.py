"""Tables of byte strings."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.gguf import read_gguf
from llmask.vocabulary.strings import DAMAGED, decode_texts, freeze, make_table, read_charsmap, unescape_texts
from tests.reference import vocabulary_scan as twin
from tests.unit.vocabulary.charsmap_files import charsmap_bytes


@pytest.mark.parametrize("strings", [[], [b""], [b"a", b"", b"bc", b"", b""], [b"\0", b"\xff" * 300]])
def test_a_table_gives_back_its_strings(strings):
    table = make_table(strings)
    assert table.n_strings == len(strings)
    assert list(table.strings()) == strings
    assert [table.get(i) for i in range(len(strings))] == strings


def test_find_wants_whole_strings():
    table = make_table([b"", b"xab", b"a", b"", b"ab", b"abc", b"ab"])
    assert table.find(b"ab") == 4
    assert table.find(b"a") == 2
    assert table.find(b"abc") == 5
    assert table.find(b"b") == -1
    assert table.find(b"nothing") == -1


def test_tables_are_read_only():
    table = freeze(np.array([0, 1], np.int32), np.array([97], np.uint8))
    with pytest.raises(ValueError, match="read-only"):
        table.data[0] = 1


def test_two_gigabytes_are_too_much():
    megabyte = bytes(2**20)
    message = "the strings have 2147483648 bytes together, the limit is 2147483647\n  use a smaller vocabulary"
    with pytest.raises(VocabularyError, match=f"^{message}$"):
        make_table([megabyte] * 2048)


def decode(texts: list[bytes], types: list[int], byte_alphabet: bool) -> list[bytes]:
    is_special = np.array([kind == 3 for kind in types])
    return list(decode_texts(make_table(texts), np.array(types, np.uint8), is_special, byte_alphabet).strings())


def test_each_type_has_its_rule():
    texts = ["Ġ▁".encode(), "Ġa".encode(), "Ġ".encode(), b"<0x41>", b"x"]
    assert decode(texts, [4, 1, 0, 6, 3], byte_alphabet=True) == ["Ġ▁".encode(), b" a", b" ", b"A", b""]
    assert decode(["▁a▁b".encode(), "Ġ".encode()], [1, 1], byte_alphabet=False) == [b" a b", "Ġ".encode()]


@pytest.mark.parametrize("text", [b"", b"<0x4>", b"<0x4g>", b"<0x041>", b"<1x41>", b"(0x41>", b"<0x41)"])
def test_bytes_are_spelled_in_one_way(text):
    with pytest.raises(VocabularyError) as error:
        decode([b"a", text], [1, 6], byte_alphabet=False)
    message = f"token 1 is of type BYTE, but its text is {text!r}, not like '<0x0A>'"
    assert str(error.value) == f"{message}\n  {DAMAGED}"


def test_malformed_texts_stand_for_themselves():
    texts = [b"\xc4", b"\xc4\xa0\xff", b"\xe2\x96", b"\x80a"]
    assert decode(texts, [1] * 4, byte_alphabet=True) == texts
    assert decode(texts, [1] * 4, byte_alphabet=False) == texts


@pytest.mark.parametrize("byte_alphabet", [True, False])
def test_random_texts_equal_the_twin(rng, byte_alphabet):
    pieces = [
        b"a",
        "Ġ".encode(),
        "▁".encode(),
        b"\xe2\x96",
        b"\xc4",
        b"\xa0",
        "é".encode(),
        b"<0x41>",
        "日".encode(),
        b"\xff",
    ]
    pieces += [chr(code).encode() for code in range(0x80, 0x150)]
    for _ in range(50):
        texts = [b"".join(rng.choices(pieces, k=rng.randrange(4))) for _ in range(30)]
        types = [rng.choice((0, 1, 1, 1, 3, 4)) for _ in texts]
        expected = [
            twin.decode_token(text, kind, kind == 3, byte_alphabet) for text, kind in zip(texts, types, strict=True)
        ]
        assert decode(texts, types, byte_alphabet) == expected


def test_names_of_bytes_equal_the_twin(rng):
    for _ in range(300):
        text = "".join(rng.choices("<0xXaAfFgG19>", k=rng.randrange(5, 8))).encode()
        text = rng.choice((text, b"<0x" + text[:2] + b">"))
        expected = twin.decode_token(text, 6, False, False)
        if expected is None:
            with pytest.raises(VocabularyError):
                decode([text], [6], byte_alphabet=False)
        else:
            assert decode([text], [6], byte_alphabet=False) == [expected]


def test_escapes_are_those_of_python(rng):
    tokens = [bytes([byte]) for byte in range(256)] + [rng.randbytes(rng.randrange(1, 9)) for _ in range(500)]
    texts = make_table([repr(token)[2:-1].encode() for token in tokens])
    assert [*unescape_texts(texts, np.zeros(len(tokens), bool)).strings()] == tokens
    assert [*unescape_texts(make_table([rb"\n", rb"\n"]), np.array([True, False])).strings()] == [b"", b"\n"]


@pytest.mark.parametrize("text", [b"a\\", rb"\x", rb"\x1", rb"\x1g", rb"\xA0"])
def test_escapes_must_be_finished(text):
    with pytest.raises(VocabularyError, match=r"token 1, .* has an escape that is not finished"):
        unescape_texts(make_table([b"a", text]), np.zeros(2, bool))


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
