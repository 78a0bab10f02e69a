"""Masks with slices are the masks without: against brute force over a vocabulary, and bit by bit over a real one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.compiling.made_grammar import lexeme_grammar
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import json_string_body
from llmask.regex.code_points import TEXT
from llmask.regex.utf8 import utf8_char
from llmask.regex.word_lists import free_text
from llmask.store.slices import MOST_CODE_POINTS, SLICES
from llmask.store.store import Store
from llmask.trie.layout import TokenTrie
from tests.reference import trie_build as twin
from tests.reference.definition import read_mask

QUOTE = b'"'
WORDS = [
    *("a", "b", "é", "日", "😀", "\x7f", "\x1f", '"', "\\", "\\n", "\\u00e9", "\\ud83d\\ude00", "name", "na", " ", "9"),
]
TEXTS = [b'"', b'"a', b'"name', b'"n\\u0061me', b'"a\xc3', b'"\xf0\x9f', b'"\\', b'"\\u00', b'"\\ud83d', b'"a b 9']


def vocabulary(rng: random.Random) -> list[bytes]:
    """All bytes, and tokens of 1 to 45 pieces: in and beyond every slice, with escapes, ends and broken code points."""
    tokens = [b"</s>"] + [bytes([byte]) for byte in range(256)]
    for length in [1, 2, 3, 4, 5, 9, 10, 11, 29, 30, 31, 32, 45] * 3:
        tokens.append("".join(rng.choices(WORDS[:5], k=length)).encode())
        tokens.append("".join(rng.choices(WORDS, k=length)).encode())
        tokens.append("".join(rng.choices(WORDS[:5], k=length)).encode()[:-1] or b"x")
        tokens.append(tokens[-1] + QUOTE)
    return [*tokens, *tokens[300:310]]  # ids with the same bytes as others


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return llmask.Tokenizer.from_bytes(vocabulary(random.Random(11)), eos=0)


def quoted(nodes: Any, body: int) -> int:
    return nodes.concat([nodes.literal(QUOTE), body, nodes.literal(QUOTE)])


def bodies() -> dict[str, Callable[[Any], int]]:
    """String bodies by what bounds them."""
    found: dict[str, Callable[[Any], int]] = {"free": lambda nodes: json_string_body(nodes)}
    for most in (0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 29, 30, 31, 40):
        found[f"maxLength {most}"] = lambda nodes, most=most: json_string_body(nodes, 0, most)
    found["minLength 8"] = lambda nodes: json_string_body(nodes, 8)
    found["5 to 12"] = lambda nodes: json_string_body(nodes, 5, 12)
    for pattern in (
        *("^[a-z]{2,12}$", "a", "^(a|b|é){4,31}$", "^[^b]*$", "^(name|na+)$", "日.*é", "^.{0,10}$|^a.{0,30}$"),
        *(r"^(\S+\s+){0,20}\S+$", r"^(\S+\s+){0,2}\S+$", r"^$|^([^a]{1,3}a){0,11}$", r"^(.{2}){4,9}b?$"),
    ):
        found[f"pattern {pattern}"] = lambda nodes, pattern=pattern: compile_pattern(
            nodes, pattern, dialect="ecma", json_string=True
        )
    found["not a declared key"] = lambda nodes: nodes.intersect(
        [
            json_string_body(nodes),
            nodes.complement(compile_pattern(nodes, "^(name|na|a|日b)$", dialect="ecma", json_string=True)),
        ]
    )
    for most in (6, 25):
        found[f"words, maxLength {most}"] = lambda nodes, most=most: nodes.intersect(
            [
                json_string_body(nodes, 0, most),
                compile_pattern(nodes, r"^(\S+\s+){0,9}\S+$", dialect="ecma", json_string=True),
            ]
        )
    for most in (9, 40):
        found[f"without marks, maxLength {most}"] = lambda nodes, most=most: nodes.intersect(
            [
                json_string_body(nodes, 0, most),
                compile_pattern(nodes, r"^((?!na|<a)[^])*$", dialect="ecma", json_string=True),
            ]
        )
    found["two bounds"] = lambda nodes: nodes.union([json_string_body(nodes, 0, 7), json_string_body(nodes, 20, 33)])
    return found


BODIES = bodies()


def prefixes(texts: list[bytes]) -> list[bytes]:
    return sorted({b""} | {text[:n] for text in texts for n in range(len(text) + 1)})


@pytest.mark.long
@pytest.mark.parametrize("seed", range(50))
def test_the_rest_of_a_slice_is_the_trie_of_all_other_tokens(seed: int) -> None:
    rng = random.Random(seed)
    alphabet = rng.choice([b"ab", b'"a', b"\0\1 ", bytes(range(256)), b"\xc3\xa9 a"])
    prefix = rng.choice([b"", b"a long common prefix", b"\0" * 9])
    longest = rng.choice([2, 5, 12])
    tokens = [b"</s>"] + [
        prefix * (rng.random() < 0.9) + bytes(rng.choices(alphabet, k=rng.randint(0, longest)))
        for _ in range(rng.randint(1, 60))
    ]
    tokenizer = llmask.Tokenizer.from_bytes(tokens, eos=0)
    texts = [tokenizer.token_bytes(token) if token else b"" for token in range(len(tokens))]
    for arrays in Store(tokenizer, llmask.Limits(), ("[ab]{1,3}", "[^a]+")).slice_arrays:
        inside = np.unpackbits(arrays.mask, bitorder="little")[: len(tokens)]
        assert inside.sum() == arrays.n_tokens
        expected = twin.build_trie(texts, (inside == 0).tolist())
        unpacked = TokenTrie(arrays.rest, *tokenizer._parts.trie[1:])
        for name in ("byte", "depth", "token", "subtree_end"):
            assert getattr(unpacked, name).tolist() == expected[name], name
        others = [text for text, is_inside in zip(texts, inside, strict=True) if not is_inside]
        numbers = {prefix: node for node, prefix in enumerate(prefixes(texts))}
        assert arrays.main.tolist() == [numbers[prefix] for prefix in prefixes(others)]


@pytest.mark.long
@pytest.mark.parametrize("name", BODIES)
def test_masks_equal_brute_force(tokenizer: Any, name: str) -> None:
    store = Store(tokenizer, llmask.Limits())
    nodes = store.nodes
    node = quoted(nodes, BODIES[name](nodes))
    grammar = lexeme_grammar(store, node, str)
    tokens = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]

    def left(start: int, data: bytes) -> int:
        for byte in data:
            start = nodes.derivative(start, byte)
        return start

    n_masks = 0
    for text in TEXTS:
        rest = left(node, text)
        if nodes.is_empty(rest):
            continue
        expected = {token for token, data in enumerate(tokens) if data and not nodes.is_empty(left(rest, data))}
        expected |= {0} if nodes.is_nullable(rest) else set()
        matcher = grammar.matcher()
        matcher.accept_bytes(text)
        assert read_mask(matcher, len(tokens)) == expected, text
        n_masks += 1
    assert n_masks > 0


@pytest.mark.parametrize("name", BODIES)
def test_masks_of_a_real_vocabulary_are_those_without_slices(default_tokenizer: Any, name: str, stores: Any) -> None:
    masks = []
    for store in stores:
        grammar = lexeme_grammar(store, quoted(store.nodes, BODIES[name](store.nodes)), str)
        matcher = grammar.matcher()
        for text in TEXTS:
            bitmask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
            try:
                matcher.accept_bytes(text)
            except llmask.TokenRejected:
                masks.append(np.zeros_like(bitmask))
                continue
            matcher.fill_bitmask(bitmask)
            matcher.reset()
            masks.append(bitmask)
    for text, one, other in zip(TEXTS, masks[: len(TEXTS)], masks[len(TEXTS) :], strict=True):
        assert np.array_equal(one, other), text
    assert any(mask.any() for mask in masks)


@pytest.fixture(scope="module")
def stores(default_tokenizer: Any) -> list[Store]:
    """With slices and without."""
    made = [Store(default_tokenizer, llmask.Limits()) for _ in range(2)]
    assert made[0].table.view.n_slices > 0
    made[1].table.view.n_slices = 0
    return made


KEY_PATTERNS = [
    *("^_", "^[ab]", "^[^a]", "a$", "^a+$", "^(d_[a-z]+(-[a-z]+)*)$", "^..$", "é", "^(?!x)", "^[a-z]{0,3}$", "^x-|^y-"),
    *("^(a|ab|x_+)$", "[0-9]"),
]
NAMES = ["name", "number", "_id", "d_en", "a", "ab", "x-y", "é", ""]
KEYS = [*NAMES, "d_en-us", "__", "aaaa", "b 1", 'q"q', "x_", "nam", "names", "日本", "-" * 40]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_keys_beside_patterns_have_the_masks_that_they_have_without_slices(default_tokenizer: Any, seed: int) -> None:
    rng = random.Random(seed)
    schema = {
        "properties": {name: {"type": "integer"} for name in rng.sample(NAMES, rng.randint(0, 4))},
        "patternProperties": {pattern: {"type": "null"} for pattern in rng.sample(KEY_PATTERNS, rng.choice([1, 1, 2]))},
        "additionalProperties": rng.choice([True, True, {"type": "string"}, False]),
        "propertyNames": rng.choice([True, True, {"maxLength": 9}, {"pattern": "^[^b]"}]),
        "type": "object",
    }
    compilers = [llmask.Compiler(default_tokenizer, cache_bytes=0) for _ in range(2)]
    compilers[1]._newest_store().table.view.n_slices = 0
    grammars = [compiler.json_schema(schema) for compiler in compilers]
    n_masks = 0
    for key in rng.sample(KEYS, 6):
        text = b'{"' + json.dumps(key, ensure_ascii=False)[1:].encode()
        for end in range(2, len(text) + 1):
            found = []
            for grammar in grammars:
                matcher = grammar.matcher()
                bitmask = llmask.allocate_bitmask(1, default_tokenizer.vocab_size)
                try:
                    matcher.accept_bytes(text[:end])
                except llmask.TokenRejected:
                    continue
                matcher.fill_bitmask(bitmask)
                found.append(bitmask)
            assert len(found) in (0, 2), (schema, text[:end])
            if found:
                assert np.array_equal(*found), (schema, text[:end])
                n_masks += 1
    assert n_masks > 0 or schema["additionalProperties"] is False


def test_keys_beside_a_pattern_leave_little_to_the_walk(default_tokenizer: Any) -> None:
    compiler = llmask.Compiler(default_tokenizer)
    schema = {"properties": {"name": True}, "patternProperties": {"^_": {"type": "integer"}}, "type": "object"}
    matcher = compiler.json_schema(schema).matcher()
    matcher.accept_bytes(b'{"')
    matcher._sequence.store.table.view.walked = 0
    matcher.fill_bitmask(llmask.allocate_bitmask(1, default_tokenizer.vocab_size))
    assert 0 < matcher._sequence.store.table.view.walked < default_tokenizer._parts.trie.n_nodes // 4


@pytest.mark.parametrize("bounds", [{"maxLength": 8}, {"minLength": 36, "maxLength": 36}, {"maxLength": 1}])
def test_strings_of_a_bounded_length_leave_to_the_walk_what_free_ones_do(default_tokenizer: Any, bounds: Any) -> None:
    """Tokens that are too long are known by their length."""
    n_walked = []
    for said in ({}, bounds):
        matcher = llmask.Compiler(default_tokenizer).json_schema({"type": "string", **said}).matcher()
        matcher.accept_bytes(b'"')
        matcher._sequence.store.table.view.walked = 0
        matcher.fill_bitmask(llmask.allocate_bitmask(1, default_tokenizer.vocab_size))
        n_walked.append(matcher._sequence.store.table.view.walked)
    assert 0 < n_walked[1] < 1.2 * max(n_walked[0], default_tokenizer._parts.trie.n_nodes // 50)


@pytest.mark.parametrize(
    "form",
    [
        {"json_schema": {"type": "string", "maxLength": 200}},
        {
            "json_schema": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 200}}},
            "style": "qwen_xml",
        },
    ],
)
def test_bounded_texts_without_marks_leave_little_to_the_walk(default_tokenizer: Any, form: Any) -> None:
    """Each had a walk over all tokens: 3 ms for each new count."""
    form = {"type": "json_schema", "excludes": ["</x>", "[X]"], "exact_texts": True, **form}
    matcher = llmask.Compiler(default_tokenizer).structural_tag({"format": form}).matcher()
    matcher.accept_bytes(b"<parameter=a>\n" if "style" in form else b'"')
    for text in (b"a word", b" and a ", b"third"):
        matcher.accept_bytes(text)
        matcher._sequence.store.table.view.walked = 0
        matcher.fill_bitmask(llmask.allocate_bitmask(1, default_tokenizer.vocab_size))
        assert 0 < matcher._sequence.store.table.view.walked < default_tokenizer._parts.trie.n_nodes // 3


UNITS = ["a", "[ab]", "[^a]", r"\S", r"\s", "[^ ]", "é", "[é日]", "[^é]", ".", "[^b😀]"]
TIMES = ["", "*", "+", "?", "{0,3}", "{1,9}", "{0,12}", "{2,40}", "{0,99}", "{7}"]


PAIRS = [(r"\S", r"\s"), ("[^a]", "a"), ("[^ab]", "[ab]"), ("[^é]", "é")]


def counted_pattern(rng: random.Random) -> str:
    """Alternatives of sequences of characters and groups, with bounds; of half a list of words."""
    if rng.random() < 0.5:
        (inside, between), high = rng.choice(PAIRS), rng.choice([1, 3, 9, 20, 99])
        listed = f"({inside}{rng.choice('+*')}{between}{rng.choice(['', '+'])}){{{rng.choice([0, 0, 1])},{high}}}"
        return f"^{listed}{inside}{rng.choice(['+', '*', '{0,9}', ''])}$"

    def sequence(depth: int) -> str:
        parts = []
        for _ in range(rng.randint(1, 3)):
            part = f"({sequence(depth - 1)})" if depth and rng.random() < 0.4 else rng.choice(UNITS)
            parts.append(part + rng.choice(TIMES))
        return "".join(parts) if rng.random() < 0.8 else "|".join(parts)

    return f"^({sequence(2)})$"


def counted_node(nodes: Any, is_json: bool, pattern: str, least: int, most: int | None) -> int:
    """A string of JSON, or a text up to a mark, that a pattern matches, within bounds."""
    if is_json:
        body = compile_pattern(nodes, pattern, dialect="ecma", json_string=True)
        return quoted(nodes, nodes.intersect([json_string_body(nodes, least, most), body]))
    text = free_text(nodes, [], [b"a9", '"é'.encode()]).text
    counted = nodes.repeat(utf8_char(nodes, TEXT), least, most)
    return nodes.concat(
        [
            nodes.literal(QUOTE),
            nodes.intersect([counted, compile_pattern(nodes, pattern, dialect="ecma"), text]),
            nodes.literal(b"a9"),
        ]
    )


@pytest.mark.long
@pytest.mark.parametrize("is_json", [True, False])
def test_room_where_code_points_are_counted_changes_no_bit(
    tokenizer: Any, rng: random.Random, scaled: Callable[[int], int], is_json: bool
) -> None:
    words = [tokenizer.token_bytes(token) for token in range(257, tokenizer.vocab_size)]
    n_counted = 0
    for _ in range(scaled(60)):
        pattern, most = counted_pattern(rng), rng.choice([None, 5, 12, 31, 40, 200])
        least = rng.choice([0, 0, 2, min(9, most or 9)])
        matchers, stores = [], [Store(tokenizer, llmask.Limits()) for _ in range(2)]
        stores[1].table.view.n_slices = 0
        try:
            for store in stores:
                node = counted_node(store.nodes, is_json, pattern, least, most)
                if not store.nodes.is_empty(node):
                    matchers.append(lexeme_grammar(store, node, str).matcher())
                    matchers[-1].accept_bytes(QUOTE)
            for _ in range(6 if matchers else 0):
                masks = [read_mask(matcher, tokenizer.vocab_size) for matcher in matchers]
                assert masks[0] == masks[1], (pattern, least, most, matchers[0].tokens)
                ascii_only = [t for t in masks[0] if t > 256 and words[t - 257].isascii()]
                token = rng.choice(ascii_only or sorted(masks[0]))
                if token == 0:
                    break
                for matcher in matchers:
                    matcher.accept_token(token)
        except llmask.LimitExceeded:
            continue
        n_counted += stores[0].table.view.rooms.count > 0
    assert n_counted > 10


def test_a_slice_holds_whole_code_points_only(tokenizer: Any) -> None:
    store = Store(tokenizer, llmask.Limits())
    n_slices = store.table.view.n_slices
    assert len(store.slice_arrays) == len(SLICES) == n_slices
    sizes = []
    for part, (members, most) in zip(store.slice_arrays, SLICES, strict=True):
        inside = np.flatnonzero(np.unpackbits(part.mask, bitorder="little")).tolist()
        sizes.append(len(inside))
        for token in range(1, tokenizer.vocab_size):
            try:
                text = tokenizer.token_bytes(token).decode()
            except UnicodeDecodeError:
                assert token not in inside
                continue
            assert (token in inside) == (all(ord(letter) in members for letter in text) and 0 < len(text) <= most), text
    assert sizes[: len(MOST_CODE_POINTS)] == sorted(sizes[: len(MOST_CODE_POINTS)], reverse=True)
    assert min(sizes) > 0


@pytest.mark.long
@pytest.mark.parametrize(
    "pattern", [".*(?=a)b|xy", r"[^\n]*(?=a)b|xy|[0-9]{3}", "x(.{5,}(?!.)y|ab)", "(.+(?<=a)(?<=b)|z)k"]
)
def test_a_branch_that_has_no_string_lends_the_mask_no_slice(default_tokenizer: llmask.Tokenizer, pattern: str) -> None:
    # The union of an unbounded repetition that contradicts itself and of "xy" took the slice of the repetition: 31,126
    # tokens were allowed that `accept_token` refused.
    matcher = llmask.Compiler(default_tokenizer).regex(pattern).matcher()
    for _ in range(3):
        allowed = read_mask(matcher, default_tokenizer.vocab_size)
        accepted = {t for t in range(default_tokenizer.vocab_size) if matcher.validate_tokens([t]) == 1}
        assert allowed == accepted
        if matcher.is_accepting():
            break
        matcher.accept_token(min(allowed))


CLASSES = ["[a-z]", "[^a]", r"[^\n]", "[é日😀]", ".", r"[\s\S]", '[^"\\\\]', "a", r"\w"]
GRAMMARS = [
    ("json_schema", {"type": "object", "properties": {"name": {"type": "string", "maxLength": 4}}}),
    ("regex", r"/\*([^*]|\*+[^*/])*\*+/"),
    ("regex", r"[^\n]{0,7}\n.*"),
    ("regex", r"(ab|[^b])*"),
    (
        "structural_tag",
        {"format": {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "é"}]], "excludes": ["日"]}},
    ),
]


@pytest.mark.parametrize(("kind", "source"), GRAMMARS)
def test_slices_of_users_change_no_bit(
    tiny_tokenizer: llmask.Tokenizer, rng: random.Random, scaled: Callable[[int], int], kind: str, source: Any
) -> None:
    plain = getattr(llmask.Compiler(tiny_tokenizer), kind)(source)
    for _ in range(scaled(4)):
        slices = [f"{rng.choice(CLASSES)}{rng.choice(['+', '{1,1}', '{1,3}'])}" for _ in range(rng.randint(1, 4))]
        grammar = getattr(llmask.Compiler(tiny_tokenizer, slices=slices), kind)(source)
        matcher, other = grammar.matcher(), plain.matcher()
        for _ in range(20):
            allowed = read_mask(matcher, tiny_tokenizer.vocab_size)
            assert allowed == read_mask(other, tiny_tokenizer.vocab_size), slices
            token = rng.choice(sorted(allowed))
            if token in tiny_tokenizer.eos_ids:
                break
            matcher.accept_token(token)
            other.accept_token(token)


def test_slices_of_users_are_used(default_tokenizer: llmask.Tokenizer) -> None:
    walked = []
    for slices in ((), ("[^ABC]+",)):
        store = Store(default_tokenizer, llmask.Limits(), slices)
        node = compile_pattern(store.nodes, "([^ABC]|A[^B]|[^ABC\\d])*ABC")
        matcher = lexeme_grammar(store, node, str).matcher()
        matcher.accept_bytes(b"d")
        store.table.view.walked = 0
        read_mask(matcher, default_tokenizer.vocab_size)
        walked.append(store.table.view.walked)
    assert walked[1] < walked[0] // 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a-z]", "'[a-z]' is no slice\n  write a class of characters and + or {1,n}: [^*]+"),
        ("[a-z]*", "'[a-z]*' is no slice"),
        (3, "3 is no slice"),
        ("ab+", "'ab' is not one character\n  write a class of characters: [^*]"),
        ("(a|ab)+", "'(a|ab)' is not one character"),
        ("[a-z]{1,0}", "a slice cannot have 0 characters"),
    ],
)
def test_bad_slices_are_refused(tiny_tokenizer: llmask.Tokenizer, text: Any, message: str) -> None:
    with pytest.raises(llmask.GrammarError) as error:
        llmask.Compiler(tiny_tokenizer, slices=[text])
    assert str(error.value).startswith(message)
