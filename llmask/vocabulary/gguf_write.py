"""A vocabulary as a GGUF file, which reads back as the same vocabulary.

Token texts are written as llama.cpp spells them: in the byte alphabet for BPE, ranks and plain lists, with U+2581 for
blanks for the others. A text that the source spelled so is kept; user-defined and special tokens keep their texts. The
file is read once: what it does not say yet is written under names of our own (`own_fields`). Ranks (tiktoken) are
written without the merges that other programs would need.

In: a vocabulary, a path. Out: a file. Cost: 2 s for 128,256 tokens, in the `gguf` package's writer.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..errors import VocabularyError
from .gguf_section import EOS_IDS, own_fields
from .strings import BYTE_ALPHABET, decode_texts, make_table
from .vocabulary import EncoderData, TokenType, Vocabulary, decoded_types, find_special

MODELS = {"bpe": "gpt2", "ranks": "gpt2", "greedy": "gpt2", "spm": "llama", "ugm": "t5", "wpm": "bert"}
SPACE_MARK = "\u2581".encode()


def write_gguf(vocabulary: Vocabulary, path: str | os.PathLike[str]) -> None:
    """Write a vocabulary without weights.

    Raises
    ------
    VocabularyError : the vocabulary has what no file can say.
    OSError : the file cannot be written.
    """
    from .gguf import read_gguf

    model = MODELS[vocabulary.encoder.kind]
    texts = _spell(vocabulary, model == "gpt2")
    _write(vocabulary, path, model, texts, {})
    extra = own_fields(vocabulary.encoder, read_gguf(path).encoder)
    if extra:
        _write(vocabulary, path, model, texts, extra)


def _write(
    vocabulary: Vocabulary, path: str | os.PathLike[str], model: str, texts: list[bytes], extra: dict[str, Any]
) -> None:
    import gguf

    data = vocabulary.encoder
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    if data.pretokenizer:
        writer.add_tokenizer_pre(data.pretokenizer)
    writer.add_token_list(texts)
    writer.add_token_types(vocabulary.types.tolist())
    if data.scores is not None:
        writer.add_token_scores(data.scores.tolist())
    if data.kind == "bpe" and data.merges is not None:
        writer.add_array("tokenizer.ggml.merges", [*data.merges.strings()])
    if data.kind == "ugm" and data.charsmap is not None:
        writer.add_precompiled_charsmap(data.charsmap.to_bytes())
    if data.unknown_id >= 0:
        writer.add_unk_token_id(data.unknown_id)
    writer.add_eos_token_id(vocabulary.eos_ids[0])
    writer.add_array(EOS_IDS, list(vocabulary.eos_ids))
    _add_ends(writer, data, vocabulary.eos_ids[0])
    writer.add_add_space_prefix(data.add_space_prefix)
    writer.add_remove_extra_whitespaces(data.remove_extra_whitespaces)
    for key, value in extra.items():
        _add(writer, key, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def _add_ends(writer: Any, data: EncoderData, eos_id: int) -> None:
    """Tokens before and behind a text, where the format has words for them: `own_fields` says the rest."""
    if len(data.prefix_ids) == 1:
        writer.add_bos_token_id(data.prefix_ids[0])
    if len(data.suffix_ids) == 1 and data.kind == "wpm":
        writer.add_sep_token_id(data.suffix_ids[0])
        eos_id = data.suffix_ids[0]
    writer.add_add_bos_token(len(data.prefix_ids) == 1)
    writer.add_add_eos_token(data.suffix_ids == (eos_id,))


def _add(writer: Any, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    else:
        writer.add_array(key, value)


def _spell(vocabulary: Vocabulary, byte_alphabet: bool) -> list[bytes]:
    """Texts that `read_gguf` turns into the token bytes again."""
    types = decoded_types(vocabulary.types, vocabulary.encoder)
    is_special = find_special(types, vocabulary.eos_ids)
    tokens, texts = [*vocabulary.tokens.strings()], [*vocabulary.texts.strings()]
    for token in np.flatnonzero((types == TokenType.BYTE) & ~is_special).tolist():
        texts[token] = f"<0x{tokens[token][0]:02X}>".encode()
    for token in _differing(tokens, texts, types, is_special, byte_alphabet):
        texts[token] = _spell_one(tokens[token], byte_alphabet, types[token] == TokenType.USER_DEFINED)
    left = _differing(tokens, texts, types, is_special, byte_alphabet)
    if left:
        raise VocabularyError(
            f"token {left[0]}, {tokens[left[0]][:40]!r}, cannot be spelled in a file of this kind",
            help="keep the file that it was read from, or the list of tokens",
        )
    return texts


def _differing(
    tokens: list[bytes], texts: list[bytes], types: np.ndarray, is_special: np.ndarray, byte_alphabet: bool
) -> list[int]:
    """Tokens whose texts do not read as their bytes."""
    read = decode_texts(make_table(texts), types, is_special, byte_alphabet).strings()
    return [token for token, (data, found) in enumerate(zip(tokens, read, strict=True)) if data != found]


def _spell_one(data: bytes, byte_alphabet: bool, is_user_defined: bool) -> bytes:
    if is_user_defined:
        return data
    if byte_alphabet:
        return "".join(BYTE_ALPHABET[byte] for byte in data).encode()
    return data.replace(b" ", SPACE_MARK)
