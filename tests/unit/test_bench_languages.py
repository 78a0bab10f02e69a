"""bench.languages: grammars written without templates mean the same."""

from __future__ import annotations

from typing import Any

import pytest

from bench.languages import LANGUAGES, plain_text
from llmask import Compiler
from llmask.compiling.sources import ready_files


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_grammar_without_templates_accepts_the_same_samples(default_tokenizer: Any, language: str) -> None:
    compiler = Compiler(default_tokenizer)
    grammar = compiler.grammar(language)
    text = plain_text(grammar, ready_files()[language])
    assert "{" not in text.split("\n", 1)[0]
    plain = compiler.lark(text)
    for one, other in ((grammar, plain), (plain, grammar)):
        for seed in range(5):
            matcher = other.matcher()
            matcher.accept_bytes(one.sample(seed))
            assert matcher.is_accepting()
