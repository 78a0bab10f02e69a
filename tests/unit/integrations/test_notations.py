"""The notation of a grammar that comes without a name."""

from __future__ import annotations

import pytest

from llmask import Compiler, Tokenizer
from llmask.errors import GrammarError, LimitExceeded
from llmask.integrations.notations import compile_text, notation_of
from llmask.limits import Limits

TEXTS = {
    "lark": [
        'start: "a"',
        '\n\n  // a comment\n  start: item+\n  item: "a"\n',
        '%llguidance {}\nstart: "::=" x\nx: "a"',
        '?start: "a" | "b" -> c',
        '_x{p}: p\nstart: _x{"a"}',
        'start[capture]: "a"',
        "A.2: /a/\nstart: A",
    ],
    "ebnf": [
        'root ::= "yes" | "no"',
        "\n  root ::= digit digit\n  digit ::= [0-9]\n",
        'root ::= ""',
        'root ::= "a: b" # comment: c',
        'root ::= "<|end|>" [<>.|] "." "|"',
        'root\n::=\n"a"',
        r'root ::= "\e" "\\["',
    ],
    "gbnf": [
        "root ::= .",
        'root ::= | "a"',
        'root ::= ("a" | )',
        'root ::= "a" |\nb ::= "c"',
        "root ::= <|eot_id|>",
        r'root ::= "\[" [0-9]',
    ],
}


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(Tokenizer.default())


@pytest.mark.parametrize(("notation", "text"), [(name, text) for name, texts in TEXTS.items() for text in texts])
def test_the_notation_is_told_by_its_signs(notation: str, text: str) -> None:
    assert notation_of(text) == notation


@pytest.mark.parametrize("sign", ["#", "//"])
@pytest.mark.parametrize("name", ["lark", "ebnf", "GBNF"])
def test_a_first_line_says_the_notation(compiler: Compiler, sign: str, name: str) -> None:
    body = 'start: "a"' if name == "lark" else 'root ::= "a"'
    text = f"{sign} notation: {name}\n{body}"
    assert notation_of(text) == name.lower()
    assert compile_text(compiler, text).shortest() == b"a"


@pytest.mark.parametrize("text", ['start: "ab"', 'root ::= "ab"', 'root ::= "ab" | .  "\\[" .'])
def test_each_notation_is_compiled(compiler: Compiler, text: str) -> None:
    assert compile_text(compiler, text).shortest() == b"ab"


def test_a_refused_grammar_names_its_notation_and_how_to_say_another_one(compiler: Compiler) -> None:
    with pytest.raises(GrammarError) as caught:
        compile_text(compiler, 'root ::= "a" item')
    assert "read as EBNF" in caught.value.message
    assert "line 1, column 14" in str(caught.value)
    assert 'if it is Lark or GBNF, begin it with a line that says so: "# notation: ..."' in str(caught.value.help)
    with pytest.raises(GrammarError) as caught:
        compile_text(compiler, '# notation: ebnf\nroot ::= "a" item')
    assert "read as" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "yes | no", "{}", "\n# notation\n", '"a"'])
def test_what_defines_nothing_is_refused(compiler: Compiler, text: str) -> None:
    with pytest.raises(GrammarError, match="defines nothing"):
        compile_text(compiler, text)


def test_a_notation_that_there_is_not_is_refused() -> None:
    with pytest.raises(GrammarError, match='notation is "peg"'):
        notation_of("# notation: peg\nstart <- 'a'")


@pytest.mark.parametrize("text", [None, b'start: "a"', 3])
def test_what_is_no_text_is_refused(compiler: Compiler, text: object) -> None:
    with pytest.raises(GrammarError, match="a grammar is a str"):
        compile_text(compiler, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["(", "a\n", "|\n", "<", "a ", " ", '"\\', "[\\"])
def test_long_texts_are_read_in_one_pass(part: str) -> None:
    """Each part may begin what tells a notation, and never ends it."""
    with pytest.raises(GrammarError):
        notation_of(part * 100_000)
    assert notation_of('root ::= "a"\n' + part * 100_000) in ("ebnf", "gbnf")


def test_limits_hold(compiler: Compiler) -> None:
    small = Compiler(compiler.tokenizer, limits=Limits(max_schema_bytes=20))
    with pytest.raises(LimitExceeded):
        compile_text(small, 'root ::= "a" "b" "c" "d" "e"')
