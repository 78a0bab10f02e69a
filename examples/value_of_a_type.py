"""From a prompt to a value of a pydantic model, in one call.

    python examples/value_of_a_type.py [MODEL]

The schema of the type becomes a grammar, the model writes under it, and pydantic reads what was written. MODEL is the
name or the folder of a causal model of transformers; without it random weights write nonsense that is valid.

Prints:

    it is a Person
    name: '...'
    age: ...
    city: ...
"""

from __future__ import annotations

import sys
from typing import Literal

import pydantic
from tiny_model import load

import llmask


class Person(pydantic.BaseModel):
    """What the model is to write."""

    name: str = pydantic.Field(min_length=1, max_length=20)
    age: int = pydantic.Field(ge=0, le=150)
    city: Literal["London", "Paris", "Rome"]


model, tokenizer = load(*sys.argv[1:2])
prompt = "Ada Lovelace lived in London and died at the age of 36. As JSON: "
person = llmask.generate(model, tokenizer, Person, prompt, max_tokens=100)  # complete within 100 tokens

print("it is a", type(person).__name__)
for field in Person.model_fields:
    print(f"{field}: {getattr(person, field)!r}")
