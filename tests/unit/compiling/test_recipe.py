"""Recipes, and the order in which their parts are made."""

from __future__ import annotations

from llmask.compiling.recipe import Recipe


def test_parts_come_once_and_before_what_they_are_in() -> None:
    one, other = Recipe("regex", "a"), Recipe("regex", "a")  # equal, and two
    both = Recipe("union", parts=(one, other))
    whole = Recipe("concat", parts=(both, Recipe("optional", parts=(both,))))
    order = whole.in_order()
    assert [id(recipe) for recipe in order].count(id(both)) == 1
    assert len(order) == 5
    assert order[-1] is whole
    for place, recipe in enumerate(order):
        assert all(any(part is before for before in order[:place]) for part in recipe.parts)


def test_long_chains_take_no_recursion_and_doubled_ones_no_time() -> None:
    recipe = Recipe("regex", "a")
    for _ in range(5000):
        recipe = Recipe("concat", parts=(recipe, recipe))
    assert len(recipe.in_order()) == 5001
