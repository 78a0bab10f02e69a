"""Lark, EBNF and GBNF are told apart, by real grammars in each; a wrong guess says what was guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llmask import Compiler, GrammarError, LimitExceeded, Limits, LlmaskError
from llmask.integrations.notations import compile_text, notation_of
from tests.contract.gbnf_grammars import GRAMMARS
from tests.contract.lark_grammars import GRAMMARS as LARK_GRAMMARS

# what users of vLLM write, from its documentation and examples
SQL_EBNF = """
root ::= select_statement
select_statement ::= "SELECT " column " from " table " where " condition
column ::= "col_1 " | "col_2 "
table ::= "table_1 " | "table_2 "
condition ::= column "= " number
number ::= "1 " | "2 "
"""
SQL_LARK = """
start: select_statement
select_statement: "SELECT" column "from" table "where" condition
column: "col_1" | "col_2"
table: "table_1" | "table_2"
condition: column "=" number
number: "1" | "2"
%ignore " "
"""
ONE_EACH = {
    "lark": [
        SQL_LARK,
        'start: "a::=b"',
        '?start: /x ::= y/ "::="\n',
        '%llguidance {}\nstart: <|tool|> "a"',
        'start[capture]: "a"',
        'start: name\nNAME.2: /[a-z]+/\nname: NAME // x ::= "y"',
        '# root ::= "a"\nstart: "a"',
        "start{x}: x",
    ],
    "ebnf": [
        SQL_EBNF,
        'root ::= "a" | "b: c"',
        'a.b_c ::= "x"\nroot ::= a.b_c',
        'root ::= "a.b" [.<|] "<|end|>" # . | | <[4]>',
        'root ::= "\\\'" ""',
        'root ::= ("a" | "b")\n| "c"',
        'root::="a"',
        '# start: "a"\nroot ::= "x"',
    ],
    "gbnf": [
        "root ::= .",
        'root ::= "a" .* "b"',
        'root ::= <|end|> "a"',
        'root ::= !<[42]> "a"',
        'root ::= ws "a"\nws ::= | " "',
        'root ::= "a" | \nws ::= "b"',
        'root ::= ("a" |)',
        'root ::= "\\[a\\]"',
    ],
}


@pytest.fixture(scope="module")
def compiler(byte_tokenizer: Any) -> Compiler:
    return Compiler(byte_tokenizer)


@pytest.mark.parametrize(("notation", "text"), [(name, text) for name, texts in ONE_EACH.items() for text in texts])
def test_signs_of_each_notation(notation: str, text: str) -> None:
    assert notation_of(text) == notation


def test_ready_grammars_and_those_of_the_contract_tests_are_lark(project_root: Path) -> None:
    found = {path.name: notation_of(path.read_text("utf-8")) for path in (project_root / "grammars").glob("*.lark")}
    assert len(found) > 20
    assert set(found.values()) == {"lark"}
    assert {notation_of(text) for text, _, _ in LARK_GRAMMARS.values()} == {"lark"}


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_backus_naur_form_is_read_by_the_notation_that_is_guessed(compiler: Compiler, name: str) -> None:
    text = GRAMMARS[name]
    notation = notation_of(text)
    assert notation in ("ebnf", "gbnf")
    assert str(compile_text(compiler, text)) == str(getattr(compiler, notation)(text))
    if notation == "gbnf":  # and not because the other one would do as well
        with pytest.raises(LlmaskError):
            compiler.ebnf(text)


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ('# notation: gbnf\nroot ::= "a"', "gbnf"),
        ('\n // Notation: EBNF \r\nroot ::= "a"', "ebnf"),
        ('#notation:lark\nstart: "a"', "lark"),
    ],
)
def test_the_first_line_may_say_it(compiler: Compiler, text: str, notation: str) -> None:
    assert notation_of(text) == notation
    matcher = compile_text(compiler, text).matcher()
    matcher.accept_bytes(b"a")
    assert matcher.is_accepting()


def test_a_wrong_guess_names_what_was_guessed_and_what_to_do(compiler: Compiler) -> None:
    text = 'root ::= a\na ::= "x"\na ::= "y"'  # in GBNF the last definition counts, in EBNF there may be one
    with pytest.raises(GrammarError) as caught:
        compile_text(compiler, text)
    assert "the grammar was read as EBNF" in caught.value.message
    assert 'if it is Lark or GBNF, begin it with a line that says so: "# notation: ..."' in (caught.value.help or "")
    assert "line 3" in (caught.value.where or "")
    assert compile_text(compiler, "# notation: gbnf\n" + text).shortest() == b"y"


@pytest.mark.parametrize("text", ["", "  \n", "hello", "# only a comment", '"a" ::= "b"'])
def test_what_defines_nothing_is_no_grammar(text: str) -> None:
    with pytest.raises(GrammarError, match="defines nothing"):
        notation_of(text)


def test_a_notation_that_is_none(compiler: Compiler) -> None:
    with pytest.raises(GrammarError, match='its notation is "peg"'):
        notation_of('# notation: peg\nroot ::= "a"')
    with pytest.raises(GrammarError, match="not int"):
        compile_text(compiler, 3)  # type: ignore[arg-type]


def test_hostile_texts_are_read_once(scaled: Any) -> None:
    n = scaled(20_000)
    for text in (
        "(" * n,
        "a" * n,
        "[" * n,
        '"' * n,
        "a ::= |" * n,
        "| " * n,
        "<" * n,
        "\\" * n,
        " " * n + ":",
        "a\n" * n,
        '"\\' * n,
        "[\\" * n,
    ):
        try:
            notation_of('root ::= "a"\n' + text)
            notation_of(text)
        except GrammarError:
            pass


def test_limits_hold(compiler: Compiler) -> None:
    small = Compiler(compiler.tokenizer, limits=Limits(max_schema_bytes=20))
    with pytest.raises(LimitExceeded):
        compile_text(small, 'root ::= "a" "b" "c" "d" "e"')
