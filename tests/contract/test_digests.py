"""llmask's masks have the digests that the slow twin made, and the twin still makes them (bench/cases)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.expected import Expected, expected, sample_file, verify
from bench.make_digests import TwinMasks, masks_of, trie_of
from bench.vocabularies import vocabulary

KINDS_OF_WHITESPACE = ("flexible", "compact")


@pytest.mark.long
@pytest.mark.parametrize("whitespace", KINDS_OF_WHITESPACE)
def test_masks_of_our_own_cases_are_as_expected(whitespace: str) -> None:
    check_llmask(expected("own", whitespace, "default"), whitespace, "default")


@pytest.mark.parametrize("whitespace", KINDS_OF_WHITESPACE)
@pytest.mark.parametrize("name", ["llama3", "qwen2"])
def test_masks_of_a_sample_of_maskbench_are_as_expected(
    shared_dir: Path, name: str, whitespace: str, costly: Callable[[int], int]
) -> None:
    pytest.importorskip("tiktoken", reason="documents are tokenized by tiktoken: pip install '.[test]'")
    assert sample_file(name, whitespace).exists()
    entries = expected("maskbench", whitespace, name)
    check_llmask(entries[:: max(1, len(entries) // costly(len(entries) // 4))], whitespace, name, costly(25))


def check_llmask(entries: list[Expected], whitespace: str, name: str, n_positions: int = 100) -> None:
    from bench.engines.llmask import Llmask

    engine = Llmask(whitespace, name)
    results = [verify(engine, entry) for entry in entries]
    assert sum(result["positions"] for result in results) > n_positions
    assert [result for result in results if result["verdict"] != "equal"] == []


def test_the_twin_makes_the_digests_that_are_kept(costly: Callable[[int], int]) -> None:
    tokens = vocabulary("default")
    trie = trie_of(tokens)
    entries = expected("own", "flexible", "default")
    for entry in entries[:: max(1, len(entries) // costly(3))]:
        twin = TwinMasks(entry.row.schema, entry.row.kind, "flexible", tokens, trie)
        for instance, masks in zip(entry.row.instances, entry.masks, strict=True):
            found = masks_of(twin, instance.token_ids, set(range(len(instance.token_ids) + 1)))
            assert found == masks, f"{entry.id}: run python -m bench.make_digests and say why the masks have changed"


@pytest.mark.parametrize("whitespace", KINDS_OF_WHITESPACE)
def test_a_valid_case_is_read_to_its_end_and_an_invalid_one_is_not(whitespace: str) -> None:
    from bench.engines.llmask import Llmask

    engine = Llmask(whitespace, "default")
    for entry in expected("own", whitespace, "default"):
        grammar = engine.compile(entry.row.schema, entry.row.kind)
        for instance, masks in zip(entry.row.instances, entry.masks, strict=True):
            sequence = engine.start(grammar)
            is_accepted = all(engine.accept(sequence, token) for token in instance.token_ids)
            assert (is_accepted and engine.is_accepting(sequence)) == instance.is_valid, (entry.id, instance.data)
            assert len(masks) <= len(instance.token_ids) + 1
            assert len(masks) == len(instance.token_ids) + 1 or not instance.is_valid
