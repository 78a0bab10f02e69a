"""What is likely to come next: options of places, texts of lexemes, and what stands between them."""

from __future__ import annotations

from typing import Any

import pytest

from llmask import Compiler
from llmask.asking.likely import END, FREE, Likely, closes
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.grammar.kinds import SCAN
from llmask.grammar.tails import Network


def likely(grammar: CompiledGrammar) -> Likely:
    return Likely(grammar._loaded.store, grammar._loaded.own_rules, grammar._loaded.is_json)


def after(one: Likely, *words: bytes) -> list[tuple[bytes, ...]]:
    """The texts that may come behind lexemes."""
    place = one.start
    for word in words:
        (place,) = {option.place for option in one.options(place) if word in option.texts}
    return [option.texts for option in one.options(place)]


def test_the_next_property_comes_first_and_the_end_last(compiler: Compiler) -> None:
    one = likely(
        compiler.json_schema({"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False})
    )
    assert after(one) == [(b"{",)]
    assert after(one, b"{") == [(b'"a"',), (b'"b"',), (b"}",)]
    assert after(one, b"{", b'"b"', b":", b"12", b"}") == [()]
    assert END in one.options(one.options(one.start)[0].place) or closes(END)


def test_texts_of_lexemes(compiler: Compiler) -> None:
    def texts(schema: Any) -> tuple[bytes, ...]:
        return likely(compiler.json_schema(schema)).options(likely(compiler.json_schema(schema)).start)[0].texts

    assert texts({"type": "string"}) == (*FREE, b'""')
    assert sorted(texts({"enum": ["b", "a", "c"]})) == [b'"a"', b'"b"', b'"c"']
    assert b"12" in texts({"type": "integer"})
    assert b"0.5" not in texts({"type": "integer"})
    assert b'"2024-01-15"' in texts({"type": "string", "format": "date"})
    assert texts({"type": "string", "maxLength": 20})[-1] == b'"' + b"1a" * 10 + b'"'
    assert (
        texts({"type": "string", "minLength": 3}) == texts({"type": "string", "minLength": 3, "maxLength": 10**6})[:-1]
    )
    assert b'"' + b"1a" * 12 + b'"' in texts({"type": "string", "pattern": "^[0-9a-f]{24}$"})
    assert len(texts({"type": "string", "minLength": 400})[0]) == 402
    odd = texts({"type": "string", "pattern": "^q{3}x[0-9]+$"})
    assert odd
    assert all(compiler.json_schema({"pattern": "^q{3}x[0-9]+$"}).accepts(text) for text in odd)


def test_a_lexeme_of_long_strings_has_no_text(compiler: Compiler) -> None:
    """A string of a million bytes would take seconds, which no bound of `warm` sees."""
    assert likely(compiler.json_schema({"type": "string", "minLength": 100_000})).options(0) == []


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("ab|cd|e", [b"ab", b"cd", b"e"]), ("(?:ab|cd)|ab", [b"ab", b"cd"]), ("a?b", []), ("[ab]c", []), ("(ab|cd)x", [])],
)
def test_listed_words(compiler: Compiler, pattern: str, words: list[bytes]) -> None:
    grammar = compiler.regex(pattern)
    (lexeme,) = {
        edge.symbol for edges in Network(grammar._loaded.own_rules).edges for edge in edges if edge.kind == SCAN
    }
    assert sorted(grammar._loaded.store.nodes.words_of(lexeme)) == words


def test_what_stands_between_lexemes(compiler: Compiler) -> None:
    one = likely(compiler.json_schema({}))
    assert one.texts.between(b"", b"{", None) == b""
    assert one.texts.between(b'":', b"1", None) == b" "
    assert one.texts.between(b'",', b'"a"', None) == b" "
    assert one.texts.between(b"{", b'"a"', None) == b""
    assert one.texts.between(b"{", b'"a"', 1) == b"\n  "
    assert one.texts.between(b"1", b"}", 2) == b"\n  "
    assert one.texts.between(b"{", b"}", 2) == b""
    assert one.texts.between(b",", b'"a"', 40) == b"", "longer than white space may be"
    compact = likely(compiler.json_schema({}, whitespace="compact"))
    assert compact.texts.between(b'",', b'"a"', None) == b""


def test_words_of_other_grammars_are_kept_apart(compiler: Compiler) -> None:
    one = likely(compiler.lark('start: "a" "b" "."\n%ignore " "'))
    assert one.texts.between(b"a", b"b", None) == b" "
    assert one.texts.between(b"a", b".", None) == b""


def test_how_deep_a_rule_is_in_itself(compiler: Compiler) -> None:
    one = likely(compiler.gbnf('root ::= "a" root "b" | "c"'))
    place, seen = one.start, []
    for _ in range(4):
        place = next(option.place for option in one.options(place) if option.texts == (b"a",))
        seen.append(one.nesting(place))
    assert seen == [1, 2, 3, 4]
