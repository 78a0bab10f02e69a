"""llmask in MaskBench's own harness: a subclass of its `Engine` (docs/measured/maskbench.md says how to run it).

The mask is computed and its bit is looked up, as for the other engines there. Documents of that harness are written as
`json.dumps` does and cut by the Hugging Face tokenizer; a schema that does not compile raises, which counts as refused.

In: what the harness calls. Out: masks. Cost: half a second for the tokenizer.
"""

from __future__ import annotations

from typing import Any

from maskbench.engine import Engine  # type: ignore[import-not-found, unused-ignore]

import llmask


class LlmaskEngine(Engine):
    """llmask with its defaults."""

    def init(self) -> None:
        llmask.warm()
        tokenizer = llmask.Tokenizer.from_huggingface(self.tokenizer)
        self.compiler = llmask.Compiler(tokenizer, cache_bytes=0)  # a schema that is met twice is compiled twice
        self.mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)

    def get_id(self) -> str:
        return "llmask"

    def get_module(self) -> str:
        return "llmask-engine"

    def compile_grammar(self, schema: Any) -> None:
        self.grammar = self.compiler.json_schema(schema)
        self.reset()

    def reset(self) -> None:
        self.matcher = self.grammar.matcher()

    def compute_mask(self) -> None:
        self.matcher.fill_bitmask(self.mask)

    def commit_token(self, token: int) -> bool:
        is_allowed = bool(self.mask[0, token >> 5] >> (token & 31) & 1)
        if is_allowed:
            self.matcher.accept_token(token)
        return is_allowed
