"""What matches nothing is found out, however it is spelled."""

from __future__ import annotations

import pytest

import llmask


@pytest.mark.parametrize("excluded", ["(?:a|aa)*b", "(?:aa)*a?b", "a{0,3}b|a{4,}b", "[ac]*b"])
def test_an_endless_repetition_without_all_of_its_strings_matches_nothing(
    byte_tokenizer: llmask.Tokenizer, excluded: str
) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    with pytest.raises(llmask.GrammarError):
        compiler.regex(f"(?!(?:{excluded})$)a*b")
    matcher = compiler.regex(f"(?!(?:{excluded})$)(?:a*b|c)").matcher()
    assert matcher.validate_tokens([ord("a")]) == matcher.validate_tokens([ord("b")]) == 0
    assert matcher.validate_tokens([ord("c")]) == 1


@pytest.mark.parametrize("excluded", ["b|aab", "(?:aa)*b", "a{3,}b"])
def test_an_endless_repetition_without_some_of_its_strings_matches_the_others(
    byte_tokenizer: llmask.Tokenizer, excluded: str
) -> None:
    grammar = llmask.Compiler(byte_tokenizer).regex(f"(?!(?:{excluded})$)a*b")
    assert [n for n in range(6) if grammar.accepts("a" * n + "b")] == {
        "b|aab": [1, 3, 4, 5],
        "(?:aa)*b": [1, 3, 5],
        "a{3,}b": [0, 1, 2],
    }[excluded]
