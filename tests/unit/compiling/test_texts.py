"""Texts that are no grammars: paths and names of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmask import Compiler, GrammarError


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> Compiler:
    return Compiler(byte_tokenizer)


@pytest.mark.parametrize("name", ["x.lark", "grammars/sql.lark", "C:\\a b\\x.gbnf", "./x.ebnf", "é.txt", " x.lark\n"])
@pytest.mark.parametrize("method", ["lark", "gbnf", "ebnf"])
def test_a_name_of_a_file_is_no_grammar(compiler: Compiler, method: str, name: str) -> None:
    with pytest.raises(GrammarError) as caught:
        getattr(compiler, method)(name)
    name = name.strip()
    assert str(caught.value) == (
        f"{name!r} looks like the name of a file, and a grammar is given as its text\n"
        f"  read it: Path({name!r}).read_text()"
    )


@pytest.mark.parametrize("method", ["lark", "gbnf", "ebnf"])
def test_a_path_is_no_grammar(compiler: Compiler, method: str) -> None:
    with pytest.raises(GrammarError) as caught:
        getattr(compiler, method)(Path("x.lark"))
    assert str(caught.value) == "a grammar is a str, not a path\n  give what is in the file: path.read_text()"


def test_grammars_about_files_are_read(compiler: Compiler) -> None:
    assert compiler.lark('start: "x.lark"').accepts("x.lark")
    assert compiler.gbnf('root ::= [a-z]+ ".gbnf"').accepts("x.gbnf")
    assert compiler.ebnf('root ::= "x.txt"').accepts("x.txt")
    with pytest.raises(GrammarError) as caught:
        compiler.lark("")
    assert "file" not in caught.value.message


@pytest.mark.parametrize("name", ["x.json", "schemas/a.schema.json"])
def test_a_name_of_a_file_is_no_schema(compiler: Compiler, name: str) -> None:
    with pytest.raises(GrammarError) as caught:
        compiler.json_schema(name)
    assert str(caught.value) == (
        "the schema is not JSON: Expecting value\n  at line 1, column 1\n"
        f"  give a dict or JSON text; the text of a file is Path({name!r}).read_text()"
    )


def test_a_path_is_no_schema(compiler: Compiler) -> None:
    with pytest.raises(GrammarError) as caught:
        compiler.json_schema(Path("x.json"))
    assert str(caught.value) == "a schema is no path\n  give what is in the file: json_schema(path.read_bytes())"
