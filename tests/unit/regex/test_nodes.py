"""The compiled nodes against their plain twin, on random expressions over all constructors, and at their limits."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from llmask import work
from llmask.compiling.made_grammar import MadeGrammar
from llmask.errors import GrammarError, LimitExceeded
from llmask.grammar.rules import Rules
from llmask.kernels.tables.operations import Operation
from llmask.kernels.tables.store_layout import STORE
from llmask.limits import Limits
from llmask.regex import nodes as nodes_module
from llmask.store.store import Store
from tests.reference.both_nodes import make_nodes
from tests.reference.definition import read_mask
from tests.reference.regex_nodes import RegexNodes as TwinNodes

ALPHABET = b"abc\x00\xff"
EVERY_BYTE = 2**256 - 1
Expression = tuple[Any, ...]


def random_expression(rng: random.Random, size: int) -> Expression:
    """An expression with `size` constructors."""
    if size <= 1:
        kind = rng.choice(["set", "set", "literal", "dfa"])
        if kind == "set":
            mask = sum(1 << byte for byte in rng.sample(ALPHABET, rng.randint(0, 4)))
            return ("set", mask if rng.random() < 0.8 else EVERY_BYTE & ~mask)
        if kind == "literal":
            return ("literal", bytes(rng.choices(ALPHABET, k=rng.randint(0, 4))))
        n_states, n_classes = rng.randint(1, 4), rng.randint(1, 3)
        return (
            "dfa",
            tuple(rng.randrange(n_classes) for _ in range(256)),
            tuple(tuple(rng.randrange(-1, n_states) for _ in range(n_classes)) for _ in range(n_states)),
            tuple(rng.random() < 0.5 for _ in range(n_states)),
        )
    kind = rng.choice(["concat", "union", "intersect", "complement", "without", "repeat", "repeat"])
    if kind == "complement":
        return ("complement", random_expression(rng, size - 1))
    if kind == "repeat":
        low = rng.randint(0, 3)
        high = rng.choice([None, low + rng.randint(0, 3)])
        return ("repeat", random_expression(rng, size - 1), low, high)
    n_parts = rng.randint(int(kind == "without"), 3) if size > 3 else 2
    return (kind, *(random_expression(rng, (size - 1) // max(n_parts, 1)) for _ in range(n_parts)))


def build(nodes: Any, expression: Expression) -> int:
    kind, *parts = expression
    if kind == "set":
        return nodes.byte_set(parts[0])
    if kind == "literal":
        return nodes.literal(parts[0])
    if kind == "dfa":
        return nodes.dfa(np.array(parts[0], np.uint8), np.array(parts[1], np.int32), np.array(parts[2]))
    if kind == "complement":
        return nodes.complement(build(nodes, parts[0]))
    if kind == "repeat":
        return nodes.repeat(build(nodes, parts[0]), parts[1], parts[2])
    if kind == "without":
        first, *others = (build(nodes, part) for part in parts)
        return nodes.without(first, others)
    return getattr(nodes, kind)([build(nodes, part) for part in parts])


@pytest.fixture(scope="module")
def compiled() -> Any:
    return make_nodes("compiled")


def test_random_expressions_agree_with_the_twin(
    rng: random.Random, costly: Callable[[int], int], compiled: Any
) -> None:
    twin = TwinNodes()
    n_empty = n_open = n_large = 0
    for _ in range(costly(200)):
        expression = random_expression(rng, rng.randint(1, 7))
        node, oracle = build(compiled, expression), build(twin, expression)
        assert compiled.is_nullable(node) == twin.is_nullable(oracle), expression
        assert compiled.is_empty(node) == twin.is_empty(oracle), expression
        assert compiled.is_open(node) <= twin.is_open(oracle), expression
        n_open += compiled.is_open(node)
        n_large += compiled.is_open(node) != twin.is_open(oracle)  # more states than products.MOST_STATES
        n_empty += twin.is_empty(oracle)
        for _ in range(6):
            data = bytes(rng.choices(ALPHABET, k=rng.randint(0, 7)))
            assert compiled.matches(node, data) == twin.matches(oracle, data), (expression, data)
            left, left_oracle = node, oracle
            for byte in data:
                left, left_oracle = compiled.derivative(left, byte), twin.derivative(left_oracle, byte)
                assert compiled.is_nullable(left) == twin.is_nullable(left_oracle), (expression, data)
            assert compiled.is_empty(left) == twin.is_empty(left_oracle), (expression, data)
    assert n_empty > costly(200) / 40
    assert n_open >= 10 * n_large + costly(200) / 5


def test_extensions_agree_with_the_twin(rng: random.Random, costly: Callable[[int], int], compiled: Any) -> None:
    """Where an expression matches nothing without being EMPTY more may be told, which the twin's emptiness is not."""
    twin = TwinNodes()
    n_same = n_some = 0
    for _ in range(costly(120)):
        pair = [random_expression(rng, rng.randint(1, 5)) for _ in range(2)]
        found = compiled.extensions(*(build(compiled, expression) for expression in pair))
        wanted = twin.extensions(*(build(twin, expression) for expression in pair))
        assert not wanted[0] & ~found[0], pair
        assert wanted[1] <= found[1], pair
        n_same += found == wanted
        n_some += wanted[0] != 0
        one = pair[0]
        missing = twin.first_bytes(build(twin, one)) & ~compiled.first_bytes(build(compiled, one))
        assert not missing, one
    assert n_same > costly(120) * 0.8
    assert n_some > costly(120) * 0.2


def test_extensions_of_words_are_known(compiled: Any) -> None:
    letter = compiled.byte_set(sum(1 << byte for byte in range(ord("a"), ord("z") + 1)))
    name, word = compiled.repeat(letter, 1, None), compiled.literal(b"if")
    assert compiled.extensions(name, word) == (1 << ord("f"), True)
    assert compiled.extensions(word, name) == (compiled.first_bytes(letter), True)
    assert compiled.extensions(word, word) == (0, True)
    assert compiled.extensions(word, compiled.literal(b"i")) == (0, False)
    assert compiled.extensions(compiled.EPSILON, name) == (0, False)
    assert compiled.first_bytes(word) == 1 << ord("i")
    assert compiled.first_bytes(compiled.EMPTY) == 0


def test_extensions_of_listed_words(compiled: Any) -> None:
    words = [b"", b"a", b"ab", b"abc", b"ac", b"b", b"bcd", b"c"]
    node = compiled.words(sorted(words))
    decided = compiled.extensions(node, node)
    compiled.put_extensions_of_words(node, words)
    assert compiled.extensions(node, node) == decided == (sum(1 << byte for byte in b"bc"), True)


def test_extensions_of_too_many_states_are_not_decided(compiled: Any) -> None:
    letter = compiled.byte_set(sum(1 << byte for byte in b"ab"))
    long = compiled.concat([compiled.repeat(letter, 3000), compiled.literal(b"!")])
    assert compiled.extensions(long, compiled.repeat(letter, 3000)) == (EVERY_BYTE, True)
    assert compiled.extensions(compiled.literal(b"a"), long) == (compiled.first_bytes(letter), False)


def test_strings_are_open_where_they_may_always_go_on(compiled: Any) -> None:
    def quoted(body: int) -> int:
        return int(compiled.concat([compiled.literal(b'"'), body, compiled.literal(b'"')]))

    letter = compiled.byte_set(sum(1 << byte for byte in b"abcdefgh"))
    letters = compiled.repeat(letter, 0, None)
    assert compiled.is_open(letters)
    assert compiled.is_open(quoted(letters))
    assert compiled.is_open(quoted(compiled.repeat(letter, 30, None)))
    assert compiled.is_open(quoted(compiled.concat([compiled.literal(b"a"), letters, compiled.literal(b"b")])))
    assert compiled.is_open(compiled.intersect([quoted(letters), compiled.complement(compiled.literal(b'"abc"'))]))
    assert not compiled.is_open(quoted(compiled.repeat(letter, 0, 30)))
    assert not compiled.is_open(compiled.union([quoted(letters), compiled.literal(b"null")]))
    assert not compiled.is_open(compiled.literal(b""))
    assert not compiled.is_open(compiled.EMPTY)


def test_openness_is_not_claimed_where_it_takes_too_long(compiled: Any) -> None:
    # 2^14 states: which of the last letters were `a`
    letter = compiled.byte_set((1 << 97) | (1 << 98))
    tail = compiled.repeat(letter, 14, 14)
    assert not compiled.is_open(compiled.concat([compiled.repeat(letter, 0, None), compiled.literal(b"a"), tail]))


def test_a_prepared_lexeme_has_its_masks(byte_tokenizer: Any) -> None:
    store = Store(byte_tokenizer, Limits())
    nodes, counters = (store.nodes, (STORE.n_masks, STORE.n_exits, STORE.n_token_lists))
    node = nodes.concat([nodes.literal(b"ab"), nodes.repeat(nodes.byte_set(0x3FFFFFF << 97), 3, 40)])
    nodes.prepare(node, [b"a", b"b"])
    known = [int(store.table.slots[slot]) for slot in counters]
    rules = Rules()
    end = rules.state(rules.rule("start"))
    rules.scan(rules.start_state(rules.start), node, end)
    rules.final(end)
    matcher = MadeGrammar(store, rules).matcher()
    read_mask(matcher, 257)
    matcher.accept_bytes(b"ab")
    read_mask(matcher, 257)
    assert [int(store.table.slots[slot]) for slot in counters] == known
    matcher.accept_bytes(b"c")
    read_mask(matcher, 257)
    assert [int(store.table.slots[slot]) for slot in counters] != known


def test_building_again_gives_the_same_id(rng: random.Random, scaled: Callable[[int], int], compiled: Any) -> None:
    for _ in range(scaled(100)):
        expression = random_expression(rng, rng.randint(1, 7))
        assert build(compiled, expression) == build(compiled, expression), expression


def test_laws_that_make_two_spellings_one_node(nodes: Any) -> None:
    a, b = nodes.byte_set(1 << 97), nodes.byte_set(1 << 98)
    ab = nodes.literal(b"ab")
    assert nodes.union([a, b]) == nodes.union([b, a, a]) == nodes.byte_set(3 << 97)
    assert nodes.union([]) == nodes.byte_set(0) == nodes.EMPTY
    assert nodes.intersect([]) == nodes.ALL
    assert nodes.concat([]) == nodes.literal(b"") == nodes.EPSILON
    assert nodes.concat([nodes.EMPTY, ab]) == nodes.concat([ab, nodes.EMPTY]) == nodes.EMPTY
    assert nodes.complement(nodes.complement(ab)) == ab
    assert nodes.complement(nodes.EMPTY) == nodes.ALL
    assert nodes.without(ab, []) == nodes.without(ab, [nodes.EMPTY]) == ab
    assert nodes.without(ab, [a, b]) == nodes.intersect([ab, nodes.complement(nodes.union([b, a]))])
    assert nodes.without(nodes.ALL, [a, ab]) == nodes.complement(nodes.union([ab, a]))
    assert nodes.intersect([ab, nodes.ALL]) == nodes.union([ab, nodes.EMPTY]) == ab
    assert nodes.repeat(ab, 1, 1) == ab
    assert nodes.repeat(ab, 0, 0) == nodes.repeat(nodes.EPSILON, 3, 7) == nodes.EPSILON
    assert nodes.repeat(nodes.EMPTY, 0, 3) == nodes.EPSILON
    assert nodes.repeat(nodes.EMPTY, 1, 3) == nodes.EMPTY


@pytest.mark.parametrize("n_bytes", [0, 1, 2, 31, 32, 33, 63, 64, 65, 1000, 100_000])
def test_literals_of_any_length(nodes: Any, n_bytes: int) -> None:
    if n_bytes > 1000 and isinstance(nodes, TwinNodes):
        n_bytes = 1000
    data = bytes(number * 7 % 256 for number in range(n_bytes))
    node = nodes.literal(data)
    assert nodes.matches(node, data)
    assert not nodes.matches(node, data + b"x")
    assert not nodes.is_empty(node)
    if data:
        assert not nodes.matches(node, data[:-1])
        changed = data[:-1] + bytes([data[-1] ^ 1])
        assert not nodes.matches(node, changed)
        assert nodes.matches(nodes.literal(changed), changed)


def test_equal_literals_in_pieces_match_the_same(nodes: Any) -> None:
    data = b"0123456789" * 12
    whole = nodes.literal(data)
    for cut in (1, 31, 32, 33, 64, 119):
        pieces = nodes.concat([nodes.literal(data[:cut]), nodes.literal(data[cut:])])
        assert nodes.matches(pieces, data)
        difference = nodes.intersect([pieces, nodes.complement(whole)])
        assert nodes.is_empty(difference)


def test_a_large_counter_is_not_unrolled(compiled: Any) -> None:
    node = compiled.repeat(compiled.byte_set(3 << 97), 1_000_000, 2_000_000_000)
    assert not compiled.is_empty(node)
    assert not compiled.matches(node, b"ab" * 100)
    exact = compiled.repeat(compiled.literal(b"ab"), 5000, 5000)
    assert compiled.matches(exact, b"ab" * 5000)
    assert not compiled.matches(exact, b"ab" * 4999)


@pytest.mark.parametrize(("low", "high"), [(-1, None), (2, 1), (0, 2**31 - 1), (2**31, None), (2**40, 2**41)])
def test_bounds_that_no_counter_holds_are_refused(compiled: Any, low: int, high: int | None) -> None:
    with pytest.raises(GrammarError) as caught:
        compiled.repeat(compiled.literal(b"a"), low, high)
    assert str(caught.value) == (
        f"a repetition cannot be bounded by {low} and {high}\n  bounds are ordered and below 2147483647"
    )


def divisible_by_three(byte_classes: list[int]) -> tuple[Any, Any, Any]:
    """Decimal numbers divisible by three; `byte_classes` names the columns of other bytes and of residues 0, 1, 2."""
    of_byte = np.full(256, byte_classes[0], np.uint8)
    for digit in range(10):
        of_byte[48 + digit] = byte_classes[1 + digit % 3]
    table = np.full((4, 4), -1, np.int32)
    for state, residue in enumerate((0, 0, 1, 2)):
        for digit in range(3):
            table[state, byte_classes[1 + digit]] = 1 + (residue + digit) % 3
    return of_byte, table, np.array([False, True, False, False])


def test_a_long_chain_of_states_is_looked_at_once(compiled: Any) -> None:
    """Every state was looked at again for every byte that an end was away: 40,000 states took 1.3 s."""
    n = 20_000
    table = np.full((2 * n, 2), -1, np.int32)
    table[: n - 1, 1] = np.arange(1, n)  # a leads along a chain; other bytes lead to one that never ends
    table[:n, 0] = np.arange(n, 2 * n)
    table[n:, 0] = np.roll(np.arange(n, 2 * n), 1)
    of_byte = np.zeros(256, np.uint8)
    of_byte[97] = 1
    node = compiled.dfa(of_byte, table, np.arange(2 * n) == n - 1)
    assert compiled.matches(node, b"a" * (n - 1))
    assert not compiled.matches(node, b"a" * (n - 2))
    assert compiled.derivative(node, 98) == compiled.EMPTY


def test_the_memo_belongs_to_the_nodes(nodes: Any) -> None:
    nodes.memo["test_nodes", "key"] = nodes.literal(b"value")
    assert nodes.matches(nodes.memo["test_nodes", "key"], b"value")


def test_limits_name_themselves_and_what_was_built_stays(tiny_tokenizer: Any) -> None:
    store = Store(tiny_tokenizer, Limits(max_emptiness_steps=40, max_regex_nodes=2000))
    nodes = store.nodes
    letters = nodes.byte_set(3 << 97)

    def ends(letter: bytes) -> int:
        return nodes.concat([nodes.repeat(letters, 0), nodes.literal(letter), nodes.repeat(letters, 12, 12)])

    hard = nodes.intersect([ends(b"a"), ends(b"b")])
    with pytest.raises(LimitExceeded, match=r"more than 40 derivatives \(limits.max_emptiness_steps\)"):
        nodes.is_empty(hard)
    data = bytes(random.Random(2).choices(b"ab", k=20_000))
    with pytest.raises(LimitExceeded, match=r"more than 2000 new regex nodes \(limits.max_regex_nodes\)"):
        nodes.matches(ends(b"a"), data)
    free = Store(tiny_tokenizer, Limits()).nodes
    easy = nodes.intersect([ends(b"a"), nodes.repeat(letters, 13, 13)])
    assert nodes.matches(easy, b"abbbbbbbbbbbb")
    assert not nodes.matches(easy, b"bbbbbbbbbbbbb")
    assert not free.is_empty(free.intersect([free.ALL, free.literal(b"a")]))


def hard_expressions(rng: random.Random, n: int) -> list[Expression]:
    """Expressions whose emptiness takes some hundred derivatives: remainders that meet late or never."""

    def remainder(period: int) -> Expression:
        letter = ("set", rng.randrange(1, 32) << 97)
        return ("concat", ("repeat", ("repeat", letter, period, period), 0, None), ("repeat", letter, 1, period - 1))

    found: list[Expression] = []
    for _ in range(n):
        parts = [remainder(period) for period in rng.sample([3, 4, 5, 6, 7, 8, 9], 3)]
        if rng.random() < 0.5:
            parts[0] = ("complement", parts[0])
        ending = [("literal", b"end")] if rng.random() < 0.3 else []
        found.append(("concat", ("intersect", *parts, ("repeat", ("set", 31 << 97), 1, None)), *ending))
    return found


@pytest.mark.parametrize("are_others_between", [False, True])
def test_an_emptiness_test_that_goes_on_where_it_was_stopped_finds_the_same(
    rng: random.Random, scaled: Callable[[int], int], monkeypatch: pytest.MonkeyPatch, are_others_between: bool
) -> None:
    # each part began anew, so parts grew until one of them reached the end: others waited for up to 30 ms
    whole, parted = make_nodes("compiled"), make_nodes("compiled")
    expressions = hard_expressions(rng, scaled(60))
    others = [build(parted, expression) for expression in hard_expressions(rng, 400)]
    if not are_others_between:
        parted = make_nodes("compiled")
    monkeypatch.setattr(work, "PART_WORK", 8)
    run, steps, n_empty = parted._run, [], 0

    def run_and_let_others(operation: int, *arguments: int, **others_: Any) -> int:
        try:
            return int(run(operation, *arguments, **others_))
        except LimitExceeded:
            if others_["grammar"] is not None:
                steps.append(others_["grammar"].view.progress)
            if are_others_between and others:
                with work.unmetered():
                    run(Operation.IS_EMPTY, others.pop())
            raise

    parted._run = run_and_let_others
    for expression in expressions:
        node, same = build(whole, expression), build(parted, expression)
        steps.clear()
        with work.metered(10**9, "max_compile_work"):
            is_empty = parted.is_empty(same)
        assert is_empty == whole.is_empty(node), expression
        assert steps == sorted(steps), "a part goes on from the last one"
        assert are_others_between or parted.n_nodes == whole.n_nodes, expression
        n_empty += is_empty
    assert len(expressions) / 12 < n_empty < len(expressions) * 11 / 12
    assert not are_others_between or len(others) < 390


def test_an_emptiness_test_that_another_one_overtakes_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = make_nodes("compiled")
    node = build(nodes, hard_expressions(random.Random(5), 1)[0])
    monkeypatch.setattr(work, "PART_WORK", 8)
    run, answers = nodes._run, []

    def overtaken(operation: int, *arguments: int, **others: Any) -> int:
        try:
            return int(run(operation, *arguments, **others))
        except LimitExceeded:
            with work.unmetered():
                answers.append(run(Operation.IS_EMPTY, node) != 0)
            raise

    nodes._run = overtaken
    with work.metered(10**9, "max_compile_work"):
        assert [nodes.is_empty(node)] == answers


def test_a_large_automaton_is_copied_in_pieces(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # one operation took 30 ms for the eleven megabytes of host names beyond ASCII
    monkeypatch.setattr(nodes_module, "PIECE", 7)
    run = compiled._run
    n_others = 0

    def run_and_another(operation: int, *arguments: int, **others: Any) -> int:
        nonlocal n_others
        found = int(run(operation, *arguments, **others))
        if operation == Operation.PUT_NUMBERS:  # others have automata, too
            n_others += 1
            numbers = np.full(50, 1000 + n_others, np.int32)
            run(Operation.PUT_NUMBERS, -1, len(numbers), data=numbers)
        return found

    monkeypatch.setattr(compiled, "_run", run_and_another)
    of_byte, table, accepting = divisible_by_three([0, 1, 2, 3])
    of_byte[ord("-")] = of_byte[ord("3")]  # another automaton than those of other tests
    node = compiled.dfa(of_byte, table, accepting)
    assert n_others > 2
    for number in range(400):
        assert compiled.matches(node, b"-%d" % number) == (number % 3 == 0)


def test_variants_share_nodes_and_remember_apart(nodes: Any) -> None:
    one, other = nodes.variant("one"), nodes.variant("other")
    one.memo["x"] = one.literal(b"x")
    assert nodes.literal(b"x") == one.memo["x"]
    assert "x" not in other.memo
    assert "x" not in nodes.memo
    assert nodes.variant("one").memo is one.memo
    assert (nodes.variant_key, one.variant_key) == (None, "one")
