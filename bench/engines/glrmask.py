r"""glrmask through `Grammar`, `Constraint` and `ConstraintState`: an automaton over parser stacks, made when compiling.

It has two ways to make masks, so that it is twice among the engines: from that automaton, and from a walk of the
vocabulary for each mask, which leaves little to compile.

Its grammars know no end of sequence: as its own documentation has it, the end tokens follow the grammar as a
`TokenSet`. It writes JSON in one form, with `, ` and `: ` and no other white space, and takes an escape only where
JSON has no other spelling; no option changes that, so `compact` cannot be measured. Special tokens are not in its
vocabulary.

In: see `base.py`. Out: an `Engine`. Cost: a second for the vocabulary; a schema takes tens of milliseconds and more.
"""

from __future__ import annotations

import json
import os
from typing import Any

from bench.engines.base import CompileError, Engine, as_pattern


class Glrmask(Engine):
    """Mask strategy `AUTO`, its default: the automaton, or walks of the vocabulary where that would be too large."""

    name = package = "glrmask"
    kinds_of_whitespace = ("flexible",)
    strategy = "AUTO"

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        super().__init__(whitespace, vocabulary_name)
        os.environ["RAYON_NUM_THREADS"] = "1"  # as all engines are measured
        import glrmask

        self.module = glrmask
        special = set(self.vocabulary.special_ids)
        tokens = {token: data for token, data in enumerate(self.vocabulary.tokens) if data and token not in special}
        self.known = glrmask.Vocab.from_id_to_bytes(tokens)
        self.end = glrmask.TokenSet(self.eos_ids)
        self.row = self.words[0]
        self.compile({})  # the first one prepares the vocabulary, for a second

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        module = self.module
        try:
            if kind == "schema":
                body = module.Grammar.from_json_schema(json.dumps(grammar))
            elif kind == "lark":
                body = module.Grammar.from_lark(grammar)
            else:
                body = module.Grammar.from_lark(f"start: /{as_pattern(grammar, kind).replace('/', chr(92) + '/')}/")
            whole = module.Grammar.from_expr(module.Expr.sequence(body, self.end))
            return whole.compile(
                self.known,
                mask_strategy=getattr(module.MaskStrategy, self.strategy),
                boundary_mask_strategy=getattr(module.BoundaryMaskStrategy, self.strategy),
            )
        except ValueError as error:
            raise CompileError(str(error)) from error

    def start(self, grammar: Any) -> Any:
        return grammar.start()

    def fill(self, sequence: Any) -> None:
        sequence.fill_mask(self.row)

    def accept(self, sequence: Any, token: int) -> bool:
        return bool(sequence.commit_token(token))

    def is_accepting(self, sequence: Any) -> bool:
        return bool(sequence.copy().commit_token(self.eos_ids[0]))

    def advance(self, sequence: Any, text: str) -> Any | None:
        after = sequence.copy()
        return after if after.commit_bytes(text.encode()) else None


class GlrmaskFast(Glrmask):
    """Mask strategy `FAST_COMPILE`, at boundaries too, of which there is one before the end: each mask is a walk."""

    name = "glrmask-fast"
    strategy = "FAST_COMPILE"
