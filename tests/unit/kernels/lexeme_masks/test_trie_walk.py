"""Masks are functions of the configuration: they do not depend on which states were expanded before."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar
from llmask.grammar.rules import Rules
from llmask.store.store import Store
from tests.reference.definition import read_mask

TOKENS = [bytes([byte]) for byte in range(128)] + [b'"",', b' "",', b'"a",', b'"a" ,', b"</s>"]


def grammar() -> MadeGrammar:
    """`:` and a blank or none; a quoted word and a blank or none, or `!` (one lexeme alone has a twin); a comma."""
    store = Store(llmask.Tokenizer.from_bytes(TOKENS, eos=len(TOKENS) - 1), llmask.Limits())
    nodes = store.nodes
    letter = nodes.byte_set(sum(1 << byte for byte in range(ord("a"), ord("z") + 1)))
    blank, quote = nodes.repeat(nodes.literal(b" "), 0, 1), nodes.literal(b'"')
    lexemes = [
        nodes.concat([nodes.literal(b":"), blank]),
        nodes.concat([quote, nodes.repeat(letter, 0, None), quote, blank]),
        nodes.literal(b","),
    ]
    rules = Rules()
    state = rules.start_state(rules.rule("start"))
    for lexeme in lexemes:
        target = rules.state(rules.start)
        rules.scan(state, lexeme, target)
        if lexeme == lexemes[1]:
            rules.scan(state, nodes.literal(b"!"), target)
        state = target
    rules.final(state)
    return MadeGrammar(store, rules)


@pytest.mark.parametrize("looked_at", [(), (0,), (1,), (0, 1)])
def test_masks_do_not_depend_on_masks_before(looked_at: tuple[int, ...]) -> None:
    """A walk missed the ends of lexemes in states that an earlier walk had expanded: after `: `, the token `"",`."""
    matcher: Any = grammar().matcher()
    for at, byte in enumerate(b": "):
        if at in looked_at:
            read_mask(matcher, len(TOKENS))
        matcher.accept_bytes(bytes([byte]))
    found = {TOKENS[token] for token in read_mask(matcher, len(TOKENS))}
    assert found == {b"!", b'"', b'"",', b'"a",', b'"a" ,'}


@pytest.mark.parametrize("refused", "abc")
def test_a_lexeme_may_end_before_the_only_byte_that_it_refuses(refused: str) -> None:
    """Also where that is the last byte of all that tokens begin with."""
    tokens = [b"</s>", b"a", b"b", b"c", b"ab", b"bc", b"ca"]
    others = "abc".replace(refused, "")
    compiler = llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=0))
    matcher = compiler.lark(f'start: (WORD "{refused}")+ WORD\nWORD: /[{others}]+/').matcher()
    matcher.accept_bytes(others[:1].encode())
    assert read_mask(matcher, len(tokens)) == set(range(1, len(tokens)))
