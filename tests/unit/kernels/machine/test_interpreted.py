"""Interpreted kernels do what compiled ones do, bit for bit; their primitives beside those of compiled code."""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.kernels.machine import interpreted
from tests.conftest import tiny_vocabulary
from tests.processes import fresh_python

CASES: dict[str, tuple[str, Any, bytes]] = {
    "members": (
        "json_schema",
        {"type": "object", "properties": {"a": {"minimum": 3}, "b": {"enum": ["x", "yy"]}}, "required": ["a"]},
        b'{"a": 12, "b": "yy"}',
    ),
    "bounded": ("json_schema", {"type": "string", "minLength": 2, "maxLength": 4}, b'"a\\n\xc3\xa9"'),
    "unique": (
        "json_schema",
        {"type": "array", "items": {"type": "string", "maxLength": 2}, "uniqueItems": True, "maxItems": 3},
        b'["a","b", "cc"]',
    ),
    "unique objects": (
        "json_schema",
        {"type": "array", "items": {"properties": {"a": {"type": "boolean"}}}, "uniqueItems": True},
        b'[{"a": true}, {"a": false}]',
    ),
    "keys in any order": (
        "json_schema",
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["b"], "patternProperties": {"^c": False}},
        b'{"b": 1, "a": null, "d": []}',
    ),
    "arithmetic": ("lark", 'start: x\nx: x "+" y | y\ny: "(" x ")" | /[0-9]+/\n%ignore /[ ]+/', b"(1 + 22)+3"),
    "text": ("lark", 'start: TEXT "!"\nTEXT: (/[a-z ]*/ & ~/.*end.*/)', b"the en!"),
    "tokens": ("lark", "start: <|tool|> /[a-c]{1,3}/", b""),
    "pattern": ("regex", r"(ab|a)(c|bcd)+\d{2,5}", b"abcdbcd123"),
    "bnf": ("gbnf", 'root ::= "a" root "b" | [x-z]{1,3}', b"aaxyzbb"),
}


def digests(name: str) -> list[str]:
    """What comes out of the kernels on the way through a document: masks, ends, a mask applied, what all of it took."""
    tokens, eos, special = tiny_vocabulary()
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=eos, special=special)
    kind, text, document = CASES[name]
    options = {"property_order": "any"} if "order" in name else {}
    compiler = llmask.Compiler(tokenizer)
    grammar = getattr(compiler, kind)(text, **options)
    bitmask = llmask.allocate_bitmask(1, len(tokens))
    logits = np.linspace(-1, 1, len(tokens), dtype=np.float32)[None]
    found = []
    for budget in (None, 40):
        matcher = grammar.matcher()
        for at in range(len(document) + 1):
            matcher.fill_bitmask(bitmask, budget=budget)
            found.append(hashlib.sha256(bitmask.tobytes()).hexdigest()[:8])
            found.append(str(matcher.is_accepting()))
            if at < len(document):
                matcher.accept_token(tokens.index(document[at : at + 1]))
        llmask.apply_bitmask(logits, bitmask)
        found.append(hashlib.sha256(logits.tobytes()).hexdigest()[:8])
    return [
        *found,
        str(grammar.statistics()),
        *(f"{key} {n}" for key, n in compiler.statistics().items() if "wait" not in key),
    ]


REPORT = "import json; from tests.unit.kernels.machine.test_interpreted import CASES, digests; " + (
    "print(json.dumps({name: digests(name) for name in CASES}))"
)


@pytest.fixture(scope="module")
def in_python() -> dict[str, list[str]]:
    """The digests of interpreted kernels."""
    done = fresh_python("-c", REPORT, LLMASK_KERNELS="python")
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_the_debugger_stops_where_the_page_shows_it(project_root: Path, tmp_path: Path) -> None:
    page = (project_root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```pycon\n(.*?)```", page, re.DOTALL)
    _, script, session = re.split(r"^\$ .*\n", textwrap.dedent(shown), flags=re.MULTILINE)
    (tmp_path / "step.py").write_text(script, encoding="utf-8")
    lines = session.splitlines()
    typed = "".join(f"{line.removeprefix('(Pdb) ')}\n" for line in lines if line.startswith("(Pdb) "))
    done = fresh_python("step.py", folder=tmp_path, given=typed, LLMASK_KERNELS="python")
    printed = [line.removeprefix("(Pdb) ") for line in done.stdout.splitlines()]
    for line in lines:
        if not line.startswith("(Pdb) "):
            assert line in printed, done.stdout + done.stderr
            del printed[: printed.index(line) + 1]


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_masks_and_work_are_those_of_compiled_kernels(name: str, in_python: dict[str, list[str]]) -> None:
    assert in_python[name] == digests(name)


def test_another_value_of_the_variable_is_an_error() -> None:
    done = fresh_python("-c", "import llmask.kernels.engine", LLMASK_KERNELS="Python")
    assert "LLMASK_KERNELS is 'Python': set it to python, or not at all" in done.stderr


def test_numbers_that_do_not_fit_are_errors() -> None:
    place = np.zeros(2, np.int64).ctypes.data
    interpreted.store_i32(place, 2**32 - 1)
    assert interpreted.load_i32(place) == -1
    for store, number in ((interpreted.store_i32, 2**32), (interpreted.store_i64, 2**63), (interpreted.store_u8, 256)):
        with pytest.raises(ArithmeticError, match="does not fit"):
            store(place, number)


def test_numbers_have_64_bits() -> None:
    with np.errstate(over="ignore"):
        for left, right in ((2**62, 7), (-(2**63), -1), (3, -5), (0x9E3779B97F4A7C15 - 2**64, 2**40 + 9)):
            assert interpreted.wrapped_product(left, right) == np.int64(left) * np.int64(right)
            assert interpreted.wrapped_sum(left, right) == np.int64(left) + np.int64(right)
    assert interpreted.shift_right(-1, 60) == 15
    assert interpreted.lowest_bit(-(2**63)) == 63
    assert interpreted.count_bits(-1) == 64


def test_doors_take_arrays_of_their_types_only() -> None:
    @interpreted.door("int64(int64, int32[:, ::1], boolean[::1])", group="none")
    def first(number: int, rows: Any, flags: Any) -> int:
        return number + int(rows[0, 1]) + int(flags[0]) + rows.shape[1]

    flags = np.ones(1, bool)
    assert first(np.int64(1), np.full((1, 2), 5, np.int32), flags) == 9
    with pytest.raises(TypeError, match="an array of int64, where it takes int32"):
        first(1, np.zeros((1, 2), np.int64), flags)
