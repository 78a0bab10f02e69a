"""Token bytes, types and end-of-sequence ids of GGUF files; what is wrong is named with byte and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.gguf import read_gguf
from llmask.vocabulary.strings import DAMAGED
from llmask.vocabulary.vocabulary import Vocabulary

from .gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED, write_gguf


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


def message_of(path: Path) -> str:
    with pytest.raises(VocabularyError) as error:
        read_gguf(path)
    return str(error.value).replace(str(path), "FILE")


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
