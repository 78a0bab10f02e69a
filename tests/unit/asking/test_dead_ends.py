"""Beginnings that nothing completes: found where greedy lexing makes them, and nowhere else."""

from __future__ import annotations

import warnings

import pytest

import llmask
from llmask.asking import dead_ends
from llmask.asking.dead_ends import dead_end


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=256, special=[256]))


@pytest.mark.parametrize(
    ("grammar", "text", "cause"),
    [
        ('start: "x" A B | "y"\nA: /a+/\nB: "ab"', "x", 'A takes the beginning of B, which has to follow it'),
        ('start: "x" TEXT "." | "y"\nTEXT: /(.|\\n)+/', "x", 'TEXT takes the beginning of "."'),
        ('start: "x" A B | "y"\nA: /a+|c/\nB: "ab"', "xa", "A may go on with the beginning of B, where"),
        ('start: "a"\n%ignore /#[^\\n]*/', "#", 'what is ignored may go on with the beginning of "a"'),
    ],
)  # fmt: skip
def test_a_text_without_an_end_warns_at_once(compiler: llmask.Compiler, grammar: str, text: str, cause: str) -> None:
    with pytest.warns(llmask.GrammarWarning) as told:
        compiled = compiler.lark(grammar)
    assert dead_end(compiled._loaded.generation) == text.encode()
    (warning,) = compiled.warnings
    assert warning.startswith(f"no document begins with {text!r}, though it may be written: {cause}")
    assert "%ignore), " in warning
    assert warning.endswith('use lexer="exact" (--lexer exact)')
    assert [str(one.message) for one in told] == [warning]
    assert told[0].filename == __file__
    with pytest.warns(llmask.GrammarWarning):
        compiler.lark(grammar)  # whoever compiles it next is told, too


@pytest.mark.parametrize(
    "grammar",
    [
        'start: "[" A* B "]" | "y"\nA: "a"\nB: "ac"',  # aac: no, but ac is
        'start: NAME "=" INT\n%import common.CNAME -> NAME\n%import common.INT\n%ignore " "',
        'start: "if" NAME\nNAME: /[a-z]+/',
        'start: "(" start ")" | "x"',  # endless, and each has an end
        'start: text "."\ntext[max_tokens=3]: /(.|\\n)+/',  # closed after three tokens, and then "." follows
    ],
)
def test_what_always_has_an_end_does_not_warn(compiler: llmask.Compiler, grammar: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compiler.lark(grammar)
    assert compiled.warnings == []


@pytest.mark.parametrize(
    ("grammar", "cause", "rule"),
    [
        ('start: A B\nA: /a+/\nB: "ab"', "A takes the beginning of B", "start"),
        ('start: "let" NAME "in" NAME\nNAME: /[a-z]+/', 'NAME takes the beginning of "in"', "start"),
        ('start: "(" start ")" | x\nx: NAME "in" NAME\nNAME: /[a-z]+/', 'NAME takes the beginning of "in"', "x"),
        ('start: TEXT "*/"\nTEXT: /(.|\\n)+/', 'TEXT takes the beginning of "*/"', "start"),
    ],
)  # fmt: skip
def test_a_grammar_without_any_document_is_refused(
    compiler: llmask.Compiler, grammar: str, cause: str, rule: str
) -> None:
    """They compiled, every text led to nowhere, and only `grammar.warnings` told, when it was asked."""
    with pytest.raises(llmask.UnsatisfiableSchema) as caught:
        compiler.lark(grammar)
    error = caught.value
    assert error.message == f'no document fulfils the grammar: {cause}, which has to follow it in rule "{rule}"'
    assert str(error.where).startswith("line ")
    assert error.help == dead_ends.REMEDY
    assert compiler.lark(grammar, lexer="exact").shortest()


@pytest.mark.parametrize("grammar", ['start: A start | N\nA: "a"\nN: /a/', 'start: "/*" /.*/s "*/" "x"'])
def test_a_grammar_whose_documents_others_take_is_refused(compiler: llmask.Compiler, grammar: str) -> None:
    """The string is taken before the pattern, each time; and `*/` is read by the pattern beside it, as it goes on."""
    with pytest.raises(llmask.UnsatisfiableSchema, match="no document fulfils the grammar"):
        compiler.lark(grammar)


def test_a_part_that_no_document_has_is_told_however_deep_it_lies(compiler: llmask.Compiler) -> None:
    """The search looks at so many configurations only; what is blocked is seen in the rules."""
    words = " ".join(f'"{number:04}" "-"' for number in range(dead_ends.MAX_CONFIGURATIONS))
    with pytest.warns(llmask.GrammarWarning, match='a part of the grammar is in no document: NAME takes .* "in"'):
        compiled = compiler.lark(f'start: {words} ("." | NAME "in")\nNAME: /[a-z]+/')
    assert dead_end(compiled._loaded.generation) is None


def test_the_search_costs_sequences_nothing(compiler: llmask.Compiler) -> None:
    """Its rows are not in the tables of the grammar, which count for limits."""
    with pytest.warns(llmask.GrammarWarning):
        searched = compiler.lark('start: "x" A B | "z"\nA: /a+|c/\nB: "ab"')
    n_bytes = searched.bytes_used
    assert n_bytes == searched._loaded.new_generation().table.bytes_used


def test_a_limit_met_by_the_search_is_no_error() -> None:
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>"]
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=256, special=[256])
    text = 'start: "(" start ")" | NAME ":" NAME | /a+|c/ "ab"\nNAME: /[d-z]+/'
    with pytest.warns(llmask.GrammarWarning):
        llmask.Compiler(tokenizer).lark(text)
    assert llmask.Compiler(tokenizer, llmask.Limits(max_rows=8)).lark(text).warnings == []


def test_grammars_that_are_put_together_are_looked_at(compiler: llmask.Compiler) -> None:
    name, word = compiler.lark("start: /[a-z]+/"), compiler.lark('start: "in"')
    with pytest.raises(llmask.UnsatisfiableSchema, match="no document fulfils the grammar"):
        name.concat(word)
    with pytest.warns(llmask.GrammarWarning, match="no document begins with 'a'") as told:
        compiler.lark('start: /[a-z]+/ | "1"').concat(word)
    assert told[0].filename == __file__


@pytest.mark.filterwarnings("ignore::llmask.GrammarWarning")
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
