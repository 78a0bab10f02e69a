"""The vocabulary of a GGUF file in the other forms that it can have: tokenizer.json, .model, .tiktoken.

    python -m bench.vocabulary_files FOLDER model.gguf ...

writes `NAME.tokenizer.json` for every kind, `NAME.model` for SPM and UGM, and `o200k_base.tiktoken` for BPE whose ids
are ranks, which `tests/long/files.py` damages.

In: GGUF files, a folder. Out: files. Cost: a second a file.
"""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from typing import Any

from bench.sentencepiece_files import model_of
from bench.tokenizers.peers import patterns_of
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.vocabulary import TokenType, Vocabulary

ADDED = (TokenType.CONTROL, TokenType.USER_DEFINED)
TIKTOKEN_NAME = "o200k_base.tiktoken"  # its special ids lie above those of most vocabularies


def _split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def tokenizer_json(tok: Tokenizer) -> dict[str, Any]:
    """A tokenizer.json with the tokens, and with the steps that its kind usually has."""
    vocabulary = tok._parts.vocabulary
    texts = [text.decode("utf-8", "replace") for text in vocabulary.texts.strings()]
    ids = {text: token for token, text in enumerate(texts)}
    types, data = vocabulary.types.tolist(), vocabulary.encoder
    added = [
        {"id": token, "content": texts[token], "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": kind == TokenType.CONTROL}
        for token, kind in enumerate(types) if kind in ADDED and texts[token]
    ]  # fmt: skip
    document: dict[str, Any] = {"version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": None}
    mark = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    merges = [] if data.merges is None else [merge.decode().split(" ", 1) for merge in data.merges.strings()]
    if data.kind == "bpe":
        parts = [*map(_split, patterns_of(tok)), {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]
        document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": parts}
        model = {"type": "BPE", "vocab": ids, "merges": merges, "ignore_merges": data.ignore_merges}
    elif data.kind == "wpm":
        document["normalizer"] = {"type": "BertNormalizer", "lowercase": True}
        document["pre_tokenizer"] = {"type": "BertPreTokenizer"}
        words = [text[1:] if text.startswith("\u2581") else text if kind in ADDED else f"##{text}"
                 for text, kind in zip(texts, types, strict=True)]  # fmt: skip
        model = {"type": "WordPiece", "unk_token": words[data.unknown_id], "continuing_subword_prefix": "##",
                 "vocab": {word: token for token, word in enumerate(words)}}  # fmt: skip
    elif data.kind == "ugm":
        assert data.scores is not None
        if data.charsmap is not None:
            encoded = base64.b64encode(data.charsmap.to_bytes()).decode()
            document["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": encoded}
        document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, mark]}
        pieces = [[text, score] for text, score in zip(texts, data.scores.tolist(), strict=True)]
        model = {"type": "Unigram", "unk_id": data.unknown_id, "vocab": pieces}
    else:
        steps = [{"type": "Prepend", "prepend": "\u2581"}]
        steps += [{"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]
        document["normalizer"] = {"type": "Sequence", "normalizers": steps}
        model = {"type": "BPE", "vocab": ids, "merges": merges or merges_of_scores(vocabulary), "byte_fallback": True,
                 "fuse_unk": True, "unk_token": texts[data.unknown_id]}  # fmt: skip
    return {**document, "model": model}


def merges_of_scores(vocabulary: Vocabulary) -> list[list[str]]:
    """Every pair of tokens that makes a token, by the score of what it makes."""
    assert vocabulary.encoder.scores is not None
    texts = [text.decode("utf-8", "replace") for text in vocabulary.texts.strings()]
    known, scores = set(texts), vocabulary.encoder.scores.tolist()
    order = sorted((token for token in range(len(texts)) if len(texts[token]) > 1), key=lambda t: -scores[t])
    return [
        [texts[token][:place], texts[token][place:]]
        for token in order
        for place in range(1, len(texts[token]))
        if texts[token][:place] in known and texts[token][place:] in known
    ]


def tiktoken_lines(tok: Tokenizer) -> bytes:
    """A .tiktoken file with ids as ranks, as they are where merges were derived from ranks."""
    types = tok._parts.vocabulary.types.tolist()
    ranks = ((tok.token_bytes(t), t) for t in range(tok.vocab_size) if types[t] == TokenType.NORMAL)
    return b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks if token)


def write_all(path: Path, folder: Path) -> list[Path]:
    """Write every form of one GGUF file; returns the paths."""
    tok = Tokenizer.from_gguf(path)
    files = [folder / f"{path.stem}.tokenizer.json"]
    files[0].write_text(json.dumps(tokenizer_json(tok), ensure_ascii=False), "utf-8")
    if tok.encoder_name in ("spm", "ugm"):
        files.append(folder / f"{path.stem}.model")
        files[-1].write_bytes(model_of(tok._parts.vocabulary))
    elif tok._parts.vocabulary.encoder.ignore_merges:
        files.append(folder / TIKTOKEN_NAME)
        files[-1].write_bytes(tiktoken_lines(tok))
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in options.files:
        for written in write_all(path, options.folder):
            print(f"{written} {written.stat().st_size}")


if __name__ == "__main__":
    main()
