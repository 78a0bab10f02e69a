"""Importing is cheap, a second process finds the compiled kernels, and no kernel is compiled twice."""

from __future__ import annotations

import json
import sys

import pytest

from llmask.kernels.machine.jit import PREBUILT
from tests.processes import fresh_python

RUN = """
import json, sys
import llmask
tokenizer = llmask.Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b""], eos=256)
schema = {"type": "array", "items": {"type": "integer", "maximum": 99}}
matcher = llmask.Compiler(tokenizer).json_schema(schema).matcher()
mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
allowed = []
for byte in b"[12,7]":
    matcher.fill_bitmask(mask)
    allowed.append(sum(int(word).bit_count() for word in mask.view("uint32")[0]))
    matcher.accept_token(byte)
print(json.dumps({"allowed": allowed, "ends": matcher.is_accepting()}))
"""


def test_importing_loads_no_compiler_and_no_framework() -> None:
    code = """
import sys, time
import numpy
started = time.perf_counter()
import llmask
elapsed = time.perf_counter() - started
heavy = {"numba", "llvmlite", "lark", "gguf", "torch", "transformers", "interegular", "jsonschema", "tiktoken"}
print(f"{elapsed:.3f}", *sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""
    done = fresh_python("-c", code)
    assert done.returncode == 0, done.stderr
    seconds, *heavy = done.stdout.split()
    sys.stdout.write(f"import llmask: {seconds} s after numpy\n")
    assert heavy == []


@pytest.mark.long
def test_a_schema_loads_nothing_of_grammars_in_text() -> None:
    code = RUN + 'print(*(name for name in sys.modules if name.startswith("llmask.")))'
    done = fresh_python("-c", code)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "llmask.frontends.json_schema" in loaded
    asked_for = ("llmask.frontends.lark", "llmask.frontends.bnf", "llmask.frontends.places", "llmask.grammar.lowering")
    more = ("llmask.grammar.expressions", "llmask.grammar.exact", "llmask.explaining", "llmask.samplers", "llmask.cli")
    assert sorted(name for name in loaded if name.startswith(asked_for + more)) == []


@pytest.mark.long
def test_a_second_process_starts_from_the_filled_cache() -> None:
    # numba's cache of self-recursive kernels aborted in the second process with an unresolved symbol.
    results = []
    for _ in range(2):
        done = fresh_python("-c", RUN)
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    assert results[0] == results[1]
    assert results[0]["ends"]
    assert "compiling" not in done.stderr


@pytest.mark.skipif(PREBUILT, reason="the kernels are prebuilt; LLMASK_PREBUILT=0 compiles them")
def test_every_door_is_compiled_for_one_signature() -> None:
    code = (
        RUN
        + """
from llmask.kernels.machine import compiling
doors = [door for group in compiling.DECLARED.values() for door, _ in group]
print(json.dumps({door.py_func.__name__: len(door.signatures) for door in doors}))
"""
    )
    done = fresh_python("-c", code)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts
    assert {name: count for name, count in counts.items() if count > 1} == {}
