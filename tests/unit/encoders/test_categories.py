"""Sets of characters, and the classes that tell them apart."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from llmask.encoders.categories import CATEGORIES, HAN, CharacterSet, Partition, category_runs, one_character, two_level
from llmask.vocabulary.patterns import LLAMA3
from tools.training.train_bpe import split_words


def test_classes_tell_all_sets_apart_and_nothing_else():
    letters, vowels = CharacterSet(("L",)), CharacterSet(ranges=[(ord(c), ord(c)) for c in "aeiou"])
    others = CharacterSet(parts=(letters, one_character(ord("1"))), is_negated=True)
    partition = Partition([letters, vowels, others])
    classes = partition.class_of_code_point()
    assert partition.n_classes == len(set(classes.tolist())) == 4  # vowels, other letters, "1", the rest
    for number, member in enumerate((letters, vowels, others)):
        mask = partition.members[number]
        for character in "aeb1 é日!":
            is_in = {0: character.isalpha(), 1: character in "aeiou", 2: not character.isalpha() and character != "1"}
            assert bool(mask >> int(classes[ord(character)]) & 1) == is_in[number], (member, character)


def test_two_levels_hold_the_same_classes():
    classes = Partition([CharacterSet(ranges=HAN), CharacterSet(("N",))]).class_of_code_point()
    index, blocks = two_level(classes)
    assert (blocks.reshape(-1, 256)[index].reshape(-1) == classes).all()
    assert index[0] == 0


CHANGED = {0x295: 17, 0x1171E: 15, 0x1734: 14, 0x180F: 14, 0x166D: 14}  # in which version they got another category


@pytest.fixture(scope="module")
def categories() -> list[str]:
    """Of every code point."""
    firsts, kinds = category_runs()
    assert len(firsts) == len(kinds) == 4099
    assert (np.diff(firsts) > 0).all()
    return [CATEGORIES[kind] for kind in np.repeat(kinds, np.diff(firsts, append=0x110000)).tolist()]


def test_categories_are_those_of_unicodedata(categories):
    different = []
    for code_point, category in enumerate(categories):
        known = unicodedata.category(chr(code_point))
        if known != category and "Cn" not in (known, category) and code_point not in CHANGED:
            different.append(hex(code_point))
    assert different == []


@pytest.mark.slow
@pytest.mark.parametrize("category", ["Lu", "Ll", "Lo", "Mn", "Mc", "Nd", "Nl", "No", "Po", "Sm", "So", "Cf"])
def test_categories_are_those_of_tiktoken(categories, category):
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("one", pat_str=rf"\p{{{category}}}", mergeable_ranks=ranks, special_tokens={})
    text = "".join(chr(code_point) for code_point in range(0x110000) if not 0xD800 <= code_point < 0xE000)
    found = bytes(encoding.encode_ordinary(text)).decode()  # what does not match is left out
    assert found == "".join(character for character in text if categories[ord(character)] == category)


def test_a_letter_of_unicode_16_is_a_letter():
    # U+1C8A: Python 3.11 knows no such character, and it was split like a mark
    assert split_words((LLAMA3,), "\u1c8a_x") == ["\u1c8a", "_x"]
