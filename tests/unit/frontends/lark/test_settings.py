"""Settings of `%llguidance`."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.lark.settings import SettingsOfGrammar, read_settings
from llmask.frontends.places import Spot


def read(**settings: Any) -> SettingsOfGrammar | None:
    return read_settings({name: (value, Spot.nowhere()) for name, value in settings.items()})


def test_settings_are_read() -> None:
    assert read_settings(None) is None
    assert read() == SettingsOfGrammar()
    assert read(no_forcing=True, allow_invalid_utf8=False) == SettingsOfGrammar()
    assert read(skip_repetition="once") == SettingsOfGrammar(ignores_once=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"other": 1},
        {"no_forcing": 1},
        {"allow_invalid_utf8": True},
        {"skip_repetition": "x"},
        {"allow_initial_skip": False},
    ],
)
def test_what_is_not_supported_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(GrammarError):
        read(**settings)
