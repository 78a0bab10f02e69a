"""Values with their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.structural_tags.places import Place

PLACE = Place({"a/b": ["x", ""], "yes": True, "n": 3.0, "none": None}, ())


def test_values_are_read() -> None:
    assert PLACE.flag("yes")
    assert PLACE.flag("none", True)
    assert PLACE.count("n") == 3
    assert PLACE.texts("none") == []
    assert not PLACE.has("none")
    assert [one.value for one in PLACE.below("a/b").elements()] == ["x", ""]


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: PLACE.texts("a/b"), "the string is empty\n  at #/a~1b/1"),
        (lambda: PLACE.flag("n"), "this is a number, where true or false is needed\n  at #/n"),
        (lambda: PLACE.count("n", 4), "this is 3, where a whole number of at least 4 is needed\n  at #/n"),
        (lambda: PLACE.count("yes"), "this is True, where a whole number of at least 0 is needed\n  at #/yes"),
        (lambda: PLACE.below("yes").some(), "this is a boolean, where an array is needed\n  at #/yes"),
        (lambda: PLACE.below("none").text(), "this is null, where a string is needed\n  at #/none"),
        (lambda: PLACE.below("n").check_fields((), (), "a tag"), "a tag is an object, not a number\n  at #/n"),
    ],
)
def test_errors_name_the_place(read: Callable[[], Any], message: str) -> None:
    with pytest.raises(GrammarError) as error:
        read()
    assert str(error.value).startswith(message)
