"""The word lists: no repeats, nothing empty, plain text."""

from __future__ import annotations

import pytest

from tools.training import words

LISTS = [name for name in dir(words) if name.isupper()]


@pytest.mark.parametrize("name", LISTS)
def test_lists_have_no_repeats(name):
    entries = getattr(words, name)
    assert len(entries) >= 5
    assert len(set(entries)) == len(entries)


def test_places_have_a_country_and_its_code():
    assert all(len(place) == 3 and len(place[2]) == 2 and place[2].isupper() for place in words.PLACES)


def test_hosts_are_reserved_for_examples():
    assert all(host.endswith(("example.com", "example.org", "example.net")) for host in words.HOSTS)
