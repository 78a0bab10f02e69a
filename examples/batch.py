"""Several prompts as one batch: first with one grammar for all, then with a grammar for each row.

    python examples/batch.py [MODEL]

`llmask.generate` takes a list of prompts and gives a list of values. Where each row has a grammar of its own, or none,
give the list of them to the logits processor of transformers.

Prints:

    3 values, each of them red, green or blue
    row 0: a date, ...-...-...
    row 1: yes or no, ...
    row 2: no grammar, at most 30 tokens
"""

from __future__ import annotations

import sys

from tiny_model import load

import llmask
from llmask.integrations.transformers import GrammarLogitsProcessor

model, tokenizer = load(*sys.argv[1:2])

# One grammar for all
schema = {"enum": ["red", "green", "blue"]}
prompts = ["The sky is ", "Grass is ", "A tomato, when it is ripe, is "]
colours = llmask.generate(model, tokenizer, schema, prompts, max_tokens=20)
assert all(colour in schema["enum"] for colour in colours)
print(len(colours), "values, each of them red, green or blue")

# One for each row; None: a row that may write what it likes
compiler = llmask.Compiler(llmask.Tokenizer.from_huggingface(tokenizer))
date = compiler.regex(r"20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])")
grammars = [date, compiler.choice(["yes", "no"]), None]
processor = GrammarLogitsProcessor(grammars, max_tokens=30)
inputs = tokenizer(["Today is ", "Is it Monday? ", "Once upon a time"], return_tensors="pt", padding=True)
inputs.pop("token_type_ids", None)
output = model.generate(**inputs, max_new_tokens=30, logits_processor=[processor])
n_prompt = inputs["input_ids"].shape[1]
texts = tokenizer.batch_decode(output[:, n_prompt:], skip_special_tokens=True)
assert date.accepts(texts[0])
assert texts[1] in ("yes", "no")
print("row 0: a date,", texts[0])
print("row 1: yes or no,", texts[1])
print("row 2: no grammar, at most 30 tokens")
