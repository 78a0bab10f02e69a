"""Guards from their definition (llmask/grammar/rules.py): the twin of kernels/guards.py.

A run's parameter is a number (its count) or a pair (named members, number of others); 0 stands for the empty set too.

In: rules, a guard, a parameter. Out: the parameter behind it, or None. Cost: no care is taken.
"""

from __future__ import annotations

from collections.abc import Iterable

from llmask.grammar.rules import ADD, ANOTHER, COUNT, GUARD_FIELDS, Rules

Parameter = int | tuple[frozenset[int], int]


def required_members(rules: Rules, place: int) -> frozenset[int]:
    """The members of a set in `rules.required`."""
    n_words = rules.required[place + 1]
    words: Iterable[int] = rules.required[place + 2 : place + 2 + n_words]
    members = frozenset(32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1)
    assert len(members) == rules.required[place]
    return members


def parameter_behind(rules: Rules, guard: int, parameter: Parameter) -> Parameter | None:
    """The parameter behind a guard, or None where it does not let through."""
    if guard == 0:
        return parameter
    kind, *fields = rules.guards[GUARD_FIELDS * guard : GUARD_FIELDS * (guard + 1)]
    if kind == COUNT:
        low, high, add, cap = fields
        assert isinstance(parameter, int)
        return min(parameter + add, cap) if low <= parameter <= high else None
    named, n_others = parameter if isinstance(parameter, tuple) else (frozenset[int](), parameter)
    first, high, place, cap = fields
    required = required_members(rules, place)
    if kind == ADD:
        if first in named:
            return None
        after = (named, n_others + 1) if first == ANOTHER else (named | {first}, n_others)
        if len(after[0]) + after[1] + len(required - after[0]) > high:
            return None
        return parameter if first == ANOTHER and len(named) + n_others >= cap else after
    return (named, n_others) if required <= named and first <= len(named) + n_others <= high else None
