"""Which names are those of terminals."""

from __future__ import annotations

import pytest

from llmask.frontends.lark.tree import Name, is_terminal
from llmask.frontends.places import Spot


@pytest.mark.parametrize(
    ("name", "expected"), [("A", True), ("_A", True), ("a", False), ("_a", False), ("COMMON__INT", True)]
)
def test_terminals_begin_with_a_capital(name: str, expected: bool) -> None:
    assert is_terminal(name) == expected
    assert Name(Spot.nowhere(), name).is_terminal == expected
