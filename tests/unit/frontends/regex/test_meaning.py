"""Whole patterns against `re.fullmatch`: small ones in full, larger ones at random, raw and inside JSON strings."""

from __future__ import annotations

import itertools
import json
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.meaning import has_empty_loop, has_one_way
from llmask.frontends.regex.python_syntax import PythonParser
from tests.reference.json_spellings import spell
from tests.reference.regex_nodes import RegexNodes

LETTERS = "ab-\n"
WORDS = ["".join(letters) for length in range(5) for letters in itertools.product(LETTERS, repeat=length)]
_ATOMS = r"a b . [^a] (?a:\w) ^ $ (?a:\b) \Z (?=a) (?!a) (?<=a) (?<!a) (?!b-) (?<!ab)"
ATOMS = _ATOMS.split()


def compose(one: str, other: str) -> list[str]:
    return [one + other, f"(?:{one}|{other})"]


def repeated(one: str) -> list[str]:
    return [f"(?:{one})*", f"(?:{one})?", f"(?:{one}){{1,2}}"]


def small_patterns() -> list[str]:
    """Every pattern of at most two atoms and one repetition."""
    ones = ATOMS + [pattern for atom in ATOMS for pattern in repeated(atom)]
    twos = [pattern for one in ATOMS for other in ATOMS for pattern in compose(one, other)]
    return ones + twos + [repeated(two)[0] for two in twos]


def random_pattern(rng: random.Random, depth: int) -> str:
    kind = rng.randrange(15)
    if depth <= 0 or kind < 4:
        return rng.choice(["a", "b", "-", ".", r"(?a:\w)", "[ab]", "[^a]", r"\n", "[-a]", "a", "b"])
    inner = random_pattern(rng, depth - 1)
    if kind < 8:
        return rng.choice(compose(inner, random_pattern(rng, depth - 1)))
    if kind < 10:
        return f"(?:{inner})" + rng.choice(["*", "+", "?", "{2}", "{1,2}", "{0,3}", "*?", "{2,}"])
    if kind == 10:
        return rng.choice(["(?=", "(?!"]) + inner + ")"
    if kind == 11:
        return rng.choice(["^", "$", r"(?a:\b)", r"(?a:\B)", r"\A", r"\Z"])
    if kind == 12:
        return rng.choice(["(?<=", "(?<!"]) + rng.choice(["a", "ab", "[ab]-", "^a", "a|b", ".b", ""]) + ")"
    if kind == 13:
        return rng.choice(["(?m:", "(?s:", "(?i:"]) + inner + ")"
    return rng.choice([r"a(?a:\b)", "b$", "^a", "(?m:^)b"]) + inner


def judge(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern)


@pytest.mark.long
def test_small_patterns_mean_what_re_says(nodes: Any, rng: random.Random) -> None:
    for pattern in small_patterns():
        expected = judge(pattern)
        node = compile_pattern(nodes, pattern)
        for word in rng.sample(WORDS, 25) + WORDS[:20]:
            assert nodes.matches(node, word.encode()) == bool(expected.fullmatch(word)), (pattern, word)


@pytest.mark.long
def test_random_patterns_mean_what_re_says_raw_and_in_json(
    nodes: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_compared = n_matched = 0
    for _ in range(scaled(250)):
        pattern = random_pattern(rng, rng.randrange(2, 6))
        expected = judge(pattern)
        try:
            raw, quoted = compile_pattern(nodes, pattern), compile_pattern(nodes, pattern, json_string=True)
        except LimitExceeded:
            continue
        for word in rng.sample(WORDS, 40):
            is_match = bool(expected.fullmatch(word))
            assert nodes.matches(raw, word.encode()) == is_match, (pattern, word)
            assert nodes.matches(quoted, spell(rng, word)) == is_match, (pattern, word)
            n_compared += 1
            n_matched += is_match
    assert n_compared > scaled(250) * 35
    assert n_matched > n_compared // 200


def test_complements_in_json_speak_of_the_text_and_not_of_its_spelling(nodes: Any) -> None:
    node = compile_pattern(nodes, '(?!.*["é]).{1,3}', json_string=True)
    for body in (b"a", b"\\u0061", b"ab/", b"a\\/\\n", b"\\u00e8"):
        assert nodes.matches(node, body) == (b"\\n" not in body), body
    for body in (b'\\"', b"a\\u0022", "é".encode(), b"\\u00E9", b"\\u00e9b", b"", b"abcd", b'"', b"\\u00e"):
        assert not nodes.matches(node, body), body


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        (r"(?!.*--)[a-z-]+(?<!-)", ["a", "a-b"], ["a--b", "a-", ""]),
        (r"(?:(?!--).)*", ["", "a-b-c"], ["--", "a--b"]),
        (r"^(?=.{5,8}$)\w+@\w+$", ["ab@cd", "abcd@efg"], ["a@b", "abcd@efgh"]),
        (r"\bfoo\b.*\bbar\b", ["foo bar", "foo-bar"], ["foobar", "foo barn"]),
        (r"(?:^|,)a(?:,a)*$", ["a", ",a", "a,a"], ["a,", "b,a"]),
        (r"(?<=x)y|x(?<=x)y", ["xy"], ["y"]),
        (r"x*+x|y", ["y"], ["x", "xx"]),
        (r"x{1,2}+x", ["xxx"], ["xx", "x"]),
        (r"a(?=b(?!c)).*", ["ab", "abd"], ["abc", "a"]),
        (r"(?i)stra(ß|ss)e", ["STRASSE", "straSſe", "STRAẞE"], ["strase"]),
        (r"[😀-😂]{2}é", ["😀😂é"], ["😀é", "😀😃é"]),
        (r"a$\n", ["a\n"], ["a", "a\n\n"]),
        (r"(a?){3}(b{2,3}){2}", ["bbbb", "aaabbbbbb", "abbbbb"], ["bbb", "aaaabbbb"]),
    ],
)
def test_patterns_of_many_kinds(nodes: Any, pattern: str, accepted: list[str], refused: list[str]) -> None:
    for is_json in (False, True):
        node = compile_pattern(nodes, pattern, json_string=is_json)
        for word in accepted + refused:
            data = json.dumps(word)[1:-1].encode() if is_json else word.encode()
            assert nodes.matches(node, data) == (word in accepted), (is_json, word)


def test_bounded_repetitions_stay_counters(nodes: Any) -> None:
    """`x{0,1000000}` is one node, not a million."""
    node = compile_pattern(nodes, "x{3,1000000}")
    assert node == nodes.repeat(nodes.literal(b"x"), 3, 1_000_000)
    a_or_b = nodes.byte_set(1 << 97 | 1 << 98)
    assert compile_pattern(nodes, "(?:[ab]{5,6}){3,}") == nodes.repeat(nodes.repeat(a_or_b, 5, 6), 3, None)


def test_a_counter_of_a_counter_is_one_where_it_leaves_no_gap(nodes: Any) -> None:
    a = nodes.literal(b"a")
    assert compile_pattern(nodes, "((a{0,1000}){0,1000}){0,1000}") == nodes.repeat(a, 0, 10**9)
    for low, high, fewest, most in itertools.product((0, 1, 2, 4), (0, 2, 3, 5, None), (0, 1, 2, 3), (0, 1, 3, None)):
        if (high is None or low <= high) and (most is None or fewest <= most):
            bounds = f"{{{low},{'' if high is None else high}}}", f"{{{fewest},{'' if most is None else most}}}"
            node = compile_pattern(nodes, f"(?:a{bounds[0]}){bounds[1]}")
            expected = re.compile(f"(?:a{bounds[0]}){bounds[1]}")
            for length in range(20):
                assert nodes.matches(node, b"a" * length) == bool(expected.fullmatch("a" * length)), (bounds, length)


@pytest.mark.long
@pytest.mark.parametrize("bounds", [(0, 100_000), (3, 100_000), (70_000, 100_000)])
def test_a_loop_that_looks_around_a_character_may_be_long(nodes: Any, bounds: tuple[int, int]) -> None:
    low, high = bounds
    node = compile_pattern(nodes, f"(?:(?!--)[a-z-]){{{low},{high}}}")
    for length in {0, 2, 3, low - 1, low, high}:
        if length >= 0:
            assert nodes.matches(node, b"a" * length) == (low <= length <= high)
    assert not nodes.matches(node, b"a" * low + b"--a")
    assert not nodes.matches(node, b"a" * (high + 1))


def test_a_pattern_is_compiled_once(nodes: Any) -> None:
    assert compile_pattern(nodes, "[a-f]+x") == compile_pattern(nodes, "[a-f]+x") == compile_pattern(nodes, "^[a-f]+x$")


def test_characters_side_by_side_are_one_literal(nodes: Any) -> None:
    parts = [nodes.literal(text.encode()) for text in ("aé", "bc", "d")]
    assert compile_pattern(nodes, "aé(bc)d") == nodes.concat(parts)


def test_what_stands_many_times_in_a_row_is_counted(nodes: Any) -> None:
    """Search for "xxx...": as many beginnings were alive as there are letters, and 10,000 took ten seconds."""
    assert compile_pattern(nodes, "x" * 1000) == compile_pattern(nodes, "x{1000}")
    assert compile_pattern(nodes, "a" + "[xy]z" * 200 + "b") == compile_pattern(nodes, "a(?:[xy]z){200}b")
    node = compile_pattern(nodes, "ab" * 100 + "c")
    assert nodes.matches(node, b"ab" * 100 + b"c")
    assert not nodes.matches(node, b"ab" * 99 + b"c")
    assert not nodes.matches(node, b"ab" * 101 + b"c")


def test_rounds_that_may_be_left_out_count_in_pairs(nodes: Any) -> None:
    """A thousand rounds that are written out and may be empty took three seconds a mask."""
    compile_pattern(nodes, "(?:a*+|[ ]{2,3}){50}b")
    compile_pattern(nodes, "(?:(?=a)a|(?>[ ]{2}|c)){200}b")
    for bounds in ("1000", "1000,", "0,1000"):
        with pytest.raises(LimitExceeded, match="anchors and look-arounds take more than 30000 steps"):
            compile_pattern(nodes, f"(?:a*+|[ ]{{2,3}}){{{bounds}}}b")


def test_a_look_around_that_is_decided_leaves_no_trace(nodes: Any) -> None:
    """`not(ab TEXT)` lived on after "ab": x & not(TEXT) is empty, but only a search of all states could tell."""
    after = {}
    for pattern, text in [
        ("^(?!ab)[a-z]+$", b"ab"),
        ("^(?!ab)[a-z]+$", b"ac"),
        ("^(?=ab)[a-z]+$", b"ab"),
        ("^[a-z]+$", b"a"),
    ]:
        node = compile_pattern(nodes, pattern, "ecma", json_string=True)
        for byte in text:
            node = nodes.derivative(node, byte)
        after[pattern, text] = node
    broken, *decided = after.values()
    assert broken == nodes.EMPTY
    assert len(set(decided)) == 1


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ab", True),
        ("a{3}b", True),
        ("[ab]", True),
        ("a|b", False),
        ("a?", False),
        ("(a|b){2}", False),
        ("^(?=a|b)", True),
    ],
)
def test_a_tree_has_one_way_where_nothing_is_chosen(pattern: str, expected: bool) -> None:
    assert has_one_way(PythonParser(pattern).parse()) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("(?:a?)*", True), ("(?:^|a)+", True), ("(?:a?){0,2}", True), ("(?:a?){0,1}", False), ("(?:a?){2,3}", False)],
)
def test_a_loop_is_empty_where_a_round_may_take_nothing(pattern: str, expected: bool) -> None:
    assert has_empty_loop(PythonParser(pattern).parse()) == expected


def test_an_atomic_group_of_one_way_leaves_no_trace() -> None:
    nodes = RegexNodes()
    assert compile_pattern(nodes, "(?>ab)c(?>d{3})+") == compile_pattern(nodes, "abc(?:d{3})+")


def test_loops_that_a_group_cannot_order_are_refused_in_schemas_too() -> None:
    for pattern in ("(?>a)", "(?>a|ab)c"):
        with pytest.raises(GrammarError, match="this group has an unknown extension"):
            compile_pattern(RegexNodes(), pattern, "ecma")


def test_a_long_loop_in_a_group_meets_a_limit() -> None:
    with pytest.raises(LimitExceeded, match="take more than 30000 steps"):
        compile_pattern(RegexNodes(), "(?>(?:ab){0,100000})c")
