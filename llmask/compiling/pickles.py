"""Compiled grammars in pickles: what each was compiled from, and the tokenizer, once for all that refer to it.

Tables hold addresses and mean nothing elsewhere, and compiling again is quick. What arrives joins a store that is in
use (stores.py), so that the grammars of a pickle, and those of later ones, share one as they did before.

`MadeGrammar` itself cannot name what compiles it, which stands below it; `copyreg` is told here.

In: a grammar. Out: the same there. Cost: of the tokenizer's bytes, once; compiling, 0.3 ms for a median schema.
"""

from __future__ import annotations

import copyreg
from typing import Any

from ..limits import Limits
from ..tokenizer.tokenizer import Tokenizer
from ..work import unmetered
from .compiled import MadeGrammar
from .making import made
from .stores import store_in_use


def arrived(
    tokenizer: Tokenizer, limits: Limits, slices: tuple[str, ...], is_canonical: bool, data: bytes
) -> MadeGrammar:
    """The grammar that was pickled.

    Raises
    ------
    LlmaskError : it was pickled by another version of llmask, or something that it needs is not installed here.
    """
    from .saved import loaded

    recipe = loaded(data, tokenizer.digest, is_canonical, limits, is_trusted=True)
    store = store_in_use(tokenizer, limits, slices, is_canonical)
    with unmetered():  # it was bounded where it was compiled first, in a store that knew more, perhaps
        return made(store, recipe)


def _reduced(grammar: MadeGrammar) -> tuple[Any, ...]:
    store = grammar.store
    settings = (store.tokenizer, store.limits, store.slices, store.is_canonical)
    return arrived, (*settings, grammar.save())


copyreg.pickle(MadeGrammar, _reduced)
