"""Masks by prefix: rows may be permuted, repeated, shortened, padded or refused, and each gets the mask of its text."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from llmask import Compiler, allocate_bitmask
from llmask.errors import BudgetError, LlmaskError
from llmask.samplers.prefixes import BatchMasks, PrefixTable

END = 256  # end of sequence of byte_tokenizer, where token id = byte


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> Compiler:
    return Compiler(byte_tokenizer)


@pytest.fixture(scope="module")
def grammar(compiler: Compiler) -> Any:
    return compiler.regex("(ab|ac|b)*d?")


def rows(*texts: str, prompt: str = "PP") -> np.ndarray:
    """Token ids of the prompt and each text; `.` is the end of sequence, `_` padding after it."""
    table = {".": END, "_": 0}
    ids = [[table.get(letter, ord(letter)) for letter in prompt + text] for text in texts]
    return np.array(ids, np.int64)


def allowed(mask: np.ndarray) -> list[str]:
    """Each row's allowed tokens as a string, `.` for the end of sequence."""
    bits = np.unpackbits(mask.view(np.uint8), axis=-1, bitorder="little")
    return ["".join(chr(token) if token != END else "." for token in np.flatnonzero(row)) for row in bits]


def test_rows_are_permuted_and_repeated_as_beams_do(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    masks.fill(rows("", "", ""))
    assert allowed(masks.fill(rows("a", "b", "d"))) == ["bc", "abd.", "."]
    assert allowed(masks.fill(rows("bd", "ab", "ac"))) == [".", "abd.", "abd."]
    assert allowed(masks.fill(rows("aba", "aba", "ac."))) == ["bc", "bc", "."]


def test_shorter_prefixes_are_asked_again_as_assisted_decoding_does(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    for text in ("", "a", "ab", "aba", "a", "ab", "abb", "abbd", "a", "", "b"):
        mask = allowed(masks.fill(rows(text)))
        assert mask == {"a": ["bc"], "aba": ["bc"], "abbd": ["."]}.get(text, ["abd."])


def test_a_finished_row_keeps_the_end_of_sequence_whatever_pads_it(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    for text in ("", "b", "b.", "b._", "b.__", "b.._"):
        mask = allowed(masks.fill(rows(text)))
    assert mask == ["."]


def test_a_refused_row_may_only_end_and_stays_refused(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    masks.fill(rows("", ""))
    assert allowed(masks.fill(rows("x", "a"))) == [".", "bc"]
    assert allowed(masks.fill(rows("xb", "ab"))) == [".", "abd."]


def test_each_prompt_has_its_own_grammar_and_its_own_beams(compiler: Compiler, grammar: Any) -> None:
    masks = BatchMasks([grammar, compiler.regex("x+")])
    prompts = np.concatenate([rows("", "", prompt="PP"), rows("", "", prompt="QQ")])
    assert allowed(masks.fill(prompts)) == ["abd.", "abd.", "x", "x"]
    longer = np.concatenate([rows("a", "x", prompt="PP"), rows("a", "x", prompt="QQ")])
    assert allowed(masks.fill(longer)) == ["bc", ".", ".", "x."]


def test_masks_of_random_visits_equal_those_of_a_fresh_matcher(
    rng: random.Random, scaled: Callable[[int], int], grammar: Any, byte_tokenizer: Any
) -> None:
    masks = BatchMasks(grammar, prompt_length=2)
    for _ in range(scaled(300)):
        length = rng.randrange(8)
        texts = ["".join(rng.choice("abcd") for _ in range(length)) for _ in range(3)]
        given = masks.fill(rows(*texts)).copy()
        for text, words in zip(texts, given, strict=True):
            matcher = grammar.matcher()
            expected = allocate_bitmask(1, byte_tokenizer.vocab_size)
            if matcher.validate_tokens([ord(letter) for letter in text]) < length:
                assert allowed(words[None]) == ["."]
                continue
            matcher.accept_tokens([ord(letter) for letter in text])
            matcher.fill_bitmask(expected)
            assert words.tolist() == expected[0].tolist()


def test_the_table_forgets_the_oldest_prefixes_and_replays_them(grammar: Any) -> None:
    table = PrefixTable(grammar, capacity=5)
    ids = rows("abacbabab", prompt="")[0]
    for length in [*range(10), *range(10)]:
        matcher = table.after(ids[:length])
        assert matcher is not None
        assert len(table) <= 5
        assert matcher.is_accepting() == (length not in (1, 3, 6, 8))
    table.clear()
    assert len(table) == 0


def misuse(call: Callable[[], Any]) -> str:
    with pytest.raises(LlmaskError) as caught:
        call()
    return str(caught.value)


def test_rows_of_another_generation_are_refused_and_change_nothing(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    masks.fill(rows(""))
    masks.fill(rows("a"))
    another = (
        "the rows do not start with the prompt of this processor's first call\n"
        "  make a new processor for every generation, or call reset() before the next one"
    )
    assert misuse(lambda: masks.fill(rows("a", prompt="QQ"))) == another
    assert misuse(lambda: masks.fill(rows("", prompt="P"))) == another
    assert misuse(lambda: masks.fill(rows("abab"))) == (
        "the rows grew from 3 to 6 tokens between two calls\n"
        "  at token 3\n"
        "  make a new processor for every generation (or call reset()); drafts must be asked about token by token, so "
        "llama-cpp-python's draft_model cannot be used"
    )
    assert allowed(masks.fill(rows("ab"))) == ["abd."]
    masks.reset()
    assert allowed(masks.fill(rows("", prompt="QQQQQQ"))) == ["abd."]


def test_arguments_that_do_not_fit_are_refused(compiler: Compiler, grammar: Any, tiny_tokenizer: Any) -> None:
    assert misuse(lambda: BatchMasks([])) == ("no grammar was given\n  pass a compiled grammar, or one for each prompt")
    assert misuse(lambda: BatchMasks(grammar, prompt_length=-1)) == (
        "prompt_length is -1; it counts tokens and cannot be negative"
    )
    assert misuse(lambda: BatchMasks(grammar, prompt_length=3).fill(rows(""))) == (
        "the rows have 2 tokens, fewer than prompt_length = 3\n"
        "  leave prompt_length out to take what the first call brings"
    )
    assert misuse(lambda: BatchMasks([grammar, grammar]).fill(rows("", "", ""))) == (
        "3 rows cannot be shared out among 2 grammars\n"
        "  pass one grammar for all rows, or one for each prompt in the batch"
    )
    assert misuse(lambda: BatchMasks([grammar, Compiler(tiny_tokenizer).regex("a")])) == (
        "the grammars of one batch were compiled for different tokenizers\n  compile them with one llmask.Compiler"
    )


def test_rows_end_within_max_tokens_behind_the_prompt(compiler: Compiler) -> None:
    masks = BatchMasks(compiler.regex("a(b|cd)*e"), max_tokens=4)
    assert allowed(masks.fill(rows("", ""))) == ["a", "a"]
    assert allowed(masks.fill(rows("a", "a"))) == ["be", "be"]
    assert allowed(masks.fill(rows("ab", "ae"))) == ["e", "."]
    assert allowed(masks.fill(rows("abe", "ae."))) == [".", "."]
    assert allowed(masks.fill(rows("abe.", "ae._"))) == [".", "."]
    masks = BatchMasks(compiler.regex("a(b|cd)*e"), max_tokens=2)
    with pytest.raises(BudgetError, match="takes 3 tokens"):
        masks.fill(rows(""))
    with pytest.raises(LlmaskError, match="a budget is at least 1, not 0"):
        BatchMasks(compiler.regex("a"), max_tokens=0)
