"""Compilers: what is cached, for how long, and that equal-looking arguments are told apart."""

from __future__ import annotations

import collections
import dataclasses
import gc
import inspect
import json
import types
import weakref
from typing import Any

import pytest

import llmask
from llmask.frontends.json_schema import SchemaOptions
from tests.reference.definition import read_mask

TOKENIZER = "tiny_tokenizer"  # of `compiler`


def test_equal_arguments_give_the_same_grammar(compiler: Any) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert compiler.json_schema(schema) is compiler.json_schema(json.loads(json.dumps(schema)))
    assert compiler.json_schema(schema) is compiler.json_schema(json.dumps(schema))
    assert compiler.regex("a+") is compiler.regex("a+")
    assert compiler.choice(["a", "b"]) is compiler.choice(("a", "b"))
    assert compiler.json_object() is compiler.json_schema({"type": "object"})


def test_other_options_give_another_grammar(compiler: Any) -> None:
    schema = {"type": "array", "items": {"type": "string", "format": "date"}}
    options: list[dict[str, Any]] = [
        {},
        {"whitespace": "compact"},
        {"max_whitespace": 3},
        {"format": "annotate"},
        {"formats": {"date": "^x$"}},
        {"indent": 1},
        {"whitespace": " "},
        {"escapes": "minimal"},
        {"escapes": "all"},
        {"literals": "any"},
    ]
    made = [compiler.json_schema(schema, **option) for option in options]
    assert len(set(map(id, made))) == len(options)
    verdicts = [
        [
            grammar.accepts(text)
            for text in (
                *('["2020-01-31"]', '[ "2020-01-31"]', '[    "2020-01-31"]', '["x"]'),
                *('[\n "2020-01-31"\n]', '[ "2020-01-31" ]', '["2020-01-3\\u0031"]'),
            )
        ]
        for grammar in made
    ]
    assert verdicts == [
        [True, True, True, False, True, True, False],
        [True, False, False, False, False, False, False],
        [True, True, False, False, True, True, False],
        [True, True, True, True, True, True, True],
        [False, False, False, True, False, False, False],
        [False, False, False, False, True, False, False],
        [False, False, False, False, False, True, False],
        [True, True, True, False, True, True, False],
        [True, True, True, False, True, True, True],
        [True, True, True, False, True, True, False],
    ]
    for option, grammar in zip(options, made, strict=True):
        assert compiler.json_schema(schema, **option) is grammar


def test_schemas_that_python_finds_equal_are_told_apart(compiler: Any) -> None:
    assert compiler.json_schema({"const": True}).accepts("true")
    assert not compiler.json_schema({"const": 1}).accepts("true")
    assert compiler.json_schema({"const": 1}).accepts("1")
    assert compiler.json_schema(True).accepts("3")
    assert compiler.json_schema({"enum": [False, 0]}).accepts("false")


def test_every_option_of_a_schema_can_be_given() -> None:
    given = set(inspect.signature(llmask.Compiler.json_schema).parameters) - {"self", "schema"}
    assert given == {field.name for field in dataclasses.fields(SchemaOptions)} - {"limits"}


def test_a_schema_that_python_nearly_finds_equal_is_no_hit(compiler: Any) -> None:
    # {1: {}} was found under the key of {"1": {}}, as both have one JSON text
    compiler.json_schema({"properties": {"1": {}}})
    with pytest.raises(llmask.GrammarError):
        compiler.json_schema({"properties": {1: {}}})
    compiler.json_schema({"enum": [1]})
    with pytest.raises(llmask.GrammarError):
        compiler.json_schema({"enum": (1,)})


def test_numbers_of_a_text_are_exact_and_cached(compiler: Any) -> None:
    text = '{"type": "number", "maximum": 0.1000000000000000000001}'
    grammar = compiler.json_schema(text)
    assert grammar.accepts("0.1000000000000000000001")
    assert not grammar.accepts("0.1000000000000000000002")
    assert compiler.json_schema(text.encode()) is grammar
    assert compiler.json_schema('{"maximum": 1.5}') is compiler.json_schema({"maximum": 1.5})


def test_any_object_takes_the_options_of_white_space(compiler: Any) -> None:
    compact, lines = compiler.json_object(whitespace="compact"), compiler.json_object(indent=2)
    document = {"a": [1, {}], "b": {"c": "é\n"}}
    bare = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    for grammar, is_bare, is_lines in (
        (compact, True, False),
        (lines, False, True),
        (compiler.json_object(), True, True),
    ):
        assert grammar.accepts(bare) == is_bare
        assert grammar.accepts(json.dumps(document, indent=2)) == is_lines
        assert not grammar.accepts("[]")
    assert not compiler.json_object(escapes="minimal").accepts('{"\\u0061":1}')
    assert not compiler.json_object(max_whitespace=1).accepts('{  "a":1}')


def test_patterns_and_choices_do_not_share_a_cache_entry(compiler: Any) -> None:
    assert compiler.regex("a+").accepts("aa")
    assert compiler.regex("a+", method="search").accepts("-aa-")
    assert not compiler.regex("a+").accepts("-aa-")
    assert not compiler.choice(["a+"]).accepts("aa")
    assert compiler.choice(["a+"]).accepts("a+")


@pytest.mark.parametrize(
    ("choices", "accepted", "refused"),
    [
        (["yes", "no"], ["yes", "no"], ["", "y", "yesno", "yes "]),
        (["a", "ab", "abc"], ["a", "ab", "abc"], ["", "b", "abcd"]),
        (["", "a"], ["", "a"], ["aa"]),
        ([""], [""], ["a"]),
        (["a", "a"], ["a"], ["", "aa"]),
        (["é", "😀", '"'], ["é", "😀", '"'], ["e"]),
        (["x" * 100, "x" * 101], ["x" * 100, "x" * 101], ["x" * 99, "x" * 102]),
        ({"b": 1, "a": 2}, ["a", "b"], ["1"]),
        (iter(["a", "b"]), ["a", "b"], ["ab"]),
    ],
)
def test_choices(compiler: Any, choices: Any, accepted: list[str], refused: list[str]) -> None:
    grammar = compiler.choice(choices)
    assert [text for text in accepted if not grammar.accepts(text)] == []
    assert [text for text in refused if grammar.accepts(text)] == []


def size_of_a_pattern(tokenizer: Any) -> int:
    """Bytes in which a compiler remembers one."""
    compiler = llmask.Compiler(tokenizer)
    compiler.regex("[a-c]{3}x")
    return int(compiler._cache.bytes_used)


def test_the_oldest_grammars_leave_the_cache_first(tiny_tokenizer: Any) -> None:
    size = size_of_a_pattern(tiny_tokenizer)
    small = llmask.Compiler(tiny_tokenizer, cache_bytes=4 * size)
    kept = [weakref.ref(small.regex(f"[a-c]{{3}}{letter}")) for letter in "pqrstuvw"]
    gc.collect()
    is_alive = [reference() is not None for reference in kept]
    assert is_alive == sorted(is_alive)  # the later ones
    assert 0 < sum(is_alive) <= 4


def test_a_used_grammar_stays_in_the_cache(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=4 * size_of_a_pattern(tiny_tokenizer))
    favourite = compiler.regex("[a-c]{3}x")
    for letter in "pqrstuvw":
        compiler.regex(f"[a-c]{{3}}{letter}")
        assert compiler.regex("[a-c]{3}x") is favourite


def test_without_a_cache_every_grammar_is_new(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
    assert compiler.regex("a+") is not compiler.regex("a+")
    assert compiler.json_schema(True) is not compiler.json_schema(True)


def test_a_vocabulary_without_the_bytes_of_json_is_fine_for_patterns() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"ab", b"</s>"], eos=2)
    matcher = llmask.Compiler(tokenizer).regex("aab?").matcher()
    assert read_mask(matcher, 3) == {0}
    matcher.accept_token(0)
    assert read_mask(matcher, 3) == {0, 1}
    matcher.accept_token(1)
    assert read_mask(matcher, 3) == {2}


def test_a_new_store_lets_the_old_one_die(tiny_tokenizer: Any) -> None:
    fresh = llmask.Compiler(tiny_tokenizer)._newest_store().bytes_used
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_store_bytes=fresh * 4))
    first = weakref.ref(compiler._newest_store())
    grammar = compiler.choice(["kept"])
    number = 0
    while compiler._newest_store() is first():
        number += 1
        compiler.choice([f"{number} {letter} {'x' * 1000}" for letter in range(100)])
        assert number < 1000
    assert grammar._loaded.store is first()
    assert grammar.accepts("kept")
    assert compiler.choice(["kept"])._loaded.store is compiler._newest_store()
    del grammar
    gc.collect()
    assert first() is None, "the cache or a cycle keeps the old store alive"


def test_a_schema_that_its_owner_changes_later_changes_no_mask(tiny_tokenizer: Any) -> None:
    # the dict was kept: rules for values that may not repeat were written from what had become of it, for everybody
    # to whom the cache gave the grammar
    compiler = llmask.Compiler(tiny_tokenizer)
    schema: dict[str, Any] = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}
    fresh = json.loads(json.dumps(schema))
    grammar = compiler.json_schema(schema)
    schema["items"]["enum"].append("evil")
    schema["items"]["title"] = "x"
    assert compiler.json_schema(fresh) is grammar
    assert grammar.accepts('["a", "c"]')
    assert not grammar.accepts('["a", "evil"]')
    assert "evil" not in str(grammar)
    assert [keyword for _, keyword, _ in grammar.ledger] == ["type", "uniqueItems", "items", "enum"]
    assert compiler.json_schema(schema).accepts('["a", "evil"]')


def test_a_model_that_changes_what_it_gave_changes_no_mask(compiler: Any) -> None:
    pydantic = pytest.importorskip("pydantic", minversion="2")
    given = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}}

    class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
        @classmethod
        def model_json_schema(cls, **options: Any) -> Any:
            return given

    grammar = compiler.json_schema(Model)
    given["items"]["enum"].append("evil")  # type: ignore[index]
    assert not grammar.accepts('["a", "evil"]')


def test_formats_that_their_owner_changes_later_change_nothing(compiler: Any) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "string", "format": "x", "maxLength": 1}}
    formats = {"x": "^[ab]$"}
    asserted = compiler.json_schema(schema, formats=formats)
    listed = compiler.json_schema(schema, formats=formats, format="annotate")
    ledger = json.dumps(listed.ledger)
    fresh = compiler.json_schema({**schema, "title": "another"}, formats=formats, format="annotate")
    formats["x"] = "^[abc]$"
    formats["y"] = formats.pop("x")
    assert not asserted.accepts('["a", "c"]')
    assert asserted.accepts('["a", "b"]')
    assert json.dumps(fresh.ledger[:1] + fresh.ledger[2:]).count("not asserted") == ledger.count("not asserted")


def test_documents_of_a_registry_that_change_change_no_grammar_and_are_no_hit(compiler: Any) -> None:
    referencing = pytest.importorskip("referencing")
    contents: dict[str, Any] = {"enum": ["a", "b", "c"]}
    registry = referencing.Registry().with_resource("urn:x", referencing.Resource.opaque(contents))
    schema = {"type": "array", "uniqueItems": True, "items": {"$ref": "urn:x"}}
    grammar = compiler.json_schema(schema, registry=registry)
    assert compiler.json_schema(schema, registry=registry) is grammar
    contents["enum"].append("evil")
    assert not grammar.accepts('["a", "evil"]')
    again = compiler.json_schema(schema, registry=registry)
    assert again is not grammar
    assert again.accepts('["a", "evil"]')
    contents["enum"].pop()
    assert not compiler.json_schema(schema, registry=registry).accepts('["a", "evil"]')


def test_other_arguments_that_their_owner_changes_later_change_nothing(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer, slices=(slices := ["[a-c]+"]))  # type: ignore[arg-type]
    slices[0] = "nonsense"
    schema: dict[str, Any] = {"enum": ["a"]}
    call: dict[str, Any] = {"begin": "<", "content": {"type": "json_schema", "json_schema": schema}, "end": ">"}
    tag: dict[str, Any] = {"format": {"type": "or", "elements": ({"type": "tag", **call},)}}
    functions = [{"name": "f", "parameters": {"type": "object", "properties": {"p": schema}, "required": ["p"]}}]
    grammars: dict[str, Any] = {"args": schema, "text": 'start: "b"'}
    choices = ["a", "b"]
    made = [
        (compiler.structural_tag(tag), b'<"a">', b'<"evil">'),
        (compiler.tools(functions, tool_choice="required"), b'{"name": "f", "parameters": {"p": "a"}}', b""),
        (compiler.lark("start: @args @text", grammars=grammars), b'"a"b', b'"evil"b'),
        (compiler.choice(choices), b"a", b"evil"),
    ]
    before = [str(grammar) for grammar, _, _ in made]
    schema["enum"][0] = "evil"
    grammars["text"] = 'start: "c"'
    choices.append("evil")
    for grammar, text, evil in made:
        assert grammar.accepts(text.decode()), text
        assert not grammar.accepts(evil.decode()), evil
    assert [str(grammar) for grammar, _, _ in made] == before
    assert compiler.structural_tag(tag) is not made[0][0]


def test_what_a_grammar_says_of_itself_is_the_callers_to_change(compiler: Any) -> None:
    grammar = compiler.json_schema({"format": "unknown"})
    warnings, ledger = grammar.warnings, grammar.ledger
    grammar.warnings.clear()
    grammar.ledger.clear()
    assert (grammar.warnings, grammar.ledger) == (warnings, ledger)
    assert len(warnings) == len(ledger) == 1


def test_mappings_and_subclasses_of_str_are_schemas(compiler: Any) -> None:
    class Text(str):
        pass

    plain = compiler.json_schema({"type": "object", "properties": {"a": {"const": "x"}}, "required": ["a"]})
    constant = types.MappingProxyType({Text("const"): Text("x")})
    given = collections.OrderedDict(type=Text("object"), properties={Text("a"): constant}, required=[Text("a")])
    assert compiler.json_schema(given) is plain
    assert compiler.json_schema(Text(json.dumps({"type": Text("null")}))) is compiler.json_schema({"type": "null"})
