"""Damaged grammars of each language, from the good and bad ones of the tests.

Texts lose, gain and swap elements or characters; documents of JSON lose, gain and swap their parts. Half of the texts
only have elements swapped for others of the same kind: most of these are grammars still, and odd ones.

In: random numbers. Out: a grammar, and how it is compiled. Cost: 0.1 ms a grammar.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import llmask
from llmask.frontends.tools import MODELS
from tests.contract.gbnf_grammars import GRAMMARS
from tests.contract.lark_grammars import GRAMMARS as LARK_GRAMMARS
from tests.contract.mistakes.bnf_texts import EBNF, GBNF
from tests.contract.mistakes.lark_texts import LARK
from tests.contract.response_formats import CASES as RESPONSE_FORMATS
from tests.contract.structural_tag_specs import CASES as TAGS
from tests.contract.tool_calls import TOOLS
from tests.generators.patterns import Patterns
from tests.generators.schemas import random_schema
from tests.unit.frontends.structural_tags.bad_tags import BAD as BAD_TAGS

PIECES = (
    "|", "(", ")", "*", "+", "?", "{2}", "{1,3}", "{0,}", "{5,2}", "{1000}", "{0,99999}", "::=", "\n", " ", '"', '"a"',
    "[", "]", "[^a]", "[a-z]", "[]", "^", "-", "\\", "\\x41", "\\u00e9", "\\U0001F600", "\\q", "#", "root", " root ",
    "item", ".", ".*", "/", "/a*?b/", "%json ", "%lark {", "%ignore ", "A: ", "&", "~", "->", "..", "x{start}",
    "[lazy]", '""', "()", "é", "日", "😀", "\0", "\ud800", "\r", "\t", "<[1]>", "!", "(=", "true", "_", ",",
)  # fmt: skip
ELEMENTS = (
    "|", "( ", " )", "*", "+", "?", "{2}", "{1,3}", "{0,99999}", '"a"', "[^a]", "[a-z]", " root ", ".", '""', '"é"',
    "/[a-z]*/", " start ", " A ", "~2..3", " & ~", "\nA: ", " %json {} ", "\n%ignore ", "x{start, A}", "[lazy]",
)  # fmt: skip
REGEX_PIECES = (
    "|", "(", ")", "*", "+", "?", "{2}", "{1,3}", "{0,}", "{5,2}", "{1000}", "{0,99999}", "{,3}", "*+", "?+", "{2,5}+",
    "*?", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?P<n>", "(?P=n)", "(?(1)a|b)", "(?i:", "(?-s:", "(?x:", "(?a)",
    "[", "]", "[^a]", "[a-z]", "[]", "^", "$", "-", "\\", "\\1", "\\b", "\\B", "\\A", "\\Z", "\\w", "\\D", "\\s",
    "\\p{L}", "\\P{Script=Greek}", "\\x41", "\\u00e9", "\\U0001F600", "\\N{EM DASH}", "\\q", "\\400", "#", ".", ".*",
    "\n", " ", "a", "é", "日", "😀", "\0", "\ud800", ",", "(?#x)", "&&", "[[:alpha:]]",
)  # fmt: skip
ODD_VALUES = (
    None, True, False, 0, -1, 3, 10**30, 1.5, float("nan"), "", "a", "<", "é\0", "\ud800", [], {}, [[]], ["a"],
    {"type": "any_text"}, {"type": "object"}, "any_text", "json_schema", {"$ref": "#"}, "x" * 3000,
)  # fmt: skip
ELEMENT = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|::=|[A-Za-z0-9_-]+|\{[^}]*\}|[^\S\n]+|.', re.DOTALL)

KINDS = tuple(  # an element is swapped for one of the first kind that it belongs to
    re.compile(kind) for kind in (r"[A-Z_]+$", r"\w[\w-]*$", r'"', r"\[", r"[?*+]$|\{[\d,]*\}$", r"[|&]$|\s+$", r"/")
)
NEW_OF_KIND = (
    (), (), ('""', '"a"', '"\\\\"', '"\\\\x41"', '"é"', '"😀b"', '"\\n"'), ("[a-z]", "[^a]", "[é-日]", "[^\\n]"),
    ("?", "*", "+", "{2}", "{0,2}", "{3,}", "{0}", "{0,1000}"), ("|", " ", "\n", " | "), (),
)  # fmt: skip

LIBRARY = [path.read_text() for path in sorted((Path(__file__).parents[2] / "grammars").glob("*.lark"))]
SEEDS = {
    "gbnf": [*GRAMMARS.values()] * 8 + [*(bad.given for bad in GBNF.values())],
    "ebnf": [*GRAMMARS.values()] * 8 + [*(bad.given for bad in EBNF.values())],
    "lark": [text for text, _, _ in LARK_GRAMMARS.values()] * 30 + [bad.given for bad in LARK.values()] + LIBRARY,
}
TAG_SEEDS = [{"type": "structural_tag", "format": case.format} for case in TAGS.values()] * 3
FORMATS = [case.document for case in RESPONSE_FORMATS.values()]
TAG_SEEDS += [document for document, _ in BAD_TAGS.values() if isinstance(document, dict)]


class Case(NamedTuple):
    """A damaged grammar.

    text : as it is shown when something goes wrong.
    compiled : compiles it.
    """

    text: str
    compiled: Callable[[llmask.Compiler], llmask.CompiledGrammar]


def of_texts(language: str) -> Callable[[random.Random], Case]:
    """Cases of a language whose grammars are texts."""

    def draw(rng: random.Random) -> Case:
        text = mutate(rng, SEEDS[language])
        return Case(text, lambda compiler: getattr(compiler, language)(text))  # type: ignore[no-any-return]

    return draw


def regex(rng: random.Random) -> Case:
    """A pattern of every construct, damaged or not."""
    text = Patterns(rng).pattern().pattern
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        text = mutate_characters(rng, text, REGEX_PIECES)
    method = rng.choice(("fullmatch", "search"))
    return Case(f"{method}: {text!a}", lambda compiler: compiler.regex(text, method))


def json_schema(rng: random.Random) -> Case:
    """A schema of every keyword with other parts."""
    document = damaged(rng, random_schema(rng), [random_schema(rng), *TAG_SEEDS[:5]])
    return Case(repr(document), lambda compiler: compiler.json_schema(document))


def structural_tag(rng: random.Random) -> Case:
    """A structural tag with other parts."""
    document = damaged(rng, rng.choice(TAG_SEEDS), TAG_SEEDS)
    return Case(repr(document), lambda compiler: compiler.structural_tag(document))


def tools(rng: random.Random) -> Case:
    """A list of functions with other parts."""
    listed = damaged(rng, TOOLS, [*TOOLS, *TAG_SEEDS])
    model = rng.choice(MODELS)
    choice = rng.choice(("auto", "auto", "required", "none", {"name": "weather"}, rng.choice(ODD_VALUES)))
    return Case(repr((model, choice, listed)), lambda compiler: compiler.tools(listed, model, choice))


def response_format(rng: random.Random) -> Case:
    """What a client sends, with other parts."""
    document = damaged(rng, rng.choice(FORMATS), [*FORMATS, *TAG_SEEDS])
    return Case(repr(document), lambda compiler: compiler.response_format(document))


DRAW: dict[str, Callable[[random.Random], Case]] = {
    **{language: of_texts(language) for language in SEEDS},
    "regex": regex,
    "json_schema": json_schema,
    "structural_tag": structural_tag,
    "tools": tools,
    "response_format": response_format,
}


def mutate(rng: random.Random, seeds: list[str]) -> str:
    """A grammar with one to six damages."""
    text = rng.choice(seeds)
    if rng.random() < 0.5:
        return swap_elements(rng, text, rng.choice((1, 2, 3, 6)))
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        text = mutate_elements(rng, text, rng.choice(seeds)) if rng.random() < 0.8 else mutate_characters(rng, text)
    return text


def swap_elements(rng: random.Random, text: str, count: int) -> str:
    """A grammar with elements that became others of their kind, mostly of the same grammar."""
    parts = ELEMENT.findall(text) or [" "]
    kinds = [next((n for n, kind in enumerate(KINDS) if kind.match(part)), len(KINDS)) for part in parts]
    for _ in range(count):
        at = rng.randrange(len(parts))
        if kinds[at] < len(KINDS):
            same = [part for part, kind in zip(parts, kinds, strict=True) if kind == kinds[at]]
            new = NEW_OF_KIND[kinds[at]]
            parts[at] = rng.choice(new) if new and rng.random() < 0.4 else rng.choice(same)
    return "".join(parts)


def mutate_elements(rng: random.Random, text: str, other: str) -> str:
    """A grammar with an element, or a few, copied, moved or taken out."""
    parts, others = ELEMENT.findall(text) or [" "], ELEMENT.findall(other) or [" "]
    at = rng.randrange(len(parts))
    end = min(len(parts), at + rng.choice((0, 1, 1, 2, 5, 20)))
    kind = rng.random()
    if kind < 0.4:
        new = [rng.choice(ELEMENTS)]
    elif kind < 0.5:
        new = []
    elif kind < 0.65:
        begin = rng.randrange(len(others))
        new = others[begin : begin + rng.choice((1, 3, 10))]
    elif kind < 0.85:
        new = parts[at:end] * rng.choice((2, 2, 3, 50))
    else:
        begin = rng.randrange(len(parts))
        new = parts[begin : begin + rng.choice((1, 3, 10))]
    return "".join([*parts[:at], " ", *new, " ", *parts[end:]])


def mutate_characters(rng: random.Random, text: str, pieces: tuple[str, ...] = PIECES) -> str:
    """A grammar with characters replaced by others, copied or taken out."""
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.choice((0, 1, 1, 2, 5, 20)))
    kind = rng.random()
    if kind < 0.6:
        return text[:at] + rng.choice(pieces) + text[end:]
    if kind < 0.7:
        return text[:at] + text[at:end] * rng.choice((2, 3, 50)) + text[end:]
    if kind < 0.8:
        return text[:at] + text[end:]
    return text[:at] + chr(rng.choice((rng.randrange(128), rng.randrange(0x110000)))) + text[end:]


def damaged(rng: random.Random, seed: Any, seeds: list[Any]) -> Any:
    """A copy of a value of JSON with one to four parts taken out, replaced, renamed, doubled or nested."""
    whole = [copy.deepcopy(seed)]
    for _ in range(rng.choice((1, 1, 2, 4))):
        holders = [holder for holder in _holders(whole) if len(holder)]
        holder: Any = rng.choice(holders)
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        kind = rng.random()
        if kind < 0.2 and holder is not whole:
            holder.pop(key)
        elif kind < 0.45:
            holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
        elif kind < 0.65:
            holder[key] = copy.deepcopy(_part(rng, rng.choice(seeds)))
        elif kind < 0.75:
            holder[key] = rng.choice(([holder[key]], {"type": "tag", "begin": "<", "content": holder[key], "end": ">"}))
        elif kind < 0.85 and isinstance(holder, list):
            holder[key:key] = [copy.deepcopy(holder[key])] * rng.choice((1, 2, 40))
        elif isinstance(holder, dict):
            holder[rng.choice((str(key) + "s", "type", "properties", "elements", "excludes", "é"))] = holder[key]
        elif isinstance(holder[key], str):
            holder[key] = mutate_characters(rng, holder[key])
    return whole[0]


def _part(rng: random.Random, seed: Any) -> Any:
    holder = rng.choice(_holders([seed]))
    return rng.choice(list(holder.values()) if isinstance(holder, dict) else holder or [None]) if holder else holder


def _holders(value: Any) -> list[Any]:
    """Every object and array in a value; texts of JSON stay texts."""
    found = [value] if isinstance(value, (dict, list)) else []
    for holder in found:  # grows
        parts = holder.values() if isinstance(holder, dict) else holder
        found += [part for part in parts if isinstance(part, (dict, list))]
    return found
