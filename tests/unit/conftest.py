"""`nodes`: regex nodes of either implementation, fresh for every module."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.both_nodes import KINDS, make_nodes


@pytest.fixture(scope="module", params=KINDS)
def nodes(request: pytest.FixtureRequest) -> Any:
    return make_nodes(request.param)
