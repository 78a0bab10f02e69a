"""Sources: texts that are no grammars, structural tags, and what was no text, written as one that can be read again."""

from __future__ import annotations

import json
from typing import Any

import pytest

import llmask
from llmask import Compiler, GrammarError
from llmask.compiling.sources import schema_grammar
from llmask.grammar.rules import Rules

FORM = {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": ">"}
DOCUMENT = {"type": "structural_tag", "format": FORM}


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


def test_grammars_about_files_are_read(compiler: Compiler) -> None:
    assert compiler.lark('start: "x.lark"').accepts("x.lark")
    assert compiler.gbnf('root ::= [a-z]+ ".gbnf"').accepts("x.gbnf")
    assert compiler.ebnf('root ::= "x.txt"').accepts("x.txt")
    with pytest.raises(GrammarError) as caught:
        compiler.lark("")
    assert "file" not in caught.value.message


def test_the_same_tag_is_compiled_once(compiler: Compiler) -> None:
    assert compiler.structural_tag(DOCUMENT) is compiler.structural_tag(json.dumps(DOCUMENT))
    assert compiler.structural_tag(DOCUMENT) is not compiler.structural_tag({"format": {**FORM, "end": "]"}})


def test_models_of_others_are_taken(compiler: Compiler) -> None:
    class Model:
        def model_dump(self) -> Any:
            return DOCUMENT

    assert compiler.structural_tag(Model()) is compiler.structural_tag(DOCUMENT)


def test_models_of_xgrammar_are_taken(compiler: Compiler) -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    assert compiler.structural_tag(xgrammar.StructuralTag.from_json(DOCUMENT)).accepts(b"<a>")


def test_text_that_is_too_long_meets_the_limit(byte_tokenizer: Any) -> None:
    compiler = Compiler(byte_tokenizer, llmask.Limits(max_schema_bytes=20))
    with pytest.raises(llmask.LimitExceeded, match="the structural tag has"):
        compiler.structural_tag(json.dumps(DOCUMENT))


@pytest.mark.parametrize(
    ("kind", "source", "options", "accepted", "refused"),
    [
        ("regex", r"a/b\n[0-9]{2}", {}, ["a/b\n12"], ["a/b12", "a/b\n1"]),
        ("regex", r"(?i)k+", {"method": "search"}, ["xxKk\n", "k"], ["", "x"]),
        ("choice", ["yes", 'n"o\n', "é"], {}, ["yes", 'n"o\n', "é"], ["no", "yesé"]),
        ("json_schema", {"type": "array", "items": {"const": 'a"\u2028'}}, {}, ["[]", '["a\\"\u2028"]'], ["[1]"]),
    ],
)
def test_its_text_is_read_as_the_same_grammar(
    byte_tokenizer: Any, kind: str, source: Any, options: dict[str, Any], accepted: list[str], refused: list[str]
) -> None:
    compiler = Compiler(byte_tokenizer)
    grammar = getattr(compiler, kind)(source, **options)
    again = compiler.lark(str(grammar), lexer="exact")
    for one in (grammar, again):
        assert [text for text in accepted if not one.accepts(text)] == []
        assert [text for text in refused if one.accepts(text)] == []


def test_a_schema_that_is_longer_as_text_than_in_memory_is_not_written() -> None:
    schema: Any = {"const": "x" * 1000}
    for _ in range(40):
        schema = {"anyOf": [schema, schema]}
    assert str(schema_grammar(Rules(), schema)) == "start: %json ..."
