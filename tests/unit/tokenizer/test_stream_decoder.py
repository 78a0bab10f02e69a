"""Streams of tokens give the same text as all tokens at once, and no half characters."""

from __future__ import annotations

import pytest

from llmask import StreamDecoder, Tokenizer, VocabularyError


@pytest.fixture
def tok() -> Tokenizer:
    return Tokenizer.from_bytes([b"<end>", b"a\xc3", b"\xa9", b" b", b"\xf0\x9f", b"\x98\x80", b"\xff"], eos=0)


def test_half_characters_wait(tok):
    decoder = StreamDecoder(tok)
    assert [decoder.push(token) for token in (1, 2, 4, 0, 5, 4)] == ["a", "é", "", "", "😀", ""]
    assert decoder.finish() == "\ufffd"
    assert decoder.push(3) == " b"
    with pytest.raises(VocabularyError, match="the argument contains 7"):
        decoder.push(7)


def test_names_of_special_tokens_come_where_they_are_asked_for(tok):
    decoder = StreamDecoder(tok, skip_special=False)
    assert [decoder.push(token) for token in (1, 0, 2, 0)] == ["a", "\ufffd<end>", "\ufffd", "<end>"]


def test_the_blank_that_encoding_adds_is_dropped(llama_spm_tokenizer):
    ids = llama_spm_tokenizer.encode("hi there")
    decoder, continuing = StreamDecoder(llama_spm_tokenizer), StreamDecoder(llama_spm_tokenizer, continues=True)
    assert "".join(map(decoder.push, ids)) == "hi there"
    assert "".join(map(continuing.push, ids)) == " hi there"
    bos = llama_spm_tokenizer.encode("", add_special=True)
    assert "".join(map(StreamDecoder(llama_spm_tokenizer).push, bos + ids)) == "hi there"
    named = StreamDecoder(llama_spm_tokenizer, skip_special=False)
    assert "".join(map(named.push, bos + ids)) == "<s> hi there"


def test_streams_equal_decoding_at_once(tok, llama_spm_tokenizer, rng, scaled):
    for tokenizer in (tok, llama_spm_tokenizer):
        for _ in range(scaled(200)):
            ids = [rng.randrange(tokenizer.vocab_size) for _ in range(rng.randrange(12))]
            ids += [rng.randrange(min(300, tokenizer.vocab_size)) for _ in range(rng.randrange(12))]
            for skips in (True, False):
                decoder = StreamDecoder(tokenizer, skip_special=skips)
                texts = [decoder.push(token) for token in ids]
                assert "".join([*texts, decoder.finish()]) == tokenizer.decode(ids, skip_special=skips)
