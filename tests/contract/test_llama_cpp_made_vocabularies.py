"""Made vocabularies of every kind in which tokens share their bytes: the ids that llama.cpp gives.

llama.cpp itself refuses two tokens of the same text, so they differ in their spelling: a blank beside "▁" or "Ġ".
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import pytest

from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.strings import BYTE_ALPHABET
from tests.unit.vocabulary.gguf_files import BYTE, CONTROL, NORMAL, UNKNOWN, USER_DEFINED

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

JOINER = "\u200d"
LETTERS = ("a", "b", "c", "1", "é")
PARTS = (*LETTERS, " ", "  ", "ab", "abc", JOINER, "<u>")


class Made(NamedTuple):
    """Tokens (text, type, score) and other fields of a file; the first four are special."""

    model: str
    tokens: list[tuple[str, int, float]]
    fields: dict[str, Any]


def bpe(rng: random.Random, splitter: str) -> Made:
    """Merges over the byte alphabet; a joiner, or a blank and a letter, that are not spelled in it."""
    pool = [BYTE_ALPHABET[byte] for byte in b"abc 1" + JOINER.encode()]
    texts, merges = list(BYTE_ALPHABET), []
    for _ in range(30):
        left, right = rng.choice(pool), rng.choice(pool)
        if len(left + right) < 7 and f"{left} {right}" not in merges:
            merges.append(f"{left} {right}")
            pool.append(left + right)
            texts.append(left + right)
    rng.shuffle(texts)
    for text in (JOINER, " a", "b c", "\u00ad", "ń"):
        if rng.random() < 0.6:
            texts.insert(rng.randrange(len(texts)), text)
    tokens = [(text, NORMAL, 0.0) for text in texts]
    for text in rng.choices(("<u>", "ab", "abc", "a b"), k=2):
        tokens.insert(rng.randrange(len(tokens)), (text, USER_DEFINED, 0.0))
    return Made("gpt2", tokens, {"pre": splitter, "merges": merges})


def pieces(rng: random.Random, model: str) -> Made:
    """Pieces with scores; some have a blank in place of the space mark."""
    marked = (*LETTERS, "\u2581")
    texts = [*marked, *("".join(rng.choices(marked, k=rng.randint(1, 4))) for _ in range(25))]
    texts += [text for text in (" a", "b c", " ", " ab") if rng.random() < 0.5]
    tokens = [(text, NORMAL, -10 * rng.random()) for text in texts]
    tokens += [(f"<0x{byte:02X}>", BYTE, 0.0) for byte in range(256)] if model == "llama" else []
    tokens += [(rng.choice(("ab", "  ", " a")), USER_DEFINED, -0.1)] if rng.random() < 0.5 else []
    rng.shuffle(tokens)
    fields = {"add_space_prefix": True, "remove_extra_whitespaces": model == "t5"}
    return Made(model, tokens, fields)


def words(rng: random.Random) -> Made:
    """Beginnings and rests of words; some beginnings have a blank."""
    texts = [mark + letter for mark in ("\u2581", "") for letter in LETTERS]
    texts += [rng.choice(("\u2581", "", " ")) + "".join(rng.choices(LETTERS, k=rng.randint(1, 4))) for _ in range(20)]
    rng.shuffle(texts)
    return Made("bert", [(text, NORMAL, 0.0) for text in texts], {})


def rwkv(rng: random.Random) -> Made:
    """Bytes, written with escapes or without."""
    tokens = [repr(bytes([byte]))[2:-1] for byte in range(256)]
    for _ in range(25):
        data = "".join(rng.choices((*LETTERS, " "), k=rng.randint(1, 4))).encode()
        tokens.append(repr(data)[2:-1])
        tokens += ["".join(f"\\x{byte:02x}" for byte in data)] if rng.random() < 0.3 else []
    rng.shuffle(tokens)
    return Made("rwkv", [(text, NORMAL, 0.0) for text in tokens], {})


KINDS: dict[str, Callable[[random.Random], Made]] = {
    "bpe": lambda rng: bpe(rng, "gpt-2"),
    "bpe that looks words up": lambda rng: bpe(rng, "llama-bpe"),
    "spm": lambda rng: pieces(rng, "llama"),
    "ugm": lambda rng: pieces(rng, "t5"),
    "wpm": words,
    "rwkv": rwkv,
}


def write(made: Made, path: Path) -> Path:
    special = [("<unk>", UNKNOWN, 0.0), *((name, CONTROL, 0.0) for name in ("<s>", "</s>", "<pad>"))]
    tokens = list({text: (text, *rest) for text, *rest in reversed([*special, *made.tokens])}.values())[::-1]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(made.model)
    writer.add_token_list([text for text, _, _ in tokens])
    writer.add_token_types([kind for _, kind, _ in tokens])
    writer.add_token_scores([score for _, _, score in tokens])
    ids = {"unknown": 0, "bos": 1, "eos": 2, "cls": 1, "seperator": 2, "padding": 3, "mask": 3}
    fields = {f"{name}_token_id": token for name, token in ids.items()}
    for name, value in {**fields, "add_bos_token": False, "add_eos_token": False, **made.fields}.items():
        add = {bool: writer.add_bool, int: writer.add_uint32, str: writer.add_string, list: writer.add_array}
        add[type(value)](f"tokenizer.ggml.{name}", value)
    for add_size in (writer.add_block_count, writer.add_context_length, writer.add_embedding_length):
        add_size(1)
    writer.add_head_count(1)
    writer.add_feed_forward_length(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_of_tokens_with_the_same_bytes_the_same_one_is_taken(
    kind: str, tmp_path: Path, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    """Command R has U+200D twice, ids 264 and 35927: the first one is no text in the byte alphabet, and was taken."""
    n_shared = 0
    for number in range(scaled(8)):
        path = write(KINDS[kind](rng), tmp_path / f"{number}.gguf")
        tok = Tokenizer.from_gguf(path)
        n_shared += len(tok._parts.trie.duplicates)
        model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
        for _ in range(40):
            text = "".join(rng.choices(PARTS, k=rng.randint(1, 14)))
            assert tok.encode(text) == model.tokenize(text.encode(), add_bos=False, special=False), text
        model.close()
    assert n_shared > 0
