"""`%regex {...}`: parts of a text, as llguidance writes them.

    {"substring_chunks": ["a", "b", "c"]}   "", "a", "ab", "abc", "b", "bc", "c"
    {"substring_words": "foo bar."}         the same of "foo", " ", "bar", "."
    {"substring_chars": "abc"}              the same of "a", "b", "c"

Source: llguidance, docs/syntax.md, "Structured %regex".

In: the JSON value. Out: a node. Cost: about 3 us a chunk.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from llmask.frontends.places import Spot

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

WORDS = re.compile(r"\w+|\s+|[^\w\s]+")
MAX_CHUNKS = 20_000
KINDS = ("substring_chunks", "substring_words", "substring_chars")
EXAMPLE = 'for example %regex {"substring_words": "the text"}'


def structured_node(nodes: RegexNodes, value: object, spot: Spot) -> int:
    """Node of what a `%regex` matches.

    Raises
    ------
    GrammarError : the value is none of those above.
    """
    chunks = _chunks(value, spot)
    if len(chunks) > MAX_CHUNKS:
        spot.refuse(f"a text of {len(chunks)} chunks is longer than {MAX_CHUNKS}", "take larger chunks")
    try:
        spelled = [nodes.literal(chunk.encode()) for chunk in chunks]
    except UnicodeEncodeError:
        spot.refuse("half a surrogate pair is no text", "write the character itself, or both halves")
    rest = nodes.EPSILON
    from_here = [rest]
    for chunk in reversed(spelled):
        rest = nodes.union([nodes.EPSILON, nodes.concat([chunk, rest])])
        from_here.append(rest)
    return nodes.union(from_here)


def _chunks(value: object, spot: Spot) -> list[str]:
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in KINDS:
        spot.refuse(f"behind %regex stands an object with one of {', '.join(KINDS)}", EXAMPLE)
    kind, content = next(iter(value.items()))
    if kind == "substring_chunks":
        if not isinstance(content, list) or not all(isinstance(chunk, str) for chunk in content):
            spot.refuse("substring_chunks is a list of strings", EXAMPLE)
        return [chunk for chunk in content if chunk]
    if not isinstance(content, str):
        spot.refuse(f"{kind} is a string", EXAMPLE)
    return WORDS.findall(content) if kind == "substring_words" else list(content)
