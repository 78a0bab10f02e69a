"""Every kind of vocabulary is written as GGUF and reads back as it was."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from bench.sentencepiece_files import BPE, model_bytes
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.charsmap import CharsMap
from llmask.vocabulary.gguf import read_gguf
from llmask.vocabulary.gguf_section import read_section
from llmask.vocabulary.gguf_write import write_gguf
from llmask.vocabulary.strings import StringTable, make_table
from llmask.vocabulary.vocabulary import EncoderData, Vocabulary, from_bytes

from .charsmap_files import charsmap_bytes
from .test_sentencepiece import PIECES

REAL = ["llama-bpe", "qwen2", "llama-spm", "phi-3", "nomic-bert-moe", "bert-bge"]


def comparable(value: object) -> object:
    if isinstance(value, StringTable):
        return [*value.strings()]
    if isinstance(value, CharsMap):
        return value.to_bytes()
    return value.tolist() if isinstance(value, np.ndarray) else value


def assert_same(before: Vocabulary, after: Vocabulary) -> None:
    for name in ("tokens", "types", "special_ids", "eos_ids"):
        assert comparable(getattr(before, name)) == comparable(getattr(after, name)), name
    for field in fields(EncoderData):
        old, new = (comparable(getattr(vocabulary.encoder, field.name)) for vocabulary in (before, after))
        assert old == new, field.name
    for token in before.special_ids.tolist():
        assert before.texts.get(token) == after.texts.get(token)


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_vocabularies(shared_dir, tmp_path, name):
    before = read_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    write_gguf(before, tmp_path / "v.gguf")
    after = read_gguf(tmp_path / "v.gguf")
    assert_same(before, after)
    assert [*before.texts.strings()] == [*after.texts.strings()]


@pytest.mark.parametrize("kind", [1, BPE])
@pytest.mark.parametrize("escapes", [True, False])
def test_sentencepiece_models(tmp_path, kind, escapes):
    block = model_bytes(
        PIECES, kind, charsmap=charsmap_bytes({b"A": b"a"}), treat_whitespace_as_suffix=True, escape_whitespaces=escapes
    )
    (tmp_path / "m.model").write_bytes(block)
    before = Tokenizer.from_sentencepiece(tmp_path / "m.model")
    before.save_gguf(tmp_path / "v.gguf")
    after = Tokenizer.from_gguf(tmp_path / "v.gguf")
    assert_same(before._parts.vocabulary, after._parts.vocabulary)
    for text in ("abA  ▁▁b", "", " ", "x▁▁ a"):
        assert before.encode(text) == after.encode(text)


def test_plain_lists_ranks_and_words(tmp_path):
    tokens = [bytes([byte]) for byte in range(256)] + [b"\xff\x00", " ▁".encode(), b"<0x41>", b"</s>", b"<pad>", b""]
    cases = [
        from_bytes(tokens, eos=[259, 260], special=[260]),
        from_bytes(tokens, eos=259, encoder=EncoderData(kind="ranks", patterns=(r"\p{L}+", "."), ignore_merges=True)),
        from_bytes(
            tokens, eos=259,
            encoder=EncoderData(kind="bpe", merges=make_table([b"a b"]), normalization="NFC", pretokenizer="qwen2"),
        ),
        from_bytes([b" a", b"b", b"?", b"[SEP]"], eos=3, special=[2], encoder=EncoderData(kind="wpm", unknown_id=2)),
        from_bytes([b" a", b"</s>"], eos=1, encoder=EncoderData(kind="wpm", bert_options=(), max_word_characters=9)),
        from_bytes([b"a", b"</s>"], eos=1, encoder=EncoderData(kind="spm", merges=make_table([]))),
        from_bytes([b"a", b"</s>"], eos=1, encoder=EncoderData(kind="ugm", add_space_prefix=True)),
        from_bytes(
            [b"a", b"b", b"ab", b"</s>"], eos=3,
            encoder=EncoderData(kind="spm", merges=make_table([b"a b"]), stops_at_spaces=True),
        ),
    ]  # fmt: skip
    for before in cases:
        write_gguf(before, tmp_path / "v.gguf")
        assert_same(before, read_gguf(tmp_path / "v.gguf"))


ENDS = [
    {},
    {"prefix_ids": (3,)},
    {"suffix_ids": (2,)},  # the end of sequence
    {"prefix_ids": (3,), "suffix_ids": (1,)},
    {"prefix_ids": (3, 3), "suffix_ids": (2, 0)},
]


@pytest.mark.parametrize("kind", ["bpe", "ranks", "spm", "ugm", "wpm", "greedy"])
@pytest.mark.parametrize("ends", ENDS, ids=range(len(ENDS)))
def test_tokens_around_a_text_and_white_space_taken_with_tokens(tmp_path, kind, ends):
    scores = np.zeros(4, np.float32) if kind in ("spm", "ugm") else None
    data = EncoderData(
        kind=kind, scores=scores, pretokenizer="llama-bpe",
        strip_before=(1,), strip_after=(1, 3), whole_words=(2,), **ends,
    )  # fmt: skip
    word = b" a" if kind == "wpm" else b"a"
    before = Tokenizer(from_bytes([word, b"<m>", b"</s>", b"<s>"], eos=2, special=[1, 3], encoder=data))
    before.save_gguf(tmp_path / "v.gguf")
    after = Tokenizer.from_gguf(tmp_path / "v.gguf")
    assert_same(before._parts.vocabulary, after._parts.vocabulary)
    text = "a <m> a"
    method = "exact" if kind == "wpm" else "greedy"
    ids = before.encode(text, parse_special=True, add_special=True, method=method)
    assert ids == after.encode(text, parse_special=True, add_special=True, method=method)
    assert ids[: len(data.prefix_ids)] == [*data.prefix_ids]


def test_other_programs_find_the_tokens_around_a_text(tmp_path):
    data = EncoderData(kind="bpe", merges=make_table([b"a a"]), pretokenizer="gpt-2", prefix_ids=(0,), suffix_ids=(1,))
    write_gguf(from_bytes([b"<s>", b"</s>", b"a"], eos=1, special=[0], encoder=data), tmp_path / "v.gguf")
    section = read_section(tmp_path / "v.gguf")
    names = ("bos_token_id", "eos_token_id")
    assert [section.get_integer(f"tokenizer.ggml.{name}") for name in names] == [0, 1]
    assert section.get_flag("tokenizer.ggml.add_bos_token", False)
    assert section.get_flag("tokenizer.ggml.add_eos_token", False)
    assert not any(key.startswith("llmask.encoder.") for key in section.fields)


def test_what_no_file_can_say_is_refused(tmp_path):
    vocabulary = from_bytes(["▁".encode(), b"</s>"], eos=1, encoder=EncoderData(kind="spm", scores=np.zeros(2, "f4")))
    with pytest.raises(VocabularyError) as error:
        write_gguf(vocabulary, tmp_path / "v.gguf")
    assert str(error.value) == (
        "token 0, b'\\xe2\\x96\\x81', cannot be spelled in a file of this kind\n"
        "  keep the file that it was read from, or the list of tokens"
    )
    with pytest.raises(VocabularyError, match="int is not a path"):
        Tokenizer.from_bytes([b"a", b""], eos=1).save_gguf(3)
