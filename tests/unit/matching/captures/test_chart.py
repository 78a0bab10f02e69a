"""Captures: which run of a rule derived which bytes."""

from __future__ import annotations

import random
import re
from itertools import product

import pytest

import llmask
from llmask.errors import LlmaskError

EOS, CALL, DONE = 256, 257, 258


@pytest.fixture(scope="module")
def compiler() -> llmask.Compiler:
    tokens = [*(bytes([byte]) for byte in range(256)), b"<eos>", b"<call>", b"<done>"]
    return llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=EOS, special=[CALL, DONE]))


def spans(matcher: llmask.Matcher) -> list[tuple[str, str]]:
    text = matcher.text()
    return [(found.name, text[found.begin : found.end].decode()) for found in matcher.capture_spans()]


@pytest.mark.parametrize("lexer", ["greedy", "exact"])
@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        (
            'start: a b\na[capture]: "x" b\nb[capture]: /[0-9]+/ ";"',
            "x12;34;",
            [("b", "12;"), ("a", "x12;"), ("b", "34;")],
        ),
        ('start: a+\na[capture="item"]: /[0-9]+/ ";"', "1;2;3;", [("item", "1;"), ("item", "2;"), ("item", "3;")]),
        ('start[capture]: "(" start ")" | "x"', "((x))", [("start", "x"), ("start", "(x)"), ("start", "((x))")]),
        ('start: list ";"\nlist: list "," a | a\na[capture]: /[a-z]+/', "x,yy;", [("a", "x"), ("a", "yy")]),
        ('start: list ";"\nlist: a "," list | a\na[capture]: /[a-z]+/', "x,yy;", [("a", "x"), ("a", "yy")]),
        ('start: a{2,3} b\na[capture]: "x" | "y"\nb[capture]: "z"?', "xy", [("a", "x"), ("a", "y"), ("b", "")]),
        ('start: a %json {"type": "object"} a\na[capture]: "x"', 'x{"k":[1,{}]}x', [("a", "x"), ("a", "x")]),
        # of two last parts the shorter one
        ('start: a b\na[capture]: "x"*\nb[capture]: "x"*', "xxx", [("b", ""), ("a", "xxx")][::-1]),
        # of options the first
        ('start: a | b\na[capture]: "x"\nb[capture]: "x"', "x", [("a", "x")]),
        (
            'start: s\n s[capture]: "(" w ")"\nw[capture]: /[a-z]+/\n%ignore " "',
            " ( ab )  ",
            [("w", "ab"), ("s", "( ab )")],
        ),
    ],
)
def test_captures_are_the_bytes_of_runs(
    compiler: llmask.Compiler, grammar: str, text: str, lexer: str, expected: list[tuple[str, str]]
) -> None:
    matcher = compiler.lark(grammar, lexer=lexer).matcher()
    matcher.accept_bytes(text.encode())
    assert matcher.is_accepting()
    assert sorted(spans(matcher)) == sorted(expected)
    assert matcher.captures() == {name: found.encode() for name, found in spans(matcher)}


def test_spans_say_where_the_bytes_lie(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: "ä" a ";"\na[capture]: /[a-z]+/').matcher()
    matcher.accept_bytes("äbc;".encode())
    assert matcher.capture_spans() == [("a", 2, 4)]


def test_the_suffix_is_no_part_of_a_capture(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark(
        'start: outer\nouter[capture]: a\na[capture, suffix="<end>", stop_capture="s"]: /.*/'
    ).matcher()
    matcher.accept_bytes(b"foo<e<end>")
    assert matcher.captures() == {"s": b"<end>", "a": b"foo<e", "outer": b"foo<e<end>"}
    matcher = compiler.lark('start: a\na[capture, suffix=/[0-9]+;/, stop_capture="s"]: /[a-z0-9]*/').matcher()
    matcher.accept_bytes(b"ab12;")
    assert matcher.captures() == {"a": b"ab", "s": b"12;"}


def test_what_stops_a_rule_belongs_to_the_rule_around_it(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: outer "!"\na[capture, stop="<end>"]: /.*/\nouter[capture]: a "<end>"').matcher()
    matcher.accept_bytes(b"foo<end>!")
    assert matcher.captures() == {"a": b"foo", "outer": b"foo<end>"}


@pytest.mark.parametrize("grammar", ['start: a "b"', 'start: a* "<end>"', 'start: a | "x"'])
def test_a_stop_that_would_have_to_be_taken_back_is_refused(compiler: llmask.Compiler, grammar: str) -> None:
    with pytest.raises(llmask.GrammarError, match="no sampler takes back"):
        compiler.lark(f'{grammar}\na[stop="<end>"]: /.*/')


def test_runs_that_have_ended_are_captured_before_the_end(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: a b\na[capture]: "x" b\nb[capture]: /[0-9]+/ ";"').matcher()
    found = []
    for byte in b"x12;34;":
        matcher.accept_token(byte)
        found.append(spans(matcher))
    assert found[:3] == [[], [], []]
    assert found[3] == found[4] == found[5] == [("b", "12;"), ("a", "x12;")]
    assert found[6] == [("b", "12;"), ("a", "x12;"), ("b", "34;")]
    matcher.rollback(1)
    assert spans(matcher) == found[5]


def test_named_tokens_take_part(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark("start: (<call> a <done>)+\na[capture]: /[a-z]+/").matcher()
    matcher.accept_tokens([CALL, *b"ab", DONE, CALL, *b"c"])
    assert spans(matcher) == [("a", "ab")]
    matcher.accept_token(DONE)
    assert spans(matcher) == [("a", "ab"), ("a", "c")]


def test_grammars_without_captures_have_none(compiler: llmask.Compiler) -> None:
    for grammar in (compiler.lark('start: "a"'), compiler.regex("a"), compiler.json_schema({})):
        assert grammar.matcher().captures() == {}


@pytest.mark.long
def test_captures_are_those_of_a_regular_expression() -> None:
    """Where a text can be derived in one way only, Python's groups are the same."""
    compiler = llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"b", b"c", b"<eos>"], eos=3))
    generator = random.Random(5)
    n_compared = 0
    every = ["".join(letters) for n in range(5) for letters in product("ab", repeat=n)]
    patterns = ("a+", "(a|b)", "b{2,3}", "(ab)*", "a?b")
    words = {pattern: [word for word in every if re.fullmatch(pattern, word)] for pattern in patterns}
    for _ in range(40):
        parts = generator.choices(patterns, k=3)
        rules = [f"p{n}[capture]: /{part}/" for n, part in enumerate(parts)]
        for lexer in ("greedy", "exact"):
            matcher = compiler.lark("start: p0 /c/ p1 /c/ p2 /c/\n" + "\n".join(rules), lexer=lexer).matcher()
            pattern = "c".join(f"({part.replace('(', '(?:')})" for part in parts) + "c"
            for _ in range(20):
                chosen = [generator.choice(words[part] if generator.random() < 0.9 else every) for part in parts]
                text = "".join(f"{word}c" for word in chosen)
                matcher.reset()
                found = re.fullmatch(pattern, text)
                try:
                    matcher.accept_bytes(text.encode())
                except LlmaskError:
                    assert found is None
                    continue
                assert (found is not None) == matcher.is_accepting()
                if found is not None:
                    assert matcher.captures() == {f"p{n}": found[n + 1].encode() for n in range(3)}
                    n_compared += 1
    assert n_compared > 500


def test_long_lists_are_parsed_in_linear_time(compiler: llmask.Compiler) -> None:
    matcher = compiler.lark('start: (a ",")*\na[capture]: /[a-z]+/').matcher()
    matcher.accept_bytes(b"ab," * 3000)
    assert len(matcher.capture_spans()) == 3000
