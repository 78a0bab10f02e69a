"""Which of many names occur in a text, by one walk of a double array from each of its bytes.

A vocabulary may have hundreds of added tokens that are looked for in every text. Searching for one after the other
reads the text as often; the walk nearly always ends at the first or second byte, with which no name goes on.

In: the address of a double array, a text. Out: where the first name begins, which names there are. Cost: 1.5 ns a byte,
at most the longest name for each; the caller bounds its length.
"""

from ..machine.jit import door
from ..tables.memory import load_u8
from .double_array import FREE, NOTHING, ROOT, ending_of, longest_token, step


@door("int64(int64, int64, int64)", group="names")
def first_name(entries, text, n_bytes):
    """The first place of the text where a name begins; `n_bytes`: nowhere."""
    for start in range(n_bytes):
        if longest_token(entries, text, start, n_bytes)[0] != NOTHING:
            return start
    return n_bytes


@door("void(int64, int64, int64, int64, uint8[::1])", group="names")
def mark_names(entries, text, start, n_bytes, found):
    """Set `found` uint8, one a name, for the names that occur from `start` on."""
    for first in range(start, n_bytes):
        entry = ROOT
        for place in range(first, n_bytes):
            entry = step(entries, entry, load_u8(text + place))
            if entry == FREE:
                break
            if ending_of(entry) != NOTHING:
                found[ending_of(entry)] = 1
