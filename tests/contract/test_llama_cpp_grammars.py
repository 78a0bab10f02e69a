"""llama.cpp's own grammar sampler is the judge of GBNF: the same tokens are allowed after the same prefixes.

Two things are left out. Special tokens: llama.cpp takes the text of a control token for text, here it is none. And
tokens after which the text is no UTF-8 any more (F5, F0 86, ...): llama.cpp takes some of them for the beginning of a
character. One is told apart below: what may begin a character that a negated class leaves out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import llmask

from .gbnf_grammars import GRAMMARS

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from tests.generators.llama_cpp_judge import Judge, is_text

TOKENIZER = "llama_spm_tokenizer"  # of `compiler`
N_PREFIXES = 48  # of each grammar
WALKS = (3, 8, 15, 25)  # tokens of a walk


@pytest.fixture(scope="module")
def judge(shared_dir: Path) -> Iterator[Judge]:
    judge = Judge(shared_dir / "data" / "vocab" / "llama-spm.gguf")
    yield judge
    judge.model.close()


def our_mask(matcher: llmask.Matcher, n_tokens: int) -> npt.NDArray[np.bool_]:
    bitmask = llmask.allocate_bitmask(1, n_tokens)
    matcher.fill_bitmask(bitmask)
    return np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:n_tokens].astype(np.bool_)


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks_are_those_of_llama_cpp(
    judge: Judge, compiler: llmask.Compiler, rng: random.Random, scaled: Callable[[int], int], name: str
) -> None:
    tokenizer = compiler.tokenizer
    is_special = np.array([not tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)])
    grammar = compiler.gbnf(GRAMMARS[name])
    start = judge.sampler(GRAMMARS[name])
    assert start, "llama.cpp refuses it"
    n_seen = 0
    while n_seen < scaled(N_PREFIXES):
        sampler, matcher, text = llama_cpp.llama_sampler_clone(start), grammar.matcher(), b""
        for _ in range(rng.choice(WALKS)):
            theirs, ours = judge.mask(sampler), our_mask(matcher, tokenizer.vocab_size)
            n_seen += 1
            different = [
                tokenizer.token_bytes(int(token))
                for token in np.flatnonzero((ours != theirs) & ~is_special)
                if is_text(text + tokenizer.token_bytes(int(token)))
            ]
            assert not different, f"after {text!r}"
            both = np.flatnonzero(ours & theirs & ~is_special).tolist()
            if not both:
                break
            token = rng.choice(both)
            if rng.random() < 0.5:  # short tokens stop at more places
                token = min(rng.sample(both, min(20, len(both))), key=lambda one: len(tokenizer.token_bytes(one)))
            matcher.accept_token(token)
            llama_cpp.llama_sampler_accept(sampler, token)
            text += tokenizer.token_bytes(token)
        llama_cpp.llama_sampler_free(sampler)
    llama_cpp.llama_sampler_free(start)


@pytest.mark.parametrize(
    ("text", "prefix"),
    [('root ::= "a"*', b"aa"), ('root ::= "a" "b"?', b"a"), ('root ::= "ab" | "a"', b""), ("root ::= .", b"a")],
)
def test_ends_of_sequence_are_those_of_llama_cpp(
    judge: Judge, compiler: llmask.Compiler, text: str, prefix: bytes
) -> None:
    end = compiler.tokenizer.eos_ids[0]
    sampler, matcher = judge.sampler(text), compiler.gbnf(text).matcher()
    for byte in prefix:
        token = next(token for token in range(300) if compiler.tokenizer.token_bytes(token) == bytes([byte]))
        llama_cpp.llama_sampler_accept(sampler, token)
        matcher.accept_token(token)
    assert judge.mask(sampler)[end] == our_mask(matcher, compiler.tokenizer.vocab_size)[end] == (prefix != b"")
    llama_cpp.llama_sampler_free(sampler)


def test_a_negated_class_lets_other_characters_begin_as_the_one_left_out(
    judge: Judge, compiler: llmask.Compiler
) -> None:
    """C3 begins é, but ö, too: llama.cpp refuses the byte, which the grammar does not mean."""
    text = "root ::= [^é]"
    c3 = next(token for token in range(300) if compiler.tokenizer.token_bytes(token) == b"\xc3")
    sampler = judge.sampler(text)
    assert not judge.mask(sampler)[c3]
    assert our_mask(compiler.gbnf(text).matcher(), compiler.tokenizer.vocab_size)[c3]
    llama_cpp.llama_sampler_free(sampler)


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a" | b', "root ::= a", 'root = "a"', 'root ::= "a', "root ::= [a", 'root ::= ("a"', 'root ::= "a")',
        "root ::= *", 'root ::= ""*', "root ::= []+", 'root ::= "a"{2', 'root ::= "a"{,2}', r'root ::= "\q"',
        r'root ::= "\x4"', r'root ::= "\u00e"', 'root ::= "a"\n| "b"', 'root ::= "a" b ::= "b"', 'start ::= "a"',
        'root ::=\n"a"', 'root ::= "a" |\n"b"', 'root ::= ("a"\n|\n"b")', 'root ::= "a"{2} {3}',
        'root ::= [a-]', "root ::= [-a]", "root ::= [^]", r"root ::= [\]]", 'root ::= "a" # c', '# c\nroot ::= "a"',
        'root ::= "a"\r\nb ::= "c"', 'root ::= "a"\rb ::= "c"', 'root ::= "a\nb"', "root ::= [\n]", 'root::="a"',
        'root ::= "a"{0}', 'root ::= "a"{0,0} "b"', 'root ::= "a"{0}*', 'a-b ::= "x"\nroot ::= a-b', "root ::= .+",
        'root ::= "a" | | "b"', "root ::= |", 'root ::= "a" ? "b"', 'root ::= ( "a" ) ( )', "root\n::= .",
        'root ::= "a"\n\n\n  b ::= "c"', '  root ::= "a"', 'root ::= "x"{ 1 , 2 }', 'root ::= ("x"{1,\n2})',
        'root ::= "x"{1,\n2}', "root ::= 1\n1 ::= .", "root ::= .{3", "root ::= !", "root ::= <", "root ::= a_b",
    ],
)  # fmt: skip
def test_what_llama_cpp_refuses_is_refused(judge: Judge, compiler: llmask.Compiler, text: str) -> None:
    sampler = judge.sampler(text)
    try:
        compiler.gbnf(text)
        accepted = True
    except llmask.GrammarError:
        accepted = False
    assert accepted == bool(sampler)
    if sampler:
        llama_cpp.llama_sampler_free(sampler)
