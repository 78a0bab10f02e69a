"""Questions about trees of atomic groups; what the groups mean is tested beside Python's syntax."""

from __future__ import annotations

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.atomic import has_empty_loop, has_one_way
from llmask.frontends.regex.python_syntax import PythonParser
from tests.reference.regex_nodes import RegexNodes


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
