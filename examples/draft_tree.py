"""A tree of drafts: several guesses for the same place, as EAGLE and its kin make them, verified in one call.

    python examples/draft_tree.py

The tree is in the form of XGrammar and SGLang: of each node the first token guessed after it, and another one guessed
in its place; -1 is none. Node 0 is the last accepted token. One call writes the mask after every node; the rows of
refused nodes, and of all after them, stay as they are.

Prints:

    node 1 'true'  allowed, then 2 tokens may come
    node 2 'maybe' refused
    node 3 'false' allowed, then 2 tokens may come
    node 4 ','     allowed, then 2 tokens may come
    node 5 ','     refused
    4 of 6 nodes, the root included
"""

from __future__ import annotations

import numpy as np

import llmask

tokens = [b"[", b"]", b",", b"true", b"false", b"maybe", b""]
tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=6)
grammar = llmask.Compiler(tokenizer).json_schema({"type": "array", "items": {"type": "boolean"}, "minItems": 1})
matcher = grammar.matcher()
matcher.accept_bytes(b"[")

#                     node: 0  1  2  3  4  5
next_token = np.array([1, 4, 5, -1, -1, -1])  # a comma after node 1, and one after node 2
next_sibling = np.array([-1, 2, 3, -1, -1, -1])  # three guesses for the first place
draft_tokens = np.array([0, 3, 5, 4, 2, 2])
masks = np.zeros_like(llmask.allocate_bitmask(6, tokenizer.vocab_size))
n_allowed = matcher.fill_tree(masks, next_token, next_sibling, draft_tokens)

for node in range(1, 6):
    n_next = sum(int(word).bit_count() for word in masks[node].view(np.uint32))
    text = repr(tokenizer.decode([int(draft_tokens[node])]))
    fate = f"allowed, then {n_next} tokens may come" if n_next else "refused"
    print(f"node {node} {text:7} {fate}")
print(n_allowed, "of 6 nodes, the root included")
