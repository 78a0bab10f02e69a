"""`Matcher.explain` and `CompiledGrammar.explain`: tokens, texts, ends, documents; of every kind of matcher."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

import llmask
from llmask import Compiler, Limits, LlmaskError, TokenRejected
from llmask.explaining.explain import Embedded, explanation_of_document
from llmask.explaining.refusals import Source

SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string", "maxLength": 3}, "n": {"type": "integer", "minimum": 2}},
    "required": ["title"],
}


@pytest.fixture
def matcher(compiler: Compiler) -> Any:
    matcher = compiler.json_schema(SCHEMA).matcher()
    matcher.accept_bytes(b'{"title": "abc')
    return matcher


def test_a_token_is_explained(matcher: Any, byte_tokenizer: Any) -> None:
    before = matcher.tokens, matcher._sequence.configuration
    found = matcher.explain(ord("d"))
    assert (found.is_allowed, bool(found), found.byte, found.found) == (False, True, 14, b"d")
    assert (found.instance_pointer, found.schema_pointer) == ("/title", "#/properties/title/maxLength")
    assert (found.keyword, found.value) == ("maxLength", 3)
    assert found.expected == ["the end of the string"]
    assert ord('"') in found.tokens
    assert found.relaxed == {}
    assert str(found).splitlines()[:3] == [
        "refused at byte 14: found 'd'",
        "  /title: too many characters (maxLength 3), #/properties/title/maxLength",
        "  expected the end of the string",
    ]
    assert (matcher.tokens, matcher._sequence.configuration) == before


def test_tokens_that_may_come_instead_are_allowed(compiler: Compiler) -> None:
    matcher = compiler.json_schema({"enum": ["abc", "abd", 12]}).matcher()
    matcher.accept_bytes(b'"a')
    found = matcher.explain("x")
    assert found.tokens
    assert all(matcher.fork().accept(token) for token in found.tokens)


def test_what_is_allowed_needs_no_explanation(matcher: Any) -> None:
    for what in (ord('"'), b'"', '", "n": 2}', b""):
        found = matcher.explain(what)
        assert (found.is_allowed, bool(found), str(found), found.keyword) == (True, False, "allowed", None)
        assert (found.expected, found.tokens, found.others, found.rules) == ([], [], [], [])


def test_an_end_is_explained(matcher: Any, byte_tokenizer: Any) -> None:
    (eos, *_) = byte_tokenizer.eos_ids
    assert matcher.explain(eos).note == "the document is not complete"
    matcher.accept_bytes(b'"')
    assert matcher.explain("}").is_allowed
    matcher.accept_bytes(b"}")
    assert matcher.explain(eos).is_allowed
    matcher.accept_token(eos)
    assert matcher.explain("x").note == "the document has ended"


def test_an_end_may_be_refused_by_a_keyword(compiler: Compiler, byte_tokenizer: Any) -> None:
    (eos, *_) = byte_tokenizer.eos_ids
    matcher = compiler.json_schema({"type": "integer", "minimum": 50}).matcher()
    matcher.accept_bytes(b"7")
    assert matcher.explain(eos).keyword == "minimum"


def test_tokens_without_a_text_and_without_a_number(matcher: Any, byte_tokenizer: Any) -> None:
    assert "is not in the vocabulary" in str(matcher.explain(10**9).note)
    assert "is not in the vocabulary" in str(matcher.explain(-1).note)
    for wrong in (None, 1.5, [1], {"a": 1}):
        with pytest.raises(LlmaskError):
            matcher.explain(wrong)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ('{"title": x', "the text is no JSON from there on"),
        (' {"title": ""}', "there is white space before or after the document"),
        ('{"title": ""} ', "there is white space before or after the document"),
        ('{"title": "a\n"}', "line breaks, tabs and other control characters are written as escapes in a string"),
        ('{"title"' + " " * 5000 + ': ""}', "there is more white space in a row than any option allows"),
        ('{"title": ""', "the document is not complete"),
        ("", "the document is not complete"),
        ('{"title": "", "title": ""}', "the object has the key already"),
        ('{"\x01": 1}', "line breaks, tabs and other control characters are written as escapes in a string"),
        ("{[1]: 2}", "the text is no JSON from there on"),
        ('{"title": "", "n": 2e0}', "numbers that a keyword speaks of are written without exponent"),
        ('{"title": "\ud800"}', "the text is no JSON from there on"),
    ],
)
def test_documents_that_no_keyword_refuses(compiler: Compiler, text: str, note: str) -> None:
    grammar = compiler.json_schema(SCHEMA)
    found = grammar.explain(text)
    assert (found.note, found.keyword, found.is_allowed) == (note, None, False)
    assert note in str(found)


def test_an_order_is_told(compiler: Compiler) -> None:
    found = compiler.json_schema(SCHEMA).explain('{"n": 2, "title": ""}')
    assert (found.keyword, found.relaxed) == (None, {"property_order": "any"})
    assert "property_order='any' takes it (--property-order any)" in str(found)


def test_further_errors_are_told(compiler: Compiler) -> None:
    found = compiler.json_schema(SCHEMA).explain('{"n": 1, "title": "abcd"}')
    assert {found.keyword, *(reason.keyword for reason in found.others)} == {"minimum", "maxLength"}
    assert str(found).count("also ") == 1


def test_a_rejection_carries_its_explanation(matcher: Any) -> None:
    with pytest.raises(TokenRejected) as caught:
        matcher.accept_token(ord("d"))
    matcher.reset()
    assert caught.value.explanation.keyword == "maxLength"
    assert caught.value.explanation is caught.value.explanation
    arrived = pickle.loads(pickle.dumps(caught.value))
    assert (arrived.message, arrived.where, arrived.explanation) == (caught.value.message, caught.value.where, None)
    with pytest.raises(TokenRejected) as caught:
        matcher.accept_bytes(b'{"title": 1')
    assert caught.value.explanation.keyword == "type"
    assert TokenRejected("of one's own").explanation is None


def test_other_grammars_show_their_rules(compiler: Compiler) -> None:
    grammar = compiler.gbnf('root ::= "a" item+ "c"\nitem ::= "<" item* ">"')
    found = grammar.explain("a<<x")
    assert (found.byte, found.keyword, found.instance_pointer) == (3, None, None)
    assert any("item" in rule and "•" in rule for rule in found.rules)
    assert found.expected == ["'<'", "'>'"]
    assert "the rules there:" in str(found)


CITY = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 3}}, "required": ["city"]}


def test_arguments_of_tools_are_explained_by_their_schemas(compiler: Compiler) -> None:
    tools = [{"name": "a", "parameters": {"type": "object"}}, {"name": "b", "parameters": CITY}]
    grammar = compiler.tools(tools, model="hermes", tool_choice="required")
    begin = b'<tool_call>\n{"name": "b", "arguments": '
    for text, keyword in ((b'{"city": "abcd', "maxLength"), (b"{}", "required"), (b"[", "type")):
        matcher = grammar.matcher()
        matcher.accept_bytes(begin)
        found = matcher.explain(text)
        assert (found.keyword, found.note) == (keyword, f"in what follows {begin.decode()!r}")
    found = grammar.explain(begin + b'{"city": "abc"}}\n</tool_cal>')
    assert (found.keyword, found.note, found.found) == (None, None, b">")
    assert found.rules
    assert grammar.explain(b"x").rules


def test_schemas_in_structural_tags_explain(compiler: Compiler) -> None:
    content = {"type": "json_schema", "json_schema": CITY}
    tag = {"type": "structural_tag", "format": {"type": "tag", "begin": "<a>", "content": content, "end": "</a>"}}
    grammar = compiler.structural_tag(tag)
    found = grammar.explain('<a>{"city": 1}</a>')
    assert (found.instance_pointer, found.keyword, found.byte) == ("/city", "type", 12)
    assert found.expected == ["a string of at most 3 characters"]
    assert grammar.explain('<a>{"city": ""}</b>').keyword is None


def test_positions_know_their_places_and_rules(compiler: Compiler) -> None:
    schema = {"items": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}, "$defs": {"a": {"minimum": 1}}}
    matcher = compiler.json_schema({**schema, "type": "array"}).matcher()
    matcher.accept_bytes(b"[")
    assert matcher.position().places == ["#/items", "#/items/anyOf/0", "#/$defs/a", "#/items/anyOf/1"]
    matcher.accept_bytes(b"1")
    position = matcher.position()
    matcher.accept_bytes(b"]")
    assert position.places == ["#/items", "#/items/anyOf/0", "#/$defs/a"]
    assert any("•" in rule for rule in position.rules)
    assert position == ("/0", "value", 1, 1)
    assert pickle.loads(pickle.dumps(position)) == position
    assert matcher.position().places == []
    assert compiler.regex("a+").matcher().position().places == []


def test_prefixes_and_stop_tokens(compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA)
    healed = grammar.matcher(prefix=b"x:")
    assert healed.explain("y").note == "the prefix goes on with 'x:'"
    healed.accept_bytes(b'x:{"title": 1'[:12])
    assert healed.explain("1").byte == 10
    assert healed.explain("1").keyword == "type"
    stopping = grammar.matcher(stop_tokens=[ord("!")])
    assert stopping.explain(ord("!")).note == "the document is not complete"


def test_a_canonical_refusal_is_told() -> None:
    tokenizer = llmask.Tokenizer.default()
    matcher = Compiler(tokenizer, canonical=True).choice(["hello", "help"]).matcher()
    single = next(token for token in range(tokenizer.vocab_size) if tokenizer.token_bytes(token) == b"h")
    assert matcher.explain(single).note == "the grammar takes its text, but in other tokens"


def test_a_long_document_is_explained() -> None:
    grammar = Compiler(llmask.Tokenizer.default()).json_schema({"type": "array", "items": {"enum": [*range(300)]}})
    found = grammar.explain("[" + ", ".join(map(str, [*range(300)] * 10)) + ", 301]")
    assert (found.keyword, found.instance_pointer) == ("enum", "/3000")


def test_a_search_that_takes_too_much_work_ends(compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA)
    assert grammar._loaded.recipe is not None
    options = dataclasses.replace(grammar._loaded.recipe.options, limits=Limits(max_compile_work=10))
    source = Source(grammar._loaded.store, SCHEMA, options)
    found = explanation_of_document(grammar.matcher()._sequence, [Embedded(b"", source)], b'{"title": 1}')
    assert found.note == "no keyword was found that refuses it within limits.max_compile_work"
    assert str(found).startswith("refused at byte 10: found '1}'")
    assert (found.relaxed, found.others) == ({}, [])


@pytest.mark.parametrize("document", [None, 1, ["a"], {"a": 1}])
def test_documents_are_texts(compiler: Compiler, document: Any) -> None:
    with pytest.raises(LlmaskError, match="a document is str or bytes"):
        compiler.json_object().explain(document)


GBNF = '# numbers in brackets\nroot ::= "a" item+ "c"\nitem ::= "<" item* ">" | num\nnum ::= [0-9] num | "."'
LARK = '// numbers\nstart: pair* "c"\n?pair.2: "<" NUM ">" pair\n     | "-"\nNUM: /[0-9]+/'


@pytest.mark.parametrize(
    ("kind", "grammar", "text", "lines"),
    [
        ("gbnf", GBNF, b"a<<", {"line 3"}),
        ("ebnf", GBNF, b"a", {"line 2"}),
        ("lark", LARK, b"<1>", {"line 3"}),
        ("lark", LARK, b"", {"line 2"}),
    ],
)
def test_rules_have_lines(byte_tokenizer: Any, kind: str, grammar: str, text: bytes, lines: set[str]) -> None:
    matcher = getattr(Compiler(byte_tokenizer), kind)(grammar).matcher()
    matcher.accept_bytes(text)
    rules = matcher.position().rules
    assert lines <= {rule.partition(": ")[0] for rule in rules}
    assert all("•" in rule for rule in rules)


def test_after_the_end_there_are_none(byte_tokenizer: Any) -> None:
    matcher = Compiler(byte_tokenizer).gbnf('root ::= "a"').matcher()
    matcher.accept_bytes(b"a")
    matcher.accept_token(next(iter(byte_tokenizer.eos_ids)))
    assert matcher.position().rules == []


def test_other_rules_have_no_line(byte_tokenizer: Any) -> None:
    compiler = Compiler(byte_tokenizer)
    for grammar in (compiler.regex("a+"), compiler.json_schema({"type": "array"}), compiler.choice(["a", "b"])):
        assert all("line" not in rule for rule in grammar.matcher().position().rules)
