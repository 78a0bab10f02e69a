"""What the tests of Lark grammars share: a compiler whose tokens are the bytes, and questions about its grammars."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import llmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from tests.reference.definition import read_mask

EOS = 256


@pytest.fixture(scope="session")
def compiler() -> llmask.Compiler:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=EOS, special=[EOS]))


@pytest.fixture(scope="session")
def accepts(compiler: llmask.Compiler) -> Callable[[str | CompiledGrammar, str], bool]:
    """Whether a text is a document of a grammar."""

    def answer(grammar: str | CompiledGrammar, text: str) -> bool:
        return (compiler.lark(grammar) if isinstance(grammar, str) else grammar).accepts(text)

    return answer


@pytest.fixture(scope="session")
def following(compiler: llmask.Compiler) -> Callable[[str | CompiledGrammar, str], str]:
    """The characters that may follow a text, in their order; `$` for the end."""

    def answer(grammar: str | CompiledGrammar, text: str) -> str:
        matcher = (compiler.lark(grammar) if isinstance(grammar, str) else grammar).matcher()
        matcher.accept_bytes(text.encode())
        allowed = read_mask(matcher, EOS + 1)
        return "".join(chr(token) for token in sorted(allowed - {EOS})) + "$" * (EOS in allowed)

    return answer
