"""Beginnings that nothing completes: found where greedy lexing makes them, and nowhere else."""

from __future__ import annotations

import pytest

import llmask
from llmask.dead_ends import dead_end

WARNING = "no document begins with {!r}, though it may be written"


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=256, special=[256]))


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ('start: A B\nA: /a+/\nB: "ab"', ""),  # the `a` of B is always taken by A
        ('start: "x" A B | "y"\nA: /a+/\nB: "ab"', "x"),
        ('start: "x" TEXT "." | "y"\nTEXT: /(.|\\n)+/', "x"),
        ('start: "[" A* B "]" | "y"\nA: "a"\nB: "ac"', None),  # aac: no, but ac is
        ('start: NAME "=" INT\n%import common.CNAME -> NAME\n%import common.INT\n%ignore " "', None),
        ('start: "if" NAME\nNAME: /[a-z]+/', None),
        ('start: "(" start ")" | "x"', None),  # endless, and each has an end
    ],
)
def test_the_shortest_dead_end_is_shown(compiler: llmask.Compiler, grammar: str, text: str | None) -> None:
    compiled = compiler.lark(grammar)
    found = dead_end(compiled.generation)
    assert found == (None if text is None else text.encode())
    warnings = [warning for warning in compiled.warnings if "no document begins" in warning]
    assert len(warnings) == (text is not None)
    if text is not None:
        assert warnings[0].startswith(WARNING.format(text))


def test_what_was_found_is_true(compiler: llmask.Compiler) -> None:
    """Every text up to six letters behind the dead end, tried one by one."""
    matcher = compiler.lark('start: "x" A B | "y"\nA: /a+/\nB: "ab"').matcher()
    matcher.accept_bytes(b"x")
    fronts = [matcher]
    for _ in range(6):
        assert not any(front.is_accepting() for front in fronts)
        following = []
        for front in fronts:
            for byte in b"abxy":
                fork = front.fork()
                if fork.validate_tokens([byte]):
                    fork.accept_token(byte)
                    following.append(fork)
        fronts = following
    assert fronts
