"""Masks made of others: the same as by a walk of the whole trie, and without one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.compiling.made_grammar import MadeGrammar, lexeme_grammar
from llmask.frontends.regex import compile_pattern
from llmask.frontends.structural_tags.formats import dispatch
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import Grammar, Lexeme
from llmask.kernels.tables import store_layout
from llmask.regex.word_lists import free_text
from llmask.store.store import Store
from tests.reference.definition import read_mask

PATTERNS = {
    "line comments": (r"(//[^\n]*\n)+", "// a * b\n//\n// <x"),
    "block comments": (r"/\*([^*]|\*+[^*/])*\*+/", "/* a * b ** c\n[*"),
    "strings of Python": (r'"([^"\\\n]|\\[^\n])*"', '"a < \\" [b'),
    "strings of Python in single quotes": (r"'([^'\\\n]|\\[^\n])*'", "'a \\' [b"),
    "long strings of Python": (r'"""([^"\\]|\\[\s\S]|"{1,2}(?!"))*"""', '"""a " b\n"" c'),
    "strings of SQL": (r"'([^']|'')*'", "'a '' b\n[c"),
    "strings of C": (r'"(\\[abefnrtv0-7xuU"\'?\\]|[^"\\\n])*"', '"a \\n b [c'),
    "Markdown": (r"(#{1,6} [^\n]+\n|([^#\n][^\n]*\n)+\n)*", "# A *b*\nText `c` [d](e)\nmore\n\nand"),
    "free text": (None, "Some < text <f = with [a] {b} <f"),
}
TRIGGERS = [b"<f=", b"[CALL]"]
EXCLUDED = [b"<think>", b"</think>"]


def grammar_of(store: Store, name: str) -> MadeGrammar:
    pattern = PATTERNS[name][0]
    if pattern is not None:
        return lexeme_grammar(store, compile_pattern(store.nodes, pattern), str)
    part = Lexeme(store.nodes.literal(b"x>"), '"x>"')
    form = dispatch(store.nodes, {word.decode(): part for word in TRIGGERS}, [word.decode() for word in EXCLUDED])
    return MadeGrammar(store, exact_rules(store.nodes, Grammar({"start": form})).rules)


@pytest.mark.parametrize("name", PATTERNS)
def test_masks_do_not_depend_on_those_made_before(
    default_tokenizer: llmask.Tokenizer, rng: random.Random, costly: Callable[[int], int], name: str
) -> None:
    n_tokens = default_tokenizer.vocab_size
    grown = grammar_of(Store(default_tokenizer, llmask.Limits()), name).matcher()
    text = b""
    for byte in PATTERNS[name][1].encode():
        read_mask(grown, n_tokens)
        grown.accept_bytes(bytes([byte]))
        text += bytes([byte])
        if rng.random() < 0.1 * costly(1):
            fresh = grammar_of(Store(default_tokenizer, llmask.Limits()), name).matcher()
            fresh.accept_bytes(text)
            assert read_mask(grown, n_tokens) == read_mask(fresh, n_tokens), text
            accepted = {token for token in range(n_tokens) if fresh.validate_tokens([token]) == 1}
            assert read_mask(grown, n_tokens) == accepted, text


@pytest.mark.long
def test_random_texts_around_triggers(tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    n_tokens = tiny_tokenizer.vocab_size
    shared = Store(tiny_tokenizer, llmask.Limits())
    for _ in range(scaled(15)):
        words = sorted({"".join(rng.choices("ab", k=rng.randint(1, 4))).encode() for _ in range(3)})
        masks = []
        letters = bytes(rng.choices(b"ab", k=6))
        for is_shared in (True, False):
            store = shared if is_shared else Store(tiny_tokenizer, llmask.Limits())
            found = free_text(store.nodes, words[:2], words[2:])
            nodes = [found.text, *(node for node in found.until if node != store.nodes.EMPTY)]
            matcher = lexeme_grammar(store, store.nodes.union(nodes), str).matcher()
            seen = []
            for letter in letters:
                if matcher.is_accepting() or is_shared:
                    read_mask(matcher, n_tokens)
                try:
                    matcher.accept_bytes(bytes([letter]))
                except llmask.TokenRejected:
                    break
                if is_shared:
                    seen.append(read_mask(matcher, n_tokens))
            if not is_shared:
                seen = [_first_mask(tiny_tokenizer, words, letters[: n + 1]) for n in range(len(masks[0]))]
            masks.append(seen)
        assert masks[0] == masks[1], (words, letters)


def test_a_lexeme_may_end_where_two_states_differ() -> None:
    """After `<f` an `x` is dead, but no token has it there; a quote, which is dead in other states as well, ends it."""
    tokens = [b"</s>", *(bytes([byte]) for byte in range(32, 127)), b'<f"', b'f"']
    compiler = llmask.Compiler(llmask.Tokenizer.from_bytes(tokens, eos=0))
    matcher = compiler.lark('start: TEXT "\\""\nTEXT: /([^"<]|<[^"f])+(<f!?)?/', lexer="greedy").matcher()
    for letter in "a<":
        read_mask(matcher, len(tokens))
        matcher.accept_bytes(letter.encode())
        accepted = {token for token in range(len(tokens)) if matcher.validate_tokens([token]) == 1}
        assert read_mask(matcher, len(tokens)) == accepted


NAMES = ["a", "ab", "abc", "b", "ca", "é", "éa"]
AFTER_NAMES = [b'"', b'":', b'": ', b'": "', b'":1,"', b'"a', b"\\", b"\\u", b'\n"']


@pytest.fixture
def tokenizer_of_keys(rng: random.Random) -> llmask.Tokenizer:
    """One whose tokens end names, and begin after them, in every way."""
    words = {"".join(rng.choices("abcdxyzé", k=rng.randint(1, 5))).encode() for _ in range(150)}
    words |= {name.encode()[:end] for name in NAMES for end in range(1, len(name.encode()) + 1)}
    tokens = {word + end for word in words for end in [b"", *rng.sample(AFTER_NAMES, 3)]}
    tokens |= {b'"' + word for word in words} | {name.encode() + end for name in NAMES for end in AFTER_NAMES}
    tokens -= {bytes([byte]) for byte in range(256)}
    listed = [*(bytes([byte]) for byte in range(256)), *sorted(tokens), b"</s>"]
    return llmask.Tokenizer.from_bytes(listed, eos=len(listed) - 1)


@pytest.mark.long
@pytest.mark.parametrize("property_order", ["schema", "any"])
def test_inside_names_masks_are_those_of_other_keys_and_tokens_end_the_right_ones(
    tokenizer_of_keys: llmask.Tokenizer, rng: random.Random, scaled: Callable[[int], int], property_order: Any
) -> None:
    compiler = llmask.Compiler(tokenizer_of_keys)
    n_tokens = tokenizer_of_keys.vocab_size
    for _ in range(scaled(30)):
        names = rng.sample(NAMES, rng.randint(1, 4))
        values = [{"type": "integer"}, {"type": "string"}, {"const": None}]
        schema = {
            "type": "object",
            "properties": {name: rng.choice(values) for name in names},
            "additionalProperties": rng.choice([*values, True]),
            "required": rng.sample(names, rng.randint(0, 1)),
        }
        grammar = compiler.json_schema(schema, property_order=property_order)
        name = rng.choice([*NAMES, "x", "abx"])
        text = ('{"' if rng.random() < 0.5 else '{"b":1,"' if "b" not in names else '{"').encode() + name.encode()
        start = text.index(name.encode(), 2)
        for end in range(start, len(text) + 1):
            matcher = grammar.matcher()
            try:
                matcher.accept_bytes(text[:end])
            except llmask.TokenRejected:
                break
            allowed = read_mask(matcher, n_tokens)
            assert allowed == {token for token in range(n_tokens) if matcher.validate_tokens([token])}, text[:end]
            for token in rng.sample(sorted(allowed), min(20, len(allowed))):  # where they lead
                other = matcher.fork()
                matcher.accept_token(token)
                other.accept_bytes(tokenizer_of_keys.token_bytes(token))
                assert read_mask(matcher, n_tokens) == read_mask(other, n_tokens), (text[:end], token)
                matcher.rollback(1)
    view = compiler._newest_store().table.view
    sharing = [number for number in range(view.state_keys.count) if view.states[number].base != 0]
    assert len(sharing) > scaled(30) / 6
    assert any(view.states[number].n_exits > 0 for number in sharing)  # some with exits of their own


def test_inside_names_few_nodes_are_visited(default_tokenizer: llmask.Tokenizer) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    array = compiler._newest_store().table.slots
    matcher = compiler.json_schema({"properties": {"name": {"type": "string"}, "nation": {}, "id": {}}}).matcher()
    matcher.accept_bytes(b"{")
    for byte in b'"name':
        matcher.accept_bytes(bytes([byte]))
        array[store_layout.STORE.walked] = 0
        read_mask(matcher, default_tokenizer.vocab_size)
        assert array[store_layout.STORE.walked] < 1200


def _first_mask(tokenizer: Any, words: list[bytes], text: bytes) -> set[int]:
    """The mask behind a text, in a store that knows no other."""
    store = Store(tokenizer, llmask.Limits())
    found = free_text(store.nodes, words[:2], words[2:])
    nodes = [found.text, *(node for node in found.until if node != store.nodes.EMPTY)]
    matcher = lexeme_grammar(store, store.nodes.union(nodes), str).matcher()
    matcher.accept_bytes(text)
    return read_mask(matcher, tokenizer.vocab_size)


@pytest.mark.long
@pytest.mark.parametrize("name", PATTERNS)
def test_no_mask_walks_the_whole_trie(default_tokenizer: llmask.Tokenizer, name: str) -> None:
    store = Store(default_tokenizer, llmask.Limits())
    matcher = grammar_of(store, name).matcher()
    n_nodes = store.table.view.n_trie
    for byte in PATTERNS[name][1].encode():
        store.table.view.walked = 0
        read_mask(matcher, default_tokenizer.vocab_size)
        # behind `#` and a blank of Markdown all tokens that begin with a blank are walked
        assert store.table.view.walked < n_nodes // (2 if name == "Markdown" else 8)
        matcher.accept_bytes(bytes([byte]))
