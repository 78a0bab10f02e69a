"""Compiled access to tables by the names that are declared: the same as from Python, and compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes import fresh_python

PROGRAM = """
import numpy as np

import llmask
from llmask.kernels.machine.jit import door, kernel
from llmask.kernels.machine.views import TableView
from llmask.kernels.tables.memory import as_table, reserve
from llmask.kernels.tables.interning import list_item, map_get, map_put, intern_list
from llmask.kernels.machine.records import Also, Array, Flags, Kind, Lists, Map, Published, Record, Slots
from llmask.kernels.machine.records import Float, Wide, WideFloat


class Sort(Kind):
    ONE = 3
    OTHER = 7


TRY = Slots(
    *("a try", 6),
    n_tried="",
    tried=Record("", sort="", number="< n_tried", flags=Flags(low="", high=""), also=Also("number", "")),
    bytes_tried=Array(8, ""),
    shown=Array(32, Published("")),
    wide=Record("", 64, first="", second=""),
    listed=Lists(""),
    mapped=Map(""),
)


@kernel
def item(items, at):
    return items[at]


@door("int64(int64, int64)", "try")
def run(address, at):
    table = as_table(address)
    table.n_tried = 2
    tried = reserve(table.tried, 5)
    tried[3].sort = Sort.OTHER
    table.tried[3].high = True
    record = table.tried[3]
    record.low = record.high
    record.high = False
    record.also = record.sort - 6
    reserve(table.bytes_tried, 9)[8] = 250
    reserve(table.shown, 4)[1] = -5
    reserve(table.wide, 3)[2].second = 1 << 40
    table.n_tried += 3
    map_put(table.mapped, 5 << 32, 17)
    number = intern_list(table.listed, table.shown.address, 0, 2)
    assert list_item(table.listed, number, 1) == -5
    assert table.listed.count == 1
    assert TRY.wide == table.wide.slot
    assert item(table.shown, 1) == -5
    assert item(table.bytes_tried, 8) == 250
    assert table.wide[2].second == 1 << 40
    assert map_get(table.mapped, 5 << 32) == 17
    assert table.tried[3].sort == Sort.OTHER
    assert record.number == 1 and record.low and not record.high
    return item(table.bytes_tried, at)


PLACE = Record("a place", score=WideFloat(""), token="", share=Float(""), key=Wide(""))


@kernel
def second(places):
    return places[1]


@door("int64(int64)", "try")
def fill_places(address):
    places = PLACE.at(address)
    places.token = -3
    place = second(places)
    place.score = 0.1
    place.share = place.score * 4
    place.key = 1 << 40
    place.token = PLACE.n_bytes
    assert (place.address - address, places.token) == (24, -3)
    assert place[-1].token == -3 and places[1].key == 1 << 40
    places[3] = places[1]
    places[2] = place[-1]
    return places[3].token


memory = np.zeros(96, np.uint8)
assert fill_places(memory.ctypes.data) == 24
places = PLACE.at(memory.ctypes.data)
assert (places[3].score, places[3].share, places[3].key, places[2].token) == (0.1, float(np.float32(0.4)), 1 << 40, -3)
assert PLACE.offset("key") == 16

slots = np.zeros(TRY.n_slots, np.int64)
slots[1], slots[5] = 1 << 20, 1 << 60  # limits of memory and work
address = slots.ctypes.data
assert run(address, 8) == 250
view = TableView(address)
assert repr(view.tried[3]) == "tried[3](sort=7, number=1, flags=1, low)", view.tried[3]
assert (view.n_tried, view.bytes_tried[8], view.shown[1], view.wide[2].second) == (5, 250, -5, 1 << 40)
try:
    run(address, 1 << 20)
except IndexError as error:
    print(error)
"""

MODES = {
    "compiled": {"LLMASK_PREBUILT": "0"},
    "checked": {"LLMASK_CHECK_BOUNDS": "1"},
    "interpreted": {"LLMASK_KERNELS": "python"},
}


@pytest.mark.parametrize("mode", MODES)
def test_kernels_read_and_write_by_name(mode: str, tmp_path: Path, project_root: Path) -> None:
    if mode == "compiled":  # there nothing is checked: the last call would read whatever lies there
        program = PROGRAM.partition("try:\n    run(")[0]
    else:
        program = PROGRAM
    path = tmp_path / "named.py"
    path.write_text(program)
    done = fresh_python(str(path), LLMASK_CACHE_DIR=str(tmp_path / "cache"), **MODES[mode])
    assert done.returncode == 0, done.stderr
    said = {"compiled": "", "checked": "access outside of a block\n", "interpreted": "item 1048576 of a block with"}
    assert done.stdout.startswith(said[mode])
    assert bool(done.stdout) == bool(said[mode])
