"""Servers bound grammars of strangers, unless their environment says otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from llmask.errors import LlmaskError
from llmask.integrations.limits import LIMITS_VARIABLE, compiler_of_server, limits_of_process
from llmask.limits import Limits


def test_the_environment_chooses_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS_VARIABLE, raising=False)
    assert limits_of_process() == Limits.for_untrusted()
    monkeypatch.setenv(LIMITS_VARIABLE, "default")
    assert limits_of_process() == Limits()
    monkeypatch.setenv(LIMITS_VARIABLE, "none")
    with pytest.raises(LlmaskError, match="LLMASK_LIMITS"):
        limits_of_process()


@pytest.mark.parametrize("limits", ["untrusted", "default"])
def test_warnings_of_a_new_grammar_are_logged_once_and_warn_nobody(
    byte_tokenizer: Any, limits: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, limits)
    compiler = compiler_of_server(byte_tokenizer)
    schema = {"properties": {f"p{n}": {"type": "string", "format": "x" * 2000} for n in range(50)}, "requird": []}
    with warnings.catch_warnings(), caplog.at_level("INFO"):
        warnings.simplefilter("error")
        for _ in range(2):
            compiler.json_schema(schema)
        compiler.json_schema({"type": "object"})
    (record,) = caplog.records
    told = record.getMessage()
    assert told.startswith('a grammar compiles with 51 warnings: "format" at #/properties/p0/format is not enforced')
    assert len(told) < 1100
