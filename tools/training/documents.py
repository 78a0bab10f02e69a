"""Generated JSON documents: persons, orders, events, settings, measurements and nested values of many shapes.

They teach the shipped tokenizer the pieces of JSON and the n-gram model which values go with which keys. A seeded
generator decides everything, so the same seed gives the same documents on every Python version (`random.Random` keeps
its sequences). Keys are mostly in a fixed order, optional ones are sometimes missing, and a third of the documents is
indented or compact.

In: a seed. Out: JSON texts. Cost: 90 us a document.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from . import words
from .values import (
    date,
    email,
    ip_address,
    person_name,
    phone,
    price,
    sentence,
    tags,
    text,
    timestamp,
    title,
    url,
    uuid,
)

Maker = Callable[[random.Random], Any]


def generate_documents(seed: int, n_bytes: int) -> Iterator[str]:
    """Documents until they have `n_bytes` bytes together."""
    rng = random.Random(seed)
    written = 0
    while written < n_bytes:
        text = write(rng, rng.choice(SHAPES)(rng))
        written += len(text.encode("utf-8"))
        yield text


def write(rng: random.Random, value: Any) -> str:
    """JSON text in one of the usual layouts."""
    layout = rng.random()
    if layout < 0.65:
        return json.dumps(value, ensure_ascii=False)
    if layout < 0.9:
        return json.dumps(value, ensure_ascii=False, indent=rng.choice((2, 2, 4)))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def some(rng: random.Random, value: dict[str, Any], optional: float = 0.25) -> dict[str, Any]:
    """The object without some of its later keys; the first two stay."""
    kept = list(value)[:2]
    return {key: entry for key, entry in value.items() if key in kept or rng.random() > optional}


def _address(rng: random.Random) -> dict[str, Any]:
    city, country, code = rng.choice(words.PLACES)
    street = f"{rng.randint(1, 999)} {rng.choice(words.STREETS)} {rng.choice(words.STREET_KINDS)}"
    postal = rng.choice((f"{rng.randint(10000, 99999)}", f"{rng.randint(1000, 9999)}"))
    return some(
        rng,
        {
            "street": street,
            "city": city,
            rng.choice(("zip", "postal_code", "postcode", "zipCode")): postal,
            "country": rng.choice((country, code)),
        },
    )


def _person(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.5:
        names = {"name": person_name(rng)}
    else:
        style = rng.choice((("firstName", "lastName"), ("first_name", "last_name")))
        names = {style[0]: rng.choice(words.GIVEN_NAMES), style[1]: rng.choice(words.FAMILY_NAMES)}
    value: dict[str, Any] = {
        **names,
        "age": rng.randint(18, 90),
        "email": email(rng),
        "phone": phone(rng),
        rng.choice(("birthday", "birthDate", "date_of_birth", "born")): date(rng, 1940, 2008),
        rng.choice(("occupation", "job", "profession")): rng.choice(words.JOBS),
        "address": _address(rng),
        rng.choice(("hobbies", "interests")): rng.sample(words.HOBBIES, rng.randint(1, 4)),
        rng.choice(("is_active", "active", "married", "is_student", "verified")): rng.random() < 0.6,
        "height": round(rng.uniform(1.5, 2.0), 2),
    }
    if rng.random() < 0.15:
        value["children"] = [
            {"name": rng.choice(words.GIVEN_NAMES), "age": rng.randint(1, 17)} for _ in range(rng.randint(0, 3))
        ]
    return some(rng, value)


def _user(rng: random.Random) -> dict[str, Any]:
    return some(
        rng,
        {
            "id": rng.choice((rng.randint(1, 9999), uuid(rng))),
            "username": f"{rng.choice(words.ADJECTIVES)}_{rng.choice(words.NOUNS)}{rng.randint(1, 99)}",
            "email": email(rng),
            "role": rng.choice(("admin", "user", "editor", "guest", "moderator")),
            rng.choice(("created_at", "createdAt", "registered")): timestamp(rng),
            rng.choice(("last_login", "lastLogin")): rng.choice((timestamp(rng), None)),
            "preferences": {
                "theme": rng.choice(("dark", "light")),
                "language": rng.choice(words.LANGUAGES),
                "notifications": rng.random() < 0.5,
            },
            "followers": rng.randint(0, 5000),
        },
    )


def _product(rng: random.Random) -> dict[str, Any]:
    name = f"{rng.choice(words.ADJECTIVES)} {rng.choice(words.PRODUCTS)}"
    return some(
        rng,
        {
            rng.choice(("id", "sku", "product_id")): rng.choice(
                (rng.randint(1, 99999), f"SKU-{rng.randint(1000, 9999)}")
            ),
            "name": name.capitalize(),
            "description": text(rng),
            "price": price(rng),
            "currency": rng.choice(words.CURRENCIES),
            rng.choice(("in_stock", "inStock", "available")): rng.random() < 0.7,
            rng.choice(("quantity", "stock")): rng.randint(0, 200),
            "color": rng.choice(words.COLORS),
            "tags": tags(rng),
            "rating": round(rng.uniform(1, 5), 1),
            "dimensions": {"width": rng.randint(1, 90), "height": rng.randint(1, 90), "depth": rng.randint(1, 90)},
            "category": rng.choice(words.TAGS),
        },
    )


def _order(rng: random.Random) -> dict[str, Any]:
    items: list[dict[str, Any]] = [
        {"product": rng.choice(words.PRODUCTS), "quantity": rng.randint(1, 5), "price": price(rng)}
        for _ in range(rng.randint(1, 4))
    ]
    return some(
        rng,
        {
            rng.choice(("order_id", "orderId", "id")): rng.choice(
                (rng.randint(1000, 99999), f"ORD-{rng.randint(1000, 9999)}")
            ),
            "customer": rng.choice((person_name(rng), {"name": person_name(rng), "email": email(rng)})),
            "items": items,
            "total": round(sum(item["quantity"] * item["price"] for item in items), 2),
            "currency": rng.choice(words.CURRENCIES),
            "status": rng.choice(("pending", "paid", "shipped", "delivered", "cancelled")),
            rng.choice(("date", "created_at", "orderDate")): rng.choice((date(rng, 2019), timestamp(rng))),
            rng.choice(("shipping_address", "shippingAddress", "address")): _address(rng),
            "notes": rng.choice((sentence(rng), None, "")),
        },
    )


def _event(rng: random.Random) -> dict[str, Any]:
    return some(
        rng,
        {
            rng.choice(("title", "name", "event")): title(rng),
            rng.choice(("date", "start", "start_time")): rng.choice((date(rng, 2024), timestamp(rng))),
            rng.choice(("location", "place", "venue")): rng.choice((rng.choice(words.PLACES)[0], _address(rng))),
            rng.choice(("attendees", "participants")): [person_name(rng) for _ in range(rng.randint(1, 4))],
            "duration": rng.choice((30, 45, 60, 90, 120, "PT1H", "PT30M")),
            "description": text(rng),
            "priority": rng.choice(("low", "medium", "high", 1, 2, 3)),
        },
    )


def _measurement(rng: random.Random) -> dict[str, Any]:
    return some(
        rng,
        {
            rng.choice(("sensor", "device", "station")): f"{rng.choice(words.NOUNS)}-{rng.randint(1, 40)}",
            rng.choice(("timestamp", "time")): timestamp(rng),
            "temperature": round(rng.uniform(-15, 38), 1),
            "humidity": rng.randint(10, 99),
            "pressure": round(rng.uniform(980, 1040), 1),
            "location": {"latitude": round(rng.uniform(-90, 90), 4), "longitude": round(rng.uniform(-180, 180), 4)},
            "values": [round(rng.gauss(0, 10), rng.choice((0, 1, 2, 3))) for _ in range(rng.randint(1, 6))],
            "unit": rng.choice(("celsius", "kg", "m", "km/h", "percent", "V")),
            "conditions": rng.choice(("sunny", "cloudy", "rain", "snow", "windy", "clear")),
        },
    )


def _settings(rng: random.Random) -> dict[str, Any]:
    return some(
        rng,
        {
            "name": f"{rng.choice(words.NOUNS)}-{rng.choice(words.NOUNS)}",
            "version": f"{rng.randint(0, 5)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
            "debug": rng.random() < 0.3,
            "host": rng.choice(("localhost", "0.0.0.0", ip_address(rng), rng.choice(words.HOSTS))),
            "port": rng.choice((80, 443, 8080, 3000, 5432, 6379, rng.randint(1024, 65535))),
            "timeout": rng.choice((5, 10, 30, 60, 0.5)),
            "log_level": rng.choice(("debug", "info", "warning", "error")),
            "features": rng.sample(words.TAGS, rng.randint(1, 3)),
            "database": {
                "url": f"postgres://{rng.choice(words.HOSTS)}:5432/{rng.choice(words.NOUNS)}",
                "pool": rng.randint(1, 20),
            },
            "dependencies": {
                rng.choice(words.NOUNS): f"^{rng.randint(0, 9)}.{rng.randint(0, 20)}.0"
                for _ in range(rng.randint(0, 3))
            },
        },
    )


def _response(rng: random.Random) -> dict[str, Any]:
    if rng.random() < 0.3:
        return {"error": {"code": rng.choice((400, 401, 403, 404, 500)), "message": sentence(rng)}, "success": False}
    key = rng.choice(("data", "results", "items"))
    entries = [rng.choice((_user, _product, _short_value))(rng) for _ in range(rng.randint(0, 3))]
    return {
        "status": rng.choice(("ok", "success", 200)), key: entries, "count": len(entries),
        "page": rng.randint(1, 20), "next": rng.choice((None, url(rng))),
    }  # fmt: skip


def _article(rng: random.Random) -> dict[str, Any]:
    return some(
        rng,
        {
            "title": title(rng),
            rng.choice(("author", "by")): person_name(rng),
            rng.choice(("published", "year", "date")): rng.choice((date(rng, 1990), rng.randint(1850, 2025))),
            rng.choice(("genre", "category")): rng.choice(words.GENRES),
            rng.choice(("summary", "content", "text", "abstract")): text(rng),
            rng.choice(("pages", "words", "views")): rng.randint(10, 900),
            "isbn": f"978-{rng.randint(0, 9)}-{rng.randint(10, 99)}-{rng.randint(100000, 999999)}-{rng.randint(0, 9)}",
            "tags": tags(rng),
            "url": url(rng),
            "language": rng.choice(words.LANGUAGES),
            "comments": [
                {"user": rng.choice(words.GIVEN_NAMES), "text": sentence(rng)} for _ in range(rng.randint(0, 2))
            ],
        },
    )


def _recipe(rng: random.Random) -> dict[str, Any]:
    amounts = ("1 cup", "2 cups", "100 g", "250 g", "1 tablespoon", "2 teaspoons", "3", "500 ml")
    chosen = rng.sample(words.INGREDIENTS, rng.randint(2, 5))
    return some(
        rng,
        {
            rng.choice(("name", "title")): f"{chosen[0].capitalize()} with {chosen[1]}",
            "ingredients": [rng.choice((entry, {"name": entry, "amount": rng.choice(amounts)})) for entry in chosen],
            "servings": rng.randint(1, 8),
            rng.choice(("time", "prep_time", "minutes")): rng.choice((10, 15, 20, 30, 45, 60)),
            rng.choice(("steps", "instructions")): [f"Mix the {a} and the {b}." for a, b in pairwise(chosen)],
            "difficulty": rng.choice(("easy", "medium", "hard")),
        },
    )


def _employee(rng: random.Random) -> dict[str, Any]:
    department, salary = rng.choice(words.DEPARTMENTS), rng.randint(25, 180) * 1000
    return {"name": person_name(rng), "department": department, "salary": salary}


def _company(rng: random.Random) -> dict[str, Any]:
    name = f"{rng.choice(words.COMPANIES)} {rng.choice(words.COMPANY_KINDS)}"
    employees = [_employee(rng) for _ in range(rng.randint(1, 3))]
    return some(
        rng,
        {
            rng.choice(("company", "name", "organization")): name,
            "founded": rng.randint(1900, 2024),
            "employees": rng.choice((rng.randint(1, 50000), employees)),
            "headquarters": rng.choice((rng.choice(words.PLACES)[0], _address(rng))),
            "website": url(rng),
            "public": rng.random() < 0.5,
            "revenue": rng.choice((rng.randint(10**5, 10**9), round(rng.uniform(0.1, 90), 1), None)),
            "ceo": person_name(rng),
        },
    )


def _call(rng: random.Random) -> dict[str, Any]:
    arguments: dict[str, Any] = rng.choice(
        (
            {"city": rng.choice(words.PLACES)[0], "unit": rng.choice(("celsius", "fahrenheit"))},
            {"query": f"{rng.choice(words.ADJECTIVES)} {rng.choice(words.NOUNS)}", "limit": rng.randint(1, 50)},
            {"to": email(rng), "subject": title(rng), "body": text(rng)},
            {"a": rng.randint(-100, 100), "b": rng.randint(-100, 100)},
            {"expression": f"{rng.randint(1, 99)} + {rng.randint(1, 99)}"},
        )
    )
    name = rng.choice(("get_weather", "search", "send_email", "add", "calculate", "lookup", "create_event"))
    return {"name": name, rng.choice(("arguments", "parameters")): arguments}


def _short_value(rng: random.Random) -> Any:
    """A value of any kind, as free properties and arrays have them."""
    numbers = (rng.randint(0, 20), rng.randint(-1000, 1000), round(rng.uniform(-10, 10), 2))
    rare: Any = rng.choice((1e-3, 2.5e10, 0, -1, 1.0, 3.14159, "", [], {}))
    strings = (rng.choice(words.NOUNS), rng.choice(words.TAGS), sentence(rng), date(rng), f"{rng.getrandbits(32):08x}")
    return rng.choice((*numbers, *strings, rare, rng.random() < 0.5, None))


def _nested(rng: random.Random, depth: int = 0) -> Any:
    """Objects and arrays with everyday keys."""
    kind = rng.random()
    if depth > 3 or kind < 0.35:
        return _short_value(rng)
    if kind < 0.45:
        return [_nested(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    if kind < 0.5:
        return [rng.randint(0, 100) for _ in range(rng.randint(0, 6))]
    if kind < 0.55:
        return [rng.choice(words.NOUNS) for _ in range(rng.randint(0, 6))]
    return {rng.choice(words.KEYS): _nested(rng, depth + 1) for _ in range(rng.randint(1, 5))}


def _list(rng: random.Random) -> list[Any]:
    return [rng.choice((_person, _product, _short_value, _nested))(rng) for _ in range(rng.randint(0, 3))]


SHAPES: tuple[Maker, ...] = (
    *(_person, _person, _person, _nested, _nested, _user, _product, _order, _event, _measurement),
    *(_settings, _response, _article, _recipe, _company, _call, _list),
)
