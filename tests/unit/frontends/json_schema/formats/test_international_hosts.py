"""Host names beyond ASCII: each rule of RFC 5890 to 5893 by example; the package `idna` judges what is written."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats import international_hosts, patterns
from llmask.frontends.json_schema.formats.international_hosts import LENGTHS
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import RAW_STYLE, StringStyle
from tests.reference import host_names
from tests.reference.idna_rules import machine
from tests.reference.json_machine import json_machine
from tests.unit.frontends.json_schema.formats.conftest import Check

HOSTS = [
    "example.com", "A-1", "bücher.example", "例え.テスト", "straße.de", "πι.gr", "ёж.рф", "조선\uff61kr",
    "x.मराठी\u3002in",
    "שלום", "שלום.א1", "א-ב", "مثال.إختبار", "l\u00b7l", "α\u0375α", "א\u05f3", "א\u05f4ב", "・ア", "a・亜",
    "क\u094d\u200d", "क\u094d\u200cक", "بي\u200cب", "ا\u0660", "۰", "q\u0301", "ọ\u0301", "a" * 62 + ".é", "π" * 19,
    "亜" * 14, "각" * 15,
]  # fmt: skip
NO_HOSTS = [
    "", ".", "é.", ".é", "a..é", "-é", "é-", "éa--b", "xn--é", "É", "éA", "é_", "é é", "é@a", "ｅ", "ﬁ", "\u0301a",
    "a.\u0301", "e\u0301", "a\u0323\u0301"[::-1], "が\u3099"[:1] + "か\u3099", "\u00b7l", "l\u00b7", "a\u00b7l",
    "l\u00b7a",
    "α\u0375a", "α\u0375", "a\u05f3", "\u05f3", "・", "a・b", "ア.・", "क\u200d", "\u200dक", "क\u200cक", "\u200c",
    "بي\u200c",
    "ب\u200ca", "٠۰", "ا٠۰", "٠ا", "ש・", "・ש", "ב・ア", "0א", "1.א", "אa", "aא", "א1٠", "א-", "\u0640", "😀",
    "é" * 20, "亜" * 15, "é.a.b.c.d",
    "a" * 64 + ".é", "\u2c2f", "\ufeffé", "\u00ad",
]  # fmt: skip


def test_each_rule_has_examples_on_both_sides(examples: Check) -> None:
    examples("idn-hostname", HOSTS, NO_HOSTS)


def test_mailboxes_beyond_ascii(examples: Check) -> None:
    valid = ["é@a", "é.ü@bücher.de", '"é ü"@a', "a@例え.jp", "\x80@a", "a@[127.0.0.1]", "😀@a"]
    invalid = ["é", "@é", "é@", ".é@a", "é..a@b", "é@-a", "é ü@a", "é@a\uff20b", "é＠a", '"\\é"@a', "a@é-", "a@\u0301"]
    examples("idn-email", valid, invalid)


@pytest.mark.parametrize("style", [StringStyle(), StringStyle(escapes='"u'), StringStyle(escapes=""), RAW_STYLE])
def test_names_are_spelled_as_the_style_has_it(judge: Any, style: StringStyle) -> None:
    """The automata of the rules know every spelling; what is beside them knows the style."""
    nodes = judge.nodes.variant(style)
    node = international_hosts.international_hostname(nodes)
    assert all(nodes.matches(node, name.encode()) for name in ("bücher.example", "例え.テスト"))
    assert not any(nodes.matches(node, name.encode()) for name in ("-ü.example", "a\u0301bß\u200d.example"))
    assert nodes.matches(node, b"\\u00fc") == nodes.matches(node, b"\\u00FC") == ("u" in style.escapes)


def refusal(name: str) -> str | None:
    """Why the package `idna` refuses a name, label by label; names of ASCII are left to `patterns`."""
    idna = pytest.importorskip("idna", reason="the package idna is absent")
    length = -1
    is_bidi = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in name)
    for label in re.split("[.\u3002\uff0e\uff61]", name):
        try:
            if not label.isascii():
                idna.check_label(label)
                length += len(idna.alabel(label)) + 1
            else:
                length += len(label) + 1
            idna.check_bidi(label, check_ltr=is_bidi)
        except idna.IDNAError as error:
            if "Unknown directionality" in str(error) and not all(map(unicodedata.bidirectional, label)):
                continue  # a character that is younger than this Python's tables
            return f"{label!r}: {error}"
    return None if length <= 253 else "the name is too long"


@pytest.mark.parametrize(
    "pattern",
    ["", "^[֐-ࣿ0-9.-]+$", "^[ऀ-෿.\u200c\u200d]{4,}$", "^[a-z\u00b7\u0300-Ͽ.]+$", "^[　-俿a-c.]{10,}$",
     "^[lL.\u00b7\u0375α-ωא-״・ア亜]+$", "^[\U00010000-\U0010ffff]{9,}$"],
)  # fmt: skip
def test_what_is_written_under_the_format_is_valid_to_idna(
    judge: Any, pattern: str, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    grammar = judge.grammar({"type": "string", "format": "idn-hostname", "pattern": pattern})
    texts = {json.loads(judge.walk(grammar, rng, 300) or b'""') for _ in range(scaled(25))} - {""}
    assert texts
    assert [found for text in texts if (found := refusal(text))] == []


@pytest.mark.long
@pytest.mark.parametrize(("window", "most"), LENGTHS)
def test_the_longest_labels_fit_into_63_octets_whatever_they_hold(
    judge: Any, window: str, most: int, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    """Hill climbing from random labels: a search that tries to break the bound."""
    node = compile_pattern(judge.nodes, f"^[a\\-{window}]$", "ecma")
    ends = [0x61, 0x80, 0x7FF, 0x900, 0xDFF, 0x3005, 0x9FFF, 0xAC00, 0xD7A3, 0xE000, 0x10FFFF]
    pool = [chr(c) for end in ends for c in range(max(0x61, end - 40), min(0x10FFFF, end + 40) + 1)]
    pool = [c for c in pool if not 0xD800 <= ord(c) < 0xE000 and judge.nodes.matches(node, c.encode())]
    longest = 0
    for _ in range(scaled(8)):
        label = rng.choices(pool, k=most)
        length = 0
        for _ in range(300):
            tried = list(label)
            tried[rng.randrange(most)] = rng.choice(pool)
            found = len("".join(tried).encode("punycode")) + 4 if not "".join(tried).isascii() else most
            if found >= length:
                label, length = tried, found
        longest = max(longest, length)
    assert longest <= 62


@pytest.mark.parametrize("schema", [{"minLength": 40}, {"minLength": 5, "maxLength": 60}, {"pattern": "^strconv・"}])
def test_what_can_still_become_a_name_is_found_at_once(judge: Any, schema: dict[str, Any]) -> None:
    """Whether a name of 40 characters, or a label that needs a Japanese letter, exists took more than 200,000 steps."""
    grammar = judge.grammar({"type": "string", "format": "idn-hostname", **schema})
    assert grammar.accepts(json.dumps("strconv・ア." + "a" * 40))


@pytest.mark.long
def test_letters_and_marks_are_what_look_arounds_say(judge: Any) -> None:
    nodes = judge.nodes
    within = compile_pattern(
        nodes,
        "^[aeqA1.\u3002éq\u0bc6\u0bbe\u0300\u0301\u0323\u09c7\u09be\u09d7\u0915\u093cか\u3099-]+$",
        "ecma",
        json_string=True,
    )
    made = nodes.intersect([within, json_machine(nodes, machine("letters"))])
    rules = "".join([*host_names.composition(), *host_names.labels()[1:]])
    said = nodes.intersect([within, compile_pattern(nodes, f"^{rules}[^]*$", "ecma", json_string=True)])
    assert nodes.is_empty(nodes.intersect([made, nodes.complement(said)]))
    assert nodes.is_empty(nodes.intersect([said, nodes.complement(made)]))


def test_lengths_are_those_of_the_windows(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    """Both patterns on names near every bound; labels without capitals and hyphens, which others look after."""
    nodes = judge.nodes
    beyond = international_hosts.lengths(international_hosts.MORE_LABELS)
    made = compile_pattern(nodes, f"^(?:{patterns.HOSTNAME}|{beyond})$", "ecma")
    said = compile_pattern(nodes, f"^(?:{host_names.HOSTNAME}$|{host_names.labels()[0]}.*)$", "ecma")
    counts: list[bool] = []
    for _ in range(scaled(400)):
        letters = rng.choice(["a", "aπ", "aक", "a亜", "a각", "π亜", "\U00020000"])
        lengths = [rng.choice([1, 10, 11, 12, 14, 15, 16, 19, 20, 61, 62, 63, 64]) for _ in range(rng.randint(1, 5))]
        name = rng.choice([".", "\u3002"]).join("".join(rng.choices(letters, k=n)) for n in lengths)
        counts.append(nodes.matches(made, name.encode()))
        assert counts[-1] == nodes.matches(said, name.encode()), name
    assert {True, False} == set(counts)
