"""Tokens that the grammar names by their ids, as far as they may come next.

In: a matcher, a configuration. Out: ids and names. Cost: 2 us.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .kernels import engine
from .kernels.shared_batch import CELL_GRAMMAR

if TYPE_CHECKING:
    from .matcher import Matcher

MOST_SHOWN = 6  # of the tokens of one range, in messages


def may_be_named(matcher: Matcher, configuration: int) -> bool:
    """Whether a token may come next that the grammar names."""
    return bool(engine.names_tokens(matcher._cell[CELL_GRAMMAR], configuration))


def named_ranges(matcher: Matcher, configuration: int) -> list[tuple[int, int]]:
    """First and last ids of the tokens that the grammar names, each range once; ranges may overlap."""
    numbers = np.zeros(0, np.int32)
    n = matcher._run(engine.NAMED_RANGES, configuration, numbers)
    if n:
        numbers = np.zeros(n, np.int32)
        matcher._run(engine.NAMED_RANGES, configuration, numbers)
    return sorted(set(zip(numbers[::2].tolist(), numbers[1::2].tolist(), strict=True)))


def named_tokens(matcher: Matcher, configuration: int) -> list[str]:
    """What may come next of these, for messages: names of single tokens, ids of others."""
    names = []
    for low, high in named_ranges(matcher, configuration):
        if high - low < MOST_SHOWN:
            names += [matcher.grammar.tokenizer.token_name(token) or f"<[{token}]>" for token in range(low, high + 1)]
        else:
            names.append(f"<[{low}-{high}]>")
    return names
