"""The double array finds the tokens of the trie, whatever they are; which strings stand in normalized text."""

from __future__ import annotations

import pickle
import weakref

import numpy as np
import pytest

from llmask.encoders.piece_encoder import (
    FIRST_CAPACITY,
    KEPT_CAPACITY,
    Normalizer,
    PieceEncoder,
    byte_tokens,
    capacities,
    matched_strings,
)
from llmask.encoders.spm import SpmEncoder, UnigramEncoder
from llmask.encoders.tables import SHORT_LIST, build_double_array
from llmask.errors import VocabularyError
from llmask.kernels.encoders.double_array import BASE_SHIFT, ENDING_MASK, ENDING_SHIFT, LABEL_MASK, ROOT
from llmask.kernels.encoders.piece_slots import RoomSlot
from llmask.vocabulary.strings import make_table, read_charsmap
from llmask.vocabulary.vocabulary import EncoderData, find_special, freeze_vocabulary, from_bytes
from tests.processes import side_by_side
from tests.unit.vocabulary.charsmap_files import charsmap_bytes


def look_up(entries: np.ndarray, string: bytes) -> int:
    """Token of a string by the definition of the layout, -1 when there is none."""
    entry = ROOT
    for byte in string:
        entry = int(entries[(entry >> BASE_SHIFT) + byte])
        if entry & LABEL_MASK != byte + 1:
            return -1
    return (entry >> ENDING_SHIFT & ENDING_MASK) - 1


def test_every_string_is_found_and_no_other(rng, scaled):
    for _ in range(scaled(40)):
        letters = rng.choice([b"ab", bytes(range(256)), b"\x00\xff"])
        n_strings = rng.choice([1, 3, 60, 3000])
        strings = sorted({bytes(rng.choices(letters, k=rng.randrange(1, 7))) for _ in range(n_strings)})
        array = build_double_array(make_table(strings))
        for token, string in enumerate(strings):
            assert look_up(array, string) == token
            for other in (string[:-1], string + b"a", string + b"\x00"):
                expected = strings.index(other) if other in strings else -1
                assert look_up(array, other) == expected


def test_entries_stay_few_where_nodes_have_few_children(rng):
    strings = [bytes(rng.choices(range(256), k=8)) for _ in range(20_000)]
    array = build_double_array(make_table(strings))
    # 1.02 a node for the vocabulary of XLM-RoBERTa; this is the worst case
    assert len(array) < 4 * 8 * len(strings)


def test_which_strings_stand_in_normalized_text():
    texts = [b"</s>", b"\xe2\x96\x81a", b"a b", b"<0x41>", b"<t>", b"x"]
    types = np.array([3, 1, 1, 6, 4, 5], np.uint8)
    is_special = find_special(types, [0])
    tokens = [b"", b" a", b"a b", b"A", b"<t>", b""]

    def strings(**fields) -> list[bytes]:
        parts = (make_table(tokens), make_table(texts), types.copy(), is_special, (0,))
        return [*matched_strings(freeze_vocabulary(*parts, EncoderData(kind="ugm", **fields))).strings()]

    assert strings() == [b"", b" a", b"", b"", b"<t>", b""]
    assert strings(rules="sentencepiece") == [b"", b" a", b"", b"", b"<t>", b""]
    raw = strings(rules="sentencepiece", escape_whitespaces=False)
    assert raw == [b"", b"\xe2\x96\x81a", b"a b", b"", b"<t>", b""]


def test_tokens_of_bytes_count_only_when_there_are_all():
    names = [f"<0x{byte:02X}>".encode() for byte in range(256)]
    for n_bytes in (255, 256):
        texts = [b"</s>", *names[:n_bytes]]
        types = np.array([3] + [6] * n_bytes, np.uint8)
        tokens = [b"", *(bytes([byte]) for byte in range(n_bytes))]
        is_special = find_special(types, [0])
        found = byte_tokens(
            freeze_vocabulary(make_table(tokens), make_table(texts), types, is_special, (0,), EncoderData())
        )
        assert (found is None) == (n_bytes < 256)
        assert found is None or found.tolist() == [*range(1, 257)]


def normalizer(rules: dict[bytes, bytes], **fields: bool) -> Normalizer:
    data = EncoderData(kind="ugm", charsmap=read_charsmap(charsmap_bytes(rules)), **fields)
    return Normalizer(from_bytes([b"a", b"<end>"], eos=1, encoder=data))


def test_characters_and_blanks_become_what_the_vocabulary_says():
    rules = {"ﬁ".encode(): b"fi", b"X": b""}
    assert normalizer(rules)("ﬁX  x\u2581".encode()) == b"fi  x "
    both = normalizer(rules, add_space_prefix=True, remove_extra_whitespaces=True)
    assert both("  ﬁX  x ".encode()) == b" fi x"
    assert both(b"") == both(b"  ") == b""
    assert pickle.loads(pickle.dumps(both))(b"X") == both(b"X")


def test_long_texts_and_long_results():
    grows = normalizer({b"a": b"b" * 4000})
    assert grows(b"a" * 200) == b"b" * 800_000
    assert grows(b"c" * 100_000) == b"c" * 100_000
    with pytest.raises(VocabularyError, match="the character map makes the text more than 32 times as long"):
        grows(b"a" * 100_000)


def test_texts_that_are_too_long_are_refused_at_once():
    with pytest.raises(VocabularyError, match="the text has 1000000000000 bytes, the limit is 268435456"):
        next(capacities(10**12))


TOKENS = {"a": -1.0, "b": -1.25, "ab": -1.5, "ba": -1.75, "abab": -2.0, " ": -2.5, " a": -1.5, "日": -3.0}


@pytest.fixture(params=["ugm", "spm"])
def encoder(request: pytest.FixtureRequest) -> PieceEncoder:
    data = EncoderData(kind=request.param, scores=np.array([*TOKENS.values(), 0.0], np.float32), unknown_id=-1)
    vocabulary = from_bytes([*(name.encode() for name in TOKENS), b"<end>"], eos=len(TOKENS), encoder=data)
    return {"ugm": UnigramEncoder, "spm": SpmEncoder}[request.param](vocabulary)


def test_one_room_serves_all_calls_of_a_thread(encoder: PieceEncoder) -> None:
    for text in ("ab", "", "日" * 10, "ab ba" * SHORT_LIST, "ab" * FIRST_CAPACITY, "ba"):
        encoder.encode(text)
    assert len(encoder._rooms) == 1


def test_a_text_does_not_begin_with_the_score_of_the_one_before(encoder: PieceEncoder) -> None:
    # the score that a text ended with stayed in the room, and rounding decided otherwise between cuts of the next one
    assert encoder.encode("aba") == [2, 0]
    records = encoder._rooms[0]._arrays[RoomSlot.RECORDS]
    records[:8].view(np.float64)[0] = -1e16  # beside it all cuts are equal
    assert encoder.encode("aba") == [2, 0]


def test_ids_do_not_depend_on_what_was_encoded_before(encoder: PieceEncoder, rng, scaled) -> None:
    fresh = type(encoder)
    for _ in range(scaled(60)):
        text = "".join(rng.choices(["a", "b", "ab", " ", "日", "abab" * 20], k=rng.randrange(40)))
        expected = fresh(encoder._vocabulary).encode(text)
        assert encoder.encode(text) == encoder.encode(text) == expected


@pytest.mark.parametrize("length", [FIRST_CAPACITY, KEPT_CAPACITY, 20 * KEPT_CAPACITY])
def test_long_texts_get_room_that_is_given_back(encoder: PieceEncoder, length: int) -> None:
    # a text without "bb" is cut between "ab" and "日" whatever surrounds it
    text = "ab日" * (length // 5)
    assert encoder.encode(text) == encoder.encode("ab日") * (length // 5)
    assert encoder._rooms[0].capacity <= KEPT_CAPACITY
    assert encoder.encode("日") == [7]


def test_what_no_token_spells_is_named_by_its_place(encoder: PieceEncoder) -> None:
    for text, place in (("é", 0), ("abé", 2), ("ab" * 200 + "é", 400)):
        with pytest.raises(VocabularyError, match=f"no token spells 'é'.*\n.*character {place} of the text"):
            encoder.encode(text)
    assert encoder.encode("ab") == [2]


def test_threads_have_rooms_of_their_own(encoder: PieceEncoder) -> None:
    texts = ["ab", "ba" * 50, "日ab" * 3000, " a" * 40]
    expected = [encoder.encode(text) for text in texts]
    wrong: list[str] = []

    def work(first: int) -> None:
        for i in range(first, first + 200):
            if encoder.encode(texts[i % 4]) != expected[i % 4]:
                wrong.append(texts[i % 4])

    side_by_side(work, range(4))
    assert wrong == []
    assert 1 <= len(encoder._rooms) <= 4


def test_an_encoder_that_nobody_uses_is_freed_at_once(encoder: PieceEncoder) -> None:
    fresh = type(encoder)(encoder._vocabulary)
    fresh.encode("ab" * SHORT_LIST)
    alive = weakref.ref(fresh._rooms[0]), weakref.ref(fresh)
    del fresh
    assert [found() for found in alive] == [None, None]
