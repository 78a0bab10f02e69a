r"""The table of addresses that compiled encoders take, and the arrays that lie there.

A door takes the address of one int64 array; its slots (`llmask/kernels/encoders/encoder_slots.py`) hold numbers and the
addresses of arrays, which `EncoderTable` keeps alive. Texts are handed over as the address of a `bytes` object's
contents: wrapping it into an array costs more than encoding a short word.

Tokens that no text becomes, because their texts are not spelled as their vocabulary spells texts, are in no table
(`misspelled`):

    byte alphabet   "\u200d" besides "âĢį", which a text becomes: Command R has both, ids 264 and 35927
    space marks     " the" besides "▁the"

An encoder looks for texts in the spelling of the vocabulary, so such a token is never found; another one may have its
bytes all the same, and a model may write it. (A user-defined one is cut out of a text before.) A vocabulary that
was made of bytes has no spelling, which shows in texts that are all bytes themselves.

In: arrays. Out: addresses. Cost: 1 us an array.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from llmask.encoders.pattern_automaton import Automaton
from llmask.forks import cached_property
from llmask.trie.layout import TokenTrie, build_trie
from llmask.vocabulary.strings import StringTable
from llmask.vocabulary.vocabulary import TokenType, Vocabulary

# A bytes object ends with its contents and one NUL; basicsize counts the NUL.
CONTENTS = bytes.__basicsize__ - 1
SHORT_LIST = 100  # shorter lists are made at once
# the remedy where no tokens spell a text
UNSPELLED = "take it out of the text, or use a vocabulary with a token for every byte"
SPACE = 32
MARKED = ("spm", "ugm", "wpm")  # kinds of vocabularies with space marks
# the byte alphabet in UTF-8: U+0021 to U+007E, U+00A1 to U+00AC, U+00AE to U+0143
_FIRST_OUTSIDE, _LAST_LEAD, _LAST_BYTE = 0xC6, 0xC5, 0x83
_LATIN, _FIRST_LATIN, _SOFT_HYPHEN = 0xC2, 0xA1, 0xAD


def address_of(data: bytes) -> int:
    """Where the contents of a bytes object lie; the caller keeps the object alive."""
    return id(data) + CONTENTS


# doors by group (what is compiled or loaded together), each with its module in llmask/kernels/encoders
_DOORS = {
    "tokenizer": {
        "enter_words": "bpe_words",
        "read_merges": "merges_table",
        "list_splits": "merges_table",
        "trace_histories": "bpe_pairs",
        "link_prefixes": "bpe_pairs",
        "encode_text": "bpe_encode",
    },
    "lists": {"fill_list": "lists"},
    "double_array": {"build_double_array": "double_array"},
    "encoders": {
        "encode_text_otherwise": "bpe_encode",
        "encode_texts": "bpe_encode",
        "encode_longest": "bpe_longest",
        "encode_fewest": "bpe_longest",
        "split_text": "pretokenize_scan",
    },
    "merges": {"enter_merges": "merges_table"},
    "names": {"first_name": "double_array", "mark_names": "double_array"},
    "counting": {
        "measure_words": "bpe_incremental",
        "note_places": "bpe_intervals",
        "count_interval": "bpe_intervals",
        "append_bytes": "bpe_append",
    },
}


class Doors:
    """Entry points of the compiled encoders as attributes; a group of them is made ready at the first use of one."""

    def __getattr__(self, name: str) -> Any:
        from ..kernels.machine import jit

        for group, modules in _DOORS.items():
            if name in modules:
                homes = {module: import_module(f"llmask.kernels.encoders.{module}") for module in modules.values()}
                jit.make_ready(group)
                for door, module in modules.items():
                    setattr(self, door, getattr(homes[module], door))
                return self.__dict__[name]
        raise AttributeError(name)


DOORS = Doors()


class IntegerList:
    """The integers from -1 up to `n`, made once: looking up a million of them is quicker than making them."""

    def __init__(self, n: int) -> None:
        self._n = n

    @cached_property
    def _integers(self) -> np.ndarray:
        integers: np.ndarray = np.arange(-1, self._n).astype(object)
        return integers

    def listed(self, ids: np.ndarray) -> list[int]:
        """Ids, int32 and from -1 up to `n`, as a list."""
        found = [0] * len(ids)
        DOORS.fill_list(id(found), self._integers.ctypes.data, ids)  # an array of objects holds their addresses
        return found


class SlotTable:
    """Slots, and the arrays whose addresses they hold.

    Attributes
    ----------
    address : of the slots; what doors take.
    """

    def __init__(self, n_slots: int) -> None:
        self._slots = np.zeros(n_slots, np.int64)
        self._arrays: dict[int, np.ndarray] = {}
        self.address: int = self._slots.ctypes.data

    def put(self, slot: int, array: np.ndarray) -> np.ndarray:
        """Keep an array alive and its address in a slot; returns the array."""
        array = self._arrays[slot] = np.ascontiguousarray(array)
        self._slots[slot] = array.ctypes.data
        return array

    def put_number(self, slot: int, number: int) -> None:
        """Write a number into a slot."""
        self._slots[slot] = number

    def get(self, slot: int) -> np.ndarray:
        """The array of a slot."""
        return self._arrays[slot]


class EncoderTable(SlotTable):
    """The table of an encoder whose texts are split by an automaton, or not at all.

    Attributes
    ----------
    doors : what to call.
    """

    def __init__(self, automaton: Automaton | None) -> None:
        from ..kernels.encoders.encoder_slots import N_ENCODER_SLOTS, EncoderSlot

        super().__init__(N_ENCODER_SLOTS)
        self.doors = DOORS
        if automaton is None:
            return
        self.put(EncoderSlot.CLASS_INDEX, automaton.class_index)
        self.put(EncoderSlot.CLASS_BLOCKS, automaton.class_blocks)
        self.put_number(EncoderSlot.N_CLASSES, automaton.n_classes)
        self.put_number(EncoderSlot.N_PATTERNS, len(automaton.transitions))
        for level, transitions in enumerate(automaton.transitions):
            self.put(EncoderSlot.TRANSITIONS + level, transitions)

    def listed(self, ids: np.ndarray) -> list[int]:
        """Ids as a list."""
        return self._integers.listed(ids) if len(ids) > SHORT_LIST else ids.tolist()

    @cached_property
    def _integers(self) -> IntegerList:
        from ..kernels.encoders.encoder_slots import EncoderSlot

        return IntegerList(len(self.get(EncoderSlot.OFFSETS)) - 1)


def build_double_array(strings: StringTable) -> np.ndarray:
    """Double array of all strings that are not empty; of equal ones the last counts, as in other engines.

    Raises
    ------
    VocabularyError : a string is too long or there are too many (see `build_trie`).
    """
    trie = build_trie(*strings)
    if len(trie.duplicates):
        left = np.ones(strings.n_strings, bool)
        first, other = trie.duplicates.T
        left[first] = False
        left[other[:-1][first[1:] == first[:-1]]] = False
        trie = build_trie(*strings, left)
    return double_array(trie)


def double_array(trie: TokenTrie) -> np.ndarray:
    """int64[n] entries of a trie, as `llmask/kernels/encoders/double_array.py` describes them."""
    from ..kernels.encoders.double_array import NOTHING

    n_entries = 2 * trie.n_nodes + 4096
    arrays = [np.array(array) for array in (trie.node, trie.child_first, trie.child_byte, trie.child_node)]
    slots = np.zeros(trie.n_nodes, np.int32)
    while True:
        entries, next_free = np.zeros(n_entries, np.int64), np.empty(n_entries, np.int32)
        n_used = DOORS.build_double_array(*arrays, entries, next_free, np.zeros(n_entries, bool), slots)
        if n_used != NOTHING:
            used: np.ndarray = entries[:n_used].copy()
            return used
        n_entries *= 2


def misspelled(vocabulary: Vocabulary) -> np.ndarray:
    """bool[n_tokens]: tokens that are never found in a text by the encoder of their vocabulary."""
    data, texts = vocabulary.encoder, vocabulary.texts
    if data.kind == "bpe" and has_spelling(vocabulary):
        return _has_any(texts, _outside_of_alphabet(texts.data))
    if data.kind in MARKED and data.escape_whitespaces and has_spelling(vocabulary):
        is_hidden = _has_any(texts, texts.data == SPACE)
        return is_hidden if data.rules == "llama.cpp" else is_hidden & (vocabulary.types != TokenType.USER_DEFINED)
    return np.zeros(texts.n_strings, bool)


def has_spelling(vocabulary: Vocabulary) -> bool:
    """Whether some token's text is not its bytes."""
    differs = np.diff(vocabulary.texts.offsets) != np.diff(vocabulary.tokens.offsets)
    return bool(differs[vocabulary.types == TokenType.NORMAL].any())


def _outside_of_alphabet(block: np.ndarray) -> np.ndarray:
    """bool[n_bytes]: where in UTF-8 a character is seen that is not in the byte alphabet."""
    before = np.concatenate([np.zeros(1, np.uint8), block[:-1]])
    is_outside: np.ndarray = (block <= SPACE) | (block == 0x7F) | (block >= _FIRST_OUTSIDE)
    is_outside |= (before == _LAST_LEAD) & (block > _LAST_BYTE)
    is_outside |= (before == _LATIN) & ((block < _FIRST_LATIN) | (block == _SOFT_HYPHEN))
    return is_outside


def _has_any(strings: StringTable, is_seen: np.ndarray) -> np.ndarray:
    """bool[n_strings]: strings with a byte that is seen."""
    found = np.zeros(strings.n_strings, bool)
    found[np.searchsorted(strings.offsets[1:], np.flatnonzero(is_seen), side="right")] = True
    return found
