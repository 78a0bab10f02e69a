"""Strings of JSON as nodes, with their quotes: any string, one text in one spelling or in all, all but some.

In: texts. Out: nodes. Cost: one look-up for what was seen before; a new set of names about a microsecond a name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from json.encoder import encode_basestring
from typing import TypeVar

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.regex.json_strings import json_char, json_string_body, style_of
from llmask.regex.code_points import JOIN_SURROGATES, SURROGATE_PAIR, CodePointSet
from llmask.regex.nodes import RegexNodes
from llmask.regex.word_lists import FEW, literals_node, words_node

from ..reading.pointers import Path, pointer

Made = TypeVar("Made")
QUOTE = b'"'
MAX_LITERAL = 2**20  # characters: each takes a node or two


def once(nodes: RegexNodes, key: Hashable, make: Callable[[], Made]) -> Made:
    """What `make` gives, which is made once a store and `key`."""
    found: Made | None = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = make()
    return found


def free_string(nodes: RegexNodes) -> int:
    """Node of every JSON string."""
    return once(nodes, (__name__, "free"), lambda: quoted(nodes, json_string_body(nodes)))


def usual_string(nodes: RegexNodes) -> int:
    """Node of every JSON string in which no character is escaped that no program escapes, see `USUAL`."""
    style = style_of(nodes)._replace(usual=True)
    return once(nodes, (__name__, "usual"), lambda: free_string(nodes.variant(style)))


def quoted(nodes: RegexNodes, *body: int) -> int:
    """Node of what is between quotes, with the quotes, where the style of the nodes has any."""
    quotes = [] if style_of(nodes).is_raw else [nodes.literal(QUOTE)]
    return nodes.concat([*quotes, *body, *quotes])


def literals_of(nodes: RegexNodes, spellings: list[bytes]) -> int:
    """Node of literals as they are spelled; where the style of the nodes says so, of strings in every spelling."""
    if style_of(nodes).literals == "json":
        return nodes.literal(spellings[0]) if len(spellings) == 1 else literals_node(nodes, spellings)
    texts = [json.loads(spelling) for spelling in spellings if spelling[:1] == QUOTE]
    others = [spelling for spelling in spellings if spelling[:1] != QUOTE]
    return nodes.union([spellings_of(nodes, texts), literals_node(nodes, others)])


def spelled_string(text: str, path: Path) -> bytes:
    """`text` as models write it, with its quotes: the spelling of `json.dumps(ensure_ascii=False)`.

    DEL is escaped, as no raw DEL is ever written.

    Raises
    ------
    GrammarError
        When `text` holds a lone surrogate, which no UTF-8 text can.
    LimitExceeded
        When it is longer than `MAX_LITERAL`.
    """
    if len(text) > MAX_LITERAL:
        raise _too_long(text, pointer(path))
    spelled = encode_basestring(text)
    if "\x7f" in spelled:
        spelled = spelled.replace("\x7f", "\\u007f")
    try:
        return spelled.encode()
    except UnicodeEncodeError:
        raise GrammarError(
            f"the string {text!r} holds a lone surrogate, which is no text", pointer(path), "take it out"
        ) from None


def _too_long(text: str, where: str | None = None) -> LimitExceeded:
    return LimitExceeded(
        f"a key or a string of const or enum has {len(text)} characters, more than {MAX_LITERAL}",
        where,
        "Describe it by a pattern.",
    )


def other_strings(nodes: RegexNodes, names: Iterable[str]) -> int:
    """Node of every JSON string but `names`, in whatever spelling."""
    key = (__name__, "other", *names)
    return once(nodes, key, lambda: nodes.without(free_string(nodes), _spellings(nodes, names)))


def spellings_of(nodes: RegexNodes, texts: Iterable[str]) -> int:
    """Node of every spelling of each of `texts`, with its quotes.

    Raises
    ------
    GrammarError
        When one holds two surrogates for one character. LimitExceeded when it is longer than `MAX_LITERAL`.
    """
    return nodes.union(_spellings(nodes, texts))


def _spellings(nodes: RegexNodes, texts: Iterable[str]) -> list[int]:
    """Nodes that together match every spelling of each of `texts`."""
    distinct = dict.fromkeys(texts)
    if len(distinct) <= FEW:
        return [any_spelling(nodes, text) for text in distinct]
    _check_texts(distinct)
    body = words_node(
        nodes,
        sorted(distinct),
        lambda piece: nodes.concat(_letters(nodes, piece)),
        lambda several: nodes.union(_letters(nodes, several)),
    )
    return [quoted(nodes, body)]


def _check_texts(texts: Iterable[str]) -> None:
    """Refuse a long text before each of its letters becomes a node, which took 21 s for one of ten million."""
    for text in texts:
        if len(text) > MAX_LITERAL:
            raise _too_long(text)
        if SURROGATE_PAIR.search(text):
            raise GrammarError(f"the string {text!r} holds two surrogates for one character", None, JOIN_SURROGATES)


def any_spelling(nodes: RegexNodes, text: str) -> int:
    """Node of every spelling of `text`, with its quotes; errors as `spellings_of` has them."""
    known: dict[str, int] = nodes.remembered((__name__, "any"))
    found = known.get(text)
    if found is None:
        _check_texts([text])
        found = known[text] = quoted(nodes, *_letters(nodes, text))
    return found


def _letters(nodes: RegexNodes, text: Iterable[str]) -> list[int]:
    """Nodes of every spelling of each character of `text`."""
    known: dict[str, int] = nodes.remembered(__name__)
    return [known.get(letter) or known.setdefault(letter, json_char(nodes, CodePointSet.of(letter))) for letter in text]
