"""Compiled grammars inside of a Lark grammar: `compiler.lark(text, grammars={"name": compiled})`."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.compiling.making import made
from tests.unit.compiling.saved_grammars import same, walk_together

TOKENIZER = "tiny_tokenizer"  # of `compiler`
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False}
Make = Callable[[llmask.Compiler], llmask.CompiledGrammar]
PARTS: dict[str, tuple[Make, list[str], list[str]]] = {
    "a schema": (lambda c: c.json_schema(OBJECT), ['{"a": 1}', "{ }"], ["", "1"]),
    "a schema with options": (lambda c: c.json_schema(OBJECT, whitespace="compact"), ['{"a":1}'], ['{"a": 1}']),
    "a pattern": (lambda c: c.regex("[0-9]{2}"), ["12"], ["1", "123", ""]),
    "a choice": (lambda c: c.choice(["yes", "no", ""]), ["yes", "no", ""], ["ye"]),
    "GBNF": (lambda c: c.gbnf('root ::= "(" root ")" | "x"'), ["((x))", "x"], ["((x)", ""]),
    "EBNF": (lambda c: c.ebnf('root ::= "a" root | "b"'), ["aab"], ["aa"]),
    "Lark": (lambda c: c.lark('start: A ("," A)*\nA: /a+/\n%ignore "_"'), ["aa,_a", "a"], ["a,", "_a", "a_"]),
    "Lark that may be empty": (lambda c: c.lark('start: ("a" "b")?\n%ignore "_"'), ["a_b", ""], ["a", "_"]),
    "Lark, exact": (lambda c: c.lark('start: A B\nA: /a+/\nB: "ab"', lexer="exact"), ["aab", "aaab"], ["ab"]),
    "Lark with a part": (
        lambda c: c.lark('start: "<" @x ">"', grammars={"x": c.choice(["u", "v"])}),
        ["<u>", "<v>"],
        ["<>", "u"],
    ),
    "a structural tag": (
        lambda c: c.structural_tag({"format": {"type": "const_string", "value": "it"}}),
        ["it"],
        ["i"],
    ),
    "a union": (lambda c: c.json_schema(OBJECT).union(c.choice(["none"])), ["{}", "none"], ["nonenone"]),
    "repeated": (lambda c: c.choice(["ab", "c"]).repeat(1, 3), ["abc", "c"], ["", "cccc"]),
    "a ready grammar": (lambda c: c.grammar("semver"), ["1.2.3"], ["1.2."]),
}


@pytest.mark.parametrize("lexer", ["greedy", "exact"])
@pytest.mark.parametrize("part", PARTS)
def test_what_the_compiler_made_stands_in_a_grammar(compiler: llmask.Compiler, part: str, lexer: str) -> None:
    make, accepted, refused = PARTS[part]
    grammar = compiler.lark('start: "call " @part (";" @part)* "!"', lexer=lexer, grammars={"part": make(compiler)})
    for text in accepted:
        assert grammar.accepts(f"call {text}!"), text
        assert grammar.accepts(f"call {text};{accepted[0]}!"), text
    for text in refused:
        assert not grammar.accepts(f"call {text}!"), text
        assert not grammar.accepts(f"call {accepted[0]};{text}!"), text
    assert str(grammar) == 'start: "call " @part (";" @part)* "!"'.replace(
        "@part", "@part?" if "" in accepted else "@part"
    )


def test_a_text_and_what_was_compiled_of_it_mean_the_same(compiler: llmask.Compiler) -> None:
    text = 'start: WORD ("," WORD)* %json {"type": "null"}\nWORD: /[a-c]+/\n%ignore "_"'
    outer = 'start: "b" @x "d"\n%ignore " "'
    one = compiler.lark(outer, grammars={"x": text})
    other = compiler.lark(outer, grammars={"x": compiler.lark(text)})
    same(one, other)
    schema = compiler.lark(outer, grammars={"x": OBJECT})
    same(schema, compiler.lark(outer, grammars={"x": compiler.json_schema(OBJECT)}))


def test_what_is_ignored_stays_outside_also_two_grammars_deep(compiler: llmask.Compiler) -> None:
    """What the grammar in the middle ignores was taken inside of the innermost one, as soon as it was a part itself."""
    inner = 'start: "a" "b"'
    middle = 'start: "c" @inner "d"\n%ignore " "'
    expected = compiler.lark(middle, grammars={"inner": inner})
    for part in (inner, compiler.lark(inner)):
        both = {"inner": part}
        for given in ({"middle": middle, **both}, {"middle": compiler.lark(middle, grammars=both)}):
            grammar = compiler.lark("start: @middle", grammars=given)
            for text in ("cabd", "cab d", "ca bd", "c a bd"):
                assert grammar.accepts(text) == expected.accepts(text) == (text in ("cabd", "cab d")), text
    joined = expected.union(compiler.choice(["zz"]))
    assert [joined.accepts(text) for text in ("cab d", "ca bd", "zz")] == [True, False, True]


def test_lexemes_are_as_long_as_they_can_be_in_a_greedy_grammar(compiler: llmask.Compiler) -> None:
    word = compiler.regex("[a-z]+")
    with pytest.raises(llmask.UnsatisfiableSchema, match="takes the beginning of"):
        compiler.lark('start: @word "s"', grammars={"word": word})
    with pytest.raises(llmask.GrammarError, match="cannot split"):
        compiler.lark('start: @word "s"', lexer="exact", grammars={"word": word})
    assert compiler.lark('start: @word "."', grammars={"word": word}).accepts("ab.")


@pytest.mark.parametrize("seed", range(4))
def test_exact_grammars_are_those_that_are_put_together(compiler: llmask.Compiler, seed: int) -> None:
    """The masks of `union` and `concat`, which read their parts in another way."""
    x, y = compiler.regex("(ab|b)[0-9]{1,2}"), compiler.gbnf('root ::= "<" root ">" | "é"?')
    z = compiler.json_schema(OBJECT, whitespace="compact")
    grammars = {"x": x, "y": y, "z": z}
    grammar = compiler.lark('start: @x (":" @y | "=" @z) "." @x?', lexer="exact", grammars=grammars)
    tail = compiler.choice(["."]).concat(x.optional())
    other = x.concat(compiler.choice([":"]).concat(y).union(compiler.choice(["="]).concat(z))).concat(tail)
    for n in range(5):
        walk_together(grammar.matcher(), other.matcher(), random.Random(10 * seed + n), 25)


LOST = "has a capture, a temperature or max_tokens, which grammars that are put together lose"
CANNOT: dict[str, tuple[Make, str, str]] = {
    "a capture": (lambda c: c.lark('start: a\na[capture="it"]: /[0-9]+/'), f'rule "a" {LOST}', "line 2, column 1"),
    "max_tokens": (lambda c: c.lark("start: a\na[max_tokens=3]: /.*/"), f'rule "a" {LOST}', "of @tables"),
    "a temperature": (lambda c: c.lark("start: a\na[temperature=0.5]: /x/"), f'rule "a" {LOST}', "of @tables"),
    "a parameter": (
        lambda c: c.lark('start: a::0\na::_: "a" a::incr(_) %if lt(_, 3) | "b"'),
        'rule "a" has a parameter',
        "@tables",
    ),
    "values that differ": (
        lambda c: c.json_schema({"type": "array", "uniqueItems": True}),
        "a schema that compares texts (uniqueItems, minProperties, ...) cannot be put together with others",
        "@tables",
    ),
    "another compiler": (
        lambda c: llmask.Compiler(c.tokenizer).choice(["a"]),
        "@tables belongs to a different compiler, or the compiler has begun a new store since",
        "",
    ),
}


@pytest.mark.parametrize("what", CANNOT)
def test_what_would_be_lost_is_refused(compiler: llmask.Compiler, what: str) -> None:
    make, said, place = CANNOT[what]
    for lexer in ("greedy", "exact"):
        with pytest.raises(llmask.GrammarError) as caught:
            compiler.lark("start: @tables", lexer=lexer, grammars={"tables": make(compiler)})
        assert caught.value.message.startswith(said)
        assert place in str(caught.value.where)


def test_a_grammar_of_an_older_store_is_refused(compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    old = llmask.Compiler(compiler.tokenizer)
    part = old.choice(["a"])
    monkeypatch.setattr("llmask.compiling.compiler.is_outgrown", lambda store: True)
    assert old.lark("start: @x", grammars={"x": part}).accepts("a")  # the store is not renewed between them
    old.choice(["b"])
    with pytest.raises(llmask.GrammarError, match="new store"):
        old.lark("start: @x", grammars={"x": part})


@pytest.mark.parametrize("wrong", [None, 3, object(), llmask.CompiledGrammar, b"start: "])
def test_other_values_are_refused_as_before(compiler: llmask.Compiler, wrong: Any) -> None:
    with pytest.raises(llmask.GrammarError):
        compiler.lark("start: @x", grammars={"x": wrong, "y": compiler.choice(["a"])})
    with pytest.raises(llmask.GrammarError, match="a grammar has a name"):
        compiler.lark("start: @x", grammars={3: compiler.choice(["a"])})


def test_warnings_of_a_part_are_told_with_its_name(compiler: llmask.Compiler) -> None:
    part = compiler.json_schema({"type": "string", "format": "unknown"})
    assert part.warnings
    grammar = compiler.lark("start: @text", grammars={"text": part})
    assert grammar.warnings == [f"@text: {warning}" for warning in part.warnings]


def test_it_can_be_saved_pickled_and_made_again(compiler: llmask.Compiler, tmp_path: Any) -> None:
    (tmp_path / "words.lark").write_text("WORD: /[a-c]+/")
    x = compiler.choice(["u", "v"])
    grammar = compiler.lark(
        '%import .words.WORD\nstart: "<" @x WORD @y @z @x ">"',
        directory=tmp_path,
        grammars={"x": x, "y": 'start: "(" @x ")"', "z": x.union(compiler.json_schema(OBJECT)), "w": {"const": 1}},
    )
    assert grammar._loaded.recipe is not None
    again = llmask.CompiledGrammar(made(compiler._newest_store(), grammar._loaded.recipe))
    (tmp_path / "words.lark").unlink()
    assert grammar.accepts('<uab(v){"a": 1}v>')
    assert grammar._loaded.recipe.parts[0] is x._loaded.recipe
    fresh = llmask.Compiler(compiler.tokenizer)
    others = [fresh.load(grammar.save()), pickle.loads(pickle.dumps(grammar)), again]
    for other in (*others, copy.copy(grammar)):
        same(grammar, other)
    assert others[0].save() == grammar.save()
    assert fresh.load(grammar.save()) is others[0]
    matcher = pickle.loads(pickle.dumps(grammar.matcher()))
    matcher.accept_bytes(b"<u")


def test_a_part_of_rules_that_no_compiler_made_can_be_used_but_not_saved(compiler: llmask.Compiler) -> None:
    part = llmask.CompiledGrammar(MadeGrammar(compiler._newest_store(), compiler.regex("[0-9]")._loaded.own_rules))
    grammar = compiler.lark("start: @x", grammars={"x": part})
    assert grammar.accepts("7")
    with pytest.raises(llmask.LlmaskError, match="neither saved nor pickled"):
        grammar.save()


@pytest.mark.long
def test_parts_in_parts_are_bounded_as_one(compiler: llmask.Compiler) -> None:
    """What strangers sent had a thousand grammars, each within the next, and took two minutes."""
    grammar = compiler.choice(["a"])
    for _ in range(3):
        grammar = compiler.lark('start: "(" @x ")"', grammars={"x": grammar})
    line, _, texts = grammar.save().partition(b"\n")
    head = json.loads(line)
    nested = head["grammars"][-1]
    head["grammars"] += [{**nested, "parts": [n]} for n in range(3, 996)]
    data = json.dumps(head).encode() + b"\n" + texts + texts[-len('start: "(" @x ")"') :] * 993
    small = llmask.Compiler(compiler.tokenizer, llmask.Limits(max_compile_work=1_400_000))
    assert small.load(grammar.save()).accepts("(((a)))")
    with pytest.raises(llmask.LimitExceeded, match="max_compile_work"):
        small.load(data)


def test_what_its_owner_changes_later_changes_nothing(compiler: llmask.Compiler) -> None:
    grammars: dict[str, Any] = {"x": compiler.choice(["u"])}
    first = compiler.lark("start: @x", grammars=grammars)
    grammars["x"] = compiler.choice(["v"])
    second = compiler.lark("start: @x", grammars=grammars)
    assert [grammar.accepts("u") for grammar in (first, second)] == [True, False]
    again = compiler.load(first.save())
    assert again.accepts("u")
