"""Tables read and written from Python by the names that are declared."""

from __future__ import annotations

from typing import Any

import pytest

import llmask


@pytest.fixture
def matcher(byte_tokenizer: Any) -> Any:
    made = llmask.Compiler(byte_tokenizer).regex("(ab)*c").matcher()
    made.accept_bytes(b"a")
    return made


@pytest.fixture
def view(matcher: Any) -> Any:
    """It is there as long as the matcher is."""
    return matcher._sequence.generation.table.view


def test_rows_and_configurations_are_read_by_name(view: Any) -> None:
    row = view.rows[0]
    assert (row.n_scans, row.n_waits) == (1, 0)
    assert not row.accepts
    assert view.row_entries[row.scans].edge < view.n_edges
    assert view.kernels.count >= 1
    assert view.kernels.records[0].length == 6
    assert repr(row).startswith("rows[0](scans=0, n_scans=1, waits=1, n_waits=0, expected=")


def test_flags_are_printed_where_they_are_set(view: Any) -> None:
    row = view.rows[0]
    row.accepts = True
    assert (row.flags, row.accepts, row.tracks) == (1, True, False)
    assert repr(row).endswith("flags=1, accepts)")
    row.accepts = False
    assert row.flags == 0


def test_items_outside_of_a_block_are_refused(view: Any) -> None:
    with pytest.raises(IndexError, match="item -1 of a block with"):
        _ = view.rows[-1]
    with pytest.raises(IndexError, match=r"item 1000000 of a block with \d+"):
        _ = view.rows[1_000_000]
    with pytest.raises(IndexError, match="item 0 of a block with 0"):
        _ = view.crossing_ends[0]  # it was never made


def test_numbers_that_do_not_fit_are_refused(view: Any) -> None:
    with pytest.raises(ArithmeticError, match="does not fit into 32 bits"):
        view.rows[0].start = 1 << 40
    entry = view.row_entries[view.rows[0].scans]
    before = entry.edge
    with pytest.raises(ArithmeticError, match=r"edge = \d+, which is not below n_edges"):
        entry.edge = view.n_edges
    assert entry.edge == before


def test_names_that_nothing_has_are_refused(view: Any) -> None:
    with pytest.raises(AttributeError, match="no slot has the name 'row'"):
        _ = view.row
    with pytest.raises(AttributeError, match="rows have no field 'scan'"):
        _ = view.rows[0].scan
    with pytest.raises(AssertionError, match="rows is no number"):
        view.rows = 3
