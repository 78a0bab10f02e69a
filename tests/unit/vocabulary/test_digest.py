"""Digests of vocabularies: what they tell apart, and what they do not."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from llmask.vocabulary.digest import token_digest, whole_digest
from llmask.vocabulary.vocabulary import EncoderData, TokenType, Vocabulary, from_bytes

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
    twin = pickle.loads(pickle.dumps(default_tokenizer._parts.vocabulary, protocol))
    assert whole_digest(twin) == whole_digest(default_tokenizer._parts.vocabulary)
    for table in (twin.tokens, twin.texts, twin.encoder.merges, (twin.types, twin.special_ids)):
        assert not any(array.flags.writeable for array in table)
