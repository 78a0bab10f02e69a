"""Servers bound grammars of strangers, unless their environment says otherwise."""

from __future__ import annotations

import pytest

from llmask.errors import LlmaskError
from llmask.integrations.limits import LIMITS_VARIABLE, limits_of_process
from llmask.limits import Limits


def test_the_environment_chooses_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMITS_VARIABLE, raising=False)
    assert limits_of_process() == Limits.for_untrusted()
    monkeypatch.setenv(LIMITS_VARIABLE, "default")
    assert limits_of_process() == Limits()
    monkeypatch.setenv(LIMITS_VARIABLE, "none")
    with pytest.raises(LlmaskError, match="LLMASK_LIMITS"):
        limits_of_process()
