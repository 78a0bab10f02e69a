"""Which encoder a vocabulary gets, and how special tokens are cut out of a text before it.

    kind of vocabulary            encoder   the same ids as the model's own?
    bpe, pattern known            bpe       yes
    ranks (tiktoken)              bpe       yes
    spm                           spm       yes
    ugm                           ugm       yes
    wpm                           wpm       yes for uncased models
    bpe with an unknown pattern,  greedy    no: longest match; the ids spell the text
    plain lists

Greedy encoders know no merges: the longest token at each place, or as few tokens as can be. They are for vocabularies
whose own encoder is not known, such as plain lists of bytes, and for whoever wants the ids quickly (longest match is
what token trees over GGUF files do). The ids spell the text, but are not always those that the model was trained on.
All tokens with bytes take part that are spelled as a text is, of several with the same bytes the first one, in RWKV
vocabularies the last one, as llama.cpp has it; words are not split. SPM and UGM vocabularies normalize the text first,
as their own encoders do.

Names of user-defined tokens are found in every text that is encoded. Qwen 2 has 290 of them, DeepSeek 2,398; asking for
one after the other (`name in text`) took four times as long as encoding, and 40 times (`python -m bench.tokenizers
--gguf qwen2.gguf`, 2026-11-22). Few names are asked for so all the same: that is 30 ns a name for a short text.

In: a vocabulary. Out: an object with `name` and `encode(text) -> list[int]`. Cost: none until the first call.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from llmask.encoders.bpe import BpeEncoder
from llmask.encoders.categories import SPACES
from llmask.encoders.piece_encoder import Normalizer
from llmask.encoders.pretokenize import check_patterns
from llmask.encoders.spm import SpmEncoder, UnigramEncoder
from llmask.encoders.tables import (
    DOORS,
    UNSPELLED,
    EncoderTable,
    address_of,
    build_double_array,
    double_array,
    has_spelling,
    misspelled,
)
from llmask.encoders.wordpiece import WordPieceEncoder
from llmask.errors import VocabularyError
from llmask.forks import cached_property
from llmask.trie.layout import build_trie
from llmask.vocabulary.patterns import PATTERNS
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, Vocabulary

FEW = 8
LONGEST = 64  # bytes; longer names, which no model has, are asked for one by one: they would bound the search badly
ADDS_OWN_SPACE = ("spm", "ugm")  # encoders that put the blank before a text themselves


class GreedyEncoder:
    """Longest-match encoder of any vocabulary."""

    name = "greedy"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._normalize = Normalizer(vocabulary) if vocabulary.encoder.kind in ("spm", "ugm") else None

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own tables: addresses mean nothing elsewhere."""
        return GreedyEncoder, (self._vocabulary,)

    @cached_property
    def _table(self) -> EncoderTable:
        from ..kernels.encoders.encoder_slots import EncoderSlot

        table = EncoderTable(None)
        tokens, is_found = self._vocabulary.tokens, ~misspelled(self._vocabulary)
        is_rwkv = self._vocabulary.encoder.kind == "greedy" and has_spelling(self._vocabulary)
        entries = build_double_array(tokens) if is_rwkv else double_array(build_trie(*tokens, is_found))
        table.put(EncoderSlot.OFFSETS, tokens.offsets)
        table.put(EncoderSlot.FORWARD, entries)
        return table

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens, the longest token at each place.

        Raises
        ------
        VocabularyError : a byte that no token begins with, in a vocabulary without a token for the unknown.
        """
        return self._encode(text, is_fewest=False)

    def encode_fewest(self, text: str) -> list[int]:
        """Token ids of a text without special tokens, as few as can be; the earlier ones are the longer ones.

        Raises
        ------
        VocabularyError : no tokens spell the text, and there is no token for the unknown.
        """
        return self._encode(text, is_fewest=True)

    def _encode(self, text: str, is_fewest: bool) -> list[int]:
        data, table = text.encode("utf-8"), self._table
        if self._normalize is not None:
            data = self._normalize(data)
        ids = np.empty(len(data) + 1, np.int32)
        door = table.doors.encode_fewest if is_fewest else table.doors.encode_longest
        n_ids = door(table.address, address_of(data), len(data), self._vocabulary.encoder.unknown_id, ids)
        if n_ids >= 0:
            return table.listed(ids[:n_ids])
        place = -1 - n_ids
        if place == len(data):
            raise VocabularyError("no tokens spell the text", help=UNSPELLED)
        raise VocabularyError(
            f"no token spells byte 0x{data[place]:02X}, so the text cannot be encoded",
            where=f"byte {place} of the {'text' if self._normalize is None else 'normalized text'}",
            help=UNSPELLED,
        )


class NameFinder:
    """Names that are looked for in texts, none of them empty, all different."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [name.encode() for name in names]
        is_few = len(names) <= FEW
        self._single = [i for i, name in enumerate(self._names) if is_few or len(name) > LONGEST]
        self._is_few = is_few
        self.longest = max(map(len, self._names), default=0)  # bytes

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, and what comes out of a pickle, builds its own trie: addresses mean nothing elsewhere."""
        return NameFinder, ([name.decode() for name in self._names],)

    @cached_property
    def _entries(self) -> np.ndarray:
        """Double array of the names that are looked for together."""
        strings = make_table([b"" if len(name) > LONGEST else name for name in self._names])
        return double_array(build_trie(*strings))

    @cached_property
    def _first(self) -> Callable[[int, int, int], int]:
        from ..kernels.encoders import double_array as kernels
        from ..kernels.machine import jit

        jit.make_ready("names")
        return jit.entry_point(kernels.first_name)

    def occur_in(self, data: bytes) -> bool:
        """Whether any name occurs in UTF-8."""
        if not self._is_few and self._first(self._entries.ctypes.data, address_of(data), len(data)) < len(data):
            return True
        return any(self._names[number] in data for number in self._single)

    def find(self, data: bytes) -> list[int]:
        """Numbers of the names that occur in UTF-8, ascending."""
        if self._is_few:
            return [number for number, name in enumerate(self._names) if name in data]
        entries = self._entries.ctypes.data
        place = self._first(entries, address_of(data), len(data))
        found = np.zeros(len(self._names), np.uint8)
        if place < len(data):
            DOORS.mark_names(entries, address_of(data), place, len(data), found)
        found[[number for number in self._single if self._names[number] in data]] = 1
        numbers: list[int] = found.nonzero()[0].tolist()
        return numbers


class Encoder(Protocol):
    """What all encoders offer."""

    name: str

    def encode(self, text: str) -> list[int]:
        """Token ids of a text without special tokens."""


def select_encoder(vocabulary: Vocabulary) -> Encoder:
    """Encoder of the vocabulary's own kind, or longest match where that kind is not supported."""
    data = vocabulary.encoder
    if data.kind in ("bpe", "ranks"):
        patterns = data.patterns or PATTERNS.get(data.pretokenizer, ())
        if patterns and check_patterns(patterns) and (data.kind == "ranks" or data.merges is not None):
            return BpeEncoder(vocabulary, patterns)
    elif data.kind == "spm" and (data.scores is not None or data.merges is not None):
        return SpmEncoder(vocabulary)
    elif data.kind == "ugm" and data.scores is not None:
        return UnigramEncoder(vocabulary)
    elif data.kind == "wpm":
        return WordPieceEncoder(vocabulary)
    return GreedyEncoder(vocabulary)


class SpecialTokens:
    """Names of tokens that are found in a text before it is encoded.

    As in llama.cpp, longer names are cut out first, anywhere in the text, then shorter ones in what is left.
    User-defined tokens are always cut out; special ones only when the caller asks, because a text from outside could
    forge turns. A token may take the white space before or after it with it (`strip_before`, `strip_after`: the
    "lstrip" and "rstrip" of tokenizer.json), or be found only as a word of its own (`whole_words`: "single_word").

    Attributes
    ----------
    user_defined : names that are looked for in all texts, with their tokens.
    finder : finds these names.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        is_used = vocabulary.types[vocabulary.special_ids] != TokenType.UNUSED
        special = set(vocabulary.special_ids[is_used].tolist())
        user_defined = (vocabulary.types == TokenType.USER_DEFINED).nonzero()[0].tolist()
        names: dict[str, int] = {}
        for token in sorted(special.union(user_defined)):
            name = vocabulary.texts.get(token).decode("utf-8", "replace")
            if name:
                names.setdefault(name, token)
        data = vocabulary.encoder
        self._strip_before, self._strip_after = frozenset(data.strip_before), frozenset(data.strip_after)
        self._whole_words = frozenset(data.whole_words)
        by_length = sorted(names.items(), key=lambda entry: -len(entry[0]))
        if vocabulary.encoder.rules == "sentencepiece":
            by_length = [(name, token) for name, token in by_length if token in special]
        self._all = by_length
        self.user_defined = [(name, token) for name, token in by_length if token not in special]
        self._all_finder = NameFinder([name for name, _ in self._all])
        self.finder = NameFinder([name for name, _ in self.user_defined])

    @property
    def cuts_names_only(self) -> bool:
        """Whether user-defined tokens are found anywhere in a text, and take nothing of it but their names."""
        changed = self._strip_before | self._strip_after | self._whole_words
        return not any(token in changed for _, token in self.user_defined)

    def cut(self, text: str, parse_special: bool) -> list[str | int]:
        """Pieces of text and token ids, in order."""
        pieces: list[str | int] = [text]
        names, finder = (self._all, self._all_finder) if parse_special else (self.user_defined, self.finder)
        if names:
            for number in finder.find(text.encode("utf-8", "surrogatepass")):
                pieces = [part for piece in pieces for part in self._cut_one(piece, *names[number])]
        return [piece for piece in pieces if piece != ""]

    def encode_beginnings(
        self, encode: Callable[[str], list[int]], encoder: BpeEncoder, parts: list[bytes]
    ) -> list[list[int]]:
        """Token ids of texts by `encode`, and of those that end inside of a character."""
        found = []
        for part in parts:
            try:
                found.append(encode(part.decode()))
            except UnicodeDecodeError:
                found.append(self._encode_bytes(encoder, part))
        return found

    def _encode_bytes(self, encoder: BpeEncoder, data: bytes) -> list[int]:
        pieces: list[bytes | int] = [data]
        for name, token in self.user_defined:
            spelled = name.encode()
            if spelled in data:
                pieces = [part for piece in pieces for part in _split_bytes(piece, spelled, token)]
        encoded = ([piece] if isinstance(piece, int) else encoder.encode_bytes(piece) for piece in pieces)
        return [token for ids in encoded for token in ids]

    def _cut_one(self, piece: str | int, name: str, token: int) -> list[str | int]:
        if isinstance(piece, int):
            return [piece]
        texts = piece.split(name) if token not in self._whole_words else _split_at_words(piece, name)
        if token in self._strip_before:
            # str.strip alone takes U+001C to U+001F, too
            texts = [*(text.rstrip(SPACES) for text in texts[:-1]), texts[-1]]
        if token in self._strip_after:
            texts = [texts[0], *(text.lstrip(SPACES) for text in texts[1:])]
        parts: list[str | int] = []
        for text in texts:
            parts += [text, token]
        return parts[:-1]


def _split_bytes(piece: bytes | int, name: bytes, token: int) -> list[bytes | int]:
    if isinstance(piece, int):
        return [piece]
    first, *others = piece.split(name)
    return [first, *(part for other in others for part in (token, other))]


def why_not_words(encoder: Encoder, data: EncoderData, names: SpecialTokens | None = None) -> str:
    """Why a text is more to an encoder than words of byte-pair encoding, and user-defined tokens between; or ""."""
    if not isinstance(encoder, BpeEncoder):
        return f"encoder {encoder.name!r} is not byte-pair encoding"
    if data.normalization:
        return f"texts are brought into {data.normalization} before they are split"
    if data.add_space_prefix:
        return "a blank is put in front of every text"
    if encoder.splitter.automaton is None:
        return "its split patterns are run by the package regex"
    if encoder.tables.extra:
        return "its merges make strings that are no tokens"
    if names is not None and not names.cuts_names_only:
        return "its user-defined tokens take white space with them, or are only found between words"
    return ""


def _split_at_words(text: str, name: str) -> list[str]:
    """As `text.split(name)`, but only where no character of a word is next to the name."""
    found, start, place = [], 0, text.find(name)
    while place >= 0:
        end = place + len(name)
        if not _is_in_word(text[place - 1 : place]) and not _is_in_word(text[end : end + 1]):
            found.append(text[start:place])
            start = end
        place = text.find(name, end)
    return [*found, text[start:]]


def _is_in_word(character: str) -> bool:
    r"""Whether a character, or none at an end of the text, is one of `\w`: letters, marks, digits, "_" and its like."""
    if not character:
        return False
    category = unicodedata.category(character)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc") or character in "\u200c\u200d"
