"""Token bytes, types and end-of-sequence ids of GGUF files; what is wrong is named with byte and field."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from bench.sentencepiece_files import BPE, model_bytes
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary import gguf
from llmask.vocabulary.gguf import read_gguf
from llmask.vocabulary.gguf_section import read_section
from llmask.vocabulary.strings import DAMAGED, CharsMap, StringTable, make_table
from llmask.vocabulary.vocabulary import EncoderData, Vocabulary, from_bytes
from tests.unit.vocabulary.charsmap_files import charsmap_bytes
from tests.unit.vocabulary.gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, write_gguf
from tests.unit.vocabulary.test_gguf_section import message_of
from tests.unit.vocabulary.test_sentencepiece import PIECES


def all_bytes(vocabulary: Vocabulary) -> list[bytes]:
    return list(vocabulary.tokens.strings())


def test_bpe_tokens_lose_the_byte_alphabet(tmp_path):
    tokens = [
        b"<|end|>",
        "Ġthe".encode(),
        "Ċ".encode(),
        "Ã©".encode(),
        "ł".encode(),
        "Ń".encode(),
        b"a b",
        "日".encode(),
    ]
    path = write_gguf(tmp_path / "a.gguf", "gpt2", tokens, [CONTROL] + [NORMAL] * 7, eos_token_id=0)
    # a blank and a Chinese character are not in the alphabet: those texts stand for themselves
    expected = [b"", b" the", b"\n", "é".encode(), b"\xa0", b"\xad", b"a b", "日".encode()]
    assert all_bytes(read_gguf(path)) == expected


def test_every_byte_has_its_character(tmp_path):
    # the definition of GPT-2's bytes_to_unicode
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    character = {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
    tokens = [b"<end>"] + [character[byte].encode() for byte in range(256)]
    path = write_gguf(tmp_path / "a.gguf", "gpt2", tokens, eos_token_id=0)
    assert all_bytes(read_gguf(path)) == [b""] + [bytes([byte]) for byte in range(256)]


@pytest.mark.parametrize("model", ["llama", "t5", "bert"])
def test_other_models_lose_space_marks_and_name_bytes(tmp_path, model):
    tokens = [b"<unk>", b"</s>", b"<0x0A>", b"<0xfF>", "▁the▁".encode(), b"ing", "▁".encode(), b"\xe2\x96"]
    types = [UNKNOWN, CONTROL, BYTE, BYTE, NORMAL, NORMAL, NORMAL, NORMAL]
    vocabulary = read_gguf(write_gguf(tmp_path / "a.gguf", model, tokens, types, eos_token_id=1))
    assert all_bytes(vocabulary) == [b"", b"", b"\n", b"\xff", b" the ", b"ing", b" ", b"\xe2\x96"]
    assert vocabulary.special_ids.tolist() == [0, 1]


def test_types_decide_what_text_can_produce(tmp_path):
    tokens = [b"x", b"<c>", b"<u>", b"<unused>", "<Ġ>".encode(), b""]
    types = [NORMAL, CONTROL, UNKNOWN, UNUSED, USER_DEFINED, NORMAL]
    vocabulary = read_gguf(write_gguf(tmp_path / "a.gguf", "gpt2", tokens, types, eos_token_id=0))
    assert vocabulary.special_ids.tolist() == [0, 1, 2, 3]  # end of sequence is special though its type is NORMAL
    assert all_bytes(vocabulary) == [b"", b"", b"", b"", "<Ġ>".encode(), b""]  # user-defined: the text as it is
    assert vocabulary.texts.get(1) == b"<c>"


def test_several_end_of_sequence_ids_are_found(tmp_path):
    tokens = [b"a", b"<|eot_id|>", b"<|im_end|>", b"</s>", b"<e>", b"<eos>"]
    types = [NORMAL, CONTROL, NORMAL, NORMAL, CONTROL, CONTROL]
    path = write_gguf(tmp_path / "a.gguf", "gpt2", tokens, types, eos_token_id=4, eot_token_id=1)
    # "</s>" is a normal token here, hence text; "<|im_end|>" ends a turn whatever its type
    assert read_gguf(path).eos_ids == (4, 1, 2, 5)
    assert read_gguf(path, eos=[3]).eos_ids == (3,)


def test_gpt_oss_ends_with_return_not_with_end(tmp_path):
    tokens = [b"a", b"<|return|>", b"<|call|>", b"<|end|>"]
    path = write_gguf(tmp_path / "a.gguf", "gpt2", tokens, [NORMAL, CONTROL, CONTROL, CONTROL], eos_token_id=1)
    assert read_gguf(path).eos_ids == (1, 2)


def test_a_separator_ends_bert_sequences(tmp_path):
    path = write_gguf(tmp_path / "a.gguf", "bert", [b"a", b"[SEP]"], [NORMAL, CONTROL], seperator_token_id=1)
    assert read_gguf(path).eos_ids == (1,)


def test_ids_written_for_none_are_none(tmp_path):
    path = write_gguf(tmp_path / "a.gguf", "gpt2", [b"a", b"b"], eos_token_id=1, eot_token_id=2**32 - 1)
    assert read_gguf(path).eos_ids == (1,)


# fields, message, bytes from the end of the field's name to the place that {at} stands for
BAD_FIELDS = [
    (
        {"model": "plamo2", "tokens": [b"a"], "eos_token_id": 0},
        'FILE: the tokenizer model "plamo2" is not supported\n  at byte {at} (tokenizer.ggml.model)\n'
        "  supported are gpt2 (BPE), llama (SPM), t5 (UGM), bert (WPM), gemma4 and rwkv",
        4,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"]},
        "FILE: the file names no end-of-sequence token\n  pass eos=ID or eos=[ID, ...]",
        0,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "eos_token_id": 2},
        "FILE: id 2, but token ids are 0 to 1\n  at byte {at} (tokenizer.ggml.eos_token_id)",
        4,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "eos_token_id": "b"},
        "FILE: an integer is expected\n  at byte {at} (tokenizer.ggml.eos_token_id)",
        4,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "types": [1, 1, 1], "eos_token_id": 0},
        "FILE: 3 token types for 2 tokens\n  at byte {at} (tokenizer.ggml.token_type)",
        16,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "types": [1, 9], "eos_token_id": 0},
        "FILE: token 1 has the unknown type 9\n  at byte {at} (tokenizer.ggml.token_type)",
        20,
    ),
    (
        {"model": "llama", "tokens": [b"a", b"b"], "scores": [0.5], "eos_token_id": 0},
        "FILE: 1 scores for 2 tokens\n  at byte {at} (tokenizer.ggml.scores)",
        16,
    ),
    (
        {"model": "llama", "tokens": [b"a", b"<0xG0>"], "types": [1, 6], "eos_token_id": 0},
        "FILE: token 1 is of type BYTE, but its text is b'<0xG0>', not like '<0x0A>'\n"
        "  at byte {at} (tokenizer.ggml.tokens)",
        16,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "eos_token_id": 0, "merges": 3},
        "FILE: an array is expected\n  at byte {at} (tokenizer.ggml.merges)",
        4,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "eos_token_id": 0, "merges": [1, 2]},
        "FILE: an array of strings is expected\n  at byte {at} (tokenizer.ggml.merges)",
        16,
    ),
    (
        {"model": "gpt2", "tokens": [b"a", b"b"], "eos_token_id": 0, "pre": ["x"]},
        "FILE: a single value is expected, not an array\n  at byte {at} (tokenizer.ggml.pre)",
        16,
    ),
]


@pytest.mark.parametrize(("fields", "message", "distance"), BAD_FIELDS, ids=range(len(BAD_FIELDS)))
def test_bad_fields_are_named(tmp_path, fields, message, distance):
    path = write_gguf(tmp_path / "a.gguf", **fields)
    if "{at}" in message:
        name = message.split("{at} (")[1].split(")")[0].encode()
        message = message.replace("{at}", str(path.read_bytes().index(name) + len(name) + distance))
    has_help = message.count("\n") > 1 or " at byte " not in message
    assert message_of(path) == (message if has_help else f"{message}\n  {DAMAGED}")


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_gguf(tmp_path / "missing.gguf")


def test_tokens_around_a_text_follow_the_file_and_else_its_kind(tmp_path):
    tokens = [b"<s>", b"</s>", b"a"]
    types = [CONTROL, CONTROL, NORMAL]
    ids = {"bos_token_id": 0, "eos_token_id": 1}

    def ends(model: str, **fields: object) -> tuple[tuple[int, ...], tuple[int, ...]]:
        data = read_gguf(write_gguf(tmp_path / "ends.gguf", model, tokens, types, **ids, **fields)).encoder
        return data.prefix_ids, data.suffix_ids

    assert ends("llama") == ((0,), ())
    assert ends("t5") == ((), (1,))
    assert ends("bert") == ((0,), (1,))
    assert ends("gpt2", pre="gpt-2") == ((), ())
    assert ends("gpt2", pre="llama-bpe") == ((0,), ())
    assert ends("gpt2", pre="gpt-2", add_bos_token=True, add_eos_token=True) == ((0,), (1,))
    assert ends("llama", add_bos_token=False) == ((), ())


def test_tokens_of_phi_3_take_the_white_space_behind_them(shared_dir):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / "phi-3.gguf")
    names = [tok.token_name(token) for token in tok._parts.vocabulary.encoder.strip_after]
    assert "<|user|>" in names
    assert "<s>" not in names
    assert tok.encode("<|user|> \n hi", parse_special=True) == tok.encode("<|user|>hi", parse_special=True)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        ("gemma4", {}),
        ("gemma4", {"pre": "default"}),
        ("gpt2", {"pre": "gemma4"}),
        ("gpt2", {"pre": "granite-embed-multi-311m"}),
    ],
)
def test_gemma_merges_characters(tmp_path, model, fields):
    tokens = [b"<bos>", b"<eos>", *(b"<0x%02X>" % byte for byte in range(256))]
    tokens += ["\u2581".encode(), b"a", b"b", "\u2581a".encode(), "\u2581ab".encode(), b"\n", b"\n\n", b"\n\n\n"]
    types = [CONTROL] * 2 + [BYTE] * 256 + [NORMAL] * 8
    merges = ["\u2581 a", "\u2581a b", "\n \n", "\n \u2581a"]
    fields = {**fields, "merges": merges, "bos_token_id": 0, "eos_token_id": 1, "add_space_prefix": True}
    tok = Tokenizer.from_gguf(write_gguf(tmp_path / "a.gguf", model, tokens, types, **fields))
    assert tok.encoder_name == "spm"
    assert tok.encode(" ab\n\n a\u00e9", add_special=True) == [0, 262, 264, 261, 2 + 0xC3, 2 + 0xA9]
    assert tok.encode("a\n\n\nb\n\n\n\n") == [259, 265, 260, 264, 264]
    assert tok.decode(tok.encode(" ab\n\n a\u00e9")) == " ab\n\n a\u00e9"
    tok.save_gguf(tmp_path / "b.gguf")
    again = Tokenizer.from_gguf(tmp_path / "b.gguf")
    for text in (" ab\n\n a\u00e9", "a\n\n\nb", "\n a"):
        assert again.encode(text, add_special=True) == tok.encode(text, add_special=True)
    with pytest.raises(VocabularyError, match="the file has no merges"):
        Tokenizer.from_gguf(write_gguf(tmp_path / "c.gguf", "gemma4", tokens, types, eos_token_id=1))


def test_rwkv_takes_the_longest_token(tmp_path):
    words = [b"\n\n", b" the", b"'s", "\u65e5".encode(), "\u65e5\u672c".encode()[:5], b"\\x"]
    tokens = [b"<s>", *(repr(token)[2:-1].encode() for token in [*(bytes([byte]) for byte in range(256)), *words])]
    types = [CONTROL] + [NORMAL] * (len(tokens) - 1)
    path = write_gguf(tmp_path / "a.gguf", "rwkv", tokens, types, eos_token_id=0, bos_token_id=0, eot_token_id=257)
    tok = Tokenizer.from_gguf(path)
    assert tok.encoder_name == "greedy"
    assert tok.eos_ids == [0]
    assert tok.encode("\n\n the's\u65e5\u672c\\x\n") == [257, 258, 259, 261, 1 + 0xAC, 262, 1 + 10]
    assert tok.decode(tok.encode("\n\n the's\u65e5\u672c\\x\n")) == "\n\n the's\u65e5\u672c\\x\n"
    tok.save_gguf(tmp_path / "b.gguf")
    assert Tokenizer.from_gguf(tmp_path / "b.gguf").encode("\n\n the") == [257, 258]
    with pytest.raises(VocabularyError, match="not finished") as error:
        Tokenizer.from_gguf(
            write_gguf(tmp_path / "c.gguf", "rwkv", [b"<s>", b"\\x"], [CONTROL, NORMAL], eos_token_id=0)
        )
    assert "tokenizer.ggml.tokens" in str(error.value)


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
    gguf.write_gguf(before, tmp_path / "v.gguf")
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
        gguf.write_gguf(before, tmp_path / "v.gguf")
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
    gguf.write_gguf(from_bytes([b"<s>", b"</s>", b"a"], eos=1, special=[0], encoder=data), tmp_path / "v.gguf")
    section = read_section(tmp_path / "v.gguf")
    names = ("bos_token_id", "eos_token_id")
    assert [section.get_integer(f"tokenizer.ggml.{name}") for name in names] == [0, 1]
    assert section.get_flag("tokenizer.ggml.add_bos_token", False)
    assert section.get_flag("tokenizer.ggml.add_eos_token", False)
    assert not any(key.startswith("llmask.encoder.") for key in section.fields)


def test_what_no_file_can_say_is_refused(tmp_path):
    vocabulary = from_bytes(["▁".encode(), b"</s>"], eos=1, encoder=EncoderData(kind="spm", scores=np.zeros(2, "f4")))
    with pytest.raises(VocabularyError) as error:
        gguf.write_gguf(vocabulary, tmp_path / "v.gguf")
    assert str(error.value) == (
        "token 0, b'\\xe2\\x96\\x81', cannot be spelled in a file of this kind\n"
        "  keep the file that it was read from, or the list of tokens"
    )
    with pytest.raises(VocabularyError, match="int is not a path"):
        Tokenizer.from_bytes([b"a", b""], eos=1).save_gguf(3)
