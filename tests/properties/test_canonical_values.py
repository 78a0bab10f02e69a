"""Canonical masks where values must differ equal their definition: the encodings of all documents, which are few."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import llmask
from tests.properties.test_healing import spaced_tokenizer
from tests.reference.definition import read_mask

STRINGS = [  # schemas with all of their values; the tokenizers have no backslash, so nothing is escaped
    ({"type": "string", "pattern": "^5?$"}, ["", "5"]),
    ({"type": "string", "pattern": r"^[\],5]$"}, ["]", ",", "5"]),
    ({"type": "string", "pattern": r"^[5\[]{0,2}$"}, ["", "5", "[", "55", "5[", "[5", "[["]),
]
VALUES: list[Any] = [*STRINGS, ({"type": "array", "maxItems": 1, "items": STRINGS[0][0]}, [[], [""], ["5"]])]
VALUES += [({"enum": [value]}, [value]) for value in (5, 55, [], [5], "]")]
PATTERNS = (
    (r"[0-9]?[\[\]\",]+|[0-9]+",),  # a word may hold a value with the comma behind it, and digits begin a word
    (r"[0-9],?|.",),
    (r"[\[\]\"]+,|[0-9]+|.",),
    (r".+",),
)


def test_arrays_of_different_values(costly: Any, rng: random.Random) -> None:
    n_masks = n_narrower = 0
    for _ in range(costly(32)):
        tokenizer = spaced_tokenizer(rng, '5,"[]', rng.choice(PATTERNS))
        canonical, plain = llmask.Compiler(tokenizer, canonical=True), llmask.Compiler(tokenizer)
        for _ in range(2):
            chosen = rng.sample(VALUES, rng.randint(1, 3))
            values = list({json.dumps(value): value for _, listed in chosen for value in listed}.values())
            schema = {
                "type": "array",
                "uniqueItems": True,
                "maxItems": 3,
                "items": {"anyOf": [one for one, _ in chosen]},
            }
            documents = [
                [*tokenizer.encode(json.dumps(items, separators=(",", ":"))), tokenizer.eos_ids[0]]
                for n in range(4)
                for items in itertools.permutations(values, n)
            ]
            grammars = [compiler.json_schema(schema, whitespace="compact") for compiler in (canonical, plain)]
            for document in rng.sample(documents, min(6, len(documents))):
                matcher, other = [grammar.matcher() for grammar in grammars]
                for n, token in enumerate(document):
                    expected = {ids[n] for ids in documents if ids[:n] == document[:n]}
                    allowed = read_mask(matcher, tokenizer.vocab_size)
                    assert allowed == expected, (schema, matcher.text(), tokenizer._parts.vocabulary.encoder.merges)
                    n_narrower += allowed < read_mask(other, tokenizer.vocab_size)
                    n_masks += 1
                    matcher.accept_token(token)
                    other.accept_token(token)
    assert n_masks > 500
    assert n_narrower > 50
