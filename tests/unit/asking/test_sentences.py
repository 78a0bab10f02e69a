"""Samples and shortest sentences: every one is a sentence, and none is shorter than the shortest."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from llmask import Compiler, LlmaskError
from llmask.asking import dead_ends, sentences
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import GrammarNotice, LimitExceeded
from llmask.matching import finish

NAMES = 'NAME: /[a-z]+/\n%ignore /[ \\n]+/'  # fmt: skip


CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
SIX: dict[str, Any] = {
    "type": "object",
    "properties": {f"property{i}": {"type": "string", "minLength": i} for i in range(6)},
    "required": [f"property{i}" for i in range(6)],
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('start: "a" <[65]> "b"', "no sentence in bytes was found: the grammar names tokens"),
        ('start: a "."\na[max_tokens=3]: /[a-z]+/', "max_tokens counts tokens"),
    ],
)
def test_what_has_no_sentences_in_bytes_is_refused(compiler: Compiler, text: str, message: str) -> None:
    grammar = compiler.lark(text)
    for asked in (grammar.shortest, lambda: grammar.sample(1)):
        with pytest.raises(LlmaskError, match=message):
            asked()


PERMUTATION = """start: part::0x7
part::_: "a" part::clear_bit(0) %if bit_set(0) | "bb" part::clear_bit(1) %if bit_set(1)
  | "c" part::clear_bit(2) %if bit_set(2) | "." %if is_zeros([0:3])"""


@pytest.mark.parametrize(
    ("text", "shortest"),
    [
        ('start: a::0\na::_: "a" a::incr(_) %if lt(_, 3) | "b"', {b"b"}),
        (PERMUTATION, {b"abbc.", b"acbb.", b"bbac.", b"bbca.", b"cabb.", b"cbba."}),
        ('start: "a" start "b" | <[65]> | "xyz" | "a" <[66]>', {b"xyz"}),
    ],
)
def test_sentences_that_only_the_engine_knows(compiler: Compiler, text: str, shortest: set[bytes]) -> None:
    """Rules with a parameter are written while they are read; what names tokens may have sentences without them."""
    grammar = compiler.lark(text)
    assert grammar.shortest() in shortest
    found = {grammar.sample(seed, max_bytes=40) for seed in range(30)}
    assert all(grammar.accepts(sentence) for sentence in found)
    assert len(found) > 2
    assert grammar.sample(5) == grammar.sample(5)


def test_a_grammar_without_derivations_meets_limits(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "MOST_READ", 3)
    grammar = compiler.lark("start: /[ab]{9}[ac]{9}/ <[65]>? | <[65]>")
    with pytest.raises(LimitExceeded, match="looks at more than"):
        grammar.shortest()
    assert grammar.accepts(grammar.sample(1))


def grammars(compiler: Compiler) -> dict[str, tuple[CompiledGrammar, int]]:
    """Grammars of every kind, with the length of their shortest sentence."""
    letters = {name: {"type": "integer"} for name in "abcd"}
    return {
        "regex": (compiler.regex("[a-c]{3,9}"), 3),
        "empty": (compiler.regex("x*"), 0),
        "choice": (compiler.choice(["yes", "no"]), 2),
        "any value": (compiler.json_schema(True), 1),
        "object": (compiler.json_object(), 2),
        "indented": (compiler.json_object(indent=2), 2),
        "array": (compiler.json_schema({"type": "array", "minItems": 3, "items": {"type": "string"}}), 10),
        "unique": (compiler.json_schema({"type": "array", "items": {"enum": [1, 2, 33]}, "minItems": 3,
                                         "uniqueItems": True}), 8),
        "any order": (compiler.json_schema({"type": "object", "properties": letters, "required": list("abc"),
                                            "additionalProperties": False}, property_order="any"), 19),
        "keywords": (compiler.lark('start: "if" NAME "then" NAME\n' + NAMES), 9),
        "names": (compiler.lark("start: NAME NAME\n" + NAMES), 3),
        "left": (compiler.gbnf('root ::= root "x"? | "a" | "(" root ")"'), 1),
        "right": (compiler.gbnf('root ::= "ab" root | "c" "d"{4,5}'), 5),
        "exact": (compiler.lark('start: A B\nA: /a+/\nB: /ab/', lexer="exact"), 3),
        "together": (compiler.regex("Answer: ").concat(compiler.json_object()), 10),
        "repeated": (compiler.lark("start: NAME\n" + NAMES).concat(compiler.choice([";"])).repeat(2, 4), 4),
    }  # fmt: skip


def test_samples_are_sentences(compiler: Compiler, scaled: Any) -> None:
    for name, (grammar, length) in grammars(compiler).items():
        found = {grammar.sample(seed) for seed in range(scaled(40))}
        for text in found:
            assert grammar.accepts(text), (name, text)
            assert length <= len(text) <= 1000
        assert len(found) > 3 or name == "choice", name
        assert grammar.sample(7) == grammar.sample(7)


def test_shortest_sentences(compiler: Compiler) -> None:
    for name, (grammar, length) in grammars(compiler).items():
        text = grammar.shortest()
        assert len(text) == length, (name, text)
        assert grammar.accepts(text), name


def test_no_word_is_shorter_than_the_shortest_one(compiler: Compiler, rng: random.Random, costly: Any) -> None:
    """Random grammars over two letters, beside all words up to six."""
    words = [""] + [f"{n:b}"[1:].replace("0", "a").replace("1", "b") for n in range(2, 2**7)]
    for _ in range(costly(12)):

        def expression(depth: int) -> str:
            kind = rng.randrange(7 if depth else 3)
            if kind < 2:
                return f'"{rng.choice(["a", "b", "ab"])}"'
            if kind == 2:
                return rng.choice(["root", "one"])
            if kind < 5:
                return f"{expression(depth - 1)} {expression(depth - 1)}"
            return f"({expression(depth - 1)} | {expression(depth - 1)}){rng.choice(['', '?', '{2}', '+'])}"

        text = f'root ::= {expression(2)} | {expression(1)} "b"\none ::= {expression(2)} | "bab"'
        for compile_text in (compiler.gbnf, lambda gbnf: compiler.lark(
            gbnf.replace("root", "start").replace(" ::=", ":"), lexer="greedy")):  # fmt: skip
            try:
                grammar = compile_text(text)
            except LlmaskError:
                continue
            sentence = next((word for word in words if grammar.accepts(word.encode())), None)
            if sentence is not None:
                assert len(grammar.shortest()) == len(sentence), text
                assert grammar.accepts(grammar.sample(rng.randrange(1000))), text


def test_a_bound_that_is_too_small(compiler: Compiler) -> None:
    grammar = compiler.json_schema({"type": "string", "minLength": 30})
    assert len(grammar.sample(3, max_bytes=32)) == 32
    with pytest.raises(LimitExceeded, match="the shortest sentence has 32 bytes, more than 31"):
        grammar.sample(3, max_bytes=31)
    with pytest.raises(LlmaskError, match="seed is a whole number"):
        grammar.sample("x")  # type: ignore[arg-type]


def test_where_the_search_is_given_up_a_sentence_comes_with_a_notice(
    compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentences, "MOST_STEPS", 50)
    grammar = compiler.json_schema({"type": "array", "minItems": 9})
    with pytest.warns(GrammarNotice, match="may not be the shortest: .* given up after 50 places"):
        assert len(json.loads(grammar.shortest())) == 9
    monkeypatch.setattr(sentences, "MOST_READ", 50)
    monkeypatch.setattr(sentences._Reader, "_end_of", lambda *_: None)
    assert len(json.loads(grammar.shortest())) == 9, "what is derived is left"
    monkeypatch.setattr(sentences._Search, "_try", lambda *_: None)
    with pytest.raises(LimitExceeded, match="looks at more than 50 places"):
        grammar.shortest()


def small_schema(rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """A schema of few short documents, with guards that ask for more."""
    kind = rng.randrange(6 if depth < 2 else 2)
    if kind < 2:
        return {"enum": rng.sample([0, 12, True, "a", ""], 2)}
    if kind == 2:
        n = rng.randint(0, 3)
        return {
            "type": "array",
            "items": small_schema(rng, depth + 1),
            "minItems": n,
            "maxItems": n + rng.randint(0, 1),
        }
    names = rng.sample(["a", "bb", "ccc", "d"], rng.randint(1, 4))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: small_schema(rng, depth + 1) for name in names},
        "required": [name for name in names if rng.random() < 0.6],
        "additionalProperties": rng.random() < 0.2 and {"enum": [1]},
    }
    if rng.random() < 0.3:
        schema["minProperties"] = rng.randint(0, len(names))
    if rng.random() < 0.2:
        schema["anyOf"] = [{"required": [name]} for name in names[:2]]
    return schema


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", ["any", "schema"])
def test_no_document_is_shorter_than_the_shortest_one(
    compiler: Compiler, rng: random.Random, costly: Any, order: str
) -> None:
    """Random schemas, beside a search by what the engine reads alone."""
    n = 0
    for _ in range(costly(30)):
        schema = small_schema(rng)
        grammar = compiler.json_schema(schema, property_order=order, whitespace="compact")
        blind, _ = sentences._Reader(grammar._loaded)._ending()
        if blind is not None:
            n += 1
            assert len(grammar.shortest()) == len(blind), (schema, blind)
    assert n > costly(30) // 4


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {f"n{i}": {"type": "string"} for i in range(30)}, "minProperties": 7, **CLOSED},
        {"$defs": {"six": SIX}, "type": "array", "items": {"$ref": "#/$defs/six"}, "minItems": 4},
        {"type": "object", "properties": {f"in{i}": SIX for i in range(6)}, "required": [f"in{i}" for i in range(6)]},
        {**SIX, "oneOf": [{"required": [name]} for name in "xyz"]},
    ],
)
def test_what_guards_ask_for_is_counted_beforehand(compiler: Compiler, schema: Any, order: str) -> None:
    """Four required strings in any order took more than 100,000 places; and nothing is given up here."""
    grammar = compiler.json_schema(schema, property_order=order)
    shortest = grammar.shortest()
    assert grammar.accepts(shortest)
    assert shortest == json.dumps(json.loads(shortest), separators=(",", ":")).encode()
    for seed in range(3):
        assert grammar.accepts(grammar.sample(seed))


def test_a_grammar_without_sentences_is_told(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most such grammars are refused; one whose dead ends lie too deep for that is not."""
    monkeypatch.setattr(dead_ends, "MAX_CONFIGURATIONS", 0)
    grammar = compiler.lark('start: A start | N\nA: "a"\nN: /a/')
    for ask in (grammar.shortest, lambda: grammar.sample(1)):
        with pytest.raises(LlmaskError, match="no sentence: lexemes take what others need"):
            ask()


def test_samples_of_schemas_are_varied_json(compiler: Compiler) -> None:
    grammar = compiler.json_schema(True)
    kinds = {type(json.loads(grammar.sample(seed))) for seed in range(60)}
    assert kinds == {dict, list, str, int, float, bool, type(None)}


def test_without_a_seed_a_sample_is_another_one_each_time(compiler: Compiler) -> None:
    grammar = compiler.regex("[a-z]{20}")
    found = {grammar.sample() for _ in range(5)}
    assert len(found) == 5
    assert all(grammar.accepts(one) for one in found)
    assert grammar.sample(None) not in found


def test_a_try_ends_where_it_is_too_long(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    # objects that lack a key went on for 20,000 steps, seconds a sample
    lengths = []
    write = sentences._Search._lexeme

    def written(search: Any, random: Any, here: int, text: bytearray, *rest: Any) -> int:
        lengths.append(len(text))
        return write(search, random, here, text, *rest)

    monkeypatch.setattr(sentences._Search, "_lexeme", written)
    names = list("abcde")
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    grammar = compiler.json_schema(schema, property_order="any")
    for seed in range(20):
        assert set(json.loads(grammar.sample(seed, max_bytes=400))) >= set(names)
    assert max(lengths) <= 400


def test_a_sample_of_many_required_members_needs_no_search(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is derived to its end where the engine does not know the way there; each search took seconds."""
    monkeypatch.setattr(finish.Ends, "search", lambda self, configuration: pytest.fail("an end was searched for"))
    value = {
        "type": "object",
        "properties": {"value": {"enum": ["x" * 30, "y" * 20]}, "source": {"enum": ["a" * 20, "b" * 30]}},
        "required": ["value", "source"],
    }
    properties = {f"property number {number}": value for number in range(300)}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    grammar = compiler.json_schema(schema)
    for seed in range(2):
        assert json.loads(grammar.sample(seed)).keys() == properties.keys()
    assert json.loads(grammar.shortest()).keys() == properties.keys()
    monkeypatch.setattr(sentences, "MOST_STEPS", 0)
    with pytest.warns(GrammarNotice, match="may not be the shortest"):
        assert json.loads(grammar.shortest()).keys() == properties.keys()
