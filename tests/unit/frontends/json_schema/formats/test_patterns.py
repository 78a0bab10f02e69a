r"""The format "regex": syntax by example; our own parser of ECMA-262 reads whatever is written under the format."""

from __future__ import annotations

import datetime
import ipaddress
import json
import random
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats import patterns
from llmask.frontends.json_schema.formats.patterns import DATE, DATE_TIME, IPV6, TIME, mailbox
from llmask.frontends.regex import compile_pattern
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


EXAMPLES = {
    "time": (
        ["12:00:00Z", "23:59:59.123+01:30", "00:00:00z", "23:59:60Z", "23:59:60.25-00:00", "08:30:06+23:59"],
        ["24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:00", "12:00Z", "12:00:00+24:00", "12:00:00.Z", "12:00:00,5Z",
         "23:59:60+00:01", "23:58:60Z", "1:00:00Z", "12:00:00+1:00", "12:00:00 Z", "12:00:00+00:60"],
    ),
    "date-time": (
        ["2024-02-29T12:00:00Z", "1998-12-31T23:59:60Z", "2020-01-01t00:00:00.5-08:00", "1985-04-12T23:20:50.52Z",
         "1937-01-01T12:00:27.87+00:20", "2015-06-30T23:59:60z"],
        ["2023-02-29T12:00:00Z", "2020-01-01 00:00:00Z", "2020-01-01T00:00:00", "2020-01-01", "T00:00:00Z",
         "2015-07-30T23:59:60Z", "2020-01-01T24:00:00Z", "2020-01-01T00:00:00ZZ", "2020-W01-1T00:00:00Z"],
    ),
    "duration": (
        ["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT1M", "P1Y2M3D", "P2W", "PT36H", "P1DT12H", "P1Y2M"],
        ["P", "PT", "P1", "4D", "P1D2H", "P2D1Y", "P1YT", "P1Y2W", "P1Y1D", "PT1H1S", "P1.5D", "-P1D", "PT1D", "p1d"],
    ),
}  # fmt: skip


def test_every_day_of_the_calendar_and_no_other(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    node = compile_pattern(judge.nodes, f"^{DATE}$", "ecma")
    years = [1, 1900, 2000, 2023, 2024, *(rng.randrange(1, 10000) for _ in range(scaled(2)))]
    for year in years:
        for month in range(14):
            for day in range(33):
                try:
                    datetime.date(year, month, day)
                    is_day = True
                except ValueError:
                    is_day = False
                assert judge.nodes.matches(node, f"{year:04}-{month:02}-{day:02}".encode()) == is_day


def test_a_date_time_without_a_leap_second_is_a_date_and_a_time(judge: Any) -> None:
    nodes = judge.nodes
    no_leap = "(?!.*:60)"
    both, apart = (compile_pattern(nodes, f"^{no_leap}{text}$", "ecma") for text in (DATE_TIME, f"{DATE}[Tt]{TIME}"))
    assert nodes.is_empty(nodes.intersect([both, nodes.complement(apart)]))
    assert nodes.is_empty(nodes.intersect([apart, nodes.complement(both)]))


EXAMPLES |= {
    "email": (
        ["a@b.example", "first.last+tag@x-y.org", '"a b"@c.de', "a@[127.0.0.1]", "a@[IPv6:::1]", r'"\""@a', '""@a',
         "!#$%&'*+/=?^_`{|}~@a", "postmaster@1host"],
        ["a", "@b", "a@", ".a@b", "a.@b", "a..b@c", "a b@c", "a@-b", "a@[300.0.0.1]", "a@b@c", '"a"b@c', '"a@b', "é@a",
         "a@é", "a@[::1]", "a@b.", "a@b\n", "<a@b>", '"é"@a', 'a@"b"'],
    ),
    "hostname": (
        ["example.com", "a", "x-y.z1", "1host", "a" * 63, "a-b--c", "A.B", ".".join(["a" * 62] * 4), "1.2.3.4"],
        ["", ".a", "a.", "-a", "a-", "a_b", "a b", "a" * 64, "xn--X", ".".join(["a" * 60] * 5), "a..b", "é", "a.-b.c",
         "ab--c", "a\u3002b", "a\n"],
    ),
}  # fmt: skip


def test_ipv6_addresses_are_those_of_ipaddress(judge: Any, rng: random.Random, scaled: Callable[[int], int]) -> None:
    node = compile_pattern(judge.nodes, f"^{IPV6}$", "ecma")
    n_valid = 0
    for _ in range(scaled(3000)):
        text = "".join(rng.choices(["1:", "f0:", ":", "::", "a", "1.2.3.4", "00010"], k=rng.randrange(1, 10)))
        try:
            ipaddress.IPv6Address(text)
            is_valid = True
        except ValueError:
            is_valid = False
        n_valid += is_valid
        assert judge.nodes.matches(node, text.encode()) == is_valid, text
    assert n_valid > 0


def test_a_mailbox_takes_the_host_and_the_characters_that_it_is_given(judge: Any) -> None:
    node = compile_pattern(judge.nodes, f"^{mailbox('é', 'h+')}$", "ecma")
    for text, is_valid in {"é.a@hh": True, '"é"@h': True, "à@h": False, "é@x": False, "é@[::1]": False}.items():
        assert judge.nodes.matches(node, text.encode()) == is_valid, text


URIS = ["https://a.example/b?c=d#e", "mailto:x@y.z", "urn:a:b", "http://[::1]:80/", "file:///etc", "a:", "http://a:b@c",
        "ftp://[vF.a:b]/", "http://a//b", "a:?#", "a+b-c.1:/x", "http://%41"]  # fmt: skip
NO_REFERENCES = ["a b", "\\a", "%", ":a", "a#b#c", "http://[::1", "http://a/%zz", "http://[v.x]", "a\n", "<a>",
"//a:b:c@d@",
                 "{a}", "a|b", "^", "`"]  # fmt: skip
RELATIVE = ["", "/a", "a/b?c#d", "//h/p", "#x", "?q", "./a:b", "../..", "//"]
EXAMPLES |= {
    "uri": (URIS, [*RELATIVE, *NO_REFERENCES, "1a:b", "http://é", "http://a/é"]),
    "uri-reference": ([*URIS, *RELATIVE], [*NO_REFERENCES, "é"]),
    "iri": (
        [*URIS, "http://é.example/ü?ö#ä", "http://例え.jp/\u200d", "a:\U0001f600", "a:?\ue000", "a:?\U00100000",
         "é@a:b"[2:]],
        [*RELATIVE, *NO_REFERENCES, "é:a", "a:\ue000", "a:#\ue000", "a:\ufdd0", "a:\ufffe", "a:\U0001ffff",
         "a:\U000e0001",
         "a:\x80", "//é", "http://[é]"],
    ),
    "iri-reference": ([*URIS, *RELATIVE, "é", "//é/?\ue000"], [*NO_REFERENCES, "\ue000", "é é", "é:é"]),
    "uri-template": (
        ["", "a", "{a}", "{+a,b}/{x*}{?y:3,z}", "é{é}"[:1], "%41", "{%41.b_1}", "a'b", "{#a}{.a}{/a}{;a}{&a}",
         "\ue000"],
        ["{", "}", "{}", "{a", "a}", "{a,}", "{,a}", "{a b}", "{a:0}", "{a:10000}", "{a*:1}", "{a.}", "{.}", "{é}",
         "%4",
         "a b", '"', "<", "^", "`", "|", "\\", "{=a}", "{+}", "{{a}}", "\x7f"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_rfc(examples: Check, name: str) -> None:
    examples(name, *EXAMPLES[name])


def test_what_is_a_uri_is_a_reference_and_an_iri_and_ascii_iris_are_uris(judge: Any) -> None:
    nodes = judge.nodes

    def node(text: str) -> int:
        return compile_pattern(nodes, f"^(?:{text})$", "ecma")

    uri, reference = node(patterns.URI), node(patterns.URI_REFERENCE)
    iri, iri_reference = node(patterns.IRI), node(patterns.IRI_REFERENCE)
    for inner, outer in [(uri, reference), (uri, iri), (iri, iri_reference), (reference, iri_reference)]:
        assert nodes.is_empty(nodes.intersect([inner, nodes.complement(outer)]))
        assert not nodes.is_empty(nodes.intersect([outer, nodes.complement(inner)]))
    ascii_text = node(r"[\0-\x7F]*")
    assert nodes.is_empty(nodes.intersect([iri, ascii_text, nodes.complement(uri)]))
