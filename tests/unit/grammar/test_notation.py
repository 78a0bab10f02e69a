"""Rules as text: exactly these, and texts that, read again, mean the same rules."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.grammar.kinds import ANOTHER, CALL, CALL_OPEN, SCAN, SKIP
from llmask.grammar.notation import RuleText, rule_names
from llmask.grammar.rules import Rules, network_of
from tests.exhaustive.grammars import Builder, hard_worlds, one_rule_worlds, random_world
from tests.reference.regex_nodes import RegexNodes

TEXTS = {
    'start: "a"': 'start: "a"',
    'start: "a" | "b"': 'start: "a" | "b"',
    'start: "a" ("b" | "c") "d"': 'start: "a" ("b" | "c") "d"',
    'start: "a"?': 'start: "a" | ""',
    'start: "a"*': 'start: -> 1 | ""\n  1: "a" (-> 1 | "")',
    'start: "a" x "a" x\nx: "b" x | "c"': 'start: "a" x "a" x\nx: "b" -> x | "c"',
    'start: "a" ~ 2..9': "start: <repetition 0>\n"
    '<repetition 0>: {count<=8, +1 up to 9} "a" -> <repetition 0> | ""{2<=count}',
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts(byte_tokenizer: Any, text: str) -> None:
    grammar = llmask.Compiler(byte_tokenizer).lark(text)
    assert str(grammar.rules()).replace("{priority 1}", "") == TEXTS[text]


def rules_of(*edges: tuple[int, int, int, int], finals: tuple[int, ...], n_states: int) -> Rules:
    """One rule of edges (state, kind, symbol, next state)."""
    rules = Rules()
    rule = rules.rule("r")
    for _ in range(n_states - 1):
        rules.state(rule)
    for state, kind, symbol, target in edges:
        rules.edges.extend((state, kind, symbol, target, 0))
    for state in finals:
        rules.final(state)  # type: ignore[arg-type]
    return rules


def test_states_have_lines_only_where_they_must() -> None:
    loop = rules_of((0, SCAN, 7, 1), (1, SCAN, 8, 0), finals=(0,), n_states=2)
    assert str(loop) == 'r: node 7 node 8 -> r | ""'
    dead = rules_of((0, SCAN, 7, 1), (0, SCAN, 8, 2), finals=(1,), n_states=3)
    assert str(dead) == "r: node 7 | node 8 []"
    nothing = rules_of(finals=(), n_states=1)
    assert str(nothing) == "r: []"
    wide = rules_of(*((0, SCAN, n, n + 1) for n in range(30)), *((n + 1, SCAN, 99, n + 1) for n in range(30)),
                    finals=tuple(range(1, 31)), n_states=31)  # fmt: skip
    assert str(wide).splitlines()[:3] == ["r: node 0 -> 1", "  | node 1 -> 2", "  | node 2 -> 3"]


def test_what_edges_ask_and_note_is_written() -> None:
    rules = Rules()
    outer, inner = rules.rule("#"), rules.rule("#")
    start, end = rules.start_state(outer), rules.state(outer)
    rules.scan(start, 5, start, rules.add_guard(3, 5, (1, 2)), priority=4, is_bare=True)
    rules.scan(start, 6, start, rules.add_guard(ANOTHER, cap=7))
    rules.call_new(start, inner, start, rules.check_guard(2, 4, (0,), another_of=inner), kind=CALL_OPEN)
    rules.call_again(start, inner, start)
    rules.skip(start, end, rules.guard(1, 1))
    rules.final(end, rules.check_guard(low=2))
    rules.scan(rules.start_state(inner), 8, rules.start_state(inner))
    rules.final(rules.start_state(inner))
    rules.late_names.append("x::3")
    rules.skip_late(rules.start_state(inner), 0)
    rules.ignored = 9
    assert str(rules) == (
        "#: node 5{add 3, size<=5 with 1 2, priority 4, nothing ignored before} -> #\n"
        "  | node 6{another, up to 7} -> #\n"
        "  | new_open(#~2){2<=size<=4, has 0, another #~2 is left} -> #\n"
        "  | again(#~2) -> #\n"
        '  | {count==1} ""{2<=size}\n'
        '#~2: node 8 -> #~2 | late(x::3) | ""\n'
        "\n%ignore node 9"
    )
    rules.late_states[0] = rules.state(inner)
    rules.final(rules.late_states[0])
    assert '#~2: node 8 -> #~2 | late(x::3) -> 1 | ""\n  1: ""' in str(rules)


def test_no_two_rules_have_one_name() -> None:
    assert rule_names(["a", "a", "a~2", "b c", "b c", "#/x"]) == ["a", "a~2", "a~2~2", "<b c>", "<b c>~2", "#/x"]


def test_late_rules_are_shown_as_far_as_they_are_written(byte_tokenizer: Any) -> None:
    grammar = llmask.Compiler(byte_tokenizer).lark('start: x::0\nx::_ : "a" x::incr(_) | "b" %if ge(_, 1)')
    before = str(grammar.rules())
    assert before.splitlines()[1] == "x::0: late(x::0) -> 1"
    grammar.matcher().accept_bytes(b"a" * 500)
    after = str(grammar.rules())
    assert len(after) > len(before)
    assert "late(x::500) -> " in after


def test_variants_are_shown_when_they_are_made(byte_tokenizer: Any) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}
    grammar = llmask.Compiler(byte_tokenizer).json_schema(schema)
    assert "left out" not in str(grammar.rules())
    grammar.matcher().accept_bytes(b"[1,2,")
    assert "INTEGER(2 left out)" in str(grammar.rules())


def test_the_text_of_a_grammar_is_still_one_that_lark_reads(byte_tokenizer: Any) -> None:
    compiler = llmask.Compiler(byte_tokenizer)
    grammar = compiler.lark(
        'start: "[" (value ("," value)*)? "]"\nvalue: start | NUMBER\nNUMBER: /[0-9]+/\n%ignore " "'
    )
    assert str(compiler.lark(str(grammar)).rules()) == str(grammar.rules())


# --- the text, read again

TOKEN = re.compile(r'node \d+|""|->|\[\]|[|()]|[A-Za-z0-9_~]+')


class Reader:
    """Reads rules without guards; derives what they do, rules as symbols."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, list[str]] = {}
        rule = ""
        for line in re.sub(r"\n +\| ", " | ", text).splitlines():
            head, _, body = line.partition(": ")
            rule = rule if line.startswith("  ") else head
            name = f"{rule}.{head.strip()}" if line.startswith("  ") else head
            assert name not in self.lines
            self.lines[name] = TOKEN.findall(body)

    def words(self, rule: str, most: int) -> set[tuple[str, ...]]:
        """What a rule derives in at most so many symbols."""
        known: dict[str, set[tuple[str, ...]]] = {name: set() for name in self.lines}
        while True:
            found = {
                name: self._alternatives(name.split(".")[0], iter(body), known, most)
                for name, body in self.lines.items()
            }
            if found == known:
                return found[rule]
            known = found

    def _alternatives(self, rule: str, tokens: Any, known: Any, most: int) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        so_far: set[tuple[str, ...]] = {()}
        for token in tokens:
            following: set[tuple[str, ...]] | None = None
            if token == "|":
                found |= so_far
                so_far = {()}
                continue
            if token == ")":
                break
            if token == "(":
                following = self._alternatives(rule, tokens, known, most)
            elif token == "->":
                target = next(tokens)
                following = known[target if target in known and not target.isdigit() else f"{rule}.{target}"]
            elif token == "[]":
                following = set()
            elif token == '""':
                following = {()}
            else:
                following = {(token,)}
            so_far = {(*one, *other) for one in so_far for other in following if len(one) + len(other) <= most}
        return found | so_far


def derived(rules: Rules, names: list[str], rule: int, most: int) -> set[tuple[str, ...]]:
    """The same of the rules themselves, from the definition."""
    edges = [rules.edges[at : at + 5] for at in range(0, len(rules.edges), 5)]
    finals = set(rules.finals[::2])
    found: set[tuple[str, ...]] = set()
    waiting: list[tuple[int, tuple[str, ...]]] = [(rules.rule_starts[rule], ())]
    seen = set(waiting)
    while waiting:
        state, word = waiting.pop()
        if state in finals:
            found.add(word)
        for source, kind, symbol, target, _ in edges:
            if source != state:
                continue
            symbols = {SKIP: (), SCAN: (f"node {symbol}",), CALL: (names[symbol] if kind == CALL else "",)}[kind]
            step = target, (*word, *symbols)
            if len(step[1]) <= most and step not in seen:
                seen.add(step)
                waiting.append(step)
    return found


def assert_same(rules: Rules, most: int = 4) -> int:
    text = str(rules).partition("\n\n")[0]
    reader, names = Reader(text), rule_names(rules.names)
    for rule, name in enumerate(names):
        assert reader.words(name, most) == derived(rules, names, rule, most), text
    return len(text)


@pytest.mark.long
def test_texts_mean_what_the_rules_do(rng: random.Random, scaled: Callable[[int], int]) -> None:
    nodes = RegexNodes()
    n_characters = sum(assert_same(world.rules) for world in hard_worlds(nodes, False))
    worlds = list(one_rule_worlds(nodes, 3))
    n_characters += sum(assert_same(world.rules) for world in rng.sample(worlds, min(len(worlds), scaled(100))))
    for _ in range(scaled(100)):
        n_characters += assert_same(random_world(nodes, rng, False).rules)
    assert n_characters > 10_000


def test_a_dot_stands_where_the_state_is(rng: random.Random, scaled: Callable[[int], int]) -> None:
    """What stands after the dot of a state is what is derived from there."""
    nodes = RegexNodes()
    n_dots = 0
    for _ in range(scaled(60)):
        rules = random_world(nodes, rng, False).rules
        text = RuleText(network_of(rules, "node {}".format))
        for rule, name in enumerate(rule_names(rules.names)):
            text.rule(rule)
            reader = Reader(str(rules).partition("\n\n")[0])
            reached = [state for state in text._reached(rule) if not text._ends(state)]
            items = [text.item(state) for state in reached]
            for state, item in zip(reached, items, strict=True):
                after = item.partition("•")[2].strip()
                n_dots += 1
                reader.lines[f"{name}.dot"] = TOKEN.findall(after)
                begun = Rules()
                begun.__dict__.update(rules.__dict__)
                begun.rule_starts = rules.rule_starts[:]
                begun.rule_starts[rule] = state
                assert reader.words(f"{name}.dot", 3) == derived(begun, rule_names(rules.names), rule, 3), (
                    item,
                    str(rules),
                )
    assert n_dots > 100


def test_builder_texts() -> None:
    assert str(Builder(RegexNodes()).bnf(S="a T b | c", T="T a |").rules).count("\n") == 1
