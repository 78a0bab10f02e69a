"""Host names, addresses and mailboxes: examples of the RFCs, and Python's `ipaddress`."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.frontends.json_schema.formats.hosts import IPV6, mailbox
from llmask.frontends.regex import compile_pattern
from tests.unit.frontends.json_schema.formats.conftest import Check

EXAMPLES = {
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
    "ipv4": (
        ["127.0.0.1", "255.255.255.255", "0.0.0.0"],
        ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.", "", "1.2.3.4/8", "٣.2.3.4", "0x7f.0.0.1", " 1.2.3.4"],
    ),
    "ipv6": (
        ["::", "::1", "1:2:3:4:5:6:7:8", "1::8", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "fe80::a:b",
         "1:2:3:4:5:6:7::",
         "ABCD:EF01::", "1::2:3:4:5:6:7"],
        ["", ":", ":::", "1:2:3:4:5:6:7", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "::1.2.3", "::%1", "fe80::1%eth0",
         "1:2:3:4:5:6:7:1.2.3.4", "::1/64", "[::1]", "g::", "1:2:3:4:5:6:7:8::", "::01.2.3.4"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_of_the_rfc(examples: Check, name: str) -> None:
    examples(name, *EXAMPLES[name])


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
