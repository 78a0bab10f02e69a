"""Sets of characters, and the classes that tell them apart."""

from __future__ import annotations

from llmask.encoders.categories import (
    HAN,
    CharacterSet,
    Partition,
    one_character,
    two_level,
)


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
