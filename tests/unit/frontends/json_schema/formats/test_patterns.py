r"""The format "regex": syntax by example; our own parser of ECMA-262 reads whatever is written under the format."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.regex.ecma_syntax import EcmaParser
from tests.unit.frontends.json_schema.formats.conftest import Check

VALID = [
    "", "a", "é😀", "a|b|", "()", "(?:a)", "(a(b(c)))", "((((()))))", "(?=a)b", "(?<!a(b))c", "(?<name>a)", "a*",
    "a+?", "a??",
    "(a)*", "a{3}", "a{3,}?", "a{2,5}", "a{10,15}", "a{9,10}", "^a$", r"\bfoo\B", r"\d\D\w\W\s\S\t\n\v\f\r\0",
    r"\cJ\x41\u0041",
    r"\u{1F600}\u{10FFFF}", r"\uD83D\uDE00", r"\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/",
    r"\p{L}\P{Lu}\p{Script=Greek}\p{gc=Nd}", "[]",
    "[^]", "[a-z]", "[^a-z0-9_]", "[-a]", "[a-]", "[.*+?(){}|^$[]", r"[\]\\\-\b\d]", r"[\x00-\x1F]", r"[\u0000-\uFFFF]",
    r"[\u4E00-\u9FFF]", "[а-яА-Я]", "[À-ÿ]", "[ -~]", "[!-/]", "[一-龥]", "/", "-", ",", "a-b", "[{](?:[}])",
    r"^(?=.*[A-Z])(?!.*\s).{8,20}$", r"^\d{3}-\d{2}-\d{4}$", r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
]  # fmt: skip
INVALID = [
    "(", ")", "a)", "(a", "[", "[a", "]", "a]", "{", "}", "a{", "a{1", "a{,2}", "a{3,2}", "a{10,9}", "*", "a**",
    "+a", "(*a)",
    "|*", "^*", r"\b+", "(?=a)*", "(?<=a)+", "(?", "(?a)", "(?P<n>a)", "(?#c)", "(?>a)", "(?i)a", "(?<1>a)",
    "(?<a>b)(?<a>c)",
    "\\", r"\a", r"\-", r"\_", r"\é", r"\x4", r"\u004", r"\u{110000}", r"\u{}", r"\c1", r"\p{Foo}", r"\pL", r"\p",
    r"\01", r"\1",
    r"\k<a>", "[z-a]", "[9-0]", r"[\d-z]", r"[a-\d]", r"[\B]", "[b-a-c]", "[я-а]", r"[\x20-\x10]",
    r"[\uFFFF-\u0000]", "[~- ]",
    "((a)", "(?:a))", r"[\]", r"(\)",
]  # fmt: skip


@pytest.mark.long
def test_examples_of_the_syntax(examples: Check) -> None:
    examples("regex", VALID, INVALID)


def written(judge: Any, rng: random.Random, n_texts: int) -> list[str]:
    """Texts under the format, at random and of the characters that syntax is made of."""
    found = []
    for pattern in [
        "^.{1,40}$",
        r"^[()?:=!<>a|*{}0-9,]{6,40}$",
        r"^[\[\]\\^a-cx0-9u-]{6,40}$",
        r"^[\[\]\\pPLu{}=.*+]{3,30}$",
    ]:
        grammar = judge.grammar({"type": "string", "format": "regex", "pattern": pattern})
        found += [json.loads(judge.walk(grammar, rng, 300) or b'""') for _ in range(n_texts)]
    return found


def test_what_is_written_under_the_format_is_read_by_the_parser(
    judge: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    texts = written(judge, rng, scaled(40))
    assert len(set(texts)) > len(texts) // 3
    for text in texts:
        if "Alphabetic" not in text:  # the one property that the format allows and the parser does not know
            EcmaParser(text).parse()


def test_what_is_written_under_the_format_is_valid_to_a_browsers_engine(
    judge: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    texts = [*VALID, *written(judge, rng, scaled(40))]
    script = """
        const refused = [];
        for (const text of JSON.parse(require("fs").readFileSync(0)))
            try { new RegExp(text, "u") } catch (error) { refused.push(String(error)) }
        console.log(JSON.stringify(refused))"""
    answer = subprocess.run([node, "-e", script], input=json.dumps(texts), capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == []
