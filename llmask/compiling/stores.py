"""Stores with what every grammar needs, and those that are in use already, for grammars that arrive in pickles.

A compiler begins a store of its own. A grammar that comes out of a pickle joins the newest one of its tokenizer, with
the same limits, slices and kind of masks, that somebody still uses: it lives as long as a grammar or a compiler of it.
A pickle holds what each grammar was compiled from, and the tokenizer, once for all that refer to it: tables hold
addresses and mean nothing elsewhere, and compiling again is quick. `MadeGrammar` itself cannot name what compiles it,
which is below it in the order of imports; `copyreg` is told here.

In: a tokenizer and settings; a grammar. Out: `Store`; the same grammar elsewhere. Cost: 50 ms for 128,000 tokens; for
one that is in use nothing. Of a pickle the tokenizer's bytes, once, and compiling.
"""

from __future__ import annotations

import copyreg
from contextlib import suppress
from typing import Any
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
from .made_grammar import MadeGrammar
from .making import made, made_schema
from .recipes import Recipe, loaded

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


def arrived_grammar(
    tokenizer: Tokenizer, limits: Limits, slices: tuple[str, ...], is_canonical: bool, data: bytes
) -> MadeGrammar:
    """The grammar that was pickled.

    Raises
    ------
    LlmaskError : it was pickled by another version of llmask, or something that it needs is not installed here.
    """
    recipe = loaded(data, tokenizer.digest, is_canonical, limits, is_trusted=True)
    store = store_in_use(tokenizer, limits, slices, is_canonical)
    with unmetered():  # it was bounded where it was compiled first, in a store that knew more, perhaps
        return made(store, recipe)


def _reduced(grammar: MadeGrammar) -> tuple[Any, ...]:
    store = grammar.store
    settings = (store.tokenizer, store.limits, store.slices, store.is_canonical)
    return arrived_grammar, (*settings, grammar.save())


copyreg.pickle(MadeGrammar, _reduced)
