"""White space that is demanded, against documents that are laid out again from their lexemes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from llmask.errors import GrammarError, LlmaskError
from llmask.frontends.json_schema.lexical import spacing

LEXEME = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
RECURSIVE = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"$ref": "#"}},
        "b": {"const": {"x": [], "y": {}, "z": [1, {"q": 2.5}]}},
        "c": {},
        "e": {"type": "object", "maxProperties": 0},
        "f": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "object", "maxProperties": 2}},
        "g": {"enum": ["{", ", ", 1]},
    },
    "additionalProperties": False,
}
SCHEMAS: list[Any] = [
    RECURSIVE,
    {"type": ["array", "object"]},
    {"type": "array", "prefixItems": [{}, {"type": "array"}], "items": False},
]


def indented(document: bytes, unit: bytes) -> bytes:
    """The document as `json.dumps(indent=unit)` would write it, each lexeme spelled as before."""
    written, depth = b"", 0
    lexemes = LEXEME.findall(document)
    for at, lexeme in enumerate(lexemes):
        following = lexemes[at + 1] if at + 1 < len(lexemes) else b""
        if lexeme in (b"}", b"]"):
            depth -= 1
            if lexemes[at - 1] not in (b"{", b"["):
                written += b"\n" + unit * depth
        written += lexeme
        if lexeme in (b"{", b"["):
            depth += 1
        if lexeme == b":":
            written += b" "
        elif lexeme in (b"{", b"[", b",") and following not in (b"}", b"]"):
            written += b"\n" + unit * depth
    return written


@pytest.mark.parametrize("value", [{}, [], {"a": []}, [1, {"b": [{}, "x, y"]}, [[]]], "s", {"a": {"b": {"c": [1, 2]}}}])
@pytest.mark.parametrize("indent", [0, 1, 2, 7, "\t", "", " \t"])
def test_the_judge_lays_out_as_json_does_and_so_does_the_grammar(judge: Any, value: Any, indent: Any) -> None:
    unit = indent if isinstance(indent, str) else " " * indent
    expected = json.dumps(value, indent=indent)
    assert indented(json.dumps(value).encode(), unit.encode()) == expected.encode()
    grammar = judge.grammar(True, indent=indent)
    assert grammar.accepts(expected)
    if value and value != "s":
        assert not grammar.accepts(json.dumps(value))
        assert not grammar.accepts(expected.replace("\n", "\n ", 1))
        assert not grammar.accepts(json.dumps(value, indent=indent, separators=(", ", " : ")))


@pytest.mark.parametrize("schema", SCHEMAS, ids=["recursive", "any", "list"])
@pytest.mark.parametrize("indent", [0, 3, "\t"])
def test_indented_and_compact_documents_are_the_same(
    judge: Any, schema: Any, indent: Any, rng: random.Random, scaled: Any
) -> None:
    unit = indent.encode() if isinstance(indent, str) else b" " * indent
    compact, lines = judge.grammar(schema, whitespace="compact"), judge.grammar(schema, indent=indent)
    n_nested = 0
    for document in documents(judge, lines, rng, scaled(40)):
        bare = b"".join(LEXEME.findall(document))
        assert indented(bare, unit) == document
        assert compact.accepts(bare), bare
    for document in documents(judge, compact, rng, scaled(40)):
        n_nested += document.count(b"{") + document.count(b"[")
        assert lines.accepts(indented(document, unit)), document
        moved = indented(document, unit).replace(b"\n", b"\n ", 1)
        assert lines.accepts(moved) == (b"\n" not in moved)
    assert n_nested > 10


COUNTED = {
    "type": "object",
    "properties": {"a": {"$ref": "#"}, "b": {"contains": {"type": "object"}, "type": "array", "maxItems": 3}, "c": {}},
    "minProperties": 1,
    "maxProperties": 2,
    "dependentRequired": {"b": ["c"]},
    "patternProperties": {"^x": {"enum": [[], {}, {"a": [1]}]}},
    "unevaluatedProperties": False,
}


@pytest.mark.parametrize("order", ["schema", "any"])
def test_guards_of_counted_objects_and_of_any_order_are_kept(
    judge: Any, order: str, rng: random.Random, scaled: Any
) -> None:
    compact = judge.grammar(COUNTED, whitespace="compact", property_order=order)
    lines = judge.grammar(COUNTED, indent=1, property_order=order)
    for document in documents(judge, lines, rng, scaled(60)):
        bare = b"".join(LEXEME.findall(document))
        assert indented(bare, b" ") == document
        assert compact.accepts(bare), bare
    for document in documents(judge, compact, rng, scaled(60)):
        assert lines.accepts(indented(document, b" ")), document
    for text in ('{"a": {"c": 1}, "c": 1, "x": []}', "{}", '{"b": [1]}', '{"b": [{}]}', '{"c": 1, "c": 1}'):
        for grammar, written in ((compact, b"".join(LEXEME.findall(text.encode()))), (lines, text.encode())):
            layout = written if grammar is compact else indented(b"".join(LEXEME.findall(written)), b" ")
            assert not grammar.accepts(layout), layout


def documents(judge: Any, grammar: Any, rng: random.Random, n: int) -> Iterator[bytes]:
    """Random documents; walks that became too long are left out."""
    for _ in range(n):
        document = judge.walk(grammar, rng)
        if document:
            yield document


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value, 1]
    return value


def test_depth_is_exact_where_it_is_said_to_be(judge: Any) -> None:
    grammar = judge.grammar(True, indent=2)
    exact, deep = json.dumps(nested(31), indent=2), json.dumps(nested(60), indent=2)
    assert grammar.accepts(exact)
    assert grammar.accepts(deep)
    deepest = max(re.findall(r"\n +", exact), key=len)
    for more in (" ", "  "):
        assert not grammar.accepts(exact.replace(deepest, deepest + more))
    deepest = max(re.findall(r"\n +", deep), key=len)
    assert grammar.accepts(deep.replace(deepest, deepest + "  "))  # any depth from 32 on
    assert not grammar.accepts(deep.replace(deepest, deepest + " "))
    assert not grammar.accepts(deep.replace(deepest, "\n" + " " * 60))
    # what the schema spells out has no such limit
    schema: Any = {"type": "integer"}
    for _ in range(40):
        schema = {"type": "array", "items": schema}
    value: Any = 1
    for _ in range(40):
        value = [value]
    grammar = judge.grammar(schema, indent=2)
    written = json.dumps(value, indent=2)
    assert grammar.accepts(written)


def test_a_grammar_that_grows_too_large_follows_fewer_depths(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = len(judge.translate(RECURSIVE, indent=2).rules.edges)
    monkeypatch.setattr(spacing, "MAX_EDGES", 200)
    small = judge.translate(RECURSIVE, indent=2)
    assert len(small.rules.edges) < whole / 3
    grammar = judge.grammar(RECURSIVE, indent=2)
    document = json.dumps({"a": [{"a": [{"a": [{"a": []}]}], "c": [{}]}]}, indent=2)
    assert grammar.accepts(document)
    assert not grammar.accepts(document.replace("\n  ", "\n   ", 1))


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        (" ?", ['{"a":[]}', '{ "a" : [ ] }', '{"a": []}'], ['{"a":  []}', '{"a":\n[]}', ' {"a":[]}']),
        (r"[\n ]?", ['{\n"a" :[]}'], ['{\n "a":[]}', '{\t"a":[]}']),
        (r"\n( {2})*", ['{\n  "a"\n:\n[\n    ]\n}', '{\n"a"\n:\n[\n{\n"c"\n:\n1\n}\n]\n}'], ['{"a":[]}', '{\n"a":[]}']),
        (" ", ['{ "a" : [ ] }', '{ "a" : [ { } , { "c" : 1.5 } ] }'], ['{"a": []}', '{ "a" : [  ] }', '{ "a" : [] }']),
        ("", ['{"a":[]}'], ['{ "a":[]}']),
        (r"\s*", ['{ \n"a":[]}'], ['{\f"a":[]}']),
        (" {0,9}", ['{   "a":[]}'], ['{    "a":[]}']),
    ],
)
def test_white_space_of_a_pattern(judge: Any, pattern: str, accepted: list[str], refused: list[str]) -> None:
    if pattern == r"\s*":
        with pytest.raises(GrammarError, match="must be"):
            judge.grammar(RECURSIVE, whitespace=pattern)
        return
    grammar = judge.grammar(RECURSIVE, whitespace=pattern, max_whitespace=3 if "9" in pattern else 64)
    assert [text for text in accepted if not grammar.accepts(text)] == []
    assert [text for text in refused if grammar.accepts(text)] == []


def test_demanded_white_space_stands_between_any_two_lexemes(judge: Any, rng: random.Random, scaled: Any) -> None:
    grammar, compact = judge.grammar(RECURSIVE, whitespace="\t"), judge.grammar(RECURSIVE, whitespace="compact")
    for document in documents(judge, grammar, rng, scaled(40)):
        assert document == b"\t".join(LEXEME.findall(document))
        assert compact.accepts(b"".join(LEXEME.findall(document)))
    for document in documents(judge, compact, rng, scaled(40)):
        assert grammar.accepts(b"\t".join(LEXEME.findall(document)))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "wide",
            'the option whitespace must be "flexible", "compact" or a pattern of JSON\'s white space, not \'wide\'\n'
            r"  JSON's white space is [ \t\n\r]",
        ),
        (
            "[ ]{70,}",
            "the option whitespace matches no white space of at most 64 bytes (max_whitespace): '[ ]{70,}'\n"
            "  raise max_whitespace or change the pattern",
        ),
        (
            "[",
            "the option whitespace: this class is not closed\n"
            "  at column 1 of the pattern [\n"
            r"  Add a closing bracket, or write \[ for the character.",
        ),
    ],
)
def test_a_pattern_that_is_no_white_space_is_refused(judge: Any, pattern: str, message: str) -> None:
    with pytest.raises(LlmaskError) as caught:
        judge.grammar(True, whitespace=pattern)
    assert str(caught.value) == message
