"""The compiled stores in words: the tour of a mask, and agreement with masks, rules and derivatives."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llmask
from llmask import debug
from tests.reference.definition import read_mask
from tests.unit.frontends.json_schema.random_schemas import random_schema

TOKENS = [b"[", b'["', b'"', b"a", b"b", b'a"', b'"a', b'","', b'",', b"]", b'"]', b""]
EOS = 11
SCHEMA = {"type": "array", "items": {"enum": ["a", "ab"]}, "maxItems": 2}
TOUR = """\
#: #~2
#~2: "[" ("]" | -> 1)
  1: /"a"|"ab"/ (","{count==0, +1 up to 1} -> 1 | "]")

%ignore /[\\t\\n\\r ]{1,64}/

row 1, lexer state 14
  kernel #~2: "[" • ("]" | -> 1)    begun in row 0, count 0
  scans "]"         of #~2: "[" • ("]" | -> 1)    begun in row 0, count 0
  scans /"a"|"ab"/  of #~2.1: • /"a"|"ab"/ (","{count==0, +1 up to 1} -> 1 | "]")    begun in row 0, count 0

lexer state 17, inside a lexeme
  /"a"|"ab"/, left: /"|b"/

configuration 2: row 1, lexer state 17; the document may not end here
  5 tokens are allowed
  inside the lexeme: 'b'
  beyond its end: '"' '","' '",' '"]'

row 3, lexer state 21
  kernel #~2.1: • /"a"|"ab"/ (","{count==0, +1 up to 1} -> 1 | "]")    begun in row 0, count 1
  scans /"a"|"ab"/  of #~2.1: • /"a"|"ab"/ (","{count==0, +1 up to 1} -> 1 | "]")    begun in row 0, count 1

lexer state 21, before a lexeme
  /[\\t\\n\\r ]{1,64}/
  /"a"|"ab"/

lexer state 15, inside a lexeme
  /"a"|"ab"/, left: /a"|ab"/

configuration 3: row 3, lexer state 15; the document may not end here
  2 tokens are allowed
  inside the lexeme: 'a'
  beyond its end: 'a"'"""


def test_the_tour_of_a_wrong_mask() -> None:
    """From the schema by rules, row and lexer state to the mask, at two places of a document."""
    tokenizer = llmask.Tokenizer.from_bytes(TOKENS, eos=EOS)
    bitmask = llmask.allocate_bitmask(1, len(TOKENS))
    grammar = llmask.Compiler(tokenizer).json_schema(SCHEMA)
    matcher = grammar.matcher()
    matcher.accept_bytes(b'["a')
    matcher.fill_bitmask(bitmask)
    seen = [grammar.rules(), debug.row(matcher), debug.lexer_state(matcher), debug.configuration(matcher)]
    matcher.accept_token(TOKENS.index(b'","'))
    matcher.fill_bitmask(bitmask)
    row = debug.row(matcher)
    seen += [row, debug.lexer_state(matcher, row.state), debug.lexer_state(matcher), debug.configuration(matcher)]
    assert "\n\n".join(map(str, seen)) == TOUR


def test_the_map_of_the_package_shows_the_same_tour(project_root: Path) -> None:
    text = (project_root / "llmask" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert "\n".join(shown for language, shown in blocks if not language) == f"{TOUR}\n"
    told: dict[str, Any] = {}
    for code in (shown for language, shown in blocks if language == "python"):
        exec(compile(code, "llmask/README.md", "exec"), told)
        assert told["tokens"] == TOKENS
        assert str(told["matcher"].grammar.rules()) == TOUR.split("\n\nrow")[0]
    for number, text in enumerate((b'["a', b'["a","')):
        at, inside, allowed = told["compared"](text)
        assert f"{len(allowed)} tokens are allowed" == re.findall(r"\d+ tokens are allowed", TOUR)[number]
        assert f"row {at.row}," in re.findall(r"^row \d+,", TOUR, re.MULTILINE)[number]
        sides = re.findall(r"(?:inside the lexeme|beyond its end): (.*)", TOUR)[2 * number : 2 * number + 2]
        shown = [sorted(repr(TOKENS[token].decode()) for token in side) for side in (inside, allowed - inside)]
        assert [sorted(side.split()) for side in sides] == shown


def test_nothing_is_built_by_looking(byte_tokenizer: Any) -> None:
    grammar = llmask.Compiler(byte_tokenizer).json_schema(SCHEMA)
    matcher = grammar.matcher()
    matcher.accept_bytes(b"[")
    before = grammar.statistics(), grammar._loaded.store.statistics()
    found = debug.configuration(matcher)
    assert found.mask is None
    assert str(found).endswith("its mask is not built yet: fill_bitmask builds it")
    assert (grammar.statistics(), grammar._loaded.store.statistics()) == before


def walked(matcher: Any, rng: random.Random, n_vocab: int, n_places: int = 12) -> int:
    """Compare what is said of the places of a random walk with its masks; returns how many."""
    for n_compared in range(n_places):
        allowed = read_mask(matcher, n_vocab)
        found = debug.configuration(matcher)
        assert found.mask is not None
        assert set(found.mask.tokens()) == allowed, f"{matcher.text()!r}\n{found}"
        assert not {*found.mask.inside} & {*found.mask.crossing}, str(found)
        assert found.may_end == matcher.is_accepting()
        assert found == debug.configuration(matcher.grammar, found.number)
        assert debug.row(matcher) == found.row == debug.row(matcher.grammar, found.row.number)
        assert debug.lexer_state(matcher) == found.lexer_state
        left = allowed - set(matcher.grammar.tokenizer.eos_ids)
        if not left:
            return n_compared
        matcher.accept_token(rng.choice(sorted(left)))
    return n_places


@pytest.mark.long
def test_masks_of_random_schemas_are_told_apart(
    tiny_tokenizer: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    n_compared = 0
    for number in range(scaled(60)):
        schema = random_schema(rng)
        if number % 3 == 0 and isinstance(schema, dict):
            schema = {"type": "array", "items": schema, "uniqueItems": True, "$defs": schema.pop("$defs")}
        try:
            grammar = compiler.json_schema(schema)
        except (llmask.UnsatisfiableSchema, llmask.UnsupportedSchema):
            continue
        n_compared += walked(grammar.matcher(), rng, tiny_tokenizer.vocab_size)
        assert [row.number for row in debug.rows(grammar)] == list(range(debug.n_rows(grammar)))
        assert all(str(row) for row in debug.rows(grammar))
    assert n_compared > scaled(200)


def test_whole_bitmasks_are_read(default_tokenizer: Any, rng: random.Random, costly: Callable[[int], int]) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    for grammar in (compiler.json_schema({"type": "string"}), compiler.grammar("python"), compiler.regex(".*")):
        assert walked(grammar.matcher(), rng, default_tokenizer.vocab_size, costly(3)) > 0


def test_named_tokens_are_told_apart() -> None:
    tokenizer = llmask.Tokenizer.from_bytes([b"a", b"b", b"<call>", b"<end>", b"ab"], eos=3, special=[2])
    matcher = llmask.Compiler(tokenizer).lark('start: "a" (<[2]> | "b") | <[0]> "a"').matcher()
    read_mask(matcher, 5)
    found = debug.configuration(matcher)
    assert (found.mask, found.row.flags) == (debug.Mask([], [0, 4], [], []), ("it names tokens",))
    matcher.accept_bytes(b"a")
    read_mask(matcher, 5)
    found = debug.configuration(matcher)
    assert found.mask == debug.Mask([], [1], [2], [])
    assert str(found).endswith("  beyond its end: 'b'\n  named: (<call>)")


def test_what_is_recorded_is_shown(byte_tokenizer: Any) -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", 7]}}
    matcher = llmask.Compiler(byte_tokenizer).json_schema(schema).matcher()
    matcher.accept_bytes(b'["a","')
    found = debug.configuration(matcher)
    assert found.recorded == b'"'
    assert {item.parameter for _, item in found.row.waits} == {"set {'\"a\"'}", ""}
    matcher = llmask.Compiler(byte_tokenizer).json_schema({**schema, "items": {**schema, "items": {}}}).matcher()
    matcher.accept_bytes(b'[["\\u0061" ,"b"')  # of a value that ended the number is kept, not how it was written
    assert debug.configuration(matcher).recorded == b'["a","b"'


def test_members_of_a_set_are_shown(byte_tokenizer: Any) -> None:
    schema = {"type": "object", "properties": {name: {"type": "null"} for name in "abc"}, "required": ["a"]}
    grammar = llmask.Compiler(byte_tokenizer).json_schema(schema, property_order="any")
    matcher = grammar.matcher()
    matcher.accept_bytes(b'{"c":null,"a":null')
    assert {item.parameter for item in debug.row(matcher).kernel} == {"set {0, 2}"}


PATTERNS = ("[0-9]{2,4}x?", "(?:ab|cd)*é", "if|in|int", ".*end", "(?!ab)[a-c]+")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_left_of_a_lexeme_are_its_derivatives(byte_tokenizer: Any, pattern: str, rng: random.Random) -> None:
    grammar = llmask.Compiler(byte_tokenizer).regex(pattern)
    nodes, shown = grammar._loaded.store.nodes, grammar.rules()
    for _ in range(5):
        text = grammar.sample(rng.randrange(10**6), 40)
        matcher, left = grammar.matcher(), grammar._loaded.own_rules.edges[2]
        for n_read, byte in enumerate(text[:-1]):
            matcher.accept_bytes(bytes([byte]))
            left = nodes.derivative(left, byte)
            found = debug.lexer_state(matcher)
            if found.is_start:
                break  # nothing could be added
            (one,) = found.lexemes
            assert (one.left, one.may_end) == (shown.lexeme_text(left), nodes.is_nullable(left)), text[: n_read + 1]


def test_loaded_rules_are_those_written_without_what_derives_nothing(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    for text in ('root ::= "a" root "b" | [0-9]+', 'root ::= x y*\nx ::= "(" root ")" | "x"\ny ::= "," x'):
        grammar = compiler.gbnf(text)
        assert debug.rules(grammar) == str(grammar.rules())
    empty = compiler.json_schema({"enum": [[]]}, whitespace="compact")
    assert debug.rules(empty) == '#: "[" "]"'
    late = compiler.lark('start: x::0\nx::_ : "a" x::incr(_) | "b" %if ge(_, 1)')
    matcher = late.matcher()
    matcher.accept_bytes(b"aa")
    assert "late(x::1) -> 2" in debug.rules(matcher)
