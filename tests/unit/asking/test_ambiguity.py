"""Sentences with two derivations: what is found is ambiguous, and plain grammars are left alone."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import pairwise

import pytest

from llmask import Compiler
from llmask.asking import ambiguity


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('root ::= root "+" root | "1"', b"1+1+1"),
        ('root ::= "a" one | "a" two\none ::= "b"\ntwo ::= "b"', b"ab"),
        ('root ::= if\nif ::= "i" if | "i" if "e" if | "x"', b"iixex"),
        ('root ::= one "bc" | "a" two\none ::= "a" | "ab"\ntwo ::= "bc"', b"abc"),
        ('root ::= root root | "x"', b"xxx"),
    ],
)
def test_an_ambiguous_grammar_is_shown_by_a_sentence(compiler: Compiler, text: str, sentence: bytes) -> None:
    assert compiler.gbnf(text).ambiguity() == sentence


@pytest.mark.parametrize(
    "text",
    [
        'root ::= root "+" one | one\none ::= "1" | "(" root ")"',
        'root ::= "a" root "b" | ""',
        'root ::= ("a" | "b" "c"?)*',
        'root ::= "a"{2,3} "b"',
        'root ::= "yes" | "no"',
    ],
)
def test_in_a_plain_grammar_nothing_is_found(compiler: Compiler, text: str) -> None:
    assert compiler.gbnf(text).ambiguity() is None


def test_lexemes_of_greedy_grammars_stay_as_they_are(compiler: Compiler) -> None:
    text = 'start: A B\nA: "a" | "ab"\nB: "bc" | "c"'
    assert compiler.lark(text).ambiguity() is None  # A takes as much as it can
    assert compiler.lark('start: a | b\na: "x"\nb: "x"').ambiguity() == b"x"


def test_schemas_and_patterns_are_asked_too(compiler: Compiler) -> None:
    assert compiler.json_object().ambiguity() is None
    assert compiler.regex("(a|aa)*").ambiguity() is None  # one lexeme
    both = compiler.json_schema({"type": "null"}).union(compiler.json_schema({"type": ["null", "string"]}))
    assert both.ambiguity() == b"null"


def test_the_search_is_bounded(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ambiguity, "MOST_STEPS", 3)
    assert compiler.gbnf('root ::= root "+" root | "1"').ambiguity() is None


def test_both_derivations_are_shown_as_trees(compiler: Compiler) -> None:
    found = compiler.gbnf('root ::= root "+" root | "1"').ambiguity()
    assert found is not None
    assert str(found) == '"1+1+1" has two derivations\n\n' + "\n\n".join(found.trees)
    assert sorted(found.trees) == [
        """root
  root
    "1"
  "+"
  root
    root
      "1"
    "+"
    root
      "1\"""",
        """root
  root
    root
      "1"
    "+"
    root
      "1"
  "+"
  root
    "1\"""",
    ]


def test_terminals_are_shown_by_their_names_and_texts(compiler: Compiler) -> None:
    found = compiler.lark(
        'start: a | b\na: NAME "(" /[0-9]+/ ")"\nb: NAME "(" /[0-9]+/ ")"\nNAME: /[a-z"]+/'
    ).ambiguity()
    assert found is not None
    assert found.trees[0].splitlines()[:2] in (["start", "  a"], ["start", "  b"])
    assert sorted(line for line in found.trees[1].splitlines()[1:]) == sorted(
        [
            found.trees[1].splitlines()[1],
            '    NAME "a"' if b"a" in found else '    NAME "\\""',
            '    "("',
            '    /[0-9]+/ "0"',
            '    ")"',
        ]
    )


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a" one | "a" two\none ::= "b"\ntwo ::= "b"',
        'root ::= if\nif ::= "i" if | "i" if "e" if | "x"',
        'root ::= one "bc" | "a" two\none ::= "a" | "ab"\ntwo ::= "bc"',
        'root ::= root root | "x"',
        'root ::= ("x" | item)* "."\nitem ::= "x"?  "x"',
        'root ::= one | two\none ::= "" "\\xff" ""\ntwo ::= none "\\xff"\nnone ::= "" | "n"',
    ],
)
def test_trees_are_two_derivations_of_the_sentence(compiler: Compiler, text: str) -> None:
    found = compiler.gbnf(text).ambiguity()
    assert found is not None
    assert compiler.gbnf(text).accepts(bytes(found))
    one, other = found.trees
    assert one != other
    for tree in found.trees:
        lines = tree.splitlines()
        assert lines[0] == "root"
        depths = [len(line) - len(line.lstrip(" ")) for line in lines]
        assert all(0 < after <= before + 2 for before, after in pairwise(depths))
        texts = [json.loads(line[line.rindex(' "') + 1 :]) for line in lines if line.endswith('"')]
        assert "".join(texts) == found.decode("utf-8", "backslashreplace")


def test_schemas_are_shown_by_their_places(compiler: Compiler) -> None:
    both = compiler.json_schema({"type": "null"}).union(compiler.json_schema({"type": ["null", "string"]}))
    found = both.ambiguity()
    assert found is not None
    assert found.trees[0] != found.trees[1]
    assert sorted(found.trees) == [f'start\n  {name}\n    /"null"/ "null"' for name in ("#", "#~2")]


def test_it_is_still_bytes(compiler: Compiler) -> None:
    found = compiler.gbnf('root ::= root root | "x"').ambiguity()
    assert isinstance(found, bytes)
    assert found == b"xxx"
    assert hash(found) == hash(b"xxx")
    assert repr(found) == "b'xxx'"
    assert found.decode() == "xxx"
    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert again == found
        assert again.trees == found.trees
