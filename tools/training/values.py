"""Single values for the generated documents: names, dates, addresses, sentences.

In: a random generator. Out: strings and numbers. Cost: 2 us a value.
"""

from __future__ import annotations

import random

from . import words


def person_name(rng: random.Random) -> str:
    """Given name and family name."""
    return f"{rng.choice(words.GIVEN_NAMES)} {rng.choice(words.FAMILY_NAMES)}"


def email(rng: random.Random) -> str:
    """An address at a host that is reserved for examples."""
    given, family = rng.choice(words.GIVEN_NAMES).lower(), rng.choice(words.FAMILY_NAMES).lower().replace("'", "")
    name = rng.choice((f"{given}.{family}", f"{given}{rng.randint(1, 99)}", f"{given[0]}{family}", given))
    return f"{name.encode('ascii', 'ignore').decode()}@{rng.choice(words.HOSTS)}"


def phone(rng: random.Random) -> str:
    """A telephone number in one of four layouts."""
    a, b, c = rng.randint(200, 989), rng.randint(200, 999), rng.randint(0, 9999)
    return rng.choice(
        (f"+1-{a}-{b}-{c:04d}", f"+44 20 {c:04d} {a}{b % 10}", f"+49 {a} {b}{c:04d}", f"({a}) {b}-{c:04d}")
    )


def date(rng: random.Random, first: int = 1950, last: int = 2026) -> str:
    """A date between the years `first` and `last`."""
    return f"{rng.randint(first, last)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def clock(rng: random.Random) -> str:
    """A time of day, often without seconds."""
    return f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:{rng.choice((0, 0, rng.randint(0, 59))):02d}"


def timestamp(rng: random.Random) -> str:
    """Date and time of RFC 3339."""
    return f"{date(rng, 2019)}T{clock(rng)}{rng.choice(('Z', 'Z', 'Z', '+00:00', '+02:00', '-05:00', '.123Z'))}"


def uuid(rng: random.Random) -> str:
    """A UUID of version 4 in its text form."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def url(rng: random.Random) -> str:
    """An address with up to three path segments."""
    path = "/".join(rng.choice(words.NOUNS) for _ in range(rng.randint(0, 3)))
    return f"https://{rng.choice(('', 'www.', 'api.'))}{rng.choice(words.HOSTS)}/{path}"


def ip_address(rng: random.Random) -> str:
    """An IPv4 address of a private network."""
    return rng.choice(
        (f"192.168.{rng.randint(0, 9)}.{rng.randint(1, 254)}", f"10.0.{rng.randint(0, 255)}.{rng.randint(1, 254)}")
    )


def sentence(rng: random.Random) -> str:
    """An English sentence."""
    adjective, noun, other = rng.choice(words.ADJECTIVES), rng.choice(words.NOUNS), rng.choice(words.NOUNS)
    verb, place = rng.choice(words.VERBS), rng.choice(words.PLACES)[0]
    return rng.choice(
        (
            f"The {adjective} {noun} {verb} the {other}.",
            f"A {noun} {verb} the {adjective} {other} in {place}.",
            f"This is a {adjective} {noun} for every {other}.",
            f"Please check the {noun} before the {other} {verb}.",
            f"We need a {adjective} {noun} and a {rng.choice(words.ADJECTIVES)} {other}.",
            f"{rng.choice(words.GIVEN_NAMES)} {verb} the {noun} in {place}.",
            f"The {noun} was {adjective}, but the {other} was not.",
        )
    )


def text(rng: random.Random) -> str:
    """One to three sentences."""
    return " ".join(sentence(rng) for _ in range(rng.choice((1, 1, 1, 2, 2, 3))))


def title(rng: random.Random) -> str:
    """A title of two to three words."""
    adjective, noun = rng.choice(words.ADJECTIVES).capitalize(), rng.choice(words.NOUNS).capitalize()
    return rng.choice((f"The {adjective} {noun}", f"{adjective} {noun}", f"{noun} of {rng.choice(words.PLACES)[0]}"))


def tags(rng: random.Random) -> list[str]:
    """Up to four tags."""
    return rng.sample(words.TAGS, rng.randint(0, 4))


def price(rng: random.Random) -> float:
    """A price, often just below a whole number."""
    return rng.choice((rng.randint(1, 99) + 0.99, rng.randint(1, 500) + 0.5, round(rng.uniform(1, 2000), 2)))
