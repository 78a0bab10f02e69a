"""The vocabulary: token id to bytes, which ids are special, which of them end a sequence.

Bytes, not text: a token may hold half of a character. What a token *type* means follows llama.cpp:

    NORMAL, UNDEFINED  text in the spelling of the model (byte alphabet or space marks)
    BYTE               one byte, spelled "<0x0A>"
    USER_DEFINED       text as it is: people added "<tool>" so that it is one token, and text may contain it
    CONTROL            special: marks turns, ends, padding; no text ever produces it
    UNKNOWN, UNUSED    special: nothing that could be written

**Special tokens have no bytes.** "<|eot_id|>" in a document is eight ordinary tokens; the special one can only be
allowed by its id. End-of-sequence ids are special whatever their type. A chat model ends its turn with a token other
than the end-of-text token of its base model, and files often declare only the latter: like llama.cpp
(`llama-vocab.cpp`, end-of-generation tokens) we also look for well-known names. Its tokens for fill-in-the-middle
padding are left out: they end no document. Names that are common text in other vocabularies ("</s>" closes a tag in
HTML) count only when the file itself calls the token a control token.

A vocabulary can be resized to as many ids as a model has logits. Models pad their logits to a round number (Qwen 2:
151,936 for 151,665 tokens), and a fine-tuned one may have dropped the last tokens of its file. XGrammar calls the
number `vocab_size`, llguidance `n_vocab`.

    more ids than tokens    the ids above are UNUSED and have no text: no mask allows them, no text becomes them
    fewer ids than tokens   the tokens above are gone, with the merges that make them or take them as a part; refused
                            where one of them ends a sequence, is special, or is what the encoder itself puts in

Digests: a grammar sees the bytes of tokens, which of them are special and what these are called. Where a vocabulary was
read from makes no difference to it, nor how text is encoded: `token_digest` is the same for a GGUF file and a
tokenizer.json of one model. `whole_digest` is of everything.

In: token bytes, types and ids. Out: `Vocabulary`, checked and frozen; digests. Cost: O(bytes).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import IntEnum
from hashlib import sha256
from typing import Any, Literal

import numpy as np

from llmask.arguments import as_integer
from llmask.errors import LlmaskError, VocabularyError
from llmask.kernels.machine.constants import MAX_VOCAB_SIZE
from llmask.vocabulary.strings import CharsMap, StringTable, freeze, make_table

END_NAMES = (
    b"<|eot_id|>",
    b"<|eom_id|>",
    b"<|im_end|>",
    b"<|end|>",
    b"<|return|>",
    b"<|call|>",
    b"<end_of_turn>",
    b"<|endoftext|>",
    b"<|end_of_text|>",
    b"<EOT>",
    b"_<EOT>",
    b"<end_of_utterance>",
)
CONTROL_END_NAMES = (b"</s>", b"<eos>", b"[EOS]", b"[EOT]", b"<turn|>", b"<|flush|>", b"<|calls|>")
VERSION = "llmask tokens 1"


class TokenType(IntEnum):
    """Numbers of the GGUF field tokenizer.ggml.token_type."""

    UNDEFINED = 0
    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


Normalization = Literal["", "NFC", "NFD", "NFKC", "NFKD"]
NORMALIZATIONS: dict[str, Normalization] = {"NFC": "NFC", "NFD": "NFD", "NFKC": "NFKC", "NFKD": "NFKD"}
MAX_UNUSED_IDS = 100_000  # holes between ids; real vocabularies have some hundreds
SPECIAL_TYPES = (TokenType.UNKNOWN, TokenType.CONTROL, TokenType.UNUSED)


@dataclass(frozen=True)
class EncoderData:
    """What an encoder needs besides the token bytes; which fields are set depends on `kind`.

    Attributes
    ----------
    kind : "bpe" (merges over the byte alphabet), "ranks" (merges in the order of token ids, as tiktoken), "spm", "ugm",
        "wpm", or "greedy": no encoder is known, longest match.
    pretokenizer : name of an entry of `llmask.vocabulary.patterns`, or "" when `patterns` is given or none is known.
    patterns : regular expressions that split text into words, in the order of application.
    merges : texts "left right" in order of rank.
    scores : float32[n_tokens], log-probabilities of SPM and UGM tokens.
    ignore_merges : a word that is a token is that token, whatever the merges say.
    normalization : Unicode form that text is brought into first: "", "NFC", "NFD", "NFKC" or "NFKD".
    add_space_prefix : a blank is put before the text and after special tokens (SPM, UGM).
    unknown_id : token for what no token spells, or -1.
    prefix_ids, suffix_ids : tokens that the model expects before and after a text (`encode(..., add_special=True)`).
    strip_before, strip_after : tokens that take the white space before or after them when they are found in a text.
    whole_words : tokens that are found in a text only where no letter or digit is next to them.
    charsmap : rules that normalize a text (SPM, UGM).
    remove_extra_whitespaces : blanks at both ends of a text go, and several in a row become one (SPM, UGM).
    escape_whitespaces : blanks are written U+2581 before tokens are looked up, so the two are the same (SPM, UGM).
    space_prefix_once : no blank is put before a text that begins with one (SPM, UGM).
    space_is_suffix : the blank that `add_space_prefix` puts goes after the text, not before it (SPM, UGM).
    stops_at_spaces : a token is matched inside of a word only, and words begin with a blank (SPM, UGM).
    bert_options : what the normalizer of BERT does (WPM): "clean_text", "handle_chinese_chars", "strip_accents",
        "lowercase"; None: what llama.cpp does.
    max_word_characters : longer words are the unknown token (WPM); 0: there is no limit.
    rules : whose ids are given where the two differ (SPM, UGM). "llama.cpp": user-defined tokens are cut out of a text
        before it is normalized; "sentencepiece": they are matched in its course, and what is beside them is one text.
    """

    kind: str = "greedy"
    pretokenizer: str = ""
    patterns: tuple[str, ...] = ()
    merges: StringTable | None = None
    scores: np.ndarray | None = None
    ignore_merges: bool = False
    normalization: Normalization = ""
    add_space_prefix: bool = False
    unknown_id: int = -1
    prefix_ids: tuple[int, ...] = ()
    suffix_ids: tuple[int, ...] = ()
    strip_before: tuple[int, ...] = ()
    strip_after: tuple[int, ...] = ()
    whole_words: tuple[int, ...] = ()
    charsmap: CharsMap | None = None
    remove_extra_whitespaces: bool = False
    escape_whitespaces: bool = True
    space_prefix_once: bool = False
    space_is_suffix: bool = False
    stops_at_spaces: bool = False
    bert_options: tuple[str, ...] | None = None
    max_word_characters: int = 0
    rules: Literal["llama.cpp", "sentencepiece"] = "llama.cpp"


@dataclass(frozen=True)
class Vocabulary:
    """Token bytes back to back, with types and special ids. All arrays are read-only.

    Attributes
    ----------
    tokens : bytes of each token; empty for special tokens.
    texts : spelling of each token in its source: how special tokens are named.
    types : uint8[n_tokens], `TokenType`.
    special_ids : int32, sorted: tokens that text never produces, `eos_ids` included.
    eos_ids : tokens that end a sequence, the principal one first.
    encoder : what the encoder needs.
    """

    tokens: StringTable
    texts: StringTable
    types: np.ndarray
    special_ids: np.ndarray
    eos_ids: tuple[int, ...]
    encoder: EncoderData

    def __setstate__(self, state: dict[str, Any]) -> None:
        """What comes out of a pickle is read-only, too."""
        self.__dict__.update(state)
        encoder = self.encoder
        tables = (self.tokens, self.texts, encoder.merges or (), encoder.charsmap or ())
        for array in (self.types, self.special_ids, encoder.scores, *(array for table in tables for array in table)):
            if array is not None:
                array.flags.writeable = False


def find_special(types: np.ndarray, eos_ids: Iterable[int]) -> np.ndarray:
    """bool[n_tokens]: tokens without bytes."""
    is_special = np.isin(types, np.array(SPECIAL_TYPES, np.uint8))
    is_special[list(eos_ids)] = True
    return is_special


def decoded_types(types: np.ndarray, encoder: EncoderData) -> np.ndarray:
    """uint8[n_tokens]: the types by which token texts become bytes; sentencepiece treats user-defined ones as all."""
    if encoder.rules == "llama.cpp":
        return types
    return np.where(types == TokenType.USER_DEFINED, TokenType.NORMAL, types).astype(np.uint8)


def from_bytes(
    tokens: Sequence[bytes], eos: int | Iterable[int], special: Iterable[int] = (), encoder: EncoderData | None = None
) -> Vocabulary:
    """Vocabulary from a list of token bytes.

    Parameters
    ----------
    tokens : bytes of each id; the bytes of special ids are taken as their names.
    eos : id or ids that end a sequence; at least one.
    special : further ids that text never produces.
    encoder : encoder data; None: longest match.

    Raises
    ------
    VocabularyError : no tokens, too many, a token that is not bytes, an id out of range, no end-of-sequence id.
    """
    if isinstance(tokens, (str, os.PathLike)):
        raise VocabularyError(
            f"tokens are a list of bytes, not {type(tokens).__name__}", help="Tokenizer.load(path) reads a file"
        )
    if isinstance(tokens, Mapping):
        raise VocabularyError(
            "tokens are a list of bytes, not a dict", help="give them in order: sorted(ids, key=ids.get)"
        )
    try:
        tokens = list(tokens)
    except TypeError:
        raise VocabularyError(
            f"tokens are a list of bytes, not {type(tokens).__name__}", help='for example [b"a", b"b", b"</s>"]'
        ) from None
    if not tokens:
        raise VocabularyError(
            "the vocabulary has no tokens", help="give at least one token, and one that ends a sequence"
        )
    if len(tokens) > MAX_VOCAB_SIZE:
        raise VocabularyError(
            f"the vocabulary has {len(tokens)} tokens, the limit is {MAX_VOCAB_SIZE}", help="use a smaller vocabulary"
        )
    for token, data in enumerate(tokens):
        if not isinstance(data, bytes):
            raise VocabularyError(
                f"token {token} is {type(data).__name__}, not bytes", help='encode it: "text".encode("utf-8")'
            )
    eos_ids = check_ids([eos] if isinstance(eos, (int, np.integer)) else eos, len(tokens), "eos")
    if not eos_ids:
        raise VocabularyError(
            "no end-of-sequence id is given, so nothing could ever end", help="pass eos=ID or eos=[ID, ...]"
        )
    special_ids = check_ids(special, len(tokens), "special")
    types = np.full(len(tokens), TokenType.NORMAL, np.uint8)
    types[list(special_ids)] = TokenType.CONTROL
    types[list(eos_ids)] = TokenType.CONTROL
    is_special = find_special(types, eos_ids)
    texts = make_table(tokens)
    kept = make_table([b"" if hidden else data for data, hidden in zip(tokens, is_special, strict=True)])
    return freeze_vocabulary(kept, texts, types, is_special, eos_ids, encoder or EncoderData())


def freeze_vocabulary(
    tokens: StringTable,
    texts: StringTable,
    types: np.ndarray,
    is_special: np.ndarray,
    eos_ids: Sequence[int],
    encoder: EncoderData,
) -> Vocabulary:
    """Vocabulary of parts that fit together; its arrays become read-only."""
    special_ids = np.flatnonzero(is_special).astype(np.int32)
    special_ids.flags.writeable = False
    types.flags.writeable = False
    return Vocabulary(tokens, texts, types, special_ids, tuple(eos_ids), encoder)


def count_ids(ids: Collection[int], name: str) -> int:
    """Size of a vocabulary with these ids: one more than the highest.

    Raises
    ------
    VocabularyError : not ids, no ids at all, or one that must be wrong, as too many ids before it have no token.
    """
    check_ids(ids, MAX_VOCAB_SIZE, name)
    n_tokens = max(ids, default=-1) + 1
    if n_tokens == 0:
        raise VocabularyError(f"{name} has no tokens", help="give at least one")
    if n_tokens - len(ids) > MAX_UNUSED_IDS:
        raise VocabularyError(
            f"{name} has {len(ids)} tokens, but one of them has the id {n_tokens - 1}",
            help="mend this id: ids count from 0, with few between them that are unused",
        )
    return n_tokens


def check_ids(ids: Iterable[int], n_tokens: int, name: str) -> tuple[int, ...]:
    """Ids as plain ints, in their order, each once.

    Raises
    ------
    VocabularyError : not a whole number, or outside of the vocabulary.
    """
    try:
        if isinstance(ids, (str, bytes)):
            raise TypeError
        listed = list(ids)
    except TypeError:
        raise VocabularyError(
            f"{name} is {type(ids).__name__}, not an id or a list of ids", help="give an int, or a list of ints"
        ) from None
    for token in listed:
        if isinstance(token, bool) or not isinstance(token, (int, np.integer)):
            raise VocabularyError(
                f"{name} contains {token!r}, which is not a token id", help="give the id of the token, an int"
            )
        if not 0 <= token < n_tokens:
            raise VocabularyError(
                f"{name} contains {int(token)}, but token ids are 0 to {n_tokens - 1}", help="give an id in this range"
            )
    return tuple(dict.fromkeys(int(token) for token in listed))


def chosen_ends(
    eos: int | Iterable[int] | None, n_tokens: int, found: Callable[[], tuple[int, ...]], missing: str
) -> tuple[int, ...]:
    """The ids that end a sequence: the ones that the caller names, else what is found in a file.

    Raises
    ------
    VocabularyError : no id is found, and `missing` says so; one is no id.
    """
    ids = found() if eos is None else check_ids([eos] if isinstance(eos, (int, np.integer)) else eos, n_tokens, "eos")
    if not ids:
        raise VocabularyError(missing, help="pass eos=ID or eos=[ID, ...]")
    return ids


def find_end_ids(declared: Iterable[int], find_text: Callable[[bytes], int], types: np.ndarray) -> tuple[int, ...]:
    """Ids that end a sequence: the declared ones first, then those found by name.

    Parameters
    ----------
    declared : ids that the file declares (end of sequence, of turn, of message).
    find_text : id of the token with this text, or -1.
    types : uint8[n_tokens], `TokenType`.
    """
    found = dict.fromkeys(declared)
    by_name = {name: find_text(name) for name in (*END_NAMES, *CONTROL_END_NAMES)}
    for name, token in by_name.items():
        if token >= 0 and (name in END_NAMES or types[token] == TokenType.CONTROL):
            found[token] = None
    # gpt-oss ends a message, not its turn, with <|end|>; llama.cpp drops it when these three stand together
    if by_name[b"<|return|>"] >= 0 and by_name[b"<|call|>"] >= 0 and len(found) > 1:
        found.pop(by_name[b"<|end|>"], None)
    return tuple(found)


def token_digest(vocabulary: Vocabulary) -> str:
    """SHA-256 of what grammars see: token bytes, special tokens with their names, and which tokens end a sequence."""
    special = vocabulary.special_ids.tolist()
    names = [vocabulary.texts.get(token) for token in special]
    unused = np.flatnonzero(vocabulary.types == TokenType.UNUSED)
    return _digest((VERSION, *vocabulary.tokens, special, names, unused.tolist(), sorted(vocabulary.eos_ids)))


def whole_digest(vocabulary: Vocabulary) -> str:
    """SHA-256 of all that a vocabulary holds, its encoder included."""
    return _digest(vocabulary)


def _digest(value: Any) -> str:
    found = sha256()
    for part in _parts(value):
        found.update(b"%d:" % len(part))
        found.update(part)
    return found.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """A value as bytes: first its kind, then what it holds."""
    if isinstance(value, np.ndarray):
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        yield little.dtype.str.encode()
        yield little.tobytes()
    elif isinstance(value, bytes):
        yield b"bytes"
        yield value
    elif is_dataclass(value):
        yield from _parts([getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, (list, tuple)):
        yield b"list %d" % len(value)
        for member in value:
            yield from _parts(member)
    else:
        yield repr(value).encode("utf-8", "surrogatepass")  # a str, a number, None


def resize(vocabulary: Vocabulary, vocab_size: Any) -> Vocabulary:
    """The vocabulary with `vocab_size` ids; None: as it is.

    Raises
    ------
    VocabularyError : not a number of ids, too many, or so few that a token is lost which is not just text.
    """
    if vocab_size is None:
        return vocabulary
    n_ids, n_tokens = _checked_size(vocab_size), vocabulary.tokens.n_strings
    if n_ids > n_tokens:
        return _pad(vocabulary, n_ids)
    return _cut(vocabulary, n_ids) if n_ids < n_tokens else vocabulary


def _checked_size(vocab_size: Any) -> int:
    advice = "give the number of the model's logits, or leave it out"
    try:
        n_ids = as_integer(vocab_size, "vocab_size")
    except LlmaskError as error:
        raise VocabularyError(error.message, help=advice) from None
    if not 1 <= n_ids <= MAX_VOCAB_SIZE:
        shown = f"vocab_size={n_ids}" if n_ids.bit_length() <= 64 else "vocab_size"  # others may be too long to write
        raise VocabularyError(f"{shown} is not between 1 and {MAX_VOCAB_SIZE}", help=advice)
    return n_ids


def _pad(vocabulary: Vocabulary, n_ids: int) -> Vocabulary:
    n_more = n_ids - vocabulary.tokens.n_strings
    types = np.append(vocabulary.types, np.full(n_more, TokenType.UNUSED, np.uint8))
    is_special = np.ones(n_ids, bool)
    is_special[: -n_more or None] = False
    is_special[vocabulary.special_ids] = True
    encoder = vocabulary.encoder
    if encoder.scores is not None:
        encoder = replace(encoder, scores=np.append(encoder.scores, np.zeros(n_more, np.float32)))
    tokens, texts = (
        freeze(np.append(table.offsets, np.full(n_more, table.offsets[-1], np.int32)), table.data)
        for table in (vocabulary.tokens, vocabulary.texts)
    )
    return freeze_vocabulary(tokens, texts, types, is_special, vocabulary.eos_ids, encoder)


def _cut(vocabulary: Vocabulary, n_ids: int) -> Vocabulary:
    _refuse_loss(vocabulary, n_ids)
    is_special = np.zeros(n_ids, bool)
    is_special[vocabulary.special_ids[vocabulary.special_ids < n_ids]] = True
    tokens, texts = (
        freeze(table.offsets[: n_ids + 1].copy(), table.data[: table.offsets[n_ids]].copy())
        for table in (vocabulary.tokens, vocabulary.texts)
    )
    types = vocabulary.types[:n_ids].copy()
    return freeze_vocabulary(tokens, texts, types, is_special, vocabulary.eos_ids, _cut_encoder(vocabulary, n_ids))


def _refuse_loss(vocabulary: Vocabulary, n_ids: int) -> None:
    """Say which token that is not just text would be lost."""
    data = vocabulary.encoder
    control = np.flatnonzero(np.isin(vocabulary.types, (TokenType.CONTROL, TokenType.UNKNOWN))).tolist()
    uses = {
        "ends a sequence": vocabulary.eos_ids,
        "is the unknown token": (data.unknown_id,),
        "belongs to every text": (*data.prefix_ids, *data.suffix_ids),
        "is special": control,
    }
    needed = 1 + max(token for ids in uses.values() for token in ids)
    for use, ids in uses.items():
        lost = [token for token in ids if token >= n_ids]
        if lost:
            name = vocabulary.texts.get(lost[0]).decode("utf-8", "replace")
            raise VocabularyError(
                f'vocab_size={n_ids} cuts token {lost[0]}, "{name}", which {use}',
                where=f"token {lost[0]} of {vocabulary.tokens.n_strings}",
                help=f"give at least {needed}, or leave it out: a mask may be wider than the logits it is applied to",
            )


def _cut_encoder(vocabulary: Vocabulary, n_ids: int) -> EncoderData:
    data = vocabulary.encoder
    changes: dict[str, Any] = {
        name: tuple(token for token in getattr(data, name) if token < n_ids)
        for name in ("strip_before", "strip_after", "whole_words")
    }
    if data.scores is not None:
        changes["scores"] = data.scores[:n_ids].copy()
    if data.merges is not None:
        spelled = [*vocabulary.texts.strings()]
        gone = {*spelled[n_ids:]} - {*spelled[:n_ids]}
        changes["merges"] = make_table([merge for merge in data.merges.strings() if not _has_part(merge, gone)])
    return replace(data, **changes)


def _has_part(merge: bytes, gone: set[bytes]) -> bool:
    left, _, right = merge.partition(b" ")
    return left in gone or right in gone or left + right in gone
