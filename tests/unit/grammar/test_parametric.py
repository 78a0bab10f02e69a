"""llmask/grammar/parametric.py: which rules derive something, value by value."""

from __future__ import annotations

import random
from typing import Any

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.lark.tokens import read_change, read_condition
from llmask.frontends.places import Source
from llmask.grammar import parametric
from llmask.grammar.expressions import Call, Conditional, Expression, Lexeme, Reference, Repeat, choice, sequence
from llmask.grammar.parametric import Provable, instance_name, instance_of, written_out

A = Lexeme(5, "a")


def call(name: str, change: str) -> Call:
    return Call(name, read_change(Source(change), 0)[0])


def where(condition: str, part: Expression) -> Conditional:
    return Conditional(read_condition(Source(condition), 0)[0], part)


def provable(rules: dict[str, Expression]) -> Provable:
    return Provable(rules, lambda lexeme: True, True)


def test_a_rule_is_written_out_for_a_value() -> None:
    rule = choice([where("bit_set(0)", A), sequence([A, call("r", "incr(_)")]), where("bit_clear(0)", Repeat(A))])
    assert written_out(rule, 1) == choice([A, sequence([A, Reference("r::2")])])
    assert written_out(where("bit_set(0)", A), 0) is None
    assert written_out(Repeat(where("bit_set(0)", A)), 0) == sequence(())
    assert instance_of(instance_name("r", 7)) == ("r", 7)
    assert instance_of("plain") == ("plain", 0)


def test_circles_derive_nothing_and_ways_out_are_found() -> None:
    rules = {
        "down": choice([where("is_zeros(_)", A), where("gt(_, 0)", call("down", "decr(_)"))]),
        "circle": call("circle", "_"),
        "maybe": choice([call("circle", "3"), call("down", "_"), call("maybe", "_")]),
    }
    found = provable(rules)
    assert "down::10000" in found
    assert "circle::1" not in found
    assert "maybe::5" in found


@pytest.mark.long
def test_what_takes_too_long_is_refused() -> None:
    with pytest.raises(LimitExceeded):
        assert "up::0" in provable({"up": where("bit_clear(63)", call("up", "incr(_)"))})


def test_wide_rules_count_with_all_their_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty options of 200,000 values: the steps alone allowed seven seconds."""
    wide = choice([*(where(f"bit_clear({at})", sequence([A, call("up", "incr(_)")])) for at in range(2, 62))])
    monkeypatch.setattr(parametric, "MOST_PARTS", 10_000)
    looked_at = 0

    def of_lexeme(lexeme: Lexeme) -> bool:
        nonlocal looked_at
        looked_at += 1
        return True

    with pytest.raises(LimitExceeded, match="10000 parts of rules"):
        assert "up::0" in Provable({"up": wide}, of_lexeme, True)
    assert 1000 < looked_at < 11_000


def test_answers_are_those_of_a_fixed_point() -> None:
    """Random rules over three bits, against rounds until nothing changes."""
    generator = random.Random(8)
    changes = ["_", "set_bit(0)", "set_bit(1)", "clear_bit(0)", "incr([0:3])", "decr([0:3])", "bit_and(5)", "3"]
    conditions = ["bit_set(0)", "bit_clear(1)", "eq([0:3], 6)", "lt([0:3], 3)", "true", "not(bit_set(2))"]
    names = ["x", "y", "z"]

    def expression(depth: int) -> Any:
        kind = generator.choice(("call", "call", "row", "choice", "where", "lexeme") if depth else ("call",))
        if kind == "lexeme":
            return where(generator.choice(conditions), A) if generator.random() < 0.8 else A
        if kind == "call":
            return call(generator.choice(names), generator.choice(changes))
        if kind == "where":
            return where(generator.choice(conditions), expression(depth - 1))
        parts = [expression(depth - 1) for _ in range(2)]
        return sequence(parts) if kind == "row" else choice(parts)

    n_true = n_false = 0
    for _ in range(300):
        rules = {name: expression(3) for name in names}
        every = [instance_name(name, value) for name in names for value in range(8)]
        proven: set[str] = set()
        grown = True
        while grown:
            grown = False
            for name in every:
                rule, value = instance_of(name)
                found = Provable(rules, lambda lexeme: True, True)
                found._known = {other: other in proven for other in every}
                if name not in proven and found._holds(rules[rule], value):
                    proven.add(name)
                    grown = True
        asked = provable(rules)
        order = generator.sample(every, len(every))
        assert {name for name in order if name in asked} == proven, rules
        n_true += len(proven)
        n_false += len(every) - len(proven)
    assert min(n_true, n_false) > 500
