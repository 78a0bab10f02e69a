"""Formats: what they derive, and whole messages. XGrammar itself is asked in tests/contract."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.errors import LimitExceeded, UnsatisfiableSchema
from llmask.frontends.structural_tags import formats
from llmask.frontends.structural_tags.formats import dispatch, text_without
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import EMPTY, Expression, Grammar, Lexeme, choice, sequence, written
from llmask.store.store import Store
from tests.contract.structural_tag_specs import CASES
from tests.reference.definition import from_membership, read_mask
from tests.unit.frontends.structural_tags.bad_tags import BAD
from tests.unit.regex.test_word_lists import is_text, trigger_at_end


@pytest.mark.parametrize("name", CASES)
def test_texts_are_derived_or_not(compiler: llmask.Compiler, name: str) -> None:
    case = CASES[name]
    grammar = compiler.structural_tag({"type": "structural_tag", "format": case.format})
    assert [text for text in case.accepted if not grammar.accepts(text)] == []
    assert [text for text in case.refused if grammar.accepts(text)] == []


@pytest.mark.parametrize("name", BAD)
def test_errors_say_where_and_how_to_mend(compiler: llmask.Compiler, name: str) -> None:
    document, message = BAD[name]
    with pytest.raises(llmask.GrammarError) as error:
        compiler.structural_tag(document)
    assert str(error.value) == message


def test_the_older_form_is_read(compiler: llmask.Compiler) -> None:
    structures = [
        {"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"},
        {"begin": "<f=b>", "schema": '{"type": "boolean"}', "end": "</f>"},
    ]
    grammar = compiler.structural_tag({"type": "structural_tag", "structures": structures, "triggers": ["<f="]})
    assert grammar.accepts("so <f=a>12</f> and <f=b>true</f>.")
    assert not grammar.accepts("so <f=a>true</f>")


def test_the_older_form_may_ask_for_a_tag(compiler: llmask.Compiler) -> None:
    structures = [{"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"}]
    for at_least_one, is_accepted in ((True, False), (False, True), (None, True)):
        grammar = compiler.structural_tag({"structures": structures, "triggers": ["<f="], "at_least_one": at_least_one})
        assert grammar.accepts("no call") == is_accepted
        assert grammar.accepts("<f=a>12</f> and more")


def test_warnings_name_the_place(compiler: llmask.Compiler) -> None:
    rules = [["ab", {"type": "json_schema", "json_schema": {"type": "string", "format": "new"}}]]
    grammar = compiler.structural_tag({"format": {"type": "dispatch", "rules": rules, "excludes": ["b"]}})
    assert grammar.warnings[0].startswith("#/format/rules/0/1/json_schema: ")
    assert grammar.warnings[1] == '#/format: the trigger "ab" is never complete, because "b" is excluded'


def test_the_grammar_prints_itself(compiler: llmask.Compiler) -> None:
    tag = {"begin": "<f=a>", "content": {"type": "json_schema", "json_schema": {"type": "integer"}}, "end": "</f>"}
    grammar = compiler.structural_tag({"format": {"type": "triggered_tags", "triggers": ["<f="], "tags": [tag]}})
    assert str(grammar) == (
        'start: (/(?s:(?!<f=).)*<f=/ "a>" tag_0)* /(?s:(?!<f=).)*/\ntag_0: %json {"type": "integer"} "</f>"'
    )


def test_deep_and_many_formats_meet_a_limit(compiler: llmask.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    form: dict[str, Any] = {"type": "any_text"}
    for _ in range(formats.MAX_DEPTH):
        form = {"type": "optional", "content": form}
    with pytest.raises(LimitExceeded, match="formats nest deeper than 60"):
        compiler.structural_tag({"format": form})
    compiler.structural_tag({"format": form["content"]})
    itself: dict[str, Any] = {"type": "star"}
    itself["content"] = itself
    with pytest.raises(LimitExceeded, match="formats nest deeper than 60"):
        compiler.structural_tag({"format": itself})
    monkeypatch.setattr(formats, "MOST_FORMATS", 10)
    with pytest.raises(LimitExceeded, match="or are more than 10"):
        compiler.structural_tag({"format": {"type": "or", "elements": [{"type": "any_text"}] * 11}})


def test_counts_are_bounded(compiler: llmask.Compiler) -> None:
    one = {"type": "const_string", "value": "a"}
    grammar = compiler.structural_tag({"format": {"type": "repeat", "min": 0, "max": 2**31, "content": one}})
    assert grammar.accepts("a" * 100)
    with pytest.raises(llmask.GrammarError, match="more than 1000000000 copies"):
        compiler.structural_tag({"format": {"type": "repeat", "min": 2**31, "max": -1, "content": one}})


STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
STRINGS = ['"a"', '"b"', '"ab"', '"ba"', '"aab"', '"a\\u0062"', '"a\\"b"', '"\\\\"', '""']
VALUES = [*STRINGS, "1", "[]", '["b","ab"]', '{"ab":"b"}', '{"b":1}']
EXCLUDED = [["ab"], ["a", "bb"], ["\\"], ['"'], ["u00"], ["b", "ab"], ['\\"b'], ["aab"]]


def grammar_of(compiler: llmask.Compiler, schema: Any, excluded: list[str], **fields: Any) -> llmask.CompiledGrammar:
    form = {"type": "json_schema", "json_schema": schema, "excludes": excluded, **fields}
    return compiler.structural_tag({"format": form})


@pytest.mark.parametrize("excluded", EXCLUDED)
def test_documents_are_those_without_the_strings(byte_tokenizer: llmask.Tokenizer, excluded: list[str]) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    schema = {"type": "object", "properties": {"a": {}, "ab": {"type": "string"}}, "additionalProperties": True}
    grammar, plain = grammar_of(compiler, schema, excluded), compiler.json_schema(schema)
    seen = set()
    for names in [("a",), ("ab",), ("b",), ("a", "b"), ("a", "ab")]:
        for values in itertools.product(VALUES, repeat=len(names)):
            members = (f'"{name}":{value}' for name, value in zip(names, values, strict=True))
            text = "{" + ",".join(members) + "}"
            holds = any(word in body for body in STRING.findall(text) for word in excluded)
            assert grammar.accepts(text) == (plain.accepts(text) and not holds), text
            seen.add(holds)
    assert seen == {True, False}


def test_no_mask_leads_to_an_excluded_string_or_to_a_dead_end(
    tiny_tokenizer: llmask.Tokenizer, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "u": {"type": "null"}}, "required": ["a"]}
    grammar = grammar_of(llmask.Compiler(tiny_tokenizer), schema, ["u", "ab", "é"])
    n_ended = 0
    for _ in range(scaled(60)):
        matcher, text = grammar.matcher(), b""
        for _ in range(60):
            allowed = sorted(read_mask(matcher, tiny_tokenizer.vocab_size))
            ending = [token for token in allowed if token in tiny_tokenizer.eos_ids]
            closing = [token for token in allowed if tiny_tokenizer.token_bytes(token) in (b'"', b"}", b":")]
            token = rng.choice(ending or (closing if closing and rng.random() < 0.4 else allowed))
            matcher.accept_token(token)
            if token in tiny_tokenizer.eos_ids:
                document = json.loads(text)
                assert isinstance(document["a"], str)
                assert not any(word in body for body in STRING.findall(text.decode()) for word in ("u", "ab", "é"))
                n_ended += 1
                break
            text += tiny_tokenizer.token_bytes(token)
    assert n_ended > 10


def test_a_value_that_cannot_be_written_is_left_out(byte_tokenizer: llmask.Tokenizer) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    grammar = grammar_of(compiler, {"enum": ["u", "v", 3]}, ["u"])
    assert [text for text in ('"u"', '"\\u0075"', '"v"', "3") if grammar.accepts(text)] == ['"v"', "3"]
    closed = {"type": "object", "properties": {"v": {"const": "u"}, "w": {}}, "additionalProperties": False}
    grammar = grammar_of(compiler, closed, ["u"])
    matcher = grammar.matcher()
    matcher.accept_bytes(b'{"')
    with pytest.raises(llmask.TokenRejected):
        matcher.accept_bytes(b"v")
    assert grammar.accepts('{"w": 1}')
    with pytest.raises(UnsatisfiableSchema):
        grammar_of(compiler, {"const": "u"}, ["u"])


def test_a_printed_grammar_says_what_is_excluded(byte_tokenizer: llmask.Tokenizer) -> None:
    grammar = grammar_of(llmask.Compiler(byte_tokenizer), {"type": "string"}, ["</a"])
    assert '%json {"type": "string"} without ["</a"] in strings' in str(grammar)


MAX_BYTES = 6
TOKENS = [bytes(letters) for n in range(1, 4) for letters in product(b"ab<", repeat=n)]


@pytest.fixture(scope="module")
def store() -> Store:
    return Store(llmask.Tokenizer.from_bytes([*TOKENS, b"</s>"], eos=len(TOKENS), special=[]), llmask.Limits())


def word(store: Store, text: str) -> Expression:
    return Lexeme(store.nodes.literal(text.encode()), json.dumps(text)) if text else EMPTY


def compiled(store: Store, expression: Expression) -> MadeGrammar:
    lowered = exact_rules(store.nodes, Grammar({"start": expression}))
    return MadeGrammar(store, lowered.rules, lowered.warnings)


WORLDS = {
    "one trigger": ({"<a": ["b"]}, [], True),
    "an end": ({"<a": ["b", "<"]}, [], False),
    "excluded": ({"<a": ["b"]}, ["bb", "<<"], True),
    "an excluded beginning": ({"<ab": ["b"]}, ["<aa"], True),
    "a part that excluded strings stand in": ({"<a": ["<<"]}, ["<<"], True),
    "an empty part": ({"<a": [""]}, [], True),
    "one ends another": ({"<a": ["a"], "b<a": ["b"]}, [], True),
    "one begins another": ({"<": ["b"], "<a": ["<"]}, [], True),
    "one in another": ({"a<": ["b"], "aa<b": ["<"]}, [], True),
    "itself": ({"aa": ["b"]}, [], True),
    "one of which an excluded string is a part": ({"<a": ["b"], "b": ["a"]}, ["<"], True),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_masks_are_those_of_the_definition(store: Store, name: str) -> None:
    parts, excluded, loops = WORLDS[name]
    triggers = list(parts)

    @cache
    def is_sentence(text: str) -> bool:
        if is_text(text, triggers, excluded):
            return True
        for end in range(1, len(text) + 1):
            trigger = trigger_at_end(text[:end], triggers, excluded)
            for part in parts[trigger] if trigger else ():
                rest = text[end + len(part) :]
                if text[end:].startswith(part) and (is_sentence(rest) if loops else not rest):
                    return True
        return False

    language = from_membership(lambda data: is_sentence(data.decode()), b"ab<", MAX_BYTES, 3)
    expressions = {trigger: choice([word(store, part) for part in options]) for trigger, options in parts.items()}
    grammar = compiled(store, dispatch(store.nodes, expressions, excluded, loops))
    prefixes = [text for n in range(MAX_BYTES - 2) for text in product(b"ab<", repeat=n)]
    n_seen = 0
    for prefix in map(bytes, prefixes):
        if prefix not in language.live:
            continue
        matcher = grammar.matcher()
        matcher.accept_bytes(prefix)
        wanted = language.allowed_tokens(prefix, [*TOKENS, b"</s>"], (), len(TOKENS))
        assert read_mask(matcher, len(TOKENS) + 1) == wanted, prefix
        n_seen += 1
    assert n_seen > 8


def test_text_may_have_a_longest_length(store: Store) -> None:
    grammar = compiled(store, sequence([text_without(store.nodes, ["ab"], 3), word(store, "<")]))
    for text, is_whole in {"": False, "<": True, "bba<": True, "bbab": False, "bbbb": False, "aab": False}.items():
        assert llmask.CompiledGrammar(grammar).accepts(text) == is_whole


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (lambda nodes: text_without(nodes, []), "/(?s:.)*/"),
        (lambda nodes: text_without(nodes, ["a.b", "\n"], 5), r"/(?s:(?!a\.b|\n).){0,5}/"),
        (lambda nodes: text_without(nodes, [], 0), ""),
        (
            lambda nodes: dispatch(nodes, {"</a>": Lexeme(nodes.literal(b"x"), '"x"')}, ["b"]),
            r'(/(?s:(?!<\/a>|b).)*<\/a>/ "x")* /(?s:(?!<\/a>|b).)*/',
        ),
    ],
)
def test_free_text_is_written_as_a_pattern(store: Store, expression: Any, text: str) -> None:
    assert written(expression(store.nodes)) == text


def test_patterns_mean_what_they_stand_for(store: Store) -> None:
    compiler = llmask.Compiler(llmask.Tokenizer.from_bytes([*TOKENS, b"</s>"], eos=len(TOKENS), special=[]))
    shown = compiler.regex(r"((?s:(?!<a|b).)*<ab)*(?s:(?!<a|b).)*")
    meant = compiled(store, dispatch(store.nodes, {"<a": word(store, "b")}, ["b"]))
    for prefix in (b"", b"a", b"<", b"a<", b"<a", b"<ab", b"<aba<"):
        masks = []
        for grammar in (shown, meant):
            matcher = grammar.matcher()
            matcher.accept_bytes(prefix)
            masks.append(read_mask(matcher, len(TOKENS) + 1))
        assert masks[0] == masks[1], prefix
