"""Words are final when a character, not the end of the text, decided on them."""

from __future__ import annotations

import numpy as np

from llmask.counting.final_words import END, NEEDED, TOTAL, FinalWords
from llmask.encoders.tables import address_of

NOTHING = np.empty(0, np.int32)


def test_a_word_is_final_after_the_character_that_ends_it(default_tokenizer):
    encoder = default_tokenizer._parts.word_encoder
    words, text = FinalWords(encoder), b"one two  x"
    for n_bytes, ends in ((3, []), (4, [3]), (7, [3]), (9, [3, 7]), (10, [3, 7, 8])):
        assert words.count(address_of(text), n_bytes, NOTHING) == encoder.count(text[:n_bytes].decode())
        words.rollback(n_bytes)  # nothing to undo: brings the number of rows up to date
        rows = words._rows[: words._n_rows]
        assert rows[:, END].tolist() == ends
        assert (rows[:, NEEDED] <= n_bytes).all()
        assert rows[:, TOTAL].tolist() == [encoder.count(text[:end].decode()) for end in ends]


def test_a_rollback_forgets_what_it_takes_away(default_tokenizer):
    encoder = default_tokenizer._parts.word_encoder
    words, text = FinalWords(encoder), b"one two three"
    assert words.count(address_of(text), len(text), NOTHING) == encoder.count(text.decode())
    words.rollback(7)
    assert words._rows[: words._n_rows, END].tolist() == [3]
    assert words.count(address_of(text), 7, NOTHING) == encoder.count("one two")
