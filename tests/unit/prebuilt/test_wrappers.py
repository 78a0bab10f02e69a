"""Wrappers of doors as LLVM IR: what they can pass, and what they refuse to be written for."""

from __future__ import annotations

import llvmlite.binding as llvm
import pytest

from llmask.prebuilt.wrappers import Door, wrappers

TRIPLE = "x86_64-unknown-linux-gnu"
LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"


def test_a_module_with_a_table_of_all_doors_is_sound() -> None:
    doors = [
        Door("plain", "int64(int64, int64)", "native_plain", holds_lock=False),
        Door("arrays", "void(int64, int32[:, ::1], boolean[::1])", "native_arrays", holds_lock=True),
        Door("nothing", "int64()", "native_nothing", holds_lock=False),
    ]
    module = llvm.parse_assembly(str(wrappers(doors, TRIPLE, LAYOUT)))
    module.verify()
    assert {"llmask_door_plain", "llmask_door_arrays", "llmask_door_nothing"} <= {f.name for f in module.functions}
    table = module.get_global_variable("llmask_methods")
    assert "[4 x " in str(table)
    released = [str(module.get_function(f"llmask_door_{door.name}")).count("@PyEval_SaveThread") for door in doors]
    assert released == [1, 0, 1]


def test_arguments_are_read_off_the_signature() -> None:
    door = Door("a", "void(int64, int32[:, ::1], uint8[::1])", "b", holds_lock=False)
    assert door.arguments == [("int64", 0), ("int32", 2), ("uint8", 1)]
    assert door.result == "void"
    assert Door("a", "int64()", "b", holds_lock=False).arguments == []


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("int32[::1](int64)", "a returns int32.*: a door returns int64 or void"),
        ("float64(int64)", "a returns float64"),
        ("int64(int32)", "a takes int32: a number is int64"),
        ("int64(float64)", "a takes float64"),
        ("int64(float32[::1])", "an array one of int64, int32"),
    ],
)
def test_what_a_wrapper_cannot_pass_is_refused(signature: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wrappers([Door("a", signature, "b", holds_lock=False)], TRIPLE, LAYOUT)
