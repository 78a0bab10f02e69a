"""Prefix trees of words against the list itself, and how large they become."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import copy
from typing import Any

import pytest

from llmask import Compiler, Limits, Tokenizer
from llmask.kernels.tables.operations import Operation
from llmask.regex import word_lists
from llmask.regex.word_lists import literals_node, words_node
from tests.reference.both_nodes import make_nodes


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_lists, "FEW", 1)


def counted(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The list that grows by the name of every constructor called."""
    calls: list[str] = []

    def note(name: str, make: Callable[..., int]) -> Callable[..., int]:
        def noted(*arguments: Any) -> int:
            calls.append(name)
            return make(*arguments)

        return noted

    for name in ("literal", "byte_set", "concat", "union"):
        monkeypatch.setattr(nodes, name, note(name, getattr(nodes, name)))
    return calls


LISTS = [
    [b"do", b"dog", b"dot", b"cat"],
    [b"", b"a", b"aa", b"aaa"],
    [b"b", b"a", b"b", b"a"],
    [b"same-0", b"same-1"],
    [b"x" * 100 + b"a", b"x" * 100 + b"b", b"x" * 50],
    ["é".encode(), "è".encode(), "日本".encode(), "日".encode()],
    [b"\x00", b"\x00\x00", b"\xff"],
    [b"", b"a"],
]


@pytest.mark.parametrize("words", LISTS, ids=str)
def test_a_node_matches_its_words_and_nothing_near_them(nodes: Any, words: list[bytes]) -> None:
    node = literals_node(nodes, words)
    near = {word[:at] for word in words for at in range(len(word) + 1)} | {word + b"a" for word in words}
    for text in near | set(words):
        assert nodes.matches(node, text) == (text in words), text
    assert nodes.is_nullable(node) == (b"" in words)


def test_random_words(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(100)):
        alphabet = b"ab" if rng.random() < 0.5 else b"abcdef"
        every = [bytes(rng.choices(alphabet, k=rng.randrange(7))) for _ in range(60)]
        words = every[: rng.randint(1, 50)]
        node = literals_node(nodes, words)
        for text in every:
            assert nodes.matches(node, text) == (text in words), (words, text)


def test_words_may_have_several_spellings(nodes: Any) -> None:
    spelled = {"a": [b"a", b"A"], "b": [b"b", b"[b]"]}

    def one_of(letters: list[str]) -> int:
        return nodes.union([nodes.literal(data) for letter in letters for data in spelled[letter]])

    def spell(piece: str) -> int:
        return nodes.concat([one_of([letter]) for letter in piece])

    node = words_node(nodes, ["ab", "abb", "b"], spell, one_of)
    for text, belongs in ((b"A[b]b", True), (b"ab", True), (b"[b]", True), (b"aa", False), (b"A", False)):
        assert nodes.matches(node, text) == belongs


def test_a_list_met_again_is_looked_up(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [b"w%d" % at for at in range(100)]
    node = literals_node(nodes, words)
    calls = counted(nodes, monkeypatch)
    assert literals_node(nodes, list(words)) == node
    assert calls == []


def spelled_one_by_one(nodes: Any, words: list[bytes]) -> int:
    """The node that `words_node` makes of words of bytes."""
    return words_node(
        nodes, words, nodes.literal, lambda several: nodes.byte_set(sum(1 << letter[0] for letter in several))
    )


def test_lists_of_bytes_and_of_letters_make_the_same_node(rng: random.Random, scaled: Callable[[int], int]) -> None:
    nodes = make_nodes("compiled")
    for _ in range(scaled(200)):
        alphabet = rng.choice([b"ab", b"abcdefgh", bytes(range(256))])
        most = rng.choice([3, 8, 70])
        words = sorted({bytes(rng.choices(alphabet, k=rng.randrange(most))) for _ in range(rng.randint(2, 60))})
        assert nodes.words(words) == spelled_one_by_one(nodes, words), words


@pytest.mark.parametrize("alphabet", [b"ab", b"abcdefgh", bytes(range(256))])
def test_a_long_list_lets_others_in_between_and_is_the_same(rng: random.Random, alphabet: bytes) -> None:
    # one operation took 43 ms for 60,000 words
    nodes = make_nodes("compiled")
    words = sorted({bytes(rng.choices(alphabet, k=rng.randrange(10, 17))) for _ in range(5000)})
    other, run, parts = copy(nodes), nodes._run, []

    def run_and_others(operation: int, *arguments: Any, **others: Any) -> int:
        parts.append(operation)
        found = int(run(operation, *arguments, **others))
        other.words(sorted(bytes(rng.choices(alphabet, k=20)) for _ in range(70)))
        return found

    nodes._run = run_and_others
    found = nodes.words(words)
    assert parts == 3 * [Operation.WORDS]
    nodes._run = run
    assert found == spelled_one_by_one(nodes, words) == nodes.words(words)


@pytest.mark.parametrize("n", [200, 400])
def test_a_word_takes_a_few_nodes(rng: random.Random, n: int) -> None:
    nodes = make_nodes("compiled")
    words = [bytes(rng.choices(b"abcdefghij", k=8)) for _ in range(n)]
    before = nodes.n_nodes
    literals_node(nodes, words)
    assert n / 2 <= nodes.n_nodes - before <= 4 * n


def test_a_list_may_take_more_nodes_than_an_expression() -> None:
    """`max_regex_nodes` bounds expressions that explode; a list is as long as it is given."""
    tokenizer = Tokenizer.from_bytes([b"a", b"<eos>"], eos=1)
    nodes = Compiler(tokenizer, limits=Limits(max_regex_nodes=2000))._newest_store().nodes
    node = literals_node(nodes, [b"%05d" % (at * at % 99_991) for at in range(5000)])
    assert nodes.matches(node, b"%05d" % (4999 * 4999 % 99_991))


def test_numbers_with_a_prefix_take_a_node_a_digit(nodes: Any) -> None:
    """50,000 literals with one prefix were asked one by one at each byte of it: 315 ms in one mask."""
    node = literals_node(nodes, [b"com.example.item-%03d" % at for at in range(1000)])
    for byte in b"com.example.item-":
        node = nodes.derivative(node, byte)
    for _ in range(3):
        (node,) = {nodes.derivative(node, digit) for digit in b"0123456789"}
    assert node == nodes.EPSILON
