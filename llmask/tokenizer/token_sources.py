"""Where tokenizers come from: files, objects of other libraries, lists of bytes; and how they are written.

Each source has a reader in `llmask/vocabulary/`; these are the doors to them. All of them take `vocab_size`, the number
of the model's logits: ids above the tokens are padding, which no mask allows; tokens above the ids are gone.

In: a path or an object. Out: a tokenizer, or a GGUF file of one. Cost: 45 ms for a GGUF file of 128,256 tokens with the
trie, when the kernels are loaded (0.3 s in a fresh process); 0.3 s for a tokenizer.json of that size.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import as_path
from ..errors import VocabularyError
from ..vocabulary.gguf import read_gguf, write_gguf
from ..vocabulary.huggingface import read_huggingface
from ..vocabulary.kinds import HUGGING_FACE, kind_of, refuse_names, refuse_other_kinds
from ..vocabulary.sentencepiece import read_sentencepiece
from ..vocabulary.tiktoken import SPECIAL_TOKENS, read_tiktoken
from ..vocabulary.vocabulary import Vocabulary, from_bytes, resize
from .parts import TokenizerParts

if TYPE_CHECKING:
    from typing_extensions import Self

DEFAULT_FILE = Path(__file__).parent.parent / "defaults" / "tokenizer.gguf"


class TokenSources:
    """The class methods that make a tokenizer of each kind of source, and the way into a file."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._parts = TokenizerParts(vocabulary)

    @classmethod
    def default(cls) -> Self:
        """The tokenizer inside the package: byte-level BPE, 32,768 tokens (`llmask/defaults/README.md`)."""
        return cls.from_gguf(DEFAULT_FILE)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None, vocab_size: int | None = None
    ) -> Self:
        """Tokenizer of a file of the kind that its first bytes say: GGUF, tokenizer.json, SentencePiece, `.tiktoken`.

        Parameters
        ----------
        path : the file, or the folder of a tokenizer.json.
        eos : ids that end a sequence; None: as the constructor of that kind finds them.
        vocab_size : number of the model's logits; None: as many ids as the file has.

        Raises
        ------
        VocabularyError : the file is of no known kind, or what its constructor raises.
        OSError : the file cannot be read.

        Examples
        --------
        >>> from llmask import Tokenizer
        >>> Tokenizer.load(DEFAULT_FILE, vocab_size=32896)
        Tokenizer(32896 tokens, eos_ids=[32767], encoder='bpe')
        """
        refuse_names(path)
        kind = kind_of(path)
        if kind is None:
            raise VocabularyError(
                f"{Path(path)} is neither a GGUF file nor a tokenizer.json, a SentencePiece .model or a .tiktoken file",
                where="byte 0",
                help="give a file of one of these kinds",
            )
        found: Self = getattr(cls, kind)(path, eos=eos, vocab_size=vocab_size)
        return found

    @classmethod
    def from_gguf(
        cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None, vocab_size: int | None = None
    ) -> Self:
        """Tokenizer of a GGUF file with a BPE, SPM, UGM, WPM or RWKV vocabulary; weights are not touched.

        Parameters
        ----------
        path : the file.
        eos : ids that end a sequence; None: those that the file declares and those with well-known names.
        vocab_size : number of the model's logits, to which the ids are padded or cut; None: as many as the source has.

        Raises
        ------
        VocabularyError : the file is corrupt or of an unknown kind; `where` has the byte and the field. It is the name
            of a model, as nothing is downloaded. Or `vocab_size` is no number of ids, or cuts a token that is special.
        OSError : the file cannot be opened.
        """
        refuse_names(path, f"give the path of its .gguf file, or {HUGGING_FACE}")
        refuse_other_kinds(path, "from_gguf")
        return cls(resize(read_gguf(as_path(path), eos), vocab_size))

    @classmethod
    def from_bytes(
        cls,
        tokens: Sequence[bytes],
        eos: int | Iterable[int],
        special: Iterable[int] = (),
        vocab_size: int | None = None,
    ) -> Self:
        """Tokenizer of a list of token bytes; encodes by longest match.

        Parameters
        ----------
        tokens : bytes of each id; for special ids their names.
        eos : id or ids that end a sequence.
        special : further ids that text never produces.
        vocab_size : number of the model's logits, to which the ids are padded or cut; None: as many as the source has.

        Raises
        ------
        VocabularyError : a token that is not bytes, an id out of range, no end-of-sequence id; or `vocab_size` is no
            number of ids, or cuts a token that is special.
        """
        return cls(resize(from_bytes(tokens, eos, special), vocab_size))

    @classmethod
    def from_huggingface(
        cls, source: Any, eos: int | Iterable[int] | None = None, vocab_size: int | None = None
    ) -> Self:
        """Tokenizer of a tokenizer.json, of its folder, or of a fast tokenizer of transformers or tokenizers.

        Parameters
        ----------
        source : the file, its folder, or the object.
        eos : ids that end a sequence; None: those that the object or the files beside it declare, and those with
            well-known names.
        vocab_size : number of the model's logits, to which the ids are padded or cut; None: as many as the source has.

        Raises
        ------
        VocabularyError : not such a tokenizer, a model of an unknown kind, or the name of a model, as nothing is
            downloaded; or `vocab_size` is no number of ids, or cuts a token that is special.
        OSError : the file cannot be opened.
        """
        if isinstance(source, (str, os.PathLike)):
            refuse_names(source)
            refuse_other_kinds(source, "from_huggingface")
        return cls(resize(read_huggingface(source, eos), vocab_size))

    @classmethod
    def from_tiktoken(
        cls,
        encoding: Any,
        eos: int | Iterable[int] | None = None,
        pattern: str | None = None,
        special: Mapping[str, int] | None = None,
        vocab_size: int | None = None,
    ) -> Self:
        """Tokenizer of a `tiktoken.Encoding`, or of a `.tiktoken` file.

        Parameters
        ----------
        encoding : the encoding, or the path of a file.
        eos : ids that end a sequence; None: the special tokens with well-known names.
        pattern : how the file's model splits text into words; an encoding has its own. None: by the name of the file,
            if that is one of tiktoken's, such as `cl100k_base.tiktoken`.
        special : id of each special token by name, for a file; None: by its name, too.
        vocab_size : number of the model's logits, to which the ids are padded or cut; None: as many as the source has.

        Raises
        ------
        VocabularyError : not an encoding, a file that is corrupt or has no pattern, or no end-of-sequence token; the
            name of an encoding or model, as nothing is downloaded; or `vocab_size` is no number of ids, or cuts a token
            that is special.
        OSError : the file cannot be opened.
        """
        if isinstance(encoding, (str, os.PathLike)):
            is_encoding = str(encoding) in SPECIAL_TOKENS
            how = "get_encoding" if is_encoding else "encoding_for_model"
            refuse_names(encoding, f'pass the encoding itself: Tokenizer.from_tiktoken(tiktoken.{how}("NAME"))')
            refuse_other_kinds(encoding, "from_tiktoken")
        return cls(resize(read_tiktoken(encoding, eos, pattern, special), vocab_size))

    @classmethod
    def from_sentencepiece(
        cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None, vocab_size: int | None = None
    ) -> Self:
        """Tokenizer of a SentencePiece `.model` file, unigram or BPE; gives the ids of the sentencepiece library.

        Parameters
        ----------
        path : the file. No package is needed to read it.
        eos : ids that end a sequence; None: the piece that the trainer named, and those with well-known names.
        vocab_size : number of the model's logits, to which the ids are padded or cut; None: as many as the source has.

        Raises
        ------
        VocabularyError : the file is corrupt, of another kind, or names no end-of-sequence piece; or `vocab_size` is no
            number of ids, or cuts a token that is special.
        OSError : the file cannot be opened.
        """
        refuse_other_kinds(path, "from_sentencepiece")
        return cls(resize(read_sentencepiece(as_path(path), eos), vocab_size))

    def save_gguf(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as a GGUF file without weights; `from_gguf` reads the same tokenizer from it.

        Raises
        ------
        VocabularyError : a token that a file of its kind cannot spell.
        OSError : the file cannot be written.
        """
        write_gguf(self._parts.vocabulary, as_path(path))
