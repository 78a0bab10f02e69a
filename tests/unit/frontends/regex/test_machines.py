"""Rules about characters as machines: minimal, and the same as a walk through the rules."""

from __future__ import annotations

import itertools
import random

from llmask.frontends.regex.machines import DEAD, REFUSED, Kinds, Machine, Rule, machine_of, merged
from llmask.regex.code_points import MAX_CODE_POINT, CodePointSet

SETS = {"a": CodePointSet.of("a"), "vowel": CodePointSet.of("aeé"), "digit": CodePointSet.from_ranges([(0x30, 0x39)])}
ALPHABET = CodePointSet.of("abeé7")


def no_two_a(was_a: bool, kinds: Kinds) -> bool | None:
    return REFUSED if was_a and "a" in kinds else "a" in kinds


def vowels(n: int, kinds: Kinds) -> int:
    return (n + ("vowel" in kinds)) % 2


RULES = [Rule(False, no_two_a), Rule(0, vowels, lambda n: n == 0)]


def accepts(machine: Machine, text: str) -> bool:
    state = 0
    for character in map(ord, text):
        found = [c for low, high, c in machine.pieces if low <= character <= high]
        state = int(machine.next_state[state, found[0]]) if found else DEAD
        if state == DEAD:
            return False
    return bool(machine.accepting[state])


def test_a_machine_is_all_rules_at_once() -> None:
    machine = machine_of(RULES, SETS, ALPHABET)
    for length in range(5):
        for text in map("".join, itertools.product("abeé7c", repeat=length)):
            expected = "c" not in text and "aa" not in text and sum(c in "aeé" for c in text) % 2 == 0
            assert accepts(machine, text) == expected, text


def test_a_machine_is_minimal() -> None:
    """Two rules that say the same need no more states than one, and classes that lead to the same are one."""
    once = machine_of(RULES, SETS, ALPHABET)
    twice = machine_of([*RULES, *RULES], SETS, ALPHABET)
    assert once.next_state.shape == twice.next_state.shape == (4, 3)


def test_what_is_outside_the_alphabet_may_be_taken_for_anything(rng: random.Random) -> None:
    machine = machine_of(RULES, SETS, ALPHABET, refuses_others=False)
    assert machine.pieces[0][0] == 0
    assert machine.pieces[-1][1] == MAX_CODE_POINT
    assert all(one[1] + 1 == two[0] for one, two in itertools.pairwise(machine.pieces))
    inside = machine_of(RULES, SETS, ALPHABET)
    for _ in range(200):
        text = "".join(rng.choices("abeé7", k=6))
        assert accepts(machine, text) == accepts(inside, text), text


def test_pieces_that_touch_and_mean_the_same_are_one() -> None:
    assert merged([(0, 1, 5), (2, 3, 5), (4, 4, 6), (6, 7, 6)]) == ((0, 3, 5), (4, 4, 6), (6, 7, 6))
