"""Declarations of what lies in tables: numbers of slots, fields and flags."""

from __future__ import annotations

import pytest

from llmask.kernels.machine.records import DECLARED, Also, Array, Flags, Lists, Map, Published, Record, Slots
from llmask.kernels.tables.grammar_layout import GRAMMAR
from llmask.kernels.tables.kept import KEPT
from llmask.kernels.tables.kinds import EdgeKind, GuardKind, MaskKind, NodeKind
from llmask.kernels.tables.store_layout import STORE


def test_fields_lie_one_after_the_other_and_other_names_are_the_same_field() -> None:
    record = Record("", first="", second="", flags=Flags(one="", two="", three=""), again=Also("second", ""))
    assert record.places == {"first": 0, "second": 1, "flags": 2, "again": 1}
    assert record.flags == {"one": (2, 1), "two": (2, 2), "three": (2, 4)}
    assert (record.n_fields, record.n_bytes, record.offset("flags")) == (3, 12, 8)
    wide = Record("", 64, first="", second="")
    assert (wide.n_bytes, wide.offset("second")) == (16, 8)


def test_a_flag_and_a_field_have_different_names() -> None:
    with pytest.raises(AssertionError, match="a name is a field or a flag"):
        Record("", first="", flags=Flags(first=""))


def test_fields_say_what_they_are_below_and_which_are_read_without_the_lock() -> None:
    record = Record("", edge="< n_edges", node="< n_nodes: of it", other="row < 5", kind=Published("written last"))
    assert record.limits == {"edge": "n_edges", "node": "n_nodes"}
    assert record.published == {"kind"}
    assert Array(32, Published("")).is_published
    assert not Array(32, "").is_published


def test_slots_are_numbered_in_order_and_know_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.kernels.machine.records.DECLARED", {})
    slots = Slots("a try", 6, n="", items=Array(8, ""), lists=Lists(""), pairs=Map(""), last=Record("", a=""))
    assert (slots.n, slots.items, slots.lists, slots.pairs, slots.last, slots.n_slots) == (6, 7, 8, 12, 15, 16)
    assert slots.blocks == (7, 8, 9, 10, 12, 13, 15)
    assert slots.record("last").slot == "last"
    with pytest.raises(AttributeError, match="no slot has the name 'nothing'"):
        _ = slots.nothing
    with pytest.raises(AssertionError, match="two slots have the name n"):
        Slots("another", 6, n="")


@pytest.mark.parametrize("slots", [STORE, GRAMMAR, KEPT], ids=lambda slots: slots.title)
def test_what_is_declared_is_described(slots: Slots) -> None:
    """Each limit of a field is a number of a table, and each kind is one of those that there are."""
    for name, number in slots.numbers.items():
        slot, declared = DECLARED[name]
        assert slot == number
        if isinstance(declared, Record):
            assert all(DECLARED[limit][1] is None for limit in declared.limits.values())
            assert declared.n_fields <= 16


def test_kinds_are_numbers_without_gaps() -> None:
    for kind in (NodeKind, EdgeKind, GuardKind, MaskKind):
        assert [int(member) for member in kind] == list(range(len(kind)))
