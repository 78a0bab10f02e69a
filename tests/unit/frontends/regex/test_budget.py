"""The sum of what a pattern takes."""

from __future__ import annotations

import pytest

from llmask.errors import LimitExceeded
from llmask.frontends.regex.budget import Budget, Kind


def test_a_kind_of_steps_is_spent_on_its_own() -> None:
    few, many = Kind(3, "more than {} few", "Less."), Kind(5, "more than {} many", "Fewer.")
    budget = Budget()
    budget.spend(few, 3)
    budget.spend(many, 5)
    with pytest.raises(LimitExceeded) as caught:
        budget.spend(few, 1)
    assert str(caught.value) == "more than 3 few\n  Less."
