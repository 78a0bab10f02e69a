"""Names of user-defined tokens, which are cut out of a text before it is split: what ordinary tokens must not spell.

The texts between names are encoded by themselves. So a canonical sequence has the token itself in place of its name,
and the text ends before it and begins anew after it. That is simple where names keep apart: where none is a part of
another, and none ends as another begins. Then every occurrence is cut out, in whatever order they are looked for.

    "[PAD1]", "[PAD2]"   apart; an automaton (A. Aho, M. Corasick, "Efficient string matching", 1975) reads the text,
                         and the character that would complete a name is refused
    "<a>", "a"           not: "<a>" is cut out first, because it is longer

Names of padding are many and alike, "[PAD151646]" and so on; states that no rest of a name tells apart are one.

In: names, classes of their characters. Out: a table. Cost: 50 ms for 2,400 names.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from ..errors import LimitExceeded

COMPLETE = -1  # the character completes a name
MOST_CHARACTERS = 500_000  # of all names


def name_table(names: list[list[int]], n_classes: int) -> npt.NDArray[np.int32] | None:
    """int32[n_states, n_classes]: the state after a character, or COMPLETE; state 0 is the beginning of a text.

    None: the names do not keep apart. A name is the classes of its characters.

    Raises
    ------
    LimitExceeded : they are too long.
    """
    if sum(map(len, names)) > MOST_CHARACTERS:
        raise LimitExceeded(
            f"the user-defined tokens of this vocabulary have more than {MOST_CHARACTERS} characters",
            help="compile without canonical=True",
        )
    below: list[dict[int, int]] = [{}]
    is_name = [False]
    for name in names:
        node = 0
        for number in name:
            if number not in below[node]:
                below[node][number] = len(below)
                below.append({})
                is_name.append(False)
            node = below[node][number]
        is_name[node] = True
    table = np.zeros((len(below), n_classes), np.int32)
    shorter = [0] * len(below)  # the longest beginning of a name that a node ends with
    waiting = deque([0])
    while waiting:
        node = waiting.popleft()
        if node != 0:
            if is_name[node] and (shorter[node] != 0 or below[node]):
                return None
            if not is_name[node] and is_name[shorter[node]]:
                return None
            table[node] = table[shorter[node]]
        for number, child in below[node].items():
            shorter[child] = int(table[shorter[node], number]) if node != 0 else 0
            table[node, number] = child
            waiting.append(child)
    table[np.array(is_name)[table]] = COMPLETE
    return _merged(table[~np.array(is_name)], np.cumsum(~np.array(is_name)) - 1)


def _merged(table: npt.NDArray[np.int32], places: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """With one state in place of those that nothing tells apart; `places`: of a node its line in the table."""
    targets = np.where(table == COMPLETE, COMPLETE, places[table]).astype(np.int32)
    blocks = np.zeros(len(table), np.int32)
    n_blocks = 1
    while True:
        lines = np.where(targets == COMPLETE, COMPLETE, blocks[targets])
        _, first, found = np.unique(np.column_stack((blocks, lines)), axis=0, return_index=True, return_inverse=True)
        found = found.reshape(-1)
        if len(first) == n_blocks:
            break
        blocks, n_blocks = found.astype(np.int32), len(first)
    order = np.argsort(first, kind="stable")  # the beginning is the first line
    rank = np.empty(n_blocks, np.int32)
    rank[order] = np.arange(n_blocks, dtype=np.int32)
    merged = lines[first[order]]
    return np.where(merged == COMPLETE, COMPLETE, rank[merged]).astype(np.int32)
