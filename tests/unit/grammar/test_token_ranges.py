"""llmask/grammar/token_ranges.py: names, ids, all but some."""

from __future__ import annotations

import pytest

import llmask
from llmask.errors import GrammarError
from llmask.grammar.expressions import Grammar, TokenSet
from llmask.grammar.late import lower
from llmask.grammar.token_ranges import included, ranges_of, read_tokens, token_named, tokens_of
from llmask.limits import Limits
from llmask.store.store import Store

# ids:      0       1     2         3          4        5
TOKENS = [b"<end>", b"a", b"<tool>", b"<other>", b"<end2>", b"<tag>"]


@pytest.fixture(scope="module")
def table() -> llmask.Tokenizer:
    return llmask.Tokenizer.from_bytes(TOKENS, eos=[0, 4], special=[2, 3])


def test_ranges_are_sorted_and_those_that_touch_are_one() -> None:
    assert ranges_of([(5, 7), (1, 2), (3, 3), (6, 9)]) == ((1, 3), (5, 9))
    assert tokens_of([4, 2, 3], "x") == TokenSet(((2, 4),), "x")


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("<tool>", {2}),
        ("<tag>", {5}),
        ("<end>", {0}),
        ("<[3]>", {3}),
        ("<[1,3-4]>", {1, 3, 4}),
        ("<[*]>", {1, 2, 3, 5}),
        ("<[^2]>", {1, 3, 5}),
        ("<[^1-2,5]>", {3}),
    ],
)
def test_a_set_has_the_tokens_that_are_written(table: llmask.Tokenizer, text: str, members: set[int]) -> None:
    found = {token for low, high in included(table, read_tokens(table, text)) for token in range(low, high + 1)}
    assert found == members


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("<toll>", "the vocabulary has no token <toll>", "did you mean <tool>?"),
        ("<zzzzz>", "the vocabulary has no token <zzzzz>", "name one of its tokens, or give its id: <[10]>"),
        ("<[6]>", "token 6 is not in the vocabulary of 6 tokens", "ids are below 6"),
        ("<[3-1]>", "the range 3-1 is empty", "write 1-3"),
        ("<[1,]>", "<[1,]> names no tokens", "for example <[10]>, <[10,20-30]>, <[^10]> or <[*]>"),
        ("<[12345678901]>", "12345678901 is no token id", "ids are below 6"),
    ],
)
def test_what_names_no_token_is_refused(table: llmask.Tokenizer, text: str, message: str, help: str) -> None:
    with pytest.raises(GrammarError) as caught:
        read_tokens(table, text)
    assert (caught.value.message, caught.value.help) == (message, help)


def test_a_name_is_what_the_vocabulary_writes(table: llmask.Tokenizer) -> None:
    assert [token_named(table, name) for name in ("<tool>", "a", "<end2>")] == [2, 1, 4]


def test_a_set_without_a_token_is_refused(table: llmask.Tokenizer) -> None:
    nodes = Store(table, Limits()).nodes
    nothing = TokenSet(((1, 3), (5, 5)), "<[^1-3,5]>", True)
    with pytest.raises(GrammarError) as caught:
        lower(nodes, Grammar({"start": nothing}))
    assert caught.value.message == "<[^1-3,5]> leaves no token of the vocabulary"


def test_ids_that_no_token_has_are_in_no_set() -> None:
    table = llmask.Tokenizer.from_bytes(TOKENS, eos=[0, 4], special=[2, 3], vocab_size=9)
    found = {text: included(table, read_tokens(table, text)) for text in ("<[*]>", "<[^2]>", "<[5-8]>", "<[7]>")}
    assert found == {"<[*]>": ((1, 3), (5, 5)), "<[^2]>": ((1, 1), (3, 3), (5, 5)), "<[5-8]>": ((5, 5),), "<[7]>": ()}
    with pytest.raises(GrammarError) as caught:
        lower(Store(table, Limits()).nodes, Grammar({"start": read_tokens(table, "<[6,8]>")}))
    assert caught.value.message == "no token of the vocabulary has an id of <[6,8]>"
