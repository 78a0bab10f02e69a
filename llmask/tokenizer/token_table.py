"""What tokens are: bytes and names by id, the trie of all bytes, and from ids back to text.

Grammars and masks need no more of a tokenizer than this; encoding is in `tokenizer.py`.

In: a vocabulary. Out: bytes, names, texts of ids, the trie. Cost: 15 ms for the trie of 128,256 tokens, at the first
use.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakSet

import numpy as np

from ..arguments import as_flag
from ..forks import cached_property
from ..trie.layout import TokenTrie, build_trie
from ..vocabulary.vocabulary import TokenType, Vocabulary, check_ids


class TokenTable:
    """The tokens of a vocabulary. Immutable, may be shared by threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    @cached_property
    def stores(self) -> WeakSet[Any]:
        """What compilers have built over this vocabulary and somebody still uses."""
        return WeakSet()

    @property
    def store_bytes(self) -> int:
        """Memory of the tables that grammars of this tokenizer share, in bytes, those of grammars left aside."""
        return sum(store.bytes_used for store in tuple(self.stores))

    @property
    def vocab_size(self) -> int:
        """Number of token ids. A model may have more logits than this; masks leave the surplus at 0.

        `vocab_size` of the constructors makes it the number of the model's logits.
        """
        return self.vocabulary.tokens.n_strings

    @property
    def eos_ids(self) -> list[int]:
        """Ids that end a sequence, the principal one first."""
        return list(self.vocabulary.eos_ids)

    @property
    def special_ids(self) -> list[int]:
        """Ids, sorted, that text never produces; end-of-sequence ids are among them."""
        ids: list[int] = self.vocabulary.special_ids.tolist()
        return ids

    @cached_property
    def absent_ids(self) -> tuple[tuple[int, int], ...]:
        """Ranges of ids that no token has, ends included: holes, and what `vocab_size` added. No mask allows them."""
        vocabulary = self.vocabulary
        is_absent = (vocabulary.types == TokenType.UNUSED) & (np.diff(vocabulary.texts.offsets) == 0)
        changes = np.flatnonzero(np.diff(is_absent, prepend=False, append=False)).tolist()
        return tuple((first, end - 1) for first, end in zip(changes[::2], changes[1::2], strict=True))

    @property
    def token_offsets(self) -> np.ndarray:
        """int32[vocab_size + 1], read-only: token t is `token_data[token_offsets[t] : token_offsets[t + 1]]`."""
        return self.vocabulary.tokens.offsets

    @property
    def token_data(self) -> np.ndarray:
        """uint8, read-only: the bytes of all tokens back to back."""
        return self.vocabulary.tokens.data

    @cached_property
    def trie(self) -> TokenTrie:
        """Prefix trie of all token bytes, built at the first use."""
        return build_trie(self.token_offsets, self.token_data)

    def token_bytes(self, token: int) -> bytes:
        """Bytes of a token; b"" for special ones.

        Raises
        ------
        VocabularyError : no such id.
        """
        self._check_token(token)
        return self.vocabulary.tokens.get(token)

    def token_name(self, token: int) -> str:
        """Spelling of a token in its source: the way to show special tokens.

        Raises
        ------
        VocabularyError : no such id.
        """
        self._check_token(token)
        return self.vocabulary.texts.get(token).decode("utf-8", "replace")

    def _check_token(self, token: int) -> None:
        if isinstance(token, bool) or not isinstance(token, (int, np.integer)) or not 0 <= token < self.vocab_size:
            check_ids([token], self.vocab_size, "the argument")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Bytes of tokens, joined; special ones add nothing.

        Raises
        ------
        VocabularyError : no such id.
        """
        tokens = self.vocabulary.tokens
        return b"".join(tokens.get(token) for token in self._check_all(ids))

    def _check_all(self, ids: Iterable[int]) -> list[int]:
        try:
            listed = list(ids)
        except TypeError:
            check_ids(ids, self.vocab_size, "ids")  # says what is wrong
            raise
        check_ids(listed, self.vocab_size, "ids")
        return listed

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """Text of tokens; bytes that are not UTF-8 become U+FFFD.

        One leading blank is dropped where `encode` adds it (SPM, UGM and WPM vocabularies), so that decoding undoes
        encoding. What continues a prompt is decoded with `decode_bytes`, which drops nothing.

        Parameters
        ----------
        ids : token ids.
        skip_special : special tokens are left out; False: their names stand in the text, as `encode(...,
            parse_special=True)` reads them. Ids that no token has are never seen.

        Raises
        ------
        VocabularyError : no such id.
        """
        if as_flag(skip_special, "skip_special"):
            return self._text_of(self.decode_bytes(ids).decode("utf-8", "replace"))
        return self._text_of(b"".join(map(self.bytes_or_name, self._check_all(ids))).decode("utf-8", "replace"))

    def bytes_or_name(self, token: int) -> bytes:
        """Bytes of a token, the name of a special one.

        Raises
        ------
        VocabularyError : no such id.
        """
        self._check_token(token)
        is_special = token in self._special
        return self.vocabulary.texts.get(token) if is_special else self.vocabulary.tokens.get(token)

    @cached_property
    def _special(self) -> frozenset[int]:
        return frozenset(self.special_ids)

    def _text_of(self, spelled: str) -> str:
        return spelled.removeprefix(" ") if self.decode_drops_blank else spelled

    @property
    def decode_drops_blank(self) -> bool:
        """Whether `decode` drops one leading blank: where `encode` puts one in front."""
        encoder = self.vocabulary.encoder
        return (encoder.add_space_prefix and not encoder.space_is_suffix) or encoder.kind == "wpm"
