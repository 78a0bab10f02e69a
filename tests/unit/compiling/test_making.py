"""From recipes to grammars."""

from __future__ import annotations

from typing import Any

import llmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.making import made
from llmask.compiling.recipes import Recipe
from tests.reference.definition import read_mask

TOKENIZER = "tiny_tokenizer"  # of `compiler`


def test_every_grammar_of_a_compiler_keeps_its_recipe(compiler: llmask.Compiler) -> None:
    kinds = {
        "json_schema": compiler.json_object(),
        "regex": compiler.regex("a+"),
        "choice": compiler.choice(["a", "b"]),
        "gbnf": compiler.gbnf('root ::= "a"'),
        "ebnf": compiler.ebnf('root ::= "a"'),
        "lark": compiler.grammar("sql"),
        "structural_tag": compiler.structural_tag({"format": {"type": "const_string", "value": "a"}}),
        "tools": compiler.tools([{"name": "add"}]),
        "union": compiler.regex("a").union(compiler.regex("b")),
        "concat": compiler.regex("a").concat(compiler.regex("b")),
        "optional": compiler.regex("a").optional(),
        "repeat": compiler.regex("a").repeat(2, 3),
    }
    for kind, grammar in kinds.items():
        recipe = grammar._loaded.recipe
        assert recipe is not None
        assert recipe.kind == kind
        again = CompiledGrammar(made(compiler._newest_store(), recipe))
        assert again is not grammar
        assert (str(again), again.warnings, again.ledger) == (str(grammar), grammar.warnings, grammar.ledger)
        assert again._loaded.recipe is recipe


def test_a_part_that_stands_twice_is_made_once(compiler: llmask.Compiler) -> None:
    recipe = Recipe("literal", b"ab")
    for _ in range(3):
        recipe = Recipe("concat", parts=(recipe, recipe))
    grammar = CompiledGrammar(made(compiler._newest_store(), recipe))
    assert grammar.shortest() == b"ab" * 8


def test_a_recipe_is_a_copy_of_what_its_owner_may_change(compiler: llmask.Compiler) -> None:
    tools = [{"name": "add", "parameters": {"type": "object", "properties": {}}}]
    tag = {"format": {"type": "const_string", "value": "a"}}
    grammars: dict[str, Any] = {"x": {"type": "boolean"}}
    made_before = [
        compiler.tools(tools, model="qwen-3", tool_choice="required"),
        compiler.structural_tag(tag),
        compiler.lark("start: @x", grammars=grammars),
    ]
    texts = [str(grammar) for grammar in made_before]
    tools[0]["name"] = "evil"
    tag["format"]["value"] = "evil"
    grammars["x"]["type"] = "null"
    grammars["y"] = object()
    for grammar, text in zip(made_before, texts, strict=True):
        assert grammar._loaded.recipe is not None
        again = CompiledGrammar(made(compiler._newest_store(), grammar._loaded.recipe))
        assert str(again) == text
        assert read_mask(again.matcher(), 306) == read_mask(grammar.matcher(), 306)
