"""What takes long in small, and that each of these tests would see a fault. In full: `python -m tests.long`."""

from __future__ import annotations

import json
import subprocess
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask.matching.sequence import Sequence
from tests.conftest import SEED
from tests.long import bits, kinds, planted, soak
from tests.long.__main__ import ATTACKS, TOOLS, listing, main
from tests.long.harness import Tally, run_attack

SMALL = {
    "bits": 12_000,
    "patterns": 40,
    "lark": 80,
    "gbnf": 8,
    "formats": 90,
    "xgrammar": 25,
    "files": 2,
    "forks": 1,
    "interrupts": 15,
    "misuse": 200,
    "strangers": 3,
    "soak": 1,
    "stalls": 2,
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "soak" else []) for name in SMALL]
)
def test_an_attack_finds_nothing_wrong(
    name: str, monkeypatch: pytest.MonkeyPatch, costly: Callable[[int], int]
) -> None:
    monkeypatch.setattr(soak, "MINUTE", 10.0)  # a thread has to come to a step in it, also on a busy machine
    size = costly(SMALL[name])
    tally = run_attack(name, SEED, size)
    if tally.skipped is not None:
        pytest.skip(tally.skipped)
    assert not tally.wrong
    assert not tally.hung
    assert tally.done >= size


def test_schemas_of_every_kind_are_followed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["kinds", "--sizes", "5"]) == 0
    cases = [("taken", {}, {}, {}), ("refused", {"type": "object"}, [], 1), ("no schema", {"type": "x"}, {}, None)]
    monkeypatch.setattr(kinds, "about_keys", lambda n: cases)
    assert main(["kinds", "--sizes", "1"]) == 1
    table = capsys.readouterr().out
    assert all(wrong in table for wrong in ("a wrong document is taken", "ends after 1", "GrammarError"))


def test_faults_are_planted_in_operators(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(
        "A = 1 + 2\n\n\n@kernel\ndef f(a, b):\n    return (a < b) and not a - 1 == b >> 2\n"
    )
    faults = planted.faults_of(tmp_path / "kernels.py")
    assert sorted((line, begin, turned) for line, begin, _, turned in faults) == [
        (5, 14, "<="), (5, 19, "or"), (5, 29, "+"), (5, 33, "!="), (5, 38, "<<"),
    ]  # fmt: skip


def test_the_list_names_every_attack_with_its_purpose() -> None:
    lines = listing().splitlines()
    assert [line.split()[0] for line in lines] == [*ATTACKS, *TOOLS]
    assert all(line.endswith((".", "`.")) for line in lines)


@pytest.mark.slow
def test_a_command_prints_one_line_of_json_and_is_repeated_by_its_seed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llmask, "warm", lambda: None)
    summaries = []
    for _ in range(2):
        assert main(["lark", "--seed", "5", "--size", "60", "--output", str(tmp_path)]) == 0
        (line,) = capsys.readouterr().out.splitlines()
        summaries.append(json.loads(line))
        assert json.loads((tmp_path / "lark-5.json").read_text())["sums"] == summaries[-1]["sums"]
    assert summaries[0]["sums"] == summaries[1]["sums"]
    assert {"seed": 5, "size": 60, "wrong": 0, "hung": 0, "skipped": None}.items() <= summaries[0].items()


@pytest.mark.parametrize("case", ["as it must be", "slow", "memory", "error"])
def test_grammars_that_take_too_much_or_raise_are_found(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    doors = iter(["nothing"] if case == "error" else [])

    def made(compiler: llmask.Compiler) -> Any:
        return getattr(compiler, next(doors, "gbnf"))('root ::= "a"')

    monkeypatch.setattr(bits, "_case", lambda language, rng: ("text", made))
    if case == "slow":
        monkeypatch.setattr(bits, "MOST_SECONDS", -1.0)
    if case == "memory":
        monkeypatch.setattr(bits, "MOST_BYTES", -1)
    tally = run_attack("bits", 1, 1)
    told = {"slow": "slow: ", "memory": "MiB of memory", "error": "compiling raises AttributeError"}
    assert bool(tally.wrong) == (case in told)
    assert any(told.get(case, "") in wrong for wrong in tally.wrong) == (case in told)


@pytest.mark.parametrize("name", ["patterns", "lark", "formats"])
def test_a_door_that_takes_every_text_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(f"tests.long.{name}.accepts", lambda matcher, text: True)
    monkeypatch.setattr(llmask, "warm", lambda: None)
    code = main([name, "--seed", "1", "--size", "40"])
    found = json.loads(capsys.readouterr().out)
    if found["skipped"]:
        pytest.skip(found["skipped"])
    assert code == 1
    assert found["wrong"] > 0
    assert found["cases"][0].startswith("case 1 ")


@pytest.mark.slow
def test_a_mask_without_its_first_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fill, calls = llmask.Matcher.fill_bitmask, []

    def fill_too_little(self: Any, bitmask: Any, row: int = 0) -> bool:
        found = fill(self, bitmask, row)
        calls.append(self)
        if len(calls) > 20 and len(calls) % 2 and bitmask[row, 1:].any():
            bitmask[row, 0] = 0
            bitmask[row, 1] &= ~1
        return found

    monkeypatch.setattr(llmask.Matcher, "fill_bitmask", fill_too_little)
    tally = run_attack("bits", 1, 60)
    assert tally.wrong
    assert tally.code == 1


def test_a_state_that_is_not_settled_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sequence, "_settle", lambda self: None)
    assert run_attack("interrupts", 1, 20).wrong


@pytest.mark.long
def test_an_error_that_is_not_llmasks_own_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llmask.Matcher, "rollback", lambda self, n: [][n])
    tally = run_attack("misuse", 1, 200)
    assert any("Matcher.rollback" in wrong for wrong in tally.wrong)


@pytest.mark.long
def test_what_raises_after_the_compile_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmask.matching.budget.FINISH_WORK", 0)
    monkeypatch.setattr(llmask.Limits, "for_untrusted", lambda: llmask.Limits(max_step_work=50))
    tally = run_attack("strangers", 1, 5)
    assert any("after the compile" in wrong for wrong in tally.wrong)
    assert tally.sums["healthy steps"] > 0


def test_that_no_healthy_sequence_took_a_step_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small vocabularies each of them met the limit in its first step, and the percentiles of no waits raised."""
    monkeypatch.setattr("tests.long.strangers._Healthy.step", raise_a_limit)
    tally = run_attack("strangers", 1, 1)
    assert any("a healthy sequence raises LimitExceeded" in wrong for wrong in tally.wrong)
    assert any("no healthy sequence took a step" in wrong for wrong in tally.wrong)
    assert tally.sums["healthy steps"] == 0


def raise_a_limit(*_: object) -> None:
    raise llmask.LimitExceeded("one step takes more than it may")


def test_what_is_missing_is_a_skip_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    tally = run_attack("patterns", 1, 10)
    assert tally.skipped is not None
    assert "regex is not installed" in tally.skipped
    assert (tally.code, tally.done) == (0, 0)


def test_what_hangs_is_a_fault() -> None:
    tally = Tally(1, 1)
    tally.hung.append("case 1 0")
    assert tally.code == 1
    assert tally.summary("forks")["cases"] == ["case 1 0"]


def test_a_case_without_an_end_ends_the_process_with_its_summary(project_root: Path) -> None:
    code = (
        "import time; from tests.long import harness\n"
        "harness.HANG_SECONDS = 0.1\n"
        "tally = harness.Tally(3, 1)\n"
        "harness.watch('files', tally)\n"
        "for _ in tally.cases(): time.sleep(60)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=project_root, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["hung"] == 1
    assert "case 3 0" in ended.stdout


def test_more_work_in_the_same_steps_is_told_from_other_steps() -> None:
    before = [array("d", [1.0] * 980 + [7.0] * 20), array("d", [2.0] * 1000)]
    longer = [before[0] + array("d", [900.0] * 400), before[1][:600]]
    assert soak.more_work(before, longer) == 0
    grown = [array("d", [1.1 * units for units in work]) for work in before]
    assert soak.more_work(before, grown) == pytest.approx(0.1)


def test_a_soak_refuses_what_grows() -> None:
    tally = Tally(7, 40)
    soak.judge(tally, 0.049, -0.049)
    assert not tally.wrong
    soak.judge(tally, 0.051, 0.049)
    soak.judge(tally, 0.049, -0.051)
    assert tally.wrong == [
        "case start: memory moves: by 5.1% since minute 10",
        "case start: work of a step moves: by -5.1% since minute 10",
    ]


@pytest.mark.parametrize(("leak", "moved"), [(0.0, 0.0), (3.0, 0.12)])
def test_more_memory_in_the_same_minutes(leak: float, moved: float) -> None:
    rows = [
        {"minute": minute, "resident MiB": 400 + 25 * (minute % 5) + (minute // 25 * 90) % 180 + leak * minute}
        for minute in [*range(1, 31), *range(31, 38)]
    ]
    for row in rows[30:]:
        row["resident MiB"] = rows[row["minute"] - 21]["resident MiB"] + 20 * leak
    assert soak.more_memory(rows) == pytest.approx(moved, abs=0.01)
