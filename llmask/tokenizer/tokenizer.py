"""Tokenizer: a vocabulary with its encoder and its trie; what a grammar is compiled for.

A grammar sees tokens as bytes. **Special tokens have no bytes**: control tokens, the token of what is unknown,
unused ids and all end-of-sequence ids can be named by a grammar, but no text produces them. User-defined tokens are
text: a person added "<tool>" so that it is one token, and a string may contain these six characters.

In: a file, an object of another library, or token bytes. Out: token bytes, ids of texts, texts of ids. Cost: 45 ms
for a GGUF file of 128,256 tokens with the trie; its encoder's tables 0.15 s at the first `encode`, then 20 ns a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from .. import forks
from ..arguments import as_flag, check_type
from ..encoders.bpe import METHODS, BpeEncoder
from ..errors import VocabularyError
from ..vocabulary.vocabulary import Vocabulary, whole_digest
from .chunks import as_limit, find_chunk
from .parts import name_surrogate
from .text_batches import encode_all
from .token_sources import TokenSources


class Tokenizer(TokenSources):
    """A vocabulary together with its encoder. Immutable, may be shared by threads, and be pickled.

    Parameters
    ----------
    vocabulary : usually made by one of the class methods.

    Examples
    --------
    >>> tok = Tokenizer.from_bytes([b"<end>", b"a", b"ab", b"b"], eos=0)
    >>> tok.encode("abb"), tok.decode([1, 3]), tok.token_bytes(0)
    ([2, 3], 'ab', b'')
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The old name of `warm`, which goes when the names of llmask/deprecated.py do."""
            if name == "prepare":
                return self.warm
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __copy__(self) -> Tokenizer:
        kind = type(self)
        twin = kind.__new__(kind)
        twin.__dict__.update(self.__dict__, _parts=self._parts.copy())
        return twin

    def __deepcopy__(self, memo: Any) -> Tokenizer:
        return self.__copy__()  # what it holds is never changed

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What is pickled: the vocabulary. Where it arrives a tokenizer is made of it, unless one is in use."""
        return (arrived, (self._parts.vocabulary,)) if type(self) is Tokenizer else super().__reduce_ex__(protocol)

    @property
    def digest(self) -> str:
        """64 hexadecimal digits: the same for tokenizers whose tokens mean the same to every grammar."""
        return self._parts.digest

    def __repr__(self) -> str:
        return f"Tokenizer({self.vocab_size} tokens, eos_ids={self.eos_ids}, encoder={self.encoder_name!r})"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from .notebook import tokenizer_view

        return tokenizer_view(self._parts, repr(self))

    @property
    def store_bytes(self) -> int:
        """Memory of the tables that grammars of this tokenizer share, in bytes; not of a grammar's own."""
        return sum(store.bytes_used for store in tuple(self._parts.stores))

    @property
    def vocab_size(self) -> int:
        """Number of token ids. A model may have more logits than this; masks leave the surplus at 0.

        `vocab_size` of the constructors makes it the number of the model's logits.
        """
        return self._parts.vocab_size

    @property
    def eos_ids(self) -> list[int]:
        """Ids that end a sequence, the principal one first."""
        return list(self._parts.vocabulary.eos_ids)

    @property
    def special_ids(self) -> list[int]:
        """Ids, sorted, that text never produces; end-of-sequence ids are among them."""
        return self._parts.special_ids

    def token_bytes(self, token: int) -> bytes:
        """Bytes of a token; b"" for special ones.

        Raises
        ------
        VocabularyError : no such id.
        """
        parts = self._parts
        parts.check_token(token)
        return parts.tokens.get(token)

    def token_name(self, token: int) -> str:
        """Spelling of a token in its source: the way to show special tokens.

        Raises
        ------
        VocabularyError : no such id.
        """
        self._parts.check_token(token)
        return self._parts.vocabulary.texts.get(token).decode("utf-8", "replace")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Bytes of tokens, joined; special ones add nothing.

        Raises
        ------
        VocabularyError : no such id.
        """
        parts = self._parts
        get = parts.tokens.get
        return b"".join(get(token) for token in parts.checked(ids))

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """Text of tokens; bytes that are not UTF-8 become U+FFFD.

        One leading blank is dropped where `encode` adds it (SPM, UGM and WPM vocabularies), so that decoding undoes
        encoding. What continues a prompt is decoded with `decode_bytes`, which drops nothing.

        Parameters
        ----------
        ids : token ids.
        skip_special : special tokens are left out; False: their names are in the text, as `encode(...,
            parse_special=True)` reads them. Ids that no token has are never seen.

        Raises
        ------
        VocabularyError : no such id.
        """
        if as_flag(skip_special, "skip_special"):
            return self._text_of(self.decode_bytes(ids).decode("utf-8", "replace"))
        spelled = b"".join(map(self._parts.bytes_or_name, self._parts.checked(ids)))
        return self._text_of(spelled.decode("utf-8", "replace"))

    def _text_of(self, spelled: str) -> str:
        return spelled.removeprefix(" ") if self._parts.decode_drops_blank else spelled

    @property
    def encoder_name(self) -> str:
        """How `encode` works: "bpe", "spm", "ugm" and "wpm" give the model's own ids, "greedy" is longest match."""
        return self._parts.encoder.name

    def encode(
        self,
        text: str,
        parse_special: bool = False,
        method: str = "exact",
        add_special: bool = False,
        dropout: float = 0.1,
        seed: int = 0,
    ) -> list[int]:
        """Token ids of a text, unless asked for without a token for its beginning.

        Parameters
        ----------
        text : user-defined tokens in it are always found.
        parse_special : names of special tokens in the text become these tokens.
        method : "exact": the tokenizer's own way (`encoder_name` says when it is not known and longest match is used);
            "greedy": the longest token at each place; "minimal": as few tokens as can be (neither for WordPiece, which
            takes the longest tokens of each word anyway). BPE vocabularies also have
            "table" and "heap", which give the same ids as "exact" in other ways, and "dropout".
        add_special : also the tokens that the model expects before and after a text, as the file says.
        dropout : for "dropout": the probability that a merge is passed over (BPE-Dropout, 2020).
        seed : for "dropout": the same seed gives the same ids.

        Raises
        ------
        VocabularyError : `text` is not a string or contains lone surrogates, no token spells a byte of it, or the
            method is not one of this vocabulary's.
        """
        if parse_special is False and add_special is False and type(method) is str and method == "exact":
            parts = self._parts
            encode, is_text = parts.encode_whole, isinstance(text, str)
            if encode is None and parts.part_encoder is not None and is_text and not parts.has_names(text):
                encode = parts.part_encoder.encode
            if encode is not None and is_text:  # a short text takes no longer than what follows
                try:
                    return encode(text)
                except UnicodeEncodeError as error:
                    raise name_surrogate(error) from None
        parse_special, add_special = as_flag(parse_special, "parse_special"), as_flag(add_special, "add_special")
        ids = self._parts.encode(text, self._find_method(method, dropout, seed), parse_special)
        if add_special:
            data = self._parts.vocabulary.encoder
            return [*data.prefix_ids, *ids, *data.suffix_ids]
        return ids

    def _find_method(self, method: str, dropout: float, seed: int) -> Callable[[str], list[int]]:
        check_type(method, str, "method is the name of a method", 'use "exact"', VocabularyError)
        if method == "exact":
            return self._parts.encoder.encode
        if self.encoder_name == "wpm" and method in ("greedy", "minimal"):
            raise VocabularyError(
                f'method "{method}" is not one of a WordPiece vocabulary',
                help='use "exact", which takes the longest tokens of every word',
            )
        if method == "greedy":
            return self._parts.greedy_encoder.encode
        if method == "minimal":
            return self._parts.greedy_encoder.encode_fewest
        names = ("exact", "greedy", "minimal", *(METHODS if isinstance(self._parts.encoder, BpeEncoder) else ()))
        if method not in names:
            known = ", ".join(f'"{name}"' for name in names[:-1])
            raise VocabularyError(f'method "{method}" is not known', help=f'use {known} or "{names[-1]}"')
        is_number = isinstance(dropout, (int, float)) and isinstance(seed, int)
        if not is_number or not 0 <= dropout <= 1 or not -(2**63) <= seed < 2**63:
            raise VocabularyError(
                f"dropout={dropout}, seed={seed}: a probability and a number of 64 bits are wanted",
                help="for example dropout=0.1, seed=1",
            )
        encoder: BpeEncoder = self._parts.encoder  # type: ignore[assignment] # only a BPE encoder has METHODS
        return lambda part: encoder.encode_otherwise(part, method, dropout if method == "dropout" else 0.0, seed)

    def encode_batch(
        self, texts: Sequence[str], parse_special: bool = False, threads: int | None = None
    ) -> list[list[int]]:
        """Token ids of many texts: `[encode(text, parse_special) for text in texts]`, by several threads.

        Parameters
        ----------
        threads : None: one for each processor. Compiled encoders release the GIL; the lists are made one by one.

        Raises
        ------
        VocabularyError : as `encode`, for the first text that has a reason; or `texts` is one text.
        LlmaskError : `threads` is not an integer.
        """
        return encode_all(self._parts, self.encode, texts, parse_special, threads)

    def count(self, text: str) -> int:
        """Number of tokens of a text.

        Raises
        ------
        VocabularyError : as `encode`.
        """
        parts, encoder = self._parts, self._parts.encoder
        if not isinstance(encoder, BpeEncoder):
            return len(self.encode(text))
        try:
            return sum(1 if isinstance(part, int) else encoder.count(part) for part in parts.cut(text, False))
        except UnicodeEncodeError as error:
            raise name_surrogate(error) from None

    def count_till_limit(self, text: str, n: int) -> int | None:
        """Number of tokens of a text, or None when it has more than `n`; does not look far beyond them.

        Raises
        ------
        VocabularyError : as `encode`.
        LlmaskError : `n` is not an integer.
        """
        n, encoder = as_limit(n), self._parts.part_encoder
        if encoder is None or not isinstance(text, str) or self._parts.has_names(text):
            found = self.count(text)
        else:
            try:
                found = encoder.count(text, max(n, 0))
            except UnicodeEncodeError as error:
                raise name_surrogate(error) from None
        return found if found <= n else None

    def split(self, text: str, n: int) -> list[str]:
        """Chunks of at most `n` tokens, each counted alone; joined they are the text.

        A chunk is what the first `n` tokens of the rest spell, less what they have of a character that they do not
        finish, and less where the end of the chunk changes how its last word is split. Where tokens do not spell the
        text, because it is normalized, a beginning of at most `n` tokens is searched by counting.

        Raises
        ------
        VocabularyError : as `encode`; or one character alone has more than `n` tokens.
        LlmaskError : `n` is not an integer.
        """
        self.count_till_limit(text, n)
        chunks = []
        n, start = as_limit(n), 0
        while start < len(text):
            end = find_chunk(self._parts, self.encode, self.count, text, start, n)
            if end == start:
                raise VocabularyError(
                    f"the character {text[start]!r} alone has more than {n} tokens",
                    where=f"character {start}",
                    help="give a larger n",
                )
            chunks.append(text[start:end])
            start = end
        return chunks

    def is_canonical(self, ids: Iterable[int]) -> bool:
        """Whether encoding what the tokens spell gives these tokens; special tokens are taken as they are.

        False where the tokens spell no whole characters.

        Raises
        ------
        VocabularyError : no such id.
        """
        runs = groupby(self._parts.checked(ids), self._parts.is_special)
        return all(is_special or self._is_own_encoding([*run]) for is_special, run in runs)

    def _is_own_encoding(self, ids: list[int]) -> bool:
        try:
            text = self._text_of(self.decode_bytes(ids).decode("utf-8"))
            return self.encode(text) == ids
        except (UnicodeDecodeError, VocabularyError):
            return False

    def compatible(self, left: int, right: int) -> bool:
        """Whether encoding what two tokens spell gives these two tokens; a special one goes with any other.

        Neighbours inside of a word must be compatible, and in BPE that is enough: tokens of one word are its
        encoding if all neighbours are. Where a word ends the splitter decides, so tokens that are not compatible may
        still meet in a longer text: "12" and "345" do after "9" where digits are grouped by three.

        Raises
        ------
        VocabularyError : no such id.
        """
        pair = self._parts.checked([left, right])
        if any(self._parts.is_special(token) for token in pair):
            return all(self._parts.is_special(token) or self.is_canonical([token]) for token in pair)
        encoder = self._parts.word_encoder
        if encoder is None:
            return self._is_own_encoding(pair)
        try:
            return encoder.encode_bytes(self.decode_bytes(pair)) == pair
        except VocabularyError:
            return False

    def heal(self, ids: Iterable[int]) -> tuple[list[int], bytes]:
        """The tokens of a prompt to keep, and the bytes of the others, with which the output must begin.

        Kept is the longest beginning that no later text can change: a prompt that ends in "http:" gives ":" back,
        because "://" is a token. Special tokens are always kept. `grammar.matcher(prefix=...)` takes the bytes.

        Raises
        ------
        VocabularyError : no such id; or the vocabulary is not one of byte-pair encoding.

        Examples
        --------
        >>> tok = Tokenizer.default()
        >>> ids, prefix = tok.heal(tok.encode("The name"))
        >>> tok.decode(ids), prefix
        ('The', b' name')
        """
        listed = self._parts.checked(ids)
        fixed = {token for _, token in self._parts.user_defined}
        run = len(listed)
        while run > 0 and not self._parts.is_special(listed[run - 1]) and listed[run - 1] not in fixed:
            run -= 1
        data = self.decode_bytes(listed[run:])
        certain = self._parts.certain_tokens(data)
        if certain is None:
            raise VocabularyError(
                f"prompts are healed with byte-pair encoding only, this vocabulary has encoder {self.encoder_name!r}"
                + (" and rules for a whole text" if self.encoder_name == "bpe" else ""),
                help="give back the last word of the prompt yourself: grammar.matcher(prefix=...) takes its bytes",
            )
        same = takewhile(lambda pair: pair[0] == pair[1], zip(certain, listed[run:], strict=False))
        kept = run + len([*same])
        return listed[:kept], self.decode_bytes(listed[kept:])

    def warm(self) -> None:
        """Pay ahead of the first request what its first use pays: the trie, the encoder's tables, the certain tokens'.

        Takes a tenth of a second for 128,000 tokens, and nothing the second time. What `Compiler` needs of a tokenizer
        is made by the first compiler; `llmask.warm` pays what belongs to the process.
        """
        self.decode(self.encode("a b"))
        self._parts.certain_tokens(b"a b")
        _ = self._parts.trie  # of a tokenizer without certain tokens


_arrived: WeakValueDictionary[str, Tokenizer] = WeakValueDictionary()  # out of pickles, and in use
_arriving = forks.new_lock(forks.ARRIVALS)


def arrived(vocabulary: Vocabulary) -> Tokenizer:
    """The tokenizer of a vocabulary that came out of a pickle: the same one as long as one is in use.

    So all that arrives shares what is built over a tokenizer, its trie and the stores of grammars.
    """
    twin, digest = Tokenizer(vocabulary), whole_digest(vocabulary)
    with _arriving:
        return _arrived.setdefault(digest, twin)
