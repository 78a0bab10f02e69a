r"""The dialect of JSON Schema: search, ECMA-262's classes, what real schemas write; the whole text of each refusal."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError, LlmaskError
from llmask.frontends.regex import compile_pattern
from tests.reference.json_spellings import spell
from tests.reference.regex_nodes import RegexNodes
from tests.unit.frontends.regex.test_meaning import LETTERS, WORDS, random_pattern

CASES = [
    ("a", ["a", "xay"], ["", "b"]),
    ("^a", ["a", "ab"], ["ba", ""]),
    ("a$", ["a", "ba"], ["ab", "a\n"]),
    ("^a$|^b|c", ["a", "bx", "xcx"], ["ax", "xb"]),
    ("^(a|b)$", ["a", "b"], ["ab", ""]),
    ("(^|,)a(,|$)", ["a", "x,a", "a,x", "b,a,c"], ["ba", "ab", "xa,"]),
    ("(^a|b)c", ["ac", "xbc"], ["xac"]),
    ("", ["", "x"], []),
    ("^$", [""], ["x", "\n"]),
    ("(?m)^a$", ["a", "x\na", "a\u2028x", "\ra\n"], ["xa", "a x"]),
    (r"^\d+$", ["12"], ["٣", ""]),
    (r"^\w$", ["a", "_"], ["é"]),
    (r"^[\W]$", ["é", "-"], ["a"]),
    (r"^\s$", [" ", "\ufeff", "\u3000", "\v"], ["\x1c", "\x85", "a"]),
    (r"^\S$", ["\x1c", "a"], ["\u00a0"]),
    ("^.$", ["a", "😀", "\x85"], ["\n", "\r", "\u2028", "\u2029"]),
    ("(?s)^.$", ["\n", "\u2028"], [""]),
    (r"\bé\b", ["aéa"], ["é", "-é-"]),
    (r"^\B$", [""], ["a"]),
    (r"^\cJ\x41\u0042\u{43}\u{1F600}\uD83D\uDE00\0$", ["\nABC😀😀\0"], ["ABC"]),
    (r"^[\uD83D\uDE00-\uD83D\uDE02]$", ["😀", "😁", "😂"], ["😃"]),
    (r"^[^\uD800-\uDFFF]$", ["a", "😀"], ["aa"]),
    (r"^[\b\cA\-\/\]\^]$", ["\b", "\x01", "-", "/", "]", "^"], ["b", "c", "A"]),
    (r"^\f\n\r\t\v\/\-\.\"\'\ \@$", ["\f\n\r\t\v/-.\"' @"], []),
    (r"^\p{L}\p{Lu}\p{gc=Nd}\P{L}\p{Uppercase_Letter}$", ["éÉ٣-A"], ["-É٣-A"]),
    (r"^[\p{ASCII}\p{Any}]$", ["a", "é"], []),
    (r"^\p{Script=Greek}\p{sc=Cyrl}\P{scx=Latin}$", ["λжλ"], ["λλλ", "λжa"]),
    (r"^\p{scx=Hira}\p{Script_Extensions=Kana}$", ["ーー"], ["アア"]),
    (r"^\p{Script=Hiragana}$", ["あ"], ["ー", "ア"]),
    (r"^\p{Lowercase}\p{Upper}\p{White_Space}\p{AHex}\P{Assigned}$", ["éÉ\x85f\U000e0fff"], ["ÉÉ\x85f\U000e0fff"]),
    (r"^\p{Emoji}\p{Alpha}[\p{ID_Start}_]\P{ExtPict}$", ["😀ß_0", "0aⅫ漢"], ["aa_0", "😀1_0", "😀ß10", "😀ß_😀"]),
    (r"^(?<$a>a)(?<b$>b)$", ["ab"], ["a"]),
    ("^[]$", [], ["", "a", "]"]),
    ("^[^]$", ["a", "\n"], ["", "aa"]),
    ("^[[]]$", ["[]"], ["[", "]"]),
    ("^{a}]$", ["{a}]"], ["a"]),
    ("^a{1,2$", ["a{1,2"], ["a"]),
    ("^a{2}b{1,}c{0,1}?$", ["aab", "aabbc"], ["ab"]),
    (r"^[\w-.]+$", ["a-.", "-"], [","]),
    (r"^[a-\d]+$", ["a-1"], ["b"]),
    (r"^(?<year>\d{4})-(?P<month>\d\d)$", ["2024-05"], ["2024-5"]),
    (r"(?i)^ab$", ["AB", "ab"], ["ac"]),
    (r"^(?i:a)b$", ["Ab"], ["aB"]),
    (r"\Aab\Z", ["ab"], ["xab", "ab\n"]),
    (r"\Aab\z", ["ab"], ["abx"]),
    ("^(?!.*--)(?=.{2,4}$)[a-z-]+$", ["ab", "a-b"], ["a--b", "a", "abcde"]),
    ("(?<!a)b", ["b", "cb"], ["ab"]),
    ("(?<=^|,)b", ["b", "a,b"], ["ab"]),
    ("(?<=a+)b(?!c)", ["aab", "abd"], ["b", "abc"]),
    ("^(?:(?!ab).)+$", ["ba", "aa"], ["ab", "aab", ""]),
]


@pytest.mark.long
@pytest.mark.parametrize(("pattern", "found", "missing"), CASES, ids=[ascii(case[0]) for case in CASES])
def test_patterns_are_found_as_ecma_262_says(nodes: Any, pattern: str, found: list[str], missing: list[str]) -> None:
    rng = random.Random(pattern)
    raw, quoted = compile_pattern(nodes, pattern, "ecma"), compile_pattern(nodes, pattern, "ecma", json_string=True)
    for word in found + missing:
        assert nodes.matches(raw, word.encode()) == (word in found), word
        assert nodes.matches(quoted, spell(rng, word)) == (word in found), word


def test_search_finds_what_re_finds(nodes: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    for _ in range(scaled(120)):
        pattern = random_pattern(rng, rng.randrange(2, 5))
        if any(only_python in pattern for only_python in ("$", "(?a", r"\B", "(?i", "(?m")):
            continue
        node = compile_pattern(nodes, pattern, "ecma")
        for word in rng.sample(WORDS, 30):
            assert nodes.matches(node, word.encode()) == bool(re.search(pattern, word)), (pattern, word)
    assert set(LETTERS).isdisjoint("\r\u2028\u2029")  # where `.` differs


REFERENCE = "a backreference depends on what a group matched, which no regular language can"
WRITE_OUT = "Write the group's alternatives out, each with its repetition."
PROPERTIES = "Use a general category such as Lu, a common script such as Script=Greek, or ranges of code points."
REFUSED = [
    ("a{,3}", "the repetition has no lower bound", 2, "Write {0,3}."),
    ("a++", "a quantifier cannot follow a quantifier", 2, "Remove the plus."),
    ("a{2}{3}", "a quantifier cannot follow a quantifier", 5, "Put what it repeats in a group: (?:...)*."),
    ("[a", "this class is not closed", 1, r"Add a closing bracket, or write \[ for the character."),
    (r"(a)\1", REFERENCE, 4, WRITE_OUT),
    (r"(?<x>a)\k<x>", REFERENCE, 8, WRITE_OUT),
    (r"\e", r"the escape \e has no meaning", 1, "Remove the backslash for the character itself."),
    (r"[\07]", r"the escape \0 has no meaning", 2, "Remove the backslash for the character itself."),
    (r"\c1", r"the escape \c needs a letter", 1, r"Example: \cJ."),
    (r"\u12", "this escape needs 4 hexadecimal digits of a code point", 1, r"Example: \x41."),
    (r"\u{110000}", "this escape needs 4 hexadecimal digits of a code point", 1, r"Example: \x41."),
    (r"\pL", r"the escape \p needs a property", 1, r"Example: \p{L}."),
    (r"\p{Script=Common}", "the Unicode property Script=Common is not supported", 1, PROPERTIES),
    (r"\p{RGI_Emoji}", "the Unicode property RGI_Emoji is not supported", 1, PROPERTIES),
    ("(?<1a>b)", "this group's name is no identifier", 1, "Write (?P<name>...)."),
]


@pytest.mark.parametrize(("pattern", "message", "column", "help"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refusals_say_what_where_and_how_to_mend(pattern: str, message: str, column: int, help: str) -> None:
    with pytest.raises(GrammarError) as caught:
        compile_pattern(RegexNodes(), pattern, "ecma")
    assert str(caught.value) == f"{message}\n  at column {column} of the pattern {pattern}\n  {help}"


@pytest.fixture(scope="module")
def corpus(maskbench_rows: list[dict[str, Any]]) -> list[str]:
    """Every pattern of MaskBench's schemas."""
    found: set[str] = set()
    waiting: list[Any] = [row["schema"] for row in maskbench_rows]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("pattern"), str):
                found.add(value["pattern"])
            if isinstance(value.get("patternProperties"), dict):
                found |= set(value["patternProperties"])
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return sorted(found)


def test_nearly_all_patterns_of_real_schemas_compile(nodes: Any, corpus: list[str]) -> None:
    refused = []
    for pattern in corpus:
        try:
            compile_pattern(nodes, pattern, "ecma", json_string=True)
        except LlmaskError:
            refused.append(pattern)
    assert len(corpus) > 1000
    assert len(refused) <= len(corpus) // 1000, refused


def random_match(nodes: Any, node: int, rng: random.Random) -> str:
    """A text that the node accepts, or one that got stuck on the way."""
    text = ""
    while len(text) < 30 and not (nodes.is_nullable(node) and rng.random() < 0.3):
        options = [(b, nodes.derivative(node, b)) for b in rng.sample(range(32, 127), 95)[:40]]
        alive = [(byte, after) for byte, after in options if after != nodes.EMPTY]
        if not alive:
            break
        byte, node = rng.choice(alive)
        text += chr(byte)
    return text


def test_patterns_of_real_schemas_find_what_re_finds(
    nodes: Any, corpus: list[str], rng: random.Random, scaled: Callable[[int], int]
) -> None:
    n_found = n_compared = 0
    for pattern in rng.sample(corpus, min(len(corpus), scaled(150))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                judge = re.compile(pattern, re.ASCII)
            node = compile_pattern(nodes, pattern, "ecma")
        except (re.error, LlmaskError):
            continue
        for _ in range(4):
            text = random_match(nodes, node, rng)
            at = rng.randrange(len(text) + 1)
            for word in (text, text[:at] + text[at + 1 :], text[:at] + chr(rng.randrange(32, 127)) + text[at:]):
                assert nodes.matches(node, word.encode()) == bool(judge.search(word)), (pattern, word)
                n_compared += 1
                n_found += bool(judge.search(word))
    assert n_compared // 5 < n_found < n_compared
