"""A grammar that is pickled, and one that is saved, give the same masks in the workers of task queues."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import llmask

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 9}, "kind": {"enum": ["a", "bb"]}},
    "required": ["name", "kind"],
    "additionalProperties": False,
}
TEXT = '{"name": "Ada", "kind": "bb"}'
SECONDS = 120  # a queue that answers later hangs
PROJECT = str(Path(llmask.__file__).parents[1])


def masks_of(grammar: llmask.CompiledGrammar) -> str:
    """Digest of all masks of a document."""
    matcher = grammar.matcher()
    tokenizer = matcher.grammar.tokenizer
    words = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    found = hashlib.sha256()
    for token in [*tokenizer.encode(TEXT), None]:
        matcher.fill_bitmask(words)
        found.update(words.tobytes())
        if token is not None:
            matcher.accept_token(token)
    return found.hexdigest()


def masks_of_saved(tokenizer: llmask.Tokenizer, data: bytes) -> str:
    return masks_of(llmask.Compiler(tokenizer).load(data))


@pytest.fixture(scope="module")
def grammar() -> Any:
    return llmask.Compiler(llmask.Tokenizer.default()).json_schema(SCHEMA)


@pytest.fixture
def path_of_workers(monkeypatch: pytest.MonkeyPatch) -> str:
    """Workers import what this process does."""
    path = os.pathsep.join(filter(None, [PROJECT, os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    return path


@pytest.fixture
def dask_client(path_of_workers: str) -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="dask is not installed: pip install 'dask[distributed]'")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def ray_remote(path_of_workers: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install ray")
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 * 2**20,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path_of_workers}},
    )
    yield lambda function, *values: ray.get(ray.remote(num_cpus=0.5)(function).remote(*values), timeout=SECONDS)
    ray.shutdown()


@pytest.mark.filterwarnings("default")  # the queues' own
def test_workers_of_dask(grammar: Any, dask_client: Any) -> None:
    tokenizer = grammar.tokenizer
    expected = masks_of(grammar)
    assert dask_client.submit(masks_of, grammar).result(timeout=SECONDS) == expected
    assert dask_client.submit(masks_of_saved, tokenizer, grammar.save()).result(timeout=SECONDS) == expected


@pytest.mark.filterwarnings("default")
def test_workers_of_ray(grammar: Any, ray_remote: Any) -> None:
    tokenizer = grammar.tokenizer
    expected = masks_of(grammar)
    assert ray_remote(masks_of, grammar) == expected
    assert ray_remote(masks_of_saved, tokenizer, grammar.save()) == expected
