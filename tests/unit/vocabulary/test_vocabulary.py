"""Vocabularies from lists of bytes, and the messages of wrong lists."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.vocabulary import TokenType, check_ids, count_ids, find_special, from_bytes


def test_holes_between_ids_are_few():
    assert count_ids([0, 7], "it") == 8
    for ids, message in (
        ([], "it has no tokens\n  give at least one"),
        (
            [3, 100_003],
            "it has 2 tokens, but one of them has the id 100003\n"
            "  mend this id: ids count from 0, with few between them that are unused",
        ),
        ([-1], "it contains -1, but token ids are 0 to 2097149\n  give an id in this range"),
    ):
        with pytest.raises(VocabularyError) as error:
            count_ids(ids, "it")
        assert str(error.value) == message


def test_special_tokens_have_names_but_no_bytes():
    vocabulary = from_bytes([b"<end>", b"a", b"<s>", b"b", b"<end2>"], eos=[4, 0], special=[2])
    assert list(vocabulary.tokens.strings()) == [b"", b"a", b"", b"b", b""]
    assert vocabulary.texts.get(2) == b"<s>"
    assert vocabulary.eos_ids == (4, 0)
    assert vocabulary.special_ids.tolist() == [0, 2, 4]
    assert vocabulary.types.tolist() == [3, 1, 3, 1, 3]


def test_ids_may_be_numpy_numbers_and_repeat():
    vocabulary = from_bytes([b"a", b"b"], eos=np.int64(1), special=np.array([1, 1]))
    assert vocabulary.eos_ids == (1,)
    assert vocabulary.special_ids.tolist() == [1]


def test_types_that_text_never_produces():
    types = np.arange(7, dtype=np.uint8)
    special = [TokenType(i).name for i in np.flatnonzero(find_special(types, []))]
    assert special == ["UNKNOWN", "CONTROL", "UNUSED"]


BAD_LISTS = [
    (([], 0), "the vocabulary has no tokens\n  give at least one token, and one that ends a sequence"),
    (([b"a", "b"], 0), 'token 1 is str, not bytes\n  encode it: "text".encode("utf-8")'),
    (([b"a"], 1), "eos contains 1, but token ids are 0 to 0\n  give an id in this range"),
    (([b"a"], -1), "eos contains -1, but token ids are 0 to 0\n  give an id in this range"),
    (([b"a"], True), "eos contains True, which is not a token id\n  give the id of the token, an int"),
    (([b"a"], [0, "x"]), "eos contains 'x', which is not a token id\n  give the id of the token, an int"),
    (([b"a"], 0.5), "eos is float, not an id or a list of ids\n  give an int, or a list of ints"),
    (
        ([b"a"], []),
        "no end-of-sequence id is given, so nothing could ever end\n  pass eos=ID or eos=[ID, ...]",
    ),
    (([b"a", b"b"], 0, [7]), "special contains 7, but token ids are 0 to 1\n  give an id in this range"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_LISTS, ids=range(len(BAD_LISTS)))
def test_bad_lists_are_named(arguments, message):
    with pytest.raises(VocabularyError) as error:
        from_bytes(*arguments)
    assert str(error.value) == message


def test_check_ids_keeps_the_order_and_drops_repeats():
    assert check_ids([3, 1, 3], 4, "ids") == (3, 1)
