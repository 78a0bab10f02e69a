"""Text around triggers against its definition, over all short texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from copy import copy
from itertools import product
from typing import Any

import pytest

from llmask import Compiler, Limits, Tokenizer
from llmask.errors import LimitExceeded
from llmask.kernels.tables.operations import Operation
from llmask.regex import word_lists
from llmask.regex.word_lists import free_text, literals_node, words_node
from tests.reference.both_nodes import make_nodes

CASES: list[tuple[list[str], list[str]]] = [([], []), (["a", "b", "c"], []), (["é"], ["éa"]), (["aé"], ["é"])]


def is_text(text: str, triggers: Sequence[str], excluded: Sequence[str]) -> bool:
    return not any(word in text for word in (*triggers, *excluded))


def trigger_at_end(text: str, triggers: Sequence[str], excluded: Sequence[str]) -> str | None:
    """The trigger whose node matches a text."""
    ending = [word for word in triggers if text.endswith(word)]
    if not ending or any(word in text for word in excluded):
        return None
    longest = max(ending, key=len)
    first = min(n for n in range(len(text) + 1) if any(text[:n].endswith(word) for word in triggers))
    return longest if len(text) - len(longest) < first else None


def check(nodes: Any, triggers: Sequence[str], excluded: Sequence[str], texts: Sequence[str]) -> None:
    found = free_text(nodes, [word.encode() for word in triggers], [word.encode() for word in excluded])
    for text in texts:
        said = text, triggers, excluded
        assert nodes.matches(found.text, text.encode()) == is_text(text, triggers, excluded), said
        end = trigger_at_end(text, triggers, excluded)
        assert [
            word for word, node in zip(triggers, found.until, strict=True) if nodes.matches(node, text.encode())
        ] == ([] if end is None else [end]), said


@pytest.mark.parametrize(("triggers", "excluded"), CASES)
def test_texts_are_those_of_the_definition(nodes: Any, triggers: list[str], excluded: list[str]) -> None:
    texts = ["".join(letters) for n in range(6) for letters in product("abc", repeat=n)]
    texts += ["".join(letters) for n in range(4) for letters in product("aéd€😀", repeat=n)]
    check(nodes, triggers, excluded, texts)


def test_random_strings(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    texts = ["".join(letters) for n in range(7) for letters in product("ab", repeat=n)]
    for _ in range(scaled(30)):
        words = {"".join(rng.choices("ab", k=rng.randint(1, 4))) for _ in range(rng.randint(1, 5))}
        triggers = sorted(word for word in words if rng.random() < 0.7)
        check(nodes, triggers, sorted(words - set(triggers)), texts)


@pytest.mark.parametrize("data", [b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80"])
def test_only_utf8_is_text(nodes: Any, data: bytes) -> None:
    found = free_text(nodes, [b"<t>"])
    assert not nodes.matches(found.text, data)
    assert not nodes.matches(found.until[0], data + b"<t>")


@pytest.mark.parametrize(
    "text", ["\x7f", "\x80", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]
)
def test_every_length_of_utf8_is_text(nodes: Any, text: str) -> None:
    assert nodes.matches(free_text(nodes, ["｜".encode()]).text, text.encode())


def test_a_trigger_that_is_excluded_is_empty(nodes: Any) -> None:
    assert free_text(nodes, [b"ab", b"cd"], [b"b"]).until[0] == nodes.EMPTY


def test_too_many_strings_meet_a_limit(nodes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_lists, "MOST_ENTRIES", 100)
    with pytest.raises(LimitExceeded, match="1 triggers and 1 excluded strings of 5 bytes"):
        free_text(nodes, [b"xyz"], [b"12"])


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
    [b"x" * 100 + b"a", b"x" * 100 + b"b", b"x" * 50],
    ["é".encode(), "è".encode(), "日本".encode(), "日".encode()],
    [b"\x00", b"\x00\x00", b"\xff"],
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
