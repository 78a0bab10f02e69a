"""`judge`: schemas compiled over single bytes, beside `jsonschema`, which says what is valid."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import jsonschema
import numpy as np
import pytest

from llmask import allocate_bitmask
from llmask.compiling.compiled import CompiledGrammar
from llmask.frontends.json_schema import SchemaGrammar, SchemaOptions, compile_schema
from llmask.limits import Limits
from llmask.matching.matcher import Matcher
from llmask.matching.sequence import ALL_TAKEN
from llmask.store.store import Store
from llmask.tokenizer.tokenizer import Tokenizer
from tests.reference.engine.mask import Engine
from tests.reference.regex_nodes import RegexNodes

MAX_TRIES = 20_000  # of orders of keys


class Judge:
    """One store for all schemas of a test module."""

    def __init__(self) -> None:
        tokenizer = Tokenizer.from_bytes([bytes([byte]) for byte in range(256)] + [b"<eos>"], eos=256)
        self.store = Store(tokenizer, Limits())
        self.nodes = self.store.nodes
        self._tries = 0

    def translate(self, schema: Any, **options: Any) -> SchemaGrammar:
        return compile_schema(self.nodes, schema, SchemaOptions(**options))

    def grammar(self, schema: Any, **options: Any) -> CompiledGrammar:
        made = self.translate(schema, **options)
        return CompiledGrammar(self.store, made.rules, make_variant=made.make_variant)

    def accepts(self, grammar: CompiledGrammar, value: Any) -> bool:
        """Whether the value is accepted as `json.dumps` writes it."""
        return grammar.accepts(json.dumps(value, ensure_ascii=False))

    def accepts_in_some_order(self, grammar: CompiledGrammar, value: Any) -> bool:
        """Whether the value is accepted with the keys of its objects in some order."""
        self._tries = 0
        return any(matcher.is_accepting() for matcher in self._written(grammar.matcher(), value))

    def after(self, matcher: Matcher, data: bytes) -> Matcher | None:
        self._tries += 1
        matcher = matcher.fork()
        return (
            matcher if matcher._sequence.take_bytes(data) == ALL_TAKEN else None
        )  # no message is made of each refusal

    def _written(self, matcher: Matcher | None, value: Any) -> Iterator[Matcher]:
        if matcher is None or self._tries > MAX_TRIES:
            return
        if isinstance(value, dict) and value:
            yield from self._object(self.after(matcher, b"{"), list(value.items()), True)
        elif isinstance(value, list) and value:
            yield from self._array(self.after(matcher, b"["), value, True)
        else:
            end = self.after(matcher, json.dumps(value, ensure_ascii=False).encode())
            if end is not None:
                yield end

    def _object(self, matcher: Matcher | None, members: list[Any], is_first: bool) -> Iterator[Matcher]:
        if matcher is None:
            return
        if not members:
            end = self.after(matcher, b"}")
            if end is not None:
                yield end
        for at, (name, value) in enumerate(members):
            key = (b"" if is_first else b",") + json.dumps(name, ensure_ascii=False).encode() + b":"
            for here in self._written(self.after(matcher, key), value):
                yield from self._object(here, members[:at] + members[at + 1 :], False)

    def _array(self, matcher: Matcher | None, members: list[Any], is_first: bool) -> Iterator[Matcher]:
        if matcher is None:
            return
        if not members:
            end = self.after(matcher, b"]")
            if end is not None:
                yield end
            return
        for here in self._written(matcher if is_first else self.after(matcher, b","), members[0]):
            yield from self._array(here, members[1:], False)

    def walk(self, grammar: CompiledGrammar, rng: random.Random, max_bytes: int = 4000) -> bytes:
        """A random document. Bytes that end something are preferred, so that documents stay short."""
        matcher = grammar.matcher()
        text = bytearray()
        bitmask = allocate_bitmask(1, self.store.tokenizer.vocab_size)
        while len(text) < max_bytes:
            if matcher.is_accepting() and rng.random() < 0.7:
                return bytes(text)
            matcher.fill_bitmask(bitmask)
            allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:256]).tolist()
            assert allowed or matcher.is_accepting(), f"no byte may follow {bytes(text)!r}"
            if not allowed:
                return bytes(text)
            closing = [byte for byte in allowed if byte in b'"}]' or (len(text) > max_bytes // 4 and byte in b"0,:")]
            plain = [byte for byte in allowed if 0x20 < byte < 0x7F and byte != 0x5C]
            choices = closing if closing and rng.random() < 0.4 else plain if plain and rng.random() < 0.95 else allowed
            byte = rng.choice(choices)
            matcher.accept_token(byte)
            text.append(byte)
        return b""

    def reference(self, schema: Any, **options: Any) -> Engine:
        """The reference engine, over expressions of its own."""
        nodes: Any = RegexNodes()
        made = compile_schema(nodes, schema, SchemaOptions(**options))
        return Engine(made.rules, nodes.expressions, make_variant=made.make_variant)

    def is_valid(self, schema: Any, value: Any, formats: bool = False) -> bool:
        """What `jsonschema` says, in the draft that the schema declares."""
        validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
        return bool(validator(schema, format_checker=validator.FORMAT_CHECKER if formats else None).is_valid(value))

    def agrees(self, schema: Any, valid: list[Any], invalid: list[Any], **options: Any) -> None:
        """Assert that the values are judged so by both."""
        grammar = self.grammar(schema, **options)
        for value in valid:
            assert self.is_valid(schema, value), f"jsonschema refuses {value!r}"
            assert self.accepts(grammar, value), f"the grammar refuses {value!r}"
        for value in invalid:
            assert not self.is_valid(schema, value), f"jsonschema accepts {value!r}"
            assert not self.accepts_in_some_order(grammar, value), f"the grammar accepts {value!r}"


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge()
