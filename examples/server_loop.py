"""The loop of a server: a batch of sequences, each with its own grammar, and drafts that are verified at once.

    python examples/server_loop.py

Each step a smaller model guesses some tokens of every sequence. `fill_drafts` writes the masks before them and after
each; the model scores all these places in one pass; of what it chooses the tokens stay up to the first that was not
guessed. Random scores are the model here, the same with noise the smaller one.

Prints:

    sequence 0: ...
    sequence 1: [...]
    sequence 2: 20...-...
    fewer passes than the longest text has tokens: True
"""

from __future__ import annotations

import numpy as np

import llmask

N_DRAFTS = 3
N_ROWS = N_DRAFTS + 1  # of the bitmask, for each sequence
tokenizer = llmask.Tokenizer.default()
compiler = llmask.Compiler(tokenizer)
schemas = [{"enum": [True, False, None]}, {"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 3}]
requests = [compiler.json_schema(schema, whitespace="compact") for schema in schemas]
requests.append(compiler.regex("20[0-9]{2}-(0[1-9]|1[0-2])"))
matchers = [grammar.matcher() for grammar in requests]
masks = llmask.allocate_bitmask(len(matchers) * N_ROWS, tokenizer.vocab_size)
draft_mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)


def scores(number: int, place: int, noise: float = 0) -> np.ndarray:
    """What a model thinks of every token at a place of a sequence: float32[vocab_size]."""
    rng = np.random.default_rng([number, place])
    return (rng.normal(size=tokenizer.vocab_size) + noise * rng.normal(size=tokenizer.vocab_size)).astype(np.float32)


def draft(number: int) -> list[int]:
    """What the smaller model guesses for a sequence; a fork costs next to nothing."""
    matcher = matchers[number].fork()
    guesses: list[int] = []
    while len(guesses) < N_DRAFTS and not matcher.is_terminated():
        matcher.fill_bitmask(draft_mask)
        logits = scores(number, len(matcher.tokens), noise=0.2)
        llmask.apply_bitmask(logits, draft_mask[0])
        guesses.append(int(logits.argmax()))
        matcher.accept_token(guesses[-1])
    return guesses


n_passes = 0
while running := [number for number, matcher in enumerate(matchers) if not matcher.is_terminated()]:
    drafts = {number: draft(number) for number in running}
    logits = np.zeros((len(masks), tokenizer.vocab_size), np.float32)
    rows: list[int] = []
    for number in running:
        n_allowed = matchers[number].fill_drafts(masks, drafts[number], row=number * N_ROWS)
        for i in range(n_allowed + 1):
            rows.append(number * N_ROWS + i)
            logits[rows[-1]] = scores(number, len(matchers[number].tokens) + i)
    llmask.apply_bitmask(logits, masks, rows=rows)  # once for the batch
    n_passes += 1
    for number in running:
        for token, guess in zip(logits[number * N_ROWS :].argmax(1).tolist(), [*drafts[number], None], strict=False):
            matchers[number].accept_token(token)
            if token != guess or matchers[number].is_terminated():
                break
for number, matcher in enumerate(matchers):
    print(f"sequence {number}: {matcher.text().decode()}")
print("fewer passes than the longest text has tokens:", n_passes < max(len(matcher.tokens) for matcher in matchers))
