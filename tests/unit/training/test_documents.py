"""Generated documents: valid JSON, the same for the same seed, in several layouts."""

from __future__ import annotations

import hashlib
import json

from tools.training.documents import SHAPES, generate_documents


def test_documents_are_json_and_fill_the_size_asked_for():
    documents = list(generate_documents(3, 200_000))
    n_bytes = sum(len(text.encode()) for text in documents)
    assert 200_000 <= n_bytes < 220_000
    parsed = [json.loads(text) for text in documents]
    assert sum(isinstance(value, dict) for value in parsed) > len(parsed) * 0.7
    assert sum("\n" in text for text in documents) > len(documents) * 0.1
    assert len(SHAPES) > 10


def test_a_seed_decides_everything():
    first = list(generate_documents(3, 20_000))
    assert first == list(generate_documents(3, 20_000))
    assert first != list(generate_documents(4, 20_000))


def test_documents_are_the_same_on_every_python_version():
    # found equal on CPython 3.10.13, 3.11.7, 3.12.1 and 3.13.0
    texts = "\n".join(generate_documents(0, 300_000))
    expected = "e674a8713928756d03c11395d6c2825daa4a1e86babed471b8e8d3ebfb37ba13"
    assert hashlib.sha256(texts.encode()).hexdigest() == expected
