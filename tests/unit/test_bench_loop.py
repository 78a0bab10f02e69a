"""The documents of `bench.loop` follow their schemas, and its ratio is to the better peer."""

from __future__ import annotations

import jsonschema
import pytest

from bench.loop import SCHEMAS, document, line


@pytest.mark.long
@pytest.mark.parametrize("name", SCHEMAS)
def test_every_row_writes_a_valid_document_of_its_own(name: str) -> None:
    documents = [document(name, row) for row in range(256)]
    for written in documents:
        jsonschema.validate(written, SCHEMAS[name])
    assert len({str(written) for written in documents}) == 256


def test_the_ratio_is_that_of_medians_to_the_better_peer() -> None:
    times = {"llmask": [10.0, 20.0, 90.0], "xgrammar": [80.0], "llguidance": [40.0, 40.0], "llama.cpp": [1.0]}
    shown = line("text", 8, times, ["llmask", "xgrammar", "outlines-core"])
    assert shown == "| text | 8 | 20 / 40 | 80 / 80 | - | 0.50 |"
    assert line("text", 8, {"llmask": [10.0]}, ["llmask"]).endswith("| 10 / 10 | - |")
