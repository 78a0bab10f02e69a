"""Random grammars, saved and pickled: masks along random documents are those of the grammar that was sent."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from tests.generators.lark_grammars import structured_grammar
from tests.generators.patterns import Patterns
from tests.generators.schemas import random_schema
from tests.unit.compiling.saved_grammars import same, walk_together

pytestmark = pytest.mark.filterwarnings("ignore::llmask.GrammarWarning")

OPTIONS: dict[str, tuple[Any, ...]] = {
    "whitespace": ("flexible", "compact", " ?", "[ \t]{0,2}"),
    "max_whitespace": (0, 1, 64),
    "property_order": ("schema", "any"),
    "format": ("assert", "annotate"),
    "formats": (None, {"date": "^[0-9]{1,2}$"}, {"é": "a+"}),
    "unique_keys": (False, True),
    "numbers": ("json", "plain"),
    "escapes": ("free", "all", "minimal", '"n\\'),
    "literals": ("json", "any"),
}


def random_grammar(rng: random.Random, compiler: llmask.Compiler, depth: int = 0) -> llmask.CompiledGrammar:
    kind = rng.randrange(6 if depth < 3 else 3)
    if kind == 0:
        chosen = {name: rng.choice(values) for name, values in OPTIONS.items() if rng.random() < 0.3}
        return compiler.json_schema(random_schema(rng), unsupported="ignore", **chosen)
    if kind == 1:
        return compiler.regex(Patterns(rng).pattern().pattern, rng.choice(("fullmatch", "search")))
    if kind == 2:
        return compiler.lark(structured_grammar(rng))
    first = random_grammar(rng, compiler, depth + 1)
    if kind == 3:
        return first.repeat(rng.randrange(3), rng.choice((None, 3)))
    other = rng.choice((first, random_grammar(rng, compiler, depth + 1)))
    return rng.choice((first.union, first.concat))(other)


def test_what_arrives_is_what_was_sent(tiny_tokenizer: Any, rng: random.Random, costly: Callable[[int], int]) -> None:
    compiler, elsewhere = llmask.Compiler(tiny_tokenizer), llmask.Compiler(tiny_tokenizer)
    n_found = 0
    while n_found < costly(60):
        try:
            grammar = random_grammar(rng, compiler)
        except llmask.LlmaskError:
            continue  # no document, or what cannot be put together
        n_found += 1
        data = grammar.save()
        there, again = pickle.loads(pickle.dumps(grammar)), elsewhere.load(data)
        assert there.save() == again.save() == data
        for seed, one in enumerate((there, again)):
            same(grammar, one, seed, n_tokens=12)
        matcher = grammar.matcher()
        walk_together(matcher, there.matcher(), rng, 6)
        if not matcher.is_terminated():
            walk_together(matcher, pickle.loads(pickle.dumps(matcher)), rng, 6)
