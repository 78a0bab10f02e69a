"""A matcher in a notebook: its text so far, coloured by property, and what may come next.

In: what a matcher knows. Out: HTML. Cost: 10 us a byte of the text that is shown, 10 ms for the tokens.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..tokenizer.notebook import SHADES, escaped, heading, page, piece_text, table
from .json_reader import KEY, NOTHING, NUMBER, JsonSoFar

if TYPE_CHECKING:
    from ..tokenizer.tokenizer import Tokenizer

MOST_BYTES = 2000  # of the text, its last ones
MOST_GROUPS = 20  # of next tokens
MOST_EXAMPLES = 6  # of one group


def matcher_view(line: str, text: bytes, n_lead: int, is_json: bool, next_tokens: str) -> str:
    """A matcher: what it is, its text, what may come next.

    Parameters
    ----------
    line : what it is.
    text, n_lead : the text so far, and how many bytes of it come before the document.
    is_json : whether the document is JSON.
    next_tokens : HTML.
    """
    first = max(0, len(text) - MOST_BYTES)
    spans = ["..."] if first else []
    shades: dict[str, str] = {}
    for name, data in by_property(text, n_lead, first) if is_json else [(None, text[first:])]:
        piece = escaped(data.decode("utf-8", "replace"), MOST_BYTES)
        if name is None:
            spans.append(piece)
            continue
        shade = shades.setdefault(name, SHADES[len(shades) % len(SHADES)])
        spans.append(f'<span style="background:{shade};color:#000" title="{escaped(name, 100)}">{piece}</span>')
    body = f'<pre style="white-space:pre-wrap">{"".join(spans)}</pre>'
    return page([heading(line), body, next_tokens])


def by_property(text: bytes, n_lead: int, first: int) -> list[tuple[str | None, bytes]]:
    """The text of a JSON document from byte `first` on, cut where another property begins.

    Returns
    -------
    JSON pointer of the innermost property, or None outside of keys and values; bytes. A key belongs to its property, so
    it has one when it is complete.
    """
    state = JsonSoFar().after(text[n_lead:first])
    names: list[str | None] = [None] * min(len(text) - first, max(0, n_lead - first))
    n_open = 0  # bytes of a key that is not complete
    for byte in text[max(n_lead, first) :]:
        before, state = state, state.after(bytes([byte]))
        names.append(None)
        if state.within == KEY:
            n_open += 1
        elif before.within == KEY:
            names[-n_open - 1 :] = [state.pointer()] * len(names[-n_open - 1 :])
            n_open = 0
        elif state.within != NOTHING or before.within not in (NOTHING, NUMBER):
            names[-1] = _property(before if state.within == NOTHING else state)
    found: list[tuple[str | None, bytes]] = []
    end = first
    for name, run in groupby(names):
        begin, end = end, end + len([*run])
        found.append((name, text[begin:end]))
    return found


def _property(state: JsonSoFar) -> str | None:
    """JSON pointer of the innermost property that a value belongs to."""
    here = state.innermost
    while here is not None and not here.is_object:
        here = here.outer
    return None if here is None else state._replace(innermost=here, within=NOTHING).pointer()


def next_tokens_view(tokenizer: Tokenizer, tokens: npt.NDArray[np.int64]) -> str:
    """How many tokens may come next, by their first byte, with the shortest of them."""
    offsets, data = tokenizer._parts.token_offsets, tokenizer._parts.token_data
    lengths = offsets[tokens + 1] - offsets[tokens]
    begins = np.full(len(tokens), -1)
    begins[lengths > 0] = data[offsets[tokens[lengths > 0]]]
    rows = []
    kinds, counts = np.unique(begins, return_counts=True)
    for kind, n_tokens in sorted(zip(kinds.tolist(), counts.tolist(), strict=True), key=lambda one: -one[1]):
        group = begins == kind
        examples = tokens[group][np.argsort(lengths[group], kind="stable")[:MOST_EXAMPLES]].tolist()
        names = [piece_text(tokenizer.token_bytes(token)) or tokenizer.token_name(token) for token in examples]
        texts = [name or f"<[{token}]>" for token, name in zip(examples, names, strict=True)]
        rows.append(("no text" if kind < 0 else piece_text(bytes([kind])), f"{n_tokens:,}", "  ".join(texts)))
    title = f"<div>{len(tokens):,} of {tokenizer.vocab_size:,} tokens may come next</div>"
    return title + table(("begin with", "tokens", "such as"), rows, MOST_GROUPS)
