"""Many schemas on many threads, with one compiler: what a server does when requests arrive.

    python examples/many_threads.py

A tokenizer, a compiler and the grammars may be used by any number of threads at once; a matcher is one sequence's, and
one thread's at a time. Calls release the interpreter while they work. A bad schema is an error of its own request.

Prints:

    100 requests on 8 threads: 90 documents, 10 refused
    the reason: "maxLength" must be a non-negative integer, not 'long'
    9 schemas: compiled ... times, found again ... times
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import llmask

tokenizer = llmask.Tokenizer.default()
tokenizer.warm()  # first uses are paid here, not by the first request
compiler = llmask.Compiler(tokenizer, limits=llmask.Limits.for_untrusted())


def request(number: int) -> dict[str, Any]:
    """The schema that request `number` brings: ten different ones, the last of them malformed."""
    note = {"type": "string", "maxLength": "long" if number % 10 == 9 else 30}
    return {
        "type": "object",
        "properties": {f"note_{number % 10}": note, "done": {"type": "boolean"}},
        "required": [f"note_{number % 10}", "done"],
        "additionalProperties": False,
    }


def answer(number: int) -> str | llmask.LlmaskError:
    """A document for a request, or why there is none."""
    try:
        return compiler.json_schema(request(number)).sample(number).decode()
    except llmask.GrammarError as error:
        return error


with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(answer, range(100)))
documents = [json.loads(text) for text in answers if isinstance(text, str)]
errors = [error for error in answers if isinstance(error, llmask.LlmaskError)]
print(f"100 requests on 8 threads: {len(documents)} documents, {len(errors)} refused")
print("the reason:", errors[0].message)
counts = compiler.statistics()
print(f"9 schemas: compiled {counts['compiled']} times, found again {counts['cache_hits']} times")
