"""Make the shipped tokenizer and n-gram model: `python -m tools.training.make [FOLDER]`.

The same Python version with an unchanged standard library writes the same bytes; another version has other docstrings
and so another vocabulary. Nothing is downloaded.

In: the standard library, a seed. Out: tokenizer.gguf and ngrams.npz in FOLDER (default: `llmask/defaults`). Cost: 20 s.
"""

from __future__ import annotations

import contextlib
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from llmask.defaults.ngram import FILE
from llmask.encoders.bpe import BYTE_OF_CHARACTER
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.patterns import LLAMA3

from .corpus import Corpus, gather
from .train_bpe import split_words, train_merges
from .train_ngram import count_ngrams

VOCAB_SIZE = 32_768
END_NAME = "<|endoftext|>"
LEAST_COUNTS = (1, 2, 2, 2)  # orders 2 to 5; chosen so that the file has about 1.5 MB
WORD_LIMIT = 48  # longer words are banners and tables

CHARACTER_OF_BYTE = {byte: chr(code) for code, byte in BYTE_OF_CHARACTER.items()}


def make(folder: Path) -> None:
    """Write both files."""
    corpus = gather()
    tokens, merges = make_vocabulary(corpus)
    write_tokenizer(folder / "tokenizer.gguf", tokens, merges)
    write_ngrams(folder, corpus)


def make_vocabulary(corpus: Corpus) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    """Token bytes, the end token's place last, and merges."""
    counts: Counter[bytes] = Counter()
    for texts in corpus:
        for text in texts:
            counts.update(
                word.encode("utf-8", "replace") for word in split_words((LLAMA3,), text) if len(word) <= WORD_LIMIT
            )
    merges = train_merges(counts, VOCAB_SIZE - 256 - 1)
    tokens = [bytes([byte]) for byte in range(256)] + [left + right for left, right in merges]
    if len(tokens) != VOCAB_SIZE - 1:
        raise RuntimeError(f"the texts yield only {len(tokens)} tokens; is the standard library complete?")
    return tokens, merges


def write_tokenizer(path: Path, tokens: Iterable[bytes], merges: Iterable[tuple[bytes, bytes]]) -> None:
    """GGUF file without weights; the end token has the last id."""
    import gguf

    spelled = [_spell(token) for token in tokens]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("llmask default tokenizer")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list([*spelled, END_NAME])
    writer.add_token_types([gguf.TokenType.NORMAL] * len(spelled) + [gguf.TokenType.CONTROL])
    writer.add_token_merges([f"{_spell(left)} {_spell(right)}" for left, right in merges])
    writer.add_bos_token_id(len(spelled))
    writer.add_eos_token_id(len(spelled))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def _spell(token: bytes) -> str:
    return "".join(CHARACTER_OF_BYTE[byte] for byte in token)


def write_ngrams(folder: Path, corpus: Corpus) -> None:
    """Model file over the tokenizer that lies in `folder`."""
    tok = Tokenizer.from_gguf(folder / "tokenizer.gguf")
    end_id = tok.eos_ids[0]
    ids = [end_id]  # the beginning of the first document is a beginning, too
    for text in (*corpus.docstrings, *corpus.documents):
        ids += tok.encode(_flatten(text))
        ids.append(end_id)
    arrays = count_ngrams(np.array(ids, np.int64), _represent_numbers(tok), LEAST_COUNTS)
    arrays["end_id"] = np.array(end_id)
    save_arrays(folder / "ngrams.npz", arrays)


def _flatten(text: str) -> str:
    """The text on one line: a model of few tokens loses count of indents and then writes nothing but blanks."""
    if text[0] in "{[" and text[-1] in "}]":
        with contextlib.suppress(ValueError):
            return json.dumps(json.loads(text), ensure_ascii=False)
    return " ".join(text.encode("utf-8", "replace").decode("utf-8").split())


def _represent_numbers(tok: Tokenizer) -> np.ndarray:
    """For each token the one that stands for it in contexts: numbers of as many digits are alike."""
    representatives = np.arange(tok.vocab_size)
    first_of_length: dict[int, int] = {}
    for token in range(tok.vocab_size):
        data = tok.token_bytes(token)
        if data.isdigit():
            representatives[token] = first_of_length.setdefault(len(data), token)
    return representatives


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """As `numpy.savez_compressed`, which stores the time of day and so never writes the same file twice."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as file:
                np.lib.format.write_array(file, arrays[name], allow_pickle=False)


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE.parent)
