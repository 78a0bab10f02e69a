"""Stores that are in use, found by what arrives."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import llmask
from llmask.compiling.stores import is_outgrown, new_store, store_in_use
from llmask.store.store import Store


def byte_tokenizer() -> llmask.Tokenizer:
    return llmask.Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b""], eos=256)


@pytest.fixture
def tokenizer() -> llmask.Tokenizer:
    return byte_tokenizer()


def test_a_store_with_the_same_settings_is_shared(tokenizer: Any) -> None:
    limits, others = llmask.Limits(), llmask.Limits(max_rows=5000)
    settings = [(limits, (), False), (others, (), False), (limits, ("[^*]+",), False)]
    stores = [store_in_use(tokenizer, *setting) for setting in settings]
    assert len(set(map(id, stores))) == 3
    for setting, store in zip(settings, stores, strict=True):
        assert store_in_use(tokenizer, *setting) is store
        assert (store.limits, store.slices, store.is_canonical) == setting
    assert store_in_use(byte_tokenizer(), *settings[0]) is not stores[0]


def test_a_canonical_store_is_another_one(default_tokenizer: Any) -> None:
    plain, canonical = (store_in_use(default_tokenizer, llmask.Limits(), (), flag) for flag in (False, True))
    assert (plain.is_canonical, canonical.is_canonical) == (False, True)


def test_the_store_of_a_compiler_is_found(tokenizer: Any) -> None:
    compiler = llmask.Compiler(tokenizer)
    assert store_in_use(tokenizer, llmask.Limits(), (), False) is compiler._newest_store()


def test_nothing_is_kept_that_nobody_uses() -> None:
    tokenizer = byte_tokenizer()
    store = weakref.ref(store_in_use(tokenizer, llmask.Limits(), (), False))
    gc.collect()
    assert store() is None
    held = weakref.ref(tokenizer)
    new_store(tokenizer, llmask.Limits(), (), False)
    del tokenizer
    gc.collect()
    assert held() is None


def test_an_outgrown_store_is_followed_by_another(tokenizer: Any) -> None:
    limits = llmask.Limits(renew_store_bytes=1)
    store = store_in_use(tokenizer, limits, (), False)
    assert is_outgrown(store)
    assert store_in_use(tokenizer, limits, (), False) is not store


def test_threads_that_come_together_get_one_store(tokenizer: Any) -> None:
    found: list[Store] = []
    begin = threading.Barrier(6)

    def look() -> None:
        begin.wait()
        found.append(store_in_use(tokenizer, llmask.Limits(), (), False))

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(map(id, found))) == 1
