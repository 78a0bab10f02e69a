"""Hostile schemas end with a grammar or an error that says where, within limits of time and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask.frontends.json_schema.reading.references import References
from tests.long import hostile
from tests.long.hostile import BAD, BUILD
from tests.long.subject import Subject
from tests.long.walks import Walker
from tests.long.workers import Worker, address_space, limit_memory

# Right, but slow: seconds each. `python -m tests.long hostile` runs them.
SLOW = {
    "allOf of anyOf, 3^20",
    "enum of 1,000,000 integers",
    "patternProperties that overlap 30-fold",
    "patternProperties that overlap 200-fold",
    "100,000 properties",
    "pattern: alternation of 5000 words",
    "enum of 10 MB",
    "enum of one text of 10 MB",
    "enum of 20,000 objects",
}

# About a second each: run with the full effort.
LONG = {
    "a key of 1 MB",
    "allOf of oneOf, 3^20",
    "conjunction of 24 patterns",
    "dependentRequired chain of 1,000",
    "dependentSchemas chain of 200",
    "not of 60 alternatives",
    "oneOf of 3,000 overlapping ranges",
}

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def walker(subject: Subject) -> Walker:
    return Walker(subject.tokenizer)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in LONG or " 100,000 deep" in name else ())
        for name in sorted(set(BUILD) - SLOW)
    ],
)
def test_a_hostile_schema_ends_well(name: str, subject: Subject, walker: Walker) -> None:
    outcome = hostile.tried(name, subject, walker)
    assert outcome.verdict == "", outcome


def test_what_is_listed_is_there() -> None:
    assert set(BUILD) >= SLOW
    assert len(BUILD) > 90


def asked(handler: Callable[[Any], Any], request: Any = None, timeout_s: float = 20) -> tuple[str, str]:
    """What became of a handler in a process of its own."""
    worker = Worker(lambda: handler, method="fork")
    try:
        reply = worker.ask(request, timeout_s)
        return reply.kind, str(reply.value)
    finally:
        worker.close()


def test_a_worker_tells_answers_errors_crashes_and_time_outs_apart() -> None:
    assert asked(lambda number: number + 1, 41) == ("done", "42")
    assert asked(lambda number: number / 0, 1) == ("error", "ZeroDivisionError: division by zero")
    assert asked(lambda number: os.kill(os.getpid(), 9)) == ("crash", "the process ended with exit code -9")
    assert asked(time.sleep, 60, 0.2) == ("timeout", "no answer after 0.2 s")


def test_a_worker_begins_again_after_a_crash() -> None:
    worker = Worker(lambda: lambda code: os._exit(code) if code else os.getpid(), method="fork")
    try:
        first = worker.ask(0, 20).value
        assert worker.ask(0, 20).value == first
        assert worker.ask(3, 20).kind == "crash"
        assert worker.ask(0, 20).value not in (first, os.getpid())
    finally:
        worker.close()


def test_memory_is_limited() -> None:
    def greedy(_request: None) -> int:
        limit_memory(address_space() + 2**26)
        return len(bytearray(2**28))

    kind, message = asked(greedy)
    assert (kind, message[:11]) == ("error", "MemoryError")


@pytest.mark.parametrize(
    ("schema", "seconds", "kind"),
    [
        (lambda: {"type": "integer", "minimum": "1"}, 5.0, "GrammarError"),
        (lambda: {"enum": list(range(300_000))}, 0.05, "timeout"),
        (lambda: {"enum": [object()]}, 5.0, "GrammarError"),
    ],
)
def test_an_outcome_says_how_a_schema_ended(
    schema: Any, seconds: float, kind: str, subject: Subject, walker: Walker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BUILD, "made up", schema)
    monkeypatch.setattr(hostile, "CPU_SECONDS", seconds)
    monkeypatch.setattr(hostile, "WALL_FACTOR", 100)
    outcome = hostile.tried("made up", subject, walker)
    assert outcome.kind == kind
    assert outcome.verdict == (BAD if kind == "timeout" else "")
    assert "made up" in hostile.text_of([outcome])


BESIDE = {"properties": {"q": {"type": "integer"}}, "required": ["q"]}
AROUND: dict[str, Callable[[Any], dict[str, Any]]] = {
    "oneOf": lambda circle: {"oneOf": [{"properties": {"next": circle}}, BESIDE]},
    "anyOf": lambda circle: {"anyOf": [{"properties": {"next": circle}}, BESIDE]},
    "oneOf, told apart": lambda circle: {
        "oneOf": [{"properties": {"k": {"const": n}, "n": circle}, "required": ["k"]} for n in range(2)]
    },
    "not": lambda circle: {"oneOf": [{"properties": {"next": {"not": circle}}}, {"properties": {"next": circle}}]},
}
NAMED: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "pointers": lambda own, other: {"$ref": f"#/$defs/{other}"},
    "pointers, described": lambda own, other: {"$ref": f"#/$defs/{other}", "description": "none"},
    "identifiers": lambda own, other: {"$id": f"http://x/{own}", "$ref": f"http://x/{other}"},
    "anchors": lambda own, other: {"$anchor": own, "$ref": f"#{other}"},
}


@pytest.mark.parametrize("closed", [False, True], ids=["open", "closed"])
@pytest.mark.parametrize("n_links", [1, 2, 3])
@pytest.mark.parametrize("way", NAMED)
@pytest.mark.parametrize("around", AROUND)
def test_what_is_nothing_but_references_to_itself_is_refused(
    around: str, way: str, n_links: int, closed: bool, tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a look at the properties of alternatives followed such references without end
    resolve, followed = References.resolve, iter(range(2000))

    def noted(*arguments: Any, **others: Any) -> Any:
        assert next(followed, None) is not None, "references are followed without end"
        return resolve(*arguments, **others)

    monkeypatch.setattr(References, "resolve", noted)
    links = {f"d{n}": NAMED[way](f"d{n}", f"d{(n + 1) % n_links}") for n in range(n_links)}
    schema = {**AROUND[around]({"$ref": "#/$defs/d0"}), "$defs": links}
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    with pytest.raises(llmask.GrammarError, match="refers to itself without describing anything"):
        compiler.json_schema(schema, closed=closed)
