"""Calls of functions: the model can only write calls that fit, so they can be run without a check.

    python examples/tool_calls.py [MODEL]

`Compiler.tools` knows how a family of models writes its calls (here "hermes": JSON between tags); arguments fulfil the
schema of their function. `tool_choice="auto"` would allow text around the calls. `llmask.tool_calls` reads them back.

Prints:

    forced after the tag: {"name": "add", "arguments": {
    called add: {...}
    result: ...
"""

from __future__ import annotations

import sys

from tiny_model import load

import llmask


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


number = {"type": "integer", "minimum": 0, "maximum": 99}
tools = [
    {
        "type": "function",
        "function": {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": number, "b": number},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
        },
    }
]
model, tokenizer = load(*sys.argv[1:2])
compiler = llmask.Compiler(llmask.Tokenizer.from_huggingface(tokenizer))
grammar = compiler.tools(tools, model="hermes", tool_choice="required", parallel=False)

matcher = grammar.matcher()
matcher.accept_bytes(b"<tool_call>\n")
print("forced after the tag:", matcher.forced_bytes().decode())

text = llmask.generate(model, tokenizer, grammar, "What is 12 and 30?", max_tokens=120)
(call,) = llmask.tool_calls(text, "hermes", tools)
print(f"called {call.name}: {call.arguments}")
print("result:", {"add": add}[call.name](**call.arguments))
