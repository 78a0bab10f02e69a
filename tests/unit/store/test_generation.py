"""A grammar's tables begin anew when they have grown too large; no sequence notices."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

import llmask
from llmask.grammar.rules import Rules
from llmask.matching import sequence
from llmask.store.generation import RuleSource
from tests.reference.definition import read_mask
from tests.unit.interrupted import interrupted

TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"$ref": "#/$defs/tree"},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}},
                ]
            },
        }
    },
}
ROOM = 60_000


def random_tree(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return "[]"
    inner = random_tree(rng, depth - 1)
    return rng.choice(["[%s]", '[{"a":%s}]', "[[],%s]", '[{"b":[],"c":%s}]', "[[[]],%s]"]) % inner


@pytest.fixture
def grammar(tiny_tokenizer: Any) -> Any:
    return llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(renew_grammar_bytes=ROOM)).json_schema(TREE)


def test_distinct_documents_do_not_fill_the_memory(grammar: Any, rng: random.Random) -> None:
    generations = weakref.WeakSet([grammar._loaded.generation])
    n_generations = 1
    for _ in range(300):
        matcher = grammar.matcher()
        for byte in random_tree(rng, 25).encode():
            matcher.accept_bytes(bytes([byte]))
        assert matcher.is_accepting()
        if grammar._loaded.generation not in generations:
            n_generations += 1
            generations.add(grammar._loaded.generation)
        # a step may begin just below the limit, and blocks grow to twice their size
        assert grammar.bytes_used < 2 * grammar._loaded.generation.room
        assert grammar.bytes_used < 4 * ROOM  # the room is for what live sequences bring, here twice 60,000
    del matcher
    gc.collect()
    assert n_generations > 3
    assert len(generations) == 1  # the others died with their last sequence


@pytest.mark.parametrize("n_moved", [1, sequence.MOVED_TOKENS])
def test_masks_forks_and_rollbacks_survive_the_change(
    grammar: Any, tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], n_moved: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sequence, "MOVED_TOKENS", n_moved)
    plain = llmask.Compiler(tiny_tokenizer).json_schema(TREE)
    n_moves = 0
    for _ in range(scaled(6)):
        pairs = [(grammar.matcher(), plain.matcher()) for _ in range(3)]
        for _ in range(150):
            ours, oracle = pair = rng.choice(pairs)
            before = ours._sequence.generation
            allowed = read_mask(oracle, tiny_tokenizer.vocab_size)
            assert read_mask(ours, tiny_tokenizer.vocab_size) == allowed
            action = rng.random()
            if action < 0.1:
                pairs.append((ours.fork(), oracle.fork()))
            elif action < 0.2:
                n = rng.randint(0, len(oracle.tokens))
                for matcher in pair:
                    matcher.rollback(n)
            elif action < 0.4 and not oracle.is_terminated():
                for matcher in pair:
                    matcher.accept_bytes(oracle.forced_bytes())
            elif allowed:
                token = rng.choice(sorted(allowed))
                if not oracle.is_terminated():
                    for matcher in pair:
                        matcher.accept_token(token)
            assert ours.tokens == oracle.tokens
            assert ours.text() == oracle.text()
            assert ours.is_accepting() == oracle.is_accepting()
            assert ours.is_terminated() == oracle.is_terminated()
            n_moves += ours._sequence.generation is not before
        junk = grammar.matcher()  # fills the tables, so that the next family has to move
        for _ in range(40):
            junk.reset()
            junk.accept_bytes(random_tree(rng, 30).encode())
    assert n_moves > 0


def test_a_long_sequence_moves_in_many_steps(tiny_tokenizer: Any, monkeypatch: Any) -> None:
    n_replayed = [0]
    repeat = sequence.Sequence._repeat

    def counted(self: Any, token: int, position: int) -> int:
        n_replayed[-1] += 1
        return repeat(self, token, position)

    monkeypatch.setattr(sequence.Sequence, "_repeat", counted)
    grammar = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(renew_grammar_bytes=800_000)).json_schema(TREE)
    matcher, token = grammar.matcher(), tiny_tokenizer.encode("[")[0]
    while not grammar._loaded.n_renewals or matcher._sequence.moved is not None:
        matcher.accept_token(token)
        n_replayed.append(0)
    assert sum(n_replayed) == len(matcher.tokens) - 1 > 1_000
    assert max(n_replayed) == sequence.MOVED_TOKENS


def test_an_interrupt_at_the_end_of_a_move_changes_nothing(grammar: Any, monkeypatch: Any) -> None:
    grammar.matcher().accept_bytes(b'[[[], {"b": []}]]')  # so that configurations have other numbers
    matcher = grammar.matcher()
    matcher.accept_bytes(b'[{"a":')
    monkeypatch.setattr(sequence, "keep_end", mock.Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        matcher._sequence.move(grammar._loaded.new_generation())
    matcher.accept_bytes(b"[]}]")
    assert matcher.is_accepting()


def test_many_long_sequences_get_the_room_that_they_need(grammar: Any, rng: random.Random) -> None:
    # Twenty live sequences need more than ROOM together: they must not chase one another from table to table.
    matchers = [grammar.matcher() for _ in range(20)]
    seen = {id(grammar._loaded.generation): grammar._loaded.generation}
    for _ in range(60):
        for matcher in matchers:
            matcher.accept_bytes(rng.choice([b"[", b'[{"a":', b"[[],"]))
            seen[id(grammar._loaded.generation)] = grammar._loaded.generation
    assert grammar.bytes_used > ROOM
    assert len(seen) <= 10


def test_one_sequence_that_needs_more_than_the_limit_is_told(tiny_tokenizer: Any, rng: random.Random) -> None:
    limits = llmask.Limits(renew_grammar_bytes=ROOM, max_grammar_bytes=4 * ROOM)
    matcher = llmask.Compiler(tiny_tokenizer, limits=limits).json_schema(TREE).matcher()

    def grow() -> None:
        for _ in range(100_000):
            matcher.accept_bytes(rng.choice([b"[", b'[{"a":', b"[[],"]))

    with pytest.raises(llmask.LimitExceeded, match="max_grammar_bytes"):
        grow()
    n = len(matcher.tokens)
    matcher.rollback(5)
    assert len(matcher.tokens) == n - 5


class Watched:
    """A store's lock that notes how many operations run while it is held in one stretch."""

    def __init__(self, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self._lock, self._depth, self.turn = store.lock, 0, store.lock.turn
        self.stretches: list[int] = []
        build = store.run.__self__._build

        def count(*arguments: Any) -> int:
            self.stretches[-1] += 1
            return int(build(*arguments))

        monkeypatch.setattr(store.run.__self__, "_build", count)
        monkeypatch.setattr(store.run.__self__, "lock", self)
        monkeypatch.setattr(store, "lock", self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        if self._depth == 1:
            self.stretches.append(0)

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        self._lock.release()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plain", "prefix", "max_tokens"])
def test_moving_a_long_document_lets_others_in_between(
    tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    # all its tokens were replayed under the store's lock: at 100,000 of them every other sequence stood still meanwhile
    compiler = llmask.Compiler(tiny_tokenizer)
    grammar = (
        compiler.lark("start: a\na[max_tokens=3000]: /[a-c]*/") if kind == "max_tokens" else compiler.regex("a{2000}")
    )
    matcher = grammar.matcher(prefix=b"a") if kind == "prefix" else grammar.matcher()
    for _ in range(400):
        matcher.accept_bytes(b"a")
    watched = Watched(grammar._loaded.store, monkeypatch)
    for ask in [lambda: matcher.accept_bytes(b"a"), *([] if kind == "max_tokens" else [matcher.least_budget])]:
        old = matcher._sequence.generation
        old.room = 0
        watched.stretches.clear()
        ask()
        assert matcher._sequence.generation is not old
        assert len(watched.stretches) > 400
        assert max(watched.stretches[:400]) < 20
    assert matcher.text() == b"a" * 401


WRITTEN_LATE: dict[str, Callable[[Any], Any]] = {
    "few values": lambda compiler: compiler.json_schema(
        {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}
    ),
    "short strings": lambda compiler: compiler.json_schema(
        {"type": "array", "uniqueItems": True, "items": {"type": "string", "maxLength": 2}}
    ),
    "parameters": lambda compiler: compiler.lark(
        r"""start: "[" list::0
        list::_: "\"" item "\"" more::set_bit(0) | "\"" other "\"" more::set_bit(1)
        more::_: "]" | ", \"" item "\"" more::set_bit(0) %if bit_clear(0)
            | ", \"" other "\"" more::set_bit(1) %if bit_clear(1)
        item: "a"
        other: /[b-d]/"""
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITTEN_LATE)
def test_an_interrupt_while_rules_are_written_spoils_nothing(tiny_tokenizer: Any, kind: str) -> None:
    """Rules stayed half written for all who use the grammar: other masks after 97 of 357 places, or an IndexError."""
    compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
    beginnings = [b'["a"', b'["a", "b"']

    def masks(grammar: Any) -> list[set[int]]:
        found = []
        for beginning in beginnings:
            matcher = grammar.matcher()
            matcher.accept_bytes(beginning)
            found.append(read_mask(matcher, tiny_tokenizer.vocab_size))
        return found

    wanted = masks(WRITTEN_LATE[kind](compiler))
    n_places = 0
    for grammar in interrupted(lambda: WRITTEN_LATE[kind](compiler), masks):
        n_places += 1
        assert masks(grammar) == wanted, n_places
    assert n_places > 50


def rules_of_two() -> Rules:
    rules = Rules()
    end = rules.state(rules.rule("start"))
    rules.scan(rules.start_state(rules.start), 7, end)
    rules.final(end)
    return rules


def test_nothing_is_added_to_rules_that_do_not_grow() -> None:
    source = RuleSource(rules_of_two(), None)
    assert not source.is_growing
    assert source.since(source.sizes()).tolist() == source.nothing().tolist()


def test_what_was_added_is_given_apart() -> None:
    rules = rules_of_two()
    source = RuleSource(rules, lambda rule, texts: None)
    assert source.is_growing
    sizes = source.sizes()
    assert len(source.since(sizes)) == len(source.nothing())
    end = rules.state(rules.rule("more"))
    rules.scan(rules.start_state(rules.rule("another")), 8, end)
    added, whole = source.since(sizes), source.whole()
    assert len(source.nothing()) < len(added) < len(whole)
    assert 8 in added
    assert 7 not in added
