"""Vocabulary of a Hugging Face tokenizer: tokenizer.json, its folder, or an object that holds one.

The JSON is read directly, so neither transformers nor tokenizers has to be installed. Spellings and encoders:

    BPE with a ByteLevel part   byte alphabet; words split by the file's own patterns
    BPE with byte fallback      SentencePiece: U+2581 is a blank, <0xNN> one byte
    Unigram                     as above
    WordPiece                   "##ing" is b"ing", other tokens begin a word and get a blank: b" the", as in GGUF files

What its normalizer and pre-tokenizer do, as far as our encoders can do it too (`Steps`):

    Precompiled                       character map of SentencePiece; tokenizers looks at whole graphemes first, here
                                      the longest rule counts, as in SentencePiece itself
    NFC, NFD, NFKC, NFKD              Unicode form
    Prepend, Replace " " by U+2581    blanks as SentencePiece marks them
    Strip and Replace " {2,}"         extra blanks go
    WhitespaceSplit                   words; each gets its blank; where a character map makes all white space blanks
    Metaspace                         a blank before the text, unless it has one; words where it splits
    BertNormalizer, BertPreTokenizer  see `llmask/encoders/wordpiece.py`
    ByteLevel and what splits for it  the file's own patterns; a blank before the text, unless it has one

Any other part, and these in another order, makes the steps unknown: the vocabulary is encoded by longest match then.

Added tokens are special or user-defined (`"special": true` or not); ids that no token has are UNUSED. End-of-sequence
ids come from tokenizer_config.json, generation_config.json and config.json next to the file, or from the object, and
from well-known names.

In: a path or an object. Out: `Vocabulary`. Cost: 0.3 s for 128,256 tokens, most of it parsing JSON.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from llmask.arguments import as_path
from llmask.errors import VocabularyError
from llmask.vocabulary.patterns import DIGIT, DIGITS, GPT2
from llmask.vocabulary.strings import DAMAGED, CharsMap, StringTable, decode_texts, make_table, read_charsmap
from llmask.vocabulary.vocabulary import (
    NORMALIZATIONS,
    EncoderData,
    Normalization,
    TokenType,
    Vocabulary,
    check_ids,
    chosen_ends,
    count_ids,
    find_end_ids,
    find_special,
    freeze_vocabulary,
)

Json = dict[str, Any]
MARK = "\u2581"
BERT_FLAGS = ("clean_text", "handle_chinese_chars", "lowercase")
BYTE_NAME = re.compile(r"<0x[0-9A-Fa-f]{2}>")


@dataclass
class Steps:
    """What happens to a text before the model; `is_known` says whether that is all of it.

    splits_pieces : parts that cut words otherwise than at blanks, which is for byte-level vocabularies.
    spells_bytes : the byte alphabet of byte-level vocabularies.
    marks_blanks : U+2581 in place of blanks, as in SentencePiece.
    """

    normalization: Normalization = ""
    charsmap: CharsMap | None = None
    add_space_prefix: bool = False
    space_prefix_once: bool = False
    remove_extra_whitespaces: bool = False
    stops_at_spaces: bool = False
    bert_options: tuple[str, ...] | None = None
    splits_pieces: bool = False
    spells_bytes: bool = False
    marks_blanks: bool = False
    is_known: bool = True


def parts_of(part: Json | None) -> Iterator[Json]:
    """A pre-tokenizer, normalizer or decoder, with sequences taken apart."""
    if not part:
        return
    inner = part.get("pretokenizers") or part.get("normalizers") or part.get("decoders")
    if part.get("type") == "Sequence" and inner is not None:
        for entry in inner:
            yield from parts_of(entry)
    else:
        yield part


def read_steps(document: Json) -> Steps:
    """Steps of a tokenizer.json.

    Raises
    ------
    VocabularyError : a character map that is corrupt.
    """
    steps = Steps()
    strips = merges = prepends = False
    for part in parts_of(document.get("normalizer")):
        name = part.get("type")
        pattern = part.get("pattern") or {}
        if name in NORMALIZATIONS and not steps.normalization:
            steps.normalization = NORMALIZATIONS[name]
        elif name == "Precompiled" and steps.charsmap is None:
            steps.charsmap = _charsmap(part.get("precompiled_charsmap"))
        elif name == "Prepend" and part.get("prepend") == MARK:
            steps.add_space_prefix = prepends = True
        elif name == "Replace" and pattern.get("Regex") == " {2,}" and part.get("content") in (" ", MARK):
            merges = True
        elif name == "Strip" and part.get("strip_right", part.get("right")):
            strips = True
        elif name == "BertNormalizer":
            steps.bert_options = _bert_options(part)
        elif name == "Replace" and part.get("content") == MARK and pattern.get("String") == " ":
            steps.marks_blanks = True
        else:
            steps.is_known = False
    splits_words = has_metaspace = False
    for place, part in enumerate(parts_of(document.get("pre_tokenizer"))):
        name = part.get("type")
        if name == "WhitespaceSplit":
            splits_words = True
            steps.is_known &= not has_metaspace
        elif name == "Metaspace":
            steps.is_known &= not has_metaspace and steps.bert_options is None
            scheme = part.get("prepend_scheme", "always" if part.get("add_prefix_space", True) else "never")
            if not prepends:  # after which there is a blank in front
                steps.add_space_prefix = scheme != "never"
                steps.space_prefix_once = True
            steps.stops_at_spaces = part.get("split", True) is not False
            has_metaspace = steps.marks_blanks = True
        elif name == "BertPreTokenizer":
            steps.splits_pieces |= steps.bert_options is None  # else its words are as the table of characters has them
        elif name == "ByteLevel":
            steps.splits_pieces = steps.spells_bytes = True
            steps.is_known &= not prepends
            if part.get("add_prefix_space"):
                steps.add_space_prefix = steps.space_prefix_once = True
                steps.is_known &= place == 0  # elsewhere every word gets a blank
        elif not steps.marks_blanks or name != "Split" or (part.get("pattern") or {}).get("String") != " ":
            steps.splits_pieces = True  # Gemma splits at blanks, which were replaced
    if splits_words or (strips and merges):
        steps.remove_extra_whitespaces = True
        # other white space is a blank for a character map only
        is_blank = steps.charsmap is not None or not splits_words
        steps.is_known = steps.is_known and steps.add_space_prefix and is_blank
        steps.stops_at_spaces |= splits_words
        steps.space_prefix_once = False
    elif strips or merges:
        steps.is_known = False
    return steps


def _charsmap(text: Any) -> CharsMap | None:
    try:
        return read_charsmap(base64.b64decode(text or "", validate=True))
    except (binascii.Error, TypeError, ValueError):
        raise VocabularyError("precompiled_charsmap is not base64", help=DAMAGED) from None


def _bert_options(part: Json) -> tuple[str, ...]:
    options = [name for name in BERT_FLAGS if part.get(name, True)]
    strips = part.get("strip_accents")
    if strips is None:
        strips = "lowercase" in options
    return (*options, "strip_accents") if strips else tuple(options)


def read_huggingface(source: Any, eos: int | Iterable[int] | None = None) -> Vocabulary:
    """Vocabulary of a tokenizer.json, of the folder it lies in, or of a (fast) tokenizer object.

    Raises
    ------
    VocabularyError : not such a tokenizer, a model of an unknown kind, or no end-of-sequence id.
    OSError : the file cannot be opened.
    """
    document, declared = _load(source)
    try:
        return _convert(document, declared, eos)
    except VocabularyError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        raise VocabularyError(
            f"the tokenizer file has an unexpected form ({type(error).__name__}: {error})",
            help="save it again with a recent version of the tokenizers library",
        ) from error


def _load(source: Any) -> tuple[Json, list[int | str]]:
    """The parsed tokenizer.json, and ids or names of end tokens declared in files next to it."""
    backend = getattr(source, "backend_tokenizer", source)
    if hasattr(backend, "to_str"):
        declared = getattr(source, "eos_token_id", None)
        return _parse(backend.to_str(), "tokenizer object"), [] if declared is None else _listed(declared)
    if not isinstance(source, (str, os.PathLike)):
        raise VocabularyError(
            f"{type(source).__name__} is neither a path nor a fast tokenizer",
            help="Tokenizer.from_tiktoken(encoding) reads it"
            if hasattr(source, "_mergeable_ranks")
            else "pass a tokenizer.json, its folder, or AutoTokenizer.from_pretrained(..., use_fast=True)",
        )
    path = Path(as_path(source))
    if path.is_dir():
        path = path / "tokenizer.json"
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{path} is not UTF-8", where=f"byte {error.start}", help=DAMAGED) from None
    document = _parse(text, str(path))
    return document, _declared_beside(path.parent)


def _parse(text: str, name: str) -> Json:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise VocabularyError(f"{name} is not JSON: {error.msg}", place, DAMAGED) from None
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"{name} is not JSON: {error}", help=DAMAGED) from None
    if not isinstance(document, dict) or not isinstance(document.get("model"), dict):
        raise VocabularyError(
            f'{name} is not a tokenizer.json: it has no object "model"',
            help="give the tokenizer.json of a model, or the folder that it is in",
        )
    return document


def _declared_beside(folder: Path) -> list[int | str]:
    declared: list[int | str] = []
    for name, key in (
        ("generation_config.json", "eos_token_id"),
        ("tokenizer_config.json", "eos_token"),
        ("config.json", "eos_token_id"),
    ):
        try:
            value = json.loads((folder / name).read_text("utf-8")).get(key)
        except (OSError, ValueError, AttributeError):
            continue  # these files are optional, and only a hint
        if isinstance(value, dict):  # {"content": "</s>", "lstrip": false, ...}
            value = value.get("content")
        if value is not None:
            declared += _listed(value)
    return declared


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _convert(document: Json, declared: list[int | str], eos: int | Iterable[int] | None) -> Vocabulary:
    model = document["model"]
    kind = model.get("type") or ("BPE" if "merges" in model else "Unigram" if "unk_id" in model else "WordPiece")
    if kind not in ("BPE", "Unigram", "WordPiece"):
        raise VocabularyError(
            f'the tokenizer model "{kind}" is not supported', help="supported: BPE, Unigram, WordPiece"
        )
    if model.get("end_of_word_suffix"):
        raise VocabularyError(
            f'tokens end words with "{model["end_of_word_suffix"]}", which is not supported',
            help="use another tokenizer, or give its tokens as bytes: Tokenizer.from_bytes",
        )
    byte_alphabet = kind == "BPE" and any(
        part.get("type") == "ByteLevel"
        for name in ("pre_tokenizer", "decoder")
        for part in parts_of(document.get(name))
    )
    texts, types = _list_tokens(document, kind, byte_alphabet)
    eos_ids = _find_eos(texts, types, declared, eos)
    is_special = find_special(types, eos_ids)
    if kind == "WordPiece":
        words = _word_bytes(texts, types, model.get("continuing_subword_prefix", "##"))
        tokens = make_table([b"" if hidden else word for word, hidden in zip(words, is_special, strict=True)])
    else:
        tokens = decode_texts(texts, types, is_special, byte_alphabet)
    added = document.get("added_tokens") or []
    encoder = replace(
        _encoder_data(document, kind, byte_alphabet, texts),
        **_template(document.get("post_processor"), texts),
        strip_before=tuple(entry["id"] for entry in added if entry.get("lstrip")),
        strip_after=tuple(entry["id"] for entry in added if entry.get("rstrip")),
        whole_words=tuple(entry["id"] for entry in added if entry.get("single_word")),
    )
    return freeze_vocabulary(tokens, texts, types, is_special, eos_ids, encoder)


def _list_tokens(document: Json, kind: str, byte_alphabet: bool) -> tuple[StringTable, np.ndarray]:
    """Text and type of every id."""
    model = document["model"]
    if kind == "Unigram":
        ids = {text: number for number, (text, _) in enumerate(model["vocab"])}
        by_id = dict(enumerate(text for text, _ in model["vocab"]))
    else:
        ids = model["vocab"]
        by_id = {number: text for text, number in ids.items()}
    added = document.get("added_tokens") or []
    by_id.update((entry["id"], entry["content"]) for entry in added)
    n_tokens = count_ids(by_id, "the tokenizer")
    types = np.full(n_tokens, TokenType.UNUSED, np.uint8)
    types[list(by_id)] = TokenType.NORMAL
    if not byte_alphabet and model.get("byte_fallback", kind == "BPE"):
        types[[number for number, text in by_id.items() if BYTE_NAME.fullmatch(text)]] = TokenType.BYTE
    unknown = model.get("unk_id") if kind == "Unigram" else ids.get(model.get("unk_token"))
    if unknown is not None:
        types[unknown] = TokenType.UNKNOWN
    for entry in added:
        if types[entry["id"]] == TokenType.UNKNOWN:
            continue
        if entry.get("special"):
            types[entry["id"]] = TokenType.CONTROL
        elif byte_alphabet or "\u2581" not in entry["content"]:  # Gemma adds "▁▁", which its decoder makes two blanks
            types[entry["id"]] = TokenType.USER_DEFINED
    return make_table([by_id.get(number, "").encode("utf-8", "surrogatepass") for number in range(n_tokens)]), types


def _word_bytes(texts: StringTable, types: np.ndarray, prefix: str) -> Iterator[bytes]:
    """Bytes of WordPiece tokens: a blank in front of those that begin a word."""
    mark = prefix.encode()
    for text, kind in zip(texts.strings(), types.tolist(), strict=True):
        if kind != TokenType.NORMAL:
            yield text
        else:
            yield text[len(mark) :] if mark and text.startswith(mark) else b" " + text


def _find_eos(
    texts: StringTable, types: np.ndarray, declared: list[int | str], eos: int | Iterable[int] | None
) -> tuple[int, ...]:
    def found() -> tuple[int, ...]:
        named = [texts.find(entry.encode()) if isinstance(entry, str) else entry for entry in declared]
        ids = check_ids([entry for entry in named if entry != -1], texts.n_strings, "eos_token_id")
        return find_end_ids(ids, texts.find, types)

    return chosen_ends(eos, texts.n_strings, found, "the tokenizer names no end-of-sequence token")


def _encoder_data(document: Json, kind: str, byte_alphabet: bool, texts: StringTable) -> EncoderData:
    model = document["model"]
    plan = read_steps(document)
    patterns = _patterns(document) if byte_alphabet else None
    data = EncoderData(
        kind="greedy",
        normalization=plan.normalization,
        add_space_prefix=plan.add_space_prefix,
        space_prefix_once=plan.space_prefix_once,
        unknown_id=_unknown_id(model, kind, texts),
    )
    if kind == "WordPiece":
        if plan.bert_options is None or not plan.is_known or plan.splits_pieces:
            return data
        limit = int(model.get("max_input_chars_per_word", 100))
        return replace(data, kind="wpm", bert_options=plan.bert_options, max_word_characters=limit)
    is_fitting = plan.spells_bytes and not plan.marks_blanks and not model.get("byte_fallback")
    if not byte_alphabet:
        is_fitting = plan.marks_blanks and not plan.splits_pieces
        # an unknown token for each of several characters
        is_fitting &= kind == "Unigram" or bool(model.get("fuse_unk") or model.get("byte_fallback"))
    if not plan.is_known or not is_fitting or plan.bert_options is not None:
        return data
    pieces = replace(
        data,
        charsmap=plan.charsmap,
        remove_extra_whitespaces=plan.remove_extra_whitespaces,
        stops_at_spaces=plan.stops_at_spaces,
    )
    if kind == "Unigram":
        scores = np.zeros(texts.n_strings, np.float32)
        listed = np.array([score for _, score in model["vocab"]], np.float32)
        if not np.isfinite(listed).all():
            raise VocabularyError(
                f"the score of token {int(np.argmin(np.isfinite(listed)))} is not a number", help=DAMAGED
            )
        scores[: len(listed)] = listed
        return replace(pieces, kind="ugm", scores=scores)
    merges = make_table([(m if isinstance(m, str) else " ".join(m)).encode() for m in model.get("merges") or []])
    if not byte_alphabet:
        return replace(pieces, kind="spm", merges=merges)
    has_pieces = plan.charsmap is not None or plan.remove_extra_whitespaces or plan.stops_at_spaces
    if patterns is None or has_pieces:
        return data
    return replace(
        data, kind="bpe", merges=merges, patterns=patterns, ignore_merges=bool(model.get("ignore_merges", False))
    )


def _unknown_id(model: Json, kind: str, texts: StringTable) -> int:
    """The id of the unknown token, -1 without one."""
    named = model.get("unk_id" if kind == "Unigram" else "unk_token")
    if kind == "Unigram":
        return -1 if named is None else int(named)
    return texts.find(named.encode()) if named else -1


def _template(part: Json | None, texts: StringTable) -> dict[str, Any]:
    """Tokens before and after a text, as the post-processor of one sequence puts them."""
    before: list[int] = []
    after: list[int] = []
    for entry in (part or {}).get("processors") or [part or {}]:
        if entry.get("type") in ("BertProcessing", "RobertaProcessing"):
            before, after = [int(entry["cls"][1])], [int(entry["sep"][1])]
        if entry.get("type") != "TemplateProcessing":
            continue
        place = before
        for item in entry["single"]:
            if "Sequence" in item:
                place = after
            else:
                place += [int(token) for token in entry["special_tokens"][item["SpecialToken"]["id"]]["ids"]]
    check_ids([*before, *after], texts.n_strings, "the post-processor")
    return {"prefix_ids": tuple(before), "suffix_ids": tuple(after)}


def _patterns(document: Json) -> tuple[str, ...] | None:
    """Patterns that split text into words, None when a part of the pre-tokenizer is not known."""
    found: list[str] = []
    for part in parts_of(document.get("pre_tokenizer")):
        name = part.get("type")
        if name == "ByteLevel":
            if part.get("use_regex", True):
                found.append(GPT2)
        elif name == "Split" and part.get("behavior") == "Isolated" and not part.get("invert"):
            pattern = part["pattern"]
            regex = pattern["Regex"] if "Regex" in pattern else re.escape(pattern["String"])
            if not isinstance(regex, str):
                raise TypeError(f"a pattern is {type(regex).__name__}")
            found.append(regex)
        elif name == "Digits":
            found.append(DIGIT if part.get("individual_digits") else DIGITS)
        elif name == "Punctuation" and part.get("behavior") == "Contiguous":
            found.append(r"[\p{P}!-/:-@\[-`{-~]+")
        else:
            return None
    return tuple(found)
