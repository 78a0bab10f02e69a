"""Where tokenizers come from: files, objects of other libraries, lists of bytes; and how they are written.

Each source has a reader in `llmask/vocabulary/`; these are the doors to them.

In: a path or an object. Out: a tokenizer, or a GGUF file of one. Cost: 45 ms for a GGUF file of 128,256 tokens with the
trie, when the kernels are loaded (0.3 s in a fresh process); 0.3 s for a tokenizer.json of that size.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arguments import as_path
from ..vocabulary.gguf import read_gguf
from ..vocabulary.gguf_write import write_gguf
from ..vocabulary.huggingface import read_huggingface
from ..vocabulary.sentencepiece import read_sentencepiece
from ..vocabulary.tiktoken import read_tiktoken
from ..vocabulary.vocabulary import from_bytes
from .token_table import TokenTable

if TYPE_CHECKING:
    from typing_extensions import Self

DEFAULT_FILE = Path(__file__).parent.parent / "defaults" / "tokenizer.gguf"


class TokenSources(TokenTable):
    """The class methods that make a tokenizer of each kind of source, and the way into a file."""

    @classmethod
    def default(cls) -> Self:
        """The tokenizer inside the package: byte-level BPE, 32,768 tokens (`llmask/defaults/README.md`)."""
        return cls.from_gguf(DEFAULT_FILE)

    @classmethod
    def from_gguf(cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None) -> Self:
        """Tokenizer of a GGUF file with a BPE, SPM, UGM, WPM or RWKV vocabulary; weights are not touched.

        Parameters
        ----------
        path : the file.
        eos : ids that end a sequence; None: those that the file declares and those with well-known names.

        Raises
        ------
        VocabularyError : the file is corrupt or of an unknown kind; `where` has the byte and the field.
        OSError : the file cannot be opened.
        """
        return cls(read_gguf(as_path(path), eos))

    @classmethod
    def from_bytes(cls, tokens: Sequence[bytes], eos: int | Iterable[int], special: Iterable[int] = ()) -> Self:
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
    def from_huggingface(cls, source: Any, eos: int | Iterable[int] | None = None) -> Self:
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
    ) -> Self:
        """Tokenizer of a `tiktoken.Encoding`, or of a `.tiktoken` file.

        Parameters
        ----------
        encoding : the encoding, or the path of a file.
        eos : ids that end a sequence; None: the special tokens with well-known names.
        pattern : how the file's model splits text into words; an encoding has its own. None: by the name of the file,
            if that is one of tiktoken's, such as `cl100k_base.tiktoken`.
        special : id of each special token by name, for a file; None: by its name, too.

        Raises
        ------
        VocabularyError : not an encoding, a file that is corrupt or has no pattern, or no end-of-sequence token.
        OSError : the file cannot be opened.
        """
        return cls(read_tiktoken(encoding, eos, pattern, special))

    @classmethod
    def from_sentencepiece(cls, path: str | os.PathLike[str], eos: int | Iterable[int] | None = None) -> Self:
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
        return cls(read_sentencepiece(as_path(path), eos))

    def save_gguf(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as a GGUF file without weights; `from_gguf` reads the same tokenizer from it.

        Raises
        ------
        VocabularyError : a token that a file of its kind cannot spell.
        OSError : the file cannot be written.
        """
        write_gguf(self.vocabulary, as_path(path))
