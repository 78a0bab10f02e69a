"""URI references, with the examples of RFC 3986."""

from __future__ import annotations

import pytest

from llmask.frontends.json_schema.reading.uris import join

BASE = "http://a/b/c/d;p?q"
# RFC 3986, sections 5.4.1 and 5.4.2; what follows "#" is the second part
EXAMPLES = """
g:h g:h | g http://a/b/c/g | ./g http://a/b/c/g | g/ http://a/b/c/g/ | /g http://a/g | //g http://g
?y http://a/b/c/d;p?y | g?y http://a/b/c/g?y | #s http://a/b/c/d;p?q#s | g#s http://a/b/c/g#s
g?y#s http://a/b/c/g?y#s | ;x http://a/b/c/;x | g;x http://a/b/c/g;x | g;x?y#s http://a/b/c/g;x?y#s
. http://a/b/c/ | ./ http://a/b/c/ | .. http://a/b/ | ../ http://a/b/ | ../g http://a/b/g | ../.. http://a/
../../ http://a/ | ../../g http://a/g | ../../../g http://a/g | ../../../../g http://a/g | /./g http://a/g
/../g http://a/g | g. http://a/b/c/g. | .g http://a/b/c/.g | g.. http://a/b/c/g.. | ..g http://a/b/c/..g
./../g http://a/b/g | ./g/. http://a/b/c/g/ | g/./h http://a/b/c/g/h | g/../h http://a/b/c/h
g;x=1/./y http://a/b/c/g;x=1/y | g;x=1/../y http://a/b/c/y | g?y/./x http://a/b/c/g?y/./x
g?y/../x http://a/b/c/g?y/../x | g#s/./x http://a/b/c/g#s/./x | g#s/../x http://a/b/c/g#s/../x | http:g http:g
"""


@pytest.mark.parametrize(("reference", "expected"), [e.split() for e in EXAMPLES.replace("\n", "|").split("|") if e])
def test_the_examples_of_the_standard(reference: str, expected: str) -> None:
    uri, _, fragment = expected.partition("#")
    assert join(BASE, reference) == (uri, fragment)


def test_an_empty_reference_is_the_base() -> None:
    assert join(BASE, "") == (BASE, "")
    assert join("", "") == ("", "")


@pytest.mark.parametrize(
    ("base", "reference", "expected"),
    [
        ("", "a/b.json#/c", ("a/b.json", "/c")),
        ("a/b.json", "c.json", ("a/c.json", "")),
        ("http://a", "b", ("http://a/b", "")),
        ("urn:uuid:1-2", "#x", ("urn:uuid:1-2", "x")),
        ("urn:example:weather?=op=map", "#/$defs/a", ("urn:example:weather?=op=map", "/$defs/a")),
        ("tag:a,2020:b", "urn:x:y", ("urn:x:y", "")),
        ("app://host/x/y.json", "../z.json", ("app://host/z.json", "")),
        ("http://[bad/x", "y z\n", ("http://[bad/y z\n", "")),
        ("file:///a/b", "c#d#e", ("file:///a/c", "d#e")),
    ],
)
def test_any_scheme_and_any_text(base: str, reference: str, expected: tuple[str, str]) -> None:
    assert join(base, reference) == expected


def test_long_references_take_linear_time() -> None:
    uri, _ = join("http://a/", "x/../" * 200_000 + "y")
    assert uri == "http://a/y"
