"""The same BPE vocabulary in other libraries, made from a GGUF file that llmask reads.

tiktoken wants ranks. A vocabulary whose merges were derived from ranks (Llama 3) gives them back: a token's id is its
rank. Hugging Face tokenizers wants the tokens and merges as the file has them.

In: `Tokenizer`. Out: functions from a text to ids. Cost: seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from llmask import Tokenizer
from llmask.vocabulary.patterns import PATTERNS
from llmask.vocabulary.vocabulary import TokenType


def patterns_of(tok: Tokenizer) -> tuple[str, ...]:
    """How the vocabulary splits texts."""
    data = tok._parts.vocabulary.encoder
    return data.patterns or PATTERNS[data.pretokenizer]


def tiktoken_encoding(tok: Tokenizer) -> Any:
    """A `tiktoken.Encoding` with the tokens' ids as ranks."""
    import tiktoken

    patterns = patterns_of(tok)
    if len(patterns) > 1:
        raise ValueError("tiktoken splits by one pattern")
    types = tok._parts.vocabulary.types.tolist()
    ranks = {
        tok.token_bytes(t): t for t in range(tok.vocab_size) if types[t] == TokenType.NORMAL and tok.token_bytes(t)
    }
    return tiktoken.Encoding(
        "peer", pat_str=patterns[0], mergeable_ranks=ranks, special_tokens={"<end>": tok.vocab_size}
    )


def hugging_face(tok: Tokenizer) -> Any:
    """A `tokenizers.Tokenizer` with the file's tokens and merges."""
    import tokenizers

    data, texts = (
        tok._parts.vocabulary.encoder,
        [text.decode("utf-8") for text in tok._parts.vocabulary.texts.strings()],
    )
    assert data.merges is not None
    splits: list[dict[str, Any]] = [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
        for pattern in patterns_of(tok)
    ]
    document = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                *splits, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
            ],
        },
        "post_processor": None, "decoder": None,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": data.ignore_merges,
            "vocab": {text: token for token, text in enumerate(texts)},
            "merges": [merge.decode("utf-8").split(" ", 1) for merge in data.merges.strings()],
        },
    }  # fmt: skip
    return tokenizers.Tokenizer.from_str(json.dumps(document))


def encoders(tok: Tokenizer) -> dict[str, Callable[[str], list[int]]]:
    """Peers that are installed and can have this vocabulary."""
    found: dict[str, Callable[[str], list[int]]] = {}
    try:
        encoding = tiktoken_encoding(tok)
        found["tiktoken"] = encoding.encode_ordinary
    except (ImportError, ValueError) as reason:
        print(f"without tiktoken: {reason}")
    try:
        peer = hugging_face(tok)
        found["tokenizers"] = lambda text: peer.encode(text, add_special_tokens=False).ids
    except ImportError as reason:
        print(f"without tokenizers: {reason}")
    return found
