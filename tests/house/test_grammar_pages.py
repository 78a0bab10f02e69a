"""The tables in docs/grammars/ are true: what a notation takes and refuses, with which message, and where the original
decides otherwise.

Three kinds of tables, told by their first row:

    written | means | takes | refuses     each text is taken, or refused; by the original, too
    addition | means | takes | refuses    the same, of what the original does not have
    refused | message | help              what the error says
    written | text | here | ORIGINAL      "taken", "refused" or "an error", here and there

A grammar of several lines is several pieces of code in its cell; of one line it may be what comes after `start:`.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import llmask
from llmask.compiling.compiled_grammar import CompiledGrammar

from .test_readme import ROOT, read

TAKEN, REFUSED, ERROR = "taken", "refused", "an error"
PAGES = {
    f"docs/grammars/{name}.md": method
    for name, method in {
        "regex": "regex", "lark": "lark", "gbnf": "gbnf", "ebnf": "ebnf", "choices": "choice",
        "structural_tags": "structural_tag",
    }.items()
}  # fmt: skip
TOKENS_PAGE = "docs/grammars/tokens.md"  # there tokens are taken, not texts
SUPPORTED, ADDED = ["written", "means", "takes", "refuses"], ["addition", "means", "takes", "refuses"]
MESSAGES = ["refused", "message", "help"]
DIFFERENT = ["written", "text", "here"]
END = 256
TOKENS = [*(bytes([byte]) for byte in range(256)), b"<|end|>", b"<think>", b"</think>"]


class Table(NamedTuple):
    """A table of a page: its first row, and the others."""

    header: list[str]
    rows: list[list[str]]


class Row(NamedTuple):
    """A row of a page: the grammar in its first cell, the cells after it, and what the last column is called."""

    page: str
    grammar: str
    cells: list[str]
    last: str


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(page: str) -> Iterator[Table]:
    prose = re.sub(r"^```.*?^```$", "", read(page), flags=re.DOTALL | re.MULTILINE)
    for found in re.finditer(r"(?:^\|.*\n)+", prose, re.MULTILINE):
        header, _, *rows = (cells_of(line) for line in found[0].splitlines())
        yield Table(header, rows)


def codes(cell: str) -> list[str]:
    """The pieces of code in a cell; a cell without any is the empty text."""
    return re.findall("`([^`]+)`", cell) or [""]


def grammars_of(page: str, cell: str, is_refused: bool) -> list[str]:
    """The grammars in a cell: lines of one, or several patterns."""
    if PAGES[page] == "regex":
        return codes(cell)
    text = "\n".join(codes(cell))
    start, prefix = {"lark": ("start", "start: "), "gbnf": ("::=", "root ::= "), "ebnf": ("::=", "root ::= ")}.get(
        PAGES[page], ("", "")
    )
    return [text if is_refused or start in text else prefix + text]


def rows(*headers: list[str]) -> list[Row]:
    return [
        Row(page, grammar, row[1:], header[-1])
        for page in PAGES
        for header, found in tables(page)
        if header in headers or header[:3] in headers
        for row in found
        for grammar in grammars_of(page, row[0], header == MESSAGES)
    ]


def named(row: Row) -> str:
    return f"{Path(row.page).stem}: {row.grammar}"


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    return llmask.Compiler(llmask.Tokenizer.from_bytes(TOKENS, eos=END, special=[END, END + 1, END + 2]))


def compiled(compiler: llmask.Compiler, row: Row) -> CompiledGrammar:
    source: Any = row.grammar
    if PAGES[row.page] == "choice":
        source = ast.literal_eval(source)
    elif PAGES[row.page] == "structural_tag":
        source = {"type": "structural_tag", "format": json.loads(source)}
    grammar: CompiledGrammar = getattr(compiler, PAGES[row.page])(source)
    return grammar


def decided(compile_now: Callable[[], CompiledGrammar], text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", llmask.GrammarWarning)
            return TAKEN if compile_now().accepts(text) else REFUSED
    except llmask.LlmaskError:
        return ERROR


def ours(compiler: llmask.Compiler, row: Row, text: str) -> str:
    return decided(lambda: compiled(compiler, row), text)


def test_every_page_has_its_tables() -> None:
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "grammars").glob("*.md")}
    assert there == {*PAGES, TOKENS_PAGE}
    for page, method in PAGES.items():
        assert [row for table in tables(page) for row in table.rows if len(row) != len(table.header)] == []
        headers = [table.header for table in tables(page)]
        assert SUPPORTED in headers
        assert MESSAGES in headers
        assert any(header[:3] == DIFFERENT for header in headers) or method == "choice"  # nobody else's notation


@pytest.mark.parametrize("row", rows(SUPPORTED, ADDED), ids=named)
def test_what_is_supported_takes_and_refuses_what_the_page_says(compiler: llmask.Compiler, row: Row) -> None:
    _, takes, refuses = row.cells
    assert {text: ours(compiler, row, text) for text in codes(takes)} == dict.fromkeys(codes(takes), TAKEN)
    assert {text: ours(compiler, row, text) for text in codes(refuses)} == dict.fromkeys(codes(refuses), REFUSED)


@pytest.mark.parametrize("row", rows(MESSAGES), ids=named)
def test_what_is_refused_has_the_message_that_the_page_says(compiler: llmask.Compiler, row: Row) -> None:
    message, help = row.cells
    with pytest.raises(llmask.LlmaskError) as raised:
        compiled(compiler, row)
    assert [raised.value.message] == codes(message)
    assert [raised.value.help] == codes(help)


@pytest.mark.parametrize("row", rows(DIFFERENT), ids=named)
def test_where_the_original_differs_the_page_says_what_is_so_here(compiler: llmask.Compiler, row: Row) -> None:
    text, here, there = row.cells
    assert [ours(compiler, row, one) for one in codes(text)] == [here] * len(codes(text))
    assert here != there


def test_tokens_are_named_as_the_page_says(compiler: llmask.Compiler) -> None:
    table = next(table for table in tables(TOKENS_PAGE) if table.header[1:] == ["Lark", "GBNF", "structural tags"])
    makers: list[Callable[[str], CompiledGrammar]] = [
        lambda text: compiler.lark(f"start: {text}"),
        lambda text: compiler.gbnf(f"root ::= {text}"),
        lambda text: compiler.structural_tag({"type": "structural_tag", "format": json.loads(text)}),
    ]
    found: dict[str, list[list[int]]] = {}
    for name, *written in table.rows:
        made = [
            make(codes(cell)[0]) for make, cell in zip(makers, written, strict=True) if cell[:2] in ("`<", "`!", "`{")
        ]
        found[name] = [[token for token in range(len(TOKENS)) if grammar.matcher().accept(token)] for grammar in made]
    think, others = END + 1, [*range(END), END + 2]
    assert found["by name"] == found["by id"] == [[think]] * 3
    assert found["one of several"] == [[*range(10), think]]
    assert found["any but these"] == [[*range(END)], others, [*range(END)]]  # ends of sequence are in no set
    assert found["any one"] == [[*range(END), think, END + 2]] * 2
    assert found["any number, any"] == [[*range(END + 3)]] * 2  # none at all, too


# --- the originals


Judge = Callable[[str, str], str]
ORIGINALS = {
    "regex": "Python's `re`", "lark": "lark", "gbnf": "llama.cpp", "ebnf": "XGrammar", "structural_tag": "XGrammar",
}  # fmt: skip


def judge_of(name: str, request: pytest.FixtureRequest) -> Judge:
    """Who says what a grammar takes, by the name that the tables have for it."""
    if name == "llama.cpp":
        judge: Judge = request.getfixturevalue("llama_cpp_judge")
        return judge
    if name == "GBNF":
        compiler = request.getfixturevalue("compiler")
        return lambda grammar, text: decided(lambda: compiler.gbnf(grammar), text)
    return {"Python's `re`": of_re, "lark": of_lark, "XGrammar": of_xgrammar}[name]


def of_re(pattern: str, text: str) -> str:
    try:
        return TAKEN if re.fullmatch(pattern, text) else REFUSED
    except re.error:
        return ERROR


def of_lark(grammar: str, text: str) -> str:
    import lark

    try:
        parser = lark.Lark(grammar, parser="lalr", lexer="contextual")
    except (lark.exceptions.GrammarError, lark.exceptions.LexError):
        return ERROR
    try:
        parser.parse(text)
    except lark.exceptions.UnexpectedInput:
        return REFUSED
    return TAKEN


def of_xgrammar(source: str, text: str) -> str:
    """Of EBNF, and of the format of a structural tag."""
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed: pip install '.[bench]'")
    info = xgrammar.TokenizerInfo(
        TOKENS, vocab_type=xgrammar.VocabType.RAW, vocab_size=len(TOKENS), stop_token_ids=[END]
    )
    compiler = xgrammar.GrammarCompiler(info)
    try:
        if source.startswith("{"):
            spec = json.dumps({"type": "structural_tag", "format": json.loads(source)})
            grammar = compiler.compile_structural_tag(spec)
        else:
            grammar = compiler.compile_grammar(xgrammar.Grammar.from_ebnf(source))
    except RuntimeError:
        return ERROR
    matcher = xgrammar.GrammarMatcher(grammar)
    is_taken = all(matcher.accept_token(byte) for byte in text.encode()) and matcher.accept_token(END)
    return TAKEN if is_taken else REFUSED


@pytest.fixture(scope="module")
def llama_cpp_judge(tmp_path_factory: pytest.TempPathFactory) -> Judge:
    """llama.cpp, with a vocabulary of bytes."""
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    from tests.contract.tiny_models import write_gguf
    from tests.generators.llama_cpp_judge import Judge as Samplers

    path = write_gguf(tmp_path_factory.mktemp("gguf") / "model.gguf")
    samplers, tokenizer = Samplers(path), llmask.Tokenizer.from_gguf(str(path))
    ids = {tokenizer.token_bytes(token): token for token in range(3, 3 + 256)}  # after <unk>, <s> and </s>

    def decide(grammar: str, text: str) -> str:
        sampler = samplers.sampler(grammar)
        if not sampler:
            return ERROR
        for byte in text.encode():
            if not samplers.mask(sampler)[ids[bytes([byte])]]:
                return REFUSED
            llama_cpp.llama_sampler_accept(sampler, ids[bytes([byte])])
        return TAKEN if samplers.mask(sampler)[tokenizer.eos_ids[0]] else REFUSED

    return decide


@pytest.mark.parametrize("row", [row for row in rows(SUPPORTED) if PAGES[row.page] in ORIGINALS], ids=named)
def test_what_is_supported_means_the_same_to_the_original(request: pytest.FixtureRequest, row: Row) -> None:
    if PAGES[row.page] == "regex" and sys.version_info < (3, 11) and re.search(r"\(\?>|\+\+", row.grammar):
        pytest.skip("this Python has no atomic groups")
    judge = judge_of(ORIGINALS[PAGES[row.page]], request)
    _, takes, refuses = row.cells
    assert {text: judge(row.grammar, text) for text in codes(takes)} == dict.fromkeys(codes(takes), TAKEN)
    assert {text: judge(row.grammar, text) for text in codes(refuses)} == dict.fromkeys(codes(refuses), REFUSED)


@pytest.mark.parametrize("row", rows(DIFFERENT), ids=named)
def test_where_the_original_differs_it_does_what_the_page_says(request: pytest.FixtureRequest, row: Row) -> None:
    text, _, there = row.cells
    judge = judge_of(row.last, request)
    assert [judge(row.grammar, one) for one in codes(text)] == [there] * len(codes(text))
