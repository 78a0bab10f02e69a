"""What may come next where a sequence is, by name: bytes, tokens by their ids, rules whose terminals are in hand.

In: a sequence. Out: ids and names. Cost: 2 us.
"""

from __future__ import annotations

from typing import Any

from ..arguments import shown
from ..kernels import engine
from ..kernels.tables.operations import Operation
from ..store.generation import Generation
from ..tokenizer.tokenizer import Tokenizer

Sequence = Any  # of sequence.py, which calls this module
MOST_SHOWN = 6  # of the tokens of one range, in messages


def may_be_named(sequence: Sequence, configuration: int) -> bool:
    """Whether a token may come next that the grammar names."""
    return bool(engine.names_tokens(sequence.grammar_address, configuration))


def named_ranges(sequence: Sequence, configuration: int) -> list[tuple[int, int]]:
    """First and last ids of the tokens that the grammar names, each range once; ranges may overlap."""
    numbers = sequence.generation.listed(Operation.NAMED_RANGES, configuration).tolist()
    return sorted(set(zip(numbers[::2], numbers[1::2], strict=True)))


def named_tokens(sequence: Sequence, configuration: int) -> list[str]:
    """What may come next of these, for messages: names of single tokens, ids of others."""
    names = []
    for low, high in named_ranges(sequence, configuration):
        if high - low < MOST_SHOWN:
            names += [sequence.grammar.tokenizer.token_name(token) or f"<[{token}]>" for token in range(low, high + 1)]
        else:
            names.append(f"<[{low}-{high}]>")
    return names


def temperature_of(sequence: Sequence) -> float | None:
    """The temperature of the terminals in hand, or of those that may begin; of several the highest."""
    said = sequence.grammar.temperatures
    if not said:
        return None
    sequence.make_room()
    found = rules_at(sequence.generation, sequence.configuration, True)
    return max((said[rule] for rule in found if rule in said), default=None)


def rules_at(generation: Generation, configuration: int, with_expected: bool = False) -> list[int]:
    """The rules whose terminals are in hand; where none is, those whose terminals may begin, if they are wanted."""
    rules: list[int] = generation.listed(Operation.OPEN_RULES, configuration, int(with_expected)).tolist()
    return rules


def named_bytes(sequence: Sequence, configuration: int) -> list[str]:
    """The bytes that may come next, for messages, neighbours together."""
    from ..grammar.token_ranges import ranges_of  # late: messages only

    ranges = ranges_of((byte, byte) for byte in sequence.generation.live_bytes(configuration))
    names = ([shown(bytes([byte])) for byte in ends] for ends in ranges)
    return [low if low == high else f"{low}..{high}" for low, high in names]


def refused_token(tokenizer: Tokenizer, token: int) -> str:
    """Which token cannot come next, for messages."""
    if not 0 <= token < tokenizer.vocab_size:
        return f"token {token} is not in the vocabulary of {tokenizer.vocab_size} tokens"
    if token in tokenizer.eos_ids:
        return f"token {token} (end of sequence) cannot come next"
    text = tokenizer.token_bytes(token)
    if not text:
        return f"token {token} ({tokenizer.token_name(token) or 'special, it has no text'}) cannot come next"
    return f"token {token} {shown(text)} cannot come next"
