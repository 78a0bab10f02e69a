"""Dates and times: examples of RFC 3339 and its appendices, and Python's calendar."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats.times import DATE, DATE_TIME, TIME
from llmask.frontends.regex import compile_pattern
from tests.unit.frontends.json_schema.formats.conftest import Check

EXAMPLES = {
    "date": (
        ["2024-02-29", "2000-02-29", "1999-12-31", "2023-04-30", "0000-01-01", "9999-12-31"],
        ["2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-10", "2023-1-1", "20230101", "",
         "+2023-01-01",
         "2023-01-01 ", "2023-01-0１", "2023-01-00", "23-01-01"],
    ),
    "time": (
        ["12:00:00Z", "23:59:59.123+01:30", "00:00:00z", "23:59:60Z", "23:59:60.25-00:00", "08:30:06+23:59"],
        ["24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:00", "12:00Z", "12:00:00+24:00", "12:00:00.Z", "12:00:00,5Z",
         "23:59:60+00:01", "23:58:60Z", "1:00:00Z", "12:00:00+1:00", "12:00:00 Z", "12:00:00+00:60"],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "1998-12-31T23:59:60Z", "2020-01-01t00:00:00.5-08:00", "1985-04-12T23:20:50.52Z",
         "1937-01-01T12:00:27.87+00:20", "2015-06-30T23:59:60z"],
        ["2023-02-29T12:00:00Z", "2020-01-01 00:00:00Z", "2020-01-01T00:00:00", "2020-01-01", "T00:00:00Z",
         "2015-07-30T23:59:60Z", "2020-01-01T24:00:00Z", "2020-01-01T00:00:00ZZ", "2020-W01-1T00:00:00Z"],
    ),
    "duration": (
        ["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT1M", "P1Y2M3D", "P2W", "PT36H", "P1DT12H", "P1Y2M"],
        ["P", "PT", "P1", "4D", "P1D2H", "P2D1Y", "P1YT", "P1Y2W", "P1Y1D", "PT1H1S", "P1.5D", "-P1D", "PT1D", "p1d"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_rfc(examples: Check, name: str) -> None:
    examples(name, *EXAMPLES[name])


def test_every_day_of_the_calendar_and_no_other(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    node = compile_pattern(judge.nodes, f"^{DATE}$", "ecma")
    years = [1, 1900, 2000, 2023, 2024, *(rng.randrange(1, 10000) for _ in range(scaled(2)))]
    for year in years:
        for month in range(14):
            for day in range(33):
                try:
                    datetime.date(year, month, day)
                    is_day = True
                except ValueError:
                    is_day = False
                assert judge.nodes.matches(node, f"{year:04}-{month:02}-{day:02}".encode()) == is_day


def test_a_date_time_without_a_leap_second_is_a_date_and_a_time(judge: Any) -> None:
    nodes = judge.nodes
    no_leap = "(?!.*:60)"
    both, apart = (compile_pattern(nodes, f"^{no_leap}{text}$", "ecma") for text in (DATE_TIME, f"{DATE}[Tt]{TIME}"))
    assert nodes.is_empty(nodes.intersect([both, nodes.complement(apart)]))
    assert nodes.is_empty(nodes.intersect([apart, nodes.complement(both)]))
