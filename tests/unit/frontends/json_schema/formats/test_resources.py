"""Identifiers of resources: examples of RFC 3986, 3987, 6570, 6901 and what lies just outside."""

from __future__ import annotations

from typing import Any

import pytest

from llmask.frontends.json_schema.formats import resources
from llmask.frontends.regex import compile_pattern
from tests.unit.frontends.json_schema.formats.conftest import Check

URIS = ["https://a.example/b?c=d#e", "mailto:x@y.z", "urn:a:b", "http://[::1]:80/", "file:///etc", "a:", "http://a:b@c",
        "ftp://[vF.a:b]/", "http://a//b", "a:?#", "a+b-c.1:/x", "http://%41"]  # fmt: skip
NO_REFERENCES = ["a b", "\\a", "%", ":a", "a#b#c", "http://[::1", "http://a/%zz", "http://[v.x]", "a\n", "<a>",
"//a:b:c@d@",
                 "{a}", "a|b", "^", "`"]  # fmt: skip
RELATIVE = ["", "/a", "a/b?c#d", "//h/p", "#x", "?q", "./a:b", "../..", "//"]
EXAMPLES = {
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
    "uuid": (
        ["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000",
         "00000000-" + "0000-" * 3 + "0" * 12],
        ["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400",
         "g23e4567-e89b-12d3-a456-426614174000",
         "{123e4567-e89b-12d3-a456-426614174000}", "urn:uuid:123e4567-e89b-12d3-a456-426614174000"],
    ),
    "json-pointer": (["", "/", "/a~0b~1c/0", "/é", "//", '/"\\'], ["a", "/~", "/~2", "#/a", "/a~", "~0"]),
    "relative-json-pointer": (["0", "1/a", "12#", "0/", "10"], ["", "/a", "01", "-1", "0##", "1a", "#", "+1", "1#/a"]),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_rfc(examples: Check, name: str) -> None:
    examples(name, *EXAMPLES[name])


def test_what_is_a_uri_is_a_reference_and_an_iri_and_ascii_iris_are_uris(judge: Any) -> None:
    nodes = judge.nodes

    def node(text: str) -> int:
        return compile_pattern(nodes, f"^(?:{text})$", "ecma")

    uri, reference = node(resources.URI), node(resources.URI_REFERENCE)
    iri, iri_reference = node(resources.IRI), node(resources.IRI_REFERENCE)
    for inner, outer in [(uri, reference), (uri, iri), (iri, iri_reference), (reference, iri_reference)]:
        assert nodes.is_empty(nodes.intersect([inner, nodes.complement(outer)]))
        assert not nodes.is_empty(nodes.intersect([outer, nodes.complement(inner)]))
    ascii_text = node(r"[\0-\x7F]*")
    assert nodes.is_empty(nodes.intersect([iri, ascii_text, nodes.complement(uri)]))
