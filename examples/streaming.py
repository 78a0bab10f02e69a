"""Values while they are written: what is there so far, and what has become complete.

    python examples/streaming.py [MODEL]

`on_value` is called with the value so far whenever it has grown, for a page that fills while the model writes;
`on_event` when a key, a member, an item or the document is complete, for work that can begin before the end.

Prints:

    key at /title: 'title'
    value at /title: '...'
    key at /stars: 'stars'
    value at /stars: ...
    key at /tags: 'tags'
    item at /tags/0: '...'
    item at /tags/1: '...'
    value at /tags: ['...', '...']
    end at the root: {...}
    the value grew at least 4 times, and the last one is the result
"""

from __future__ import annotations

import copy
import sys
from typing import Any

from tiny_model import load

import llmask

schema = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 2, "maxLength": 12},
        "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        "tags": {"type": "array", "items": {"enum": ["new", "old", "sad"]}, "minItems": 2, "maxItems": 2},
    },
    "required": ["title", "stars", "tags"],
    "additionalProperties": False,
}
values: list[Any] = []


def show(number: int, event: Any) -> None:
    """Print what is complete; `number` is that of the prompt."""
    print(f"{event.kind} at {event.pointer or 'the root'}: {event.value!r}")


def keep(number: int, value: Any) -> None:
    """Keep a copy: what is complete of a value is shared with the next one."""
    values.append(copy.deepcopy(value))


model, tokenizer = load(*sys.argv[1:2])
result = llmask.generate(model, tokenizer, schema, "A review: ", keep, max_tokens=80, on_event=show)
assert len(values) >= 4
assert values[-1] == result
print("the value grew at least 4 times, and the last one is the result")
