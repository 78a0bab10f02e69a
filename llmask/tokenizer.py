"""Tokenizer: a vocabulary with its encoder and its trie; what a grammar is compiled for.

A grammar sees tokens as bytes. **Special tokens have no bytes**: control tokens, those that stand for the unknown,
unused ids and all end-of-sequence ids can be named by a grammar, but no text produces them. User-defined tokens are
text: a person added "<tool>" so that it is one token, and a string may contain these six characters.

In: a file, an object of another library, or token bytes. Out: token bytes, ids of texts, texts of ids. Cost: 45 ms
for a GGUF file of 128,256 tokens with the trie, when the kernels are loaded (0.3 s in a fresh process); parsing the
merges takes another 0.1 s at the first `encode`.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np

from .encoders.greedy import GreedyEncoder
from .encoders.select import ADDS_OWN_SPACE, Encoder, SpecialTokens, select_encoder
from .errors import VocabularyError
from .trie.build import build_trie
from .trie.layout import TokenTrie
from .vocabulary.gguf import read_gguf
from .vocabulary.gguf_write import write_gguf
from .vocabulary.huggingface import read_huggingface
from .vocabulary.sentencepiece import read_sentencepiece
from .vocabulary.tiktoken import read_tiktoken
from .vocabulary.vocabulary import Vocabulary, check_ids, from_bytes

DEFAULT_FILE = Path(__file__).parent / "defaults" / "tokenizer.gguf"


class Tokenizer:
    """A vocabulary together with its encoder. Immutable, may be shared by threads.

    Parameters
    ----------
    vocabulary : usually made by one of the class methods.

    Examples
    --------
    >>> tok = Tokenizer.from_bytes([b"<end>", b"a", b"ab", b"b"], eos=0)
    >>> tok.encode("abb"), tok.decode([1, 3]), tok.token_bytes(0)
    ([2, 3], 'ab', b'')
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._encoder = select_encoder(vocabulary)

    @classmethod
    def default(cls) -> Tokenizer:
        """The tokenizer inside the package: byte-level BPE, 32,768 tokens (`llmask/defaults/README.md`)."""
        return cls.from_gguf(DEFAULT_FILE)

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None) -> Tokenizer:
        """Tokenizer of a GGUF file with a BPE, SPM, UGM or WPM vocabulary; weights are not touched.

        Parameters
        ----------
        path : the file.
        eos : ids that end a sequence; None: those that the file declares and those with well-known names.

        Raises
        ------
        VocabularyError : the file is corrupt or of an unknown kind; `where` has the byte and the field.
        OSError : the file cannot be opened.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise VocabularyError(f"{type(path).__name__} is not a path")
        return cls(read_gguf(path, eos))

    @classmethod
    def from_bytes(cls, tokens: Sequence[bytes], eos: int | Iterable[int], special: Iterable[int] = ()) -> Tokenizer:
        """Tokenizer of a list of token bytes; encodes by longest match.

        Parameters
        ----------
        tokens : bytes of each id; for special ids their names.
        eos : id or ids that end a sequence.
        special : further ids that text never produces.

        Raises
        ------
        VocabularyError : a token that is not bytes, an id out of range, no end-of-sequence id.
        """
        return cls(from_bytes(tokens, eos, special))

    @classmethod
    def from_huggingface(cls, source: Any, eos: int | Iterable[int] | None = None) -> Tokenizer:
        """Tokenizer of a tokenizer.json, of its folder, or of a fast tokenizer of transformers or tokenizers.

        Raises
        ------
        VocabularyError : not such a tokenizer, or a model of an unknown kind.
        OSError : the file cannot be opened.
        """
        return cls(read_huggingface(source, eos))

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,
        eos: int | Iterable[int] | None = None,
        pattern: str | None = None,
        special: Mapping[str, int] | None = None,
    ) -> Tokenizer:
        """Tokenizer of a `tiktoken.Encoding`, or of a `.tiktoken` file.

        Parameters
        ----------
        encoding : the encoding, or the path of a file.
        eos : ids that end a sequence; None: the special tokens with well-known names.
        pattern : how the file's model splits text into words; an encoding has its own.
        special : id of each special token by name, for a file.

        Raises
        ------
        VocabularyError : not an encoding, a file that is corrupt or has no pattern, or no end-of-sequence token.
        OSError : the file cannot be opened.
        """
        return cls(read_tiktoken(encoding, eos, pattern, special))

    @classmethod
    def from_sentencepiece(cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None) -> Tokenizer:
        """Tokenizer of a SentencePiece `.model` file, unigram or BPE; gives the ids of the sentencepiece library.

        Parameters
        ----------
        path : the file. No package is needed to read it.
        eos : ids that end a sequence; None: the piece that the trainer named, and those with well-known names.

        Raises
        ------
        VocabularyError : the file is corrupt, of another kind, or names no end-of-sequence piece.
        OSError : the file cannot be opened.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise VocabularyError(f"{type(path).__name__} is not a path")
        return cls(read_sentencepiece(path, eos))

    def save_gguf(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as a GGUF file without weights; `from_gguf` reads the same tokenizer from it.

        Raises
        ------
        VocabularyError : a token that a file of its kind cannot spell.
        OSError : the file cannot be written.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise VocabularyError(f"{type(path).__name__} is not a path")
        write_gguf(self.vocabulary, path)

    def __repr__(self) -> str:
        return f"Tokenizer({self.vocab_size} tokens, eos_ids={self.eos_ids}, encoder={self.encoder_name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """What is copied and pickled: everything but the stores of this process."""
        return {name: value for name, value in self.__dict__.items() if name != "stores"}

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
        """Number of token ids. A model may have more logits than this; masks leave the surplus at 0."""
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

    @property
    def encoder_name(self) -> str:
        """How `encode` works: "bpe", "spm", "ugm" and "wpm" give the model's own ids, "greedy" is longest match."""
        return self._encoder.name

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
        if not isinstance(token, (int, np.integer)) or not 0 <= token < self.vocab_size:
            check_ids([token], self.vocab_size, "the argument")

    def encode(self, text: str, parse_special: bool = False, method: str = "exact") -> list[int]:
        """Token ids of a text, without a token for its beginning.

        Parameters
        ----------
        text : user-defined tokens in it are always found.
        parse_special : names of special tokens in the text become these tokens.
        method : "exact": the tokenizer's own way (`encoder_name` says when it is not known and longest match is used);
            "greedy": longest match.

        Raises
        ------
        VocabularyError : `text` is not a string or contains lone surrogates, or no token spells a byte of it.
        """
        if not isinstance(text, str):
            raise VocabularyError(f"only strings can be encoded, not {type(text).__name__}")
        if method not in ("exact", "greedy"):
            raise VocabularyError(f'method "{method}" is not known', help='use "exact" or "greedy"')
        encoder = self._encoder if method == "exact" else self._greedy_encoder
        data = self.vocabulary.encoder
        ids: list[int] = []
        adds_space = data.add_space_prefix and encoder.name not in ADDS_OWN_SPACE
        try:
            for piece in self._special_tokens.cut(text, parse_special):
                if isinstance(piece, int):
                    ids.append(piece)
                else:
                    normal = unicodedata.normalize(data.normalization, piece) if data.normalization else piece
                    ids += encoder.encode(" " + normal if adds_space else normal)
        except UnicodeEncodeError as error:
            raise VocabularyError(
                f"the text contains the lone surrogate U+{ord(error.object[error.start]):04X}",
                help='replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
            ) from None
        return ids

    @cached_property
    def _special_tokens(self) -> SpecialTokens:
        return SpecialTokens(self.vocabulary)

    @cached_property
    def _greedy_encoder(self) -> Encoder:
        return GreedyEncoder(self.vocabulary)

    def count(self, text: str) -> int:
        """Number of tokens of a text.

        Raises
        ------
        VocabularyError : as `encode`.
        """
        return len(self.encode(text))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Bytes of tokens, joined; special ones add nothing.

        Raises
        ------
        VocabularyError : no such id.
        """
        tokens = self.vocabulary.tokens
        return b"".join(tokens.get(token) for token in self._check_all(ids))

    def _check_all(self, ids: Iterable[int]) -> list[int]:
        listed = list(ids) if isinstance(ids, Iterable) else ids
        check_ids(listed, self.vocab_size, "ids")
        return listed

    @property
    def decode_drops_blank(self) -> bool:
        """Whether `decode` drops one leading blank: where `encode` puts one in front."""
        encoder = self.vocabulary.encoder
        return (encoder.add_space_prefix and not encoder.space_is_suffix) or encoder.kind == "wpm"

    def decode(self, ids: Iterable[int]) -> str:
        """Text of tokens; bytes that are not UTF-8 become U+FFFD.

        One leading blank is dropped where `encode` adds it (SPM, UGM and WPM vocabularies), so that decoding undoes
        encoding. What continues a prompt is decoded with `decode_bytes`, which drops nothing.

        Raises
        ------
        VocabularyError : no such id.
        """
        data = self.decode_bytes(ids)
        if self.decode_drops_blank:
            data = data.removeprefix(b" ")
        return data.decode("utf-8", "replace")
