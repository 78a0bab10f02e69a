"""What the engine takes of a tokenizer: token bytes as arrays, their trie, and how its encoder cuts a text.

`Tokenizer` is what users see; it has one `TokenizerParts`, and all that is built over a vocabulary is found here.

In: a vocabulary. Out: arrays, the trie, the encoder. Cost: 15 ms for the trie of 128,256 tokens, at the first use.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np

from ..encoders.bpe import BpeEncoder
from ..encoders.certain import certain_tokens
from ..encoders.select import ADDS_OWN_SPACE, Encoder, GreedyEncoder, SpecialTokens, select_encoder, why_not_words
from ..errors import VocabularyError
from ..forks import cached_property
from ..trie.layout import TokenTrie, build_trie
from ..vocabulary.vocabulary import TokenType, Vocabulary, check_ids, token_digest


class TokenizerParts:
    """A vocabulary with its trie and its encoder. Immutable, may be shared by threads.

    Attributes
    ----------
    vocabulary : tokens, names, kinds, and what the source says of encoding.
    tokens : bytes of each id.
    vocab_size : number of token ids.
    encoder : encodes a text without special tokens.
    """

    def __init__(self, vocabulary: Vocabulary, encoder: Encoder | None = None) -> None:
        self.vocabulary = vocabulary
        self.tokens = vocabulary.tokens
        self.vocab_size: int = vocabulary.tokens.n_strings
        self.encoder = select_encoder(vocabulary) if encoder is None else encoder

    def __reduce__(self) -> tuple[Any, ...]:
        return TokenizerParts, (self.vocabulary,)

    def copy(self) -> TokenizerParts:
        """The same without what is made at its first use, so that what is built over a copy is its own."""
        return TokenizerParts(self.vocabulary, self.encoder)

    @cached_property
    def digest(self) -> str:
        """See `Tokenizer.digest`."""
        return token_digest(self.vocabulary)

    @cached_property
    def stores(self) -> WeakSet[Any]:
        """What compilers have built over this vocabulary and somebody still uses."""
        return WeakSet()

    # --- tokens

    @property
    def special_ids(self) -> list[int]:
        """Ids, sorted, that text never produces."""
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
        return self.tokens.offsets

    @property
    def token_data(self) -> np.ndarray:
        """uint8, read-only: the bytes of all tokens, one after the other."""
        return self.tokens.data

    @cached_property
    def trie(self) -> TokenTrie:
        """Prefix trie of all token bytes, built at the first use."""
        return build_trie(self.token_offsets, self.token_data)

    @cached_property
    def _special(self) -> frozenset[int]:
        return frozenset(self.special_ids)

    def check_token(self, token: int) -> None:
        """Refuse what is no id of the vocabulary."""
        if isinstance(token, bool) or not isinstance(token, (int, np.integer)) or not 0 <= token < self.vocab_size:
            check_ids([token], self.vocab_size, "the argument")

    def checked(self, ids: Iterable[int]) -> list[int]:
        """Ids as a list.

        Raises
        ------
        VocabularyError : one of them is no id of the vocabulary.
        """
        try:
            listed = list(ids)
        except TypeError:
            check_ids(ids, self.vocab_size, "ids")  # says what is wrong
            raise
        check_ids(listed, self.vocab_size, "ids")
        return listed

    def is_special(self, token: int) -> bool:
        """Whether a token has no bytes."""
        offsets = self.token_offsets
        return bool(offsets[token] == offsets[token + 1])

    def bytes_or_name(self, token: int) -> bytes:
        """Bytes of a token, the name of a special one.

        Raises
        ------
        VocabularyError : no such id.
        """
        self.check_token(token)
        return self.vocabulary.texts.get(token) if token in self._special else self.tokens.get(token)

    @property
    def decode_drops_blank(self) -> bool:
        """Whether `decode` drops one leading blank: where `encode` puts one there."""
        encoder = self.vocabulary.encoder
        return (encoder.add_space_prefix and not encoder.space_is_suffix) or encoder.kind == "wpm"

    # --- texts

    def encode(
        self, text: str, encode: Callable[[str], list[int]] | None = None, parse_special: bool = False
    ) -> list[int]:
        """Ids of a text, by the encoder's own method or by another one.

        Raises
        ------
        VocabularyError : as `Tokenizer.encode`.
        """
        encode = self.encoder.encode if encode is None else encode
        ids: list[int] = []
        try:
            for part in self.cut(text, parse_special):
                if isinstance(part, int):
                    ids.append(part)
                elif ids:
                    ids += encode(part)
                else:
                    ids = encode(part)  # the list itself: copying a million ids costs as much as finding them
        except UnicodeEncodeError as error:
            raise name_surrogate(error) from None
        return ids

    def cut(self, text: str, parse_special: bool) -> Iterator[str | int]:
        """Special tokens of a text, and the texts between them as the encoder takes them."""
        if not isinstance(text, str):
            raise VocabularyError(
                f"only strings can be encoded, not {type(text).__name__}", help="give a str; decode bytes first"
            )
        data = self.vocabulary.encoder
        for part in self._special_tokens.cut(text, parse_special):
            if isinstance(part, str):
                if data.normalization:
                    part = unicodedata.normalize(data.normalization, part)
                has_blank = data.space_prefix_once and part.startswith(" ")
                yield " " + part if self._adds_space and not has_blank else part
            else:
                yield part

    @cached_property
    def encode_whole(self) -> Callable[[str], list[int]] | None:
        """The encoder itself, where nothing is looked for in a text before, and nothing added to it; or None."""
        if self._adds_space or self.vocabulary.encoder.normalization or self._special_tokens.user_defined:
            return None
        return self.encoder.encode

    @cached_property
    def _adds_space(self) -> bool:
        """Whether a text gets a leading blank before it is encoded; some encoders add it themselves."""
        data = self.vocabulary.encoder
        return data.add_space_prefix and not data.space_is_suffix and data.kind not in ADDS_OWN_SPACE

    @cached_property
    def _special_tokens(self) -> SpecialTokens:
        return SpecialTokens(self.vocabulary)

    @cached_property
    def greedy_encoder(self) -> GreedyEncoder:
        """Encodes by longest match, or in as few tokens as can be."""
        return GreedyEncoder(self.vocabulary)

    def certain_tokens(
        self,
        data: bytes,
        may_end: bool = True,
        first_bytes: np.ndarray | None = None,
        allows: Callable[[bytes], bool] | None = None,
    ) -> list[int] | None:
        """Token ids that the encoding of every text that begins with `data` begins with; None where nobody knows.

        Parameters
        ----------
        data : UTF-8, which may end inside of a character; bytes that are not UTF-8 have no certain tokens.
        may_end : `data` may be the whole text.
        first_bytes : bool[256], with which bytes the text may go on; None: any.
        allows : whether the text may go on with some bytes; None: always.
        """
        encoder, rules = self.encoder, self.vocabulary.encoder
        if not isinstance(encoder, BpeEncoder) or rules.normalization or rules.add_space_prefix:
            return None
        names = [name.encode() for name, _ in self.user_defined]
        encode = partial(self._special_tokens.encode_beginnings, self.encode, encoder) if names else None
        return certain_tokens(encoder, self.trie, data, names, encode, may_end, first_bytes, allows)

    @property
    def word_encoder(self) -> BpeEncoder | None:
        """The BPE encoder, where every text is nothing but words to it: no normalization, no names to look for."""
        return None if self._special_tokens.user_defined else self.part_encoder

    @cached_property
    def part_encoder(self) -> BpeEncoder | None:
        """The BPE encoder, where a text without names (`has_names`) is nothing but words to it."""
        found = self.encoder
        return found if isinstance(found, BpeEncoder) and not why_not_words(found, self.vocabulary.encoder) else None

    def encoder_between_names(self) -> BpeEncoder | str:
        """The BPE encoder, where a text is words and user-defined tokens to it; otherwise the reason why it is not."""
        why = why_not_words(self.encoder, self.vocabulary.encoder, self._special_tokens)
        return why if why or self.part_encoder is None else self.part_encoder

    # --- names of user-defined tokens

    @property
    def user_defined(self) -> list[tuple[str, int]]:
        """Names that are cut out of every text before it is encoded, with their tokens."""
        return self._special_tokens.user_defined

    def has_names(self, text: str | bytes) -> bool:
        """Whether a text names user-defined tokens, which `encode` always finds."""
        if not self._special_tokens.user_defined:
            return False
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        return self._special_tokens.finder.occur_in(data)

    @property
    def longest_name(self) -> int:
        """Bytes of the longest name that `has_names` looks for."""
        return self._special_tokens.finder.longest

    def cut_names(self, data: bytes) -> list[int | bytes]:
        """User-defined tokens that a text names, and the bytes between; it may begin and end inside of a character."""
        if not self.has_names(data):
            return [data]
        parts = self._special_tokens.cut(data.decode("utf-8", "surrogateescape"), False)
        return [part if isinstance(part, int) else part.encode("utf-8", "surrogateescape") for part in parts]


def name_surrogate(error: UnicodeEncodeError) -> VocabularyError:
    """The error for a text with a lone surrogate."""
    return VocabularyError(
        f"the text contains the lone surrogate U+{ord(error.object[error.start]):04X}",
        help='replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
    )
