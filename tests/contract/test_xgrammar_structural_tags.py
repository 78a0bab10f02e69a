"""XGrammar is the judge of structural tags: texts and masks are the same, but for the differences that the data tells.

Surrogates are left out, as in test_xgrammar_grammars.py: XGrammar takes ED A0 for the beginning of a character.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from tests.conftest import tiny_vocabulary
from tests.reference.definition import read_mask

from .structural_tag_specs import CASES

xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")

# white space in JSON is without a bound there, and compiling refuses what reading a tag accepts
NO_MASKS = {name for name, case in CASES.items() if case.different or "json_schema" in json.dumps(case.format)}
NO_MASKS |= {"exclude==trigger", "exclude prefix of trigger"}


def theirs_of(name: str) -> Any:
    return xgrammar.Grammar.from_structural_tag(json.dumps({"type": "structural_tag", "format": CASES[name].format}))


@pytest.mark.parametrize("name", CASES)
def test_xgrammar_says_the_same_of_every_text(name: str) -> None:
    from xgrammar.testing import _is_grammar_accept_string as accepts

    case, theirs = CASES[name], theirs_of(name)
    assert case.different.keys() <= {*case.accepted, *case.refused}
    for text in (*case.accepted, *case.refused):
        assert accepts(theirs, text) == ((text in case.accepted) != (text in case.different)), text


@pytest.mark.parametrize("name", [name for name in CASES if name not in NO_MASKS])
def test_masks_are_those_of_xgrammar(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], name: str
) -> None:
    tokens, eos, special = tiny_vocabulary()
    info = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(tokens), stop_token_ids=[eos]
    )
    theirs = xgrammar.GrammarCompiler(info).compile_grammar(theirs_of(name))
    ours = llmask.Compiler(tiny_tokenizer).structural_tag({"format": CASES[name].format})
    left_out = {*special, *(token for token, data in enumerate(tokens) if not data or not is_utf8(data))}
    favourites = sorted({byte for text in CASES[name].accepted for byte in text.encode()})
    words = xgrammar.allocate_token_bitmask(1, len(tokens))
    for _ in range(scaled(20)):
        matcher, other, text = ours.matcher(), xgrammar.GrammarMatcher(theirs), b""
        for _ in range(12):
            other.fill_next_token_bitmask(words)
            bits = np.unpackbits(words.numpy().view(np.uint8), bitorder="little")[: len(tokens)]
            wanted = set(np.flatnonzero(bits).tolist()) - left_out
            found = read_mask(matcher, len(tokens)) - left_out
            assert found == wanted, f"after {text!r}"
            likely = [token for token in found if tokens[token] in {bytes([byte]) for byte in favourites}]
            if not found - {eos}:
                break
            token = rng.choice(likely if likely and rng.random() < 0.8 else sorted(found - {eos}))
            matcher.accept_token(token)
            assert other.accept_token(token)
            text += tokens[token]


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


ONE = {"type": "token", "token": "name"}
TOOL = {"type": "token", "token": "<|tool|>"}
TAG = {"type": "tag", "begin": TOOL, "content": {"type": "const_string", "value": "a"}, "end": ONE}
TOKEN_FORMATS = {
    "a token": {"type": "sequence", "elements": [ONE, {"type": "const_string", "value": "ab"}, TOOL]},
    "any but one": {"type": "sequence", "elements": [{"type": "exclude_token", "exclude_tokens": ["name", 5]}, ONE]},
    "any number": {"type": "tag", "begin": ONE, "content": {"type": "any_tokens", "exclude_tokens": [5]}, "end": TOOL},
    "at most": {
        "type": "sequence",
        "elements": [{"type": "any_tokens", "exclude_tokens": ["name"], "max_tokens": 2}, ONE],
    },
    "triggered": {"type": "token_triggered_tags", "trigger_tokens": ["<|tool|>"], "tags": [TAG], "exclude_tokens": [7]},
    "triggered once": {
        "type": "token_triggered_tags",
        "trigger_tokens": ["<|tool|>"],
        "tags": [TAG],
        "stop_after_first": True,
    },
    "triggered at once": {
        "type": "token_triggered_tags",
        "trigger_tokens": ["<|tool|>"],
        "tags": [TAG],
        "at_least_one": True,
    },
    "rules": {"type": "token_dispatch", "rules": [["name", TOOL], [5, {"type": "const_string", "value": "b"}]]},
    "a rule once": {"type": "token_dispatch", "rules": [["name", TOOL]], "loop": False, "exclude_tokens": [5]},
}


@pytest.mark.parametrize("name", TOKEN_FORMATS)
def test_masks_of_tokens_are_those_of_xgrammar(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], name: str
) -> None:
    tokens, eos, _ = tiny_vocabulary()
    document = {"type": "structural_tag", "format": TOKEN_FORMATS[name]}
    info = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(tokens), stop_token_ids=[eos]
    )
    theirs = xgrammar.GrammarCompiler(info).compile_structural_tag(json.dumps(document))
    ours = llmask.Compiler(tiny_tokenizer).structural_tag(document)
    # tokens without bytes are none to XGrammar
    left_out = {token for token, data in enumerate(tokens) if not data} | {0}
    favourites = [tokens.index(data) for data in (b"name", b"<|tool|>", b"a", b"b", b"ab")] + [5]
    words = xgrammar.allocate_token_bitmask(1, len(tokens))
    for _ in range(scaled(20)):
        matcher, other = ours.matcher(), xgrammar.GrammarMatcher(theirs)
        for _ in range(8):
            other.fill_next_token_bitmask(words)
            bits = np.unpackbits(words.numpy().view(np.uint8), bitorder="little")[: len(tokens)]
            found = read_mask(matcher, len(tokens)) - left_out
            assert found == set(np.flatnonzero(bits).tolist()) - left_out
            likely = [token for token in favourites if token in found]
            if not found - {eos}:
                break
            token = rng.choice(likely if likely and rng.random() < 0.7 else sorted(found - {eos}))
            matcher.accept_token(token)
            assert other.accept_token(token)
