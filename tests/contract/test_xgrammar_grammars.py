"""XGrammar is the judge of its EBNF: what it refuses is refused, and masks are the same.

Surrogates are left out: XGrammar takes ED A0 for the beginning of a character, which no UTF-8 has. Special tokens are
left out, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from tests.conftest import tiny_vocabulary
from tests.reference.definition import read_mask

from .gbnf_grammars import GRAMMARS

xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")

OTHER_DIALECT = ("json", "escapes", "anything", "anything and a mark", "palindromes")  # what only GBNF writes so
TEXTS = [
    'root ::= "a" | b', 'root = "a"', 'root ::= "a', "root ::= [a", 'root ::= ("a"', 'root ::= "a")', "root ::= *",
    'root ::= ""*', 'root ::= "a"{2', 'root ::= "a"{,2}', 'root ::= "a"{2,}', 'root ::= "a"{2,-1}',
    'root ::= "a"{ 2 , 3 }', 'root ::= "a"{3,2}', r'root ::= "\q"', r'root ::= "\x4"', r'root ::= "\x"',
    r'root ::= "\u00e"', r'root ::= "\'\?\e\a\0\v"', 'root ::= "a"\n| "b"', 'root ::= "a" b ::= "b"', 'start ::= "a"',
    "", 'root ::=\n"a"', 'root ::= "a"\n"b"', 'root ::= "a"**', 'root ::= "a"*+', "root ::= [a-]", "root ::= [-a]",
    "root ::= [^]", r"root ::= [\]\^\-]", r"root ::= [\d]", r"root ::= [a\n]", 'root ::= "a" # c', '# c\nroot ::= "a"',
    'root ::= "a"\r\nb ::= "c"', 'root ::= "a\nb"', "root ::= [\n]", 'root::="a"', 'root ::= "a"{0}',
    'root ::= "a"{0}*', 'a-b ::= "x"\nroot ::= a-b', 'a.b_c ::= "x"\nroot ::= a.b_c',
    'root ::= a b\na ::= "x"\nb ::= a', 'root ::= "a" | | "b"', "root ::= |", 'root ::= () "a"', 'root ::= "a" ? "b"',
    '  root ::= "a"', 'root ::= "a"\n  b ::= "c"', "root ::= true", 'true ::= "a"\nroot ::= "b"',
    'root ::= "a"\nroot ::= "b"', "root ::= 1", "root ::= .", 'root ::= a [capture]\na ::= "x"', 'root ::= ""',
    'root ::= "a"\n\n# x\n\nb ::= "c" | root', "root ::= 'a'", "root ::= [z-a]", "root ::= [--z]", "root ::= [a-b-c]",
    "root ::= [+--]", "root ::= {2}", 'root ::= "a", "b"', r'root ::= [^"\\\x00-\x1f]', 'root ::= ("a" | "b")+ "c"?',
    'root ::= "\\U0001F600"', 'root ::= "a" :: "b"', 'root ::= -a\n-a ::= "x"', 'root[x] ::= "a"',
    "root ::= [a]{2}{3}",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_what_xgrammar_refuses_is_refused(tiny_tokenizer: Any, text: str) -> None:
    try:
        xgrammar.Grammar.from_ebnf(text)
        theirs = True
    except RuntimeError:
        theirs = False
    try:
        llmask.Compiler(tiny_tokenizer).ebnf(text)
        ours = True
    except llmask.GrammarError:
        ours = False
    assert ours == theirs


@pytest.mark.parametrize("name", [name for name in GRAMMARS if name not in OTHER_DIALECT])
def test_masks_are_those_of_xgrammar(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], name: str
) -> None:
    tokens, eos, special = tiny_vocabulary()
    info = xgrammar.TokenizerInfo(
        tokens, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(tokens), stop_token_ids=[eos]
    )
    theirs = xgrammar.GrammarCompiler(info).compile_grammar(xgrammar.Grammar.from_ebnf(GRAMMARS[name]))
    ours = llmask.Compiler(tiny_tokenizer).ebnf(GRAMMARS[name])
    left_out = {*special, *(token for token, data in enumerate(tokens) if not data)}
    words = xgrammar.allocate_token_bitmask(1, len(tokens))
    for _ in range(scaled(20)):
        matcher, other, text = ours.matcher(), xgrammar.GrammarMatcher(theirs), b""
        for _ in range(12):
            other.fill_next_token_bitmask(words)
            bits = np.unpackbits(words.numpy().view(np.uint8), bitorder="little")[: len(tokens)]
            wanted = set(np.flatnonzero(bits).tolist()) - left_out
            if text.endswith(b"\xed"):
                wanted = {token for token in wanted if tokens[token][0] < 0xA0}
            found = read_mask(matcher, len(tokens)) - left_out
            assert found == wanted, f"after {text!r}"
            if not found - {eos}:
                break
            token = rng.choice(sorted(found - {eos}))
            matcher.accept_token(token)
            assert other.accept_token(token)
            text += tokens[token]
