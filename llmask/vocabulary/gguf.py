"""Vocabulary of a GGUF file.

How token bytes come from token texts depends on tokenizer.ggml.model:

    gpt2  (BPE)  byte alphabet undone; a text with a character outside of the alphabet is itself
    llama (SPM)  U+2581 is a blank, <0xNN> of type BYTE one byte
    t5    (UGM)  as SPM
    gemma4       as SPM, with merges in place of scores; gpt2 with one of CHARACTER_MERGES as tokenizer.ggml.pre, too
    rwkv         the longest token at each place; texts have escapes, and the end of a turn is a token of texts, too
    bert  (WPM)  as SPM: llama.cpp writes "▁the" for a token that begins a word and "ing" for one that continues it, so
                 these bytes are b" the" and b"ing". The blank before the first word of a text is a phantom: the encoder
                 puts it there, and decoding a whole text drops it. Punctuation begins a word, too: b" ,".

Types without an entry in the file are NORMAL. A file without any end-of-sequence id gets one from `eos=`; for WPM the
separator token serves, which is what closes a sequence there. Files that `write_gguf` made say more (`own_fields`).

A vocabulary is written so that it reads back as the same. Token texts are written as llama.cpp spells them: in the byte
alphabet for BPE, ranks and plain lists, with U+2581 for blanks for the others. A text that the source spelled so is
kept; user-defined and special tokens keep their texts. The file is read once: what it does not say yet is written under
names of our own. Ranks (tiktoken) are written without the merges that other programs would need.

In: a path. Out: `Vocabulary`, or a file. Cost: 10 ms for the 128,256 tokens of Llama 3, whose merges are copied, and
parsed on first use; to write them 2 s, in the `gguf` package's writer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from llmask.errors import VocabularyError
from llmask.kernels.machine.constants import MAX_VOCAB_SIZE
from llmask.vocabulary.gguf_section import EOS_IDS, Section, own_fields, read_block, read_own_fields, read_section
from llmask.vocabulary.patterns import CHARACTER_MERGES
from llmask.vocabulary.strings import BYTE_ALPHABET, StringTable, decode_texts, make_table, unescape_texts
from llmask.vocabulary.vocabulary import (
    EncoderData,
    TokenType,
    Vocabulary,
    check_ids,
    chosen_ends,
    decoded_types,
    find_end_ids,
    find_special,
    freeze_vocabulary,
)

KINDS = {"gpt2": "bpe", "llama": "spm", "t5": "ugm", "bert": "wpm", "gemma4": "spm", "rwkv": "greedy"}
PREFIX = "tokenizer.ggml."
END_FIELDS = ("eos_token_id", "eot_token_id", "eom_token_id")
STRIPPED_MASKS = ("jina-v2-de", "jina-v2-es", "jina-v2-code")
# pre-tokenizers for which llama.cpp takes a whole word that is a token, without merging
IGNORE_MERGES = (
    "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano", "tekken",
    "youtu", "minicpm5", "granite-embed-multi-97m",
)  # fmt: skip
# among them those whose texts do not begin with the token for it, unless the file says so
BEGIN_OTHERWISE = ("youtu", "minicpm5", "granite-embed-multi-97m")
MODELS = {"bpe": "gpt2", "ranks": "gpt2", "greedy": "gpt2", "spm": "llama", "ugm": "t5", "wpm": "bert"}
SPACE_MARK = "\u2581".encode()


def read_gguf(path: str | os.PathLike[str], eos: int | Iterable[int] | None = None) -> Vocabulary:
    """Vocabulary of a GGUF file, with or without weights.

    Parameters
    ----------
    path : the file.
    eos : ids that end a sequence, instead of those the file declares.

    Raises
    ------
    VocabularyError : the file is corrupt or has no vocabulary of a known kind; says at which byte and field.
    OSError : the file cannot be opened.
    """
    section = read_section(path)
    model = section.get_text(PREFIX + "model", "")
    if model not in KINDS:
        field = section.fields.get(PREFIX + "model")
        raise section.error(
            f'the tokenizer model "{model}" is not supported' if model else "the file has no tokenizer",
            field.start if field else 0, PREFIX + "model",
            help="supported are gpt2 (BPE), llama (SPM), t5 (UGM), bert (WPM), gemma4 and rwkv",
        )  # fmt: skip
    pretokenizer = model if model in CHARACTER_MERGES else section.get_text(PREFIX + "pre", "")
    has_character_merges = model == "gemma4" or (model == "gpt2" and pretokenizer in CHARACTER_MERGES)
    kind = "spm" if has_character_merges else KINDS[model]
    texts = section.get_strings(PREFIX + "tokens")
    if texts is None or texts.n_strings == 0:
        raise section.error("the file has no tokens", 0, PREFIX + "tokens")
    if texts.n_strings > MAX_VOCAB_SIZE:
        position = section.fields[PREFIX + "tokens"].start
        raise section.error(f"{texts.n_strings} tokens, the limit is {MAX_VOCAB_SIZE}", position, PREFIX + "tokens")
    types = _read_types(section, texts.n_strings)
    missing = f"{section.path}: the file names no end-of-sequence token"
    eos_ids = chosen_ends(eos, texts.n_strings, lambda: _find_eos(section, texts, types), missing)
    is_special = find_special(types, eos_ids)
    encoder = _read_encoder(section, kind, texts, types)
    if has_character_merges:
        encoder = _with_character_merges(section, encoder, pretokenizer, texts.n_strings)
    encoder = replace(encoder, **read_own_fields(section, texts.n_strings))
    try:
        if model == "rwkv":
            tokens = unescape_texts(texts, is_special)
        else:
            tokens = decode_texts(texts, decoded_types(types, encoder), is_special, byte_alphabet=kind == "bpe")
    except VocabularyError as error:
        raise section.error(error.message, section.fields[PREFIX + "tokens"].start, PREFIX + "tokens") from None
    return freeze_vocabulary(tokens, texts, types, is_special, eos_ids, encoder)


def _with_character_merges(section: Section, data: EncoderData, pretokenizer: str, n_tokens: int) -> EncoderData:
    """As llama.cpp has it: no blank is put before a text, and the token that begins one always is."""
    merges = section.get_strings(PREFIX + "merges")
    if merges is None:
        raise section.error("the file has no merges", 0, PREFIX + "merges")
    begin = _read_id(section, "bos_token_id", n_tokens)
    return replace(
        data,
        pretokenizer=pretokenizer,
        merges=merges,
        scores=None,
        add_space_prefix=False,
        prefix_ids=() if begin is None else (begin,),
        suffix_ids=data.suffix_ids if section.get_flag(PREFIX + "add_eos_token", False) else (),
    )


def _read_types(section: Section, n_tokens: int) -> np.ndarray:
    key = PREFIX + "token_type"
    numbers = section.get_numbers(key, ("INT32", "UINT32"), np.int64)
    if numbers is None:
        return np.full(n_tokens, TokenType.NORMAL, np.uint8)
    position = section.fields[key].start
    _check_length(section, numbers, n_tokens, "token types", key)
    is_known = (numbers >= 0) & (numbers <= max(TokenType))
    if not is_known.all():
        token = int(np.argmin(is_known))
        raise section.error(f"token {token} has the unknown type {numbers[token]}", position + 4 * token, key)
    return numbers.astype(np.uint8)


def _check_length(section: Section, values: np.ndarray, n_tokens: int, what: str, key: str) -> None:
    if len(values) != n_tokens:
        raise section.error(f"{len(values)} {what} for {n_tokens} tokens", section.fields[key].start, key)


def _find_eos(section: Section, texts: StringTable, types: np.ndarray) -> tuple[int, ...]:
    """The ids that a file declares as ends of sequence, and well-known names."""
    if EOS_IDS in section:
        listed = section.get_numbers(EOS_IDS, ("INT32", "UINT32"), np.int64)
        return check_ids(listed.tolist() if listed is not None else (), texts.n_strings, EOS_IDS)
    names = END_FIELDS[:1] if section.get_text(PREFIX + "model", "") == "rwkv" else END_FIELDS
    declared = [_read_id(section, name, texts.n_strings) for name in names]
    ids = find_end_ids([i for i in declared if i is not None], texts.find, types)
    separator = _read_id(section, "seperator_token_id", texts.n_strings)  # the specification spells it so
    return (separator,) if not ids and separator is not None else ids


def _read_id(section: Section, name: str, n_tokens: int) -> int | None:
    token = section.get_integer(PREFIX + name)
    if token is None or token in (-1, 2**32 - 1):  # both are written for "none"
        return None
    if not 0 <= token < n_tokens:
        position = section.fields[PREFIX + name].start
        raise section.error(f"id {token}, but token ids are 0 to {n_tokens - 1}", position, PREFIX + name)
    return token


def _read_ends(
    section: Section, kind: str, pretokenizer: str, n_tokens: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens before and after a text; where the file does not say, what llama.cpp does for its kind."""
    begins = kind in ("spm", "wpm") or pretokenizer == "chameleon"
    begins |= pretokenizer in IGNORE_MERGES and pretokenizer not in BEGIN_OTHERWISE
    ends = kind in ("ugm", "wpm")
    names: list[tuple[str, ...]] = [("bos_token_id",), ("eos_token_id",)]
    if kind == "wpm":
        names = [("cls_token_id", "bos_token_id"), ("seperator_token_id", "eos_token_id")]
    found: list[tuple[int, ...]] = []
    for flag, default, candidates in zip(("add_bos_token", "add_eos_token"), (begins, ends), names, strict=True):
        ids = [_read_id(section, name, n_tokens) for name in candidates]
        known = tuple(token for token in ids if token is not None)[:1]
        found.append(known if section.get_flag(PREFIX + flag, default) else ())
    return found[0], found[1]


def _find_stripping(
    section: Section, pretokenizer: str, texts: StringTable, types: np.ndarray
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Tokens that take white space with them. The format has no field for it: llama.cpp goes by the model's name."""
    before = texts.find(b"<mask>") if pretokenizer in STRIPPED_MASKS else -1
    after: list[int] = []
    if any(name in section.get_text("general.name", "").lower() for name in ("phi-3", "phi3")):
        kept = {texts.find(name) for name in (b"<unk>", b"<s>", b"<|endoftext|>")}
        special = np.isin(types, (TokenType.CONTROL, TokenType.USER_DEFINED, TokenType.UNKNOWN))
        after = sorted({*np.flatnonzero(special).tolist(), texts.find(b"</s>")} - kept - {-1})
    return (() if before < 0 else (before,)), tuple(after)


def _read_encoder(section: Section, kind: str, texts: StringTable, types: np.ndarray) -> EncoderData:
    n_tokens = texts.n_strings
    # files from before there were names: llama.cpp splits as "default" says
    pretokenizer = section.get_text(PREFIX + "pre", "default" if kind == "bpe" else "")
    scores = section.get_numbers(PREFIX + "scores", ("FLOAT32",), np.float32)
    if scores is not None:
        _check_length(section, scores, n_tokens, "scores", PREFIX + "scores")
    if scores is not None and kind in ("spm", "ugm") and not np.isfinite(scores).all():
        token = int(np.argmin(np.isfinite(scores)))
        position = section.fields[PREFIX + "scores"].start + 4 * token
        raise section.error(f"the score of token {token} is not a number", position, PREFIX + "scores")
    unknown_id = _read_id(section, "unknown_token_id", n_tokens)
    prefix_ids, suffix_ids = _read_ends(section, kind, pretokenizer, n_tokens)
    strip_before, strip_after = _find_stripping(section, pretokenizer, texts, types)
    return EncoderData(
        kind=kind,
        pretokenizer=pretokenizer,
        merges=section.get_strings(PREFIX + "merges") if kind == "bpe" else None,
        scores=scores,
        ignore_merges=pretokenizer in IGNORE_MERGES,
        add_space_prefix=section.get_flag(PREFIX + "add_space_prefix", kind in ("spm", "ugm")),
        unknown_id=-1 if unknown_id is None else unknown_id,
        prefix_ids=prefix_ids,
        suffix_ids=suffix_ids,
        strip_before=strip_before,
        strip_after=strip_after,
        charsmap=read_block(section, PREFIX + "precompiled_charsmap") if kind == "ugm" else None,
        remove_extra_whitespaces=kind == "ugm" and section.get_flag(PREFIX + "remove_extra_whitespaces", False),
    )


def write_gguf(vocabulary: Vocabulary, path: str | os.PathLike[str]) -> None:
    """Write a vocabulary without weights.

    Raises
    ------
    VocabularyError : the vocabulary has what no file can say.
    OSError : the file cannot be written.
    """
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
    """Tokens before and after a text, where the format has words for them: `own_fields` says the rest."""
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
