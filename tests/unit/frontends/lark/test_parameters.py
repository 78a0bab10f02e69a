"""llmask/frontends/lark/parameters.py: how parameters are written; what they mean is in tests/unit/grammar."""

from __future__ import annotations

import pytest

import llmask
from llmask.frontends.lark.parameters import read_change, read_condition
from llmask.frontends.places import Source


def test_a_parameter_ends_where_its_function_does() -> None:
    source = Source('a::set_bit( 3 ) "x" %if and( bit_set(1),\tlt([0:5], 0x10)) | "y"')
    change, end = read_change(source, 3)
    assert (change.function, change.number, source.text[end:][:4]) == ("set_bit", 3, ' "x"')
    condition, end = read_condition(source, source.text.index("%if") + 3)
    assert [inner.function for inner in condition.inner] == ["bit_set", "lt"]
    assert source.text[end:] == ' | "y"'


def test_conditions_nest_up_to_a_limit() -> None:
    text = "not(" * 30 + "true" + ")" * 30
    assert read_condition(Source(text), 0)[0].holds(0)
    with pytest.raises(llmask.LimitExceeded):
        read_condition(Source("not(" * 100 + "true" + ")" * 100), 0)
