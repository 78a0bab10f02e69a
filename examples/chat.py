"""A chat in which every answer has its own form.

    python examples/chat.py [MODEL]

A prompt may be the messages of a chat; they are put into the model's own template. Each turn has the grammar that it
needs: a schema for the first, a list of answers for the second.

Prints:

    user: Where is the Eiffel Tower?
    assistant: {"city": "...", "sure": ...}
    user: Is that in France?
    assistant: ...
    4 messages
"""

from __future__ import annotations

import json
import sys
from typing import Any

from tiny_model import load

import llmask

model, tokenizer = load(*sys.argv[1:2])
place = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 15}, "sure": {"type": "boolean"}},
    "required": ["city", "sure"],
    "additionalProperties": False,
}
answers = llmask.Compiler(llmask.Tokenizer.from_huggingface(tokenizer)).choice(["yes", "no", "I do not know"])

messages: list[dict[str, Any]] = []
for question, form in (("Where is the Eiffel Tower?", place), ("Is that in France?", answers)):
    messages.append({"role": "user", "content": question})
    answer = llmask.generate(model, tokenizer, form, messages, max_tokens=60)  # data, or of a grammar the text
    messages.append({"role": "assistant", "content": answer if isinstance(answer, str) else json.dumps(answer)})

for message in messages:
    print(f"{message['role']}: {message['content']}")
print(len(messages), "messages")
