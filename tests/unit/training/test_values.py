"""Generated values have the form that their names promise."""

from __future__ import annotations

import ipaddress
import random
import re
import uuid
from datetime import date, datetime, time
from urllib.parse import urlsplit

from tools.training import values


def many(maker, n_values: int = 300) -> list:
    rng = random.Random(1)
    return [maker(rng) for _ in range(n_values)]


def test_dates_and_times_are_real():
    assert all(1950 <= date.fromisoformat(text).year <= 2026 for text in many(values.date))
    assert all(time.fromisoformat(text) for text in many(values.clock))
    stamps = many(values.timestamp)
    assert all(datetime.fromisoformat(re.sub(r"(\.123)?Z$", "+00:00", text)) for text in stamps)


def test_identifiers_and_addresses_are_well_formed():
    assert all(uuid.UUID(text).version == 4 for text in many(values.uuid))
    assert all(ipaddress.ip_address(text).is_private for text in many(values.ip_address))
    assert all(urlsplit(text).scheme == "https" for text in many(values.url))
    assert all(re.fullmatch(r"[a-z0-9.]+@([a-z]+\.)*example\.(com|org|net)", text) for text in many(values.email))
    assert all(re.fullmatch(r"[-+() 0-9]{10,20}", text) for text in many(values.phone))


def test_texts_end_with_a_stop():
    assert all(text.endswith(".") for text in [*many(values.text), *many(values.sentence)])
    assert all(name[0].isupper() for name in [*many(values.person_name), *many(values.title)])


def test_small_things():
    assert all(0 < amount <= 2000 for amount in many(values.price))
    assert all(len(set(tags)) == len(tags) <= 4 for tags in many(values.tags))
