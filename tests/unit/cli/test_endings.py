"""Weights that bring a document to its end: where it stands, how urgent the end is, what closes, what is excess."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from llmask import Compiler
from llmask.cli.endings import NEVER, Endings, NeutralSource, NgramSource, OneLine, Place, find_place
from llmask.cli.sampling import write_document


@pytest.mark.parametrize(
    ("text", "string_bytes"),
    [
        (b"", None),
        (b'{"', 0),
        (b'{"abc', 3),
        (b'{"a"', None),
        (b'{"a\\"', 3),
        (b'{"a\\\\"', None),
        (b'{"a\\\\\\"b', 6),
        (b'{"a": "\\', 1),
        (b'["\\u0022"', None),
        (b'["{", "', 0),
    ],
)
def test_strings_are_told_from_the_rest(text: bytes, string_bytes: int | None) -> None:
    assert find_place(text) == Place(string_bytes, text[-1] if text else 0)


def test_haste_rises_with_the_document_and_with_the_string(byte_tokenizer: Any) -> None:
    endings = Endings(byte_tokenizer, True, 200)
    outside = Place(None, 0)
    assert [endings.haste(n, outside) for n in (0, 50, 75, 100, 199)] == [0, 0, 0.5, 1, 1]
    assert [endings.haste(0, Place(n_bytes, 0)) for n_bytes in (0, 50, 100, 150, 900)] == [0, 0, 0.5, 1, 1]
    assert endings.haste(75, Place(150, 0)) == 1
    assert Endings(byte_tokenizer, True, 100_000).haste(250, outside) == 1


@pytest.fixture
def ids(tiny_tokenizer: Any) -> dict[bytes, int]:
    return {tiny_tokenizer.token_bytes(token): token for token in range(tiny_tokenizer.vocab_size)}


def test_what_closes_depends_on_the_place(tiny_tokenizer: Any, ids: dict[bytes, int]) -> None:
    endings = Endings(tiny_tokenizer, True, 100)

    def weights(text: bytes, *tokens: bytes) -> list[float]:
        place = endings.place([ids[bytes([byte])] for byte in text])
        return endings.weights(place, np.array([ids[token] for token in tokens])).tolist()

    assert weights(b'{"a', b'"', b'"}', b"}", b"{}") == [1, 2, 0, 0]
    assert weights(b'{"a', b"aa")[0] == pytest.approx(-0.2)
    assert weights(b'{"a"', b'"', b"}", b"1", b"{", b"{}", b'{"') == [0, 2, -1, -2, -1, -2]
    assert weights(b"[1", b"") == [1]


def test_text_that_is_not_json_has_one_weight(tiny_tokenizer: Any) -> None:
    endings = Endings(tiny_tokenizer, False, 100)
    weights = endings.weights(endings.place([5, 6]), np.arange(tiny_tokenizer.vocab_size))
    assert set(np.flatnonzero(weights).tolist()) == set(np.flatnonzero(endings.first_class == 256).tolist())


def test_white_space_in_excess_is_never_wanted(tiny_tokenizer: Any, ids: dict[bytes, int]) -> None:
    endings = Endings(tiny_tokenizer, True, 100)
    tokens = [b" ", b"  ", b"\n  ", b": "[:1], b'": ', b'"']

    def excess(text: bytes, is_compact: bool) -> list[bool]:
        place = endings.place([ids[bytes([byte])] for byte in text])
        chosen = np.array([ids[token] for token in tokens])
        return (endings.white_space(place, chosen, is_compact) == np.float32(NEVER)).tolist()

    assert excess(b'{"a":', False) == [False, True, True, False, False, False]
    assert excess(b'{"a":', True) == [True, True, True, False, False, False]
    assert excess(b'{"a"', False) == [True, True, True, False, False, False]
    assert excess(b'{"a', False) == [False, False, True, False, False, False]


def test_a_model_keeps_its_judgement_but_for_line_breaks(tiny_tokenizer: Any, ids: dict[bytes, int]) -> None:
    class Flat:
        def begin(self) -> None:
            self.has_begun = True

        def logits(self, ids: list[int], allowed: np.ndarray) -> np.ndarray:
            return np.arange(len(allowed), dtype=np.float32)

    source = Flat()
    chosen = np.array([ids[token] for token in (b" ", b"  ", b"\n", b" \n", b"a")])
    for is_json, expected in ((True, [0, 1, NEVER, NEVER, 4]), (False, [0, 1, 2, 3, 4])):
        one_line = OneLine(source, Endings(tiny_tokenizer, is_json, 100))
        one_line.begin()
        assert one_line.logits([], chosen).tolist() == expected
    assert source.has_begun


# Nothing limits its strings, numbers, arrays or depth.
ENDLESS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "mail": {"type": "string", "format": "email"},
        "number": {"type": "number"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "children": {"type": "array", "items": {"$ref": "#"}},
    },
    "required": ["text", "mail", "number", "list", "children"],
    "additionalProperties": False,
}


def test_first_bytes_are_equally_likely_in_a_foreign_vocabulary(tiny_tokenizer: Any) -> None:
    source = NeutralSource(Endings(tiny_tokenizer, False, 1000))
    tokens = [token for token in range(tiny_tokenizer.vocab_size) if tiny_tokenizer.token_bytes(token)[:1] in b"ntx"]
    allowed = np.array([token for token in tokens if tiny_tokenizer.token_bytes(token)], np.int64)
    weights = np.exp(source.logits([], allowed))
    by_byte = dict.fromkeys("ntx", 0.0)
    for token, weight in zip(allowed.tolist(), weights.tolist(), strict=True):
        by_byte[tiny_tokenizer.token_bytes(token)[:1].decode()] += weight
    assert by_byte == pytest.approx({"n": 1, "t": 1, "x": 1})


def documents(tokenizer: Any, source: Any, n_documents: int) -> list[Any]:
    grammar = Compiler(tokenizer).json_schema(ENDLESS)
    written = []
    for seed in range(n_documents):
        steps = write_document(grammar, source, np.random.default_rng(seed), 1.0, 1000, lambda text: None)
        text = tokenizer.decode_bytes([step.token for step in steps[:-1]])
        assert b"\n" not in text
        written.append(json.loads(text))
    return written


@pytest.mark.long
def test_neutral_documents_end_though_the_schema_limits_nothing(default_tokenizer: Any) -> None:
    written = documents(default_tokenizer, NeutralSource(Endings(default_tokenizer, True, 1000)), 20)
    assert len({json.dumps(document) for document in written}) == 20


@pytest.mark.long
def test_documents_of_the_ngram_model_end_though_the_schema_limits_nothing(default_tokenizer: Any) -> None:
    from llmask.defaults import NgramModel

    source = NgramSource(NgramModel.load_default(), Endings(default_tokenizer, True, 1000))
    assert len({json.dumps(document) for document in documents(default_tokenizer, source, 20)}) == 20
