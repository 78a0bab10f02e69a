"""Which states lead to an end."""

from __future__ import annotations

from llmask.frontends.json_schema.satisfiable import productive_states
from llmask.grammar.rules import Rules


def test_a_rule_that_calls_itself_without_end_derives_nothing() -> None:
    rules = Rules()
    start, loop = rules.rule("start"), rules.rule("loop")
    first, end = rules.start_state(start), rules.state(start)
    rules.final(end)
    inside = rules.state(loop)
    rules.scan(rules.start_state(loop), 5, inside)
    loop_end = rules.state(loop)
    rules.call(inside, loop, loop_end)
    rules.final(loop_end)
    rules.call(first, loop, end)
    assert productive_states(rules) == {end, loop_end}
    rules.skip(inside, loop_end)
    assert productive_states(rules) == {first, end, rules.start_state(loop), inside, loop_end}
