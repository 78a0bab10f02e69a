"""Documents that end within a number of tokens, whatever the model would like.

    python examples/budgets.py

`fill_bitmask(mask, budget=n)` allows only tokens after which the document can still be ended with the tokens that are
left. The scores here are random, so nothing but the budget brings the text to its end.

Prints:

    at least 6 tokens
    budget 5: no document is so short
    budget 6: 6 tokens, valid
    budget 20: ... tokens, valid
    budget 60: ... tokens, valid
"""

from __future__ import annotations

import json

import numpy as np

import llmask

tokenizer = llmask.Tokenizer.default()
schema = {
    "type": "object",
    "properties": {"note": {"type": "string"}, "items": {"type": "array", "items": {"type": "integer"}}},
    "required": ["note", "items"],
    "additionalProperties": False,
}
grammar = llmask.Compiler(tokenizer).json_schema(schema)
rng = np.random.default_rng(0)
mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
least = grammar.matcher().least_budget()
print("at least", least, "tokens")

for budget in (least - 1, least, 20, 60):
    matcher = grammar.matcher()
    n_tokens = 0
    try:
        while not matcher.is_terminated():
            matcher.fill_bitmask(mask, budget=budget - n_tokens)
            logits = rng.normal(size=(1, tokenizer.vocab_size)).astype(np.float32)  # a model's, in earnest
            llmask.apply_bitmask(logits, mask)
            matcher.accept_token(int(logits.argmax()))
            n_tokens += 1
    except llmask.BudgetError:  # its `least` says how many would do
        print(f"budget {budget}: no document is so short")
        continue
    assert n_tokens <= budget
    assert json.loads(matcher.text()).keys() == {"note", "items"}
    print(f"budget {budget}: {n_tokens} tokens, valid")
