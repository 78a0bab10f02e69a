"""outlines-core: a schema becomes one regular expression, that becomes an index of all its states and tokens.

The whole work is done when a schema is compiled, so the index of some schemas takes minutes or more memory than there
is: its worker gets a limit, and the command line's `--timeout` ends the rest. White space is JSON's, or none.

In: see `base.py`. Out: an `Engine`. Cost: a second for the tokenizer.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from bench.engines.base import CompileError, Engine, as_pattern

WHITESPACE = {"flexible": r"[ \t\n\r]*", "compact": ""}


class Sequence(NamedTuple):
    """A guide with its index, which answers for texts that are tried and not taken."""

    guide: Any
    index: Any


class State(NamedTuple):
    """What `advance` returns: a state of an index."""

    index: Any
    state: int


class OutlinesCore(Engine):
    """A mask is written through the pointer of the array, as the package's own helpers do."""

    name = package = "outlines-core"
    memory_gb = 8.0
    n_verified = 8

    def __init__(self, whitespace: str, vocabulary_name: str = "llama3") -> None:
        super().__init__(whitespace, vocabulary_name)
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        self.module = outlines_core
        self.build_regex = build_regex_from_schema
        self.eos_ids = (self.vocabulary.eos,)
        special = set(self.vocabulary.special_ids)
        self.ids: dict[bytes, list[int]] = {}
        for token, data in enumerate(self.vocabulary.tokens):
            if data and token not in special:
                self.ids.setdefault(data, []).append(token)
        self.byte_ids = {data[0]: ids[0] for data, ids in self.ids.items() if len(data) == 1}
        self.known = outlines_core.Vocabulary(self.vocabulary.eos, self.ids)
        self.n_words = self.words.size

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        try:
            if kind == "schema":
                pattern = self.build_regex(json.dumps(grammar), WHITESPACE[self.whitespace])
            else:
                pattern = as_pattern(grammar, kind)
            return self.module.Index(pattern, self.known)
        except (ValueError, TypeError, OverflowError) as error:
            raise CompileError(f"{type(error).__name__}: {error}") from error

    def start(self, grammar: Any) -> Any:
        return Sequence(self.module.Guide(grammar), grammar)

    def fill(self, sequence: Any) -> None:
        sequence.guide.write_mask_into(self.pointer, self.n_words, 4)

    def accept(self, sequence: Any, token: int) -> bool:
        try:
            sequence.guide.advance(token, return_tokens=False)
        except ValueError:
            return False
        return True

    def is_accepting(self, sequence: Any) -> bool:
        if isinstance(sequence, State):
            return bool(sequence.index.is_final_state(sequence.state))
        return bool(sequence.guide.is_finished())

    def advance(self, sequence: Any, text: str) -> Any | None:
        state = sequence.state if isinstance(sequence, State) else sequence.guide.get_state()
        for byte in text.encode():
            state = sequence.index.get_next_state(state, self.byte_ids[byte])
            if state is None:
                return None
        return State(sequence.index, state)
