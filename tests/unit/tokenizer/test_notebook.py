"""Views are well-formed HTML of bounded length, and what comes from outside is text in them."""

from __future__ import annotations

import llmask
from llmask.tokenizer.notebook import MOST_PIECES, MOST_ROWS, MOST_TEXT, escaped, folded, piece_text, table
from tests.unit.web_page import HOSTILE, texts_of


def test_texts_are_escaped_and_cut() -> None:
    for text in HOSTILE:
        assert texts_of(f"<div>{escaped(text)}</div>") == [text]
        assert texts_of(f'<div title="{escaped(text)}">x</div>') == ["x"]
    assert escaped("a\x00\u202e\ud83d\n") == "a\\x00\\u202e\\ud83d\n"
    assert escaped("a" * 400) == "a" * 300 + "..."
    assert escaped("&" * 10, 2) == "&amp;&amp;..."


def test_pieces_show_blanks_and_bytes_that_are_no_text() -> None:
    assert [piece_text(data) for data in (b" a\n", b"\xf0\x9f", "é".encode())] == ["␣a\\n", "\\xf0\\x9f", "é"]


def test_tables_and_folded_texts_end() -> None:
    shown = table(("a",), [(str(number),) for number in range(MOST_ROWS + 5)])
    assert shown.endswith("... and 5 more</div>")
    assert len(texts_of(shown)) == MOST_ROWS + 2
    assert len(folded("t", "x" * 10 * MOST_TEXT)) < MOST_TEXT + 100


def test_a_tokenizer_shows_pieces_from_all_over_its_vocabulary() -> None:
    default = llmask.Tokenizer.default()
    shown = default._repr_html_()
    found = texts_of(shown)
    assert repr(default) == found[0]
    assert f"{default.vocab_size:,} in all" in found[1]
    assert MOST_PIECES // 2 < len(found) <= MOST_PIECES + 2
    assert len(shown) < 50_000
    small = llmask.Tokenizer.from_bytes([text.encode() for text in HOSTILE] + [b"", b""], eos=len(HOSTILE), special=[])
    for text in HOSTILE:
        assert piece_text(text.encode())[:40] in "".join(texts_of(small._repr_html_()))
