"""Names of earlier releases go on working, and are not among those that are shown."""

from __future__ import annotations

import warnings

import pytest

import llmask


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("AppendableEncoder", "counting.AppendableEncoder"),
        ("PrependableEncoder", "counting.PrependableEncoder"),
        ("IntervalCounter", "counting.IntervalCounter"),
        ("warm_up", "warm"),
    ],
)
def test_an_old_name_is_what_its_successor_is(old: str, new: str) -> None:
    found = llmask
    for name in new.split("."):
        found = getattr(found, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert getattr(llmask, old) is found
    assert old not in llmask.__all__


def test_the_old_name_of_warming_a_tokenizer(tiny_tokenizer: llmask.Tokenizer) -> None:
    assert tiny_tokenizer.prepare == tiny_tokenizer.warm  # type: ignore[attr-defined]
    assert "prepare" not in dir(tiny_tokenizer)
    with pytest.raises(AttributeError, match="no attribute 'prepared'"):
        tiny_tokenizer.prepared  # type: ignore[attr-defined] # noqa: B018
