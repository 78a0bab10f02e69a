"""Tokenizer: a vocabulary with its encoder and its trie; what a grammar is compiled for.

A grammar sees tokens as bytes. **Special tokens have no bytes**: control tokens, those that stand for the unknown,
unused ids and all end-of-sequence ids can be named by a grammar, but no text produces them. User-defined tokens are
text: a person added "<tool>" so that it is one token, and a string may contain these six characters.

In: a file, an object of another library, or token bytes. Out: token bytes, ids of texts, texts of ids. Cost: 45 ms
for a GGUF file of 128,256 tokens with the trie; its encoder's tables 0.15 s at the first `encode`, then 20 ns a byte.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .. import forks
from ..arguments import as_flag
from ..encoders.bpe import METHODS, BpeEncoder
from ..encoders.certain import certain_tokens
from ..encoders.select import ADDS_OWN_SPACE, GreedyEncoder, SpecialTokens, select_encoder, why_not_words
from ..errors import VocabularyError
from ..forks import cached_property
from ..vocabulary.vocabulary import Vocabulary, token_digest, whole_digest
from .chunks import as_limit, find_chunk
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

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary)
        self._encoder = select_encoder(vocabulary)

    def __getstate__(self) -> dict[str, Any]:
        """What is copied, and pickled of subclasses: everything but what is made at its first use."""
        kind = type(self)
        return {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }

    def __copy__(self) -> Tokenizer:
        kind = type(self)
        twin = kind.__new__(kind)
        twin.__dict__.update(self.__getstate__())
        return twin

    def __deepcopy__(self, memo: Any) -> Tokenizer:
        return self.__copy__()  # what it holds is never changed

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What is pickled: the vocabulary, of which a tokenizer is made where it arrives, or is there already."""
        return (arrived, (self.vocabulary,)) if type(self) is Tokenizer else super().__reduce_ex__(protocol)

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits: the same for tokenizers whose tokens mean the same to every grammar."""
        return token_digest(self.vocabulary)

    def __repr__(self) -> str:
        return f"Tokenizer({self.vocab_size} tokens, eos_ids={self.eos_ids}, encoder={self.encoder_name!r})"

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from .notebook import tokenizer_view

        return tokenizer_view(self, repr(self))

    @property
    def encoder_name(self) -> str:
        """How `encode` works: "bpe", "spm", "ugm" and "wpm" give the model's own ids, "greedy" is longest match."""
        return self._encoder.name

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
        add_special : also the tokens that the model expects before and behind a text, as the file says.
        dropout : for "dropout": the probability that a merge is passed over (BPE-Dropout, 2020).
        seed : for "dropout": the same seed gives the same ids.

        Raises
        ------
        VocabularyError : `text` is not a string or contains lone surrogates, no token spells a byte of it, or the
            method is not one of this vocabulary's.
        """
        if parse_special is False and add_special is False and type(method) is str and method == "exact":
            encode = self._encode_whole
            if encode is None and self.part_encoder is not None and isinstance(text, str) and not self.has_names(text):
                encode = self.part_encoder.encode
            if encode is not None and isinstance(text, str):  # a short text takes no longer than what follows
                try:
                    return encode(text)
                except UnicodeEncodeError as error:
                    raise _name_surrogate(error) from None
        parse_special, add_special = as_flag(parse_special, "parse_special"), as_flag(add_special, "add_special")
        encode = self._find_method(method, dropout, seed)
        ids: list[int] = []
        try:
            for part in self._cut(text, parse_special):
                if isinstance(part, int):
                    ids.append(part)
                elif ids:
                    ids += encode(part)
                else:
                    ids = encode(part)  # the list itself: copying a million ids costs as much as finding them
        except UnicodeEncodeError as error:
            raise _name_surrogate(error) from None
        if add_special:
            data = self.vocabulary.encoder
            return [*data.prefix_ids, *ids, *data.suffix_ids]
        return ids

    def _find_method(self, method: str, dropout: float, seed: int) -> Callable[[str], list[int]]:
        if not isinstance(method, str):
            raise VocabularyError(f"method is the name of a method, not {type(method).__name__}", help='use "exact"')
        if method == "exact":
            return self._encoder.encode
        if self.encoder_name == "wpm" and method in ("greedy", "minimal"):
            raise VocabularyError(
                f'method "{method}" is not one of a WordPiece vocabulary',
                help='use "exact", which takes the longest tokens of every word',
            )
        if method == "greedy":
            return self._greedy_encoder.encode
        if method == "minimal":
            return self._greedy_encoder.encode_fewest
        names = ("exact", "greedy", "minimal", *(METHODS if isinstance(self._encoder, BpeEncoder) else ()))
        if method not in names:
            known = ", ".join(f'"{name}"' for name in names[:-1])
            raise VocabularyError(f'method "{method}" is not known', help=f'use {known} or "{names[-1]}"')
        is_number = isinstance(dropout, (int, float)) and isinstance(seed, int)
        if not is_number or not 0 <= dropout <= 1 or not -(2**63) <= seed < 2**63:
            raise VocabularyError(
                f"dropout={dropout}, seed={seed}: a probability and a number of 64 bits are wanted",
                help="for example dropout=0.1, seed=1",
            )
        encoder: BpeEncoder = self._encoder  # type: ignore[assignment] # METHODS are those of a BPE encoder
        return lambda part: encoder.encode_otherwise(part, method, dropout if method == "dropout" else 0.0, seed)

    def _cut(self, text: str, parse_special: bool) -> Iterator[str | int]:
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
        return encode_all(self, texts, parse_special, threads)

    @cached_property
    def _encode_whole(self) -> Callable[[str], list[int]] | None:
        """The encoder itself, where nothing is looked for in a text before, and nothing put in front; or None."""
        if self._adds_space or self.vocabulary.encoder.normalization or self._special_tokens.has_user_defined:
            return None
        return self._encoder.encode

    @cached_property
    def _adds_space(self) -> bool:
        """Whether a text gets a blank in front before it is encoded; some encoders put it there themselves."""
        data = self.vocabulary.encoder
        return data.add_space_prefix and not data.space_is_suffix and data.kind not in ADDS_OWN_SPACE

    @cached_property
    def _special_tokens(self) -> SpecialTokens:
        return SpecialTokens(self.vocabulary)

    @cached_property
    def _greedy_encoder(self) -> GreedyEncoder:
        return GreedyEncoder(self.vocabulary)

    def count(self, text: str) -> int:
        """Number of tokens of a text.

        Raises
        ------
        VocabularyError : as `encode`.
        """
        if not isinstance(self._encoder, BpeEncoder):
            return len(self.encode(text))
        try:
            return sum(1 if isinstance(part, int) else self._encoder.count(part) for part in self._cut(text, False))
        except UnicodeEncodeError as error:
            raise _name_surrogate(error) from None

    def count_till_limit(self, text: str, n: int) -> int | None:
        """Number of tokens of a text, or None when it has more than `n`; does not look far beyond them.

        Raises
        ------
        VocabularyError : as `encode`.
        LlmaskError : `n` is not an integer.
        """
        n, encoder = as_limit(n), self.part_encoder
        if encoder is None or not isinstance(text, str) or self.has_names(text):
            found = self.count(text)
        else:
            try:
                found = encoder.count(text, max(n, 0))
            except UnicodeEncodeError as error:
                raise _name_surrogate(error) from None
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
            end = find_chunk(self, text, start, n)
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
        """Whether encoding what the tokens spell gives these tokens; special ones stand for themselves.

        False where the tokens spell no whole characters.

        Raises
        ------
        VocabularyError : no such id.
        """
        run: list[int] = []
        for token in [*self._check_all(ids), None]:
            if token is not None and not self._is_special(token):
                run.append(token)
                continue
            if run and not self._is_own_encoding(run):
                return False
            run = []
        return True

    def _is_special(self, token: int) -> bool:
        offsets = self.token_offsets
        return bool(offsets[token] == offsets[token + 1])

    def _is_own_encoding(self, ids: list[int]) -> bool:
        try:
            text = self._text_of(self.decode_bytes(ids).decode("utf-8"))
            return self.encode(text) == ids
        except (UnicodeDecodeError, VocabularyError):
            return False

    def compatible(self, left: int, right: int) -> bool:
        """Whether encoding what two tokens spell gives these two tokens; a special one goes with any other.

        Neighbours inside of a word must be compatible, and in BPE that is enough: a word is encoded as a sequence of
        which every two neighbours are. Where a word ends the splitter decides, so two tokens that are not compatible
        may still meet in a longer text: "12" and "345" do behind "9" where digits are grouped by three.

        Raises
        ------
        VocabularyError : no such id.
        """
        pair = self._check_all([left, right])
        if any(self._is_special(token) for token in pair):
            return all(self._is_special(token) or self.is_canonical([token]) for token in pair)
        encoder = self.word_encoder
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
        listed = self._check_all(ids)
        fixed = {token for _, token in self._special_tokens.user_defined}
        run = len(listed)
        while run > 0 and not self._is_special(listed[run - 1]) and listed[run - 1] not in fixed:
            run -= 1
        data = self.decode_bytes(listed[run:])
        certain = self.certain_tokens(data)
        if certain is None:
            raise VocabularyError(
                f"prompts are healed with byte-pair encoding only, this vocabulary has encoder {self.encoder_name!r}"
                + (" and rules for a whole text" if self.encoder_name == "bpe" else ""),
                help="give back the last word of the prompt yourself: grammar.matcher(prefix=...) takes its bytes",
            )
        kept = run
        for one, other in zip(certain, listed[run:], strict=False):
            if one != other:
                break
            kept += 1
        return listed[:kept], self.decode_bytes(listed[kept:])

    def prepare(self) -> None:
        """Pay ahead of the first request what its first use pays: the trie, the encoder's tables, the certain tokens'.

        Takes a tenth of a second for 128,000 tokens, and nothing the second time. What `Compiler` needs of a tokenizer
        is made by the first compiler; `llmask.warm_up` pays what belongs to the process.
        """
        self.decode(self.encode("a b"))
        self.certain_tokens(b"a b")
        _ = self.trie  # of a tokenizer without certain tokens

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
        data : UTF-8, which may end inside of a character; bytes that are none are certain of nothing.
        may_end : `data` may be the whole text.
        first_bytes : bool[256], with which bytes the text may go on; None: any.
        allows : whether the text may go on with some bytes; None: always.
        """
        encoder, rules = self._encoder, self.vocabulary.encoder
        if not isinstance(encoder, BpeEncoder) or rules.normalization or rules.add_space_prefix:
            return None
        names = [name.encode() for name, _ in self._special_tokens.user_defined]
        encode = partial(self._special_tokens.encode_beginnings, self.encode, encoder) if names else None
        return certain_tokens(encoder, self.trie, data, names, encode, may_end, first_bytes, allows)

    @property
    def word_encoder(self) -> BpeEncoder | None:
        """The BPE encoder, where every text is nothing but words to it: no normalization, no names to look for."""
        return None if self._special_tokens.has_user_defined else self.part_encoder

    @cached_property
    def part_encoder(self) -> BpeEncoder | None:
        """The BPE encoder, where a text without names (`has_names`) is nothing but words to it."""
        found = self._encoder
        return found if isinstance(found, BpeEncoder) and not why_not_words(found, self.vocabulary.encoder) else None

    def has_names(self, text: str | bytes) -> bool:
        """Whether a text names user-defined tokens, which `encode` always finds."""
        if not self._special_tokens.has_user_defined:
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

    @property
    def user_defined(self) -> list[tuple[str, int]]:
        """Names that are cut out of every text before it is encoded, with their tokens."""
        return self._special_tokens.user_defined

    def encoder_between_names(self) -> BpeEncoder | str:
        """The BPE encoder, where a text is words and user-defined tokens to it; otherwise the reason why it is not."""
        why = why_not_words(self._encoder, self.vocabulary.encoder, self._special_tokens)
        return why if why or self.part_encoder is None else self.part_encoder


_arrived: WeakValueDictionary[str, Tokenizer] = WeakValueDictionary()  # out of pickles, and in use
_arriving = forks.new_lock(forks.ARRIVALS)


def arrived(vocabulary: Vocabulary) -> Tokenizer:
    """The tokenizer of a vocabulary that came out of a pickle: the same one as long as one is in use.

    So all that arrives shares what is built over a tokenizer, its trie and the stores of grammars.
    """
    twin, digest = Tokenizer(vocabulary), whole_digest(vocabulary)
    with _arriving:
        return _arrived.setdefault(digest, twin)


def _name_surrogate(error: UnicodeEncodeError) -> VocabularyError:
    return VocabularyError(
        f"the text contains the lone surrogate U+{ord(error.object[error.start]):04X}",
        help='replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")',
    )
