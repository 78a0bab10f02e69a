"""Guards from their definition (rules.py): the twin of guards.py and called_rules.py.

A run's parameter is a number (its count) or a set; 0 stands for the empty set too.

In: rules, a guard, a parameter. Out: the parameter behind it, or None. Cost: no care is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from llmask.grammar.kinds import ADD, ANOTHER, COUNT, GUARD_FIELDS
from llmask.grammar.rules import Rules


class Members(NamedTuple):
    """A set: members with a number, the number of members with neither number nor text, texts of values."""

    named: frozenset[int] = frozenset()
    n_others: int = 0
    texts: frozenset[bytes] = frozenset()

    @property
    def size(self) -> int:
        return len(self.named) + self.n_others + len(self.texts)


Parameter = int | Members
HasAnother = Callable[[int, frozenset[bytes]], bool]


def members_of(parameter: Parameter) -> Members:
    """The parameter of a run that carries a set."""
    assert parameter == 0 or isinstance(parameter, Members)
    return parameter if isinstance(parameter, Members) else Members()


def required_members(rules: Rules, place: int) -> frozenset[int]:
    """The members of a set in `rules.required`."""
    n_words = rules.required[place + 1]
    words: Iterable[int] = rules.required[place + 2 : place + 2 + n_words]
    members = frozenset(32 * i + bit for i, word in enumerate(words) for bit in range(32) if word >> bit & 1)
    assert len(members) == rules.required[place]
    return members


def parameter_behind(
    rules: Rules, guard: int, parameter: Parameter, text: bytes | None = None, has_another: HasAnother | None = None
) -> Parameter | None:
    """The parameter behind a guard, or None where it does not let through.

    `text`: of the value that the edge takes; it is the member that ANOTHER stands for. `has_another`: whether a rule
    derives a value that is none of some texts.
    """
    if guard == 0 and text is None:
        return parameter
    kind, *fields = rules.guards[GUARD_FIELDS * guard : GUARD_FIELDS * (guard + 1)]
    if kind == COUNT and guard != 0:
        low, high, add, cap = fields
        assert isinstance(parameter, int)
        return min(parameter + add, cap) if low <= parameter <= high else None
    members = members_of(parameter)
    with_text = members if text is None else members._replace(texts=members.texts | {text})
    if guard == 0:
        return with_text
    first, high, place, last = fields
    required = required_members(rules, place)
    if kind == ADD:
        if first in members.named:
            return None
        if first == ANOTHER:
            after = members._replace(n_others=members.n_others + 1) if text is None else with_text
        else:
            after = members._replace(named=members.named | {first})
        if after.size + len(required - after.named) > high:
            return None
        return parameter if first == ANOTHER and text is None and members.size >= last else after
    if not (required <= members.named and first <= members.size <= high):
        return None
    if last and not (has_another is not None and has_another(last - 1, members.texts)):
        return None
    return with_text if text is not None else parameter
