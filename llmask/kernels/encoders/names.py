"""Which of many names occur in a text, in one pass.

A vocabulary may have hundreds of added tokens that are looked for in every text. Searching for one after the other
reads the text as often; here a double array of all names is followed from each byte, and nearly always the first or
second byte is none that a name goes on with.

In: the address of a double array, a text. Out: where the first name begins, which names there are. Cost: 1.5 ns a byte,
at most the longest name for each; the caller bounds its length.
"""

from __future__ import annotations

from ..machine.jit import door
from ..tables.memory import load_i64, load_u8
from .double_array import ROOT_BASE, base_of, ending_of, is_child


@door("int64(int64, int64, int64)", group="names")
def first_name(entries, text, n_bytes):
    """Place of the text where a name begins, the first one; `n_bytes`: there is none."""
    for start in range(n_bytes):
        base, place = ROOT_BASE, start
        while place < n_bytes:
            byte = load_u8(text + place)
            entry = load_i64(entries + (base + byte) * 8)
            if not is_child(entry, byte):
                break
            if ending_of(entry) >= 0:
                return start
            base = base_of(entry)
            place += 1
    return n_bytes


@door("void(int64, int64, int64, int64, uint8[::1])", group="names")
def mark_names(entries, text, start, n_bytes, found):
    """Set `found` uint8, one a name, for the names that occur from `start` on."""
    for first in range(start, n_bytes):
        base, place = ROOT_BASE, first
        while place < n_bytes:
            byte = load_u8(text + place)
            entry = load_i64(entries + (base + byte) * 8)
            if not is_child(entry, byte):
                break
            if ending_of(entry) >= 0:
                found[ending_of(entry)] = 1
            base = base_of(entry)
            place += 1
