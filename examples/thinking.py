"""A model that thinks before it answers: free text up to the tokens that end it, then the grammar.

    python examples/thinking.py

`Reasoning` makes matchers that think first; `budget` bounds the thinking, whose last tokens can only be
those of the end. Scores are random here, so the thinking is nonsense and the answer is not. In one call, with
transformers: give `llmask.Reasoning(grammar, end, budget)` to the processor in the place of a grammar.

Prints:

    thinking: 30 tokens, the last of them </think>
    answer: ...
"""

from __future__ import annotations

import numpy as np

import llmask

tokenizer = llmask.Tokenizer.default()
answer = llmask.Compiler(tokenizer).choice(["yes", "no", "perhaps"])
end = tokenizer.encode("</think>", parse_special=True)
matcher = llmask.Reasoning(answer, end=end, budget=30).matcher()

rng = np.random.default_rng(1)
mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
thought: list[int] = []
while not matcher.is_terminated():
    matcher.fill_bitmask(mask)
    logits = rng.normal(size=(1, tokenizer.vocab_size)).astype(np.float32)
    llmask.apply_bitmask(logits, mask)
    token = int(logits.argmax())
    if matcher.is_thinking:
        thought.append(token)
    matcher.accept_token(token)
text = tokenizer.decode(thought)
print(f"thinking: {len(thought)} tokens, the last of them {text[-8:]}")
print("answer:", matcher.text().decode())
