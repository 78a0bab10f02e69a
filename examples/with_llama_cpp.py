"""A value with llama-cpp-python, in one call and with its own loop.

    python examples/with_llama_cpp.py [MODEL.gguf]

The tokenizer is in the model's file, so None stands for it. In llama.cpp's own call the grammar is a logits processor.
Where there is no such file a tiny model with random weights is written to it. Needs: llama-cpp-python.

Prints:

    in one call: {'name': '...', 'sure': ...}
    as a processor: 20...-...
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

import llama_cpp
from tiny_model import write_gguf

import llmask
from llmask.integrations.llama_cpp import GrammarLogitsProcessor

schema = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "sure": {"type": "boolean"}},
    "required": ["name", "sure"],
    "additionalProperties": False,
}
with tempfile.TemporaryDirectory() as folder:
    path = sys.argv[1] if sys.argv[1:] else str(Path(folder) / "tiny.gguf")
    if not Path(path).exists():
        write_gguf(Path(path))
    model = llama_cpp.Llama(path, n_ctx=512, verbose=False)
    person = llmask.generate(model, None, schema, "Ada Lovelace died at 36. As JSON: ", max_tokens=80)
    print("in one call:", person)

    grammar = llmask.Compiler(llmask.Tokenizer.from_gguf(path)).regex(r"20[0-9]{2}-(0[1-9]|1[0-2])")
    processor = GrammarLogitsProcessor(grammar, max_tokens=math.inf)  # every text of the grammar is short
    output = model("This month is ", max_tokens=20, logits_processor=llama_cpp.LogitsProcessorList([processor]))
    processor.raise_if_failed()  # the framework drops exceptions
    text = output["choices"][0]["text"]
    assert grammar.accepts(text)
    print("as a processor:", text)
    model.close()
