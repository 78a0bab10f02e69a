"""Stores with what every grammar needs, and those that are in use already, for grammars that arrive from elsewhere.

A compiler begins a store of its own. A grammar that comes out of a pickle joins the newest one of its tokenizer, with
the same limits, slices and kind of masks, that somebody still uses: it lives as long as a grammar or a compiler of it.

In: a tokenizer and settings. Out: `Store`. Cost: 50 ms for 128,000 tokens; for one that is in use nothing.
"""

from __future__ import annotations

from contextlib import suppress
from weakref import WeakKeyDictionary, WeakValueDictionary

from .. import forks
from ..errors import LlmaskError
from ..frontends.json_schema import SchemaOptions
from ..limits import Limits
from ..mask.apply import allocate_bitmask
from ..store.lock import Waits
from ..store.store import Store
from ..tokenizer.tokenizer import Tokenizer
from ..work import unmetered
from .compiled import MadeGrammar
from .making import made_schema
from .recipe import Recipe

_FIRST_DOCUMENT = b'{"a": [-1.5e3, "b\\n", true, null], "c" : {}}'
Settings = tuple[Limits, tuple[str, ...], bool]
_newest: WeakKeyDictionary[Tokenizer, WeakValueDictionary[Settings, Store]] = WeakKeyDictionary()
_arriving = forks.new_lock(forks.ARRIVALS)


def new_store(
    tokenizer: Tokenizer, limits: Limits, slices: tuple[str, ...], is_canonical: bool, waits: Waits | None = None
) -> Store:
    """A store in which strings, numbers, white space and punctuation of JSON are known already."""
    with unmetered():  # it is not the work of the grammar that happens to begin it
        store = Store(tokenizer, limits, slices, waits)
        _read(_FIRST_DOCUMENT, made_schema(store, Recipe("json_schema", True, SchemaOptions(limits=limits))))
        if is_canonical:
            from ..canonical.states import split_states_of

            store.canonical_table = split_states_of(tokenizer).new_table()
    with _arriving:
        _newest.setdefault(tokenizer, WeakValueDictionary())[limits, slices, is_canonical] = store
    return store


def _read(document: bytes, grammar: MadeGrammar) -> None:
    """Build the masks on the way through a document, as far as the vocabulary and the limits let it come."""
    matcher = grammar.matcher()
    bitmask = allocate_bitmask(1, grammar.tokenizer.vocab_size)
    with suppress(LlmaskError):  # a vocabulary without these bytes, or tight limits: whoever needs them will be told
        for byte in document:
            matcher.fill_bitmask(bitmask)
            matcher.accept_bytes(bytes([byte]))


def is_outgrown(store: Store) -> bool:
    """Whether the next grammar is to begin a new one."""
    return store.bytes_used > min(store.limits.renew_store_bytes, store.limits.max_store_bytes // 2)


def store_in_use(tokenizer: Tokenizer, limits: Limits, slices: tuple[str, ...], is_canonical: bool) -> Store:
    """The newest store with these settings that somebody uses, or a new one; several threads get the same."""
    with _arriving:
        known = _newest.get(tokenizer)
        store = None if known is None else known.get((limits, slices, is_canonical))
        if store is None or is_outgrown(store):
            store = new_store(tokenizer, limits, slices, is_canonical)
        return store
