"""The stream of requests (bench/requests.py): who is live when, whose time is counted, and what the table says."""

from __future__ import annotations

from typing import Any

import pytest

from bench import requests
from bench.data import Instance, Row
from bench.engines import CompileError
from bench.requests import CUT, FAILED, REFUSED, SERVED, Request, serve

MS = 1_000_000
END = 99


class Timer:
    """A clock that goes on only when an engine works."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


class Engine:
    """Allows any token below 10, and the end; its calls take what a schema says."""

    eos_ids = (END,)
    n_missing: int | None = None

    def __init__(self, timer: Timer) -> None:
        self.timer = timer
        self.filled: list[str] = []

    def compile(self, schema: Any) -> Any:
        if schema == 0:
            raise RuntimeError("a fault of the engine's own")
        if schema is None:
            raise CompileError("no")
        self.timer.now += schema.get("compile", 0)
        return schema

    def start(self, grammar: Any) -> Any:
        return grammar

    def read_documents(self, grammar: Any) -> None:
        self.timer.now += grammar.get("ahead", 0)

    def fill(self, sequence: Any) -> None:
        if sequence["name"] == "faulty":
            raise RuntimeError("a fault of the engine's own")
        self.filled.append(sequence["name"])
        self.timer.now += sequence.get("fill", 1000)

    def is_allowed(self, token: int) -> bool:
        return token < 10 or token == END

    def accept(self, sequence: Any, token: int) -> bool:
        self.timer.now += sequence.get("accept", 500)
        return True


def run(schemas: list[Any], arrivals: list[float], most_live: int = 8, ids: tuple[int, ...] = (1, 2)) -> Any:
    timer = Timer()
    engine: Any = Engine(timer)
    stream = [Request(str(number), schema, [*ids]) for number, schema in enumerate(schemas)]
    return serve(engine, stream, arrivals, most_live, 0.008, timer), engine


def test_a_request_takes_a_step_a_token_and_one_for_its_end() -> None:
    found, engine = run([{"name": "a", "compile": 7000}], [1.0])
    assert engine.filled == ["a"] * 3
    assert found.outcomes == {0: SERVED}
    assert found.engine_us == {0: pytest.approx(7 + 3 * 1 + 2 * 0.5)}
    assert found.compile_us == {0: 7}
    assert [step.us for step in found.steps] == [1.5, 1.5, 1.0]
    assert found.seconds == pytest.approx(1 + 7e-6 + 3 * 0.008 + 2 * 0.5e-6)


def test_the_model_waits_for_masks_that_take_longer_than_it_does() -> None:
    found, _ = run([{"name": "a", "fill": 9 * MS, "accept": MS}], [0.0])
    assert [(step.is_late, step.is_long) for step in found.steps] == [(True, True)] * 3
    assert found.seconds == pytest.approx(3 * 0.009 + 2 * 0.001)
    found, _ = run([{"name": "a", "fill": 7 * MS}], [0.0])
    assert not any(step.is_late for step in found.steps)
    assert found.seconds == pytest.approx(3 * 0.008 + 2 * 0.5e-6)


def test_a_schema_that_compiles_slowly_lets_later_ones_go_first() -> None:
    _, engine = run([{"name": "slow", "compile": 100 * MS}, {"name": "fast"}], [0.0, 0.001])
    assert engine.filled == ["fast"] * 3 + ["slow"] * 3


def test_no_more_are_live_than_there_is_room_for() -> None:
    found, engine = run([{"name": "a"}, {"name": "b"}, {"name": "c"}], [0.0, 0.0, 0.0], most_live=2)
    assert engine.filled == ["a", "b"] * 3 + ["c"] * 3
    assert len(found.steps) == 6
    assert found.steps[0].us == 3


def test_refused_schemas_and_documents_are_told_apart() -> None:
    found, _ = run([None, {"name": "a"}], [0.0, 0.5])
    assert found.outcomes == {0: REFUSED, 1: SERVED}
    assert found.engine_us.keys() == {1}
    found, _ = run([{"name": "a"}], [0.0], ids=(1, 50, 2))
    assert found.outcomes == {0: CUT}
    assert found.engine_us == {}


def test_a_fault_of_the_engine_ends_one_request_and_not_the_stream() -> None:
    found, engine = run([{"name": "faulty"}, 0, {"name": "a"}], [0.0, 0.0, 0.0])
    assert found.outcomes == {0: FAILED, 1: FAILED, 2: SERVED}
    assert engine.filled == ["a"] * 3


def test_schemas_differ_and_documents_are_valid() -> None:
    one, other = Instance(True, None, [1]), Instance(False, None, [2])
    rows = [
        Row("a", {"x": 1}, [other, one]),
        Row("copy", {"x": 1}, [one]),
        Row("invalid", {"y": 1}, [other]),
        Row("regex", "x", [one], "regex"),
        Row("b", {"z": 1}, [one]),
    ]
    drawn = requests.draw_requests(rows, 10, seed=1)
    assert sorted(str(request.schema) for request in drawn) == ["{'x': 1}", "{'z': 1}"]
    assert all(request.ids == [1] for request in drawn)
    assert requests.draw_requests(rows, 10, seed=1) == drawn
    assert len(requests.draw_requests(rows, 1, seed=1)) == 1


def test_arrivals_ascend_at_the_rate_that_is_asked_for() -> None:
    times = requests.draw_arrivals(20_000, 4.0, seed=1)
    assert times == sorted(times)
    assert times[-1] / 20_000 == pytest.approx(1 / 4, rel=0.05)
    stream = [Request("a", {}, [1] * 9), Request("b", {}, [1] * 29)]
    assert requests.rate(stream, live=16, model_s=0.008, load=0.5) == pytest.approx(0.5 * 16 / (20 * 0.008))


def test_the_table_compares_requests_that_all_engines_serve() -> None:
    steps = [requests.Step(1000.0, True, False, True, n_live=3), requests.Step(8.0, False, True, False, n_live=1)]
    one = requests.Run({0: SERVED, 1: SERVED}, {0: 1000.0, 1: 9000.0}, {0: 500.0, 1: 8000.0}, steps, 2.0, 40.0)
    other = requests.Run({0: SERVED, 1: REFUSED}, {0: 3000.0}, {0: 2000.0}, [], 0.0)
    assert requests.table({4: {"one": one, "other": other}}).splitlines()[2:] == [
        "| 4 | one | 2 / 0 / 0 / 0 | 1.00 / 1.00 / 1.00 | 0.50 | 252.0 | 262.0 "
        "| 1.00 / 1.00 / 1.00 | 100.0% | 0.0% | - |",
        "| 4 | other | 1 / 1 / 0 / 0 | 3.00 / 3.00 / 3.00 | 2.00 | 0.0 | 0.0 | - | 0.0% | 0.0% | - |",
    ]
    assert requests.from_json(requests.as_json(one)) == one
