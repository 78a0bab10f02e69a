"""Draw a document token by token, each with the number of tokens that were allowed in its place.

Neighbouring tokens have different background colours. Without colours (into files and pipes, and where NO_COLOR is set,
see https://no-color.org) each token stands in brackets.

In: the steps of a document. Out: one line of text. Cost: O(tokens).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from llmask.cli.sampling import Step

if TYPE_CHECKING:
    from llmask import Tokenizer

_BACKGROUNDS = ("\x1b[30;46m", "\x1b[30;43m", "\x1b[30;42m", "\x1b[30;45m")
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_PICTURES = {byte: 0x2400 + byte for byte in range(32)}  # control characters as their Unicode pictures


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is to get colours: a terminal whose user does not refuse them."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def draw_steps(tokenizer: Tokenizer, steps: Sequence[Step], is_coloured: bool) -> str:
    """Draw the tokens of a document, special tokens by their names, the end of sequence as `<end>`."""
    pieces = []
    for number, step in enumerate(steps):
        data = tokenizer.token_bytes(step.token)
        name = "<end>" if step.token in tokenizer.eos_ids else tokenizer.token_name(step.token)
        text = data.decode(errors="backslashreplace").translate(_PICTURES) if data else name
        if not is_coloured:
            pieces.append(f"[{text}]{step.n_allowed}")
        else:
            background = _BACKGROUNDS[number % len(_BACKGROUNDS)]
            pieces.append(f"{background}{text}{_PLAIN}{_DIM}{step.n_allowed}{_PLAIN}")
    return " ".join(pieces)
