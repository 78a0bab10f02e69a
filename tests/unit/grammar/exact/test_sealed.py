"""Grammars with schemas in them: the same as by looking into each, and where that is needed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.frontends.json_schema import compile_schema
from llmask.frontends.structural_tags.formats import dispatch
from llmask.grammar.exact import sealed as module
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.exact.sealed import sealed_rules
from llmask.grammar.expressions import Expression, Grammar, Inclusion, Lexeme, Repeat, choice, sequence
from llmask.store.store import Store
from tests.reference.definition import read_mask

TOKENIZER = "tiny_tokenizer"  # of `store`
INTEGER: Any = {"type": "integer"}
PERSON: Any = {"type": "object", "properties": {"a": {"type": "string"}, "b": INTEGER}, "additionalProperties": False}
LIST: Any = {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}


class Parts:
    """Makes parts of grammars."""

    def __init__(self, store: Store) -> None:
        self.nodes = store.nodes

    def word(self, text: str) -> Expression:
        return Lexeme(self.nodes.literal(text.encode()), json.dumps(text))

    def schema(self, schema: Any) -> Expression:
        return Inclusion(compile_schema(self.nodes, schema).rules, json.dumps(schema))


def grammars(parts: Parts) -> dict[str, Expression]:
    """Grammars that need no look into the schemas."""
    person = parts.schema(PERSON)
    return {
        "alone": person,
        "a part": sequence([parts.word("<"), person, parts.word(">")]),
        "a number": sequence([parts.schema(INTEGER), parts.word("}")]),
        "twice": sequence([person, parts.word(","), person]),
        "itself": sequence([parts.schema(LIST), parts.word("]")]),
        "digits behind an object": sequence([person, parts.word("12")]),
        "many": Repeat(sequence([person, parts.word(";")])),
        "counted": Repeat(sequence([person, parts.word("}")]), 2, 3),
        "with a rule": sequence([parts.word("("), choice([person, parts.schema(INTEGER)]), parts.word(")")]),
        "tags": dispatch(
            parts.nodes,
            {"<": choice([sequence([parts.word(f"{n}"), parts.schema(PERSON), parts.word(">")]) for n in range(3)])},
        ),
    }


@pytest.mark.parametrize("name", list(grammars(Parts(Store(llmask.Tokenizer.default(), llmask.Limits())))))
def test_masks_are_those_of_a_look_into_everything(
    store: Store, rng: random.Random, scaled: Callable[[int], int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    grammar = Grammar({"start": grammars(Parts(store))[name]})
    plain = MadeGrammar(store, exact_rules(store.nodes, grammar).rules)
    seen: list[Grammar] = []

    def noted(nodes: Any, grammar: Grammar) -> Any:
        seen.append(grammar)
        return exact_rules(nodes, grammar)

    monkeypatch.setattr(module, "exact_rules", noted)
    ours = MadeGrammar(store, sealed_rules(store.nodes, grammar).rules)
    assert len(seen) == 1, "everything was looked into"
    n_tokens = store.tokenizer.vocab_size
    for _ in range(scaled(10)):
        matcher, other = ours.matcher(), plain.matcher()
        for _ in range(25):
            allowed = read_mask(matcher, n_tokens)
            assert allowed == read_mask(other, n_tokens)
            token = rng.choice(sorted(allowed))
            if token in store.tokenizer.eos_ids:
                break
            matcher.accept_token(token)
            other.accept_token(token)


@pytest.mark.parametrize(
    "make",
    [
        lambda parts: sequence([parts.schema(INTEGER), parts.word("0")]),
        lambda parts: choice([parts.schema(PERSON), parts.word('{"a')]),
        lambda parts: sequence([parts.schema(INTEGER), Repeat(parts.schema(INTEGER))]),
    ],
)
def test_what_overlaps_is_looked_into_and_refused(store: Store, make: Callable[[Parts], Expression]) -> None:
    with pytest.raises(llmask.GrammarError, match="which exact lexing cannot split"):
        sealed_rules(store.nodes, Grammar({"start": make(Parts(store))}))


def test_schemas_side_by_side_are_looked_into(store: Store) -> None:
    parts = Parts(store)
    other = {**PERSON, "properties": {"a": INTEGER}, "required": ["a"]}
    matcher = MadeGrammar(
        store, sealed_rules(store.nodes, Grammar({"start": choice(map(parts.schema, (PERSON, other)))})).rules
    ).matcher()
    matcher.accept_bytes(b'{"a": 1}')
    assert matcher.is_accepting()
    matcher.reset()
    matcher.accept_bytes(b'{"a": "x", "b": 2}')
    assert matcher.is_accepting()


def test_many_schemas_take_time_in_proportion(store: Store) -> None:
    parts = Parts(store)
    tags = [
        sequence([parts.word(f"{n}:"), parts.schema({**PERSON, "required": ["a"], "title": str(n)}), parts.word(";")])
        for n in range(150)
    ]
    rules = sealed_rules(store.nodes, Grammar({"start": Repeat(choice(tags))})).rules
    matcher = MadeGrammar(store, rules).matcher()
    matcher.accept_bytes(b'0:{"a": "x"};149:{"a": "x", "b": 1};')
    assert matcher.is_accepting()


def test_a_grammar_without_schemas_is_as_ever(store: Store) -> None:
    grammar = Grammar({"start": Repeat(Parts(store).word("ab"))})
    assert sealed_rules(store.nodes, grammar).rules.edges == exact_rules(store.nodes, grammar).rules.edges
