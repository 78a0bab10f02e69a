"""Vocabularies from lists of bytes, and the messages of wrong lists."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.vocabulary import (
    CONTROL_END_NAMES,
    END_NAMES,
    EncoderData,
    TokenType,
    Vocabulary,
    check_ids,
    count_ids,
    find_end_ids,
    find_special,
    from_bytes,
    token_digest,
    whole_digest,
)


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


def find(tokens: list[bytes], declared: list[int] = (), kind: TokenType = TokenType.CONTROL) -> tuple[int, ...]:
    return find_end_ids(declared, lambda text: tokens.index(text) if text in tokens else -1, lambda token: kind)


def test_declared_ids_come_first_and_once():
    assert find([b"a", b"<|eot_id|>", b"b"], [2, 1]) == (2, 1)


def test_every_well_known_name_is_found():
    for name in END_NAMES:
        assert find([b"a", name], kind=TokenType.NORMAL) == (1,)
    for name in CONTROL_END_NAMES:
        assert find([b"a", name]) == (1,)
        assert find([b"a", name], kind=TokenType.USER_DEFINED) == ()


def test_end_of_message_does_not_end_a_gpt_oss_turn():
    assert find([b"<|end|>", b"<|call|>", b"<|return|>"]) == (2, 1)
    assert find([b"<|end|>", b"<|call|>"]) == (0, 1)


TOKENS = [b"a", b"bc", b"<s>", b"</s>", b"b", b"c"]


def vocabulary(tokens: Any = TOKENS, eos: Any = 3, special: Any = (2,), encoder: Any = None) -> Vocabulary:
    return from_bytes(tokens, eos, special, encoder)


OTHERS = {
    "another token": vocabulary([b"A", *TOKENS[1:]]),
    "bytes that lie in another token": vocabulary([b"ab", b"c", *TOKENS[2:]]),
    "another order": vocabulary([b"bc", b"a", *TOKENS[2:]]),
    "another name of a special token": vocabulary([*TOKENS[:2], b"<t>", *TOKENS[3:]]),
    "no special token": vocabulary(special=()),
    "another end of sequence": vocabulary(eos=2, special=(3,)),
    "two ends of sequence": vocabulary(eos=(3, 2)),
    "a token more": vocabulary([*TOKENS, b""]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_changes_a_mask_changes_the_digests(name: str) -> None:
    assert token_digest(OTHERS[name]) != token_digest(vocabulary())
    assert whole_digest(OTHERS[name]) != whole_digest(vocabulary())


def test_ids_that_no_token_has_are_told_from_special_ones() -> None:
    types = np.full(len(TOKENS), TokenType.NORMAL, np.uint8)
    types[[2, 3]] = TokenType.UNUSED, TokenType.CONTROL
    unused = dataclasses.replace(vocabulary(), types=types)
    assert token_digest(unused) != token_digest(vocabulary())


def test_the_encoder_is_no_matter_of_grammars() -> None:
    other = vocabulary(encoder=EncoderData(kind="ranks", patterns=("a+",)))
    assert token_digest(other) == token_digest(vocabulary())
    assert whole_digest(other) != whole_digest(vocabulary())
    assert whole_digest(vocabulary(encoder=EncoderData(patterns=("a", "b")))) != whole_digest(
        vocabulary(encoder=EncoderData(patterns=("a', 'b",)))
    )


def test_the_order_of_the_ends_is_no_matter_of_grammars() -> None:
    assert token_digest(vocabulary(eos=(3, 2))) == token_digest(vocabulary(eos=(2, 3)))


def test_digests_are_the_same_in_another_process(project_root: Any) -> None:
    script = (
        "from tests.unit.vocabulary.test_digest import *\nprint(token_digest(vocabulary()), whole_digest(vocabulary()))"
    )
    found = subprocess.run([sys.executable, "-c", script], cwd=project_root, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [token_digest(vocabulary()), whole_digest(vocabulary())]
    assert all(len(digest) == 64 for digest in found.stdout.split())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_vocabulary_is_read_only_where_it_arrives(default_tokenizer: Any, protocol: int) -> None:
    # arrays come out of a pickle writable, and compiled code reads them by their addresses
    twin = pickle.loads(pickle.dumps(default_tokenizer.vocabulary, protocol))
    assert whole_digest(twin) == whole_digest(default_tokenizer.vocabulary)
    for table in (twin.tokens, twin.texts, twin.encoder.merges, (twin.types, twin.special_ids)):
        assert not any(array.flags.writeable for array in table)
