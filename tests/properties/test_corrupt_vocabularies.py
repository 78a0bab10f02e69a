"""Damaged vocabulary files end in a VocabularyError or in a tokenizer that works, soon and without much memory.

`python -m tests.long files` does the same with real files.
"""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest

import llmask
from bench.sentencepiece_files import BPE, UNIGRAM, model_bytes
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.gguf import write_gguf
from llmask.vocabulary.patterns import LLAMA3
from llmask.vocabulary.strings import BYTE_ALPHABET, make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.conftest import SEED
from tests.long.files import MAX_BYTES, MAX_SECONDS, load, try_mutations, use
from tests.unit.vocabulary.charsmap_files import charsmap_bytes

LETTERS = [chr(code) for code in range(97, 123)]
RULES = {b"A": b"a", b"AB": b"", "Ä".encode(): b"Ae", "\u3000".encode(): b" ", "ﬁ".encode(): b"fi"}
PIECES = [
    (b"<unk>", 0.0, 2),
    (b"</s>", 0.0, 3),
    ("▁".encode(), -3.0, 1),
    *((letter.encode(), -float(4 + place), 1) for place, letter in enumerate(LETTERS)),
    *(
        ((first + second).encode(), -float(30 + place), 1)
        for place, (first, second) in enumerate(zip("thol", "eerd", strict=True))
    ),
    (b"<tool>", 0.0, 4),
]


def sentencepiece_file(path: Path, kind: int, byte_fallback: bool) -> Path:
    names = [(f"<0x{byte:02X}>".encode(), 0.0, 6) for byte in range(256)] if byte_fallback else []
    path.write_bytes(model_bytes(PIECES + names, kind, byte_fallback, charsmap_bytes(RULES)))
    return path


def json_file(path: Path, kind: str) -> Path:
    texts = ["<unk>", "</s>", "▁", *LETTERS, "▁the", "##ing"]
    all_bytes = [*texts, *sorted({*BYTE_ALPHABET} - {*LETTERS}), "ab"]
    added = [{"id": i, "content": texts[i], "special": True} for i in range(2)]
    model = {
        "Unigram": {"vocab": [[text, -1.0 * i] for i, text in enumerate(texts)], "unk_id": 0, "byte_fallback": False},
        "WordPiece": {"vocab": {text: i for i, text in enumerate(texts)}, "unk_token": "<unk>"},
        "BPE": {"vocab": {text: i for i, text in enumerate(all_bytes)}, "merges": ["a b"], "unk_token": "<unk>"},
    }[kind]
    steps = {"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "always", "split": True}}
    if kind == "WordPiece":
        steps = {"normalizer": {"type": "BertNormalizer"}}
    if kind == "BPE":
        split = {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False}
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
        steps = {"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}]}, "decoder": {"type": "ByteLevel"}}
        steps["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    document = {"added_tokens": added, **steps, "model": {"type": kind, **model}}
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    return path


def gguf_file(path: Path, kind: str, folder: Path) -> Path:
    if kind in ("spm", "ugm"):
        model = sentencepiece_file(folder / "m.model", UNIGRAM if kind == "ugm" else BPE, byte_fallback=True)
        Tokenizer.from_sentencepiece(model).save_gguf(path)
    else:
        tokens = [b" " + letter.encode() for letter in LETTERS] + [bytes([byte]) for byte in range(256)]
        data = EncoderData(
            kind=kind, unknown_id=5, merges=make_table([b"a b", b"t h"]) if kind == "bpe" else None,
            pretokenizer="llama-bpe" if kind == "bpe" else "",
        )  # fmt: skip
        write_gguf(from_bytes([*tokens, b"ab", b"th", b"</s>"], eos=len(tokens) + 2, encoder=data), path)
    return path


@pytest.fixture(params=["gguf bpe", "gguf spm", "gguf ugm", "gguf wpm", "gguf greedy", "model ugm", "model spm",
                        "json Unigram", "json WordPiece", "json BPE"])  # fmt: skip
def sound_file(request, tmp_path) -> Path:
    form, kind = request.param.split()
    if form == "gguf":
        return gguf_file(tmp_path / "v.gguf", kind, tmp_path)
    if form == "json":
        return json_file(tmp_path / "tokenizer.json", kind)
    return sentencepiece_file(tmp_path / "v.model", UNIGRAM if kind == "ugm" else BPE, byte_fallback=kind == "spm")


@pytest.mark.long
def test_every_damaged_file_is_refused_or_works(sound_file, scaled):
    llmask.warm()  # a damaged file may turn into one of another kind
    use(load(sound_file))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    results = [*try_mutations(sound_file, scaled(300), SEED)]
    assert any(works for works, _ in results)
    assert not all(works for works, _ in results)
    assert max(seconds for _, seconds in results) < MAX_SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MAX_BYTES
