"""`subject`: llmask with the options that the conformance tools ask for."""

from __future__ import annotations

import pytest

from tests.long.subject import Subject


@pytest.fixture(scope="session")
def subject() -> Subject:
    return Subject()
