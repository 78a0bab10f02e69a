"""Where tokens end, read from their first byte on."""

from __future__ import annotations

import itertools

import pytest

import llmask
from llmask.canonical.phases import characters_of_tokens, has_others, next_phases, phase_slots, phases_of_tokens
from llmask.kernels.canonical.inside import ENTIRE, OTHER_SORT, PLAIN
from llmask.kernels.canonical.slots import CANON
from llmask.kernels.canonical.sure import ESCAPED, OTHER, WHOLE
from llmask.vocabulary.vocabulary import from_bytes

CASES = [  # bytes, characters, sort
    (b"a", 1, PLAIN),
    ("é日😀".encode(), 3, PLAIN),
    (b'"a', 2, ENTIRE),
    (b"\\n", 2, ENTIRE),
    ("\u2028".encode(), 1, ENTIRE),
    (b"\n", 1, ENTIRE),
    (b"ab\xe2\x82", 3, 0xE2),
    ("é日".encode() + b"\xf1\x80\x80", 3, 0xF1),
    (b"\xf4", 1, 0xF4),
    (b'"\xc3', 2, OTHER_SORT),
    (b"\\", 1, OTHER_SORT),
    (b"x\\u00e9", 7, OTHER_SORT),
    (b"\xa9", 0, OTHER_SORT),
    (b"\xed\xa0", 1, OTHER_SORT),
    (b"\xf4\x90", 1, OTHER_SORT),
    (b"\xc0", 1, OTHER_SORT),
    (b"\xff", 1, OTHER_SORT),
]


def test_sorts_of_tokens() -> None:
    tokenizer = llmask.Tokenizer(from_bytes([*(data for data, _, _ in CASES), b"<end>"], eos=len(CASES)))
    slots = phase_slots(tokenizer)
    for token, (data, characters, sort) in enumerate(CASES):
        assert slots[CANON.token_sorts][token] == sort, data
        assert characters_of_tokens(tokenizer)[token] == characters, data
        assert (token in slots[CANON.not_plain]) == (sort == ENTIRE), data
        assert (token in slots[CANON.half_tokens]) == (sort >= 0xC2), data
        assert (token in slots[CANON.open_tokens]) == (sort == OTHER_SORT), data


@pytest.mark.parametrize("first", [0xC1, 0xC3, 0xE0, 0xE1, 0xED, 0xF0, 0xF2, 0xF4, 0xF5])
def test_phases_are_those_of_utf8(first: int) -> None:
    """All continuations of a first byte: what may begin a character, what is one, and what is no text."""
    table = next_phases()
    rest = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2]
    for length in (0, 1, 2, 3):
        for others in itertools.product(rest, repeat=length):
            data = bytes([first, *others])
            phase = WHOLE
            for byte in data:
                phase = int(table[phase, byte])
            try:
                text, reason = data.decode(), ""
            except UnicodeDecodeError as error:
                text, reason = "", error.reason
            if text:
                assert phase == WHOLE, data
            elif reason == "unexpected end of data":
                assert WHOLE < phase < ESCAPED, data
            else:
                assert phase == OTHER, data


def test_all_tokens_of_a_vocabulary() -> None:
    tokenizer = llmask.Tokenizer.default()
    phases, others = phases_of_tokens(tokenizer, next_phases()), has_others(tokenizer)
    n_inside = 0
    for token in range(tokenizer.vocab_size):
        data = tokenizer.token_bytes(token)
        if b"\\" in data:
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            is_cut_off = error.reason == "unexpected end of data"
            assert (WHOLE < phases[token] < ESCAPED) == is_cut_off, data
            n_inside += is_cut_off
            continue
        assert phases[token] == WHOLE, data
        assert others[token] == any(character < " " or character in '"\x7f\u2028\u2029' for character in text), data
    assert n_inside > 10
