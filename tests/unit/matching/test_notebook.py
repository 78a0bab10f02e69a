"""A matcher in a notebook shows its text with the properties in colours, and what may come next."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.matching.notebook import MOST_BYTES, by_property, next_tokens_view
from tests.unit.web_page import HOSTILE, texts_of

TOKENIZER = "default_tokenizer"  # of `compiler`


def test_a_text_is_cut_where_another_property_begins() -> None:
    text = b'xy{"a": {"b": [1, "t"]}, "c": true, "d'
    expected = [
        *[(None, b"xy{"), ("/a", b'"a"'), (None, b": {"), ("/a/b", b'"b"'), (None, b": ["), ("/a/b", b"1")],
        *[(None, b", "), ("/a/b", b'"t"'), (None, b"]}, "), ("/c", b'"c"'), (None, b": "), ("/c", b"true")],
        (None, b', "d'),
    ]
    assert by_property(text, 2, 0) == expected
    for first in range(len(text)):
        found = by_property(text, 2, first)
        assert b"".join(data for _, data in found) == text[first:]
    assert by_property(b"", 0, 0) == []
    assert by_property(b"[1", 0, 0) == [(None, b"[1")]


def test_what_a_matcher_shows(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_object().matcher()
    for text in ("", '{"a": {"b": "x', '"}, "c'):
        matcher.accept_bytes(text.encode())
        found = texts_of(matcher._repr_html_())
        assert found[0] == repr(matcher)
        assert matcher.text().decode() in "".join(found)
    assert repr(matcher) == "Matcher(3 tokens, in a key of the object at the root, 2 bytes so far, depth 1)"
    mask = llmask.allocate_bitmask(1, compiler.tokenizer.vocab_size)
    matcher.fill_bitmask(mask)
    n_tokens = int(np.unpackbits(mask.view(np.uint8)).sum())
    assert f"{n_tokens:,} of {compiler.tokenizer.vocab_size:,} tokens may come next" in found


def test_hostile_keys_and_texts_stay_texts(compiler: llmask.Compiler) -> None:
    for text in HOSTILE:
        for document in ({text: [text]}, {"a": {text: {text: text}}}):
            matcher = compiler.json_object().matcher()
            matcher.accept_bytes(json.dumps(document).encode()[:-2])
            assert matcher.text().decode() in "".join(texts_of(matcher._repr_html_()))
    matcher = compiler.regex("(?s).*").matcher()
    matcher.accept_bytes("".join(HOSTILE).encode())
    assert "".join(HOSTILE) in "".join(texts_of(matcher._repr_html_()))


@pytest.mark.long
def test_a_long_text_is_shown_from_near_its_end(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_object().matcher()
    matcher.accept_bytes(json.dumps({f"<{number}>": number for number in range(5000)}).encode())
    shown = matcher._repr_html_()
    assert len(shown) < 60 * MOST_BYTES
    assert texts_of(shown)[1].startswith("...")
    deep = compiler.json_schema({}).matcher()
    deep.accept_bytes(b'{"\\n<b>":' * 3000)
    texts_of(deep._repr_html_())
    assert "\n" not in repr(deep)
    assert len(repr(deep)) < 300


def test_the_state_is_unchanged_and_failures_are_shown(compiler: llmask.Compiler) -> None:
    matcher = compiler.json_object().matcher(on_limit="finish")
    matcher.accept_bytes(b'{"a": ')
    before = matcher._sequence.cell.tobytes()
    matcher._repr_html_()
    assert matcher._sequence.cell.tobytes() == before
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b""], eos=1, special=[])
    stuck = llmask.Compiler(tokenizer).regex("a<").matcher()
    stuck.accept_token(0)
    assert "no mask can be made here" in texts_of(stuck._repr_html_())


@pytest.mark.long
@pytest.mark.parametrize("options", [{"prefix": b"<b>"}, {"stop_tokens": [5]}, {"terminate_at_end": True}])
def test_matchers_of_every_kind(compiler: llmask.Compiler, options: Any) -> None:
    for one in (compiler, llmask.Compiler(compiler.tokenizer, canonical=True)):
        if one is compiler or "stop_tokens" not in options:
            matcher = one.json_object().matcher(**options)
            matcher.accept_bytes(options.get("prefix", b"") + b'{"a')
            assert '{"a' in "".join(texts_of(matcher._repr_html_()))
    limited = compiler.lark("start: a\na[max_tokens=3]: /.*/").matcher()
    texts_of(limited._repr_html_())


def test_tokens_are_counted_by_their_first_byte() -> None:
    tokens = [b"<b>", b"<c", b"a", b"", b"\xf0\x9f", b""]
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=5, special=[3])
    found = texts_of(next_tokens_view(tokenizer, np.arange(6)))
    assert found[0] == "6 of 6 tokens may come next"
    rows = [tuple(found[at : at + 3]) for at in range(4, len(found), 3)]
    assert ("<", "2", "<c  <b>") in rows
    assert ("\\xf0", "1", "\\xf0\\x9f") in rows
    assert any(row[:2] == ("no text", "2") for row in rows)
    texts_of(next_tokens_view(tokenizer, np.arange(0)))
