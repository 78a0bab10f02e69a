"""The room that calls work in: kept from call to call, enlarged, given back; one for each thread at work."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest

from llmask.encoders.piece_encoder import FIRST_CAPACITY, KEPT_CAPACITY, PieceEncoder
from llmask.encoders.spm import SpmEncoder
from llmask.encoders.tables import SHORT_LIST
from llmask.encoders.unigram import UnigramEncoder
from llmask.errors import VocabularyError
from llmask.kernels.encoders.piece_slots import RoomSlot
from llmask.vocabulary.vocabulary import EncoderData, from_bytes

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

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 1 <= len(encoder._rooms) <= 4


def test_an_encoder_that_nobody_uses_is_freed_at_once(encoder: PieceEncoder) -> None:
    fresh = type(encoder)(encoder._vocabulary)
    fresh.encode("ab" * SHORT_LIST)
    alive = weakref.ref(fresh._rooms[0]), weakref.ref(fresh)
    del fresh
    assert [found() for found in alive] == [None, None]
