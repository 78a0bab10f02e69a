"""llmask in llama-cpp-python: the processor that masks logits, and says what the framework would keep to itself.

    processor = GrammarLogitsProcessor(compiler.json_schema(schema), max_tokens=500)
    llama(prompt, max_tokens=500, logits_processor=LogitsProcessorList([processor]))
    processor.raise_if_failed()

In one call: `llmask.generate(llama, None, schema, prompt)`. What the framework drops is told in
`llmask/samplers/llama_cpp.py`, where the processor is.

In: compiled grammars. Out: a logits processor. Cost: that of a mask.
"""

from __future__ import annotations

from llmask.samplers.llama_cpp import GrammarLogitsProcessor

__all__ = ["GrammarLogitsProcessor"]
