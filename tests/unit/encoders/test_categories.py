"""Sets of characters, and the classes that tell them apart."""

from __future__ import annotations

import unicodedata

import numpy as np

from llmask.encoders.categories import (
    CATEGORIES,
    HAN,
    CharacterSet,
    Partition,
    category_runs,
    one_character,
    two_level,
)


def test_runs_are_those_of_unicodedata():
    firsts, kinds = category_runs()
    assert (np.diff(firsts) > 0).all()
    for code_point in (*range(0x3000), 0x4E00, 0x1F600, 0x3FFFF, 0x40000, 0xDFFFF, 0xE0001, 0xF0000, 0xFFFFE, 0x10FFFF):
        kind = CATEGORIES[kinds[np.searchsorted(firsts, code_point, side="right") - 1]]
        assert kind == unicodedata.category(chr(code_point)), hex(code_point)


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
