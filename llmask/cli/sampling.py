"""The sampling loop of the command line: mask, choose, accept, until the document has ended.

It is the shortest loop that uses the library as a server would, over any source of logits. A document can be drawn
token by token: neighbouring tokens have different background colours. Without colours (into files and pipes, and where
NO_COLOR is set, see https://no-color.org) each token is in brackets.

In: a compiled grammar, a source of logits, random numbers. Out: the tokens of one document with the number of tokens
that were allowed at each step. Cost: a mask, the logits and a softmax over the allowed tokens for each token.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TextIO

import numpy as np
import numpy.typing as npt

from llmask.errors import BudgetError, LimitExceeded, VocabularyError

if TYPE_CHECKING:
    from llmask import Tokenizer
    from llmask.compiling.compiled_grammar import CompiledGrammar

TokenIds = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
_BACKGROUNDS = ("\x1b[30;46m", "\x1b[30;43m", "\x1b[30;42m", "\x1b[30;45m")
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"
_PICTURES = {byte: 0x2400 + byte for byte in range(32)}  # control characters as their Unicode pictures


class LogitsSource(Protocol):
    """Whatever can tell how likely tokens are: a model in the package, of transformers or of llama.cpp."""

    def begin(self) -> None:
        """Start a new document."""

    def logits(self, ids: list[int], allowed: TokenIds) -> Logits:
        """Logits of the `allowed` tokens after the tokens `ids` of the document, in the order of `allowed`."""


class Step(NamedTuple):
    """One token of a document, and how many tokens were allowed in its place."""

    token: int
    n_allowed: int


def write_document(
    grammar: CompiledGrammar,
    source: LogitsSource,
    rng: np.random.Generator,
    temperature: float,
    max_tokens: int,
    progress: Callable[[str], None],
) -> list[Step]:
    """Sample one document; the last step is its end-of-sequence token.

    The document ends within `max_tokens` tokens, the end of sequence included.

    Raises
    ------
    BudgetError
        when none is found that takes so few tokens.
    LimitExceeded
        when the grammar takes no budget and the document has not ended by then.
    """
    from llmask import allocate_bitmask

    tokenizer = grammar.tokenizer
    matcher = grammar.matcher(on_limit="finish")
    bitmask = allocate_bitmask(1, tokenizer.vocab_size)
    steps: list[Step] = []
    source.begin()
    while len(steps) < max_tokens:
        try:
            matcher.fill_bitmask(bitmask, budget=max_tokens - len(steps) if grammar.takes_budget else None)
        except BudgetError as error:
            raise BudgetError(
                f"--max-tokens {max_tokens} is too small: the shortest document found takes {error.least} tokens, "
                "the end of sequence included",
                help=f"give at least --max-tokens {error.least}",
                least=error.least,
            ) from None
        allowed = allowed_tokens(bitmask[0], tokenizer.vocab_size)
        logits = source.logits([step.token for step in steps], allowed)
        token = int(allowed[choose(logits, temperature, rng)])
        matcher.accept_token(token)
        steps.append(Step(token, len(allowed)))
        if matcher.is_terminated():
            return steps
        progress(f"{len(steps)} tokens")
    text = tokenizer.decode_bytes([step.token for step in steps])
    raise LimitExceeded(
        f"the document is not finished after {max_tokens} tokens",
        where=f"{text[-60:].decode(errors='replace')!r} (its last characters)",
        help="allow more with --max-tokens, or limit strings and arrays in the schema (maxLength, maxItems)",
    )


def allowed_tokens(words: npt.NDArray[np.int32], vocab_size: int) -> TokenIds:
    """Ids of the tokens that one row of a bitmask allows, in ascending order."""
    octets = np.ascontiguousarray(words, dtype="<i4").view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, count=vocab_size, bitorder="little").view(np.bool_))


def choose(logits: Logits, temperature: float, rng: np.random.Generator) -> int:
    """Sample an index by softmax(logits / temperature); temperature 0 takes the largest logit.

    Raises
    ------
    VocabularyError
        when no logit is finite: the model has no logit for any of the tokens.
    """
    best = int(np.argmax(logits))
    if not np.isfinite(logits[best]):
        raise VocabularyError(
            "the model has no usable logit for any token that the grammar allows",
            help="use the tokenizer that belongs to this model",
        )
    if temperature == 0:
        return best
    with np.errstate(over="ignore"):  # of a tiny temperature, which leaves nothing but the largest
        weights = np.cumsum(np.exp((logits.astype(np.float64) - float(logits[best])) / temperature))
    return int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))


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
