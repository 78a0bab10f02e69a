"""Schemas and patterns that ask for as much as they can: families of what multiplies, nests or repeats, of any size.

In: random numbers. Out: a kind, "schema", "regex", "lark" or "gbnf", and what to compile. Cost: microseconds.
"""

from __future__ import annotations

import random
from typing import Any

Source = tuple[str, Any]


def _names(n: int, prefix: str = "k") -> list[str]:
    return [f"{prefix}{i}" for i in range(n)]


def _object(**keywords: Any) -> dict[str, Any]:
    return {"type": "object", **keywords}


def _nested(n: int, inside: dict[str, Any]) -> dict[str, Any]:
    for _ in range(n):
        inside = {"type": "array", "items": inside}
    return inside


def _doubling(n: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{n}": {"type": "null"}}
    for level in range(n):
        below = {"$ref": f"#/$defs/d{level + 1}"}
        definitions[f"d{level}"] = {"allOf": [below, {"anyOf": [below, below]}]}
    return {"$ref": "#/$defs/d0", "$defs": definitions}


def _schema(choose: random.Random, n: int) -> dict[str, Any]:
    """One schema of a family; `n` from 2 to 400."""
    few = max(2, n // 10)
    families: list[Any] = [
        lambda: _object(dependentRequired={f"a{i}": [f"b{i}"] for i in range(n)}),
        lambda: _object(allOf=[{"not": {"required": [f"a{i}", f"b{i}"]}} for i in range(n)]),
        lambda: _object(oneOf=[{"required": [name]} for name in _names(n)]),
        lambda: _object(dependentSchemas={f"a{i}": {"properties": {f"b{i}": {"type": "integer"}}} for i in range(n)}),
        lambda: _object(patternProperties={f"^k{i}_": {"type": "integer", "minimum": i} for i in range(n)}),
        lambda: _object(
            patternProperties={f"[{c}].*[{d}]": {"maxLength": n} for c, d in zip("abcdefgh", "hgfedcba", strict=True)}
        ),
        lambda: _object(
            properties={"kind": {"type": "string"}},
            allOf=[
                {"if": {"properties": {"kind": {"const": f"v{i}"}}}, "then": {"required": [f"r{i}"]}} for i in range(n)
            ],
        ),
        lambda: {"oneOf": [{"type": "integer", "minimum": 10 * i, "maximum": 10 * i + 15} for i in range(n)]},
        lambda: {"type": "array", "contains": {"type": "integer"}, "minContains": n, "maxContains": 2 * n},
        lambda: {"type": "array", "allOf": [{"contains": {"const": i}} for i in range(few)]},
        lambda: {"allOf": [{"anyOf": [{"minLength": i}, {"maxLength": 1000 - i}]} for i in range(n)]},
        lambda: _doubling(n),
        lambda: _nested(n, {"type": "integer"}),
        lambda: {"anyOf": [{"properties": {name: True}} for name in _names(few)], "unevaluatedProperties": False},
        lambda: {"type": "string", "allOf": [{"pattern": f"a.{{{i}}}b"} for i in range(2, few + 2)]},
        lambda: {"type": "string", "not": {"anyOf": [{"pattern": f"{c}.{{{few}}}"} for c in "abcdef"]}},
        lambda: {"type": "string", "pattern": f"^((a{{1,{n}}}){{1,{n}}}){{1,{n}}}$"},
        lambda: {"type": "string", "pattern": f"^(a|b)*a(a|b){{{few}}}$", "maxLength": 10 * n},
        lambda: {
            "type": "integer",
            "multipleOf": choose.randrange(2, 10**6),
            "minimum": -(10**few),
            "maximum": 10**few,
        },
        lambda: {"type": "number", "multipleOf": 0.001, "minimum": 1e-9, "maximum": 10.0**few},
        lambda: {"type": "array", "items": {"enum": _names(n)}, "uniqueItems": True, "minItems": n},
        lambda: {
            "type": "array",
            "prefixItems": [{"enum": [i, i + 1]} for i in range(n)],
            "uniqueItems": True,
            "minItems": n,
        },
        lambda: {"type": "array", "uniqueItems": True, "items": _object(properties={k: {} for k in _names(few)})},
        lambda: _object(minProperties=few, maxProperties=n, properties={k: {"type": "null"} for k in _names(n)}),
        lambda: _object(propertyNames={"pattern": f"^(?=.*a.{{{few}}})(?=.*b)[ab]*$"}, minProperties=2),
        lambda: {"enum": [f"{choose.random()}" for _ in range(10 * n)]},
        lambda: {"not": {"enum": [[i, {"a": i}] for i in range(n)]}},
        lambda: {
            "not": _object(properties={k: {"not": {"type": "string"}} for k in _names(few)}, required=_names(few))
        },
        lambda: {
            "oneOf": [_object(properties={"t": {"const": i % 7}, f"x{i}": {"type": "integer"}}) for i in range(few)]
        },
        lambda: {
            "type": "string",
            "format": choose.choice(["idn-hostname", "uri", "iri", "email", "date-time"]),
            "maxLength": n,
        },
    ]
    return dict(choose.choice(families)())


def _pattern(choose: random.Random, n: int) -> str:
    """One pattern of a family."""
    few = max(2, n // 20)
    primes = choose.sample([3, 5, 7, 11, 13, 17, 19, 23], min(few, 6))
    families = [
        "".join(f"(?=(.{{{prime}}})+$)" for prime in primes) + ".*",
        "".join(f"(?=.*{letter}.{{{few}}})" for letter in "abc") + f".{{{n}}}",
        f"(a|b)*a(a|b){{{few}}}",
        f"((a{{1,{n}}}){{1,{n}}}){{1,{n}}}",
        f"(a?){{{n}}}a{{{n}}}",
        f"(?:(?!-)[a-z0-9-]{{1,{n}}}(?<!-)\\.)+[a-z]{{2,{n}}}",
        "|".join(f".*{choose.choice('abcdefgh')}{{{i}}}.*" for i in range(2, few + 2)),
        f"(?:{'|'.join(choose.choice('abc') * i for i in range(1, n))})+",
        "(" * min(n, 59) + "a" + ")*" * min(n, 59),
        f"\\b(?:\\w+\\b\\W*){{1,{n}}}",
        f"(?=(?:(?!{'x' * few}).)*$)(?=(?:..)*$)(?=(?:...)*$)[^y]*",
        f"(?:[\\p{{L}}--[aeiou]]{{2,{n}}} ){{0,{few}}}"
        if choose.random() < 0.3
        else f"(?:[^\\W\\d_]{{2,{n}}} ){{0,{few}}}",
    ]
    return choose.choice(families)


def _grammar(choose: random.Random, n: int) -> Source:
    """One grammar of a family."""
    few = max(2, n // 10)
    families: list[Source] = [
        (
            "gbnf",
            "root ::= "
            + " ".join(f"a{i}" for i in range(n))
            + "".join(f'\na{i} ::= "x"? | "y" a{i}' for i in range(n)),
        ),
        ("gbnf", f'root ::= (("a"{{0,{n}}}){{0,{n}}}){{0,{n}}} "b"'),
        ("gbnf", 'root ::= s\ns ::= s s | "(" s ")" | "" | "a"'),
        ("gbnf", f'root ::= x{{{n}}}\nx ::= "a" x | "a" | "b"'),
        (
            "lark",
            "start: "
            + " | ".join(f'A{i} "."' for i in range(few))
            + "".join(f"\nA{i}: /.{{{i}}}[a-m]+.*x/" for i in range(few)),
        ),
        ("lark", "start: e\n" + "e: " + " | ".join(f'e "{chr(33 + i % 60)}{i}" e' for i in range(few)) + ' | "n"'),
        ("lark", f"start: x~{n}\nx: /[a-z]+/ | x2\nx2: /[a-z0-9]+/ x?"),
    ]
    return choose.choice(families)


def hostile_source(choose: random.Random) -> Source:
    """What to compile: a schema in three of five cases, a pattern or a grammar in one each."""
    n = choose.choice([4, 10, 20, 40, 80, 160, 400])
    kind = choose.choice(["schema", "schema", "schema", "regex", "grammar"])
    if kind == "schema":
        return kind, _schema(choose, n)
    return (kind, _pattern(choose, n)) if kind == "regex" else _grammar(choose, n)
